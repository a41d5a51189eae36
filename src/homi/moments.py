"""Moments of rows: sufficient statistics of a fit, additive over rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from homi.arrays import dense
from homi.row_products import (
    as_csr_or_array,
    as_float,
    column_means,
    column_sums,
    is_thin,
    product,
    quadratic,
    root_weighted,
    rough_means,
    row_blocks,
    subtract_outer,
    total_weight,
    without_full_means,
)
from homi.typing import Array, Matrix

#: Bytes of a block that fits in the cache.
_CACHE_BYTES = 2**20

#: Below this share of ones, labels are multiplied faster as a sparse array.
_THIN_LABELS = 0.1

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Moments:
    """Means and centered second moments of features X and labels Y.

    Centered moments keep full precision where a feature's mean is large relative to its
    standard deviation. The raw ones (``G``, ``C``, ``YtY``, ``a``, ``b``) are derived.

    Parameters
    ----------
    n : int or float
        Number of rows (int), or their total weight (float).
    x_mean, y_mean : ndarray of shape (m,) and (l,)
        Column means.
    Sxx, Sxy, Syy : ndarray of shape (m, m), (m, l) and (l, l)
        Sums over rows of ``(x - x_mean)(x - x_mean)ᵀ`` and so on. A row of weight w
        counts like w copies of it.
    H : ndarray of shape (m, m) or None
        ``XᵀLX`` with the Laplacian L of a graph of the rows; None for no graph.
        It does not depend on the mean, because ``L1 = 0``.
    """

    n: float
    x_mean: Array
    y_mean: Array
    Sxx: Array
    Sxy: Array
    Syy: Array
    H: Array | None = None

    @classmethod
    def from_rows(
        cls,
        X: Matrix,
        Y: Matrix,
        weights: ArrayLike | None = None,
        *,
        near: Array | None = None,
    ) -> Moments:
        """Compute moments of dense or sparse X (n, m) and Y (n, l) in float64.

        ``weights`` are n nonnegative numbers; None for 1 each. With numbers ``near``
        the means of X, dense rows without weights take one pass instead of three; the
        moments are the same.
        """
        if X.shape[0] != Y.shape[0]:
            raise ValueError(
                f"X has {X.shape[0]} rows and Y has {Y.shape[0]}; "
                "pass one row per sample in both."
            )
        if X.shape[0] == 0:
            raise ValueError("no rows: moments need at least one row of X and Y.")
        w = None if weights is None else check_weights(weights, X.shape[0])
        X, Y = as_csr_or_array(X), as_csr_or_array(Y)
        if near is not None and w is None and not sparse.issparse(X):
            return cls(X.shape[0], *_read_once(X, Y, near))
        n, x_mean, y_mean = total_weight(X, w), column_means(X, w), rough_means(Y, w)
        scatter = _sparse_scatter if is_thin(X) else _dense_scatter
        Sxx, Sxy = scatter(X, Y, x_mean, y_mean, w)
        Y = root_weighted(Y, w)
        Syy = subtract_outer(product(Y, Y), n, y_mean, y_mean)
        return cls(n, x_mean, y_mean, Sxx, Sxy, Syy)

    @classmethod
    def from_batches(cls, batches: Iterable[tuple[Matrix, ...]]) -> Moments:
        """Compute moments of all rows of an iterable of batches in one pass.

        A batch is (X, Y) or (X, Y, weights). A batch with all weights 0 is skipped.
        """
        total: Moments | None = None
        for X, Y, *weights in batches:
            if weights and not np.any(weights[0]):
                continue
            part = cls.from_rows(X, Y, *weights)
            total = part if total is None else total + part
        if total is None:
            raise ValueError("no batches: moments need at least one batch of rows.")
        return total

    def with_graph(
        self, X: Matrix, L: sparse.csr_array, *, scale: Array | None = None
    ) -> Moments:
        """Return these moments with ``H = XᵀLX`` for the Laplacian L of X's rows.

        X are the unscaled rows. If these moments are standardized, ``scale`` is the
        standard deviation that features were divided by.
        """
        # A total weight does not determine the number of rows.
        n = X.shape[0] if isinstance(self.n, float) else self.n
        if X.shape[0] != n or L.shape != (n, n):
            raise ValueError(
                f"these are moments of {n} rows, got {X.shape[0]} rows of X and "
                f"L of shape {L.shape}; pass the rows that the moments are of."
            )
        H = quadratic(X, L)
        return replace(self, H=H if scale is None else _scale(H, 1.0 / scale))

    def __add__(self, other: Moments) -> Moments:
        """Return the moments of the rows of both; no edge connects their graphs."""
        if (self.H is None) != (other.H is None):
            raise ValueError(
                "one part has a graph and the other has none; "
                "build both with a graph or both without."
            )
        if self.Sxy.shape != other.Sxy.shape:
            raise ValueError(
                "one part has (features, labels) = "
                f"{self.Sxy.shape} and the other {other.Sxy.shape}; "
                "only rows with the same columns can be added."
            )
        n = self.n + other.n
        weight = self.n * other.n / n
        x_gap, y_gap = other.x_mean - self.x_mean, other.y_mean - self.y_mean
        return Moments(
            n,
            self.x_mean + (other.n / n) * x_gap,
            self.y_mean + (other.n / n) * y_gap,
            self.Sxx + other.Sxx + weight * np.outer(x_gap, x_gap),
            self.Sxy + other.Sxy + weight * np.outer(x_gap, y_gap),
            self.Syy + other.Syy + weight * np.outer(y_gap, y_gap),
            None if self.H is None or other.H is None else self.H + other.H,
        )

    def scale(self) -> Array:
        """Return the standard deviation of each feature, 1 where it is constant."""
        return _deviations(np.diag(self.Sxx) / self.n, self.x_mean)

    def standardized(self) -> Moments:
        """Return the moments of rows with every feature at mean 0 and variance 1."""
        return self.scaled(self.x_mean, self.scale())

    def scaled(self, mean: Array, scale: Array) -> Moments:
        """Return the moments of the rows ``(x - mean) / scale``."""
        by = 1.0 / scale
        return replace(
            self,
            x_mean=by * (self.x_mean - mean),
            Sxx=_scale(self.Sxx.copy(), by),
            Sxy=by[:, None] * self.Sxy,
            H=None if self.H is None else _scale(self.H.copy(), by),
        )

    @property
    def G(self) -> Array:
        """``XᵀX``."""
        return self.Sxx + self.n * np.outer(self.x_mean, self.x_mean)

    @property
    def C(self) -> Array:
        """``XᵀY``."""
        return self.Sxy + self.n * np.outer(self.x_mean, self.y_mean)

    @property
    def YtY(self) -> Array:
        """``YᵀY``."""
        return self.Syy + self.n * np.outer(self.y_mean, self.y_mean)

    @property
    def a(self) -> Array:
        """``Xᵀ1``."""
        return self.n * self.x_mean

    @property
    def b(self) -> Array:
        """``Yᵀ1``."""
        return self.n * self.y_mean


def check_weights(weights: ArrayLike, n: int, name: str = "weights") -> Array:
    """Check n weights: finite, none negative, not all 0. Return them as float64."""
    w = np.asarray(weights, dtype=np.float64)
    if w.shape != (n,):
        raise ValueError(
            f"{name} has shape {w.shape} for {n} rows; pass one number for each row."
        )
    if not np.isfinite(w).all():
        raise ValueError(
            f"{name} contains NaN or infinity; pass finite numbers, and 0 for rows to "
            "ignore."
        )
    if (w < 0).any():
        raise ValueError(
            f"{name} has {np.count_nonzero(w < 0)} negative numbers, the smallest "
            f"{w.min():g}; pass 0 for rows to ignore."
        )
    if not w.any():
        raise ValueError(
            f"{name} are all zero; pass a positive one for at least one row."
        )
    return w


def column_scaling(X: Matrix, w: Array | None = None) -> tuple[Array, Array]:
    """Return means and standard deviations of columns, as in Moments but in O(nm)."""
    X = as_csr_or_array(X)
    # A value within the range of the data keeps precision.
    near = rough_means(X[:100])
    gap, square = (
        column_sums(X, near, w, power=k) / total_weight(X, w) for k in (1, 2)
    )
    return near + gap, _deviations(square - gap**2, near)


def _deviations(variance: Array, mean: Array) -> Array:
    """Return standard deviations, 1 where a column is constant up to rounding."""
    variance = np.maximum(variance, 0.0)
    constant = variance <= (10 * _EPS * mean) ** 2
    return np.where(constant, 1.0, np.sqrt(np.where(constant, 1.0, variance)))


def _scale(S: Array, by: Array) -> Array:
    """``diag(by) S diag(by)``, in place."""
    S *= by[:, None]
    S *= by
    return S


def _dense_scatter(
    X: Matrix, Y: Matrix, x_mean: Array, y_mean: Array, w: Array | None
) -> tuple[Array, Array]:
    Sxx, Sxy = np.zeros((X.shape[1],) * 2), np.zeros((X.shape[1], Y.shape[1]))
    for rows in row_blocks(*X.shape):
        block = None if w is None else w[rows]
        centered = root_weighted(dense(X[rows]) - x_mean, block)
        Sxx += centered.T @ centered
        # Centering one side is enough, and keeps a sparse Y sparse.
        Sxy += (root_weighted(as_float(Y[rows]), block).T @ centered).T
    return Sxx, Sxy


def _read_once(X: Matrix, Y: Matrix, near: Array) -> tuple[Array, ...]:
    """Compute means and centered moments from products of ``X - near`` and Y."""
    (n, m), Y = X.shape, _thin(Y)
    Sxx, Sxy, gap = np.zeros((m, m)), np.zeros((m, Y.shape[1])), np.zeros(m)
    # Small blocks fit in the cache, but with fewer rows than columns most of the time
    # would be spent on summation.
    for rows in row_blocks(n, m, max(_CACHE_BYTES, 32 * m * m)):
        moved = X[rows] - near
        Sxx += moved.T @ moved
        Sxy += (as_float(Y[rows]).T @ moved).T
        gap += np.ones(len(moved)) @ moved
    gap, y_mean = gap / n, rough_means(Y)
    subtract_outer(Sxx, n, gap, gap)
    subtract_outer(Sxy, n, gap, y_mean)
    YtY = dense(Y.T @ Y) if sparse.issparse(Y) else product(Y, Y)
    Syy = subtract_outer(as_float(YtY), n, y_mean, y_mean)
    return near + gap, y_mean, Sxx, Sxy, Syy


def _thin(Y: Matrix) -> Matrix:
    """Convert labels to a CSR array if few are 1; most data have a few percent.

    Even with the conversion, products are then several times as fast.
    """
    if sparse.issparse(Y):
        return Y
    n, q = Y.shape
    places = np.flatnonzero(Y != 0)
    if len(places) > _THIN_LABELS * Y.size:
        return Y
    index = np.int32 if Y.size < 2**31 else np.int64
    row, column = np.divmod(places.astype(index), index(q))
    ends = np.searchsorted(row, np.arange(n + 1))
    return sparse.csr_array((as_float(Y[row, column]), column, ends), shape=(n, q))


def _sparse_scatter(
    X: sparse.csr_array, Y: Matrix, x_mean: Array, y_mean: Array, w: Array | None
) -> tuple[Array, Array]:
    X = without_full_means(X, x_mean)
    n, x_mean = total_weight(X, w), column_means(X, w)
    X, Y = root_weighted(X, w), root_weighted(Y, w)
    Sxx = subtract_outer(product(X, X), n, x_mean, x_mean)
    Sxy = subtract_outer(product(X, Y), n, x_mean, y_mean)
    return Sxx, Sxy
