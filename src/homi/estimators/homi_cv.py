"""HOMI that chooses its own hyper-parameters."""

from __future__ import annotations

import time
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from homi.estimators._compat import Interval, StrOptions, fit_context
from homi.estimators.base import MultiLabelClassifier
from homi.estimators.goals import GOALS, Array, goal
from homi.estimators.homi import HOMI
from homi.estimators.kernel_map import KernelMap
from homi.estimators.search import Grid, Named, Search
from homi.estimators.view import kernel_view, linear_view

#: Penalties tried by default: from nearly none to more than rows of most data sets.
_LAMS = tuple(float(x) for x in np.logspace(-3, 4, 15))
#: Weights of the graph, 0 (no graph) always among them.
_GAMMAS = (0.01, 0.03, 0.1, 0.3, 1.0)
#: How far corrections of scores by each other are trusted; none always among them.
_BETAS = (1e-3, 1e-2, 0.1, 1.0, 10.0)
#: Widths of the kernel, as multiples of that by the median distance.
_WIDTHS = (0.5, 1.0, 2.0)


class HOMICV(MultiLabelClassifier):
    r"""HOMI whose hyper-parameters are chosen by leave-one-out scores.

    Every row is scored by the model of all other rows. With the graph held, the score
    of row i and a label has a closed form,

    .. math:: \hat f_{-i} = \frac{f_i - h_{ii}\, y_i}{1 - h_{ii}}, \qquad
              h_{ii} = \tilde x_i^T (\tilde X^T \tilde X + \lambda I + \gamma
              \tilde X^T L \tilde X)^{-1} \tilde x_i

    with a 1 appended to each row, so that no model is fitted twice. The choice is made
    in turns: features (linear, or Nyström features of a Gaussian kernel of some
    width) and λ without a graph, then γ and λ around the best, then whether and how
    far scores correct each other (``correlation="held-out"`` of :class:`HOMI`). Ridge
    regression is among the candidates.

    Parameters
    ----------
    scoring : str or callable, default="average_precision"
        What is made as large as can be: "average_precision" of all labels of all rows
        together, "neg_mean_squared_error", a metric of ``homi.metrics`` by its name
        (losses are made small), or a function of Y and scores. A score above one half
        predicts a label.
    lams : array-like of float in (0, inf), default=None
        λ to try; None for 15 values from 0.001 to 10,000.
    gammas : array-like of float in [0, inf), default=None
        γ to try beside 0, which is no graph; None for five from 0.01 to 1.
    betas : array-like of float in (0, inf), default=None
        β to try beside no correction; None for five from 0.001 to 10.
    widths : array-like of float in (0, inf), default=None
        Widths of the kernel to try, as factors of the ``gamma`` that
        :class:`HOMI` takes by default; None for 0.5, 1 and 2. Empty for no kernel.
    n_neighbors : int in [1, inf), default=10
        How many rows each row is tied to by the graph.
    n_components : int in [1, inf), default=1000
        Most Nyström features.
    standardize : bool, default=True
        Whether every feature is brought to mean 0 and variance 1.
    time_budget : float in (0, inf) or None, default=None
        Seconds after which nothing more is tried; what was found so far is taken. At
        least one candidate is always tried.
    random_state : int, RandomState instance or None, default=None
        Seed of the landmarks of kernels.

    Attributes
    ----------
    best_estimator_ : HOMI
        Fitted to all rows.
    best_params_ : dict
        Its hyper-parameters that were chosen.
    best_score_ : float
        The goal that the chosen candidate reached on leave-one-out scores.
    cv_results_ : dict of list
        One entry for each candidate that was tried, in order: ``"params"`` and
        ``"score"``.
    classes_, label_names_, n_features_in_, feature_names_in_
        As of :class:`HOMI`.

    Notes
    -----
    The graph is held while a row is left out, and so is B while its scores are
    corrected. Each λ costs one factorisation of the features' Gram matrix and one
    product with the rows, each γ another product.

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

    _parameter_constraints = {
        "scoring": [StrOptions(set(GOALS)), callable],
        "lams": ["array-like", None],
        "gammas": ["array-like", None],
        "betas": ["array-like", None],
        "widths": ["array-like", None],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "standardize": ["boolean"],
        "time_budget": [Interval(Real, 0, None, closed="neither"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        scoring="average_precision",
        *,
        lams=None,
        gammas=None,
        betas=None,
        widths=None,
        n_neighbors=10,
        n_components=1000,
        standardize=True,
        time_budget=None,
        random_state=None,
    ):
        self.scoring = scoring
        self.lams = lams
        self.gammas = gammas
        self.betas = betas
        self.widths = widths
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.standardize = standardize
        self.time_budget = time_budget
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
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
        rows, target = self._check_fit_input(X, y)
        Y = target.indicator
        Y = np.asarray(Y.toarray() if sparse.issparse(Y) else Y, dtype=np.float64)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        search = Search(Y, goal(self.scoring), self._deadline())
        search.run(rows, self._views(rows, Y, seed), self.n_neighbors, self._grid())
        params, scores = zip(*search.tried, strict=True)
        self.cv_results_ = {"params": list(params), "score": list(scores)}
        self.best_params_, self.best_score_ = search.best
        self.best_estimator_ = HOMI(
            **self.best_params_,
            n_neighbors=self.n_neighbors,
            n_components=self.n_components,
            standardize=self.standardize,
            random_state=seed,
        ).fit(rows, Y)
        return self

    explain = HOMI.explain

    def _views(self, X: Any, Y: Any, seed: int) -> Iterator[Named]:
        """Linear features first, then those of a kernel of each width."""
        yield {"kernel": None}, linear_view(X, Y, standardize=self.standardize)
        for factor in _checked("widths", self.widths, _WIDTHS):
            mapped = KernelMap(
                X,
                "rbf",
                self.n_components,
                {},
                standardize=self.standardize,
                rng=check_random_state(seed),
                factor=factor,
            )
            named = {"kernel": "rbf", "kernel_params": {"gamma": mapped.nystroem.gamma}}
            yield named, kernel_view(X, Y, mapped)

    def _grid(self) -> Grid:
        return Grid(
            _checked("lams", self.lams, _LAMS),
            _checked("gammas", self.gammas, _GAMMAS),
            _checked("betas", self.betas, _BETAS),
        )

    def _deadline(self) -> float:
        budget = float("inf") if self.time_budget is None else self.time_budget
        return time.monotonic() + budget

    def _scores(self, X: Any) -> Array:
        return self.best_estimator_._scores(X)


def _checked(name: str, given: Any, default: tuple[float, ...]) -> tuple[float, ...]:
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
