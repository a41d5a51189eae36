"""ML-LRC: sparse regression whose predictions have low rank."""

from __future__ import annotations

from numbers import Real
from typing import NamedTuple

import numpy as np
import scipy.linalg

from homi.base._compat import Interval
from homi.base.targets import Target
from homi.methods.moments_classifier import MomentsClassifier
from homi.methods.proximal import (
    Descent,
    nuclear_norm,
    shrink_singular_values,
    soft_threshold,
)
from homi.moments import Moments
from homi.typing import Array, Matrix


class MLLRC(MomentsClassifier):
    r"""Label-specific features with low-rank label correlations (reconstruction).

    .. math:: \min_{W, b} \tfrac12 \|XW + 1b^\top - Y\|_F^2 + \alpha \|XW\|_*
              + \beta \|W\|_1

    The nuclear norm gives the predictions of all labels a low rank. The ℓ₁ norm selects
    features for each label. Good where there are many labels and few directions of
    the features separate them.

    The equations of the method that the HOMI paper calls "ML-LRC" are not public: this
    objective is a reconstruction from its description and parameters.

    Parameters
    ----------
    alpha : float in [0, inf), default=1.0
        Weight α of the nuclear norm.
    beta : float in [0, inf), default=1.0
        Weight β of the ℓ₁ norm.
    gamma : float in (0, inf), default=0.1
        Ridge penalty of the initial coefficients.
    threshold : float, default=0.5
        τ: a label is predicted where its regression exceeds it.
    fit_intercept : bool, default=True
        Whether to fit the intercept b. Without it, standardized features cannot model
        label frequencies; the results in the HOMI paper suggest that it had none.
    standardize : bool, default=True
        Whether to scale every feature to mean 0 and variance 1 first.
    max_iter : int in [1, inf), default=500
        Maximum number of iterations.
    tol : float in [0, inf), default=1e-4
        Stop when the residuals are below this share of the iterates.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
        W of unscaled features.
    intercept_ : ndarray of shape (n_labels,)
        b minus the threshold.
    history_ : list of dict
        Terms of the objective after each iteration.
    n_iter_ : int
        Number of iterations.
    classes_, label_names_, n_features_in_, feature_names_in_
        As in :class:`~homi.HOMI`.

    Notes
    -----
    Solved by the alternating direction method of multipliers, which converges to the
    minimum but need not decrease the objective in every iteration. After the moments
    of the rows and one O(m³) decomposition, an iteration costs
    O(m²l + ml·min(m, l)), which does not depend on the number of rows.

    References
    ----------
    Wang et al., IEEE document 9084698, 2020, as cited by the HOMI paper. The name is
    that of L. Xu, Z. Wang, Z. Shen, Y. Wang, E. Chen. Learning Low-Rank Label
    Correlations for Multi-label Classification with Missing Labels. ICDM 2014.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from homi.estimators import MLLRC
    >>> X, Y = make_multilabel_classification(200, n_classes=4, random_state=0)
    >>> MLLRC().fit(X, Y).predict(X[:2]).shape
    (2, 4)
    """

    paper_grid = {
        "alpha": [2.0**power for power in range(-10, 11)],
        "beta": [2.0**power for power in range(-10, 11)],
    }
    reconstruction = True

    _label_squares = 2
    _parameter_constraints = {
        **MomentsClassifier._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="left")],
        "beta": [Interval(Real, 0, None, closed="left")],
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "threshold": [Interval(Real, None, None, closed="neither")],
    }

    def __init__(
        self,
        alpha: float = 1.0,
        beta: float = 1.0,
        *,
        gamma: float = 0.1,
        threshold: float = 0.5,
        fit_intercept: bool = True,
        standardize: bool = True,
        max_iter: int = 500,
        tol: float = 1e-4,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.threshold = threshold
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol

    def _fit(  # type: ignore[override]
        self, X: Matrix, target: Target, weights: Array | None
    ) -> None:
        moments, scaling = self._prepare(X, target.indicator, weights)
        problem = _MLLRCProblem.of(moments, self.alpha, self.beta)
        V, self.history_, converged = _solve(
            problem, self.gamma, max_iter=self.max_iter, tol=self.tol
        )
        self.n_iter_ = len(self.history_)
        self._store(V, scaling, self.threshold)
        self._warn_if_not(converged)


class _MLLRCProblem(NamedTuple):
    """``XᵀX = E diag(g) Eᵀ`` and ``EᵀXᵀY``; in this basis ``‖XW‖_* = ‖√g ∘ EᵀW‖_*``."""

    g: Array
    E: Array
    EtC: Array
    yy: float
    alpha: float
    beta: float

    @classmethod
    def of(cls, moments: Moments, alpha: float, beta: float) -> _MLLRCProblem:
        """Decompose the moments."""
        g, E = scipy.linalg.eigh(moments.G, check_finite=False)
        yy = float(np.trace(moments.YtY))
        return cls(np.maximum(g, 0.0), E, E.T @ moments.C, yy, alpha, beta)

    def objective(self, W: Array, P: Array) -> dict[str, float]:
        """Return the terms of the objective, given W and ``P = EᵀW``."""
        RW = np.sqrt(self.g)[:, None] * P
        loss = 0.5 * (np.vdot(RW, RW) - 2.0 * np.vdot(P, self.EtC) + self.yy)
        return {
            "loss": float(loss),
            "rank": self.alpha * nuclear_norm(RW),
            "specific": self.beta * float(np.abs(W).sum()),
        }


#: Iterations between updates of the penalty parameters: minimum, and growth factor.
_PACE, _GROWTH = 5, 1.1
#: Ratio of the residuals beyond which a penalty parameter changes.
_UNEVEN = 2.0


def _solve(
    problem: _MLLRCProblem, gamma: float, *, max_iter: int, tol: float
) -> Descent:
    """Minimize by ADMM with the splits Z = RW and V = W, and scaled duals U1 and U2."""
    g, E, EtC, _, alpha, beta = problem
    root = np.sqrt(g)[:, None]
    r1, r2 = 1.0, max(0.1 * float(g.mean()), np.finfo(float).tiny)
    P = EtC / (g + gamma)[:, None]
    W = E @ P
    Z, V = root * P, W
    # Residuals are compared with at least this, because the solution may be 0.
    floor = 0.01 * _length(r1, Z, r2, V)
    U1, U2 = np.zeros_like(Z), np.zeros_like(V)
    # Products with E are the most expensive step: EᵀV and EᵀU2 are updated instead.
    EtV, EtU2 = P, np.zeros_like(P)
    history, look = [], _PACE
    for turn in range(1, max_iter + 1):
        denominator = ((1.0 + r1) * g + r2)[:, None]
        P = (EtC + r1 * root * (Z - U1) + r2 * (EtV - EtU2)) / denominator
        W, RW = E @ P, root * P
        Z_old, V_old = Z, V
        Z = shrink_singular_values(RW + U1, alpha / r1)
        V = soft_threshold(W + U2, beta / r2)
        U1 += RW - Z
        U2 += W - V
        EtV = E.T @ V
        EtU2 += P - EtV
        history.append(problem.objective(V, EtV))
        primal = _length(r1, RW - Z, r2, W - V)
        dual = _length(r1, Z - Z_old, r2, V - V_old)
        if max(primal, dual) <= tol * max(_length(r1, RW, r2, W), floor):
            return Descent(V, history, converged=True)
        # No fixed penalty parameters suit all α and β. Updates become rarer, so that
        # the iterates converge.
        if turn == look:
            look = max(turn + _PACE, int(_GROWTH * turn))
            f1 = _balance(RW - Z, Z - Z_old)
            f2 = _balance(W - V, V - V_old)
            r1, r2 = r1 * f1, r2 * f2
            U1 /= f1
            U2 /= f2
            EtU2 /= f2
    return Descent(V, history, converged=False)


def _balance(primal: Array, dual: Array) -> float:
    """Return the factor of a penalty parameter that balances both residuals."""
    left, right = np.linalg.norm(primal), np.linalg.norm(dual)
    if left > _UNEVEN * right:
        return 2.0
    return 0.5 if right > _UNEVEN * left else 1.0


def _length(r1: float, A: Array, r2: float, B: Array) -> float:
    """Return the norm of a pair of iterates, weighted by the penalty parameters."""
    return float(np.sqrt(r1 * np.vdot(A, A) + r2 * np.vdot(B, B)))
