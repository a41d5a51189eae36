"""Iterative stratification: distribute rows, or groups of rows, over folds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from homi.typing import Array, Indices, Mask

#: 1 balances labels, 2 labels and pairs of labels.
Order = Literal[1, 2]


def assign_folds(
    Y: Mask,
    capacity: ArrayLike,
    *,
    order: Order,
    rng: np.random.RandomState,
    shuffle: bool = True,
    groups: NDArray[Any] | None = None,
) -> Indices:
    """Return the fold of each row.

    Parameters
    ----------
    Y : ndarray of bool, shape (n_samples, n_labels)
        Labels.
    capacity : array-like of shape (n_folds,)
        Desired number of rows of each fold; they add up to ``n_samples``.
    order : {1, 2}
        1: each row goes to the fold that lacks most rows of its rarest label
        (Sechidis et al.). 2: pairs count as labels (Szymański and Kajdanowicz), and
        each row goes to the fold that lacks most of all of its labels and pairs.
    rng : RandomState
        Source of the order of the rows and of the choice between equal folds.
    shuffle : bool
        Whether to visit the rows in random order.
    groups : ndarray of shape (n_samples,) or None
        Rows with the same value go to the same fold.
    """
    E = _labels_and_pairs(Y) if order == 2 else sparse.csr_array(Y, dtype=np.int64)
    unit, sizes = _units(len(Y), groups)
    if groups is not None:
        E = _add_up(E, unit)
    visited = rng.permutation(len(sizes)) if shuffle else np.arange(len(sizes))
    fold = np.empty(len(sizes), dtype=np.intp)
    lack = _Lack(E[visited], sizes[visited], np.asarray(capacity, dtype=float))
    keys = _total_lack if order == 2 else _rarest_lack
    fold[visited] = _distribute(lack, keys, rng)
    return fold[unit]


class _Lack:
    """Desired minus present rows of each fold, in total and with each evidence.

    Evidence is a label or a pair of labels. A unit is a row, or the rows of a group.
    """

    def __init__(self, E: sparse.csr_array, sizes: Indices, capacity: Array) -> None:
        self.E, self.sizes = E, sizes
        self.total = np.asarray(E.sum(axis=0), dtype=float)
        self.room, self.shares = capacity.copy(), capacity / sizes.sum()
        self.lack = np.outer(self.shares, self.total)

    def evidence(self, unit: int) -> tuple[Indices, Indices]:
        """Return the evidence of a unit, and how many of its rows have it."""
        some = slice(*self.E.indptr[unit : unit + 2])
        return self.E.indices[some], self.E.data[some]

    def put(self, unit: int, fold: int) -> None:
        """Subtract a unit from what its fold lacks."""
        evidence, counts = self.evidence(unit)
        self.lack[fold, evidence] -= counts
        self.room[fold] -= self.sizes[unit]


#: Values of each fold. The largest wins; the next array decides between equal ones.
_Keys: TypeAlias = tuple[Array, ...]


def _rarest_lack(lack: _Lack, unit: int, evidence: int) -> _Keys:
    """Prefer the fold that lacks most of one evidence, then the emptiest."""
    return lack.lack[:, evidence], lack.room


def _total_lack(lack: _Lack, unit: int, evidence: int) -> _Keys:
    """Prefer a fold with room that lacks most of all evidence of a unit.

    It reduces most the sum over evidence of ``lack² / desired``, where the number of
    rows is one more evidence.
    """
    found, counts = lack.evidence(unit)
    size, n = lack.sizes[unit], lack.sizes.sum()
    gain = (2 * lack.lack[:, found] - counts) @ (counts / lack.total[found])
    gain += (2 * lack.room - size) * (size / n)
    # Rounded, so that equal folds are equal on every processor.
    return (lack.room > 0.5).astype(float), np.round(gain / lack.shares, 9)


#: Replaces 0 in counts before their minimum is taken.
_NONE_LEFT = np.iinfo(np.int32).max


def _distribute(
    lack: _Lack, keys: Callable[..., _Keys], rng: np.random.RandomState
) -> Indices:
    """Return the fold of each unit; those with the rarest evidence choose first."""
    columns = lack.E.tocsc()
    remaining = np.diff(columns.indptr).astype(np.int32)
    remaining[remaining == 0] = _NONE_LEFT
    fold = np.full(len(lack.sizes), -1, dtype=np.intp)
    while (least := remaining.min(initial=_NONE_LEFT)) < _NONE_LEFT:
        evidence = _draw(np.flatnonzero(remaining == least), rng)
        units = _largest_first(columns, evidence)
        for unit in units[fold[units] < 0].tolist():
            fold[unit] = _best(keys(lack, unit, evidence), rng)
            lack.put(unit, fold[unit])
            found, _ = lack.evidence(unit)
            fewer = remaining[found] - 1
            remaining[found] = np.where(fewer == 0, _NONE_LEFT, fewer)
    for unit in np.flatnonzero(fold < 0).tolist():
        fold[unit] = _best((lack.room,), rng)
        lack.put(unit, fold[unit])
    return fold


def _largest_first(columns: sparse.csc_array, evidence: int) -> Indices:
    """Return the units with an evidence; small groups fill what large ones leave."""
    some = slice(*columns.indptr[evidence : evidence + 2])
    return columns.indices[some][np.argsort(-columns.data[some], kind="stable")]


def _best(keys: _Keys, rng: np.random.RandomState) -> int:
    folds = np.arange(len(keys[0]))
    for key in keys:
        folds = folds[key[folds] == key[folds].max()]
    return _draw(folds, rng)


def _draw(values: Indices, rng: np.random.RandomState) -> int:
    return int(values[0] if len(values) == 1 else values[rng.randint(len(values))])


def _units(n: int, groups: NDArray[Any] | None) -> tuple[Indices, Indices]:
    """Return the unit of each row, and the number of rows of each unit."""
    if groups is None:
        return np.arange(n), np.ones(n, dtype=np.intp)
    _, unit, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    return unit.ravel(), sizes


def _add_up(E: sparse.csr_array, unit: Indices) -> sparse.csr_array:
    """Return the sums of the rows of each unit."""
    n = len(unit)
    members = sparse.csr_array((np.ones(n, dtype=np.int64), (unit, np.arange(n))))
    return sparse.csr_array(members @ E)


def _labels_and_pairs(Y: Mask) -> sparse.csr_array:
    """Return one column per label, and per pair of labels that at least two rows have.

    A pair that only one row has is as even as it can be.
    """
    labels = sparse.csr_array(Y, dtype=np.int64)
    rows, codes = _pair_codes(labels)
    _, column, counts = np.unique(codes, return_inverse=True, return_counts=True)
    kept = counts[column] > 1
    number = np.cumsum(counts > 1) - 1
    shape = (len(Y), int((counts > 1).sum()))
    ones = np.ones(int(kept.sum()), dtype=np.int64)
    pairs = sparse.csr_array((ones, (rows[kept], number[column[kept]])), shape)
    return sparse.csr_array(sparse.hstack([labels, pairs]))


def _pair_codes(labels: sparse.csr_array) -> tuple[Indices, Indices]:
    """Return row and code of every pair of labels of every row."""
    q, sizes = labels.shape[1], np.diff(labels.indptr)
    rows, codes = [np.empty(0, np.intp)], [np.empty(0, np.intp)]
    for size in np.unique(sizes[sizes > 1]):
        alike = np.flatnonzero(sizes == size)
        found = labels.indices[labels.indptr[alike][:, None] + np.arange(size)]
        first, second = np.triu_indices(size, 1)
        codes += [(found[:, first].astype(np.intp) * q + found[:, second]).ravel()]
        rows += [np.repeat(alike, len(first))]
    return np.concatenate(rows), np.concatenate(codes)
