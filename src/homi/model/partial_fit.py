"""Fit from batches: moments are added up, and the model is solved from their sum."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ParamSpec, Self, TypeVar

from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length

from homi.base.classifier import MultiLabelClassifier
from homi.base.validation import check_rows, checks_parameters
from homi.graph import AnchorPlan, anchor_moments, plan_anchors
from homi.model.batch_checks import (
    all_or_nothing,
    batch_target,
    check_same,
    naming,
)
from homi.model.features import FeatureSpace
from homi.model.graphs import Sums
from homi.model.requires import check, unmet
from homi.model.route import Fitted, choose_route
from homi.model.rows_input import Built
from homi.typing import Matrix, MatrixLike, RandomState
from homi.warn import warn, warn_of_row_order

if TYPE_CHECKING:
    from homi.model.route import Route


P = ParamSpec("P")
R = TypeVar("R")
H = TypeVar("H", bound="PartialFitMixin")


@dataclass(frozen=True)
class SummedRows:
    """Rows of which only the moments are known."""

    sums: Sums
    n_labels: int

    way = "partial_fit"
    in_memory = None
    given = {"sample_weight": None, "label_weight": None}

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        return self.sums.n, len(self.sums.total.moments.x_mean)

    def graph(self, name: str) -> str:
        """Return "anchors", or "none" for moments without a graph."""
        return "none" if self.sums.total.edges is None else "anchors"

    def build(self, route: Route) -> Built:
        """Return the moments that were summed."""
        scaled = self.sums.scaled(route.settings.standardize)
        return Built(FeatureSpace(None, *scaled), sums=self.sums)


def _takes_batches(model: PartialFitMixin) -> bool:
    if why := unmet("partial_fit", model.get_params(deep=False)):
        raise AttributeError(why)
    return True


def _available_for_batches(method: Callable[P, R]) -> Callable[P, R]:
    return available_if(_takes_batches)(method)


class PartialFitMixin(MultiLabelClassifier):
    """``partial_fit`` of HOMI: moments are kept, the rows are not."""

    _sums: Sums | None
    _n_batches: int
    graph_: str

    gamma: float
    n_anchors: int
    n_neighbors: int
    standardize: bool
    random_state: RandomState

    @abstractmethod
    def _store(self, fitted: Fitted, n_batches: int = 1) -> Self:
        """Set all fitted attributes."""

    @_available_for_batches
    @checks_parameters
    def partial_fit(
        self, X: MatrixLike, y: MatrixLike, classes: ArrayLike | None = None
    ) -> Self:
        """Learn from more rows, without keeping them.

        The first batch decides the anchors of the graph and the scaling in which rows
        are compared; :func:`homi.fit_stream` takes them from a sample of all batches.
        Everything else is the same as if all rows came at once. After ``fit`` with
        ``graph="anchors"``, it continues from there.

        A batch is added in time linear in its rows. The model is then solved again, in
        time that does not depend on the rows: pass larger batches, or use
        :func:`homi.fit_stream`, where that takes longer than adding a batch.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows of this batch.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            Their labels, as in ``fit``.
        classes : array-like, default=None
            All classes of a 1-D y; needed in the first call, and only then.

        Returns
        -------
        self : object
            The classifier. A batch that is refused leaves it as it was.
        """
        with all_or_nothing(self):
            sums = getattr(self, "_sums", None)
            if sums is None and "coef_" in vars(self):
                warn(
                    f"this model was fitted with graph={self.graph_!r}, which keeps "
                    "nothing to continue from: it starts anew with this batch. Fit it "
                    "with graph='anchors' to continue."
                )
            n_batches = 0 if sums is None else self._n_batches
            sums = add_batch(self, sums, n_batches + 1, X, y, classes)
            return fit_sums(self, sums, n_batches + 1)


def check_parameters(model: PartialFitMixin) -> None:
    """Raise ValueError for parameters that batches cannot be fitted with."""
    model._validate_params()
    check("partial_fit", model.get_params(deep=False))


def seed_of(model: PartialFitMixin) -> int:
    """Return the seed of the plan: a number from the parameter ``random_state``."""
    return int(check_random_state(model.random_state).randint(2**31 - 1))


def add_batch(
    model: PartialFitMixin,
    sums: Sums | None,
    number: int,
    X: Matrix,
    y: Matrix,
    classes: ArrayLike | None = None,
    plan: AnchorPlan | None = None,
) -> Sums:
    """Return the moments with those of one more batch; without any, it is the first.

    The first batch fixes the features and labels of the model. It makes the plan of
    the anchors, unless one is given.
    """
    seen = 0 if sums is None else sums.n
    X, Y = check_batch(model, X, y, classes, number, seen, first=sums is None)
    if sums is None:
        plan = _plan(model, X) if plan is None else plan
        return Sums(plan, anchor_moments(X, Y, plan, graph=model.gamma > 0))
    graph = sums.total.edges is not None
    return sums._replace(
        total=sums.total + anchor_moments(X, Y, sums.plan, graph=graph)
    )


def fit_sums(model: H, sums: Sums, n_batches: int) -> H:
    """Fit the model to the moments of that many batches."""
    rows = SummedRows(sums, len(model.label_names_))
    route = choose_route(model.get_params(deep=False), rows)
    return model._store(route.fit(rows, lambda scaling, kernel_map: None), n_batches)


def check_batch(
    model: MultiLabelClassifier,
    X: Matrix,
    y: Matrix,
    classes: ArrayLike | None,
    number: int,
    seen: int,
    *,
    first: bool,
) -> tuple[Matrix, Matrix]:
    """Return the rows and the indicators of a batch; errors name it and its row."""
    with naming(number, seen, X, y):
        return _checked(model, X, y, classes, first)


def check_batch_rows(
    model: MultiLabelClassifier, X: Matrix, number: int, seen: int
) -> Matrix:
    """Return the rows of a batch that is not the first; errors name it and its row."""
    with naming(number, seen, X, None):
        return check_rows(model, X, reset=False)


def _checked(
    model: MultiLabelClassifier,
    X: Matrix,
    y: Matrix,
    classes: ArrayLike | None,
    first: bool,
) -> tuple[Matrix, Matrix]:
    if y is None:
        raise ValueError(
            f"This {type(model).__name__} estimator requires y to be passed, but "
            "the target y is None; pass the labels as the second argument."
        )
    if getattr(X, "shape", (1,))[0] == 0:
        raise ValueError(
            f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 "
            "is required: leave empty batches out."
        )
    rows = check_rows(model, X, reset=first)
    target = batch_target(y, _known_classes(model, classes, first))
    check_consistent_length(rows, target.indicator)
    warn_of_row_order(X, y)
    if first:
        model._keep_target(target)
    else:
        check_same(
            target, model.label_names_, model.target_encoding_, hasattr(y, "columns")
        )
    return rows, target.indicator


def _known_classes(
    model: MultiLabelClassifier, classes: ArrayLike | None, first: bool
) -> ArrayLike | None:
    """Classes of a 1-D y: given, or known from before."""
    target = getattr(model, "target_encoding_", None)
    if target is None or target.kind == "multilabel-indicator":
        return classes
    return classes if first and classes is not None else model.classes_


def _plan(model: PartialFitMixin, X: Matrix) -> AnchorPlan:
    n_anchors = model.n_anchors if model.gamma > 0 else 0
    if X.shape[0] < n_anchors:
        warn(
            f"the first batch decides the anchors, and has {X.shape[0]} rows for "
            f"n_anchors={model.n_anchors}; start with a larger one, or use "
            "homi.fit_stream."
        )
    return plan_anchors(
        X,
        model.n_neighbors,
        n_anchors,
        standardize=model.standardize,
        seed=seed_of(model),
    )
