"""Where labels stand: on the map of the graph, in groups, and in the matrix."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import networkx as nx  # type: ignore[import-untyped,unused-ignore]
import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

Array = NDArray[np.float64]

#: Ties of each label that draw it to others.
_TIES = 6

#: More labels than this, and every group is laid out by itself.
_MOST_TOGETHER = 80

#: More labels than this, and the order of leaves is not refined: that takes l³.
_MOST_REFINED = 300

#: Sea between two islands, as a share of an island of one label.
_SEA = 0.6


class Map(NamedTuple):
    """Places in a square of side 2 around 0, and the number of each label's group."""

    places: Array
    groups: NDArray[np.intp]


def off_diagonal(B: Array) -> Array:
    """B without a label's effect on itself."""
    off = B.copy()
    np.fill_diagonal(off, 0.0)
    return off


def mutual(B: Array) -> Array:
    """The mean of both directions, off the diagonal, as a share of the largest."""
    means = off_diagonal(B + B.T) / 2
    largest = np.abs(means).max(initial=0.0)
    return means / largest if largest > 0 else means


def label_map(B: Array, seed: int = 0) -> Map:
    """Lay labels out so that those which raise each other stand together.

    Each label is drawn to the few that it is most strongly and positively tied to.
    Groups are Louvain communities of the same graph, the largest first; labels with
    no such tie stand alone.
    """
    graph = _graph(mutual(B))
    if graph.number_of_edges() == 0:
        circle = nx.circular_layout(graph)
        return Map(_squared(circle, len(B)), np.arange(len(B)))
    found = nx.community.louvain_communities(graph, weight="weight", seed=seed)
    groups = np.empty(len(B), dtype=np.intp)
    for number, members in enumerate(sorted(found, key=lambda g: (-len(g), min(g)))):
        groups[list(members)] = number
    # Square roots: of ties that differ a hundredfold the weak should draw as well.
    for *_, tie in graph.edges(data=True):
        tie["pull"] = tie["weight"] ** 0.5
    if len(B) > _MOST_TOGETHER:
        places = island_layout(graph, groups, weight="pull", seed=seed)
    else:
        places = nx.spring_layout(graph, weight="pull", seed=seed)
    return Map(_squared(places, len(B)), groups)


def clustered_order(B: Array) -> NDArray[np.intp]:
    """An order in which labels that raise each other are neighbours: average linkage.

    Examples
    --------
    >>> B = np.eye(4)
    >>> B[0, 3] = B[3, 0] = B[1, 2] = B[2, 1] = 0.5
    >>> sorted(sorted(pair) for pair in clustered_order(B).reshape(2, 2).tolist())
    [[0, 3], [1, 2]]
    """
    if len(B) < 3:
        return np.arange(len(B))
    apart = 1.0 - mutual(B)
    np.fill_diagonal(apart, 0.0)
    refine = len(B) <= _MOST_REFINED
    tree = linkage(squareform(apart), "average", optimal_ordering=refine)
    return leaves_list(tree).astype(np.intp)


def strongest(B: Array, most: int) -> NDArray[np.intp]:
    """The strongest entries off the diagonal as pairs (i, j), strongest first."""
    strength = np.abs(off_diagonal(B)).ravel()
    kept = min(most, int(np.count_nonzero(strength)))
    if kept == 0:
        return np.zeros((0, 2), dtype=np.intp)
    top = np.argpartition(-strength, kept - 1)[:kept]
    top = top[np.lexsort((top, -strength[top]))]
    return np.stack(np.unravel_index(top, B.shape), axis=1)


def _graph(ties: Array) -> nx.Graph:
    n_labels = len(ties)
    graph = nx.Graph()
    graph.add_nodes_from(range(n_labels))
    nearest = np.argsort(-ties, axis=1, kind="stable")[:, : min(_TIES, n_labels - 1)]
    for i, others in enumerate(nearest):
        for j in others:
            if ties[i, j] > 0:
                graph.add_edge(i, int(j), weight=float(ties[i, j]))
    return graph


def _squared(places: dict[int, Array], n_labels: int) -> Array:
    """Both directions stretched to the square, so that no room is left unused."""
    points = np.array([places[i] for i in range(n_labels)], dtype=float)
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    return np.where(high > low, 2 * (points - low) / span - 1, 0.0)


def island_layout(
    graph: nx.Graph, groups: NDArray[np.intp], *, weight: str, seed: int
) -> dict[int, Array]:
    """Places of the nodes: springs inside a group, its disc as large as it has nodes.

    One layout of all would draw hundreds of labels into one ball. Nodes that are alone
    in their group share an island.
    """
    sizes = np.bincount(groups)
    islands = [np.flatnonzero(groups == g) for g in np.flatnonzero(sizes > 1)]
    if (alone := np.flatnonzero(sizes[groups] == 1)).size:
        islands.append(alone)
    discs = packed_discs(np.array([np.sqrt(len(nodes)) + _SEA for nodes in islands]))
    places: dict[int, Array] = {}
    for nodes, disc in zip(islands, discs, strict=True):
        inside = nx.spring_layout(
            graph.subgraph(nodes.tolist()), weight=weight, seed=seed
        )
        points = _spread(np.array([inside[i] for i in nodes])) * (disc[2] - _SEA)
        places |= dict(zip(nodes.tolist(), points + disc[:2], strict=True))
    return places


def packed_discs(radii: Array) -> Array:
    """Discs of these radii that touch and do not overlap: rows of x, y, radius.

    The first lies in the middle; each next one touches two others, as near to the
    middle as it can.
    """
    discs = [(0.0, 0.0, radii[0])]
    for radius in radii[1:]:
        spots = [(discs[0][2] + radius, 0.0)]
        for one, other in combinations(discs, 2):
            spots += _touching(one, other, radius)
        free = [spot for spot in spots if _is_free(spot, radius, discs)]
        x, y = min(free, key=lambda spot: (round(np.hypot(*spot), 9), spot))
        discs.append((x, y, radius))
    return np.array(discs)


def _touching(
    one: tuple[float, float, float], other: tuple[float, float, float], radius: float
) -> list[tuple[float, float]]:
    """Centres of the discs of a radius that touch both."""
    start, end = np.array(one[:2]), np.array(other[:2])
    a, b = one[2] + radius, other[2] + radius
    apart = float(np.hypot(*(end - start)))
    along = (a * a - b * b + apart * apart) / (2 * apart)
    if along * along > a * a:
        return []
    aside = np.sqrt(a * a - along * along)
    way = (end - start) / apart
    foot, normal = start + along * way, np.array([-way[1], way[0]])
    return [tuple((foot + s * aside * normal).tolist()) for s in (1, -1)]


def _is_free(
    spot: tuple[float, float], radius: float, discs: list[tuple[float, float, float]]
) -> bool:
    x, y = spot
    return all(
        np.hypot(x - p, y - q) >= radius + r - 1e-6 * (radius + r) for p, q, r in discs
    )


def _spread(points: Array) -> Array:
    """Points with the same directions and order outwards, evenly over the unit disc."""
    away = points - points.mean(axis=0)
    distance = np.hypot(*away.T)
    rank = distance.argsort(kind="stable").argsort(kind="stable")
    reach = np.sqrt((rank + 0.5) / len(points))
    return away * (reach / np.where(distance > 0, distance, 1.0))[:, None]
