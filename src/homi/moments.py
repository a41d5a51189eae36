"""Moments of rows: sufficient statistics of a fit, additive over rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from homi.arrays import canonical, dense
from homi.typing import Array, Matrix

#: Bytes of a temporary block of rows or columns.
_BLOCK_BYTES = 16 * 2**20

#: Bytes of a block that is only summed, and of one that fits in the cache.
_SUM_BYTES, _CACHE_BYTES = 2**18, 2**20

#: Above this share of nonzeros, sparse rows are multiplied faster as dense blocks.
_THIN = 0.05

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
        cls, X: Matrix, Y: Matrix, weights: Any = None, *, near: Array | None = None
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
        X, Y = _rows(X), _rows(Y)
        if near is not None and w is None and not sparse.issparse(X):
            return cls(X.shape[0], *_read_once(X, Y, near))
        n, x_mean, y_mean = _total(X, w), _column_means(X, w), _rough_means(Y, w)
        scatter = _sparse_scatter if _is_thin(X) else _dense_scatter
        Sxx, Sxy = scatter(X, Y, x_mean, y_mean, w)
        Y = _root_weighted(Y, w)
        Syy = _subtract_outer(_product(Y, Y), n, y_mean, y_mean)
        return cls(n, x_mean, y_mean, Sxx, Sxy, Syy)

    @classmethod
    def from_batches(cls, batches: Iterable[tuple[Any, ...]]) -> Moments:
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


def check_weights(weights: Any, n: int, name: str = "weights") -> Array:
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


def quadratic(X: Any, L: sparse.csr_array) -> Array:
    """``XᵀLX`` of dense or sparse rows X and the Laplacian L of their graph."""
    X = _rows(X)
    mean = _rough_means(X)
    H = (_sparse_quadratic if _is_thin(X) else _dense_quadratic)(X, L, mean)
    _make_symmetric(H)
    return H


def column_scaling(X: Any, w: Array | None = None) -> tuple[Array, Array]:
    """Return means and standard deviations of columns, as in Moments but in O(nm)."""
    X = _rows(X)
    # Any value within the range of the data keeps precision.
    near = _rough_means(X[:100])
    gap, square = (_column_sums(X, near, w, power=k) / _total(X, w) for k in (1, 2))
    return near + gap, _deviations(square - gap**2, near)


def _deviations(variance: Array, mean: Array) -> Array:
    """Return standard deviations, 1 where a column is constant up to rounding."""
    variance = np.maximum(variance, 0.0)
    constant = variance <= (10 * _EPS * mean) ** 2
    return np.where(constant, 1.0, np.sqrt(np.where(constant, 1.0, variance)))


def _blocks(n_rows: int, n_columns: int, size: int | None = None) -> Iterator[slice]:
    """Return slices of rows whose float64 copy fits in a block."""
    step = max(1, (size or _BLOCK_BYTES) // (8 * max(1, n_columns)))
    return (slice(i, i + step) for i in range(0, n_rows, step))


def _rows(A: Matrix) -> Matrix:
    """Return sparse input as a CSR array, which is sliced by rows, other as ndarray."""
    if not sparse.issparse(A):
        return np.asarray(A)
    return sparse.csr_array(canonical(A))


def _is_thin(A: Matrix) -> bool:
    return sparse.issparse(A) and A.nnz <= _THIN * A.shape[0] * A.shape[1]


def _as_float(A: Matrix) -> Matrix:
    return A.astype(np.float64, copy=False)


def _total(A: Matrix, w: Array | None) -> float:
    """Return the number of rows, or their total weight."""
    return A.shape[0] if w is None else float(w.sum())


def _root_weighted(A: Matrix, w: Array | None) -> Matrix:
    """Multiply rows by the root of their weight, so that products get the weight."""
    if w is None:
        return A
    root = np.sqrt(w)
    if not sparse.issparse(A):
        return A * root[:, None]
    data = A.data * np.repeat(root, np.diff(A.indptr))
    return sparse.csr_array((data, A.indices, A.indptr), shape=A.shape)


def _column_means(A: Matrix, w: Array | None = None) -> Array:
    """Compute means in two passes; the second makes constant columns exact."""
    means = _rough_means(A, w)
    return means + _column_sums(A, means, w) / _total(A, w)


def _rough_means(A: Matrix, w: Array | None = None) -> Array:
    """Compute means in one pass; exact up to the division for labels of 0 and 1."""
    return _column_sums(A, np.zeros(A.shape[1]), w) / _total(A, w)


def _column_sums(
    A: Matrix, shift: Array, w: Array | None = None, power: int = 1
) -> Array:
    """Sum ``(A - shift)**power`` over rows in float64; scipy would keep float32."""
    m = A.shape[1]
    if not sparse.issparse(A):
        sums = np.zeros(m)
        for rows in _blocks(A.shape[0], m, _SUM_BYTES):
            gap = A[rows] - shift
            gap = gap * gap if power == 2 else gap
            sums += (np.ones(len(gap)) if w is None else w[rows]) @ gap
        return sums
    each = None if w is None else np.repeat(w, np.diff(A.indptr))
    stored = np.bincount(A.indices, each, minlength=m)
    values = (A.data - shift[A.indices]) ** power
    sums = np.bincount(
        A.indices, values if each is None else each * values, minlength=m
    )
    return sums + (_total(A, w) - stored) * (-shift) ** power


def _scale(S: Array, by: Array) -> Array:
    """``diag(by) S diag(by)``, in place."""
    S *= by[:, None]
    S *= by
    return S


def _make_symmetric(S: Array) -> None:
    """``(S + Sᵀ) / 2``, in place and in blocks."""
    for rows in _blocks(*S.shape):
        rest = slice(rows.start, None)
        mean = (S[rows, rest] + S[rest, rows].T) / 2
        S[rows, rest], S[rest, rows] = mean, mean.T


def _subtract_outer(S: Array, n: float, u: Array, v: Array) -> Array:
    """``S - n u vᵀ``, in place and in blocks: S may be very large."""
    for rows in _blocks(*S.shape):
        S[rows] -= np.outer(n * u[rows], v)
    return S


def _dense_scatter(
    X: Matrix, Y: Matrix, x_mean: Array, y_mean: Array, w: Array | None
) -> tuple[Array, Array]:
    Sxx, Sxy = np.zeros((X.shape[1],) * 2), np.zeros((X.shape[1], Y.shape[1]))
    for rows in _blocks(*X.shape):
        block = None if w is None else w[rows]
        centered = _root_weighted(dense(X[rows]) - x_mean, block)
        Sxx += centered.T @ centered
        # Centering one side is enough, and keeps a sparse Y sparse.
        Sxy += (_root_weighted(_as_float(Y[rows]), block).T @ centered).T
    return Sxx, Sxy


def _read_once(X: Any, Y: Matrix, near: Array) -> tuple[Array, ...]:
    """Compute means and centered moments from products of ``X - near`` and Y."""
    (n, m), Y = X.shape, _thin(Y)
    Sxx, Sxy, gap = np.zeros((m, m)), np.zeros((m, Y.shape[1])), np.zeros(m)
    # Small blocks fit in the cache, but with fewer rows than columns most of the time
    # would be spent on summation.
    for rows in _blocks(n, m, min(_BLOCK_BYTES, max(_CACHE_BYTES, 32 * m * m))):
        moved = X[rows] - near
        Sxx += moved.T @ moved
        Sxy += (_as_float(Y[rows]).T @ moved).T
        gap += np.ones(len(moved)) @ moved
    gap, y_mean = gap / n, _rough_means(Y)
    _subtract_outer(Sxx, n, gap, gap)
    _subtract_outer(Sxy, n, gap, y_mean)
    YtY = dense(Y.T @ Y) if sparse.issparse(Y) else _product(Y, Y)
    Syy = _subtract_outer(_as_float(YtY), n, y_mean, y_mean)
    return near + gap, y_mean, Sxx, Sxy, Syy


def _thin(Y: Any) -> Any:
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
    return sparse.csr_array((_as_float(Y[row, column]), column, ends), shape=(n, q))


def _sparse_scatter(
    X: sparse.csr_array, Y: Matrix, x_mean: Array, y_mean: Array, w: Array | None
) -> tuple[Array, Array]:
    X = _without_full_means(X, x_mean)
    n, x_mean = _total(X, w), _column_means(X, w)
    X, Y = _root_weighted(X, w), _root_weighted(Y, w)
    Sxx = _subtract_outer(_product(X, X), n, x_mean, x_mean)
    Sxy = _subtract_outer(_product(X, Y), n, x_mean, y_mean)
    return Sxx, Sxy


def _without_full_means(X: sparse.csr_array, x_mean: Array) -> sparse.csr_array:
    """Subtract the mean from the columns that are stored in every row.

    Centered moments do not change, X stays as sparse, and such columns keep precision
    beside a large mean. In other columns, zeros keep the mean small.
    """
    full = np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0]
    if not full.any():
        return X
    data = X.data - np.where(full, x_mean, 0.0)[X.indices]
    return sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)


def _product(A: Matrix, B: Matrix) -> Array:
    """``AᵀB`` as a dense array, in blocks, for any mix of dense and sparse."""
    if sparse.issparse(A) and sparse.issparse(B):
        return _sparse_product(A, B)
    out = np.zeros((A.shape[1], B.shape[1]))
    for rows in _blocks(A.shape[0], max(A.shape[1], B.shape[1])):
        left = _as_float(A[rows])
        right = left if A is B else _as_float(B[rows])
        out += left.T @ right
    return out


def _sparse_product(A: sparse.csr_array, B: sparse.csr_array) -> Array:
    At, B_columns = _as_float(A).T.tocsr(), _as_float(B).tocsc()
    out = np.empty((A.shape[1], B.shape[1]))
    for columns in _blocks(B.shape[1], A.shape[1]):
        out[:, columns] = dense(At @ B_columns[:, columns])
    return out


def _dense_quadratic(X: Any, L: sparse.csr_array, mean: Array) -> Array:
    """``XᵀLX``, in blocks of rows."""
    X, H = _as_float(X), np.zeros((X.shape[1],) * 2)
    for rows in _blocks(*X.shape):
        # Centering changes nothing in exact arithmetic; it keeps precision where the
        # mean is large.
        edges = L if rows.stop >= X.shape[0] and rows.start == 0 else L[rows]
        H += (dense(X[rows]) - mean).T @ dense(edges @ X)
    return H


def _sparse_quadratic(X: sparse.csr_array, L: sparse.csr_array, mean: Array) -> Array:
    """``XᵀLX``, in blocks of columns: LX is much denser than X."""
    X_columns = sparse.csc_array(_as_float(_without_full_means(X, mean)))
    Xt = X_columns.T.tocsr()
    out = np.empty((X.shape[1], X.shape[1]))
    for columns in _blocks(X.shape[1], X.shape[1]):
        out[:, columns] = dense(Xt @ (L @ X_columns[:, columns]))
    return out
