"""Scores of held-out folds, where leave-one-out would be optimistic.

A left-out row keeps its edges in the graph, which a new row does not have. A label
correction is learned from scores of other rows, whose models have seen the labels of
the left-out row. Missing labels of other rows are filled in by models that have seen
them, too. Folds leave all of this out.

The intercepts are those for the share of each label in all rows. A fold with more of a
rare label leaves less of it to the others: its scores would be too low by just that,
and rows of different folds could not be compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.model_selection import KFold

from homi.linalg import Array
from homi.model.features import FeatureSpace, with_labels
from homi.moments import Moments
from homi.solver import Correction, Path, graph_path, ridge_path, shares, weight_path
from homi.typing import Fields, Indices, Matrix

_FOLDS = 5


class FilledLabels(NamedTuple):
    """Labels of all rows, and of the other rows of each fold; missing ones filled in.

    Those of a fold are filled in by models that have not seen its labels. ``cells`` are
    weights of each label of each row, 0 where it was missing.
    """

    labels: Array
    by_fold: Sequence[Array]
    cells: Array


class Fold(NamedTuple):
    """Held-out rows, the other rows, their labels and moments.

    ``gap`` is the share of each label in all rows less that in the others.
    """

    held_out: Indices
    others: Indices
    labels: Array
    moments: Moments
    gap: Array


def held_out_rows(n: int, seed: int) -> list[Indices]:
    """Return the held-out rows of each fold."""
    splits = KFold(min(_FOLDS, n), shuffle=True, random_state=seed)
    return [rows for _, rows in splits.split(np.empty(n))]


def folds(
    space: FeatureSpace,
    Y: Array,
    L: Matrix,
    seed: int,
    filled: FilledLabels | None = None,
) -> Iterator[Fold]:
    """Yield five folds; the moments of the other rows are sums over folds.

    The graph of the others is that of all rows without the edges to held-out rows. Its
    matrix is scaled to that of all rows, so that γ means the same.
    """
    parts = held_out_rows(len(Y), seed)
    w = space.weights
    moments = [
        Moments.from_rows(space.features[rows], Y[rows], None if w is None else w[rows])
        for rows in parts
    ]
    for k, rows in enumerate(parts):
        others = np.sort(np.concatenate(parts[:k] + parts[k + 1 :]))
        rest = reduce(add, moments[:k] + moments[k + 1 :])
        rest = rest.scaled(space.mean, space.scale)
        if L is not None:
            rest = _with_graph(rest, space, L, others)
        labels = Y[others]
        if filled is not None:
            labels = filled.by_fold[k]
            rest = with_labels(part_of(space, rest, others), labels).moments
        yield Fold(rows, others, labels, rest, space.moments.y_mean - rest.y_mean)


def part_of(space: FeatureSpace, moments: Moments, rows: Indices) -> FeatureSpace:
    """Return features of some rows, with the moments of these rows."""
    w = None if space.weights is None else space.weights[rows]
    return replace(space, features=space.features[rows], moments=moments, weights=w)


class RidgesByFolds:
    """Scores of ridge regressions by folds: one eigenvalue problem for each fold."""

    def __init__(self, space: FeatureSpace, filled: FilledLabels, seed: int) -> None:
        self._space, self._filled = space, filled
        parts = folds(space, filled.labels, None, seed, filled)
        self._folds = [(fold, ridge_path(fold.moments)) for fold in parts]

    def __call__(self, lam: float, label_weight: Array | float = 1.0) -> Array:
        """Return held-out scores of all rows."""
        scores = np.empty(self._filled.labels.shape)
        for fold, path in self._folds:
            inverse = 1.0 / (path.values[:, None] + lam / label_weight)
            own = _scores(self._space, fold, path, inverse)
            scores[fold.held_out] = own + fold.gap
        return scores

    def own_weights(self, lam: float, weights: Iterable[float]) -> Array:
        """Choose the weight of each label by its squared error where it is known."""
        tried = np.array([1.0, *weights])
        gaps = ((self(lam, w) - self._filled.labels) ** 2 for w in tried)
        errors = [np.einsum("ij,ij->j", self._filled.cells, gap) for gap in gaps]
        return tried[np.argmin(errors, axis=0)]


def _with_graph(
    rest: Moments, space: FeatureSpace, L: Matrix, others: Indices
) -> Moments:
    inner = sparse.csr_array(L)[others][:, others]
    S = sparse.diags_array(inner.diagonal()) - inner
    own = sparse.diags_array(np.asarray(S.sum(axis=1)).ravel()) - S
    inner = rest.with_graph(space.features[others], own.tocsr(), scale=space.scale)
    assert inner.H is not None
    assert space.moments.H is not None
    share = rest.n / space.moments.n * np.trace(space.moments.H)
    left = np.trace(inner.H)
    return replace(inner, H=inner.H * (share / left) if left > 0 else inner.H)


def graphs_by_folds(
    space: FeatureSpace,
    Y: Array,
    L: Matrix,
    lams: Sequence[float],
    gammas: Sequence[float],
    seed: int,
) -> dict[tuple[float, float], Array]:
    """Return held-out scores for every λ and γ."""
    found = {(lam, gamma): np.empty(Y.shape) for lam in lams for gamma in gammas}
    for fold in folds(space, Y, L, seed):
        for lam in lams:
            path = graph_path(fold.moments, lam)
            for gamma in gammas:
                inverse = 1.0 / (1.0 + gamma * path.values)
                scores = _scores(space, fold, path, inverse)
                found[lam, gamma][fold.held_out] = scores + fold.gap
    return found


def corrections_by_folds(
    space: FeatureSpace,
    Y: Array,
    L: Matrix,
    params: Fields,
    betas: Sequence[float],
    seed: int,
    label_weight: Array | None = None,
    filled: FilledLabels | None = None,
) -> dict[tuple[bool, float], Array]:
    """Return held-out scores by (own weights, β); β = 0 is no label correction.

    The correction of a fold is learned from leave-one-out scores of the other rows.
    Weights of labels are the same in all folds: others would give the scores of a label
    another scale in each fold.
    """
    kinds = {False: np.ones(Y.shape[1])}
    if label_weight is not None:
        kinds[True] = label_weight
    names = [(own, beta) for own in kinds for beta in (0.0, *betas)]
    found = {name: np.empty(Y.shape) for name in names}
    for fold in folds(space, Y, L if params["gamma"] > 0 else None, seed, filled):
        path = weight_path(fold.moments, params["lam"], params["gamma"])
        w = None if space.weights is None else space.weights[fold.others]
        rows = path.of(space.features[fold.others], space.mean, space.scale, w)
        for own, weight in kinds.items():
            scores = _scores(space, fold, path, shares(path.values, weight))
            found[own, 0.0][fold.held_out] = scores + fold.gap
            if not len(betas):
                continue
            seen = rows.weighted(fold.labels, path.values, weight)
            given = weight if own else None
            correct = Correction(seen, fold.labels, w, given)
            for beta in betas:
                B, t = correct(beta)
                found[own, beta][fold.held_out] = scores @ B + t + fold.gap
    return found


def _scores(space: FeatureSpace, fold: Fold, path: Path, inverse: Array) -> Array:
    """Return scores of the held-out rows by the model of the others."""
    W = path.weights(inverse) / space.scale[:, None]
    mean = fold.moments.x_mean * space.scale + space.mean
    return space.features[fold.held_out] @ W + (fold.moments.y_mean - mean @ W)
