"""Neighbors of weighted rows.

A row of weight w stands for w copies. The first neighbors of each copy are the other
w - 1 copies, whose edges have no effect, followed by the copies of the rows most
correlated with it, up to s neighbors in all. So a row has neighbors whose weights sum
to s, the last of them with a part of its weight. Weights need not be integers.
"""

from __future__ import annotations

import numpy as np

from homi.graph.exact import Neighbors
from homi.typing import Array

#: Maximum number of neighbors of a row, as a multiple of n_neighbors. Otherwise rows of
#: small weight would be neighbors of all rows.
MOST = 4


def how_many(weights: Array, n_neighbors: int) -> int:
    """Return the number of rows to search for, so that their weights reach s."""
    lightest = np.sort(weights)[: MOST * n_neighbors]
    enough = int(np.searchsorted(np.cumsum(lightest), n_neighbors)) + 1
    return min(enough, len(lightest), len(weights) - 1)


def weighted(found: Neighbors, weights: Array, n_neighbors: int) -> Neighbors:
    """Return neighbors whose correlations are multiplied by the weight of the edge.

    The edge from row i to its neighbor j counts once for each copy of i and each copy
    of j that is among the neighbors of i.
    """
    order = np.argsort(-found.correlations, axis=1, kind="stable")
    indices = np.take_along_axis(found.indices, order, axis=1)
    correlations = np.take_along_axis(found.correlations, order, axis=1)
    others = weights[indices]
    own_copies = np.maximum(weights - 1.0, 0.0)
    places = np.minimum(n_neighbors - own_copies, weights.sum() - weights)
    places = np.maximum(places, 0.0)[:, None]
    before = np.cumsum(others, axis=1) - others
    taken = np.clip(places - before, 0.0, others)
    # If too few rows were searched for, those found get the missing weight.
    filled = taken.sum(axis=1, keepdims=True)
    taken *= np.where(filled > 0, places / np.where(filled > 0, filled, 1.0), 0.0)
    return Neighbors(indices, weights[:, None] * taken * correlations)
