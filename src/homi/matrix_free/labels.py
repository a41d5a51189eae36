"""The (B, t) step: what the labels' regression and the graph make of scores Z = XW.

With t solved for, the regression of the labels on each other has the Gram matrix
Ỹ = YᵀY - βbbᵀ/(βn+λ), and

    B = (βỸ + λI + γZᵀLZ)⁻¹ βỸ.

:class:`AllDirections` is that, by one Cholesky factor of size l, in the basis of the
eigenvectors of Ỹ. :class:`LeadingDirections` never has an array of size l × l: B is
free on the p largest eigenvectors of Ỹ, and diagonal besides.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.linalg
from scipy import sparse
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.sparse.linalg import LinearOperator, eigsh

from homi.linalg import Array, inner, solve_psd
from homi.solver.reduced import rounded_to_zero


class LabelStep(NamedTuple):
    """The best B for given scores, and what it costs."""

    labels: float  # β‖Y - YB - 1tᵀ‖² + λ(‖B‖² + ‖t‖²)
    row_squares: Array  # the diagonal of BBᵀ, in the basis of the scores
    push: Array | None  # γLZBBᵀ, or None without a graph


class LabelGram:
    """Ỹ as an operator: sparse labels stay sparse."""

    def __init__(self, Y: Any, mean: Array, beta: float, lam: float) -> None:
        n = Y.shape[0]
        self.Y, self.mean = Y, mean
        # Centred, except for the share of the mean that the penalty on t keeps.
        self._off = n - n * lam / (beta * n + lam)

    @property
    def n_labels(self) -> int:
        return self.Y.shape[1]

    def dense(self) -> Array:
        YtY = self.Y.T @ self.Y
        YtY = YtY.toarray() if sparse.issparse(YtY) else YtY
        return YtY - self._off * np.outer(self.mean, self.mean)

    def diagonal(self) -> Array:
        # Labels are 0 or 1: a column's squares are its sum.
        return len_of(self.Y) * self.mean - self._off * self.mean**2

    def times(self, V: Array) -> Array:
        first = self.mean if V.ndim == 1 else self.mean[:, None]
        return self.Y.T @ (self.Y @ V) - self._off * first * (self.mean @ V)

    def leading(self, rank: int) -> tuple[Array, Array]:
        """The ``rank`` largest eigenvalues and their vectors."""
        size = self.n_labels
        if rank >= size:
            values, U = scipy.linalg.eigh(self.dense(), check_finite=False)
        else:
            operator = LinearOperator((size, size), self.times, dtype=np.float64)
            start = np.random.default_rng(0).normal(size=size)
            values, U = eigsh(operator, rank, v0=start)
        return np.maximum(values, 0.0), U


def len_of(Y: Any) -> int:
    return int(Y.shape[0])


class Labels(Protocol):
    """The label half of the problem, in a basis in which scores are kept."""

    rank: int

    def rotate(self, T: Array) -> Array: ...

    def rotate_back(self, W: Array) -> Array: ...

    def settle(self, Z: Array, LZ: Array) -> None: ...

    def step(self, Z: Array, LZ: Array | None) -> LabelStep: ...

    def B(self, Z: Array, LZ: Array | None) -> Array: ...


class AllDirections:
    """Exact, in the basis U in which ``UᵀỸU = diag(σ)``."""

    def __init__(self, gram: LabelGram, beta: float, lam: float) -> None:
        sigma, self._U = gram.leading(gram.n_labels)
        self._still = rounded_to_zero(sigma)
        sigma[self._still] = 0.0
        self._tau = beta * sigma
        self._rho = self._tau + lam
        self.rank = gram.n_labels

    def rotate(self, T: Array) -> Array:
        T = T @ self._U
        T[:, self._still] = 0.0
        return T

    def rotate_back(self, W: Array) -> Array:
        return W @ self._U.T

    def settle(self, Z: Array, LZ: Array) -> None:
        """Nothing to choose."""

    def step(self, Z: Array, LZ: Array | None) -> LabelStep:
        if LZ is None:
            shrink = self._tau / self._rho
            return LabelStep(float(self._tau @ (1 - shrink)), shrink**2, None)
        B = self._B(Z, LZ)
        BBt = B @ B.T
        push = LZ @ BBt
        tied = float(self._tau @ (1.0 - np.diag(B)))
        return LabelStep(tied - inner(Z, push), np.diag(BBt), push)

    def B(self, Z: Array, LZ: Array | None) -> Array:
        U = self._U
        if LZ is None:
            return (U * (self._tau / self._rho)) @ U.T
        return U @ self._B(Z, LZ) @ U.T

    def _B(self, Z: Array, LZ: Array) -> Array:
        S = Z.T @ LZ
        S.flat[:: len(S) + 1] += self._rho
        triangle, _ = dpotrf(S, lower=1, overwrite_a=1, clean=1)
        inverse, _ = dpotri(triangle, lower=1, overwrite_c=1)
        full = inverse + inverse.T
        full.flat[:: len(full) + 1] *= 0.5
        full *= self._tau
        return full


@dataclass
class LeadingDirections:
    """``B = diag(d) + UMUᵀ``, with U of p columns and M free.

    d is what B would be for each label on its own, at the first scores; it stays.
    M is the exact minimiser, so that the objective is that of this B, and never less
    than with a B that is free altogether. With p = l nothing is left out.
    """

    gram: LabelGram
    beta: float
    lam: float
    rank: int
    _d: Array = field(init=False)

    def __post_init__(self) -> None:
        self._sigma, self._U = self.gram.leading(self.rank)
        self.rank = len(self._sigma)
        self._diagonal = self.gram.diagonal()
        self._set_d(np.zeros(self.gram.n_labels))

    def _set_d(self, graph: Array) -> None:
        own = self.beta * self._diagonal
        self._d = own / (own + self.lam + graph)
        self._dU = self._d[:, None] * self._U
        self._UdU = self._U.T @ self._dU

    def rotate(self, T: Array) -> Array:
        return T

    def rotate_back(self, W: Array) -> Array:
        return W

    def settle(self, Z: Array, LZ: Array) -> None:
        """Choose d at the first scores."""
        self._set_d(np.maximum(np.einsum("ij,ij->j", Z, LZ), 0.0))

    def step(self, Z: Array, LZ: Array | None) -> LabelStep:
        M = self._M(Z, LZ)
        push = None
        if LZ is not None:
            push = self._times_B(LZ, M)
            push = self._times_B(push, M.T)
        UM = self._U @ M
        row_squares = self._d**2 + np.einsum("ij,ij->i", UM, UM)
        row_squares += 2.0 * self._d * np.einsum("ij,ij->i", UM, self._U)
        return LabelStep(self._labels(M), np.maximum(row_squares, 0.0), push)

    def B(self, Z: Array, LZ: Array | None) -> Array:
        B = (self._U @ self._M(Z, LZ)) @ self._U.T
        B.flat[:: len(B) + 1] += self._d
        return B

    def _times_B(self, A: Array, M: Array) -> Array:
        out = ((A @ self._U) @ M) @ self._U.T
        out += A * self._d
        return out

    def _M(self, Z: Array, LZ: Array | None) -> Array:
        """``UᵀQU M = Uᵀ(βỸ - Q diag(d))U`` with ``Q = βỸ + λI + γZᵀLZ``."""
        tau = self.beta * self._sigma
        A, R = np.diag(tau + self.lam), np.diag(tau)
        R -= (tau + self.lam)[:, None] * self._UdU
        if LZ is not None:
            ZU, LZU = Z @ self._U, LZ @ self._U
            A += ZU.T @ LZU
            R -= LZU.T @ (Z @ self._dU)
        return solve_psd((A + A.T) / 2, R)

    def _labels(self, M: Array) -> float:
        """``β tr(EᵀỸE) + λ‖B‖²`` with ``E = I - B``, term by term from d and M."""
        d, y, sigma = self._d, self._diagonal, self._sigma
        alone = float(y @ (1.0 - d) ** 2)
        crossed = inner((self._UdU * sigma).T, M) - float(sigma @ np.diag(M))
        spread = alone + 2.0 * crossed + inner(M, sigma[:, None] * M)
        size = float(d @ d) + 2.0 * inner(self._UdU, M) + inner(M, M)
        return self.beta * max(spread, 0.0) + self.lam * size
