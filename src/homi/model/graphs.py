"""The graph that HOMI's parameters ask for, of rows that are all at hand."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from homi.base.warn import warn
from homi.graph import (
    AnchorPlan,
    TiedMoments,
    nearest,
    neighbour_laplacian,
    plan_anchors,
    tied_moments,
)
from homi.graph.anchors import tie_features
from homi.graph.approximate import ApproximateSearch
from homi.graph.choose import choose_graph
from homi.graph.reservoir import sample_rows
from homi.linalg import Array
from homi.model.features import FeatureSpace, units_of, with_exact_graph
from homi.moments import Moments

GRAPHS = ("auto", "exact", "approximate", "anchors")

log = logging.getLogger("homi")


class Sums(NamedTuple):
    """A plan, and what all rows so far have added by it."""

    plan: AnchorPlan
    total: TiedMoments

    @property
    def n(self) -> int:
        """Rows so far, or their weight."""
        return int(self.total.moments.n)

    def units(self, standardize: bool) -> tuple[Moments, Array, Array]:
        """Moments with their graph in the solver's units, and these units."""
        return in_units(self.total.with_graph(self.plan), standardize)


def in_units(moments: Moments, standardize: bool) -> tuple[Moments, Array, Array]:
    """Moments in the solver's units, and these units: their mean and scale."""
    m = len(moments.x_mean)
    if not standardize:
        return moments, np.zeros(m), np.ones(m)
    return moments.standardized(), moments.x_mean, moments.scale()


def resolve(graph: str, X: Any) -> str:
    """The name of the graph; of "auto", what it chooses, which is logged."""
    if graph != "auto":
        return graph
    chosen, why = choose_graph(X)
    log.info("graph='auto' is %r: %s.", chosen, why)
    return chosen


def plan_of(
    X: Any, n_neighbors: int, n_anchors: int, *, standardize: bool, seed: int
) -> AnchorPlan:
    """The plan that a stream of these rows would make."""
    rows = sample_rows(X, seed)
    return plan_anchors(
        rows, n_neighbors, n_anchors, standardize=standardize, seed=seed
    )


def with_anchor_graph(
    X: Any, Y: Any, plan: AnchorPlan, standardize: bool, weights: Array | None
) -> tuple[FeatureSpace, Sums]:
    """The rows themselves, tied to anchors."""
    sums = Sums(plan, tied_moments(X, Y, plan, weights=weights))
    return FeatureSpace(X, *sums.units(standardize), weights=weights), sums


def features_with_anchor_graph(
    view: FeatureSpace, X: Any, plan: AnchorPlan
) -> FeatureSpace:
    """Other features of the rows X, with the rows tied to anchors."""
    center = view.moments.x_mean
    ties = tie_features(X, view.features, plan, center, view.weights)
    total = TiedMoments(view.moments, ties)
    return replace(view, moments=total.with_graph(replace(plan, center=center)))


def with_approximate_graph(
    view: FeatureSpace, X: Any, n_neighbors: int, seed: int
) -> tuple[FeatureSpace, float]:
    """The view with the approximate graph of the rows X, and its recall."""
    search = ApproximateSearch(seed)
    view = with_exact_graph(view, X, n_neighbors, search=search)
    log.info("approximate graph: recall %.3f on a sample of rows.", search.recall)
    return view, search.recall


class Graph(NamedTuple):
    """A view with its graph, and the Laplacian of the rows; None for no graph."""

    view: FeatureSpace
    L: Any = None


def neighbour_graph(view: FeatureSpace, X: Any, n_neighbors: int, seed: int) -> Graph:
    """The view with the graph of the rows X, by lists where they are too many."""
    exact = choose_graph(X)[0] == "exact"
    search = nearest if exact else ApproximateSearch(seed)
    L = neighbour_laplacian(X, n_neighbors, **units_of(view), search=search)
    moments = view.moments.with_graph(view.features, L, scale=view.scale)
    return Graph(replace(view, moments=moments), L)


def warn_of_few_rows(n_neighbors: int, n: int) -> None:
    """Warn that each of n rows has fewer neighbors than a user has asked for."""
    if n_neighbors >= n:
        warn(
            f"n_neighbors={n_neighbors} with {n} rows: each row has all {n - 1} others "
            f"for neighbors; pass at most {n - 1}."
        )
