"""GLOCAL: latent labels, smoothed by global and local label correlations."""

from __future__ import annotations

import operator
import warnings
from dataclasses import replace
from functools import reduce
from numbers import Integral, Real

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from homi.base._compat import Interval
from homi.base.targets import Target
from homi.methods.glocal_solver import GLOCALProblem, Weights, solve
from homi.methods.moments_classifier import MomentsClassifier, Scaling
from homi.moments import Moments
from homi.typing import Array, Mask, Matrix, RandomState


class GLOCAL(MomentsClassifier):
    r"""Global and local label correlations by Zhu, Kwok and Zhou.

    .. math::
        \min \tfrac12 \|Y - VU^\top\|_F^2 + \tfrac{\lambda}{2} \|V - XW\|_F^2
        + \tfrac12 \bigl(\lambda_V \|V\|_F^2 + \lambda_U \|U\|_F^2
        + \lambda_W \|W\|_F^2\bigr) + \tfrac12 \sum_{c=1}^g \Bigl(\lambda_g
        \tfrac{n_c}{n} \|XWU^\top Z_c\|_F^2 + \lambda_l \|X_cWU^\top Z_c\|_F^2\Bigr)

    over matrices U, V, W, and Z with rows of unit length. Labels Y are -1 and 1, and
    :math:`X_c` are the :math:`n_c` rows of a k-means cluster. A few latent labels V
    represent Y and are regressed on the features. :math:`Z_c Z_c^\top` is learned
    instead of a Laplacian of the labels: it smooths the scores :math:`XWU^\top` over
    all rows and within each cluster. Good where there are many labels that depend on
    each other.

    Parameters
    ----------
    lam : float in (0, inf), default=1.0
        Weight λ of the regression, times l / k.
    lam_local : float in [0, inf), default=1e-5
        Weight λ_l of the correlations in a cluster, times g²l / n.
    lam_global : float in [0, inf), default=1e-3
        Weight λ_g of the correlations in all rows, times l / n.
    lam_ridge : float in (0, inf), default=0.125
        Weight of the three ridge penalties: λ_V is this times l / k, λ_U this times
        n / k, and λ_W this times nl / (mk).
    n_latent : int in [1, inf), default=20
        Number k of latent labels. It may exceed the number of labels.
    n_correlation : int in [1, inf), default=20
        Number of columns of each :math:`Z_c`.
    n_clusters : int in [1, inf), default=3
        Number g of clusters; fewer if there are fewer distinct rows.
    fit_intercept : bool, default=True
        Whether to append a constant feature, penalized like the others. Without it,
        standardized features cannot model label frequencies.
    standardize : bool, default=True
        Whether to scale every feature to mean 0 and variance 1 first.
    max_iter : int in [1, inf), default=500
        Maximum number of cycles, both of the warm-up without correlations and of the
        rest.
    tol : float in [0, inf), default=1e-5
        Stop when a cycle decreases the objective by at most this share.
    random_state : int, RandomState instance or None, default=0
        Seed of the clusters and of the initial U and Z.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
        UWᵀ of unscaled features.
    intercept_ : ndarray of shape (n_labels,)
        Contribution of the constant feature and of the means of the others.
    history_ : list of dict
        Terms of the objective after each cycle, without the warm-up.
    n_iter_ : int
        Number of cycles, without the warm-up.
    classes_, label_names_, n_features_in_, feature_names_in_
        As in :class:`~homi.HOMI`.

    Notes
    -----
    A cycle decreases the objective in Z, V, U and W in turn: V in closed form, U and W
    by conjugate gradients, Z by gradient steps followed by normalization of its rows. V
    is never formed: its products with X, Y and itself follow from those of X and Y.
    After the clusters, their moments and one O(m³) decomposition, a cycle costs
    O(gm²k + mlk + l²k + glk²), which does not depend on the number of rows.

    References
    ----------
    Y. Zhu, J. T. Kwok, Z.-H. Zhou. Multi-Label Learning with Global and Local Label
    Correlation. IEEE Transactions on Knowledge and Data Engineering 30(6), 2018.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from homi.estimators import GLOCAL
    >>> X, Y = make_multilabel_classification(200, n_classes=4, random_state=0)
    >>> GLOCAL(random_state=0).fit(X, Y).predict(X[:2]).shape
    (2, 4)
    """

    _label_squares = 2
    _parameter_constraints = {
        **MomentsClassifier._parameter_constraints,
        "lam": [Interval(Real, 0, None, closed="neither")],
        "lam_local": [Interval(Real, 0, None, closed="left")],
        "lam_global": [Interval(Real, 0, None, closed="left")],
        "lam_ridge": [Interval(Real, 0, None, closed="neither")],
        "n_latent": [Interval(Integral, 1, None, closed="left")],
        "n_correlation": [Interval(Integral, 1, None, closed="left")],
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        lam: float = 1.0,
        *,
        lam_local: float = 1e-5,
        lam_global: float = 1e-3,
        lam_ridge: float = 0.125,
        n_latent: int = 20,
        n_correlation: int = 20,
        n_clusters: int = 3,
        fit_intercept: bool = True,
        standardize: bool = True,
        max_iter: int = 500,
        tol: float = 1e-5,
        random_state: RandomState = 0,
    ) -> None:
        self.lam = lam
        self.lam_local = lam_local
        self.lam_global = lam_global
        self.lam_ridge = lam_ridge
        self.n_latent = n_latent
        self.n_correlation = n_correlation
        self.n_clusters = n_clusters
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _fit(  # type: ignore[override]
        self, X: Matrix, target: Target, weights: Array | None
    ) -> None:
        rng = check_random_state(self.random_state)
        parts, scaling = self._parts(X, target.indicator, rng, weights)
        problem = GLOCALProblem.of(parts, self._weights(parts))
        sizes = self.n_latent, self.n_correlation
        state, self.history_, converged = solve(
            problem, *sizes, rng, max_iter=self.max_iter, tol=self.tol
        )
        self.n_iter_ = len(self.history_)
        self._keep(problem.E @ state.W @ state.U.T, scaling)
        self._warn_if_not(converged)

    def _parts(
        self,
        X: Matrix,
        Y: Matrix,
        rng: np.random.RandomState,
        weights: Array | None = None,
    ) -> tuple[list[Moments], Scaling]:
        """Return the moments of each cluster, with scaled features and ±1 labels."""
        X = sparse.csr_array(X) if sparse.issparse(X) else X
        clusters = _clusters(X, self.n_clusters, self.standardize, rng, weights)
        w = np.ones(X.shape[0]) if weights is None else weights
        parts = [
            Moments.from_rows(X[rows], Y[rows], None if weights is None else w[rows])
            for rows in clusters
        ]
        whole = reduce(operator.add, parts)
        m, q = whole.Sxy.shape
        scaling = Scaling(
            shift=whole.x_mean if self.standardize else np.zeros(m),
            scale=whole.scale() if self.standardize else np.ones(m),
            offset=np.zeros(q),
        )
        return [_scaled(part, scaling, self.fit_intercept) for part in parts], scaling

    def _weights(self, parts: list[Moments]) -> Weights:
        """Return the weights of the objective, as in the original code."""
        n, k, g = sum(part.n for part in parts), self.n_latent, len(parts)
        m, q = parts[0].Sxy.shape
        return Weights(
            lam=self.lam * q / k,
            V=self.lam_ridge * q / k,
            U=self.lam_ridge * n / k,
            W=self.lam_ridge * n * q / (m * k),
            whole=self.lam_global * q / n,
            local=self.lam_local * g**2 * q / n,
        )

    def _keep(self, coefficients: Array, scaling: Scaling) -> None:
        if self.fit_intercept:
            scaling = replace(scaling, offset=coefficients[-1])
            coefficients = coefficients[:-1]
        self._store(coefficients, scaling, threshold=0.0)

    def _probabilities(self, scores: Array) -> Array:
        # Scores -1 and 1 become probabilities near 0 and 1.
        return super()._probabilities(scores / 2)


def _clusters(
    X: Matrix,
    n_clusters: int,
    standardize: bool,
    rng: np.random.RandomState,
    weights: Array | None = None,
) -> list[Mask]:
    """Return a mask of the rows of each k-means cluster that is not empty."""
    if standardize:
        # Distances do not depend on the mean, and sparse rows stay sparse.
        X = StandardScaler(with_mean=False).fit(X, sample_weight=weights).transform(X)
    means = KMeans(min(n_clusters, X.shape[0]), random_state=rng)
    with warnings.catch_warnings():
        # KMeans warns if there are fewer distinct rows than clusters.
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = means.fit_predict(X, sample_weight=weights)
    return [found == c for c in np.unique(found)]


def _scaled(part: Moments, scaling: Scaling, constant: bool) -> Moments:
    """Return moments of scaled features and ±1 labels; ``constant`` appends ones."""
    mean, by = (part.x_mean - scaling.shift) / scaling.scale, 1.0 / scaling.scale
    extra = int(constant)
    return Moments(
        part.n,
        x_mean=np.append(mean, np.ones(extra)),
        y_mean=2.0 * part.y_mean - 1.0,
        Sxx=np.pad(by[:, None] * part.Sxx * by, (0, extra)),
        Sxy=np.pad(2.0 * by[:, None] * part.Sxy, ((0, extra), (0, 0))),
        Syy=4.0 * part.Syy,
    )
