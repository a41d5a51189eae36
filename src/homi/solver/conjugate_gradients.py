"""Conjugate gradients for ``(XᵀX + λI + θ_j γXᵀLX) x_j = r_j``, many labels at once.

Only products with X and L are needed. Each label j has its own system and step length.
The labels share the products, and converged ones are dropped.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from homi.linalg import Array
from homi.solver.scaled_rows import ScaledRows

#: Rank of the preconditioner; a quarter of the features at most.
RANK = 200

#: Most iterations. The sweeps continue from an unfinished system.
_MAX_ITER = 1000


class LabelSystems:
    """Systems of all labels, and a preconditioner for each of them.

    Features are scaled by the diagonal of ``XᵀX + λI``. In the subspace Q of its
    leading eigenvectors, found by a randomized sketch, the systems are solved exactly:
    one pencil serves all θ, as in the direct solver. The rest is divided by the
    smallest eigenvalue in the subspace.
    """

    def __init__(self, rows: ScaledRows, lam: float) -> None:
        self._rows, self._lam = rows, lam
        self._root = np.sqrt(rows.squares() + lam)[:, None]
        self._Q = self._leading(min(RANK, rows.shape[1] // 4))
        self._V, self._mu, self._rest = self._pencil()

    def solve(self, R: Array, theta: Array, accuracy: float) -> Array:
        """Solve all systems to a residual of ``accuracy`` times the right-hand side."""
        out = np.empty_like(R)
        for part in self._rows.blocks(R.shape[1]):
            block = np.ascontiguousarray(R[:, part])
            out[:, part] = self._solve_block(block, theta[part], accuracy)
        return out

    def _leading(self, rank: int) -> Array:
        rng = np.random.default_rng(0)
        sketch = rng.normal(size=(self._rows.shape[1], rank))
        for _ in range(2 if rank else 0):
            sketch = self._scaled(sketch, np.zeros(rank))
            sketch, _ = scipy.linalg.qr(
                sketch, mode="economic", overwrite_a=True, check_finite=False
            )
        return np.ascontiguousarray(sketch)

    def _pencil(self) -> tuple[Array, Array, tuple[float, float]]:
        Q = self._Q
        zeros = np.zeros(Q.shape[1])
        if not zeros.size:
            return np.zeros((0, 0)), zeros, (1.0, 0.0)
        A = Q.T @ self._scaled(Q, zeros)
        if self._rows.L is None:
            values, V = scipy.linalg.eigh(A)
            return V / np.sqrt(values), zeros, (float(values[0]), 0.0)
        Z = self._rows.times(Q / self._root)
        H = Z.T @ self._rows.graph_times(Z)
        mu, V = scipy.linalg.eigh((H + H.T) / 2, (A + A.T) / 2)
        mu = np.maximum(mu, 0.0)
        smallest = float(scipy.linalg.eigvalsh(A)[0])
        return V, mu, (smallest, smallest * float(np.median(mu)))

    def _product(self, V: Array, theta: Array) -> Array:
        """``(XᵀX + λI + γXᵀLX θ) V``."""
        Z = self._rows.times(V)
        if theta.any():
            Z += theta * self._rows.graph_times(Z)
        out = self._rows.transposed_times(Z)
        out += self._lam * V
        return out

    def _scaled(self, V: Array, theta: Array) -> Array:
        return self._product(V / self._root, theta) / self._root

    def _precondition(self, R: Array, theta: Array) -> Array:
        R = R / self._root
        inside = self._Q.T @ R
        kept = self._V.T @ inside
        kept /= 1.0 + np.multiply.outer(self._mu, theta)
        scale = self._rest[0] + theta * self._rest[1]
        R /= scale
        R += self._Q @ (self._V @ kept - inside / scale)
        return R / self._root

    def _solve_block(self, R: Array, theta: Array, accuracy: float) -> Array:
        X = np.zeros_like(R)
        P = self._precondition(R, theta)
        size = _columns(R, P)
        target = accuracy**2 * size
        at_work = np.flatnonzero(size > 0)
        R, P, size = R[:, at_work], P[:, at_work], size[at_work]
        for _ in range(_MAX_ITER):
            if not at_work.size:
                break
            AP = self._product(P, theta[at_work])
            length = size / _columns(P, AP)
            X[:, at_work] += length * P
            R -= length * AP
            S = self._precondition(R, theta[at_work])
            following = _columns(R, S)
            P *= following / size
            P += S
            size = following
            going = size > target[at_work]
            if not going.all():
                R, P, size = R[:, going], P[:, going], size[going]
                at_work = at_work[going]
        return X


def _columns(A: Array, B: Array) -> Array:
    """Inner products of the columns of two matrices."""
    return np.einsum("ij,ij->j", A, B)
