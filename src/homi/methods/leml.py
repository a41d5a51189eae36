"""LEML: linear regression of all labels with coefficients of low rank."""

from __future__ import annotations

from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
import scipy.linalg

from homi.base._compat import Interval
from homi.base.targets import Target
from homi.linalg import inner, solve_psd
from homi.methods.moments_classifier import MomentsClassifier
from homi.moments import Moments
from homi.typing import Array, History, Matrix


class LEML(MomentsClassifier):
    r"""Low-rank empirical risk minimization for multi-label learning by Yu et al.

    .. math:: \min_{W, H, b} \tfrac12 \|XWH^\top + 1b^\top - Y\|_F^2
              + \tfrac{\lambda}{2} \big(\|W\|_F^2 + \|H\|_F^2\big)

    W (n_features × k) maps a row to k latent factors, H (n_labels × k) maps these to
    labels. The penalty is λ times the nuclear norm of :math:`WH^\top`. Good where there
    are many labels and a few directions of the features explain them.

    Parameters
    ----------
    rank : int in [1, inf), default=20
        k, at most the number of features and of labels.
    lam : float in (0, inf), default=10.0
        λ. Use larger values for more rows: from a thousand rows on, 30 to 100 is often
        better.
    threshold : float, default=0.5
        A label is predicted where its regression exceeds it.
    fit_intercept : bool, default=True
        Whether to fit the intercept b. The paper has none.
    standardize : bool, default=True
        Whether to scale every feature to mean 0 and variance 1 first.
    max_iter : int in [1, inf), default=500
        Maximum number of iterations.
    tol : float in [0, inf), default=1e-6
        Stop when the objective decreases by a smaller share than this.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
        :math:`HW^\top` of unscaled features.
    intercept_ : ndarray of shape (n_labels,)
        b minus the threshold.
    feature_factors_ : ndarray of shape (n_features, k)
        W of scaled features.
    label_factors_ : ndarray of shape (n_labels, k)
        H.
    history_ : list of dict
        Terms of the objective after each iteration.
    n_iter_ : int
        Number of iterations.
    classes_, label_names_, n_features_in_, feature_names_in_
        As in :class:`~homi.HOMI`.

    Notes
    -----
    H and W are updated in turn, each in closed form. The start is the ridge regression
    truncated to rank k, so a fit is deterministic. After the moments of the rows and
    one O(m³) decomposition, an iteration costs O(mlk), which does not depend on the
    number of rows. The paper also has other losses, and ignores missing labels; here
    all labels must be known.

    References
    ----------
    H.-F. Yu, P. Jain, P. Kar, I. S. Dhillon. Large-scale Multi-label Learning with
    Missing Labels. ICML 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from homi.estimators import LEML
    >>> X, Y = make_multilabel_classification(200, n_classes=4, random_state=0)
    >>> model = LEML(rank=2).fit(X, Y)
    >>> model.predict(X[:2]).shape
    (2, 4)
    >>> int(np.linalg.matrix_rank(model.coef_))
    2
    """

    _parameter_constraints = {
        **MomentsClassifier._parameter_constraints,
        "rank": [Interval(Integral, 1, None, closed="left")],
        "lam": [Interval(Real, 0, None, closed="neither")],
        "threshold": [Interval(Real, None, None, closed="neither")],
    }

    def __init__(
        self,
        rank: int = 20,
        lam: float = 10.0,
        *,
        threshold: float = 0.5,
        fit_intercept: bool = True,
        standardize: bool = True,
        max_iter: int = 500,
        tol: float = 1e-6,
    ) -> None:
        self.rank = rank
        self.lam = lam
        self.threshold = threshold
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol

    def _fit(  # type: ignore[override]
        self, X: Matrix, target: Target, weights: Array | None
    ) -> None:
        moments, scaling = self._prepare(X, target.indicator, weights)
        problem = _LEMLProblem.of(moments, self.lam)
        found = _alternate(
            problem, problem.start(self.rank), max_iter=self.max_iter, tol=self.tol
        )
        self.history_, self.n_iter_ = found.history, len(found.history)
        self.feature_factors_, self.label_factors_ = problem.E @ found.P, found.H
        self._store(self.feature_factors_ @ found.H.T, scaling, self.threshold)
        self._warn_if_not(found.converged)


class _LEMLProblem(NamedTuple):
    """``XᵀX = E diag(g) Eᵀ``, ``EᵀXᵀY`` and ``‖Y‖²``; ``P = EᵀW`` stands for W."""

    g: Array
    E: Array
    EtC: Array
    yy: float
    lam: float

    @classmethod
    def of(cls, moments: Moments, lam: float) -> _LEMLProblem:
        """Decompose the moments."""
        g, E = scipy.linalg.eigh(moments.G, check_finite=False)
        yy = float(np.trace(moments.YtY))
        return cls(np.maximum(g, 0.0), E, E.T @ moments.C, yy, lam)

    def start(self, rank: int) -> Array:
        """Return ``U √S`` of the ridge regression ``USVᵀ``, truncated to a rank."""
        ridge = self.EtC / (self.g + self.lam)[:, None]
        U, s, _ = scipy.linalg.svd(ridge, full_matrices=False, check_finite=False)
        return U[:, :rank] * np.sqrt(s[:rank])

    def update_P(self, H: Array) -> Array:
        """Solve ``XᵀX W HᵀH + λW = XᵀY H`` for W."""
        nu, Q = scipy.linalg.eigh(H.T @ H, check_finite=False)
        denominator = np.outer(self.g, np.maximum(nu, 0.0)) + self.lam
        return ((self.EtC @ (H @ Q)) / denominator) @ Q.T

    def update_H(self, P: Array) -> Array:
        """Solve ``H (WᵀXᵀXW + λI) = YᵀXW`` for H."""
        A = P.T @ (self.g[:, None] * P)
        A[np.diag_indices_from(A)] += self.lam
        return solve_psd(A, P.T @ self.EtC).T

    def objective(self, P: Array, H: Array) -> dict[str, float]:
        """Return the terms of the objective."""
        fitted = inner(P.T @ (self.g[:, None] * P), H.T @ H)
        explained = inner(P, self.EtC @ H)
        return {
            "loss": 0.5 * (fitted - 2.0 * explained + self.yy),
            "ridge": 0.5 * self.lam * (inner(P, P) + inner(H, H)),
        }


class _Factors(NamedTuple):
    """P and H, the terms of the objective after each iteration, and convergence."""

    P: Array
    H: Array
    history: History
    converged: bool


def _alternate(
    problem: _LEMLProblem, P: Array, *, max_iter: int, tol: float
) -> _Factors:
    """Update H and W in turn until the objective converges."""
    history: History = []
    before = np.inf
    for _ in range(max_iter):
        H = problem.update_H(P)
        P = problem.update_P(H)
        history.append(problem.objective(P, H))
        after = sum(history[-1].values())
        if np.isfinite(before) and before - after <= tol * before:
            return _Factors(P, H, history, converged=True)
        before = after
    return _Factors(P, H, history, converged=False)
