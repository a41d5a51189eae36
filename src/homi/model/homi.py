"""HOMI: high-rank and high-order label correlations."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any

from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from homi.arrays import dense
from homi.base._compat import (
    CallbackSupportMixin,
    Interval,
    StrOptions,
    fit_context,
    with_callbacks,
)
from homi.base.classifier import LinearMultiLabelClassifier
from homi.base.targets import Target
from homi.graph import AnchorPlan
from homi.matrix_free import label_rank, solve_rows
from homi.model.dask_rows import DaskRows, dask_view
from homi.model.features import View, kernel_view, linear_view, relabelled, tied
from homi.model.fitted_attributes import fitted_attributes
from homi.model.graphs import (
    GRAPHS,
    anchored,
    anchored_features,
    listed,
    plan_of,
    resolve,
    warn_of_few_rows,
)
from homi.model.kernel_map import KERNELS, KernelMap
from homi.model.missing_labels import filled_in
from homi.model.on_dask import OnDask
from homi.model.partial_fit import PartialFit
from homi.model.route import chosen_solver, compacts, rows_view
from homi.model.weights import (
    check_graph_takes,
    check_label_weight,
    check_sample_weight,
    counted,
)
from homi.solver import (
    OnSweep,
    Problem,
    Solution,
    correct,
    leave_one_out,
    random_params,
    solve,
    solve_identity,
    total,
)

#: The default, about which nobody is warned.
_NEIGHBORS = 10


class HOMI(OnDask, PartialFit, CallbackSupportMixin, LinearMultiLabelClassifier):
    r"""Multi-label classifier that learns how labels depend on each other.

    A linear model of the labels from the features, (W, z), and one of the labels
    from each other, (B, t), are learnt together. A graph that ties each row to
    the rows most correlated with it joins the two:

    .. math::
        \min_{W,z,B,t}\; \|Y - XW - 1z^T\|^2 + \beta\,\|Y - YB - 1t^T\|^2

        + \gamma\,\mathrm{tr}(K^T L K)
        + \lambda\,(\|W\|^2 + \|z\|^2 + \|B\|^2 + \|t\|^2)

    with the scores :math:`K = (XW + 1z^T)B + 1t^T` and L the Laplacian of the graph.
    A label is predicted where its score exceeds one half.

    Parameters
    ----------
    lam : float in [0, inf), default=1.0
        λ, the ridge penalty. With 0 and a singular problem, the solution of least
        norm is found.
    beta : float in (0, inf), default=2.0
        β, the weight of the labels' regression on each other. With
        ``correlation="held-out"``, that of the correction; large values trust it.
    gamma : float in [0, inf), default=1.0
        γ, the weight of the graph. With 0 no graph is built.
    n_neighbors : int in [1, inf), default=10
        s, how many rows each row is tied to.
    correlation : {"labels", "held-out", "identity"}, default="labels"
        What the label-to-label matrix B is learnt from. ``"labels"``: from Y, jointly
        with W, as in the paper. ``"held-out"``: from the scores that each row gets
        from the model of all other rows, in closed form, drawn to the identity: B is
        applied to scores, and so learnt from scores. ``"identity"``: B = I, which is
        ridge regression with a graph.
    graph : {"auto", "exact", "approximate", "anchors"}, default="auto"
        How neighbours are found. ``"exact"`` compares all pairs of rows;
        ``"approximate"`` finds nearly all of them in lists (``graph_recall_``);
        ``"anchors"`` ties each row to the nearest of a few anchors instead, in one
        pass and in time linear in the rows, and so works in batches. ``"auto"`` is
        exact up to 50,000 rows, and up to 100,000 of few features; then what the free
        memory allows. ``graph_`` says what it was.
    n_anchors : int in [1, inf), default=64
        Anchors, with ``graph="anchors"``; fewer where there are not four rows each.
    kernel : {"rbf", "laplacian", "polynomial", "cosine"}, callable, default=None
        Scores that are linear in Nyström features of a kernel instead of in the
        features. The graph stays one of the rows as they are. A callable takes two
        rows.
    n_components : int in [1, inf), default=1000
        Most Nyström features: landmarks drawn from the rows. Without effect if
        ``kernel=None``.
    kernel_params : dict or None, default=None
        Parameters of the kernel: ``gamma`` (not that of the graph), ``degree`` and
        ``coef0``, as in scikit-learn, or those of a callable. The default ``gamma`` of
        "rbf" and "laplacian" is 1/(2d), with d the median squared distance (or sum of
        absolute differences) between two rows.
    standardize : bool, default=True
        Whether every feature is brought to mean 0 and variance 1, for the graph and
        the penalty. Sparse rows stay sparse. The paper is silent on it.
    penalize_bias : bool, default=True
        Whether λ also holds the biases z and t near 0, as in the paper. With few rows
        and a large λ that pulls the scores of every label down; False leaves them
        free, as in ridge regression.
    sweep : {"joint", "paper"}, default="joint"
        ``"joint"`` solves (W, z) and (B, t) as two blocks, accelerated;
        ``"paper"`` sweeps the four blocks of the paper's Algorithm 1.
    missing_labels : {"error", "ignore"}, default="error"
        What NaN in Y means. ``"ignore"``: a label that is not known. It is filled in
        first, by what the features and the known labels of its row say, and then
        learnt from as from a known one; see ``filled_labels_``.
    solver : {"auto", "direct", "iterative"}, default="auto"
        ``"direct"`` factors matrices of features × features once. ``"iterative"`` has
        none of them: the sweeps are the same, by conjugate gradients with products of
        the rows, for many and sparse features or many labels. It needs ``lam > 0``,
        ``sweep="joint"``, ``init="zeros"``, ``correlation="labels"``, biases with a
        penalty, all labels known, and neither kernel, anchors nor weights. Either
        works in the space of the rows where they are fewer than half the features.
        ``"auto"`` takes the iterative one where the direct one would need too much
        memory or be slower (docs/sparse_text.md).
    init : {"zeros", "random"}, default="zeros"
        Start of the sweeps. The paper's Algorithm 1 says zeros, its text random.
    max_iter : int in [1, inf), default=100
        Most sweeps.
    tol : float in [0, inf), default=1e-6
        The sweeps end when one lowers the objective by no more than this share.
    random_state : int, RandomState instance or None, default=0
        Seed of the landmarks of a kernel, of ``init="random"``, and of the anchors and
        the approximate graph; nothing else is random. None for another one at each
        fit.

    Attributes
    ----------
    feature_weights_ : ndarray of shape (n_features, n_labels)
        W in the paper, for features as they were given (not standardised), or for the
        Nyström features of a kernel.
    feature_bias_ : ndarray of shape (n_labels,)
        z in the paper, likewise.
    label_correlation_ : ndarray of shape (n_labels, n_labels)
        B in the paper: entry (i, j) says how the score of label i moves label j.
    label_bias_ : ndarray of shape (n_labels,)
        t in the paper.
    coef_ : ndarray of shape (n_labels, n_features)
        Weights of the folded model, ``(WB)ᵀ``.
    intercept_ : ndarray of shape (n_labels,)
        Its intercept, less the threshold of one half.
    filled_labels_ : ndarray of shape (n_samples, n_labels)
        Only with ``missing_labels="ignore"``: Y with a number between 0 and 1 for each
        label that was not known.
    history_ : list of dict
        The objective's terms after each sweep: ``"features"`` and ``"labels"``, the
        two regressions with their penalties, and ``"graph"``. They sum to it.
    n_iter_ : int
        Number of sweeps.
    solver_ : str
        The solver taken, ``"direct"`` or ``"iterative"``.
    label_rank_ : int
        In how many directions of the labels B was free: all of them, except with the
        iterative solver above 5,000 labels, where it is diagonal in the others.
    graph_ : {"exact", "approximate", "anchors", "none"}
        The graph that was built; "none" if γ = 0.
    graph_recall_ : float
        With the approximate graph: the share of true neighbours that it has, measured
        on 200 rows.
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
    All that is learnt from the rows are a few matrices of products. Building them
    costs O(nm² + nml) and the search for neighbours O(n²m); then one eigenvalue
    problem of size m and one of size l, and O(ml·min(m, l)) for each sweep.
    The objective is not convex: different starts can end in different minima. On 60
    small problems (``benchmarks/starts.py``), zeros were as good as the best of five
    random starts with γ = 1, and up to 23 % above it with γ = 10. To try other starts,
    fit with ``init="random"`` and several ``random_state``, and keep the model of the
    least ``sum(history_[-1].values())``.

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
        "init": [StrOptions({"zeros", "random"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        lam=1.0,
        beta=2.0,
        gamma=1.0,
        n_neighbors=_NEIGHBORS,
        *,
        correlation="labels",
        graph="auto",
        n_anchors=64,
        kernel=None,
        n_components=1000,
        kernel_params=None,
        standardize=True,
        penalize_bias=True,
        sweep="joint",
        missing_labels="error",
        solver="auto",
        init="zeros",
        max_iter=100,
        tol=1e-6,
        random_state=0,
    ):
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
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None, label_weight=None):
        """Learn from rows and their labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows. A dask array or data frame, also one of sparse blocks, is learnt from
            where its blocks are; then y must be one, too.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            Labels: 0/1 or boolean, one column each, or 1-D classes. The column names
            of a data frame are kept as ``label_names_``. NaN or None is a label that is
            not known, if ``missing_labels="ignore"``.
        sample_weight : array-like of shape (n_samples,) or float, default=None
            A row of weight w counts as w equal rows, also in the graph; one of weight
            0 is not there. None for 1 each.
        label_weight : array-like of shape (n_labels,), default=None
            Positive weights of the labels' squared errors in both regressions; ridge
            and graph are as they are, so that labels of more weight are drawn less
            by them. Needs ``sweep="joint"``. None for 1 each.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        ignore = self.missing_labels == "ignore"
        X, target = self._check_fit_input(X, y, unknown=ignore)
        if self.gamma > 0 and self.n_neighbors != _NEIGHBORS:
            warn_of_few_rows(self.n_neighbors, X.shape[0])
        weights = check_sample_weight(sample_weight, X.shape[0])
        label_weight = check_label_weight(label_weight, target.names)
        sweeps = self._init_callback_context(max_subtasks=self.max_iter)
        sweeps.call_on_fit_task_begin(estimator=self, X=X, y=y)
        weighted = weights is not None or label_weight is not None
        self.solver_ = "direct"
        if not isinstance(X, DaskRows):
            self.solver_ = chosen_solver(self, X, target.indicator, weighted=weighted)
        self.__dict__.pop("filled_labels_", None)
        make_hooks = partial(_SweepHooks, self, sweeps, X, y)
        if self.solver_ == "iterative":
            self._fit_rows(X, target.indicator, make_hooks)
        else:
            self._fit_moments(X, target, weights, label_weight, make_hooks)
        sweeps.call_on_fit_task_end(
            estimator=self, X=X, y=y, reconstruction_attributes=lambda: {}
        )
        return self

    def explain(self, path=None, X=None, y=None, **options):
        """Write a page that shows how the labels depend on each other.

        Parameters
        ----------
        path : path, default=None
            The HTML file to write; None to get the page as text.
        X, y : array-like, default=None
            Rows and labels to look at beside B, such as those of ``fit``.
        **options
            What else :func:`homi.explorer.explain` takes: ``X_test`` and ``y_test``,
            ``rows`` to take apart, names and a title.

        Returns
        -------
        path or page : Path or str
            The file that was written, or the text of the page.
        """
        from homi.explorer import explain

        return explain(self, path, X, y, **options)

    def _fit_moments(
        self, X: Any, target: Target, weights: Any, label_weight: Any, make_hooks: Any
    ) -> None:
        rows, Y, row_weights = X, target.indicator, weights
        if not isinstance(X, DaskRows):
            rows, Y, row_weights = counted(X, Y, weights)
        view = self._view(rows, Y, row_weights)
        if self.missing_labels == "ignore":
            view, Y = self._fill(view, X, target, weights)
        self._kernel_map = view.kernel_map
        self.label_rank_ = Y.shape[1]
        problem = Problem(
            view.moments,
            self.lam,
            self.beta,
            self.gamma,
            self.penalize_bias,
            label_weight,
        )
        if self.correlation == "labels":
            solution = self._solve(problem, make_hooks(*view.units).hook)
        else:
            solution = self._solve_directly(problem, view, Y)
        if label_weight is not None or self.missing_labels == "ignore":
            # What was learnt is more than sums that another batch could be added to.
            self._sums = None
        self._store(solution, *view.units)

    def _fit_rows(self, X: Any, Y: Any, make_hooks: Any) -> None:
        self._sums, self._n_batches = None, 1
        given, *units = rows_view(self, X, Y)
        self._kernel_map = None
        self.label_rank_ = label_rank(Y.shape[1])
        hook = make_hooks(*units).hook
        solution = solve_rows(
            given, max_iter=self.max_iter, tol=self.tol, on_sweep=hook
        )
        self._store(solution, *units)

    def _view(self, X: Any, Y: Any, weights: Any) -> View:
        """The features and the graph that the parameters ask for."""
        self._sums, self._n_batches = None, 1
        if isinstance(X, DaskRows):
            return dask_view(self, X, weights)
        self.graph_ = resolve(self.graph, X) if self.gamma > 0 else "none"
        check_graph_takes(self.graph_, weights)
        if self.graph_ == "anchors" and self.kernel is None:
            plan = self._plan_of(X)
            view, self._sums = anchored(X, Y, plan, self.standardize, weights)
            return view
        if self.kernel is None:
            view = linear_view(
                X,
                Y,
                standardize=self.standardize,
                weights=weights,
                compact=compacts(self, *X.shape),
            )
        else:
            view = kernel_view(X, Y, self._map_of(X, weights), weights=weights)
        if self.graph_ == "anchors":
            return anchored_features(view, X, self._plan_of(X))
        if self.graph_ == "approximate":
            view, self.graph_recall_ = listed(view, X, self.n_neighbors, self._seed())
            return view
        return tied(view, X, self.n_neighbors) if self.gamma > 0 else view

    def _plan_of(self, X: Any) -> AnchorPlan:
        return plan_of(
            X,
            self.n_neighbors,
            self.n_anchors,
            standardize=self.standardize,
            seed=self._seed(),
        )

    def _fill(self, view: View, X: Any, target: Target, weights: Any) -> Any:
        """The view and labels of the rows that count, with none unknown."""
        filled = target.indicator
        if target.known is not None:
            filled = filled_in(view, X, target, weights)
        self.filled_labels_ = dense(filled)
        _, Y, _ = counted(X, filled, weights)
        return (view if target.known is None else relabelled(view, Y)), Y

    def _map_of(self, X: Any, weights: Any) -> KernelMap:
        return KernelMap(
            X,
            self.kernel,
            self.n_components,
            self.kernel_params or {},
            standardize=self.standardize,
            rng=check_random_state(self.random_state),
            weights=weights,
        )

    def _features(self, X: Any) -> Any:
        return X if self._kernel_map is None else self._kernel_map(X)

    def _is_plain(self, X: Any) -> bool:
        return getattr(self, "_kernel_map", None) is None and super()._is_plain(X)

    def _solve(self, problem: Problem, on_sweep: OnSweep | None) -> Solution:
        start = None
        if self.init == "random":
            start = random_params(problem, check_random_state(self.random_state))
        return solve(
            problem,
            sweep=self.sweep,
            start=start,
            max_iter=self.max_iter,
            tol=self.tol,
            on_sweep=on_sweep,
        )

    def _solve_directly(self, problem: Problem, view: View, Y: Any) -> Solution:
        """B = I, and then, if asked for, a correction learnt from held-out scores."""
        solution = solve_identity(problem)
        if self.correlation == "identity":
            return solution
        P = leave_one_out(
            problem,
            view.features,
            Y,
            solution.params.B,
            mean=view.mean,
            scale=view.scale,
            weights=view.weights,
        )
        Y = dense(Y)
        params = correct(
            solution.params, P, Y, self.beta, view.weights, problem.label_weight
        )
        return replace(solution, params=params)

    def _store(self, solution: Solution, *units: Any) -> None:
        self.history_ = solution.history
        self.n_iter_ = len(solution.history)
        for name, value in fitted_attributes(solution.params, *units).items():
            setattr(self, name, value)
        # A callback may also have ended the sweeps: that is no failure.
        if not solution.converged and self.n_iter_ == self.max_iter:
            warnings.warn(
                f"HOMI ended after {self.n_iter_} sweeps without converging: the last "
                f"one still lowered the objective, now {total(self.history_[-1]):.6g}, "
                f"by more than the share tol={self.tol:g}; increase max_iter or tol.",
                ConvergenceWarning,
                stacklevel=6,
            )


class _SweepHooks:
    """Tell scikit-learn's callbacks of every sweep; one of them may end the fit."""

    def __init__(self, estimator, context, X, y, *units):
        self._estimator, self._context = estimator, context
        self._data = {"X": X, "y": y}
        self._units = units
        self.hook = self._after if getattr(estimator, "_skl_callbacks", None) else None

    def _after(self, terms, params):
        sweep = self._context.subcontext(task_name="sweep")
        sweep.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        return sweep.call_on_fit_task_end(
            estimator=self._estimator,
            **self._data,
            metadata={"objective": dict(terms)},
            reconstruction_attributes=lambda: fitted_attributes(params(), *self._units),
        )
