"""Choose and build the graph of rows in memory: exact, approximate, or by anchors."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from homi import memory
from homi.graph import (
    AnchorMoments,
    AnchorPlan,
    anchor_moments,
    nearest,
    neighbor_laplacian,
    plan_anchors,
)
from homi.graph.anchors import sum_feature_edges
from homi.graph.approximate import ApproximateSearch
from homi.graph.reservoir import sample_rows
from homi.linalg import Array
from homi.model.features import FeatureSpace, scaling_of, with_exact_graph
from homi.moments import Moments
from homi.typing import Matrix
from homi.warn import warn

GRAPHS = ("auto", "exact", "approximate", "anchors")

#: The exact graph is used up to the first number of rows, and up to the second if it
#: takes at most the third number of products, about a minute on one core.
_ALWAYS, _MOST, _PRODUCTS = 50_000, 100_000, 1.5e12

#: Maximum rows of the approximate graph, and maximum share of the free memory.
_MOST_LISTED, _SHARE = 10_000_000, 0.5

#: Free memory to assume where the system does not report it.
_UNKNOWN = 4.0 * 2**30

log = logging.getLogger("homi")


class Sums(NamedTuple):
    """Sufficient statistics of all rows so far, and the plan of their anchors."""

    plan: AnchorPlan
    total: AnchorMoments

    @property
    def n(self) -> int:
        """Number of rows so far, or their weight."""
        return int(self.total.moments.n)

    def scaled(self, standardize: bool) -> tuple[Moments, Array, Array]:
        """Return scaled moments with their graph, and the mean and scale."""
        return scaled_moments(self.total.with_graph(self.plan), standardize)


def scaled_moments(moments: Moments, standardize: bool) -> tuple[Moments, Array, Array]:
    """Return scaled moments, and the mean and scale."""
    m = len(moments.x_mean)
    if not standardize:
        return moments, np.zeros(m), np.ones(m)
    return moments.standardized(), moments.x_mean, moments.scale()


def choose_graph(X: Matrix, free: float | None = None) -> tuple[str, str]:
    """Return ``"exact"``, ``"approximate"`` or ``"anchors"``, and the reason.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, m)
        All rows.
    free : float, optional
        Bytes of free memory; by default as reported by the system.
    """
    n, m = X.shape
    products = n * (X.nnz if sparse.issparse(X) else n * m)
    if n <= _ALWAYS or (n <= _MOST and products <= _PRODUCTS):
        return "exact", f"all pairs of {n:,} rows can be compared"
    needed = 4.0 * n * m
    if free is None:
        free = memory.available() or _UNKNOWN
    if n <= _MOST_LISTED and needed <= _SHARE * free:
        return "approximate", f"{n:,} rows are too many to compare all pairs"
    return "anchors", (
        f"{n:,} rows are too many to compare all pairs, and an index of them takes "
        f"{needed / 2**30:.1f} GiB, too much for {free / 2**30:.1f} GiB of free memory"
        if n <= _MOST_LISTED
        else f"{n:,} rows are too many to compare with each other"
    )


def resolve(graph: str, X: Matrix) -> str:
    """Return the name of the graph; for "auto" the choice, which is logged."""
    if graph != "auto":
        return graph
    chosen, why = choose_graph(X)
    log.info("graph='auto' is %r: %s.", chosen, why)
    return chosen


def plan_of(
    X: Matrix, n_neighbors: int, n_anchors: int, *, standardize: bool, seed: int
) -> AnchorPlan:
    """Return the plan of anchors that a stream of these rows would make."""
    rows = sample_rows(X, seed)
    return plan_anchors(
        rows, n_neighbors, n_anchors, standardize=standardize, seed=seed
    )


def with_anchor_graph(
    X: Matrix, Y: Matrix, plan: AnchorPlan, standardize: bool, weights: Array | None
) -> tuple[FeatureSpace, Sums]:
    """Return linear features with the anchor graph, and their moments."""
    sums = Sums(plan, anchor_moments(X, Y, plan, weights=weights))
    return FeatureSpace(X, *sums.scaled(standardize), weights=weights), sums


def features_with_anchor_graph(
    space: FeatureSpace, X: Matrix, plan: AnchorPlan
) -> FeatureSpace:
    """Return any features of the rows X with the anchor graph of the rows."""
    center = space.moments.x_mean
    edges = sum_feature_edges(X, space.features, plan, center, space.weights)
    total = AnchorMoments(space.moments, edges)
    return replace(space, moments=total.with_graph(replace(plan, center=center)))


def with_approximate_graph(
    space: FeatureSpace, X: Matrix, n_neighbors: int, seed: int
) -> tuple[FeatureSpace, float]:
    """Return the features with the approximate graph of the rows X, and its recall."""
    search = ApproximateSearch(seed)
    space = with_exact_graph(space, X, n_neighbors, search=search)
    log.info("approximate graph: recall %.3f on a sample of rows.", search.recall)
    return space, search.recall


class Graph(NamedTuple):
    """Features with a graph, and its Laplacian; None for no graph."""

    space: FeatureSpace
    L: Matrix = None


def neighbor_graph(
    space: FeatureSpace, X: Matrix, n_neighbors: int, seed: int
) -> Graph:
    """Build the graph of the rows X: approximate where they are too many."""
    exact = choose_graph(X)[0] == "exact"
    search = nearest if exact else ApproximateSearch(seed)
    L = neighbor_laplacian(X, n_neighbors, **scaling_of(space), search=search)
    moments = space.moments.with_graph(space.features, L, scale=space.scale)
    return Graph(replace(space, moments=moments), L)


def warn_of_few_rows(n_neighbors: int, n: int) -> None:
    """Warn that each of n rows has fewer neighbors than a user has asked for."""
    if n_neighbors >= n:
        warn(
            f"n_neighbors={n_neighbors} with {n} rows: each row has all {n - 1} others "
            f"for neighbors; pass at most {n - 1}."
        )
