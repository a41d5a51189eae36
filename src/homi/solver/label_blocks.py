"""The exact (B, t) step for given scores Z: the label block of both forms.

With t eliminated, the regression of the labels on each other has the Gram matrix
Ỹ = YᵀY - βbbᵀ/(βn+λ), and

    B = (βỸ + λI + γZᵀLZ)⁻¹ βỸ.

:class:`AllDirections` computes that in the basis of the eigenvectors of Ỹ, by one
Cholesky factor. :class:`LeadingDirections` never builds an array of size l × l: B is
free in the p directions that hold most of Ỹ, and diagonal in the others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
import scipy.linalg
from scipy import sparse
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs, dtrtri

from homi.arrays import dense
from homi.linalg import Array, inner, solve_psd

#: Largest number of labels for which the step through rows is exact.
EXACT_LABELS = 5_000

#: Number of label directions in which B is free above that.
LEADING = 200

_EPS = float(np.finfo(np.float64).eps)


class LabelStep(NamedTuple):
    """Two terms of the objective at the best B, and what the gradient needs of B."""

    labels: float  # β‖Y - YB - 1tᵀ‖² + λ(‖B‖² + ‖t‖²)
    graph: float  # γ tr(BᵀZᵀLZB)
    row_squares: Array  # the diagonal of BBᵀ, in the basis of the scores
    graph_gradient: Array | None  # γLZBBᵀ, or None without a graph
    products: Array | None = None  # of the scores; None where they are not at hand


class LabelBlock(Protocol):
    """The (B, t) block of a problem, in a basis of its own.

    ``LZ`` is γLZ for scores Z in that basis, and None without a graph. Where the
    coordinates make γL the identity, it is Z itself.
    """

    def rotate(self, T: Array) -> Array:
        """Return columns of labels in the basis of the block."""

    def rotate_back(self, W: Array) -> Array:
        """Return columns in the basis of the block as those of labels."""

    def settle(self, Z: Array, LZ: Array) -> None:
        """Fix what depends on the first scores."""

    def products(self, Z: Array, LZ: Array) -> Array:
        """Return what the block needs of ``ZᵀγLZ``: a linear function of it."""

    def along(self, Z: Array, LZ: Array, D: Array, LD: Array) -> tuple[Array, Array]:
        """Return the same function of ``ZᵀγLD + DᵀγLZ``, and of ``DᵀγLD``."""

    def least(self, products: Array) -> float:
        """Return the minimum over (B, t) of the labels' and the graph's terms."""

    def step(self, Z: Array, LZ: Array | None) -> LabelStep:
        """Minimize over (B, t)."""

    def B(self, Z: Array, LZ: Array | None) -> Array:
        """Return the minimizer B, between labels."""


class AllDirections:
    """Exact block, in the basis U in which ``UᵀỸU = diag(σ)``.

    With τ = βσ and ρ = τ + λ, ``B = (diag(ρ) + ZᵀLZ)⁻¹ diag(τ)``.
    """

    def __init__(self, gram: Array, beta: float, lam: float) -> None:
        sigma, U = scipy.linalg.eigh(gram, check_finite=False)
        sigma = np.maximum(sigma, 0.0)
        if lam == 0:
            # Without a ridge, combinations of labels that never vary are free:
            # leaving them out gives the solution of least norm.
            keep = sigma > 10 * len(sigma) * _EPS * max(sigma.max(), _EPS)
            sigma, U = sigma[keep], U[:, keep]
        self._U = U
        self._tau = beta * sigma
        self._rho = self._tau + lam
        self._shrink = self._tau / self._rho

    def rotate(self, T: Array) -> Array:
        """Return columns of labels in the basis U."""
        return T @ self._U

    def rotate_back(self, W: Array) -> Array:
        """Return columns in the basis U as those of labels."""
        return W @ self._U.T

    def settle(self, Z: Array, LZ: Array) -> None:
        """Do nothing: no choice depends on the scores."""

    def products(self, Z: Array, LZ: Array) -> Array:
        """``ZᵀγLZ``."""
        return Z.T @ LZ

    def along(self, Z: Array, LZ: Array, D: Array, LD: Array) -> tuple[Array, Array]:
        """``ZᵀγLD + DᵀγLZ``, with a symmetric L, and ``DᵀγLD``."""
        half = D.T @ LZ
        return half + half.T, D.T @ LD

    def least(self, products: Array) -> float:
        """``Σ_j τ_j (1 - B_jj)``."""
        S = products.copy()
        S.flat[:: len(S) + 1] += self._rho
        if not S.size:  # no label varies, and LAPACK takes no empty matrix
            return 0.0
        triangle, _ = dpotrf(S, lower=1, overwrite_a=1, clean=1)
        half, _ = dtrtri(triangle, lower=1, overwrite_c=1)
        diagonal = np.einsum("ij,ij->j", half, half)
        return float(self._tau @ (1.0 - self._tau * diagonal))

    def step(self, Z: Array, LZ: Array | None) -> LabelStep:
        """Minimize over (B, t)."""
        if LZ is None:
            free = float(self._tau @ (1.0 - self._shrink))
            return LabelStep(free, 0.0, self._shrink**2, None)
        if _is_wide(Z, LZ):
            return self._wide_step(Z)
        products = self.products(Z, LZ)
        B = self._B(products)
        BBt = B @ B.T
        step = self._step(Z, np.diag(B), np.diag(BBt), LZ @ BBt)
        return step._replace(products=products)

    def B(self, Z: Array, LZ: Array | None) -> Array:
        """Return the minimizer B, between labels."""
        U = self._U
        if LZ is None:
            return (U * self._shrink) @ U.T
        wide = _is_wide(Z, LZ)
        return U @ (self._wide_B(Z) if wide else self._B(self.products(Z, LZ))) @ U.T

    def _step(
        self, Z: Array, diagonal: Array, row_squares: Array, graph_gradient: Array
    ) -> LabelStep:
        both, graph = float(self._tau @ (1.0 - diagonal)), inner(Z, graph_gradient)
        return LabelStep(both - graph, graph, row_squares, graph_gradient)

    def _B(self, products: Array) -> Array:
        S = products.copy()
        S.flat[:: len(S) + 1] += self._rho
        inverse = _inverse(S)
        inverse *= self._tau
        return inverse

    def _wide_step(self, N: Array) -> LabelStep:
        """Take the same step through the m × m matrix I + N diag(ρ)⁻¹ Nᵀ (Woodbury).

        With A = N diag(ρ)⁻¹ and P = NB, ``B = diag(τ/ρ) - AᵀP``.
        """
        A, P = self._wide_factors(N)
        PPtA = (P @ P.T) @ A
        overlap = np.einsum("ij,ij->j", A, P)
        shrink = self._shrink
        row_squares = shrink * (shrink - 2.0 * overlap)
        row_squares += np.einsum("ij,ij->j", A, PPtA)
        P *= shrink
        P -= PPtA
        return self._step(N, shrink - overlap, np.maximum(row_squares, 0.0), P)

    def _wide_B(self, N: Array) -> Array:
        A, P = self._wide_factors(N)
        return np.diag(self._shrink) - A.T @ P

    def _wide_factors(self, N: Array) -> tuple[Array, Array]:
        root_rho = 1.0 / np.sqrt(self._rho)
        half = N * root_rho
        if not half.size:  # no feature varies, and LAPACK takes no empty matrix
            return half, N
        K = half @ half.T
        K.flat[:: len(K) + 1] += 1.0
        triangle, _ = dpotrf(K, lower=1, overwrite_a=1, clean=0)
        P, _ = dpotrs(triangle, N * self._shrink, lower=1)
        half *= root_rho
        return half, np.ascontiguousarray(P)


def _is_wide(Z: Array, LZ: Array) -> bool:
    """Return whether Z has γL = I and fewer rows than columns."""
    return LZ is Z and len(Z) < Z.shape[1]


def _inverse(S: Array) -> Array:
    """``S⁻¹`` of a positive definite S, which is overwritten."""
    if not S.size:  # no label varies, and LAPACK takes no empty matrix
        return S
    triangle, _ = dpotrf(S, lower=1, overwrite_a=1, clean=1)
    half, _ = dpotri(triangle, lower=1, overwrite_c=1)
    full: Array = half + half.T
    full.flat[:: len(full) + 1] *= 0.5
    return full


class LabelGram:
    """Ỹ of 0/1 labels as an operator: sparse labels stay sparse."""

    def __init__(
        self, Y: sparse.csr_array, mean: Array, beta: float, lam: float
    ) -> None:
        n = Y.shape[0]
        self.Y, self.mean = Y, mean
        # Centered, except for the share of the mean that the penalty on t keeps.
        self._off = n - n * lam / (beta * n + lam)

    @property
    def n_labels(self) -> int:
        """Number of labels, l."""
        return self.Y.shape[1]

    def dense(self) -> Array:
        """Ỹ itself."""
        YtY = dense(self.Y.T @ self.Y)
        return YtY - self._off * np.outer(self.mean, self.mean)

    def diagonal(self) -> Array:
        """Diagonal of Ỹ."""
        # Labels are 0 or 1: the sum of a column's squares is its sum.
        return self.Y.shape[0] * self.mean - self._off * self.mean**2

    def times(self, V: Array) -> Array:
        """``ỸV``."""
        return self.Y.T @ (self.Y @ V) - np.outer(self._off * self.mean, self.mean @ V)

    def leading(self, rank: int) -> Array:
        """Orthonormal basis of nearly the ``rank`` leading eigenvectors of Ỹ.

        Three rounds of subspace iteration from a fixed start. The eigenvectors
        themselves converge slowly and are not needed.
        """
        U = np.random.default_rng(0).normal(size=(self.n_labels, rank))
        for _ in range(3):
            U, _ = scipy.linalg.qr(
                self.times(U), mode="economic", overwrite_a=True, check_finite=False
            )
        return np.ascontiguousarray(U)


class _Along(NamedTuple):
    """``γLZU`` and ``γLZ diag(d)U``."""

    U: Array
    dU: Array


@dataclass
class LeadingDirections:
    """``B = diag(d) + UMUᵀ``, with U of p orthonormal columns and M free.

    d is B of each label on its own, at the first scores; it stays fixed. M is the
    exact minimizer, so the objective is the one at this B, and never below that of an
    unrestricted B. With p = l the two are equal.
    """

    gram: LabelGram
    beta: float
    lam: float
    rank: int
    _d: Array = field(init=False)

    def __post_init__(self) -> None:
        """Compute what no step changes."""
        self._U = self.gram.leading(self.rank)
        self._YU = self.gram.times(self._U)
        self._P = self._U.T @ self._YU
        self._diagonal = self.gram.diagonal()
        self._set_d(np.zeros(self.gram.n_labels))

    def _set_d(self, graph: Array) -> None:
        own = self.beta * self._diagonal
        self._d = own / (own + self.lam + graph)
        self._dU = self._d[:, None] * self._U
        self._UdU = self._U.T @ self._dU
        self._YUdU = self._YU.T @ self._dU

    def rotate(self, T: Array) -> Array:
        """Return columns of labels as they are."""
        return T

    def rotate_back(self, W: Array) -> Array:
        """Return columns of labels as they are."""
        return W

    def settle(self, Z: Array, LZ: Array) -> None:
        """Choose d at the first scores."""
        self._set_d(np.maximum(np.einsum("ij,ij->j", Z, LZ), 0.0))

    def products(self, Z: Array, LZ: Array) -> Array:
        """``UᵀSU``, ``UᵀS diag(d)U`` and, below, ``Σ_j d_j² S_jj``; S = ZᵀγLZ."""
        return self._products(Z, LZ, Z @ self._U, self._along(LZ))

    def along(self, Z: Array, LZ: Array, D: Array, LD: Array) -> tuple[Array, Array]:
        """Return the same of ``ZᵀγLD + DᵀγLZ``, and of ``DᵀγLD``."""
        ahead, DU = self._along(LD), D @ self._U
        cross = self._products(Z, LD, Z @ self._U, ahead)
        cross += self._products(D, LZ, DU, self._along(LZ))
        return cross, self._products(D, LD, DU, ahead)

    def _products(self, Z: Array, LD: Array, ZU: Array, along: _Along) -> Array:
        alone = np.einsum("ij,ij->j", Z, LD) @ self._d**2
        last = np.full((1, self.rank), alone)
        return np.vstack([ZU.T @ along.U, ZU.T @ along.dU, last])

    def least(self, products: Array) -> float:
        """Return both terms at the best M."""
        p, M = self.rank, self._M(products)
        S, SdU = products[:p], products[p:-1]
        graph = products[-1, 0] + 2.0 * inner(M, SdU) + inner(M, S @ M)
        return self._labels(M) + float(graph)

    def step(self, Z: Array, LZ: Array | None) -> LabelStep:
        """Minimize over (M, t)."""
        graph, graph_gradient, products = 0.0, None, None
        if LZ is None:
            M = self._best_M(0.0, 0.0)
        else:
            along = self._along(LZ)
            products = self._products(Z, LZ, Z @ self._U, along)
            M = self._M(products)
            graph_gradient = self._graph_gradient(LZ, along, M)
            graph = inner(Z, graph_gradient)
        UM = self._U @ M
        row_squares = self._d**2 + np.einsum("ij,ij->i", UM, UM)
        row_squares += 2.0 * self._d * np.einsum("ij,ij->i", UM, self._U)
        np.maximum(row_squares, 0.0, out=row_squares)
        return LabelStep(self._labels(M), graph, row_squares, graph_gradient, products)

    def B(self, Z: Array, LZ: Array | None) -> Array:
        """Return the minimizer B, between labels."""
        M = self._best_M(0.0, 0.0) if LZ is None else self._M(self.products(Z, LZ))
        B = (self._U @ M) @ self._U.T
        B.flat[:: len(B) + 1] += self._d
        return B

    def _along(self, LZ: Array) -> _Along:
        return _Along(LZ @ self._U, LZ @ self._dU)

    def _M(self, products: Array) -> Array:
        return self._best_M(products[: self.rank], products[self.rank : -1])

    def _best_M(self, S: Array | float, SdU: Array | float) -> Array:
        """``UᵀQU M = Uᵀ(βỸ - Q diag(d))U`` with ``Q = βỸ + λI + γZᵀLZ``."""
        A = self.beta * self._P + S
        A.flat[:: len(A) + 1] += self.lam
        R = self.beta * (self._P - self._YUdU) - self.lam * self._UdU - SdU
        return solve_psd((A + A.T) / 2, R)

    def _graph_gradient(self, LZ: Array, along: _Along, M: Array) -> Array:
        """``γLZBBᵀ``, with ``UᵀU = I``: two products with factors of p columns."""
        free = along.U @ M
        gradient = free @ self._dU.T
        gradient += ((along.dU + free) @ M.T) @ self._U.T
        gradient += LZ * self._d**2
        return gradient

    def _labels(self, M: Array) -> float:
        """``β tr(EᵀỸE) + λ‖B‖²`` with ``E = I - B``, term by term from d and M."""
        d = self._d
        alone = float(self._diagonal @ (1.0 - d) ** 2)
        crossed = inner(self._YUdU - self._P, M)
        spread = alone + 2.0 * crossed + inner(M, self._P @ M)
        size = float(d @ d) + 2.0 * inner(self._UdU, M) + inner(M, M)
        return self.beta * max(spread, 0.0) + self.lam * size


def label_rank(n_labels: int) -> int:
    """Return in how many directions of the labels B is free: all if affordable."""
    return n_labels if n_labels <= EXACT_LABELS else LEADING


def label_block(gram: LabelGram, beta: float, lam: float) -> LabelBlock:
    """Return the block of as many directions as are affordable."""
    rank = label_rank(gram.n_labels)
    if rank == gram.n_labels:
        return AllDirections(gram.dense(), beta, lam)
    return LeadingDirections(gram, beta, lam, rank)
