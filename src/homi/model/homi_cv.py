"""HOMI that chooses its own hyper-parameters."""

from __future__ import annotations

import time
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.utils import check_random_state

from homi.arrays import dense
from homi.base._compat import (
    CallbackSupportMixin,
    Interval,
    StrOptions,
    fit_context,
    with_callbacks,
)
from homi.base.classifier import MultiLabelClassifier, strictly_inside
from homi.linear import fit_sigmoids
from homi.model.features import View, is_compacted, kernel_view, linear_view
from homi.model.graphs import warn_of_few_rows
from homi.model.homi import HOMI
from homi.model.kernel_map import KERNELS, KernelMap
from homi.model.route import check_direct
from homi.model.scoring import GOALS, Array, goal
from homi.model.search import Look, Search, Space, Trial

#: Penalties tried by default: from nearly none to more than rows of most data sets.
_LAMS = tuple(float(x) for x in np.logspace(-3, 4, 15))
#: Weights of the graph, 0 (no graph) always among them.
_GAMMAS = (0.01, 0.03, 0.1, 0.3, 1.0)
#: Weights of a label's errors, 1 always among them: the less, the more it is drawn to
#: its mean by λ and γ. Rare labels ask for less.
_LABEL_WEIGHTS = (1e-3, 3e-3, 1e-2, 0.03, 0.1, 0.3, 3.0, 10.0)
#: How far corrections of scores by each other are trusted; none always among them.
_BETAS = (1e-2, 0.1, 1.0, 10.0, 100.0)
#: Kernels whose width matters.
_KERNELS = ("rbf", "laplacian")
#: Widths of the kernel, as multiples of that by the median distance.
_WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
#: Rows that each row is tied to; the others are tried if the first, 10, helps.
_NEIGHBORS = (5, 10, 20)
#: What ``cv_results_`` tells of each candidate.
_COLUMNS = ("params", "score", "held_out", "weighted", "calibrated")


class HOMICV(CallbackSupportMixin, MultiLabelClassifier):
    r"""HOMI whose hyper-parameters are chosen by scores of rows that were held out.

    Every row is scored by the model of all other rows. Without a graph, the score of
    row i and a label has a closed form,

    .. math:: \hat f_{-i} = \frac{f_i - h_{ii}\, y_i}{1 - h_{ii}}, \qquad
              h_{ii} = \frac1n + \tilde x_i^T (\tilde X^T \tilde X + \lambda I)^{-1}
              \tilde x_i

    with :math:`\tilde x` the rows less their mean, so that no model is fitted twice.
    The choice is made in turns: features (standardised or not; as they are, or
    Nyström features of a kernel) and λ without a graph; the width of each kernel; then
    by five folds the graph, with γ, its number of neighbours and λ around the best,
    and whether and how far scores correct each other, with labels counted alike or by
    weights of their own (each the one with the least squared error of rows held out, in
    effect a λ for each label; taken unless the folds' goal is less by more than a
    standard error). Corrections are those of ``correlation="held-out"`` of
    :class:`HOMI`. Biases have no penalty, so that ridge regression is among the
    candidates, chosen as by scikit-learn's ``RidgeCV``.

    In the end, each label's scores become log-odds by Platt's sigmoid, fitted to scores
    of rows held out. A label keeps its order of the rows, but the labels of a row are
    compared by their probabilities: squared errors leave scores of rare labels too near
    to those of frequent ones. ``decision_function`` gives the log-odds, and
    ``predict_proba`` is calibrated.

    Parameters
    ----------
    scoring : str or callable, default="average_precision"
        What is made as large as can be: "average_precision" of all labels of all rows
        together, "neg_mean_squared_error", a metric of ``homi.metrics`` by its name
        (losses are made small), or a function of Y and scores, which is asked about all
        rows and, where labels may have weights, about each fold. A score above one half
        predicts a label.
    lams : array-like of float in (0, inf), default=None
        λ to try; None for 15 values from 0.001 to 10,000, times the mean variance of
        the features where these are neither standardised nor those of a kernel.
    gammas : array-like of float in [0, inf), default=None
        γ to try beside 0, which is no graph; None for five from 0.01 to 1. Empty for
        no graph.
    label_weights : array-like of float in (0, inf), default=None
        Weights to choose from for each label beside 1; None for eight from 0.001 to
        10. Empty for 1 alone.
    betas : array-like of float in (0, inf), default=None
        β to try beside no correction; None for five from 0.01 to 100. Empty for
        none.
    kernels : sequence of {"rbf", "laplacian"}, default=("rbf", "laplacian")
        Kernels to try beside the features as they are.
    widths : array-like of float in (0, inf), default=None
        Widths of a kernel to try, as factors of the ``gamma`` that :class:`HOMI` takes
        by default; None for six from 1/4 to 8, walked from 1 as long as the score
        rises. Empty for no kernel.
    n_neighbors : int, or array-like of int in [1, inf), default=(5, 10, 20)
        How many rows each row is tied to by the graph. If there are several, the one
        nearest to 10 is tried first, and the others if that graph helps.
    n_components : int in [1, inf), default=1000
        Most Nyström features.
    standardize : bool or "auto", default="auto"
        Whether every feature is brought to mean 0 and variance 1; "auto" tries both.
    calibration : "sigmoid" or None, default="sigmoid"
        Whether scores become log-odds. Weights and corrections are then chosen by
        probabilities. None for the scores of ``best_estimator_`` as they are.
    time_budget : float in (0, inf) or None, default=None
        Seconds after which nothing more is tried; what was found so far is taken. At
        least one candidate is always tried.
    n_jobs : int or None, default=None
        Threads that try features at a time; None is one, -1 as many as processors.
        Each holds features of its own in memory.
    random_state : int, RandomState instance or None, default=0
        Seed of the landmarks of kernels and of the folds; None for another one at
        each fit.

    Attributes
    ----------
    best_estimator_ : HOMI
        Fitted to all rows.
    best_params_ : dict
        Its hyper-parameters that were chosen.
    label_weight_ : ndarray of shape (n_labels,) or None
        What it was fitted with as ``label_weight``; None where labels count alike.
    odds_slope_, odds_offset_ : ndarray of shape (n_labels,) or None
        What makes log-odds of the decision scores of ``best_estimator_``: each label's
        slope times these, and its offset. None where they stay as they are.
    best_score_ : float
        The goal that it reached on rows held out.
    cv_results_ : dict of list
        One entry for each candidate that was tried, in order: ``"params"``,
        ``"score"``, ``"held_out"``: "one row", or "a fold" for graphs, weights,
        corrections and the candidates that they are compared with, ``"weighted"``:
        whether labels have weights of their own, and ``"calibrated"``: whether the goal
        was asked about probabilities.
    classes_, label_names_, n_features_in_, feature_names_in_
        As of :class:`HOMI`.

    Notes
    -----
    One eigenvalue problem of the features' Gram matrix serves all λ, and one for each
    fold and λ all γ; a candidate more costs a product of the rows with the weights.
    The moments of a fold's training rows are sums. The rows are kept in memory as dense
    coordinates. A row left out one by one would keep its ties in the graph, which no
    new row has, so that graphs are measured by folds.

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
    _parameter_constraints = {
        "scoring": [StrOptions(set(GOALS)), callable],
        "lams": ["array-like", None],
        "gammas": ["array-like", None],
        "label_weights": ["array-like", None],
        "betas": ["array-like", None],
        "kernels": ["array-like"],
        "widths": ["array-like", None],
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "standardize": ["boolean", StrOptions({"auto"})],
        "calibration": [StrOptions({"sigmoid"}), None],
        "time_budget": [Interval(Real, 0, None, closed="neither"), None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        scoring="average_precision",
        *,
        lams=None,
        gammas=None,
        label_weights=None,
        betas=None,
        kernels=_KERNELS,
        widths=None,
        n_neighbors=_NEIGHBORS,
        n_components=1000,
        standardize="auto",
        calibration="sigmoid",
        time_budget=None,
        n_jobs=None,
        random_state=0,
    ):
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
        self.calibration = calibration
        self.time_budget = time_budget
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X, y):
        """Choose hyper-parameters by held-out scores, then fit to all rows.

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
        self.fit_held_out(X, y)
        return self

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def fit_held_out(self, X, y):
        """Fit, and give what the choice was made by.

        Parameters
        ----------
        X, y
            As in ``fit``.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_labels)
            What ``decision_function`` would give for each row if the chosen model had
            been fitted without it: to all other rows, or to other folds where a graph
            or corrections were tried. The sigmoids are those of all rows, and where
            there are any, or folds, so is the share of each label.
        """
        rows, target = self._check_fit_input(X, y)
        Y = target.indicator
        Y = np.asarray(dense(Y), dtype=np.float64)
        space = self._space(*rows.shape)
        groups = self._init_callback_context(max_subtasks=None)
        groups.call_on_fit_task_begin(estimator=self, X=X, y=y)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        search = Search(
            rows,
            Y,
            lambda look: self._see(look, rows, Y, seed),
            goal(self.scoring),
            deadline=self._deadline(),
            n_jobs=self.n_jobs,
            seed=seed,
            calibrate=self.calibration is not None,
            after=self._tell(groups, X, y),
        )
        search.run(space)
        self._store(search)
        plain = self.calibration is None
        held_out = (search.scores if plain else search.comparable()) - 0.5
        self._calibrate(held_out, Y)
        self.label_weight_ = search.label_weight(space.label_weights)
        self.best_estimator_ = HOMI(
            **self.best_params_,
            n_components=self.n_components,
            penalize_bias=False,
            random_state=seed,
        ).fit(rows, Y, label_weight=self.label_weight_)
        groups.call_on_fit_task_end(
            estimator=self, X=X, y=y, reconstruction_attributes=lambda: {}
        )
        return self._as_log_odds(held_out)

    explain = HOMI.explain

    def _store(self, search: Search) -> None:
        columns = map(list, zip(*search.tried, strict=True))
        self.cv_results_ = dict(zip(_COLUMNS, columns, strict=True))
        self.best_params_: dict[str, Any] = search.best.params
        self.best_score_ = search.best.value

    def _calibrate(self, scores: Array, Y: Array) -> None:
        self.odds_slope_: Array | None = None
        self.odds_offset_: Array | None = None
        if self.calibration is not None:
            sigmoids = fit_sigmoids(scores, Y)
            # A sigmoid's exponent falls as the log-odds rise.
            self.odds_slope_, self.odds_offset_ = -sigmoids.slope, -sigmoids.offset

    def _as_log_odds(self, scores: Array) -> Array:
        if self.odds_slope_ is None or self.odds_offset_ is None:
            return scores
        return scores * self.odds_slope_ + self.odds_offset_

    def _tell(self, groups: Any, X: Any, y: Any) -> Any:
        """A callback's view of the search: each group of candidates is a step."""

        def after(best: Trial) -> None:
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

    def _see(
        self, look: Look, X: Any, Y: Any, seed: int
    ) -> tuple[View, dict[str, Any], float]:
        named: dict[str, Any] = {"kernel": look.kernel, "standardize": look.standardize}
        if look.kernel is None:
            n, m = X.shape
            compact = is_compacted(n, m)
            check_direct(n + 1 if compact else m)
            view = linear_view(X, Y, standardize=look.standardize, compact=compact)
            variance = np.trace(view.moments.Sxx) / view.n_features
            unit = float(variance / view.moments.n) if self.lams is None else 1.0
            return view, named, unit or 1.0
        mapped = KernelMap(
            X,
            look.kernel,
            self.n_components,
            {},
            standardize=look.standardize,
            rng=check_random_state(seed),
            factor=look.width,
        )
        named |= {"kernel_params": {"gamma": mapped.nystroem.gamma}}
        return kernel_view(X, Y, mapped), named, 1.0

    def _space(self, n: int, m: int) -> Space:
        scaled = self.standardize
        # Rows of one or two features have no graph: all are fully correlated.
        gammas = _checked("gammas", self.gammas, _GAMMAS) if m > 2 else ()
        return Space(
            standardize=[True, False] if scaled == "auto" else [bool(scaled)],
            kernels=self._checked_kernels(),
            widths=_checked("widths", self.widths, _WIDTHS),
            lams=_checked("lams", self.lams, _LAMS),
            gammas=gammas,
            n_neighbors=self._checked_neighbors(n),
            label_weights=_checked("label_weights", self.label_weights, _LABEL_WEIGHTS),
            betas=_checked("betas", self.betas, _BETAS),
        )

    def _checked_neighbors(self, n: int) -> list[int]:
        counts = [int(s) for s in _checked("n_neighbors", self.n_neighbors)]
        if counts and counts != list(_NEIGHBORS):
            warn_of_few_rows(max(counts), n)
        return list(dict.fromkeys(min(s, n - 1) for s in counts))

    def _checked_kernels(self) -> list[str]:
        kernels = list(self.kernels)
        unknown = [kernel for kernel in kernels if kernel not in _KERNELS]
        if unknown or isinstance(self.kernels, str):
            raise ValueError(
                f"kernels must be a list of some of {', '.join(_KERNELS)}, got "
                f"{self.kernels!r}; HOMI itself also takes {', '.join(KERNELS)}."
            )
        return kernels

    def _least_bytes(self, n: int, m: int, n_labels: int) -> int:
        # Labels and two sets of held-out scores.
        return super()._least_bytes(n, m, n_labels) + 24 * n * n_labels

    def _deadline(self) -> float:
        budget = float("inf") if self.time_budget is None else self.time_budget
        return time.monotonic() + budget

    def _scores(self, X: Any) -> Array:
        return self._as_log_odds(self.best_estimator_._scores(X))

    def _probabilities(self, scores: Array) -> Array:
        if self.odds_slope_ is None:
            return super()._probabilities(scores)
        return strictly_inside(expit(scores))


def _checked(
    name: str, given: Any, default: tuple[float, ...] = ()
) -> tuple[float, ...]:
    """Positive numbers; γ = 0 is tried in any case, and need not be given."""
    if given is None:
        return default
    values = tuple(float(value) for value in np.ravel(given))
    if name == "gammas":
        values = tuple(value for value in values if value != 0)
    if not all(0 < value < np.inf for value in values) or (
        name == "lams" and not values
    ):
        raise ValueError(
            f"{name} must be positive numbers, got {given!r}; leave it None for "
            "the default."
        )
    return values
