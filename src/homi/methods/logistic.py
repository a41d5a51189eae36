"""Logistic regression of two classes, made for many small problems.

Where rows or features are few, Newton's method in the fewer of the two takes a fraction
of the time of a general solver, most of which is not spent on arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg.lapack import dposv
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from homi.arrays import dense

Array = NDArray[np.float64]

#: Operations up to which a step with the whole Hessian is worth its cost.
_SMALL = 300**3
#: Newton's method ends when a step lowers the objective by no more than this share.
_TOL = 1e-9
_MAX_STEPS = 100


def fit_logistic(X: Any, signs: Array, C: float) -> tuple[Array, float]:
    """``argmin ½‖w‖² + C Σ log(1 + exp(-ỹ(x·w + b)))``, both signs ỹ = ±1 present."""
    if X.shape[0] * min(X.shape) ** 2 <= _SMALL:
        return _newton(X, signs, C)
    model = LogisticRegression(C=C, tol=1e-5, max_iter=1000)
    model.fit(X, signs)
    return model.coef_[0], float(model.intercept_[0])


class _Point(NamedTuple):
    """Scores f = Xw + b of the rows, with w = Xᵀa; thus ``‖w‖² = a·(f - b)``."""

    a: Array
    f: Array
    b: float

    def objective(self, signs: Array, C: float) -> float:
        loss = np.logaddexp(0.0, -signs * self.f).sum()
        return float(0.5 * self.a @ (self.f - self.b) + C * loss)

    def halfway(self, other: _Point) -> _Point:
        a, f, b = other
        return _Point((self.a + a) / 2, (self.f + f) / 2, (self.b + b) / 2)


#: (D, z) -> argmin ½‖w‖² + ½ Σ D_i (x_i·w + b - z_i)²
_Ridge = Callable[[Array, Array], _Point]


def _newton(X: Any, signs: Array, C: float) -> tuple[Array, float]:
    """A step is a ridge regression with weights, halved where it goes too far."""
    ridge = _ridge_of_rows(X) if X.shape[0] <= X.shape[1] else _ridge_of_features(X)
    b = float(np.log((signs > 0).sum() / (signs < 0).sum()))
    point = _Point(np.zeros(len(signs)), np.full(len(signs), b), b)
    before = point.objective(signs, C)
    for _ in range(_MAX_STEPS):
        new = _step(ridge, point, signs, C)
        after = new.objective(signs, C)
        while after > before * (1.0 + _TOL):
            new = point.halfway(new)
            after = new.objective(signs, C)
        point, gain, before = new, before - after, after
        if gain <= _TOL * after:
            break
    return X.T @ point.a, point.b


def _step(ridge: _Ridge, point: _Point, signs: Array, C: float) -> _Point:
    """Regress ``z = f - s/D``, where s and D are the loss's slope and curvature."""
    missing = expit(-signs * point.f)
    # Far from the boundary no curvature is left to measure.
    D = C * np.maximum(missing * (1.0 - missing), 1e-8)
    return ridge(D, point.f + C * signs * missing / D)


def _ridge_of_rows(X: Any) -> _Ridge:
    """From ``(XXᵀ + D⁻¹)a + b1 = z`` and ``1ᵀa = 0``."""
    K = dense(X @ X.T)

    def solve(D: Array, z: Array) -> _Point:
        A = K.copy()
        A[np.diag_indices_from(A)] += 1.0 / D
        u, e = _solve(A, z, np.ones_like(z))
        b = float(u.sum() / e.sum())
        a = u - b * e
        return _Point(a, z - a / D, b)

    return solve


def _ridge_of_features(X: Any) -> _Ridge:
    """From ``(XᵀDX + I)w + bXᵀD1 = XᵀDz`` and ``1ᵀD(Xw + b1 - z) = 0``."""

    def solve(D: Array, z: Array) -> _Point:
        DX = sparse.diags_array(D) @ X if sparse.issparse(X) else D[:, None] * X
        H = dense(X.T @ DX)
        H[np.diag_indices_from(H)] += 1.0
        h = X.T @ D
        u, e = _solve(H, DX.T @ z, h)
        b = float((D @ z - h @ u) / (D.sum() - h @ e))
        f = X @ (u - b * e) + b
        return _Point(D * (z - f), f, b)

    return solve


def _solve(A: Array, first: Array, second: Array) -> tuple[Array, Array]:
    """Two systems with one positive definite matrix, which is overwritten."""
    _, solution, _ = dposv(A, np.column_stack([first, second]), overwrite_a=1)
    return solution[:, 0], solution[:, 1]
