"""HOMICV: HOMI with hyper-parameters chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Literal, Self

from numpy.typing import ArrayLike
from scipy.special import expit

from homi.base._compat import Interval, StrOptions
from homi.base.classifier import strictly_inside
from homi.base.validation import checks_parameters, reports_to_callbacks
from homi.model.add_label_cv import AddLabelCVMixin
from homi.model.blend import LogOdds
from homi.model.dask_rows import is_collection
from homi.model.explain_mixin import ExplainMixin
from homi.model.grid import KERNELS_TRIED, NEIGHBORS
from homi.model.homi import HOMI
from homi.model.scoring import OBJECTIVES, Array
from homi.model.summary import SummaryMixin
from homi.typing import Matrix, MatrixLike, RandomState


class HOMICV(ExplainMixin, SummaryMixin, AddLabelCVMixin):
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

    With more than 20,000 rows, a random sample of that size gives the scaling, the
    landmarks, λ, label weights, the label correction and the trees. Weights are those
    of all rows, and so is the calibration where trees do not help; all rows are mapped
    to features in blocks, and no array with a row for each of them is held. Arrays,
    Dask collections and ``fit_stream`` give the same model.

    Candidates are compared, and scores of the final model mapped to log-odds, by
    Platt's sigmoids of held-out scores. The slopes of all labels have a common prior,
    so that a label with one or two positives is ranked like the others.
    Last, the log-odds are averaged with those of a forest, which is better on
    many small tables; its out-of-bag log-odds are its held-out scores.
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
        dropped where it does not help. "auto" grows it on the sample of at most 20,000
        rows, and not after ``time_budget`` or where it would take gigabytes or many
        minutes. True grows it on all rows, which must be in memory.
    logistic : bool or "auto", default="auto"
        Whether to average log-odds with those of a logistic regression of each label,
        by the share with the greatest held-out likelihood. "auto" fits one where at
        most a fifth of the values differ from 0, as of texts, there are at most 20,000
        rows, and ``time_budget`` is not over or the linear model is a reduced one.
    calibration : "sigmoid" or None, default="sigmoid"
        Whether scores become log-odds. None for the scores of ``best_estimator_`` as
        they are.
    time_budget : float in (0, inf) or None, default=None
        Seconds after which no further candidate is tried, with a warning. Every λ of
        the first features is always tried: a ridge regression with a chosen penalty.
        With more than 3,000 features and rows it is a reduced one, in ``n_components``
        directions, which the logistic regressions make up for; without these, with more
        than 6,000.
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
        Seed of the sample, the landmarks of kernels and the folds. None draws a new
        seed in each fit.

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
    logistic_coef_ : ndarray of shape (n_features, n_labels) or None
        Coefficients of the logistic regressions: ``X @ logistic_coef_`` is added to the
        log-odds. None where there are none.
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
        ``time_budget`` ended it; ``"rows"`` that it used; ``"note"``, what it left
        out, by rule or for want of time. ``pandas.DataFrame(model.search_report_)``
        shows it.
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
        "logistic": ["boolean", StrOptions({"auto"})],
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
        logistic: bool | Literal["auto"] = "auto",
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
        self.logistic = logistic
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
            weight 0 not at all. A row is left out with all its weight. Metrics other
            than "neg_log_loss" and "neg_mean_squared_error" ignore them. None for 1
            each.
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

    explain = HOMI.explain
    why = HOMI.why

    @property
    def _odds(self) -> LogOdds:
        assert self.odds_slope_ is not None
        assert self.odds_offset_ is not None
        return LogOdds(self.odds_slope_, self.odds_offset_, self.forest_slope_)

    def _scores(self, X: Matrix) -> Array:
        scores = self.best_estimator_._scores(X)
        if self.odds_slope_ is None:
            return scores
        trees = None if self.forest_ is None else self.forest_.log_odds(X)
        odds = self._odds(scores, trees)
        if self.logistic_coef_ is not None:
            odds += X @ self.logistic_coef_
        return odds

    def _probabilities(self, scores: Array) -> Array:
        if self.odds_slope_ is None:
            return super()._probabilities(scores)
        return strictly_inside(expit(scores))
