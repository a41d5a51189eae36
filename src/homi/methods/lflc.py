"""LFLC: features selected for all labels (coarse) and for each label (fine)."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import NamedTuple

import numpy as np
import scipy.linalg

from homi.base._compat import Interval
from homi.base.targets import Target
from homi.linalg import inner, solve_psd
from homi.methods.label_graph import cosine_similarity, laplacian
from homi.methods.moments_classifier import MomentsClassifier, Scaling, label_counts
from homi.methods.proximal import (
    Descent,
    row_lengths,
    shrink_rows,
    soft_threshold,
    split,
)
from homi.moments import Moments
from homi.typing import Array, Matrix


class LFLC(MomentsClassifier):
    r"""Label-specific features and classifiers, coarse and fine (reconstruction).

    .. math:: \min_{W, V, b} \tfrac12 \|X(W + V) + 1b^\top - Y\|_F^2
              + \lambda (c \|W\|_{2,1} + \|V\|_1)
              + \tfrac\eta2 \mathrm{tr}(XW L (XW)^\top)

    The coarse part W selects features for all labels together. The Laplacian L of the
    labels' cosine similarities makes its outputs similar for similar labels. The fine
    part V selects features for each label. Good where some features are useful for
    most labels and others for only one.

    The equations of the paper are not public: this objective is a reconstruction from
    its abstract and from the parameters that the HOMI paper searched. One of those, β =
    10⁴, does not appear in it: as the penalty parameter of a splitting, it would not
    change the minimum.

    Parameters
    ----------
    lam : float in (0, inf), default=5.0
        λ, the weight of both penalties.
    eta : float in [0, inf), default=1e-6
        η, the weight of the label similarities.
    balance : float in [0, 1], default=0.5
        θ, which sets the coarse penalty to :math:`c = 1 + \theta(\sqrt l - 1)` for l
        labels. At 1, W is 0 and the method is one lasso per label, because the ℓ₁ norm
        of a row of l numbers is at most √l times its ℓ₂ norm. At 0 with η = 0, V is 0,
        because the ℓ₁ norm is at least the ℓ₂ norm.
    fit_intercept : bool, default=True
        Whether to fit the intercept b; X is then centered.
    standardize : bool, default=True
        Whether to scale every feature to mean 0 and variance 1 first.
    max_iter : int in [1, inf), default=500
        Maximum number of iterations.
    tol : float in [0, inf), default=1e-3
        Stop when the residuals are below this share of the iterates.

    Attributes
    ----------
    coarse_coef_, fine_coef_ : ndarray of shape (n_labels, n_features)
        W and V of unscaled features.
    coef_ : ndarray of shape (n_labels, n_features)
        Their sum.
    intercept_ : ndarray of shape (n_labels,)
        b minus the threshold of one half.
    history_ : list of dict
        Terms of the objective after each iteration: ``"loss"``, ``"coarse"``,
        ``"fine"`` and ``"similarity"``.
    n_iter_ : int
        Number of iterations.
    classes_, label_names_, n_features_in_, feature_names_in_
        As in :class:`~homi.HOMI`.

    Notes
    -----
    Solved by the alternating direction method of multipliers, which converges to the
    minimum but need not decrease the objective in every iteration. After the moments
    of the rows and one decomposition each of size m and l, an iteration costs
    O(m²l + ml²), which does not depend on the number of rows.

    References
    ----------
    J. Ma, H. Zhang, T. W. S. Chow. Multilabel Classification With Label-Specific
    Features and Classifiers: A Coarse- and Fine-Tuned Framework. IEEE Transactions on
    Cybernetics 51(2), 2021.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from homi.estimators import LFLC
    >>> X, Y = make_multilabel_classification(200, n_classes=4, random_state=0)
    >>> LFLC().fit(X, Y).predict(X[:2]).shape
    (2, 4)
    """

    #: Grid of the HOMI paper.
    paper_grid = {
        "lam": [float(value) for value in range(1, 20, 2)],
        "eta": [10.0**power for power in range(-10, -4)],
    }
    reconstruction = True

    _label_squares = 2
    _parameter_constraints = {
        **MomentsClassifier._parameter_constraints,
        "lam": [Interval(Real, 0, None, closed="neither")],
        "eta": [Interval(Real, 0, None, closed="left")],
        "balance": [Interval(Real, 0, 1, closed="both")],
    }

    def __init__(
        self,
        lam: float = 5.0,
        *,
        eta: float = 1e-6,
        balance: float = 0.5,
        fit_intercept: bool = True,
        standardize: bool = True,
        max_iter: int = 500,
        tol: float = 1e-3,
    ) -> None:
        self.lam = lam
        self.eta = eta
        self.balance = balance
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol

    def _fit(  # type: ignore[override]
        self, X: Matrix, target: Target, weights: Array | None
    ) -> None:
        moments, scaling = self._prepare(X, target.indicator, weights)
        problem = self._problem(moments, scaling)
        pair, self.history_, converged = _solve(
            problem, max_iter=self.max_iter, tol=self.tol
        )
        self.n_iter_ = len(self.history_)
        self._store(pair.sum(axis=0), scaling)
        self.coarse_coef_, self.fine_coef_ = (W.T / scaling.scale for W in pair)
        self._warn_if_not(converged)

    def _problem(self, moments: Moments, scaling: Scaling) -> _LFLCProblem:
        counts = label_counts(moments, scaling)
        root = np.sqrt(len(counts))
        return _LFLCProblem(
            moments.G,
            moments.C,
            float(np.trace(moments.YtY)),
            self.eta * laplacian(cosine_similarity(counts)),
            self.lam * (1.0 + self.balance * (root - 1.0)),
            self.lam,
        )


class _LFLCProblem(NamedTuple):
    """``XᵀX``, ``XᵀY``, ``‖Y‖²``, ``ηL`` and the weights of both penalties.

    The unknown is the pair (W, V) as one array of shape (2, m, l).
    """

    G: Array
    C: Array
    yy: float
    L: Array
    coarse: float
    fine: float

    def objective(self, pair: Array) -> dict[str, float]:
        """Return the terms of the objective."""
        W, both = pair[0], pair.sum(axis=0)
        loss = 0.5 * (inner(both, self.G @ both) - 2.0 * inner(both, self.C) + self.yy)
        return {
            "loss": loss,
            "coarse": self.coarse * float(row_lengths(W).sum()),
            "fine": self.fine * float(np.abs(pair[1]).sum()),
            "similarity": 0.5 * inner(W, self.G @ (W @ self.L)),
        }

    def step(self, pair: Array, s: float) -> Array:
        """Take the proximal step of s times the penalties."""
        W, V = pair
        return np.stack(
            [shrink_rows(W, s * self.coarse), soft_threshold(V, s * self.fine)]
        )

    def factor(self, rho: float) -> Callable[[Array], Array]:
        """Return the function from (A, B) to the (W, V) that minimizes the smooth part.

        It solves ``G(W + V) + ηGWL + ρW = C + ρA`` and ``G(W + V) + ρV = C + ρB``. In
        the eigenbases of G and L, these are systems of two unknowns each.
        """
        values, E = scipy.linalg.eigh(self.G, check_finite=False)
        nu, Q = scipy.linalg.eigh(self.L, check_finite=False)
        g = np.maximum(values, 0.0)[:, None]
        smooth = g * np.maximum(nu, 0.0)
        determinant = rho * (2.0 * g + smooth + rho) + g * smooth
        EtCQ = E.T @ self.C @ Q

        def smooth_minimum(pair: Array) -> Array:
            A, B = EtCQ + rho * (E.T @ pair @ Q)
            W = ((g + rho) * A - g * B) / determinant
            V = ((g + smooth + rho) * B - g * A) / determinant
            return E @ np.stack([W, V]) @ Q.T

        return smooth_minimum

    def rho(self) -> float:
        """Return 0.3 times the fine penalty divided by the mean coefficient."""
        size = float(np.diag(self.G).mean())
        least = 1e-8 * size or 1.0
        ridge = self.G + max(size, least) * np.eye(len(self.G))
        typical = float(np.abs(solve_psd(ridge, self.C)).mean())
        # Of factors from 0.1 to 10, 0.3 took the fewest iterations on six data sets.
        return max(0.3 * self.fine / typical, least) if typical > 0 else least


def _solve(problem: _LFLCProblem, *, max_iter: int, tol: float) -> Descent:
    start, rho = np.zeros((2, *problem.C.shape)), problem.rho()
    smooth_minimum = problem.factor(rho)
    return split(
        smooth_minimum,
        problem.step,
        problem.objective,
        start,
        rho,
        least=tol * float(np.linalg.norm(smooth_minimum(start))),
        max_iter=max_iter,
        tol=tol,
    )
