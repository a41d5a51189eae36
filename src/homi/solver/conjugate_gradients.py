"""Conjugate gradients for ``(XᵀX + λI) x_j = r_j``, many labels at once.

Only products with X are needed. Each label j has its own system and step length. The
labels share the products, and converged ones are dropped.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from homi.linalg import Array
from homi.solver.scaled_rows import ScaledRows

#: From gradients to steps.
Divide = Callable[[Array], Array]

#: Most iterations. The sweeps continue from an unfinished system.
_MAX_ITER = 1000


def solve_ridge(
    rows: ScaledRows, R: Array, lam: float, accuracy: float, divide: Divide
) -> Array:
    """Solve all systems to a residual of ``accuracy`` times the right-hand side.

    ``divide`` is the preconditioner, by which residuals are measured, too.
    """
    out = np.empty_like(R)
    for part in rows.blocks(R.shape[1]):
        block = np.ascontiguousarray(R[:, part])
        out[:, part] = _solve_block(rows, block, lam, accuracy, divide)
    return out


def _solve_block(
    rows: ScaledRows, R: Array, lam: float, accuracy: float, divide: Divide
) -> Array:
    X = np.zeros_like(R)
    P = divide(R)
    size = _columns(R, P)
    target = accuracy**2 * size
    at_work = np.flatnonzero(size > 0)
    R, P, size = R[:, at_work], P[:, at_work], size[at_work]
    for _ in range(_MAX_ITER):
        if not at_work.size:
            break
        AP = rows.transposed_times(rows.times(P))
        AP += lam * P
        length = size / _columns(P, AP)
        X[:, at_work] += length * P
        R -= length * AP
        S = divide(R)
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
