"""Kernels of rows and landmarks, and Nyström features made of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cholesky, solve_triangular
from scipy.linalg.lapack import dpstrf
from sklearn.metrics.pairwise import (
    euclidean_distances,
    manhattan_distances,
    pairwise_kernels,
)

from homi.arrays import dense
from homi.base.scaling import Scaler
from homi.typing import Array, Fields, Matrix

#: Kernels by name, each with the parameters that it takes.
KERNELS = {
    "rbf": {"gamma"},
    "laplacian": {"gamma"},
    "rbf+laplacian": {"gamma", "laplacian_gamma"},
    "polynomial": {"gamma", "degree", "coef0"},
    "cosine": set[str](),
}

#: Distances that a kernel falls with, and the parameter that is the rate.
RATES = {
    "rbf": {"rbf": "gamma"},
    "laplacian": {"laplacian": "gamma"},
    "rbf+laplacian": {"rbf": "gamma", "laplacian": "laplacian_gamma"},
}

#: Rows among which the median distance is taken.
_SAMPLE = 1000

#: A landmark counts as a combination of those before it where the remainder of its
#: kernel value with itself is below this share of the largest.
_RANK = 1e-10

#: Cost of a stored value in a city-block distance of sparse rows, relative to that of a
#: number in one of dense rows.
_SPARSE_COST = 6

Kernel = str | Callable[..., float]


@dataclass(eq=False)
class KernelMap:
    """Kernel values of rows and landmarks.

    Attributes
    ----------
    kernel : str or callable
        One of ``KERNELS``, or a function of two rows.
    params : dict
        Parameters of the kernel, widths included.
    scaler : Scaler or None
        Scaling of the features.
    landmarks : array or CSR matrix of shape (n_landmarks, n_features)
        Scaled rows.
    indices : ndarray of shape (n_landmarks,)
        Their places among the rows.
    normalization : ndarray of shape (n_landmarks, n_landmarks) or None
        What kernel values are multiplied by; None for nothing. Files of earlier
        versions have one.
    triangle : ndarray of shape (n_landmarks, n_landmarks)
        Cholesky factor of the landmarks' kernel matrix.
    """

    kernel: Kernel
    params: Fields
    scaler: Scaler | None
    landmarks: Matrix
    indices: NDArray[np.intp]
    normalization: Array | None = None

    @classmethod
    def fit(
        cls,
        X: Matrix,
        kernel: Kernel,
        n_components: int,
        params: Fields,
        *,
        standardize: bool,
        rng: np.random.RandomState,
        weights: Array | None = None,
    ) -> KernelMap:
        """Draw landmarks from rows.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Rows to draw landmarks from.
        kernel : str or callable
            One of ``KERNELS``, or a function of two rows.
        n_components : int
            Largest number of landmarks; with all rows, the kernel is exact. Landmarks
            that are combinations of others in the space of the kernel are left out.
        params : dict
            Parameters of the kernel. A width that is not given follows from the median
            distance between rows.
        standardize : bool
            Whether to scale features to variance 1 (and mean 0, unless sparse) first.
        rng : RandomState
        weights : ndarray of shape (n_samples,) or None
            Weights of the rows, for their mean and scale only: landmarks and the median
            distance ignore them.
        """
        scaler = Scaler.fit(X, weights) if standardize else None
        rows = X if scaler is None else scaler(X)
        if isinstance(kernel, str):
            params = _widths(kernel, rows, rng, params) | _known(kernel, params)
        drawn = rng.permutation(X.shape[0])[:n_components]
        triangle, kept = independent(
            kernel_values(kernel, rows[drawn], rows[drawn], params)
        )
        found = cls(kernel, params, scaler, rows[drawn[kept]], drawn[kept])
        found.triangle = triangle
        return found

    def __call__(self, X: Matrix) -> Array:
        """Return the kernel values of rows and landmarks."""
        rows = self._scaled(X)
        K = kernel_values(self.kernel, rows, self.landmarks, self.params)
        return K if self.normalization is None else K @ self.normalization.T

    def features(self, X: Matrix) -> Array:
        """Return Nyström features of rows.

        Those of landmarks, where they are in their places among the rows, are the rows
        of the factor: no kernel value is computed.
        """
        found = np.empty((X.shape[0], len(self.triangle)))
        rest = np.ones(X.shape[0], dtype=bool)
        if self._has_landmarks(X):
            found[self.indices] = self.triangle
            rest[self.indices] = False
        if rest.any():
            found[rest] = Triangle(self.triangle).features(self(X[rest]))
        return found

    def _has_landmarks(self, X: Matrix) -> bool:
        """Return True if the landmarks are in their places among the rows."""
        if X.shape[0] <= self.indices.max():
            return False
        differs = self._scaled(X[self.indices]) != self.landmarks
        return not (differs.nnz if sparse.issparse(differs) else differs.any())

    def of_block(self, X: Matrix) -> Array:
        """Return the kernel values, by fewer passes over memory where there is a way.

        They differ from those of a call by rounding.
        """
        rows = self._scaled(X)
        if self.kernel != "rbf" or any(map(sparse.issparse, (rows, self.landmarks))):
            return kernel_values(self.kernel, rows, self.landmarks, self.params)
        return _squared_exponentials(rows, self.landmarks, self.params["gamma"])

    @cached_property
    def triangle(self) -> Array:
        """Factor of the landmarks' kernel matrix; they are in the order of pivots."""
        K = kernel_values(self.kernel, self.landmarks, self.landmarks, self.params)
        triangle: Array = cholesky(K, lower=True)
        return triangle

    def mean_features(self) -> Array:
        """Return the mean of what a call returns for the landmarks."""
        K = kernel_values(self.kernel, self.landmarks, self.landmarks, self.params)
        mean: Array = K.mean(axis=0)
        return mean if self.normalization is None else self.normalization @ mean

    def _scaled(self, X: Matrix) -> Matrix:
        return X if self.scaler is None else self.scaler(X)


class Triangle:
    """Basis of the landmarks: from Nyström features to kernel values."""

    def __init__(self, triangle: Array) -> None:
        self._triangle = triangle

    def features(self, K: Array) -> Array:
        """Return features whose inner products approximate the kernel: ``K T⁻ᵀ``."""
        solved = solve_triangular(
            self._triangle, K.T, lower=True, check_finite=False, overwrite_b=True
        )
        return np.ascontiguousarray(solved.T)

    def widen(self, W: Array, out: Array) -> Array:
        """Compute ``out = T⁻ᵀW``, the weights of kernel values."""
        out[:] = solve_triangular(
            self._triangle, W, lower=True, trans=1, check_finite=False
        )
        return out

    def written_out(self) -> Array:
        """Return ``T⁻ᵀ`` as an array."""
        size = len(self._triangle)
        return self.widen(np.eye(size), np.empty((size, size)))


def independent(K: Array) -> tuple[Array, NDArray[np.intp]]:
    """Return the Cholesky factor of K in the places that are independent, and these."""
    tol = _RANK * max(float(K.diagonal().max()), np.finfo(float).tiny)
    factor, pivots, rank, _ = dpstrf(np.asfortranarray(K), tol=tol, lower=1)
    # Zeros have no independent place; one represents them.
    rank = max(int(rank), 1)
    triangle = np.tril(factor[:rank, :rank])
    if not triangle[0, 0] > 0:
        triangle[0, 0] = 1.0
    return triangle, pivots[:rank].astype(np.intp) - 1


def kernel_values(kernel: Kernel, A: Matrix, B: Matrix, params: Fields) -> Array:
    """Return the kernel of all pairs of rows of A and B."""
    if not isinstance(kernel, str) or kernel not in RATES:
        return np.asarray(
            pairwise_kernels(A, B, metric=kernel, **params), dtype=np.float64
        )
    rates = RATES[kernel]
    parts = (
        fall(distances(kind, A, B), params[name], overwrite=True)
        for kind, name in rates.items()
    )
    K = next(parts)
    for part in parts:
        K += part
    return K if len(rates) == 1 else K / len(rates)


def _squared_exponentials(A: Array, B: Array, rate: float) -> Array:
    """``exp(-rate |a - b|²)`` with all exponents from one product."""
    center = B.mean(axis=0, dtype=np.float64)
    A, B = A - center, B - center
    left = np.column_stack([A, -rate * np.einsum("ij,ij->i", A, A), np.ones(len(A))])
    right = np.vstack(
        [2.0 * rate * B.T, np.ones(len(B)), -rate * np.einsum("ij,ij->i", B, B)]
    )
    K = left @ right
    return np.exp(K, out=K)


def fall(D: Array, rate: float, *, overwrite: bool = False) -> Array:
    """Return ``exp(-rate D)``."""
    K = np.multiply(D, -rate, out=D if overwrite else None)
    return np.exp(K, out=K)


def distances(kind: str, A: Matrix, B: Matrix) -> Array:
    """Return squared Euclidean ("rbf") or city-block ("laplacian") distances."""
    if kind == "rbf":
        return np.asarray(euclidean_distances(A, B, squared=True), dtype=np.float64)
    if sparse.issparse(A) and sparse.issparse(B):
        n, m = A.shape
        # Rows of few stored values are compared value by value.
        if _SPARSE_COST * (A.nnz / max(n, 1) + B.nnz / max(B.shape[0], 1)) > m:
            A, B = dense(A), dense(B)
    return np.asarray(manhattan_distances(A, B), dtype=np.float64)


def default_rate(D: Array) -> float:
    """Return 1/(2 d), with d the median distance of a matrix of pairs of rows."""
    apart = D[np.triu_indices(len(D), 1)]
    median = float(np.median(apart)) if len(apart) else 0.0
    # Rows that are mostly equal have no width of their own.
    return 1.0 / (2.0 * median) if median > 0 else 1.0


def _known(kernel: str, params: Fields) -> Fields:
    unknown = sorted(set(params) - KERNELS[kernel])
    if unknown:
        takes = ", ".join(sorted(KERNELS[kernel])) or "no parameters"
        raise ValueError(
            f"kernel_params has {', '.join(unknown)}, but the kernel {kernel!r} takes "
            f"{takes}; leave it out."
        )
    return params


def _widths(
    kernel: str, rows: Matrix, rng: np.random.RandomState, given: Fields
) -> dict[str, float]:
    """Return the widths that are not given, by the median distance."""
    names = RATES.get(kernel, {})
    some = rng.permutation(rows.shape[0])[:_SAMPLE] if names else ()
    return {
        name: default_rate(distances(kind, rows[some], rows[some]))
        for kind, name in names.items()
        if name not in given
    }
