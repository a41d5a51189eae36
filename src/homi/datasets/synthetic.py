"""Synthetic data with known W, z, B and t and labels that depend on others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from math import comb, inf
from numbers import Integral, Real
from typing import Literal, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp
from scipy.stats import norm

from homi.datasets.dataset import Dataset, label_dtype
from homi.typing import Matrix

RandomState: TypeAlias = "int | np.random.RandomState | np.random.Generator | None"

#: Numbers drawn at a time, so that the data are never in memory twice.
_BLOCK = 4_000_000


@dataclass(frozen=True)
class Parameters:
    """Parameters of the data of :func:`make_correlated`.

    A sample has a base label if its score, XW + z plus noise, exceeds 1/2. It has a
    high-order label if it has both of its parents. The linear rule
    ``Y @ B + t > 0.5`` reproduces this exactly: each parent contributes 1/2, and t
    subtracts 1/4. For base labels the rule is the identity.

    Attributes
    ----------
    W : ndarray of shape (n_features, n_labels)
        Weights: columns of norm 1 for base labels, zero for high-order labels.
    z : ndarray of shape (n_labels,)
        Intercepts of the scores; zero for high-order labels.
    B : ndarray of shape (n_labels, n_labels)
        Column j has the weights of all labels for label j.
    t : ndarray of shape (n_labels,)
        Intercepts of the rule above.
    parents : ndarray of shape (n_high_order, 2)
        The two parents of each high-order label. High-order labels come last.
    noise : float
        Standard deviation of the noise in the scores.
    sparse : bool
        Whether X is sparse.
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
        """``feature 0``, ``feature 1`` and so on."""
        return [f"feature {i}" for i in range(len(self.W))]

    @property
    def label_names(self) -> list[str]:
        """``label 0`` and so on; high-order ones as ``label 6 = label 0 & label 4``."""
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
    random_state: RandomState = ...,
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
    random_state: RandomState = ...,
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
    random_state: RandomState = None,
    return_parameters: bool = False,
) -> Dataset | tuple[Dataset, Parameters]:
    """Make data whose labels depend on features and on other labels in a known way.

    Features are independent, with mean 0 and variance 1. Each base label has its own
    direction in feature space. The directions are orthogonal if there are enough
    features, which makes base labels independent. A sample has a high-order label if
    and only if it has both parents, which are two base labels. See
    ``homi.datasets.synthetic.Parameters`` for the equations.

    Parameters
    ----------
    n_samples : int in [1, inf), default=1000
        Number of rows.
    n_features : int in [1, inf), default=20
        Number of features.
    n_labels : int in [1, inf), default=8
        Number of labels, high-order ones included.
    n_high_order : int, default=2
        Number of labels that depend on two others; they are the last ones. No two of
        them have the same parents.
    density : float in (0, 1), default=0.4
        Share of samples with a given base label. That of a high-order label is about
        its square.
    noise : float in [0, inf), default=0.3
        Standard deviation of Gaussian noise that is added to the scores of base
        labels, whose standard deviation is 1. High-order labels have no noise.
    sparse : bool, default=False
        Whether X is a CSR array. Then each value is zero with probability
        ``1 - max(0.05, min(1, 10 / n_features))`` and ``density`` is approximate.
    random_state : int, RandomState instance, Generator or None, default=None
        Seed of the random numbers.
    return_parameters : bool, default=False
        Whether to return the parameters as well.

    Returns
    -------
    data : Dataset
        X, Y, feature_names, label_names.
    parameters : Parameters
        Only if ``return_parameters``.

    Examples
    --------
    >>> from homi.datasets import make_correlated
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
    random_state: RandomState = None,
) -> Iterator[tuple[Matrix, NDArray[np.signedinteger]]]:
    """Make the data of :func:`make_correlated` batch by batch.

    All batches share the parameters that ``make_correlated`` returns for the same
    integer seed. The first batch equals its data for the same number of rows.

    Parameters
    ----------
    n_batches : int in [1, inf)
        Number of batches.
    batch_size : int in [1, inf)
        Rows per batch.
    n_features, n_labels, n_high_order, density, noise, sparse, random_state
        As in :func:`make_correlated`.

    Yields
    ------
    X : {ndarray, sparse array} of shape (batch_size, n_features)
        Features.
    Y : ndarray of shape (batch_size, n_labels)
        Labels.
    """
    _check_count("n_batches", n_batches)
    _check_count("batch_size", batch_size)
    seeds = _seeds(random_state)
    parameters = _draw_parameters(
        next(seeds), n_features, n_labels, n_high_order, density, noise, sparse
    )
    # A generator expression, so that invalid arguments raise at the call.
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
            "high-order label needs its own pair: increase n_labels or lower "
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
    """Draw columns of norm 1, orthogonal if there are enough features."""
    columns = rng.standard_normal((n_features, n_base))
    if n_base <= n_features:
        Q, R = np.linalg.qr(columns)
        # LAPACK may choose the signs; fix them, so that all machines agree.
        return Q * np.sign(np.diagonal(R))
    return columns / np.linalg.norm(columns, axis=0)


def _draw_pairs(rng: np.random.Generator, n: int, n_pairs: int) -> NDArray[np.int64]:
    """Draw distinct pairs of distinct numbers below n, each pair sorted."""
    # rng.choice(0) fails even for size 0, and comb(0, 2) = comb(1, 2) = 0.
    code = rng.choice(max(1, comb(n, 2)), size=n_pairs, replace=False)
    # Pairs (i, j) with i < j, counted by j and then by i.
    second = ((1 + np.sqrt(1 + 8 * code)) / 2).astype(np.int64)
    return np.column_stack([code - second * (second - 1) // 2, second])


def _draw_rows(
    rng: np.random.Generator, parameters: Parameters, n_samples: int
) -> tuple[Matrix, NDArray[np.signedinteger]]:
    n_features, n_labels = parameters.W.shape
    n_base = n_labels - len(parameters.parents)
    Y = np.empty((n_samples, n_labels), dtype=label_dtype(n_labels))
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


def _sparse_rows(rng: np.random.Generator, n: int, n_features: int) -> Matrix:
    """Draw about ten values per row or more, so that their sums are near Gaussian."""
    share = max(0.05, min(1.0, 10 / n_features))
    mask = rng.random((n, n_features), dtype=np.float32) < share
    values = rng.standard_normal(np.count_nonzero(mask)) / np.sqrt(share)
    indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(mask, axis=1))])
    return sp.csr_array((values, np.nonzero(mask)[1], indptr), shape=mask.shape)


def _seeds(random_state: RandomState) -> Iterator[np.random.Generator]:
    """Yield a generator for the parameters, then one for each batch of rows."""
    root = np.random.SeedSequence(_entropy(random_state))
    return (np.random.default_rng(root.spawn(1)[0]) for _ in count())


def _entropy(random_state: RandomState) -> int | list[int] | None:
    if isinstance(random_state, np.random.RandomState):
        return [int(number) for number in random_state.randint(2**31, size=4)]
    if isinstance(random_state, np.random.Generator):
        return [int(number) for number in random_state.integers(2**31, size=4)]
    if random_state is None:
        return None
    given: object = random_state
    if isinstance(given, bool) or not isinstance(given, Integral) or given < 0:
        raise ValueError(
            "random_state must be None, an integer of at least 0, a RandomState or a "
            f"Generator, got {random_state!r}; pass for example random_state=0."
        )
    return int(given)


def _check_count(name: str, value: object, least: int = 1) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(
            f"{name} must be an integer of at least {least}, got {value!r}."
        )


def _check_share(density: object) -> None:
    if not isinstance(density, Real) or not 0 < float(density) < 1:
        raise ValueError(
            f"density must lie between 0 and 1, got {density!r}; it is the share of "
            "samples with a base label."
        )


def _check_noise(noise: object) -> None:
    is_bool = isinstance(noise, bool)
    if is_bool or not isinstance(noise, Real) or not 0 <= float(noise) < inf:
        raise ValueError(
            f"noise must be a finite number of at least 0, got {noise!r}; it is a "
            "standard deviation, and that of the scores is 1."
        )
