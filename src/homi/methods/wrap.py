"""WRAP: label-specific weights inside an embedding that all labels share."""

from __future__ import annotations

import math
from numbers import Integral, Real

from homi.base._compat import Interval
from homi.base.targets import Target
from homi.methods.label_graph import cosine_similarity, laplacian
from homi.methods.moments_classifier import MomentsClassifier, label_counts
from homi.methods.wrap_solver import Problem, solve
from homi.typing import Matrix


class WRAP(MomentsClassifier):
    r"""Wrapped label-specific feature generation: a reconstruction.

    .. math:: \min_{U, V, b} \tfrac12 \|Y - XUV - 1b^\top\|_F^2
              + \lambda_1 \|V\|_1
              + \tfrac{\lambda_2}{2} \sum_{p < q} s_{pq} \|v_p - v_q\|^2
              + \tfrac{\lambda_3}{2} \|U\|_F^2

    U takes the features to d coordinates that all labels share. In them every label
    has its own sparse weights, a column of V, and labels that occur together (their
    cosine similarity is s) are drawn to similar ones. A label is predicted where its
    regression exceeds one half.

    The equations of the method that the HOMI paper compares with as "WRAP" are not
    public: this objective is a reconstruction from its description and parameters.
    The version with kernels is left out.

    Parameters
    ----------
    lam1 : float in [0, inf), default=5.0
        λ₁, the weight of the absolute values.
    lam2 : float in [0, inf), default=5.0
        λ₂, the weight of the similarities of labels.
    lam3 : float in (0, inf), default=0.1
        λ₃, the ridge penalty of the embedding.
    alpha : float in (0, 1], default=0.9
        α: d is this share of the number of features or labels, the smaller of the
        two, rounded up.
    fit_intercept : bool, default=True
        Whether to learn b. Without it, standardised features predict nothing of how
        frequent a label is.
    standardize : bool, default=True
        Whether to give every feature mean 0 and variance 1 first.
    max_iter : int in [1, inf), default=200
        Most sweeps.
    tol : float in [0, inf), default=1e-4
        The sweeps end when one lowers the objective by no more than this share.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_features, d)
        U of the features as given. Coordinates that no label uses are left out.
    label_weights_ : ndarray of shape (d, n_labels)
        V.
    coef_ : ndarray of shape (n_labels, n_features)
        ``(UV)ᵀ`` of the features as given.
    intercept_ : ndarray of shape (n_labels,)
        b, less one half.
    history_ : list of dict
        Terms of the objective after each sweep: ``"loss"``, ``"specific"``,
        ``"correlation"`` and ``"ridge"``.
    n_iter_ : int
        Number of sweeps.
    classes_, label_names_, n_features_in_, feature_names_in_
        As in :class:`~homi.HOMI`.

    Notes
    -----
    A sweep is twenty accelerated proximal gradient steps in V and the closed form of
    U, so the objective never rises; it is not convex. After the moments of the rows
    and one O(m³) decomposition a sweep costs O(mdl + md² + d²l) and does not depend on
    the number of rows.

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

    #: What the HOMI paper's "step size 1" is taken to have searched.
    paper_grid = {
        "lam1": list(range(1, 11)),
        "lam2": list(range(1, 11)),
    }
    reconstruction = True

    _label_squares = 2
    _parameter_constraints = {
        "lam1": [Interval(Real, 0, None, closed="left")],
        "lam2": [Interval(Real, 0, None, closed="left")],
        "lam3": [Interval(Real, 0, None, closed="neither")],
        "alpha": [Interval(Real, 0, 1, closed="right")],
        "fit_intercept": ["boolean"],
        "standardize": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
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

    def _fit(self, X: Matrix, target: Target) -> None:
        moments, units = self._prepare(X, target.indicator)
        # Labels are alike as they are, not as they vary about their means.
        L = laplacian(cosine_similarity(label_counts(moments, units)))
        problem, E = Problem.of(moments, L, self.lam1, self.lam2, self.lam3)
        # A share such as 0.55 of 100 is 55, whatever its last digit.
        d = math.ceil(self.alpha * min(X.shape[1], len(L)) - 1e-9)
        U, V, self.history_, converged = solve(
            problem, d, max_iter=self.max_iter, tol=self.tol
        )
        self.n_iter_ = len(self.history_)
        self.embedding_, self.label_weights_ = E @ U / units.scale[:, None], V
        self._store(E @ (U @ V), units)
        self._warn_if_not(converged)
