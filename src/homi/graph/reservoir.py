"""Reservoir sampling: a random sample of rows that arrive in batches, in one pass."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from homi.typing import Indices, Matrix

#: Maximum and minimum rows of a sample, and its bytes as dense float64.
_MOST, _FEWEST, _BYTES = 10_000, 1_000, 2**28

#: Rows that are copied at a time.
_PIECE = 512

#: Rows whose random numbers are drawn at a time.
_AT_A_TIME = 2**20


class Reservoir:
    """A uniform random sample of up to ``size`` of the rows added so far.

    One random number is drawn per row, so the sample depends on the seed and on the
    rows, not on how they are split into batches. As long as all rows fit, they keep
    their order.
    """

    def __init__(self, n_features: int, seed: int, size: int | None = None) -> None:
        fits = _BYTES // (8 * max(n_features, 1))
        self.size = size or int(np.clip(fits, _FEWEST, _MOST))
        self.n_features, self.seed, self.n_seen = n_features, seed, 0
        self.rows: Matrix = None

    def add(self, X: Matrix) -> None:
        """Add the next rows, dense or sparse."""
        is_sparse = sparse.issparse(X) or sparse.issparse(self.rows)
        X = sparse.csr_array(X) if is_sparse else np.asarray(X)
        slots, n_seen = self._slots(X.shape[0]), self.n_seen + X.shape[0]
        drawn = np.flatnonzero(slots >= 0)
        # If two rows have the same slot, the later one stays.
        latest = np.full(min(n_seen, self.size), -1)
        latest[slots[drawn]] = drawn
        fresh = np.flatnonzero(latest >= 0)
        if len(fresh):
            replaced = _replaced_sparse if is_sparse else _replaced
            self.rows = replaced(self.rows, len(latest), fresh, X, latest[fresh])
        self.n_seen = n_seen

    def _slots(self, count: int) -> Indices:
        """Return the slot of each of the next rows; -1 for those that are not drawn."""
        index = self.n_seen + np.arange(count)
        generator = np.random.PCG64(self.seed)
        generator.advance(self.n_seen)
        chance = np.random.Generator(generator).random(count)
        slot = np.where(
            index < self.size, index, (chance * (index + 1)).astype(np.int64)
        )
        return np.where(slot < self.size, slot, -1)


def _replaced(
    rows: Matrix, count: int, fresh: Indices, X: Matrix, chosen: Indices
) -> Matrix:
    """Return ``count`` rows, with chosen rows of X in the slots ``fresh``."""
    kept = 0 if rows is None else len(rows)
    dtype = X.dtype if rows is None else np.result_type(rows, X)
    if count > kept or dtype != rows.dtype:
        more = np.empty((count, X.shape[1]), dtype)
        if kept:
            more[:kept] = rows
        rows = more
    # In pieces that stay in the cache between reading and writing.
    for start in range(0, len(fresh), _PIECE):
        part = slice(start, start + _PIECE)
        rows[fresh[part]] = X[chosen[part]]
    return rows


def _replaced_sparse(
    rows: Matrix, count: int, fresh: Indices, X: Matrix, chosen: Indices
) -> Matrix:
    """Return ``count`` sparse rows, with chosen rows of X in the slots ``fresh``."""
    if rows is None:
        return X[chosen]
    order = np.arange(count)
    order[fresh] = rows.shape[0] + np.arange(len(fresh))
    return sparse.vstack([rows, X[chosen]]).tocsr()[order]


def sample_rows(X: Matrix, seed: int) -> Matrix:
    """Return the rows that a stream of X would keep, or X itself if it keeps all."""
    reservoir = Reservoir(X.shape[1], seed)
    if X.shape[0] <= reservoir.size:
        return X
    reservoir.add(X)
    return reservoir.rows


def drawn(n_rows: int, n_features: int, seed: int, size: int | None = None) -> Indices:
    """Return the indices of the rows that a stream of ``n_rows`` would keep, in order.

    The rows themselves are not needed, so each can be fetched from where it is.
    """
    reservoir = Reservoir(n_features, seed, size)
    kept = np.arange(min(n_rows, reservoir.size))
    for start in range(len(kept), n_rows, _AT_A_TIME):
        reservoir.n_seen = start
        slots = reservoir._slots(min(_AT_A_TIME, n_rows - start))
        rows = np.flatnonzero(slots >= 0)
        kept[slots[rows]] = start + rows
    return kept
