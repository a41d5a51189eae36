"""Checked input of a fit: one protocol for rows of every kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from scipy import sparse

from homi.arrays import dense
from homi.base.targets import Target
from homi.base.weights import drop_zero_weight
from homi.graph import AnchorPlan
from homi.linalg import Array
from homi.model.features import (
    FeatureSpace,
    kernel_features,
    linear_features,
    with_exact_graph,
    with_labels,
)
from homi.model.graphs import (
    Sums,
    features_with_anchor_graph,
    plan_of,
    resolve,
    with_anchor_graph,
    with_approximate_graph,
)
from homi.model.kernel_map import KernelMap
from homi.model.missing_labels import fill_missing_labels
from homi.typing import Fields, Matrix

if TYPE_CHECKING:
    from homi.model.route import Route


class Built(NamedTuple):
    """Features with their moments and graph, and what else was found on the way."""

    features: FeatureSpace
    #: Labels of these rows; None where they are not in memory.
    labels: Matrix = None
    #: Moments that more batches can be added to.
    sums: Sums | None = None
    #: Share of the true neighbors that an approximate graph has.
    recall: float | None = None
    #: Labels of all rows, where missing ones were filled in.
    filled: Array | None = None


class RowsInput(Protocol):
    """Rows and labels of one kind; a route asks them for what it needs."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""

    @property
    def n_labels(self) -> int:
        """Number of labels."""

    @property
    def given(self) -> Fields:
        """``sample_weight`` and ``label_weight``; None for what was not given."""

    @property
    def way(self) -> str:
        """Entry of ``REQUIRES`` that says what these rows can be fitted with, or ""."""

    @property
    def in_memory(self) -> InMemoryRows | None:
        """The rows themselves; None where they are not in memory."""

    def graph(self, name: str) -> str:
        """Return the graph to build: for "auto" the one that suits these rows."""

    def build(self, route: Route) -> Built:
        """Make features, their moments, and the graph of a route."""


@dataclass(frozen=True)
class InMemoryRows:
    """Rows as an array or a canonical sparse matrix, and their labels."""

    X: Matrix
    target: Target
    sample_weight: Array | None = None
    label_weight: Array | None = None

    way = ""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        n, m = self.X.shape
        return n, m

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return int(self.target.indicator.shape[1])

    @property
    def in_memory(self) -> InMemoryRows:
        """The rows themselves."""
        return self

    @property
    def n_stored(self) -> int:
        """Number of values that are stored: all, unless the rows are sparse."""
        return int(self.X.nnz if sparse.issparse(self.X) else self.X.size)

    @property
    def given(self) -> Fields:
        """``sample_weight`` and ``label_weight``; None for what was not given."""
        return {
            "sample_weight": self.sample_weight,
            "label_weight": self.label_weight,
        }

    def graph(self, name: str) -> str:
        """Return the graph to build: for "auto" the one that suits these rows."""
        return resolve(name, self.X)

    def build(self, route: Route) -> Built:
        """Make features, their moments, and the graph of a route."""
        X, Y, weights = drop_zero_weight(
            self.X, self.target.indicator, self.sample_weight
        )
        built = _build(X, Y, weights, route)._replace(labels=Y)
        if route.settings.missing_labels == "ignore":
            built = self._fill(built)
        return built

    def _fill(self, built: Built) -> Built:
        """Fill in missing labels; moments for later batches would lack them."""
        target, weights = self.target, self.sample_weight
        if target.known is None:
            return built._replace(filled=dense(target.indicator), sums=None)
        features = built.features
        filled = fill_missing_labels(features, self.X, target, weights)
        _, Y, _ = drop_zero_weight(self.X, filled, weights)
        features = with_labels(features, Y)
        return built._replace(features=features, labels=Y, filled=filled, sums=None)


def _build(X: Matrix, Y: Matrix, weights: Array | None, route: Route) -> Built:
    settings = route.settings
    if route.graph == "anchors" and settings.kernel is None:
        plan = _plan(X, route)
        features, sums = with_anchor_graph(X, Y, plan, settings.standardize, weights)
        return Built(features, sums=sums)
    if settings.kernel is None:
        features = linear_features(
            X,
            Y,
            standardize=settings.standardize,
            weights=weights,
            compact=route.compact,
        )
    else:
        features = kernel_features(X, Y, _map(X, weights, route), weights=weights)
    if route.graph == "anchors":
        return Built(features_with_anchor_graph(features, X, _plan(X, route)))
    if route.graph == "approximate":
        found, recall = with_approximate_graph(
            features, X, settings.n_neighbors, route.seed()
        )
        return Built(found, recall=recall)
    if route.graph == "exact":
        features = with_exact_graph(features, X, settings.n_neighbors)
    return Built(features)


def _plan(X: Matrix, route: Route) -> AnchorPlan:
    return plan_of(
        X,
        route.settings.n_neighbors,
        route.settings.n_anchors,
        standardize=route.settings.standardize,
        seed=route.seed(),
    )


def _map(X: Matrix, weights: Array | None, route: Route) -> KernelMap:
    settings = route.settings
    return KernelMap.fit(
        X,
        settings.kernel,
        settings.n_components,
        settings.kernel_params or {},
        standardize=settings.standardize,
        rng=route.rng(),
        weights=weights,
    )
