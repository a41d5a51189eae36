"""The k largest scores of each row, collected from blocks of a matrix of scores.

A score in float32 and its column are kept as one integer, whose order is that of
falling scores, and of rising columns among equal scores. Integers are sorted quickly,
and ties do not depend on the size of the blocks.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Single = NDArray[np.float32]
Keys = NDArray[np.int64]

#: Key of a place that no candidate has taken yet.
_EMPTY = np.iinfo(np.int64).max

#: The bits of a key that hold the column.
_COLUMN = 2**32 - 1


class TopScores:
    """The k largest scores of each of n rows.

    Blocks of a row must come in the order of their columns.
    """

    def __init__(self, n: int, k: int) -> None:
        self._keys = np.full((n, k), _EMPTY, dtype=np.int64)

    def add(self, scores: Single, first_row: int, first_id: int) -> None:
        """Add a block of scores whose corner is at the given row and candidate."""
        scores = np.ascontiguousarray(scores, dtype=np.float32)
        kept = self._keys[first_row : first_row + len(scores)]
        better = np.flatnonzero(scores > _limit(scores, kept)[:, None])
        if len(better):
            rows, columns = np.divmod(better, scores.shape[1])
            keys = _keys(scores.ravel()[better], columns + first_id)
            _merge(kept, rows, keys)

    def indices(self) -> NDArray[np.int64]:
        """Return the indices, best first; of equal scores, the lowest index first.

        The index is -1 where there were fewer than k candidates.
        """
        return np.where(self._keys == _EMPTY, -1, self._keys & _COLUMN)

    def scores(self) -> Single:
        """Return the scores, best first."""
        return _scores(self._keys)


def _limit(scores: Single, kept: Keys) -> Single:
    """Return a number for each row that its k best scores exceed.

    It is the k-th best so far. For the first block it is just below the k-th largest of
    the maxima of disjoint sets of columns: no more than the k-th largest score.
    """
    n, k = kept.shape
    if kept[0, -1] != _EMPTY:
        return _scores(kept[:, -1])
    while scores.shape[1] >= 4 * k:
        half = scores.shape[1] // 2
        scores = np.maximum(scores[:, :half], scores[:, half : 2 * half])
    if scores.shape[1] < k:
        return np.full(n, -np.inf, dtype=np.float32)
    return np.nextafter(np.sort(scores, axis=1)[:, -k], np.float32(-np.inf))


def _merge(kept: Keys, rows: NDArray[np.intp], keys: Keys) -> None:
    """Replace the k keys of each row by the smallest of them and of new keys."""
    n, k = kept.shape
    counts = np.bincount(rows, minlength=n)
    fresh = np.full((n, counts.max()), _EMPTY)
    first = np.cumsum(counts) - counts
    fresh[rows, np.arange(len(rows)) - first[rows]] = keys
    both = np.concatenate([kept, fresh], axis=1)
    both.sort(axis=1)
    kept[:] = both[:, :k]


def _keys(scores: Single, columns: NDArray[np.intp]) -> Keys:
    ordered = _ordered((scores + np.float32(0)).view(np.int32))  # -0 becomes 0
    return ~ordered.astype(np.int64) << 32 | columns


def _scores(keys: Keys) -> Single:
    return _ordered(~(keys >> 32).astype(np.int32)).view(np.float32)


def _ordered(bits: NDArray[np.int32]) -> NDArray[np.int32]:
    """Map the bits of floats to integers of the same order; its own inverse."""
    return bits ^ ((bits >> 31) & 0x7FFFFFFF)
