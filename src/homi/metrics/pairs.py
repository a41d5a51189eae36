"""Count pairs of a positive and a negative entry that are in the wrong order.

The ranking loss counts them in the rows of a score matrix, the AUC in its columns.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]

#: Scores ranked at a time: 1 MB, about the size of the cache.
_BLOCK_ENTRIES = 2**17


def pair_counts(Y: Array) -> Array:
    """``|P_i| |N_i|`` of each row i."""
    positives = Y.sum(axis=1)
    pairs: Array = positives * (Y.shape[1] - positives)
    return pairs


def misordered_pairs(Y: Array, S: Array) -> Array:
    """``|{(j, k) in P_i x N_i : s_ij <= s_ik}|`` of each row i, block by block."""
    step = max(1, _BLOCK_ENTRIES // Y.shape[1])
    blocks = [slice(start, start + step) for start in range(0, len(Y), step)]
    return np.concatenate([_misordered_in_block(Y[b], S[b]) for b in blocks])


def _misordered_in_block(Y: Array, S: Array) -> Array:
    """Count all pairs minus those in order: bisect sorted negatives by positives."""
    n_rows, n_columns = Y.shape
    # s_ij <= s_ik is -s_ik <= -s_ij: a row swaps its classes to bisect by the fewer.
    swap = (2 * Y.sum(axis=1) > n_columns)[:, np.newaxis]
    Y = Y ^ swap
    table = np.multiply(S, np.where(swap, -1.0, 1.0), order="C")
    # Flat indices: a mask with many true entries costs more than the sort.
    flat, positives = table.ravel(), np.flatnonzero(Y)
    rows, values = positives // n_columns, flat[positives]
    flat[positives] = np.inf  # what is left below infinity are the negatives
    table.sort(axis=1)
    below = np.bincount(rows, _count_below(table, rows, values), n_rows)
    return pair_counts(Y) - below


def _count_below(table: Array, rows: Array, values: Array) -> Array:
    """``|{k : table[rows[m], k] < values[m]}|`` of each m, all m bisected at once."""
    flat, width = table.ravel(), table.shape[1]
    first = rows * width
    at = first.copy()
    while width > 1:
        half = width // 2
        at += half * (flat.take(at + (half - 1)) < values)
        width -= half
    at += flat.take(at) < values
    count: Array = at - first
    return count
