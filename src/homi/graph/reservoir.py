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
        self._rows: Any = None

    @property
    def rows(self) -> Any:
        """The sample; None before the first rows."""
        if self._rows is None or sparse.issparse(self._rows):
            return self._rows
        return self._rows[: min(self.n_seen, self.size)]

    @rows.setter
    def rows(self, rows: Any) -> None:
        self._rows = rows

    def add(self, X: Any) -> None:
        """Draw from the next rows, dense or sparse."""
        X = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
        slots, n_seen = self._slots(X.shape[0]), self.n_seen + X.shape[0]
        drawn = np.flatnonzero(slots >= 0)
        # Of two rows for one slot, the later one stays.
        latest = np.full(min(n_seen, self.size), -1)
        latest[slots[drawn]] = drawn
        fresh = np.flatnonzero(latest >= 0)
        chosen = latest[fresh]
        if len(fresh) and sparse.issparse(X):
            self.rows = _replaced_sparse(self.rows, len(latest), fresh, X, chosen)
        elif len(fresh):
            self.rows = _replaced(self._rows, self.size, fresh, X, chosen)
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


def _replaced(rows: Any, room: int, fresh: Any, X: Any, chosen: Any) -> Any:
    """Room for so many rows, those of the slots ``fresh`` the chosen ones of X."""
    if rows is None or len(rows) < room:
        # All at once: what is not used yet takes no memory.
        more = np.empty((room, X.shape[1]), X.dtype if rows is None else rows.dtype)
        if rows is not None:
            more[: len(rows)] = rows
        rows = more
    if _is_run(fresh) and _is_run(chosen):
        # As long as all rows fit, they are one piece.
        rows[fresh[0] : fresh[-1] + 1] = X[chosen[0] : chosen[-1] + 1]
        return rows
    # In pieces that stay in the cache between being read and being written.
    for start in range(0, len(fresh), _PIECE):
        part = slice(start, start + _PIECE)
        rows[fresh[part]] = X[chosen[part]]
    return rows


def _is_run(numbers: Any) -> bool:
    """Whether each number is the one before and 1."""
    return bool((np.diff(numbers) == 1).all())


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
