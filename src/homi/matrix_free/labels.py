"""The (B, t) step: what the labels' regression and the graph make of scores Z = XW.

With t solved for, the regression of the labels on each other has the Gram matrix
Ỹ = YᵀY - βbbᵀ/(βn+λ), and

    B = (βỸ + λI + γZᵀLZ)⁻¹ βỸ.

:class:`AllDirections` is that, by one Cholesky factor of size l, in the basis of the
eigenvectors of Ỹ. :class:`LeadingDirections` never has an array of size l × l: B is
free on p directions that hold most of Ỹ, and diagonal besides.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.linalg
from scipy.linalg.lapack import dpotrf, dpotri

from homi.arrays import dense
from homi.linalg import Array, inner, solve_psd


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
        YtY = dense(YtY)
        return YtY - self._off * np.outer(self.mean, self.mean)

    def diagonal(self) -> Array:
        # Labels are 0 or 1: a column's squares are its sum.
        return self.Y.shape[0] * self.mean - self._off * self.mean**2

    def times(self, V: Array) -> Array:
        return self.Y.T @ (self.Y @ V) - np.outer(self._off * self.mean, self.mean @ V)

    def leading(self, rank: int) -> Array:
        """An orthonormal basis that holds nearly all that ``rank`` directions can.

        By three rounds of subspace iteration from a fixed start: the eigenvectors
        themselves take long to tell apart, and are not needed.
        """
        U = np.random.default_rng(0).normal(size=(self.n_labels, rank))
        for _ in range(3):
            U, _ = scipy.linalg.qr(
                self.times(U), mode="economic", overwrite_a=True, check_finite=False
            )
        return np.ascontiguousarray(U)


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
        sigma, self._U = scipy.linalg.eigh(gram.dense(), check_finite=False)
        sigma = np.maximum(sigma, 0.0)
        self._tau = beta * sigma
        self._rho = self._tau + lam
        self.rank = gram.n_labels

    def rotate(self, T: Array) -> Array:
        return T @ self._U

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


class _Along(NamedTuple):
    """``γLZU`` and ``γLZ diag(d)U``."""

    U: Array
    dU: Array


@dataclass
class LeadingDirections:
    """``B = diag(d) + UMUᵀ``, with U of p orthonormal columns and M free.

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
        return T

    def rotate_back(self, W: Array) -> Array:
        return W

    def settle(self, Z: Array, LZ: Array) -> None:
        """Choose d at the first scores."""
        self._set_d(np.maximum(np.einsum("ij,ij->j", Z, LZ), 0.0))

    def step(self, Z: Array, LZ: Array | None) -> LabelStep:
        along = self._along(LZ)
        M = self._M(Z, along)
        push = None
        if LZ is not None and along is not None:
            push = self._push(LZ, along, M)
        UM = self._U @ M
        row_squares = self._d**2 + np.einsum("ij,ij->i", UM, UM)
        row_squares += 2.0 * self._d * np.einsum("ij,ij->i", UM, self._U)
        return LabelStep(self._labels(M), np.maximum(row_squares, 0.0), push)

    def B(self, Z: Array, LZ: Array | None) -> Array:
        B = (self._U @ self._M(Z, self._along(LZ))) @ self._U.T
        B.flat[:: len(B) + 1] += self._d
        return B

    def _along(self, LZ: Array | None) -> _Along | None:
        return None if LZ is None else _Along(LZ @ self._U, LZ @ self._dU)

    def _M(self, Z: Array, along: _Along | None) -> Array:
        """``UᵀQU M = Uᵀ(βỸ - Q diag(d))U`` with ``Q = βỸ + λI + γZᵀLZ``."""
        A = self.beta * self._P
        A.flat[:: len(A) + 1] += self.lam
        R = self.beta * (self._P - self._YUdU) - self.lam * self._UdU
        if along is not None:
            ZU = Z @ self._U
            A += ZU.T @ along.U
            R -= ZU.T @ along.dU
        return solve_psd((A + A.T) / 2, R)

    def _push(self, LZ: Array, along: _Along, M: Array) -> Array:
        """``γLZBBᵀ``, with ``UᵀU = I``: two products with factors of p columns."""
        free = along.U @ M
        push = free @ self._dU.T
        push += ((along.dU + free) @ M.T) @ self._U.T
        push += LZ * self._d**2
        return push

    def _labels(self, M: Array) -> float:
        """``β tr(EᵀỸE) + λ‖B‖²`` with ``E = I - B``, term by term from d and M."""
        d = self._d
        alone = float(self._diagonal @ (1.0 - d) ** 2)
        crossed = inner(self._YUdU - self._P, M)
        spread = alone + 2.0 * crossed + inner(M, self._P @ M)
        size = float(d @ d) + 2.0 * inner(self._UdU, M) + inner(M, M)
        return self.beta * max(spread, 0.0) + self.lam * size
