"""Thresholds and probabilities of any multi-label classifier, by held-out scores."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import MetaEstimatorMixin
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from homi.arrays import canonical, dense
from homi.base._compat import Interval, StrOptions, fit_context
from homi.base.classifier import MultiLabelClassifier, agreeing, strictly_inside
from homi.base.targets import check_target
from homi.thresholds.calibrate import fit_maps, held_out_maps
from homi.thresholds.objectives import OBJECTIVES, Array, Labels
from homi.thresholds.reliability import expected_calibration_error
from homi.thresholds.rules import (
    FITS,
    Cardinality,
    Thresholds,
    TopLabels,
    fit_rule,
)
from homi.thresholds.scores import (
    fit_held_out,
    fit_labels,
    held_out_responses,
    label_probabilities,
    label_scores,
)

#: What "auto" chooses from; of equally good ones the first.
AUTO = ("zero", "global", "per_label")

#: κ where none is given.
SHRINKAGE = {"sigmoid": 3.0, "isotonic": 30.0}


def _has_probabilities(self: Any) -> bool:
    if self.calibration is not None:
        return True
    return hasattr(getattr(self, "estimator_", self.estimator), "predict_proba")


class TunedThresholds(MetaEstimatorMixin, MultiLabelClassifier):
    r"""Any multi-label classifier, with thresholds that suit an objective.

    The classifier is fitted to all but one of several folds of the rows and scores the
    rows left out, in turn. With these held-out scores s the thresholds are chosen,

    .. math:: \hat y_{ij} = [s_{ij} > t_j], \qquad
              t = \arg\max_t \; \mathrm{objective}(Y, \hat Y)

    and scores are mapped to probabilities. Then it is fitted to all rows.

    Parameters
    ----------
    estimator : classifier
        Any multi-label classifier or pipeline. Its scores are ``ranking_scores``,
        ``decision_function`` or ``predict_proba``: the first of these that it has.
    objective : str, default="hamming"
        What to do best: least Hamming loss (``"hamming"``), or the largest
        ``"micro_f1"``, ``"macro_f1"``, ``"example_f1"`` or ``"subset_accuracy"``.
    strategy : str, default="per_label"
        ``"global"``: all labels share a threshold. ``"per_label"``: each label has
        its own. ``"top_k"``: every row has the k labels of highest score.
        ``"cardinality"``: a ridge regression on the sorted scores of a row says how
        many labels it has, and is rounded as suits the objective. ``"auto"``: of a
        threshold of 0, a global one and one for each label that which does best on
        rows that it was not chosen by.
    cv : int, splitter, iterable or "own", default=5
        Folds of the rows: a number of shuffled ones, or what scikit-learn takes for
        ``cv``. Every row must be held out once. ``"own"`` is for classifiers that
        have such scores themselves, by ``fit_held_out``, as :class:`homi.HOMICV`: then
        it is fitted once.
    calibration : {"sigmoid", "isotonic"} or None, default="sigmoid"
        How probabilities follow from scores. None leaves those of the classifier.
    shrinkage : float in [0, inf] or None, default=None
        κ: a label of p positives has p / (p + κ) parts of its own map to
        probabilities and the rest of one fitted to all labels. None is 3 for sigmoids
        and 30 for the more flexible isotonic maps.
    n_jobs : int or None, default=None
        Folds fitted at a time; None is one, -1 as many as processors.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds; None for other ones at each fit. The classifier keeps its
        own.

    Attributes
    ----------
    estimator_ : classifier
        Fitted to all rows.
    thresholds_ : ndarray of shape (n_labels,)
        For ``"global"``, ``"per_label"`` and ``"auto"``. A label is predicted where its
        score exceeds this: with infinity never, with minus infinity always.
    strategy_ : str
        The strategy; with ``"auto"`` the one chosen: "zero", "global" or "per_label".
    top_k_ : int
        For ``"top_k"``: the number of labels.
    cardinality_ : Pipeline
        For ``"cardinality"``: the regression on sorted scores.
    held_out_score_ : dict of float
        The objective on held-out rows; for ``"hamming"`` the loss, where less is
        better. ``"before"``: predictions of the classifier by itself; ``"after"``:
        the thresholds, on the scores they were chosen by; ``"unseen"``: thresholds
        chosen by four fifths of the rows, on the last: what to expect of new rows.
    calibration_error_ : dict of float
        Expected calibration error on held-out rows. ``"before"``: of the classifier's
        own probabilities, nan if it has none; ``"after"``: of maps that were fitted
        to four fifths of the rows, on the last.
    classes_ : ndarray
        Numbers of the labels, or the two classes of a 1-D y.
    label_names_ : ndarray of shape (n_labels,)
        Names of the labels: columns of a data frame, the second class of a 1-D y, or
        y0, y1, …
    n_features_in_ : int
        Number of features seen in ``fit``, if the classifier tells.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, likewise.

    Notes
    -----
    Thresholds are found by sorting, not on a grid: the best there is for every
    objective with ``"global"`` and ``"top_k"``, and with ``"per_label"`` for
    ``"hamming"``, ``"micro_f1"`` and ``"macro_f1"``. For the other two the labels'
    thresholds are improved in turn, from the global one, until none alone can be. A
    threshold is halfway between two scores. Of equally good ones the highest is taken.

    A label that never occurs in training is never predicted. One with fewer than 3
    positives keeps the global threshold, as each of its held-out positives was scored
    by a model that had seen one at most.

    Decisions of ``"top_k"`` and ``"cardinality"`` are the scores less a number of each
    row: halfway between the last label predicted and the next one. Of tied labels
    the first columns are predicted. ``ranking_scores`` are those of the classifier,
    so that metrics of rankings stay as they were.

    The scores of folds are pooled as if of one classifier, and new rows are scored by
    one fitted to more rows. With few rows, compare ``"unseen"`` with ``"before"``.
    A 1-D y of two classes works too; one of more classes is an error.

    References
    ----------
    Y. Yang. A study of thresholding strategies for text categorization. SIGIR 2001.

    R.-E. Fan, C.-J. Lin. A study on threshold selection for multi-label
    classification. National Taiwan University, 2007.

    J. C. Platt. Probabilistic outputs for support vector machines and comparisons to
    regularized likelihood methods. Advances in Large Margin Classifiers, 1999.

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
        estimator,
        *,
        objective="hamming",
        strategy="per_label",
        cv=5,
        calibration="sigmoid",
        shrinkage=None,
        n_jobs=None,
        random_state=0,
    ):
        self.estimator = estimator
        self.objective = objective
        self.strategy = strategy
        self.cv = cv
        self.calibration = calibration
        self.shrinkage = shrinkage
        self.n_jobs = n_jobs
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y):
        """Choose the thresholds by held-out scores, then fit to all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows, given to the classifier as they are.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            Labels: 0/1 or boolean, one column each, or 1-D with two classes. The
            column names of a data frame are kept as ``label_names_``.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        X = _canonical(X)
        Y = self._check_labels(X, y)
        rng = check_random_state(self.random_state)
        inner = _folds(5, len(Y), rng)
        if self.cv == "own":
            self.estimator_, S = fit_held_out(self.estimator, X, Y)
            own, P = S > 0, np.full_like(S, np.nan)
        else:
            cv = _folds(self.cv, len(Y), rng)
            S, own, P = held_out_responses(self.estimator, X, Y, cv, self.n_jobs)
            self.estimator_ = fit_labels(self.estimator, X, Y)
        self._tune(S, Y, own, inner)
        self._calibrate(S, Y, P, inner)
        return self

    def _check_labels(self, X: Any, y: Any) -> Labels:
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but "
                "the target y is None; pass the labels as the second argument."
            )
        target = check_target(y)
        kind = target.encoding.kind
        if kind == "multiclass":
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{kind}: it has {len(target.classes)} classes of which each row has "
                "one, which needs no thresholds; pass a 0/1 column for each label."
            )
        check_consistent_length(X, target.indicator)
        self.classes_, self.label_names_ = target.classes, target.names
        self._target = target.encoding
        Y = target.indicator
        return dense(Y) > 0

    def _tune(self, S: Array, Y: Labels, own: Labels, folds: KFold) -> None:
        """Choose the rule, and measure it: by its own scores, then fold by fold."""
        metric = OBJECTIVES[self.objective].metric
        auto = self.strategy == "auto"
        unseen = {
            strategy: self._unseen(S, Y, strategy, folds)
            for strategy in (AUTO if auto else [self.strategy])
        }
        sign = 1 if metric.greater_is_better else -1
        self.strategy_ = max(unseen, key=lambda name: sign * metric(Y, unseen[name]))
        self._rule = fit_rule(S, Y, self.objective, self.strategy_)
        predictions = {
            "before": own,
            "after": self._rule(S) > 0,
            "unseen": unseen[self.strategy_],
        }
        self.held_out_score_ = {k: metric(Y, p) for k, p in predictions.items()}
        self._show_rule(Y.shape[1])

    def _show_rule(self, n_labels: int) -> None:
        """The attribute that the strategy promises."""
        rule = self._rule.rule
        if isinstance(rule, Thresholds):
            self.thresholds_ = np.full(n_labels, np.inf)
            self.thresholds_[self._rule.seen] = rule.values
        elif isinstance(rule, TopLabels):
            self.top_k_ = rule.k
        elif isinstance(rule, Cardinality):
            self.cardinality_ = rule.regression

    def _unseen(self, S: Array, Y: Labels, strategy: str, folds: KFold) -> Labels:
        """Predictions for each fold by a rule that was chosen by the others."""
        found = np.empty_like(Y)
        for rest, rows in folds.split(S):
            rule = fit_rule(S[rest], Y[rest], self.objective, strategy)
            found[rows] = rule(S[rows]) > 0
        return found

    def _calibrate(self, S: Array, Y: Labels, P: Array, folds: KFold) -> None:
        """Fit the maps to all held-out scores; measure them fold by fold."""
        known = np.isfinite(P).all()
        before = expected_calibration_error(Y, P) if known else float("nan")
        after = before
        if self.calibration is not None:
            given = self.shrinkage
            kappa = SHRINKAGE[self.calibration] if given is None else given
            options = (self.calibration, kappa)
            self._maps = fit_maps(S, Y, *options)
            unseen = held_out_maps(S, Y, *options, folds)
            after = expected_calibration_error(Y, unseen)
        self.calibration_error_ = {"before": before, "after": after}

    @property
    def _is_agreeing(self) -> bool:
        """Return True where a probability above one half is a predicted label."""
        thresholds = isinstance(self._rule.rule, Thresholds)
        calibrated = self.calibration is not None
        return calibrated and self.objective == "hamming" and thresholds

    @property
    def n_features_in_(self):
        """Number of features that the fitted classifier saw."""
        return self.estimator_.n_features_in_

    @property
    def feature_names_in_(self):
        """Names of the features that the fitted classifier saw."""
        return self.estimator_.feature_names_in_

    def _raw_scores(self, X: Any) -> Array:
        check_is_fitted(self, "estimator_")
        return label_scores(self.estimator_, _canonical(X), len(self.label_names_))

    def _checked_scores(self, X: Any) -> Array:
        return self._scores(X)

    def _scores(self, X: Any) -> Array:
        raw = self._raw_scores(X)
        return self._rule(raw)

    def ranking_scores(self, X):
        """Scores of the wrapped classifier, as they are: no threshold changes ranks.

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
        return scores.ravel() if self._target.kind == "binary" else scores

    @available_if(_has_probabilities)
    def predict_proba(self, X):
        """Probability of each label, calibrated on held-out scores.

        Strictly between 0 and 1. For ``objective="hamming"`` and a strategy of
        thresholds, they are above one half just where the label is predicted: between
        the threshold and the score of probability one half, they are next to it. Other
        objectives predict labels of lower probability. With ``calibration=None`` they
        are those of the wrapped classifier, which must have them then.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_labels), or (n_samples, 2) with
            rows that sum to 1 if fitted on a 1-D y
        """
        check_is_fitted(self, "estimator_")
        if self.calibration is None:
            q = len(self.label_names_)
            P = label_probabilities(self.estimator_, _canonical(X), q)
        else:
            P = self._maps(self._raw_scores(X))
        if self._is_agreeing:
            P = agreeing(P, self._scores(X) > 0)
        P = strictly_inside(P)
        return np.hstack([1.0 - P, P]) if self._target.kind == "binary" else P

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        tags.input_tags.allow_nan = get_tags(self.estimator).input_tags.allow_nan
        return tags


def _canonical(X: Any) -> Any:
    """Return rows that no classifier has to mend in the caller's buffers."""
    return canonical(X) if sparse.issparse(X) else X


def _folds(cv: Any, n_samples: int, rng: np.random.RandomState) -> Any:
    """Shuffled folds if a number of them is asked for, never more than rows."""
    if not isinstance(cv, Integral):
        return cv
    if n_samples < 2:
        raise ValueError(
            f"no score can be held out with n_samples = {n_samples}; pass 2 rows or "
            "more, of which some are scored by a fit to the others."
        )
    seed = rng.randint(np.iinfo(np.int32).max)
    return KFold(min(cv, n_samples), shuffle=True, random_state=seed)
