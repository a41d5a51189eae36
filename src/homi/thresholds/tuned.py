"""Tune thresholds and calibrate probabilities of any multi-label classifier."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import ParamSpec, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from homi.arrays import check_label_order, dense
from homi.base._compat import Interval, StrOptions, take_rows
from homi.base.classifier import LinearMultiLabelClassifier, agreeing, strictly_inside
from homi.base.validation import checks_parameters
from homi.base.weights import check_sample_weight
from homi.thresholds.calibrate import SHRINKAGE, Method, fit_maps, held_out_maps
from homi.thresholds.choose import choose_strategy, unseen_labels
from homi.thresholds.known import KnownDecisionsMixin
from homi.thresholds.objectives import OBJECTIVES
from homi.thresholds.reliability import expected_calibration_error
from homi.thresholds.rules import (
    FITS,
    RULE_ATTRIBUTES,
    fit_rule,
    is_agreeing,
    rule_attributes,
)
from homi.thresholds.scores import (
    CrossValidation,
    fit_held_out,
    fit_labels,
    held_out_responses,
    label_probabilities,
    label_scores,
    takes_missing_labels,
)
from homi.thresholds.wrapper import WrappedClassifier, canonical_rows, shuffled_folds
from homi.typing import Array, Mask, MatrixLike, RandomState

P = ParamSpec("P")
R = TypeVar("R")

#: Strategies that "auto" chooses from; among equally good ones the first.
AUTO = ("zero", "global", "per_label")


def _has_probabilities(model: TunedThresholds) -> bool:
    if model.calibration is not None:
        return True
    return hasattr(getattr(model, "estimator_", model.estimator), "predict_proba")


def _available_if_probabilities(method: Callable[P, R]) -> Callable[P, R]:
    return available_if(_has_probabilities)(method)


class TunedThresholds(KnownDecisionsMixin, WrappedClassifier):
    r"""Tune the thresholds of any multi-label classifier for an objective.

    Cross-validation gives held-out scores s: each fold is scored by a classifier that
    was fitted to the other folds. The thresholds maximize the objective on them,

    .. math:: \hat y_{ij} = [s_{ij} > t_j], \qquad
              t = \arg\max_t \; \mathrm{objective}(Y, \hat Y)

    and a map from scores to probabilities is fitted to them. Then the classifier is
    fitted to all rows.

    Parameters
    ----------
    estimator : classifier
        Any multi-label classifier or pipeline. Its scores are ``ranking_scores``,
        ``decision_function`` or ``predict_proba``: the first of these that it has.
    objective : str, default="hamming"
        Score to maximize: ``"micro_f1"``, ``"macro_f1"``, ``"example_f1"``,
        ``"jaccard"`` (of each row) or ``"subset_accuracy"``; ``"hamming"`` minimizes
        the Hamming loss.
    strategy : str, default="per_label"
        ``"global"``: all labels share a threshold. ``"per_label"``: each label has
        its own. ``"top_k"``: predict the k labels of highest score in every row.
        ``"cardinality"``: a ridge regression on the sorted scores of a row predicts
        its number of labels; the rounding is chosen for the objective. ``"joint"``:
        predict the label set of greatest expected utility, under a posterior over
        label sets seen in training or with independent labels, whichever does better
        on held-out rows, or threshold 0 if neither does; for objectives that are
        means over rows. ``"auto"``: choose between threshold 0, one global threshold,
        and one threshold per label by cross-validation; threshold 0 unless another
        is better by two standard errors.
    cv : int, splitter, iterable or "own", default=5
        Number of shuffled folds, or any other ``cv`` of scikit-learn. Every row must
        be in exactly one test fold. ``"own"`` uses the held-out scores of a classifier
        that has a method ``fit_held_out``, as :class:`homi.HOMICV`; it is fitted only
        once, and not again if it is already fitted to the same rows.
    calibration : {"sigmoid", "isotonic"} or None, default="sigmoid"
        Map from scores to probabilities. None keeps those of the classifier.
    shrinkage : float in [0, inf] or None, default=None
        κ: for a label with p positives, its own map to probabilities has the weight
        p / (p + κ), and a map fitted to all labels has the rest. None means 3 for
        sigmoids and 30 for isotonic maps, which are more flexible.
    n_jobs : int or None, default=None
        Number of folds fitted in parallel. None means 1, -1 means all processors.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds; None for different folds in each fit. The classifier has
        its own.

    Attributes
    ----------
    estimator_ : classifier
        The classifier fitted to all rows.
    thresholds_ : ndarray of shape (n_labels,)
        For ``"global"``, ``"per_label"`` and ``"auto"``. A label is predicted where its
        score exceeds its threshold: never for infinity, always for minus infinity.
    strategy_ : str
        The strategy; with ``"auto"`` the one chosen: "zero", "global" or "per_label".
    top_k_ : int
        For ``"top_k"``: the number of predicted labels.
    cardinality_ : Pipeline
        For ``"cardinality"``: the regression on sorted scores.
    held_out_score_ : dict of float
        The objective on held-out rows; for ``"hamming"`` the loss, where lower is
        better. ``"before"``: the classifier's own predictions. ``"after"``: the tuned
        thresholds; optimistic, as they were chosen on these scores. ``"unseen"``:
        cross-validated over five folds, an estimate for new rows.
    calibration_error_ : dict of float
        Expected calibration error on held-out rows. ``"before"``: the classifier's
        own probabilities, nan if it has none. ``"after"``: the fitted maps,
        cross-validated over five folds.
    classes_, label_names_, n_features_in_, feature_names_in_
        As in :class:`homi.HOMI`.

    Notes
    -----
    Thresholds are found by sorting, not on a grid. They are optimal for every
    objective with ``"global"`` and ``"top_k"``, and with ``"per_label"`` for
    ``"hamming"``, ``"micro_f1"`` and ``"macro_f1"``. For the other two objectives,
    coordinate ascent over the labels starts from the global threshold and ends in a
    local optimum. A threshold is halfway between two scores. Among equally good
    thresholds the highest is taken.

    A label that never occurs in training is never predicted. A label with fewer than 3
    positives keeps the global threshold, because each of its held-out positives was
    scored by a model that had seen at most one other.

    Decisions of ``"top_k"`` and ``"cardinality"`` are the scores minus a threshold of
    each row, halfway between the last predicted label and the next one. Among tied
    labels the first columns are predicted. ``ranking_scores`` are those of the
    classifier, so ranking metrics do not change.

    The scores of all folds are pooled, and new rows are scored by a classifier fitted
    to more rows. With few rows, compare ``"unseen"`` with ``"before"``. A 1-D y of two
    classes is supported; one of more classes is an error.

    References
    ----------
    Y. Yang. A study of thresholding strategies for text categorization. SIGIR 2001.

    R.-E. Fan, C.-J. Lin. A study on threshold selection for multi-label
    classification. National Taiwan University, 2007.

    J. C. Platt. Probabilistic outputs for support vector machines and comparisons to
    regularized likelihood methods. Advances in Large Margin Classifiers, 1999.

    K. Dembczyński, W. Waegeman, W. Cheng, E. Hüllermeier. An exact algorithm for
    F-measure maximization. NeurIPS 2011: ``"joint"`` with ``"example_f1"``.

    W. Dinkelbach. On nonlinear fractional programming. Management Science 13(7), 1967.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from homi import HOMI
    >>> from homi.thresholds import TunedThresholds
    >>> X, Y = make_multilabel_classification(300, n_classes=4, random_state=0)
    >>> model = TunedThresholds(HOMI(), objective="macro_f1", random_state=0).fit(X, Y)
    >>> model.predict(X[:2]).shape, model.thresholds_.shape
    ((2, 4), (4,))
    >>> bool(model.held_out_score_["unseen"] > model.held_out_score_["before"])
    True
    """

    _parameter_constraints = {
        "estimator": [object],
        "objective": [StrOptions(set(OBJECTIVES))],
        "strategy": [StrOptions(set(FITS) - {"zero"} | {"auto"})],
        "cv": ["cv_object", StrOptions({"own"})],
        "calibration": [StrOptions({"sigmoid", "isotonic"}), None],
        "shrinkage": [Interval(Real, 0, None, closed="both"), None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: BaseEstimator,
        *,
        objective: str = "hamming",
        strategy: str = "per_label",
        cv: CrossValidation = 5,
        calibration: Method | None = "sigmoid",
        shrinkage: float | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.estimator = estimator
        self.objective = objective
        self.strategy = strategy
        self.cv = cv
        self.calibration = calibration
        self.shrinkage = shrinkage
        self.n_jobs = n_jobs
        self.random_state = random_state

    @checks_parameters
    def fit(
        self,
        X: MatrixLike,
        y: MatrixLike,
        sample_weight: ArrayLike | None = None,
        label_weight: ArrayLike | None = None,
    ) -> Self:
        """Tune the thresholds on held-out scores, then fit to all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Training rows, passed to the classifier unchanged.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            Labels: 0/1 or boolean with one column per label, 1-D with two classes, or a
            list of tags for each row. Column names of a data frame, or the sorted tags,
            become ``label_names_``. NaN or None is a label that is not known, if
            the classifier has ``missing_labels="ignore"``: thresholds and maps are then
            fitted to known labels.
        sample_weight : array-like of shape (n_samples,) or float, default=None
            Weights of the rows, for the classifier, the objective and the maps. None
            for 1 each.
        label_weight : array-like of shape (n_labels,), default=None
            Weights of the labels, for the classifier only, as in :class:`homi.HOMI`.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        X = canonical_rows(X)
        unknown = takes_missing_labels(self.estimator)
        target = self._check_labels(X, y, unknown=unknown)
        names = target.names
        check_label_order(getattr(label_weight, "index", None), names, "label_weight")
        Y, known = dense(target.indicator) > 0, target.known
        weights = check_sample_weight(sample_weight, len(Y))
        if weights is not None and (self.cv == "own" or isinstance(self.cv, Integral)):
            kept = np.flatnonzero(weights)
            X, Y, weights = take_rows(X, kept), Y[kept], weights[kept]
            known = None if known is None else known[kept]
        given: Array | Mask = Y if known is None else np.where(known, Y, np.nan)
        cells = self._cells(Y, known, weights)
        rng = check_random_state(self.random_state)
        inner = shuffled_folds(5, len(Y), rng)
        rows = self.estimator, X, given
        if self.cv == "own":
            self.estimator_, S = fit_held_out(*rows, weights, label_weight)
            own, P = S > 0, np.full_like(S, np.nan)
        else:
            cv = shuffled_folds(self.cv, len(Y), rng)
            folds = cv, self.n_jobs
            S, own, P = held_out_responses(*rows, *folds, weights, label_weight)
            self.estimator_ = fit_labels(*rows, weights, label_weight)
        self._tune(S, Y, own, inner, cells)
        self._calibrate(S, Y, P, inner, cells)
        return self

    def _cells(
        self, Y: Mask, known: Mask | None, weights: Array | None
    ) -> Array | None:
        """Return weights of each label of each row; None for 1 each."""
        if known is None and weights is None:
            return None
        if known is not None and self.strategy == "cardinality":
            raise ValueError(
                "strategy='cardinality' needs the number of labels of each row, but "
                "some labels are missing; pass another strategy."
            )
        w = np.ones(len(Y)) if weights is None else weights
        return np.where(known is None or known, w[:, None], np.zeros(Y.shape))

    def _tune(
        self, S: Array, Y: Mask, own: Mask, folds: KFold, cells: Array | None
    ) -> None:
        """Fit the rule, and measure it on held-out scores and by cross-validation."""
        objective = OBJECTIVES[self.objective]
        auto = self.strategy == "auto"
        unseen = {
            strategy: unseen_labels(S, Y, self.objective, strategy, folds, cells)
            for strategy in (AUTO if auto else [self.strategy])
        }
        tests = (rows for _, rows in folds.split(S))
        self.strategy_ = choose_strategy(unseen, Y, objective, tests, cells)
        rule = fit_rule(S, Y, self.objective, self.strategy_, cells)
        for name in RULE_ATTRIBUTES:
            self.__dict__.pop(name, None)
        self.__dict__.update(rule_attributes(rule))
        predictions = {
            "before": own,
            "after": self._rule(S) > 0,
            "unseen": unseen[self.strategy_],
        }
        self.held_out_score_ = {
            k: objective.score(Y, p, cells) for k, p in predictions.items()
        }

    def _calibrate(
        self, S: Array, Y: Mask, P: Array, folds: KFold, cells: Array | None
    ) -> None:
        """Fit the maps to all held-out scores, and measure them by cross-validation."""
        error = partial(expected_calibration_error, sample_weight=cells)
        before = error(Y, P) if np.isfinite(P).all() else float("nan")
        after = before
        if self.calibration is not None:
            kappa = self.shrinkage
            kappa = SHRINKAGE[self.calibration] if kappa is None else kappa
            options = (self.calibration, kappa)
            self._maps = fit_maps(S, Y, *options, cells)
            after = error(Y, held_out_maps(S, Y, *options, folds, cells))
        self.calibration_error_ = {"before": before, "after": after}

    def _raw_scores(self, X: MatrixLike) -> Array:
        check_is_fitted(self, "estimator_")
        return label_scores(self.estimator_, canonical_rows(X), len(self.label_names_))

    def _checked_scores(self, X: MatrixLike) -> Array:
        return self._scores(X)

    def _scores(self, X: MatrixLike) -> Array:
        raw = self._raw_scores(X)  # checks that it is fitted
        return self._rule(raw)

    def ranking_scores(self, X: MatrixLike) -> Array:
        """Return the scores of the wrapped classifier; thresholds do not change them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_labels), or (n_samples,) if the
            classifier was fitted on a 1-D y
        """
        scores = self._raw_scores(X)
        return scores.ravel() if self.target_encoding_.kind == "binary" else scores

    why = LinearMultiLabelClassifier.why

    @_available_if_probabilities
    def predict_proba(self, X: MatrixLike, known: MatrixLike | None = None) -> Array:
        """Return the probability of each label, calibrated on held-out scores.

        It is strictly between 0 and 1. For ``objective="hamming"`` with thresholds, it
        exceeds one half exactly where the label is predicted. Other objectives may
        predict labels of lower probability. With ``calibration=None`` the probabilities
        are those of the wrapped classifier, which must have them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.
        known : array-like of shape (n_samples, n_labels) or data frame, default=None
            Labels that are known, as in ``decision_function``; theirs are 0 or 1 as
            given. The others are those of the classifier given the known labels.

        Returns
        -------
        probabilities : ndarray or data frame of shape (n_samples, n_labels), or ndarray
            of shape (n_samples, 2) with rows that sum to 1 if fitted on a 1-D y
            A data frame of pandas or polars gives one, with a column for each label.
        """
        check_is_fitted(self, "estimator_")
        if known is not None:
            return self._probabilities_given(X, known, agree=is_agreeing(self))
        if self.calibration is None:
            q = len(self.label_names_)
            P = label_probabilities(self.estimator_, canonical_rows(X), q)
        else:
            P = self._maps(self._raw_scores(X))
        if is_agreeing(self):
            P = agreeing(P, self._scores(X) > 0)
        P = strictly_inside(P)
        if self.target_encoding_.kind == "binary":
            return np.hstack([1.0 - P, P])
        return self._like(X, P)
