"""HOMICV: HOMI with hyper-parameters chosen by cross-validation."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.utils import check_random_state

from homi import memory
from homi.arrays import dense
from homi.base._compat import CallbackSupportMixin, Interval, StrOptions
from homi.base.classifier import strictly_inside
from homi.base.targets import Target
from homi.base.validation import checks_parameters, reports_to_callbacks
from homi.base.warn import warn
from homi.base.weights import check_sample_weight, drop_zero_weight
from homi.joint import JointModel, KnownLabelsMixin, fit_joint_model
from homi.model import batches
from homi.model.batches import Batches, RowsInMemory, is_whole
from homi.model.blend import LogOdds
from homi.model.candidate_features import CandidateFeatures
from homi.model.chosen_fit import Chosen, ChosenFit
from homi.model.dask_batches import DaskBatches
from homi.model.dask_predict import DaskPredictMixin
from homi.model.dask_rows import DaskRows, is_collection
from homi.model.explain_mixin import ExplainMixin
from homi.model.final_odds import fit_final_odds, plain_scores
from homi.model.forest import Forest
from homi.model.grid import (
    GAMMAS,
    KERNELS_TRIED,
    NEIGHBORS,
    build_grid,
    check_values,
)
from homi.model.held_out_quality import held_out_quality
from homi.model.homi import HOMI
from homi.model.missing_labels import check_known_somewhere
from homi.model.requires import check
from homi.model.scoring import OBJECTIVES, Array, check_missing, objective
from homi.model.search import Calibrated, Search, Stage
from homi.model.summary import SummaryMixin
from homi.model.weights import check_label_weight
from homi.typing import Fields, Mask, Matrix, MatrixLike, RandomState

#: Without kernels and trees, label sets of fewer training rows are not kept.
_LEAST_ROWS = 5
#: Keys of ``cv_results_``.
_COLUMNS = ("params", "score", "held_out", "weighted")


class HOMICV(
    ExplainMixin,
    SummaryMixin,
    KnownLabelsMixin,
    DaskPredictMixin,
    CallbackSupportMixin,  # type: ignore[misc]
):
    r"""HOMI with hyper-parameters chosen by cross-validation; log-odds as scores.

    The strongest classifier of this library, with nothing to set. Every row is scored
    by the model of all other rows. Without a graph, that leave-one-out score of row i
    and a label has a closed form,

    .. math:: \hat f_{-i} = \frac{f_i - h_{ii}\, y_i}{1 - h_{ii}}, \qquad
              h_{ii} = \frac1n + \tilde x_i^T (\tilde X^T \tilde X + \lambda I)^{-1}
              \tilde x_i

    with the centered rows :math:`\tilde x`, so that no model is fitted twice.

    The search compares candidates on at most 2,000 rows and with 300 landmarks of a
    kernel. Its stages: features (standardized or not, as they are or Nyström features
    of a kernel) and λ, without a graph; the width of each kernel; the mean of both
    kernels; by five folds, the graph, if ``gammas`` are given; by the same folds, the
    label correction of ``correlation="held-out"`` in :class:`HOMI` and its strength,
    with equal weights of the labels or with one for each label. A label's weight is the
    one with the least leave-one-out squared error, in effect a λ of its own; such
    weights are taken unless the objective is worse by more than one standard error over
    folds. What was chosen is then fitted to all rows and with ``n_components``
    landmarks, with λ and label weights chosen once more. Intercepts are not penalized,
    so that the ridge regressions of scikit-learn's ``RidgeCV`` are among the
    candidates.

    Of more than 20,000 rows, a random sample of that size gives the scaling, the
    landmarks, λ, label weights and the label correction. Weights and calibration are
    those of all rows, which are mapped to features in blocks, twice; no array with a
    row for each of them is held.

    Candidates are compared, and scores of the final model mapped to log-odds, by
    Platt's sigmoids of held-out scores. The slopes of all labels have a common prior,
    so that a label with one or two positives is ranked like the others.
    Last, the log-odds are averaged with those of a forest, which is better on many
    small tables; out-of-bag log-odds are held-out scores, too.
    ``decision_function`` gives the log-odds, and ``predict_proba`` is calibrated.

    Parameters
    ----------
    scoring : str, callable or None, default=None
        Score to maximize: "neg_log_loss"; "average_precision" of all labels of all rows
        together; "neg_mean_squared_error"; a metric of ``homi.metrics`` by name (losses
        are minimized); or a function of Y and scores, which is computed on all rows
        and, where labels may have weights, on each fold. The scores are probabilities;
        without calibration, a label is predicted where its score exceeds one half.
        None for "neg_log_loss", or "neg_mean_squared_error" without calibration.
    lams : array-like of float in (0, inf), default=None
        λ to try; None for 15 values from 0.001 to 10,000, times the mean variance of
        the features where these are neither standardized nor those of a kernel.
    gammas : array-like of float in [0, inf), default=()
        γ to try beside 0, which is no graph; None for five from 0.01 to 1. Empty for no
        graph: with a kernel, it gained nothing on the data sets of the documentation.
    label_weights : array-like of float in (0, inf), default=None
        Weights to choose from for each label beside 1; None for eight from 0.001 to
        10. Empty for 1 alone.
    betas : array-like of float in (0, inf), default=None
        β to try beside no label correction; None for five from 0.01 to 100. Empty for
        none.
    kernels : sequence of {"rbf", "laplacian"}, default=("rbf", "laplacian")
        Kernels to try beside the features as they are. With more than 20,000 rows and
        more than 20 features, the default leaves "laplacian" out, whose distances are
        not a matrix product and would double the time.
    widths : array-like of float in (0, inf), default=None
        Widths of a kernel to try, as factors of the default ``gamma`` of
        :class:`HOMI`; None for six from 1/4 to 8, tried from 1 on as long as the score
        rises. Empty for no kernel.
    n_neighbors : int, or array-like of int in [1, inf), default=(5, 10, 20)
        Numbers of neighbors in the graph. The one nearest to 10 is tried first, and
        the others if that graph helps.
    n_components : int in [1, inf), default=1500
        Most landmarks of a kernel. With as many as rows, the kernel is exact.
    standardize : bool or "auto", default="auto"
        Whether to scale every feature to mean 0 and variance 1; "auto" tries both.
    trees : bool or "auto", default="auto"
        Whether to average log-odds with those of a forest of extremely randomized
        trees, by the share with the greatest out-of-bag likelihood; the forest is
        dropped where it does not help. "auto" grows none after ``time_budget``, where
        it would take gigabytes, or of more than 20,000 rows that are not in memory.
    calibration : "sigmoid" or None, default="sigmoid"
        Whether scores become log-odds. None for the scores of ``best_estimator_`` as
        they are.
    time_budget : float in (0, inf) or None, default=None
        Seconds after which no further candidate is tried, with a warning. Every λ of
        the first features is always tried: a ridge regression with a chosen penalty.
    missing_labels : {"error", "ignore"}, default="error"
        What NaN in Y means. ``"ignore"``: the label is not known. It is filled in from
        the row's features and known labels, as in :class:`HOMI`, to fit regressions and
        trees; objectives and sigmoids use known labels only. A row without any known
        label counts like one of weight 0.
    verbose : int, default=0
        With 1, a line for each stage of the search is printed.
    n_jobs : int or None, default=None
        Number of threads that grow trees; None is one, -1 as many as processors.
    random_state : int, RandomState instance or None, default=0
        Seed of the sample, the landmarks of kernels and the folds; None for another one
        at each fit.

    Attributes
    ----------
    best_estimator_ : HOMI
        Fitted to all rows.
    best_params_ : dict
        Its hyper-parameters that were chosen.
    label_weight_ : ndarray of shape (n_labels,) or None
        Its ``label_weight``; None where labels have equal weights.
    odds_slope_, odds_offset_ : ndarray of shape (n_labels,) or None
        Slope and offset that map the decision scores of ``best_estimator_`` to
        log-odds. None without calibration.
    forest_ : Forest or None
        The trees; None where there are none.
    forest_slope_ : ndarray of shape (n_labels,) or None
        Factor of the forest's log-odds, which are added.
    joint_model_ : JointModel or None
        How the held-out errors of labels go together, for ``known`` in ``predict``,
        ``predict_proba`` and ``decision_function``. None for a 1-D y and without
        calibration.
    best_score_ : float
        Its cross-validated score, on the sample of the search.
    cv_results_ : dict of list
        One entry for each candidate, in the order tried: ``"params"``; ``"score"``;
        ``"held_out"``, "one row" for leave-one-out and "a fold" for folds;
        ``"weighted"``, whether each label has a weight of its own.
    search_report_ : dict of list
        One entry for each stage: ``"stage"``; ``"candidates"``, how many were tried;
        ``"best_score"`` so far; ``"seconds"``; ``"cut_short"``, whether
        ``time_budget`` ended it; ``"rows"`` that it used; ``"note"``, what it left out
        by rule. ``pandas.DataFrame(model.search_report_)`` shows it.
    filled_labels_ : ndarray of shape (n_samples, n_labels)
        Only with ``missing_labels="ignore"``: Y with a number between 0 and 1 for each
        missing label; a probability by the model in rows that do not count.
    held_out_metrics_ : dict of float
        "hamming_loss", "micro_f1", "macro_f1" and "macro_auc" of held-out scores, a
        little optimistic, as the model was chosen by them.
    held_out_labels_ : dict of list
        The same for each label: ``"label"``, its name; ``"positives"``, how many rows
        have it; ``"auc"``, NaN where all rows or none have it; ``"f1"``.
        :meth:`summary` shows the best and the worst.
    classes_, label_names_, n_features_in_, feature_names_in_
        As in :class:`HOMI`.

    Notes
    -----
    One eigenvalue problem of the features' Gram matrix, or of the rows' where they are
    fewer, serves all λ; another candidate costs one product of the rows with the
    weights. Distances serve all widths. Graphs are compared by folds, because a
    left-out row would keep its edges, which no new row has. So is everything if labels
    are missing, because those of other rows are filled in by models of all rows.

    Progress is shown by scikit-learn's callbacks:
    ``HOMICV().set_callbacks(sklearn.callback.ProgressBar())``.

    References
    ----------
    R. M. Rifkin, R. A. Lippert. Notes on Regularized Least Squares. Technical report
    MIT-CSAIL-TR-2007-025: the leave-one-out scores of a ridge regression.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from homi import HOMICV
    >>> X, Y = make_multilabel_classification(200, n_classes=4, random_state=0)
    >>> model = HOMICV(random_state=0).fit(X, Y)
    >>> model.predict(X[:2]).shape
    (2, 4)
    >>> model.best_params_["correlation"] in ("held-out", "identity")
    True
    """

    _label_squares = 2
    _without_joint_model = (
        "it was fitted on a 1-D y, without calibration, or saved by an earlier "
        "version; fit it again on a 0/1 column for each label, with calibration"
    )
    _parameter_constraints = {
        "scoring": [StrOptions(set(OBJECTIVES)), callable, None],
        "lams": ["array-like", None],
        "gammas": ["array-like", None],
        "label_weights": ["array-like", None],
        "betas": ["array-like", None],
        "kernels": ["array-like"],
        "widths": ["array-like", None],
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "standardize": ["boolean", StrOptions({"auto"})],
        "trees": ["boolean", StrOptions({"auto"})],
        "calibration": [StrOptions({"sigmoid"}), None],
        "time_budget": [Interval(Real, 0, None, closed="neither"), None],
        "missing_labels": [StrOptions({"error", "ignore"})],
        "verbose": ["verbose"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        scoring: str | Callable[..., float] | None = None,
        *,
        lams: ArrayLike | None = None,
        gammas: ArrayLike | None = (),
        label_weights: ArrayLike | None = None,
        betas: ArrayLike | None = None,
        kernels: Sequence[str] = KERNELS_TRIED,
        widths: ArrayLike | None = None,
        n_neighbors: int | ArrayLike = NEIGHBORS,
        n_components: int = 1500,
        standardize: bool | Literal["auto"] = "auto",
        trees: bool | Literal["auto"] = "auto",
        calibration: Literal["sigmoid"] | None = "sigmoid",
        time_budget: float | None = None,
        missing_labels: Literal["error", "ignore"] = "error",
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.scoring = scoring
        self.lams = lams
        self.gammas = gammas
        self.label_weights = label_weights
        self.betas = betas
        self.kernels = kernels
        self.widths = widths
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.standardize = standardize
        self.trees = trees
        self.calibration = calibration
        self.time_budget = time_budget
        self.missing_labels = missing_labels
        self.verbose = verbose
        self.n_jobs = n_jobs
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
        """Choose hyper-parameters by cross-validation, then fit to all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows. X and y may also be Dask arrays or data frames.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            Labels: 0/1 or boolean, one column each, 1-D classes, or a list of tags for
            each row. NaN or None is a label that is not known, if
            ``missing_labels="ignore"``.
        sample_weight : array-like of shape (n_samples,) or float, default=None
            Weights of the rows: one of weight w counts as w equal rows, and one of
            weight 0 not at all. Metrics other than "neg_log_loss" and
            "neg_mean_squared_error" ignore them. None for 1 each.
        label_weight : array-like of shape (n_labels,), default=None
            Weights of the labels' squared errors, as in :class:`HOMI`, instead of those
            chosen.

        Returns
        -------
        self : HOMICV
            The fitted classifier.
        """
        given = X, y, sample_weight, label_weight
        if is_collection(X) or is_collection(y):
            self._fit_collections(*given)
        else:
            self._fit_rows(*given, keep=False)
        return self

    @reports_to_callbacks
    @checks_parameters
    def fit_held_out(
        self,
        X: MatrixLike,
        y: MatrixLike,
        sample_weight: ArrayLike | None = None,
        label_weight: ArrayLike | None = None,
    ) -> Array:
        """Fit, and return the held-out scores of the chosen model.

        Parameters
        ----------
        X, y, sample_weight, label_weight
            As in ``fit``.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_labels)
            ``decision_function`` of each row by a model fitted without it: to all other
            rows, or to other folds with a graph. The sigmoids and the share of each
            label are those of all rows. Rows of weight 0 are scored by the final model.
        """
        if is_collection(X) or is_collection(y):
            raise TypeError(
                "fit_held_out returns an array with a row for each one given, and got "
                "a Dask collection; use fit, or compute the collection first."
            )
        scores = self._fit_rows(X, y, sample_weight, label_weight, keep=True)
        assert scores is not None
        return scores

    def _fit_rows(
        self,
        X: MatrixLike,
        y: MatrixLike,
        sample_weight: ArrayLike | None,
        label_weight: ArrayLike | None,
        *,
        keep: bool,
    ) -> Array | None:
        """Fit, and return the held-out scores if they are to be kept."""
        self._check_trees()
        unknown = self.missing_labels == "ignore"
        rows, target = self._check_fit_input(X, y, unknown=unknown)
        every, weights = rows, check_sample_weight(sample_weight, rows.shape[0])
        weights = self._weights_of_known(target, weights)
        counted = np.ones(rows.shape[0], bool) if weights is None else weights > 0
        rows, indicator, weights = drop_zero_weight(rows, target.indicator, weights)
        given = check_label_weight(label_weight, target.names)
        known = None if target.known is None else target.known[counted]
        known = None if known is None or known.all() else known
        # A graph needs all rows at once.
        most = rows.shape[0] if self._has_graph() else batches.SAMPLE_ROWS
        held = RowsInMemory(rows, indicator, weights, self._seed(), most, known)
        held_out, filled = self._fit_reported(X, y, held, given, keep=keep)
        self._store_filled(filled, every, target, counted)
        if held_out is None or counted.all():
            return held_out
        scores = self._scores(every)
        scores[counted] = held_out
        return scores

    def _fit_collections(
        self, X: Matrix, y: Matrix, sample_weight: Any, label_weight: Any
    ) -> None:
        """Fit to Dask collections."""
        self._check_trees()
        asked = {"sample_weight": sample_weight, "missing_labels": self.missing_labels}
        check(DaskRows.way, asked)
        rows = DaskRows.of(self, X, y, None)
        self._keep_target(rows.target)
        given = check_label_weight(label_weight, rows.target.names)
        held = DaskBatches(rows, self._seed(), batches.SAMPLE_ROWS)
        self._fit_reported(X, y, held, given, keep=False)

    def _fit_reported(
        self, X: Matrix, y: Matrix, rows: Batches, given: Array | None, *, keep: bool
    ) -> tuple[Array | None, Array | None]:
        """Fit to all rows, and report to callbacks."""
        groups = self._init_callback_context(max_subtasks=None)
        groups.call_on_fit_task_begin(estimator=self, X=X, y=y)
        found = self._fit_batches(rows, given, self._tell(groups, X, y), keep=keep)
        groups.call_on_fit_task_end(
            estimator=self, X=X, y=y, reconstruction_attributes=lambda: {}
        )
        return found

    def _fit_batches(
        self, rows: Batches, given: Array | None, tell: Any, *, keep: bool
    ) -> tuple[Array | None, Array | None]:
        """Fit to all rows; choices are made on a sample of them.

        Return the held-out scores, if they are kept, and labels, if some were missing.
        """
        self.odds_slope_: Array | None = None
        self.odds_offset_: Array | None = None
        self.forest_slope_: Array | None = None
        self.forest_: Forest | None = None
        self._check_in_memory(rows)
        X, Y, weights, _, known = rows.sample
        grid, seed = build_grid(self, X, rows.n), rows.seed
        self._check_rows_fit(X.shape[0])
        size: Fields = {"n_components": self.n_components, "seed": seed}
        search = Search(
            CandidateFeatures(X, Y, weights, known, **size),
            Calibrated(objective(self._scoring()), self.calibration is not None),
            given,
            self._deadline(),
            seed,
            tell,
            bool(self.verbose),
        )
        search.run(grid)
        self._warn_of_time(search)
        chosen = ChosenFit(rows, search, grid, **size)()
        if self.calibration is None:
            found = plain_scores(search, rows, chosen, keep=keep)
        else:
            found = fit_final_odds(
                search,
                rows,
                chosen,
                trees=self.trees,
                keep=keep,
                seed=seed,
                n_jobs=self.n_jobs,
            )
            assert found.odds is not None
            self._odds, self.forest_ = found.odds, found.forest
        self._store(search, chosen)
        self._rate(Y, found.sample, known)
        self.joint_model_ = self._fit_joint_model(found.sample, Y, weights, known)
        return found.held_out, None if known is None else chosen.labels

    def _check_trees(self) -> None:
        if self.trees is True and self.calibration is None:
            raise ValueError(
                "trees=True needs calibration='sigmoid': a forest is averaged with "
                "log-odds; leave calibration at its default, or pass trees=False."
            )

    def _check_in_memory(self, rows: Batches) -> None:
        """Raise ValueError for what needs all rows, if only a sample is in memory."""
        if isinstance(rows, RowsInMemory) or is_whole(rows):
            return
        for name, asked, off in (
            ("gammas", self._has_graph(), "()"),
            ("trees", self.trees is True, "'auto'"),
            ("missing_labels", self.missing_labels != "error", "'error'"),
        ):
            if asked:
                raise ValueError(
                    f"{rows.way} of {rows.n:,} rows cannot be used with {name}="
                    f"{getattr(self, name)!r}, which needs all rows in one place; "
                    f"use {name}={off}, or fit an array."
                )

    def _has_graph(self) -> bool:
        return bool(check_values("gammas", self.gammas, GAMMAS))

    def _seed(self) -> int:
        """Draw the seed of a fit."""
        rng = check_random_state(self.random_state)
        return int(rng.randint(np.iinfo(np.int32).max))

    explain = HOMI.explain
    why = HOMI.why

    def _scoring(self) -> str | Callable[..., float]:
        if self.scoring is not None:
            return self.scoring
        return "neg_mean_squared_error" if self.calibration is None else "neg_log_loss"

    def _weights_of_known(self, target: Target, weights: Array | None) -> Array | None:
        """Return weights of the rows, 0 for those without any known label."""
        if target.known is None:
            return weights
        check_missing(self._scoring())
        if self._has_graph():
            raise ValueError(
                f"gammas={self.gammas!r} needs all labels, but some are missing; leave "
                "gammas empty, or use HOMI(missing_labels='ignore') for a graph."
            )
        ones = np.ones(len(target.known)) if weights is None else weights
        check_known_somewhere(target.known[ones > 0], target.names)
        ones = ones * target.known.any(axis=1)
        return None if (ones == 1).all() else ones

    def _store_filled(
        self, labels: Array | None, X: Matrix, target: Target, counted: Mask
    ) -> None:
        """Keep the labels with missing ones filled in, by the model in other rows."""
        self.__dict__.pop("filled_labels_", None)
        if self.missing_labels == "error":
            return
        filled = np.array(dense(target.indicator), dtype=np.float64)
        if labels is not None:
            filled[counted] = labels
        if target.known is not None and not counted.all():
            rest = self._probabilities(self._scores(X[~counted]))
            filled[~counted] = np.where(target.known[~counted], filled[~counted], rest)
        self.filled_labels_ = filled

    def _warn_of_time(self, search: Search) -> None:
        if search.was_cut_short:
            warn(
                f"time_budget={self.time_budget:g} seconds ended the search after "
                f"{len(search.tried)} candidates; the best of these is taken. Raise "
                "it for a better model, or pass kernels=() to search less."
            )

    def _store(self, search: Search, chosen: Chosen) -> None:
        columns = map(list, zip(*search.tried, strict=True))
        self.cv_results_ = dict(zip(_COLUMNS, columns, strict=True))
        stages = map(list, zip(*search.stages, strict=True))
        self.search_report_ = dict(zip(Stage._fields, stages, strict=True))
        self.best_params_: Fields = chosen.params
        self.best_score_ = search.best.value
        self.label_weight_ = chosen.label_weight
        self.best_estimator_ = chosen.model

    def _rate(self, Y: Array, scores: Array, known: Mask | None) -> None:
        """Keep the quality of held-out scores."""
        predicted = scores > 0
        if self._target.kind == "multiclass":
            predicted = np.arange(scores.shape[1]) == scores.argmax(axis=1)[:, None]
        self.held_out_metrics_, self.held_out_labels_ = held_out_quality(
            Y, scores, predicted, self.label_names_, known
        )

    @property
    def _odds(self) -> LogOdds:
        assert self.odds_slope_ is not None
        assert self.odds_offset_ is not None
        return LogOdds(self.odds_slope_, self.odds_offset_, self.forest_slope_)

    @_odds.setter
    def _odds(self, odds: LogOdds) -> None:
        self.odds_slope_, self.odds_offset_, self.forest_slope_ = odds

    def _fit_joint_model(
        self, held_out: Array, Y: Array, weights: Array | None, known: Mask | None
    ) -> JointModel | None:
        """Fit how errors of labels go together, if scores are log-odds of labels."""
        if self.calibration is None or self._target.kind != "multilabel-indicator":
            return None
        if known is not None:
            # Label sets need all labels of a row.
            rows = known.all(axis=1)
            weights = None if weights is None else weights[rows]
            held_out, Y = held_out[rows], Y[rows]
        # A model without kernels and trees promises to hold no training row.
        holds_rows = self.trees is not False or self._some_kernel()
        least = 1 if holds_rows else _LEAST_ROWS
        return fit_joint_model(held_out, Y, weights, least_rows=least)

    def _some_kernel(self) -> bool:
        has_widths = self.widths is None or np.size(self.widths) > 0
        return len(self.kernels) > 0 and has_widths

    def _tell(self, groups: Any, X: Matrix, y: Matrix) -> Any:
        """Return what tells callbacks of each group of candidates that was tried."""

        def after(search: Search) -> None:
            best = search.best
            group = groups.subcontext(task_name="candidates")
            group.call_on_fit_task_begin(estimator=self, X=X, y=y)
            group.call_on_fit_task_end(
                estimator=self,
                X=X,
                y=y,
                metadata={"best_params": best.params, "best_score": best.value},
                reconstruction_attributes=lambda: {},
            )

        return after

    def _least_bytes(self, n: int, m: int, n_labels: int) -> int:
        # Labels and two sets of held-out scores of the sample.
        held = min(n, batches.SAMPLE_ROWS)
        return super()._least_bytes(n, m, n_labels) + 24 * held * n_labels

    def _check_rows_fit(self, n: int) -> None:
        """Raise MemoryError if the features of a candidate do not fit."""
        # Kernel values of all landmarks, and the features made of them.
        mapped = 3 * min(self.n_components, n) if len(self.kernels) else 0
        memory.check(
            8 * n * mapped,
            f"HOMICV with {n:,} rows and {min(self.n_components, n):,} kernel features",
            "reduce n_components, pass kernels=() for linear features only, fit a "
            "sample of the rows, or use HOMI(graph='anchors')",
        )

    def _deadline(self) -> float:
        budget = float("inf") if self.time_budget is None else self.time_budget
        return time.monotonic() + budget

    def _scores(self, X: Matrix) -> Array:
        scores = self.best_estimator_._scores(X)
        if self.odds_slope_ is None:
            return scores
        trees = None if self.forest_ is None else self.forest_.log_odds(X)
        return self._odds(scores, trees)

    def _probabilities(self, scores: Array) -> Array:
        if self.odds_slope_ is None:
            return super()._probabilities(scores)
        return strictly_inside(expit(scores))
