"""MLSF: groups of labels, each with its own features and its own classifier chain."""

from __future__ import annotations

import math
from numbers import Integral, Real

import numpy as np
import scipy.linalg

from homi.base._compat import Interval
from homi.base.classifier import strictly_inside
from homi.base.scaling import Scaler
from homi.methods.chains import LinearChain, fit_chain
from homi.methods.label_clustering import affinity, combination_code, group_labels
from homi.methods.label_models import undo_scaling
from homi.methods.labelwise import LabelwiseClassifier
from homi.methods.proximal import soft_threshold
from homi.moments import Moments
from homi.typing import Array, Indices, Matrix, RandomState

#: Largest seed that scikit-learn accepts.
_SEEDS = np.iinfo(np.int32).max


class MLSF(LabelwiseClassifier):
    r"""Multi-label classification with meta-label-specific features.

    Labels are clustered into K groups, the meta-labels, by spectral clustering of

    .. math:: A_{pq} = \alpha \, \mathrm{Jac}(p, q)
              + (1 - \alpha) \exp(-\|c_p - c_q\|)

    with the Jaccard similarity of two labels and their mean rows c. The combination of
    a group's labels is encoded as a number z between 0 and 1. The lasso

    .. math:: \min_v \tfrac12 \|Xv - z\|^2 + \gamma \|v\|_1

    selects the features of the group. On these features, a chain of linear support
    vector machines in random order predicts the labels of the group.

    Good where labels fall into groups. With ten labels or fewer there is one group, and
    the default γ drops hardly any feature: the method is then one classifier chain.

    Parameters
    ----------
    alpha : float in [0, 1], default=0.8
        α, the weight of co-occurrence in the affinity.
    epsilon : float in [0, inf), default=0.01
        ε: smaller affinities are set to 0.
    gamma : float in [0, inf), default=0.01
        γ, the weight of the ℓ₁ penalty. The squares are summed, not averaged, over
        rows.
    group_size : int in [1, inf), default=10
        The number of groups K is the number of labels divided by this, rounded up.
    rho : float in (0, inf), default=1.0
        ρ, the penalty parameter of the ADMM that solves the lasso.
    C : float in (0, inf), default=1.0
        Weight of the loss of the support vector machines.
    tol : float in (0, inf), default=1e-3
        A label has converged when the norm of its gradient is at most this share of
        the norm at w = 0.
    standardize : bool, default=True
        Whether to scale every feature to mean 0 and variance 1 first.
    n_jobs : int or None, default=None
        Number of threads, each for a part of the labels. None means 1, -1 means all
        processors.
    random_state : int, RandomState instance or None, default=0
        Seed of the clusters, the orders of the chains and the inner folds.

    Attributes
    ----------
    groups_ : list of ndarray
        Labels of each group.
    selected_ : list of ndarray
        Features of each group.
    chain_ : object
        The chains of all groups as one chain, without weights between groups.
    classes_, label_names_, n_features_in_, feature_names_in_
        As in :class:`~homi.HOMI`.

    Notes
    -----
    The original predicts labels without scores. Here Platt's sigmoids, fitted to
    margins from three inner folds, map margins to probabilities, and a label is
    predicted where its probability exceeds one half. The cost is that of about four
    fits of a linear support vector machine per label, all labels at once.

    References
    ----------
    L. Sun, M. Kudo, K. Kimura. Multi-label classification with meta-label-specific
    features. ICPR 2016.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from homi.estimators import MLSF
    >>> X, Y = make_multilabel_classification(200, n_classes=4, random_state=0)
    >>> MLSF(random_state=0).fit(X, Y).predict(X[:2]).shape
    (2, 4)
    """

    _label_squares = 2
    _parameter_constraints = {
        "alpha": [Interval(Real, 0, 1, closed="both")],
        "epsilon": [Interval(Real, 0, None, closed="left")],
        "gamma": [Interval(Real, 0, None, closed="left")],
        "group_size": [Interval(Integral, 1, None, closed="left")],
        "rho": [Interval(Real, 0, None, closed="neither")],
        "C": [Interval(Real, 0, None, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "standardize": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        alpha: float = 0.8,
        epsilon: float = 0.01,
        gamma: float = 0.01,
        *,
        group_size: int = 10,
        rho: float = 1.0,
        C: float = 1.0,
        tol: float = 1e-3,
        standardize: bool = True,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.alpha = alpha
        self.epsilon = epsilon
        self.gamma = gamma
        self.group_size = group_size
        self.rho = rho
        self.C = C
        self.tol = tol
        self.standardize = standardize
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learn(
        self,
        X: Matrix,
        Y: Matrix,
        scaler: Scaler | None,
        rng: np.random.RandomState,
        weights: Array | None,
    ) -> None:
        self.groups_ = self._groups(self._moments(X, Y, weights), rng.randint(_SEEDS))
        codes = np.column_stack([combination_code(Y, group) for group in self.groups_])
        self.selected_ = self._select(self._moments(X, codes, weights))
        self.chain_ = undo_scaling(self._fit_chain(X, Y, rng, weights), scaler)

    def _moments(self, X: Matrix, Y: Matrix, weights: Array | None) -> Moments:
        moments = Moments.from_rows(X, Y, weights)
        # Sparse rows are scaled but not centered.
        return moments.standardized() if self.standardize else moments

    def _groups(self, moments: Moments, seed: int) -> list[Indices]:
        A = affinity(moments, self.alpha, self.epsilon)
        return group_labels(A, math.ceil(len(A) / self.group_size), seed)

    def _select(self, moments: Moments) -> list[Indices]:
        """Return the features that each lasso selects; all if it selects none."""
        V = lasso_by_splitting(moments.G, moments.C, self.gamma, self.rho)
        kept = (np.flatnonzero(v) for v in V.T)
        return [features if len(features) else np.arange(len(V)) for features in kept]

    def _fit_chain(
        self, X: Matrix, Y: Matrix, rng: np.random.RandomState, weights: Array | None
    ) -> LinearChain:
        """Fit the chains of all groups as one chain, without weights between groups."""
        m, q = X.shape[1], Y.shape[1]
        features, related = np.zeros((m, q), dtype=bool), np.zeros((q, q), dtype=bool)
        for group, selected in zip(self.groups_, self.selected_, strict=True):
            features[np.ix_(selected, group)] = True
            related[np.ix_(group, group)] = True
        return fit_chain(
            X,
            Y,
            rng.permutation(q),
            features=features,
            related=related,
            C=self.C,
            loss="squared_hinge",
            tol=self.tol,
            rng=rng,
            weights=weights,
            n_jobs=self.n_jobs,
        )

    def _scores(self, X: Matrix) -> Array:
        return self.chain_.probabilities(X) - 0.5

    def _probabilities(self, scores: Array) -> Array:
        return strictly_inside(scores + 0.5)


def lasso_by_splitting(
    G: Array, C: Array, gamma: float, rho: float, max_iter: int = 100
) -> Array:
    """``argmin_V ½‖XV - Z‖² + γ‖V‖₁`` for ``G = XᵀX`` and ``C = XᵀZ``, by ADMM.

    The tolerances are those of the original: only the sparsity pattern matters.
    """
    factor = scipy.linalg.cho_factor(G + rho * np.eye(len(G)), check_finite=False)
    V, U = np.zeros_like(C), np.zeros_like(C)
    floor = math.sqrt(len(G)) * 1e-4
    for _ in range(max_iter):
        W = scipy.linalg.cho_solve(factor, C + rho * (V - U), check_finite=False)
        V, before = soft_threshold(W + U, gamma / rho), V
        U += W - V
        primal, dual = _norm(W - V), rho * _norm(V - before)
        if primal <= floor + 1e-2 * max(_norm(W), _norm(V)) and (
            dual <= floor + 1e-2 * rho * _norm(U)
        ):
            break
    return V


def _norm(A: Array) -> float:
    """``‖A‖₂``, the spectral norm."""
    return float(np.linalg.norm(A, 2))
