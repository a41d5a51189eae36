"""Layout of the label graph, groups of labels, and the order of the matrix."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform
from scipy.stats import rankdata

from homi.extras import install
from homi.typing import Array, Indices

try:
    import networkx as nx  # type: ignore[import-untyped,unused-ignore]
except ModuleNotFoundError:  # explanations of rows do not need it
    nx = None

#: Edges of each label in the layout.
_EDGES = 6

#: With more labels than this, every group is laid out separately.
_MOST_TOGETHER = 80

#: With more labels than this, the leaf order is not optimized, which takes O(l³).
_MOST_REFINED = 300

#: Space between two islands, relative to an island of one label.
_SEA = 0.6


class Map(NamedTuple):
    """Positions in a square of side 2 around 0, and the group of each label."""

    places: Array
    groups: Indices


def off_diagonal(B: Array) -> Array:
    """Return B with a zero diagonal."""
    off = B.copy()
    np.fill_diagonal(off, 0.0)
    return off


def mutual(B: Array) -> Array:
    """Return the mean of B and Bᵀ off the diagonal, divided by its maximum."""
    means = off_diagonal(B + B.T) / 2
    largest = np.abs(means).max(initial=0.0)
    return means / largest if largest > 0 else means


def label_map(B: Array, seed: int = 0) -> Map:
    """Compute a layout in which labels that raise each other are close.

    Each label has edges to the few labels with the largest positive mutual weight.
    Groups are Louvain communities of this graph, the largest first. A label without
    edges is a group of its own.
    """
    if nx is None:
        raise ModuleNotFoundError(
            "homi.explorer needs the package networkx, which is not installed; "
            f"install it with: {install('explorer')}",
            name="networkx",
        )
    graph = _graph(mutual(B))
    if graph.number_of_edges() == 0:
        circle = nx.circular_layout(graph)
        return Map(_squared(circle, len(B)), np.arange(len(B)))
    found = nx.community.louvain_communities(graph, weight="weight", seed=seed)
    groups = np.empty(len(B), dtype=np.intp)
    for number, members in enumerate(sorted(found, key=lambda g: (-len(g), min(g)))):
        groups[list(members)] = number
    # Square roots, so that edges a hundred times weaker still have an effect.
    for *_, edge in graph.edges(data=True):
        edge["pull"] = edge["weight"] ** 0.5
    if len(B) > _MOST_TOGETHER:
        places = island_layout(graph, groups, weight="pull", seed=seed)
    else:
        places = nx.spring_layout(graph, weight="pull", seed=seed)
    return Map(_squared(places, len(B)), groups)


def clustered_order(B: Array) -> Indices:
    """Order labels by average linkage, so that those that raise each other are close.

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


def strongest(B: Array, most: int) -> Indices:
    """Return the strongest entries off the diagonal as pairs (i, j), in order."""
    strength = np.abs(off_diagonal(B)).ravel()
    kept = min(most, int(np.count_nonzero(strength)))
    if kept == 0:
        return np.zeros((0, 2), dtype=np.intp)
    top = np.argpartition(-strength, kept - 1)[:kept]
    top = top[np.lexsort((top, -strength[top]))]
    return np.stack(np.unravel_index(top, B.shape), axis=1)


def _graph(weights: Array) -> nx.Graph:
    n_labels = len(weights)
    graph = nx.Graph()
    graph.add_nodes_from(range(n_labels))
    nearest = np.argsort(-weights, axis=1, kind="stable")[
        :, : min(_EDGES, n_labels - 1)
    ]
    for i, others in enumerate(nearest):
        for j in others:
            if weights[i, j] > 0:
                graph.add_edge(i, int(j), weight=float(weights[i, j]))
    return graph


def _squared(places: dict[int, Array], n_labels: int) -> Array:
    """Scale both axes so that the positions fill the square.

    Halfway between the positions and their ranks, so that labels without edges, which
    springs push far away, leave room for the others.
    """
    points = np.array([places[i] for i in range(n_labels)], dtype=float)
    ranks = rankdata(points.round(9), axis=0)
    return (_scaled(points) + _scaled(ranks)) / 2


def _scaled(points: Array) -> Array:
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    return np.where(high > low, 2 * (points - low) / span - 1, 0.0)


def island_layout(
    graph: nx.Graph, groups: Indices, *, weight: str, seed: int
) -> dict[int, Array]:
    """Lay out each group by springs in a disc whose area grows with its size.

    A single layout would put hundreds of labels into one ball. Nodes that are alone in
    their group share an island.
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
    """Pack discs of these radii without overlap; return rows of x, y, radius.

    The first disc is in the middle. Each next one touches two others, as close to the
    middle as possible.
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
    """Return the centers of the discs of a radius that touch both."""
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
    """Spread points evenly over the unit disc; keep directions and radial order."""
    away = points - points.mean(axis=0)
    distance = np.hypot(*away.T)
    rank = distance.argsort(kind="stable").argsort(kind="stable")
    reach = np.sqrt((rank + 0.5) / len(points))
    return away * (reach / np.where(distance > 0, distance, 1.0))[:, None]
