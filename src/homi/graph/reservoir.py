"""A random sample of rows that come in batches, none of which is seen twice."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

#: Most rows of a sample, fewest, and bytes of it as dense float64.
_MOST, _FEWEST, _BYTES = 10_000, 1_000, 2**28

#: Rows that are put in their slots at a time.
_PIECE = 512

#: Rows whose random numbers are drawn at a time.
_AT_A_TIME = 2**20


class Reservoir:
    """Up to ``size`` rows, each row so far as likely among them as any other.

    One random number is drawn for each row, so that the sample depends on the seed
    and on the rows, not on how they are cut into batches. Rows come in the order that
    they have as long as all of them fit.
    """

    def __init__(self, n_features: int, seed: int, size: int | None = None) -> None:
        fits = _BYTES // (8 * max(n_features, 1))
        self.size = size or int(np.clip(fits, _FEWEST, _MOST))
        self.n_features, self.seed, self.n_seen = n_features, seed, 0
        self.rows: Any = None

    def add(self, X: Any) -> None:
        """Draw from the next rows, dense or sparse."""
        X = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
        slots, n_seen = self._slots(X.shape[0]), self.n_seen + X.shape[0]
        drawn = np.flatnonzero(slots >= 0)
        # Of two rows for one slot, the later one stays.
        latest = np.full(min(n_seen, self.size), -1)
        latest[slots[drawn]] = drawn
        fresh = np.flatnonzero(latest >= 0)
        if len(fresh):
            replaced = _replaced_sparse if sparse.issparse(X) else _replaced
            self.rows = replaced(self.rows, len(latest), fresh, X, latest[fresh])
        self.n_seen = n_seen

    def _slots(self, count: int) -> Any:
        """Where each of the next rows goes; -1 for those that are not drawn."""
        index = self.n_seen + np.arange(count)
        generator = np.random.PCG64(self.seed)
        generator.advance(self.n_seen)
        chance = np.random.Generator(generator).random(count)
        slot = np.where(
            index < self.size, index, (chance * (index + 1)).astype(np.int64)
        )
        return np.where(slot < self.size, slot, -1)


def _replaced(rows: Any, count: int, fresh: Any, X: Any, chosen: Any) -> Any:
    """``count`` rows, those of the slots ``fresh`` the chosen ones of X."""
    kept = 0 if rows is None else len(rows)
    if count > kept:
        more = np.empty((count, X.shape[1]), X.dtype if rows is None else rows.dtype)
        if kept:
            more[:kept] = rows
        rows = more
    # In pieces that stay in the cache between being read and being written.
    for start in range(0, len(fresh), _PIECE):
        part = slice(start, start + _PIECE)
        rows[fresh[part]] = X[chosen[part]]
    return rows


def _replaced_sparse(rows: Any, count: int, fresh: Any, X: Any, chosen: Any) -> Any:
    """The same of sparse rows."""
    if rows is None:
        return X[chosen]
    order = np.arange(count)
    order[fresh] = rows.shape[0] + np.arange(len(fresh))
    return sparse.vstack([rows, X[chosen]]).tocsr()[order]


def sample_rows(X: Any, seed: int) -> Any:
    """The rows that a stream of X would keep, or X itself where all are kept."""
    reservoir = Reservoir(X.shape[1], seed)
    if X.shape[0] <= reservoir.size:
        return X
    reservoir.add(X)
    return reservoir.rows


def drawn(n_rows: int, n_features: int, seed: int) -> Any:
    """Numbers of the rows that a stream of so many would keep, in their order.

    The rows themselves are not needed, so that each can be taken from where it is.
    """
    reservoir = Reservoir(n_features, seed)
    kept = np.arange(min(n_rows, reservoir.size))
    for start in range(len(kept), n_rows, _AT_A_TIME):
        reservoir.n_seen = start
        slots = reservoir._slots(min(_AT_A_TIME, n_rows - start))
        rows = np.flatnonzero(slots >= 0)
        kept[slots[rows]] = start + rows
    return kept
