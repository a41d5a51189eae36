"""WRAP: label-specific weights in an embedding that all labels share."""

from __future__ import annotations

import math
from numbers import Real

from homi.base._compat import Interval
from homi.base.targets import Target
from homi.methods.label_graph import cosine_similarity, laplacian
from homi.methods.moments_classifier import MomentsClassifier, label_counts
from homi.methods.wrap_solver import WRAPProblem, solve
from homi.typing import Array, Matrix


class WRAP(MomentsClassifier):
    r"""Wrapped label-specific feature generation (reconstruction).

    .. math:: \min_{U, V, b} \tfrac12 \|Y - XUV - 1b^\top\|_F^2
              + \lambda_1 \|V\|_1
              + \tfrac{\lambda_2}{2} \sum_{p < q} s_{pq} \|v_p - v_q\|^2
              + \tfrac{\lambda_3}{2} \|U\|_F^2

    U embeds the features in d dimensions that all labels share. Every label has its own
    sparse weights in this embedding, a column of V. Labels that occur together, with
    cosine similarity s, get similar weights. A label is predicted where its regression
    exceeds one half.

    The equations of the method that the HOMI paper calls "WRAP" are not public: this
    objective is a reconstruction from its description and parameters. The version with
    kernels is not implemented.

    Parameters
    ----------
    lam1 : float in [0, inf), default=5.0
        λ₁, the weight of the ℓ₁ penalty.
    lam2 : float in [0, inf), default=5.0
        λ₂, the weight of the label similarities.
    lam3 : float in (0, inf), default=0.1
        λ₃, the ridge penalty of the embedding.
    alpha : float in (0, 1], default=0.9
        α: d is this share of min(n_features, n_labels), rounded up.
    fit_intercept : bool, default=True
        Whether to fit the intercept b. Without it, standardized features cannot model
        label frequencies.
    standardize : bool, default=True
        Whether to scale every feature to mean 0 and variance 1 first.
    max_iter : int in [1, inf), default=200
        Maximum number of sweeps.
    tol : float in [0, inf), default=1e-4
        Stop when a sweep decreases the objective by at most this share.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_features, d)
        U of unscaled features, without dimensions that no label uses.
    label_weights_ : ndarray of shape (d, n_labels)
        V.
    coef_ : ndarray of shape (n_labels, n_features)
        ``(UV)ᵀ`` of unscaled features.
    intercept_ : ndarray of shape (n_labels,)
        b minus one half.
    history_ : list of dict
        Terms of the objective after each sweep: ``"loss"``, ``"specific"``,
        ``"correlation"`` and ``"ridge"``.
    n_iter_ : int
        Number of sweeps.
    classes_, label_names_, n_features_in_, feature_names_in_
        As in :class:`~homi.HOMI`.

    Notes
    -----
    A sweep takes twenty accelerated proximal gradient steps in V and solves for U in
    closed form, so the objective never increases; it is not convex. After the moments
    of the rows and one O(m³) decomposition, a sweep costs O(mdl + md² + d²l), which
    does not depend on the number of rows.

    References
    ----------
    Z.-B. Yu, M.-L. Zhang. Multi-Label Classification With Label-Specific Feature
    Generation: A Wrapped Approach. IEEE Transactions on Pattern Analysis and Machine
    Intelligence 44(9), 2022.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from homi.estimators import WRAP
    >>> X, Y = make_multilabel_classification(200, n_classes=4, random_state=0)
    >>> WRAP().fit(X, Y).predict(X[:2]).shape
    (2, 4)
    """

    #: Interpretation of "step size 1" in the HOMI paper.
    paper_grid = {
        "lam1": list(range(1, 11)),
        "lam2": list(range(1, 11)),
    }
    reconstruction = True

    _label_squares = 2
    _parameter_constraints = {
        **MomentsClassifier._parameter_constraints,
        "lam1": [Interval(Real, 0, None, closed="left")],
        "lam2": [Interval(Real, 0, None, closed="left")],
        "lam3": [Interval(Real, 0, None, closed="neither")],
        "alpha": [Interval(Real, 0, 1, closed="right")],
    }

    def __init__(
        self,
        lam1: float = 5.0,
        lam2: float = 5.0,
        lam3: float = 0.1,
        *,
        alpha: float = 0.9,
        fit_intercept: bool = True,
        standardize: bool = True,
        max_iter: int = 200,
        tol: float = 1e-4,
    ) -> None:
        self.lam1 = lam1
        self.lam2 = lam2
        self.lam3 = lam3
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol

    def _fit(  # type: ignore[override]
        self, X: Matrix, target: Target, weights: Array | None
    ) -> None:
        moments, scaling = self._prepare(X, target.indicator, weights)
        # Similarities of the uncentered labels.
        L = laplacian(cosine_similarity(label_counts(moments, scaling)))
        problem, E = WRAPProblem.of(moments, L, self.lam1, self.lam2, self.lam3)
        # 0.55 * 100 is rounded to slightly more than 55: d must be 55.
        d = math.ceil(self.alpha * min(X.shape[1], len(L)) - 1e-9)
        U, V, self.history_, converged = solve(
            problem, d, max_iter=self.max_iter, tol=self.tol
        )
        self.n_iter_ = len(self.history_)
        self.embedding_, self.label_weights_ = E @ U / scaling.scale[:, None], V
        self._store(E @ (U @ V), scaling)
        self._warn_if_not(converged)
