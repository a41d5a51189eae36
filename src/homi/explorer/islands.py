"""A map of many labels: each group is an island, and the islands lie close together."""

from __future__ import annotations

from itertools import combinations

import networkx as nx  # type: ignore[import-untyped,unused-ignore]
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Sea between two islands, as a share of an island of one label.
_SEA = 0.6


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
