"""Fit of HOMICV: check the rows, search, fit what was chosen, keep the results."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state

from homi import memory
from homi.arrays import dense
from homi.base._compat import CallbackContext, CallbackSupportMixin
from homi.base.targets import Target
from homi.base.weights import check_label_weight, check_sample_weight, drop_zero_weight
from homi.joint import JointModel, KnownLabelsMixin, fit_joint_model
from homi.model import batches
from homi.model.batches import Batches, RowsInMemory, rows_in_memory
from homi.model.calibrated_objective import CalibratedObjective
from homi.model.calibration import LEAST_ROWS
from homi.model.candidate_features import CandidateFeatures
from homi.model.chosen_fit import Chosen, ChosenFit
from homi.model.dask_batches import DaskBatches
from homi.model.dask_predict import DaskPredictMixin
from homi.model.dask_rows import DaskRows
from homi.model.final_odds import fit_final_odds, plain_scores
from homi.model.forest import Forest
from homi.model.grid import GAMMAS, build_grid, check_values
from homi.model.held_out_quality import KeptScores, data_key, held_out_quality
from homi.model.homi import HOMI
from homi.model.logistic import wants_logistic
from homi.model.missing_labels import check_known_somewhere
from homi.model.requires import check
from homi.model.scoring import check_missing, objective
from homi.model.search import Search, Stage
from homi.typing import Array, Fields, Mask, Matrix, MatrixLike, RandomState
from homi.warn import warn

#: Keys of ``cv_results_``.
_COLUMNS = ("params", "score", "held_out", "weighted")


class CrossValidatedFit(
    KnownLabelsMixin,
    DaskPredictMixin,
    CallbackSupportMixin,  # type: ignore[misc]
):
    """The steps of ``HOMICV.fit``; parameters and attributes are documented there."""

    scoring: str | Callable[..., float] | None
    lams: ArrayLike | None
    gammas: ArrayLike | None
    label_weights: ArrayLike | None
    betas: ArrayLike | None
    kernels: Sequence[str]
    widths: ArrayLike | None
    n_neighbors: int | ArrayLike
    n_components: int
    standardize: bool | Literal["auto"]
    trees: bool | Literal["auto"]
    logistic: bool | Literal["auto"]
    calibration: Literal["sigmoid"] | None
    time_budget: float | None
    missing_labels: Literal["error", "ignore"]
    verbose: int
    n_jobs: int | None
    random_state: RandomState

    best_estimator_: HOMI
    best_params_: Fields
    odds_slope_: Array | None
    odds_offset_: Array | None
    forest_: Forest | None
    forest_slope_: Array | None
    logistic_coef_: Array | None

    _label_squares = 2

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
        self._kept_scores: KeptScores | None = None
        self._check_members()
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
        keep = keep or held.n <= most
        held_out, filled = self._fit_reported(X, y, held, given, keep=keep)
        self._store_filled(filled, every, target, counted)
        if held_out is not None and not counted.all():
            scores = self._scores(every)
            scores[counted] = held_out
            held_out = scores
        if held_out is not None and given is None:
            key = data_key(every, target, sample_weight, self.get_params())
            self._kept_scores = KeptScores(key, held_out)
        return held_out

    def kept_held_out_scores(
        self, X: MatrixLike, y: MatrixLike, sample_weight: ArrayLike | None = None
    ) -> Array | None:
        """Return the held-out scores of the last fit, if it was to these rows.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_labels) or None
            What ``fit_held_out`` would return without a fit; None after a fit to other
            rows, to more than 20,000 rows, or with other parameters.
        """
        kept: KeptScores | None = getattr(self, "_kept_scores", None)
        if kept is None:
            return None
        unknown = self.missing_labels == "ignore"
        rows, target = clone(self)._check_fit_input(X, y, unknown=unknown)
        key = data_key(rows, target, sample_weight, self.get_params())
        return kept.scores if key == kept.key else None

    def _fit_collections(
        self,
        X: MatrixLike,
        y: MatrixLike,
        sample_weight: ArrayLike | None,
        label_weight: ArrayLike | None,
    ) -> None:
        """Fit to Dask collections."""
        self._kept_scores = None
        self._check_members()
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
        self,
        rows: Batches,
        given: Array | None,
        tell: Callable[[Search], None],
        *,
        keep: bool,
    ) -> tuple[Array | None, Array | None]:
        """Fit to all rows; choices are made on a sample of them.

        Return the held-out scores, if they are kept, and labels, if some were missing.
        """
        self.odds_slope_ = self.odds_offset_ = self.forest_slope_ = None
        self.forest_ = self.logistic_coef_ = None
        self._check_in_memory(rows)
        X, Y, weights, _, known = rows.sample
        grid, seed = build_grid(self, X, rows.n), rows.seed
        self._check_rows_fit(X.shape[0])
        size: Fields = {"n_components": self.n_components, "seed": seed}
        calibrates = self.calibration is not None
        search = Search(
            CandidateFeatures(X, Y, weights, known, **size),
            CalibratedObjective(objective(self._scoring()), calibrates),
            given,
            self._deadline(),
            seed,
            tell,
            bool(self.verbose),
        )
        search.run(grid)
        alone = not (calibrates and wants_logistic(rows, self.logistic))
        chosen = ChosenFit(rows, search, grid, **size, alone=alone)()
        if not calibrates:
            found = plain_scores(search, rows, chosen, keep=keep)
        else:
            found = fit_final_odds(
                search,
                rows,
                chosen,
                trees=self.trees,
                logistic=self.logistic,
                keep=keep,
                seed=seed,
                n_jobs=self.n_jobs,
            )
            assert found.odds is not None
            self.odds_slope_, self.odds_offset_, self.forest_slope_ = found.odds
            self.forest_, self.logistic_coef_ = found.forest, found.logistic_coef
        self._warn_of_time(search)
        self._store(search, chosen)
        self._rate(Y, found.sample, known)
        self.joint_model_ = self._fit_joint_model(found.sample, Y, weights, known)
        return found.held_out, None if known is None else chosen.labels

    def _check_members(self) -> None:
        for name, model in (("trees", "forest"), ("logistic", "logistic regression")):
            if getattr(self, name) is True and self.calibration is None:
                raise ValueError(
                    f"{name}=True needs calibration='sigmoid': a {model} is averaged "
                    f"with log-odds; leave calibration at its default, or pass "
                    f"{name}=False."
                )

    def _check_in_memory(self, rows: Batches) -> None:
        """Raise ValueError for what needs all rows, if only a sample is in memory."""
        if rows_in_memory(rows) is not None:
            return
        for name, asked, off in (
            ("gammas", self._has_graph(), "()"),
            ("trees", self.trees is True, "'auto'"),
            ("logistic", self.logistic is True, "'auto'"),
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
                f"{len(search.tried)} candidates; the best of these is taken. There "
                f"was no time for {', '.join(search.left_out)}. Raise it for a better "
                "model, or pass kernels=() to search less."
            )

    def _store(self, search: Search, chosen: Chosen) -> None:
        columns = map(list, zip(*search.tried, strict=True))
        self.cv_results_ = dict(zip(_COLUMNS, columns, strict=True))
        stages = map(list, zip(*search.stages, strict=True))
        self.search_report_ = dict(zip(Stage._fields, stages, strict=True))
        self.best_params_ = chosen.params
        self.best_score_ = search.best.value
        self.label_weight_ = chosen.label_weight
        self.best_estimator_ = chosen.model

    def _rate(self, Y: Array, scores: Array, known: Mask | None) -> None:
        """Keep the quality of held-out scores."""
        predicted = scores > 0
        if self.target_encoding_.kind == "multiclass":
            predicted = np.arange(scores.shape[1]) == scores.argmax(axis=1)[:, None]
        self.held_out_metrics_, self.held_out_labels_ = held_out_quality(
            Y, scores, predicted, self.label_names_, known
        )

    def _fit_joint_model(
        self, held_out: Array, Y: Array, weights: Array | None, known: Mask | None
    ) -> JointModel | None:
        """Fit how errors of labels go together, if scores are log-odds of labels."""
        if (
            self.calibration is None
            or self.target_encoding_.kind != "multilabel-indicator"
        ):
            return None
        if known is not None:
            Y = np.where(known, Y, np.nan)
        # A model without kernels and trees promises to hold no training row.
        holds_rows = self.trees is not False or self._some_kernel()
        least = 1 if holds_rows else LEAST_ROWS
        return fit_joint_model(held_out, Y, weights, least_rows=least)

    def _some_kernel(self) -> bool:
        has_widths = self.widths is None or np.size(self.widths) > 0
        return len(self.kernels) > 0 and has_widths

    def _tell(
        self, groups: CallbackContext, X: Matrix, y: Matrix
    ) -> Callable[[Search], None]:
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


def check_cv_parameters(model: CrossValidatedFit) -> None:
    """Raise ValueError for parameters that are wrong on their own."""
    model._validate_params()
    model._check_members()


def seed_of(model: CrossValidatedFit) -> int:
    """Return the seed of a fit: a number from the parameter ``random_state``."""
    return model._seed()


def fit_batches(model: CrossValidatedFit, rows: Batches) -> None:
    """Fit the model to rows in batches; held-out scores are not kept."""
    model._fit_batches(rows, None, lambda search: None, keep=False)
