"""Data with known W, z, B and t: labels from features, and labels from two others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from math import comb, inf
from numbers import Integral, Real
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp
from scipy.stats import norm

from homi.datasets.dataset import Dataset

#: Rows are drawn this many numbers at a time: the whole is never in memory twice.
_BLOCK = 4_000_000


@dataclass(frozen=True)
class Parameters:
    """What made the data of :func:`make_correlated`.

    A base label is there where its score, in XW + z with noise, exceeds one half. A
    high-order label is there where both its parents are, which the linear rule
    ``Y @ B + t > 0.5`` says exactly: both parents count one half, and t takes a quarter
    off. On a base label the rule is the identity.

    Attributes
    ----------
    W : ndarray of shape (n_features, n_labels)
        Weights, of length one for a base label and zero for a high-order one.
    z : ndarray of shape (n_labels,)
        Biases of the scores, likewise.
    B : ndarray of shape (n_labels, n_labels)
        Column j: what the labels count for label j.
    t : ndarray of shape (n_labels,)
        Biases of the rule above.
    parents : ndarray of shape (n_high_order, 2)
        The two parents of each high-order label; these labels come last.
    noise : float
        Standard deviation of the noise in the scores.
    sparse : bool
        Whether rows are sparse.
    """

    W: NDArray[np.float64]
    z: NDArray[np.float64]
    B: NDArray[np.float64]
    t: NDArray[np.float64]
    parents: NDArray[np.int64]
    noise: float
    sparse: bool

    @property
    def feature_names(self) -> list[str]:
        """``feature 0``, ``feature 1``, …"""
        return [f"feature {i}" for i in range(len(self.W))]

    @property
    def label_names(self) -> list[str]:
        """``label 0``, …, and ``label 6 = label 0 & label 4`` for a high-order one."""
        n_base = self.W.shape[1] - len(self.parents)
        names = [f"label {j}" for j in range(n_base)]
        return names + [
            f"label {j} = label {a} & label {b}"
            for j, (a, b) in enumerate(self.parents, start=n_base)
        ]


@overload
def make_correlated(
    n_samples: int = ...,
    n_features: int = ...,
    n_labels: int = ...,
    *,
    n_high_order: int = ...,
    density: float = ...,
    noise: float = ...,
    sparse: bool = ...,
    random_state: Any = ...,
    return_parameters: Literal[False] = ...,
) -> Dataset: ...


@overload
def make_correlated(
    n_samples: int = ...,
    n_features: int = ...,
    n_labels: int = ...,
    *,
    n_high_order: int = ...,
    density: float = ...,
    noise: float = ...,
    sparse: bool = ...,
    random_state: Any = ...,
    return_parameters: Literal[True],
) -> tuple[Dataset, Parameters]: ...


def make_correlated(
    n_samples: int = 1000,
    n_features: int = 20,
    n_labels: int = 8,
    *,
    n_high_order: int = 2,
    density: float = 0.4,
    noise: float = 0.3,
    sparse: bool = False,
    random_state: Any = None,
    return_parameters: bool = False,
) -> Dataset | tuple[Dataset, Parameters]:
    """Make data whose labels depend on the features and on each other in a known way.

    Features are independent, with mean 0 and variance 1. Each base label has a
    direction of its own among them; the directions are orthogonal where there are
    enough features, so that base labels are independent. Each high-order label is
    there exactly where both its parents, two base labels, are: neither of them alone
    tells. See ``homi.datasets.synthetic.Parameters`` for the equations.

    Parameters
    ----------
    n_samples : int in [1, inf), default=1000
        Number of rows.
    n_features : int in [1, inf), default=20
        Number of features.
    n_labels : int in [1, inf), default=8
        Number of labels, high-order ones included.
    n_high_order : int, default=2
        How many labels need two others; they are the last ones. No two of them have
        the same parents.
    density : float in (0, 1), default=0.4
        Share of rows that have a base label. A high-order one has about its square.
    noise : float in [0, inf), default=0.3
        Standard deviation of Gaussian noise in the scores of base labels, whose own is
        1. High-order labels stay exact.
    sparse : bool, default=False
        Whether X is a CSR array. Then each value is zero with probability
        ``1 - max(0.05, min(1, 10 / n_features))`` and ``density`` is approximate.
    random_state : int, RandomState instance, Generator or None, default=None
        Seed.
    return_parameters : bool, default=False
        Whether to return the parameters as well.

    Returns
    -------
    data : Dataset
        X, Y, feature_names, label_names.
    parameters : Parameters
        What made them; only if ``return_parameters``.

    Examples
    --------
    >>> from homi.datasets.synthetic import make_correlated
    >>> data, true = make_correlated(500, random_state=0, return_parameters=True)
    >>> data.X.shape, data.Y.shape
    ((500, 20), (500, 8))
    >>> data.label_names[-1]
    'label 7 = label 1 & label 5'
    >>> bool(((data.Y @ true.B + true.t > 0.5) == data.Y).all())
    True
    """
    _check_count("n_samples", n_samples)
    seeds = _seeds(random_state)
    parameters = _draw_parameters(
        next(seeds), n_features, n_labels, n_high_order, density, noise, sparse
    )
    X, Y = _draw_rows(next(seeds), parameters, n_samples)
    data = Dataset(X, Y, parameters.feature_names, parameters.label_names)
    return (data, parameters) if return_parameters else data


def make_correlated_batches(
    n_batches: int,
    batch_size: int,
    n_features: int = 20,
    n_labels: int = 8,
    *,
    n_high_order: int = 2,
    density: float = 0.4,
    noise: float = 0.3,
    sparse: bool = False,
    random_state: Any = None,
) -> Iterator[tuple[Any, NDArray[np.int8]]]:
    """Make the data of :func:`make_correlated` batch by batch, as a stream.

    All batches share one set of parameters: those that ``make_correlated`` returns for
    the same integer seed. Its rows are those of the first batch, if as many.

    Parameters
    ----------
    n_batches : int in [1, inf)
        Number of batches.
    batch_size : int in [1, inf)
        Rows in each of them.
    n_features, n_labels, n_high_order, density, noise, sparse, random_state
        As in :func:`make_correlated`.

    Yields
    ------
    X : {ndarray, sparse array} of shape (batch_size, n_features)
        Rows.
    Y : ndarray of shape (batch_size, n_labels)
        Their labels.
    """
    _check_count("n_batches", n_batches)
    _check_count("batch_size", batch_size)
    seeds = _seeds(random_state)
    parameters = _draw_parameters(
        next(seeds), n_features, n_labels, n_high_order, density, noise, sparse
    )
    # A generator of its own, so that bad arguments are told at the call above.
    return (_draw_rows(next(seeds), parameters, batch_size) for _ in range(n_batches))


def _draw_parameters(
    rng: np.random.Generator,
    n_features: int,
    n_labels: int,
    n_high_order: int,
    density: float,
    noise: float,
    sparse: bool,
) -> Parameters:
    _check_count("n_features", n_features)
    _check_count("n_labels", n_labels)
    _check_count("n_high_order", n_high_order, least=0)
    _check_share(density)
    _check_noise(noise)
    n_base = n_labels - n_high_order
    if n_base < 1 or n_high_order > comb(n_base, 2):
        raise ValueError(
            f"n_high_order={n_high_order} of n_labels={n_labels} leaves {n_base} base "
            f"labels, which form {comb(max(n_base, 0), 2)} pairs of parents; each "
            "high-order label needs a pair of its own: increase n_labels or lower "
            "n_high_order."
        )
    parents = _draw_pairs(rng, n_base, n_high_order)
    children = np.arange(n_base, n_labels)
    W = np.zeros((n_features, n_labels))
    W[:, :n_base] = _directions(rng, n_features, n_base)
    z, t = np.zeros(n_labels), np.zeros(n_labels)
    z[:n_base] = 0.5 + norm.ppf(density) * np.hypot(1, noise)
    B = np.diag((np.arange(n_labels) < n_base).astype(float))
    B[parents, children[:, None]] = 0.5
    t[children] = -0.25
    return Parameters(W, z, B, t, parents, float(noise), bool(sparse))


def _directions(
    rng: np.random.Generator, n_features: int, n_base: int
) -> NDArray[np.float64]:
    """Columns of length one, orthogonal if there is room."""
    columns = rng.standard_normal((n_features, n_base))
    if n_base <= n_features:
        Q, R = np.linalg.qr(columns)
        # LAPACK is free to choose signs: take them from the draw, for every machine.
        return Q * np.sign(np.diagonal(R))
    return columns / np.linalg.norm(columns, axis=0)


def _draw_pairs(rng: np.random.Generator, n: int, n_pairs: int) -> NDArray[np.int64]:
    """Distinct pairs of distinct numbers below n, each pair in order."""
    # comb(0, 2) = comb(1, 2) = 0: there, nothing could be chosen even if none is asked.
    code = rng.choice(max(1, comb(n, 2)), size=n_pairs, replace=False)
    # Pairs (i, j) with i < j, counted by j and then by i.
    second = ((1 + np.sqrt(1 + 8 * code)) / 2).astype(np.int64)
    return np.column_stack([code - second * (second - 1) // 2, second])


def _draw_rows(
    rng: np.random.Generator, parameters: Parameters, n_samples: int
) -> tuple[Any, NDArray[np.int8]]:
    n_features, n_labels = parameters.W.shape
    n_base = n_labels - len(parameters.parents)
    Y = np.empty((n_samples, n_labels), dtype=np.int8)
    dense = np.empty((0 if parameters.sparse else n_samples, n_features))
    blocks = []
    step = max(1, _BLOCK // max(n_features, n_labels))
    for start in range(0, n_samples, step):
        rows = slice(start, min(start + step, n_samples))
        size = rows.stop - start
        if parameters.sparse:
            block = _sparse_rows(rng, size, n_features)
            blocks.append(block)
        else:
            block = rng.standard_normal(out=dense[rows])
        scores = block @ parameters.W[:, :n_base] + parameters.z[:n_base]
        if parameters.noise:
            scores += parameters.noise * rng.standard_normal(scores.shape)
        Y[rows, :n_base] = scores > 0.5
    Y[:, n_base:] = Y[:, parameters.parents[:, 0]] & Y[:, parameters.parents[:, 1]]
    return (sp.vstack(blocks, format="csr") if blocks else dense), Y


def _sparse_rows(rng: np.random.Generator, n: int, n_features: int) -> Any:
    """About ten values in a row or more, so that sums of them are nearly Gaussian."""
    share = max(0.05, min(1.0, 10 / n_features))
    mask = rng.random((n, n_features), dtype=np.float32) < share
    values = rng.standard_normal(np.count_nonzero(mask)) / np.sqrt(share)
    indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(mask, axis=1))])
    return sp.csr_array((values, np.nonzero(mask)[1], indptr), shape=mask.shape)


def _seeds(random_state: Any) -> Iterator[np.random.Generator]:
    """One generator for the parameters, then one for each batch of rows."""
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31, size=4)
    elif isinstance(random_state, np.random.Generator):
        random_state = random_state.integers(2**31, size=4)
    elif random_state is not None and (
        isinstance(random_state, bool)
        or not isinstance(random_state, Integral)
        or random_state < 0
    ):
        raise ValueError(
            "random_state must be None, an integer of at least 0, a RandomState or a "
            f"Generator, got {random_state!r}; pass for example random_state=0."
        )
    root = np.random.SeedSequence(random_state)
    return (np.random.default_rng(root.spawn(1)[0]) for _ in count())


def _check_count(name: str, value: Any, least: int = 1) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(
            f"{name} must be an integer of at least {least}, got {value!r}."
        )


def _check_share(density: Any) -> None:
    if not isinstance(density, Real) or not 0 < float(density) < 1:
        raise ValueError(
            f"density must lie between 0 and 1, got {density!r}; it is the share of "
            "rows that have a base label."
        )


def _check_noise(noise: Any) -> None:
    is_number = isinstance(noise, Real) and not isinstance(noise, bool)
    if not is_number or not 0 <= float(noise) < inf:
        raise ValueError(
            f"noise must be a finite number of at least 0, got {noise!r}; it is the "
            "standard deviation of what is added to scores whose own is 1."
        )
