"""WRAP: label-specific weights inside an embedding that all labels share."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from homi.estimators._compat import Interval, fit_context
from homi.estimators.regression import MomentsClassifier, label_counts
from homi.label_graph import cosine_similarity, laplacian
from homi.linalg import inner, largest_eigenvalue, positive_eigenpairs
from homi.moments import Moments
from homi.proximal import Quadratic, descend, soft_threshold
from homi.threads import for_product

Array = NDArray[np.float64]

#: Steps of one descent in V.
_INNER = 20


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
        lam1=5.0,
        lam2=5.0,
        lam3=0.1,
        *,
        alpha=0.9,
        fit_intercept=True,
        standardize=True,
        max_iter=200,
        tol=1e-4,
    ):
        self.lam1 = lam1
        self.lam2 = lam2
        self.lam3 = lam3
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y):
        """Learn from rows and their labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            Labels: 0/1 or boolean, one column each, or 1-D classes.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        X, target = self._check_fit_input(X, y)
        moments, units = self._prepare(X, target.indicator)
        # Labels are alike as they are, not as they vary about their means.
        L = laplacian(cosine_similarity(label_counts(moments, units)))
        problem, E = _Problem.of(moments, L, self.lam1, self.lam2, self.lam3)
        # A share such as 0.55 of 100 is 55, whatever its last digit.
        d = math.ceil(self.alpha * min(X.shape[1], len(L)) - 1e-9)
        U, V, self.history_, converged = _solve(
            problem, d, max_iter=self.max_iter, tol=self.tol
        )
        self.n_iter_ = len(self.history_)
        self.embedding_, self.label_weights_ = E @ U / units.scale[:, None], V
        self._store(E @ (U @ V), units)
        self._warn_if_not(converged)
        return self


class _Problem(NamedTuple):
    """``XᵀX = E diag(g) Eᵀ`` with g > 0, C = ``EᵀXᵀY``, and U in the basis E.

    Outside this basis X has no variance, so U is 0 there.
    """

    g: Array
    C: Array
    yy: float
    L: Array
    lam1: float
    lam2: float
    lam3: float

    @classmethod
    def of(
        cls, moments: Moments, L: Array, lam1: float, lam2: float, lam3: float
    ) -> tuple[_Problem, Array]:
        """The problem, and E."""
        g, E = positive_eigenpairs(moments.G)
        yy = float(np.trace(moments.YtY))
        return cls(g, E.T @ moments.C, yy, L, lam1, lam2, lam3), E

    def objective(self, U: Array, V: Array) -> dict[str, float]:
        M = U @ V
        loss = 0.5 * (inner(M, self.g[:, None] * M) - 2.0 * inner(M, self.C) + self.yy)
        return {
            "loss": loss,
            "specific": self.lam1 * float(np.abs(V).sum()),
            "correlation": 0.5 * self.lam2 * inner(V, V @ self.L),
            "ridge": 0.5 * self.lam3 * inner(U, U),
        }


def _solve(
    problem: _Problem, d: int, *, max_iter: int, tol: float
) -> tuple[Array, Array, list[dict[str, float]], bool]:
    """Sweep V and U in turn from the ridge solution."""
    U, V = _start(problem, d)
    history: list[dict[str, float]] = []
    before = sum(problem.objective(U, V).values())
    spread = problem.lam2 * largest_eigenvalue(problem.L)
    with for_product(len(problem.g), d, len(problem.L)):
        for _ in range(max_iter):
            V = _update_V(problem, U, V, spread)
            # A coordinate without weights has no place in U either: it stays 0.
            V = V[V.any(axis=1)]
            U = _update_U(problem, V)
            history.append(problem.objective(U, V))
            after = sum(history[-1].values())
            if before - after <= tol * before:
                return U, V, history, True
            before = after
    return U, V, history, False


def _start(problem: _Problem, d: int) -> tuple[Array, Array]:
    """``PΣ^½`` and ``Σ^½Qᵀ`` where ``PΣQᵀ = (G + λ₃I)⁻¹C``, cut at d."""
    ridge = problem.C / (problem.g + problem.lam3)[:, None]
    P, sigma, Qt = scipy.linalg.svd(ridge, full_matrices=False, check_finite=False)
    root = np.sqrt(sigma[:d])
    return P[:, :d] * root, root[:, None] * Qt[:d]


def _update_V(problem: _Problem, U: Array, V: Array, spread: float) -> Array:
    """Descend in V, where the smooth part's gradient is ``AV - R + λ₂VL``."""
    A, R = U.T @ (problem.g[:, None] * U), U.T @ problem.C
    pull = problem.lam2 * problem.L
    smooth = Quadratic(
        lambda V: A @ V + V @ pull, R, 0.5 * problem.yy, largest_eigenvalue(A) + spread
    )
    return descend(
        smooth,
        lambda V, s: soft_threshold(V, s * problem.lam1),
        lambda V: {"specific": problem.lam1 * float(np.abs(V).sum())},
        V,
        max_iter=_INNER,
        tol=0.0,
    ).x


def _update_U(problem: _Problem, V: Array) -> Array:
    """``GUVVᵀ + λ₃U = CVᵀ``, with ``VVᵀ = Q diag(θ) Qᵀ``."""
    theta, Q = scipy.linalg.eigh(V @ V.T, check_finite=False)
    denominator = np.outer(problem.g, np.maximum(theta, 0.0)) + problem.lam3
    return ((problem.C @ V.T @ Q) / denominator) @ Q.T
