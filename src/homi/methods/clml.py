"""CLML: common and label-specific features, with graphs of labels and rows."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Literal

import numpy as np
from scipy import sparse
from sklearn import config_context
from sklearn.neighbors import NearestNeighbors

from homi.arrays import dense
from homi.base._compat import Interval, StrOptions
from homi.base.targets import Target
from homi.base.weights import UnweightedMixin
from homi.graph import Neighbors, laplacian
from homi.methods import label_graph
from homi.methods.clml_solver import CLMLProblem, solve
from homi.methods.moments_classifier import MomentsClassifier, Scaling, label_counts
from homi.moments import Moments
from homi.row_products import quadratic
from homi.typing import Array, Matrix

#: Entries of a block of scores.
_BLOCK = 2**20

#: Number of candidate thresholds, from 0 to the highest score.
_CANDIDATES = 51


class CLML(UnweightedMixin, MomentsClassifier):  # type: ignore[misc]
    r"""Common and label-specific features with correlation information.

    .. math:: \min_{W, b} \tfrac12 \|XW + 1b^\top - Y\|_F^2
              + \tfrac\alpha2 \mathrm{tr}(XW L_1 (XW)^\top)
              + \tfrac{\lambda_1}2 \mathrm{tr}((XW)^\top L_2 XW)
              + \lambda_2 \|W\|_{2,1} + \beta \|W\|_1

    The ℓ₂,₁ norm selects features for all labels together, the ℓ₁ norm for each label.
    The Laplacian :math:`L_1` of the labels' cosine similarities makes outputs
    similar for labels that occur together, and the Laplacian :math:`L_2` of the nearest
    neighbors makes them similar for similar rows. Good where many features are useless
    and a few are useful for many labels.

    Parameters
    ----------
    alpha : float in [0, inf), default=2**-6
        Weight α of the label graph.
    beta : float in [0, inf), default=2**-7
        Weight β of the ℓ₁ norm.
    lam1 : float in [0, inf), default=2**-7
        Weight λ₁ of the row graph. With 0, neighbors are not searched.
    lam2 : float in [0, inf), default=2**-5
        Weight λ₂ of the ℓ₂,₁ norm.
    gamma : float in (0, inf), default=2**3
        Ridge penalty of the initial coefficients.
    n_neighbors : int in [1, inf), default=10
        k. As in the paper's code, a row counts as one of its own neighbors, so it has
        k - 1 others. With fewer rows, all of them are neighbors.
    threshold : "accuracy" or float, default="accuracy"
        A label is predicted where its regression exceeds this value, the same for all
        labels. ``"accuracy"`` chooses the value with the best example-based accuracy
        in training, out of 51 equally spaced values from 0 to the largest score.
    fit_intercept : bool, default=True
        Whether to fit the intercept b; X is then centered. Without it, standardized
        features cannot model label frequencies. The paper's code has none.
    standardize : bool, default=True
        Whether to scale every feature to mean 0 and variance 1 first.
    max_iter : int in [1, inf), default=500
        Maximum number of iterations.
    tol : float in [0, inf), default=1e-3
        Stop when the residuals are below this share of the iterates.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
        W of unscaled features.
    intercept_ : ndarray of shape (n_labels,)
        b minus the threshold.
    threshold_ : float
        The threshold.
    history_ : list of dict
        Terms of the objective after each iteration, in the order above: ``"loss"``,
        ``"labels"``, ``"rows"``, ``"common"`` and ``"specific"``.
    n_iter_ : int
        Number of iterations.
    classes_, label_names_, n_features_in_, feature_names_in_
        As in :class:`~homi.HOMI`.

    Notes
    -----
    Solved by the alternating direction method of multipliers, which converges to the
    minimum but need not decrease the objective in every iteration. After the moments
    of the rows, the O(n²m) search for neighbors and one decomposition each of size m
    and l, an iteration costs O(m²l + ml²), which does not depend on the number of rows.

    The accuracy of a row without true and predicted labels is 1.

    References
    ----------
    J. Li, P. Li, X. Hu, K. Yu. Learning common and label-specific features for
    multi-label classification with correlation information. Pattern Recognition 121,
    2022.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from homi.estimators import CLML
    >>> X, Y = make_multilabel_classification(200, n_classes=4, random_state=0)
    >>> CLML().fit(X, Y).predict(X[:2]).shape
    (2, 4)
    """

    paper_grid = {
        name: [2.0**power for power in range(-10, 11, 2)]
        for name in ("alpha", "beta", "lam1", "lam2")
    }

    _label_squares = 2
    _unweighted = "its graph counts the neighbors of a row one by one"
    _parameter_constraints = {
        **MomentsClassifier._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="left")],
        "beta": [Interval(Real, 0, None, closed="left")],
        "lam1": [Interval(Real, 0, None, closed="left")],
        "lam2": [Interval(Real, 0, None, closed="left")],
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "threshold": [
            StrOptions({"accuracy"}),
            Interval(Real, None, None, closed="neither"),
        ],
    }

    def __init__(
        self,
        alpha: float = 2**-6,
        beta: float = 2**-7,
        lam1: float = 2**-7,
        lam2: float = 2**-5,
        *,
        gamma: float = 2**3,
        n_neighbors: int = 10,
        threshold: float | Literal["accuracy"] = "accuracy",
        fit_intercept: bool = True,
        standardize: bool = True,
        max_iter: int = 500,
        tol: float = 1e-3,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.lam1 = lam1
        self.lam2 = lam2
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.threshold = threshold
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol

    def _fit(  # type: ignore[override]
        self, X: Matrix, target: Target, weights: Array | None
    ) -> None:
        moments, scaling = self._prepare(X, target.indicator, weights)
        problem = self._problem(X, moments, scaling)
        W, self.history_, converged = solve(
            problem, self.gamma, max_iter=self.max_iter, tol=self.tol
        )
        self.n_iter_ = len(self.history_)
        self._store(W, scaling, threshold=0.0)
        self.threshold_ = self._choose_threshold(X, target.indicator)
        self.intercept_ -= self.threshold_
        self._warn_if_not(converged)

    def _problem(self, X: Matrix, moments: Moments, scaling: Scaling) -> CLMLProblem:
        counts = label_counts(moments, scaling)
        return CLMLProblem(
            moments.G,
            moments.C,
            float(np.trace(moments.YtY)),
            self.alpha * label_graph.laplacian(label_graph.cosine_similarity(counts)),
            self.lam1 * self._row_graph_product(X, moments, scaling),
            self.lam2,
            self.beta,
        )

    def _row_graph_product(
        self, X: Matrix, moments: Moments, scaling: Scaling
    ) -> Array:
        """Compute ``XᵀL₂X``; 0 if rows have no neighbors or λ₁ is 0."""
        k = min(self.n_neighbors, X.shape[0])
        if k < 2 or self.lam1 == 0:
            return np.zeros_like(moments.Sxx)
        L = laplacian(_nearest(X, scaling, k - 1))
        by = 1.0 / scaling.scale
        return by[:, None] * quadratic(X, L) * by

    def _choose_threshold(self, X: Matrix, Y: Matrix) -> float:
        if self.threshold != "accuracy":
            return float(self.threshold)
        X = sparse.csr_array(X) if sparse.issparse(X) else X
        return most_accurate_threshold(self._scores, X, Y)


def _nearest(X: Matrix, scaling: Scaling, k: int) -> Neighbors:
    """Return the k nearest neighbors of every row, with weight 1 each."""
    # The mean does not change distances: sparse rows stay sparse, and dense rows are
    # centered to keep precision beside a large mean.
    if sparse.issparse(X):
        rows = sparse.csr_array(X @ sparse.diags_array(1.0 / scaling.scale))
    else:
        rows = (X - scaling.shift) / scaling.scale
    search = NearestNeighbors(n_neighbors=k).fit(rows)
    # Blocks of 64 MB: larger ones are slower, and the default is a gigabyte.
    with config_context(working_memory=64):
        found = search.kneighbors(return_distance=False)
    return Neighbors(found, np.ones(found.shape))


def most_accurate_threshold(
    scores: Callable[[Matrix], Array], X: Matrix, Y: Matrix
) -> float:
    """Return the lowest threshold with the highest example-based accuracy."""
    step = max(1, _BLOCK // max(Y.shape[1], _CANDIDATES))
    blocks = [slice(i, i + step) for i in range(0, Y.shape[0], step)]
    highest = max(float(scores(X[rows]).max()) for rows in blocks)
    candidates = np.linspace(0.0, max(highest, 0.0), _CANDIDATES)
    sums = [accuracies(scores(X[rows]), Y[rows], candidates) for rows in blocks]
    accuracy = np.sum(sums, axis=0)
    # Equal sums of fractions may differ by rounding.
    equals = accuracy >= accuracy.max() - 1e-9
    return float(candidates[np.argmax(equals)])


def accuracies(scores: Array, Y: Matrix, candidates: Array) -> Array:
    """Sum ``|Ŷ ∩ Y| / |Ŷ ∪ Y|`` over rows; Ŷ are the scores above each candidate."""
    Y = dense(Y)
    shape = len(scores), len(candidates) + 1
    cells = np.searchsorted(candidates, scores)
    cells += shape[1] * np.arange(shape[0])[:, None]

    def count(weights: Array) -> Array:
        table = np.bincount(cells.ravel(), weights.ravel(), shape[0] * shape[1])
        return table.reshape(shape)[:, :0:-1].cumsum(axis=1)[:, ::-1]

    both = count(Y)
    either = count(1.0 - Y) + Y.sum(axis=1)[:, None]
    return np.divide(both, either, out=np.ones_like(both), where=either > 0).sum(axis=0)
