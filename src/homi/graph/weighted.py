"""Neighbours of rows that count more or less than once.

A row of weight w stands for w equal rows. In the list of each of them come first its
own w - 1 copies, which tie it to nothing new, and then the copies of the rows most
correlated with it, until s are in the list. So a row is tied to rows whose weights add
up to s, the last of them with a part of its weight; weights need not be whole.
"""

from __future__ import annotations

import numpy as np

from homi.graph.exact import Neighbors
from homi.linalg import Array

#: Of n_neighbors, how many times as many rows a row is tied to at most. Rows of small
#: weight would else be tied to all.
MOST = 4


def how_many(weights: Array, n_neighbors: int) -> int:
    """Rows to look for: so many that their weights add up to ``n_neighbors``."""
    lightest = np.sort(weights)[: MOST * n_neighbors]
    enough = int(np.searchsorted(np.cumsum(lightest), n_neighbors)) + 1
    return min(enough, len(lightest), len(weights) - 1)


def weighted(found: Neighbors, weights: Array, n_neighbors: int) -> Neighbors:
    """Neighbours whose correlations are multiplied by the weight of the tie.

    The tie of row i to its neighbour j counts once for each of i's copies and for each
    of j's that have a place in i's list.
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
    # Where too few rows were looked for, those found stand for the rest.
    filled = taken.sum(axis=1, keepdims=True)
    taken *= np.where(filled > 0, places / np.where(filled > 0, filled, 1.0), 0.0)
    return Neighbors(indices, weights[:, None] * taken * correlations)
