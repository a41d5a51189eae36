"""A random sample of rows that come in batches, none of which is seen twice."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

#: Most rows of a sample, fewest, and bytes of it as dense float64.
_MOST, _FEWEST, _BYTES = 10_000, 1_000, 2**28

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
        # Numbers of rows: those kept so far first, then those of this batch.
        kept = 0 if self.rows is None else self.rows.shape[0]
        place = np.full(min(n_seen, self.size), -1)
        place[:kept] = np.arange(kept)
        drawn = np.flatnonzero(slots >= 0)
        # Of two rows for one slot, the later one stays.
        place[slots[drawn]] = kept + drawn
        fresh = place >= kept
        new = X[place[fresh] - kept]
        if kept == 0:
            self.rows = new
        elif fresh.any():
            self.rows = _replaced(self.rows, fresh, new)
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


def _replaced(rows: Any, fresh: Any, new: Any) -> Any:
    """Rows with some slots filled anew, also slots behind the last."""
    kept = rows.shape[0]
    if sparse.issparse(rows):
        order = np.arange(len(fresh))
        order[fresh] = kept + np.arange(np.count_nonzero(fresh))
        return sparse.vstack([rows, new]).tocsr()[order]
    if len(fresh) > kept:
        more = np.empty((len(fresh), rows.shape[1]), rows.dtype)
        more[:kept] = rows
        rows = more
    rows[fresh] = new
    return rows


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
