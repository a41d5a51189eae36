"""HOMI: high-rank and high-order label correlations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from homi.base._compat import CallbackSupportMixin, Interval, StrOptions
from homi.base.classifier import LinearMultiLabelClassifier
from homi.base.validation import checks_parameters, reports_to_callbacks
from homi.base.weights import check_label_weight, check_sample_weight
from homi.model.add_label import AddLabelMixin
from homi.model.batches import row_slices
from homi.model.calibration import CalibrationMixin, calibrate
from homi.model.dask_predict import DaskPredictMixin
from homi.model.dask_rows import DaskRows, is_collection
from homi.model.explain_mixin import ExplainMixin
from homi.model.fitted_attributes import fitted_attributes
from homi.model.graphs import GRAPHS, warn_of_few_rows
from homi.model.kernel_map import KERNELS
from homi.model.partial_fit import PartialFitMixin, seed_of
from homi.model.requires import check, documents_requirements
from homi.model.route import Fitted, choose_route
from homi.model.rows_input import InMemoryRows, RowsInput
from homi.model.sweep_callbacks import SweepCallbacks, warn_of_sweeps
from homi.typing import Array, Fields, Matrix, MatrixLike, RandomState

#: Default number of neighbors; fewer rows raise no warning.
_NEIGHBORS = 10


@documents_requirements
class HOMI(
    ExplainMixin,
    CalibrationMixin,
    DaskPredictMixin,
    PartialFitMixin,
    AddLabelMixin,
    CallbackSupportMixin,  # type: ignore[misc]
    LinearMultiLabelClassifier,
):
    r"""Multi-label classifier that learns how labels depend on each other.

    A linear model of the labels from the features, (W, z), and one of the labels from
    each other, (B, t), are learned jointly. A graph with edges between each row and the
    rows most correlated with it connects the two:

    .. math::
        \min_{W,z,B,t}\; \|Y - XW - 1z^T\|^2 + \beta\,\|Y - YB - 1t^T\|^2

        + \gamma\,\mathrm{tr}(K^T L K)
        + \lambda\,(\|W\|^2 + \|z\|^2 + \|B\|^2 + \|t\|^2)

    with the scores :math:`K = (XW + 1z^T)B + 1t^T` and the Laplacian L of the graph.
    A label is predicted where its score exceeds one half.

    With ``calibration="sigmoid"``, the scores become log-odds, and the methods that
    predict take labels of a row that are already known.

    This is the method of the paper. For the best predictions without anything to set,
    use :class:`homi.HOMICV`.

    Parameters
    ----------
    lam : float in [0, inf), default=1.0
        λ, the ridge penalty. With 0, a singular problem has its least-norm solution.
    beta : float in (0, inf), default=2.0
        β, the weight of the regression of the labels on each other. With
        ``correlation="held-out"``, the strength of the label correction.
    gamma : float in [0, inf), default=1.0
        γ, the weight of the graph. With 0 no graph is built.
    n_neighbors : int in [1, inf), default=10
        s, the number of neighbors of each row in the graph.
    correlation : {"labels", "held-out", "identity"}, default="labels"
        What the label-to-label matrix B is learned from. ``"labels"``: from Y, jointly
        with W, as in the paper. ``"held-out"``: from leave-one-out scores, in closed
        form, shrunk toward the identity. ``"identity"``: B = I, which is ridge
        regression with a graph.
    graph : {"auto", "exact", "approximate", "anchors"}, default="auto"
        How neighbors are found. ``"exact"`` compares all pairs of rows.
        ``"approximate"`` finds nearly all of them with an inverted-list index.
        ``"anchors"`` connects each row to the nearest of a few k-means centers instead,
        in one pass, and so works in batches. ``"auto"`` is exact up to 50,000 rows, and
        up to 100,000 of few features; beyond, what the free memory allows.
    n_anchors : int in [1, inf), default=64
        Number of anchors; fewer where there are not four rows for each.
    kernel : {"rbf", "laplacian", "polynomial", "cosine"}, callable, default=None
        Kernel of Nyström features, which the scores are linear in instead of the
        features. The graph is of the rows as they are. A callable takes two rows.
    n_components : int in [1, inf), default=1000
        Largest number of Nyström features: landmarks drawn from the rows.
    kernel_params : dict or None, default=None
        Parameters of the kernel: ``gamma`` (not that of the graph), ``degree`` and
        ``coef0``, as in scikit-learn, or those of a callable. The default ``gamma`` of
        "rbf" and "laplacian" is 1/(2d), with d the median squared distance (or sum of
        absolute differences) between two rows.
    standardize : bool, default=True
        Whether to scale every feature to mean 0 and variance 1, for the graph and the
        penalty. Sparse rows stay sparse.
    penalize_bias : bool, default=True
        Whether λ also penalizes the intercepts z and t, as in the paper, which lowers
        all scores if λ is large. False leaves them free, as in ridge regression.
    sweep : {"joint", "paper"}, default="joint"
        ``"joint"`` solves (W, z) and (B, t) as two blocks, accelerated. ``"paper"``
        sweeps over the four blocks of the paper's Algorithm 1.
    missing_labels : {"error", "ignore"}, default="error"
        What NaN in Y means. ``"ignore"``: the label is not known. It is filled in from
        the features and the known labels of its row, then used as a known one.
    solver : {"auto", "direct", "iterative"}, default="auto"
        ``"direct"`` factors matrices of features × features once. ``"iterative"`` has
        none of them: it minimizes the same objective by products with the rows, for
        many and sparse features or many labels. ``"auto"`` takes the iterative one
        where the direct one would need too much memory or be slower, and logs why.
    calibration : "sigmoid" or None, default=None
        Whether scores become log-odds, by Platt's sigmoids of cross-validated scores.
        Probabilities are then calibrated, and ``known`` may be passed to ``predict``,
        ``predict_proba`` and ``decision_function``. Five more fits are needed, each to
        four fifths of the rows. None for the scores of the paper.
    init : {"zeros", "random"}, default="zeros"
        Start of the sweeps. The paper's Algorithm 1 says zeros, its text random.
    max_iter : int in [1, inf), default=100
        Largest number of sweeps.
    tol : float in [0, inf), default=1e-6
        The sweeps end when one lowers the objective by no more than this share.
    random_state : int, RandomState instance or None, default=0
        Seed of the landmarks of a kernel, of ``init="random"``, of the anchors and of
        the approximate graph. None draws a new seed in each fit.

    Attributes
    ----------
    feature_weights_ : ndarray of shape (n_features, n_labels)
        W in the paper, for features as given (not standardized), or for the Nyström
        features of a kernel.
    feature_bias_ : ndarray of shape (n_labels,)
        z in the paper, likewise.
    label_correlation_ : ndarray of shape (n_labels, n_labels)
        B in the paper: entry (i, j) says how the score of label i moves label j.
    label_bias_ : ndarray of shape (n_labels,)
        t in the paper.
    coef_, intercept_ : ndarray of shape (n_labels, n_features) and (n_labels,)
        Coefficients ``(WB)ᵀ`` and intercepts of the scores, less one half.
    odds_slope_, odds_offset_ : ndarray of shape (n_labels,) or None
        Slope and offset that map these scores to log-odds. None without calibration.
    joint_model_ : JointModel or None
        How the held-out errors of labels go together, for ``known``. None without
        calibration and for a 1-D y.
    kernel_map_ : KernelMap or None
        Landmarks of the kernel; None without one.
    filled_labels_ : ndarray of shape (n_samples, n_labels)
        Only with ``missing_labels="ignore"``: Y with a number between 0 and 1 for each
        label that was not known.
    history_ : list of dict
        Terms of the objective after each sweep: ``"features"`` and ``"labels"``, the
        two regressions with their penalties, and ``"graph"``.
    n_iter_ : int
        Number of sweeps.
    solver_ : {"direct", "iterative"}
        The solver taken.
    label_rank_ : int
        Number of directions of the labels in which B was free: all of them, except
        with the iterative solver above 5,000 labels; it is diagonal in the others.
    graph_ : {"exact", "approximate", "anchors", "none"}
        The graph that was built; "none" if γ = 0.
    graph_recall_ : float
        Share of true neighbors in the approximate graph, measured on 200 rows.
    classes_ : ndarray
        Numbers of the labels, or the classes of a 1-D y.
    label_names_ : ndarray of shape (n_labels,)
        Names of the labels: columns of a data frame, classes of a 1-D y, or y0, y1, …
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had names that are all strings.

    Notes
    -----
    {requires}

    A fit needs the rows only for a few matrices of products. Building them costs
    O(nm² + nml) and the search for neighbors O(n²m); then one eigenvalue problem of
    size m and one of size l, and O(ml·min(m, l)) for each sweep. That is the direct
    solver; a sweep of the iterative one costs O(l) products with the rows.

    The objective is not convex: different starts can end in different minima. On 60
    small problems (``benchmarks/starts.py``), zeros were as good as the best of five
    random starts with γ = 1, and up to 23 % above it with γ = 10. Other starts are
    ``init="random"`` with several ``random_state``; compare the sums of
    ``history_[-1]``.

    References
    ----------
    C. Si, Y. Jia, R. Wang, M.-L. Zhang, Y. Feng, C. Qu. Multi-label Classification with
    High-rank and High-order Label Correlations. IEEE Transactions on Knowledge and
    Data Engineering.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from homi import HOMI
    >>> X, Y = make_multilabel_classification(200, n_classes=4, random_state=0)
    >>> model = HOMI().fit(X, Y)
    >>> model.predict(X[:2])
    array([[1, 0, 0, 0],
           [0, 1, 0, 0]])
    >>> model.label_correlation_.shape
    (4, 4)
    """

    _label_squares = 1
    _without_joint_model = (
        "it was fitted without calibration or on a 1-D y; fit "
        "HOMI(calibration='sigmoid') on a 0/1 column for each label, or use HOMICV"
    )
    _parameter_constraints = {
        "lam": [Interval(Real, 0, None, closed="left")],
        "beta": [Interval(Real, 0, None, closed="neither")],
        "gamma": [Interval(Real, 0, None, closed="left")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "correlation": [StrOptions({"labels", "held-out", "identity"})],
        "graph": [StrOptions(set(GRAPHS))],
        "n_anchors": [Interval(Integral, 1, None, closed="left")],
        "kernel": [StrOptions(set(KERNELS)), callable, None],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "kernel_params": [dict, None],
        "standardize": ["boolean"],
        "penalize_bias": ["boolean"],
        "sweep": [StrOptions({"joint", "paper"})],
        "missing_labels": [StrOptions({"error", "ignore"})],
        "solver": [StrOptions({"auto", "direct", "iterative"})],
        "calibration": [StrOptions({"sigmoid"}), None],
        "init": [StrOptions({"zeros", "random"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        lam: float = 1.0,
        beta: float = 2.0,
        gamma: float = 1.0,
        n_neighbors: int = _NEIGHBORS,
        *,
        correlation: Literal["labels", "held-out", "identity"] = "labels",
        graph: Literal["auto", "exact", "approximate", "anchors"] = "auto",
        n_anchors: int = 64,
        kernel: str | Callable[..., float] | None = None,
        n_components: int = 1000,
        kernel_params: Fields | None = None,
        standardize: bool = True,
        penalize_bias: bool = True,
        sweep: Literal["joint", "paper"] = "joint",
        missing_labels: Literal["error", "ignore"] = "error",
        solver: Literal["auto", "direct", "iterative"] = "auto",
        calibration: Literal["sigmoid"] | None = None,
        init: Literal["zeros", "random"] = "zeros",
        max_iter: int = 100,
        tol: float = 1e-6,
        random_state: RandomState = 0,
    ) -> None:
        self.lam = lam
        self.beta = beta
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.correlation = correlation
        self.graph = graph
        self.n_anchors = n_anchors
        self.kernel = kernel
        self.n_components = n_components
        self.kernel_params = kernel_params
        self.standardize = standardize
        self.penalize_bias = penalize_bias
        self.sweep = sweep
        self.missing_labels = missing_labels
        self.solver = solver
        self.calibration = calibration
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @reports_to_callbacks
    @checks_parameters
    def fit(
        self,
        X: MatrixLike,
        y: MatrixLike,
        sample_weight: ArrayLike | None = None,
        label_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit to rows and their labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows. A Dask array or data frame is read where its blocks are; then y must
            be one, too.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            Labels: 0/1 or boolean, one column each, 1-D classes, or a list of tags for
            each row. The column names of a data frame, or the sorted tags, are kept as
            ``label_names_``. NaN or None is a label that is not known, if
            ``missing_labels="ignore"``.
        sample_weight : array-like of shape (n_samples,) or float, default=None
            Weights of the rows: one of weight w counts as w equal rows, also in the
            graph, and one of weight 0 not at all. None for 1 each.
        label_weight : array-like of shape (n_labels,), default=None
            Positive weights of the labels' squared errors in both regressions. Ridge
            and graph stay as they are, so that labels of more weight are shrunk less.
            None for 1 each.

        Returns
        -------
        self : HOMI
            The fitted classifier.
        """
        rows = self._rows(X, y, sample_weight, label_weight)
        route = choose_route(self.get_params(deep=False), rows)
        with SweepCallbacks(self, X, y) as sweeps:
            fitted = route.fit(rows, sweeps.hook)
        found = None
        if self.calibration is not None:
            found = calibrate(self.get_params(deep=False), rows, seed_of(self))
        self._store(fitted)._keep_calibration(found)
        return self

    def _rows(
        self,
        X: MatrixLike,
        y: MatrixLike,
        sample_weight: ArrayLike | None,
        label_weight: ArrayLike | None,
    ) -> RowsInput:
        """Check what was given. Nothing later asks which kind of rows it is."""
        if is_collection(X) or is_collection(y):
            given = self.get_params(deep=False) | {"sample_weight": sample_weight}
            check(DaskRows.way, given)
            rows: DaskRows | InMemoryRows = DaskRows.of(self, X, y, sample_weight)
            self._keep_target(rows.target)
        else:
            unknown = self.missing_labels == "ignore"
            checked, target = self._check_fit_input(X, y, unknown=unknown)
            weights = check_sample_weight(sample_weight, checked.shape[0])
            rows = InMemoryRows(checked, target, weights)
        if self.gamma > 0 and self.n_neighbors != _NEIGHBORS:
            warn_of_few_rows(self.n_neighbors, rows.shape[0])
        weight = check_label_weight(label_weight, rows.target.names)
        return replace(rows, label_weight=weight)

    def _features(self, X: Matrix) -> Matrix:
        return X if self.kernel_map_ is None else self.kernel_map_(X)

    def _product(self, X: Matrix) -> Array:
        if self.kernel_map_ is None:
            return super()._product(X)
        # Kernel values of all rows may not fit into memory.
        product = np.empty((X.shape[0], len(self.coef_)))
        for rows in row_slices(len(product), self.coef_.shape[1]):
            product[rows] = super()._product(X[rows])
        return product

    def _is_plain(self, X: Matrix) -> bool:
        return getattr(self, "kernel_map_", None) is None and super()._is_plain(X)

    def _store(self, fitted: Fitted, n_batches: int = 1) -> Self:
        """Set the fitted attributes; names of labels are set where they are checked."""
        solution = fitted.solution
        for name, value in fitted_attributes(solution.params, *fitted.scaling).items():
            setattr(self, name, value)
        self.history_, self.n_iter_ = solution.history, len(solution.history)
        self.solver_, self.graph_ = fitted.solver, fitted.graph
        self.label_rank_ = fitted.label_rank
        self._keep_calibration(None)
        self.kernel_map_, self._sums = fitted.kernel_map, fitted.sums
        self._n_batches, self._label_regression = n_batches, fitted.label_regression
        for name, value in (
            ("graph_recall_", fitted.recall),
            ("filled_labels_", fitted.filled),
        ):
            self.__dict__.pop(name, None)
            if value is not None:
                setattr(self, name, value)
        if not solution.converged:
            warn_of_sweeps(self.history_, self.max_iter, self.tol)
        return self
