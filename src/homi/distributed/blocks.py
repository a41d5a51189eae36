"""Split Dask collections of rows and labels into aligned blocks of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import dask
import numpy as np
from dask.delayed import Delayed, delayed
from scipy import sparse

from homi.distributed.tasks import each, fused
from homi.typing import Indices, Matrix

if TYPE_CHECKING:
    import dask.array as da
    import dask.dataframe as dd

#: A Dask array, data frame or series.
Collection: TypeAlias = "da.Array | dd.DataFrame | dd.Series"

#: Checks the rows of a block, given its number and its first and last row.
CheckRows = Callable[[Matrix, int, int, int], Matrix]


class Block(NamedTuple):
    """Rows ``start`` to ``stop``, not yet computed; blocks are numbered from 1."""

    number: int
    start: int
    stop: int
    X: Delayed
    y: Delayed


@dataclass(frozen=True)
class Blocks:
    """All rows, in blocks of at least one row each.

    ``shape`` is that of X. ``X_like`` and ``y_like`` have the column names, types and
    widths of X and y, and no rows.
    """

    blocks: list[Block]
    shape: tuple[int, int]
    X_like: Matrix
    y_like: Matrix

    def classes(self) -> Matrix:
        """Return the distinct values of y, sorted."""
        found = dask.compute(*fused(each(_unique, [(b.y,) for b in self.blocks])))
        return np.unique(np.concatenate(found))


def row_blocks(X: Collection, y: Collection) -> Blocks:
    """Split Dask arrays or data frames X and y into the blocks of rows of X.

    Unknown block lengths are computed. Blocks of columns are joined, and y is split
    again if its blocks differ from those of X.
    """
    check_rows(X, "X")
    parts_X, parts_y = _parts(X), _parts(y)
    n_X, n_y = _lengths([(X, parts_X), (y, parts_y)])
    if sum(n_X) != sum(n_y):
        raise ValueError(
            f"X has {sum(n_X)} rows in its blocks and y has {sum(n_y)}; pass one row "
            "per sample in both."
        )
    if sum(n_X) == 0:
        raise ValueError(
            "Found array with 0 sample(s) in all blocks of X while a minimum of 1 is "
            "required."
        )
    ends = np.cumsum([0, *n_X])
    if n_X != n_y:
        parts_y = _cut(parts_y, np.cumsum([0, *n_y]), ends)
    blocks = [
        Block(i + 1, int(ends[i]), int(ends[i + 1]), parts_X[i], parts_y[i])
        for i in range(len(n_X))
        if n_X[i]
    ]
    like = columns_like(X), columns_like(y)
    return Blocks(blocks, (int(ends[-1]), like[0].shape[1]), *like)


def is_frame(collection: Collection) -> bool:
    """Return True for Dask data frames and series."""
    return not hasattr(collection, "chunks")


def _parts(collection: Collection) -> list[Delayed]:
    """Return delayed blocks of rows, each with all columns."""
    if is_frame(collection):
        return list(collection.to_delayed())
    # Not optimized: Dask would fuse rows into the tasks of labels that depend on them,
    # and compute them twice. Tasks are fused later, per block.
    parts = collection.to_delayed(optimize_graph=False)
    if parts.ndim == 1:
        return list(parts)
    return [row[0] if len(row) == 1 else delayed(_beside)(list(row)) for row in parts]


def _lengths(
    collections: Sequence[tuple[Collection, list[Delayed]]],
) -> list[list[int]]:
    """Return the rows of every block; unknown ones are counted in one computation."""
    known = [_known(collection) for collection, _ in collections]
    unknown = [
        [] if counts is not None else fused(each(_n_rows, [(x,) for x in parts]))
        for counts, (_, parts) in zip(known, collections, strict=True)
    ]
    counted = dask.compute(*unknown)
    return [
        list(map(int, found if counts is None else counts))
        for counts, found in zip(known, counted, strict=True)
    ]


def _known(collection: Collection) -> Sequence[int] | None:
    if is_frame(collection) or np.isnan(collection.chunks[0]).any():
        return None
    return collection.chunks[0]


def _cut(parts: list[Delayed], ends: Indices, wanted: Indices) -> list[Delayed]:
    """Split blocks again so that they end at the wanted rows."""
    out = []
    for start, stop in pairwise(wanted):
        first = np.searchsorted(ends, start, side="right") - 1
        last = np.searchsorted(ends, stop, side="left")
        pieces = [
            delayed(_slice)(
                parts[i], max(start - ends[i], 0), min(stop, ends[i + 1]) - ends[i]
            )
            for i in range(first, last)
            if ends[i] < ends[i + 1]
        ]
        out.append(pieces[0] if len(pieces) == 1 else delayed(stacked)(pieces))
    return out


def check_rows(collection: Collection, name: str) -> None:
    """Raise an error unless the collection is a 2-D Dask array or data frame."""
    # A delayed object has every attribute; its type does not.
    known = all(hasattr(type(collection), name) for name in ("to_delayed", "ndim"))
    if not known or collection.ndim > 2:
        raise TypeError(
            f"{name} must be a dask array or data frame, got {collection!r}."
        )
    if collection.ndim == 1:
        raise ValueError(
            f"Expected 2D array, got 1D array instead: {name} is {collection!r}; pass "
            "one row per sample and one column per feature."
        )


def columns_like(collection: Collection) -> Matrix:
    """Return an empty collection with the same columns, names and types."""
    if is_frame(collection):
        return collection._meta
    columns = collection.shape[1:]
    if np.isnan(columns).any():
        raise ValueError(
            f"the number of columns of {collection!r} is unknown to Dask; call its "
            "compute_chunk_sizes(), or pass the shape when you create it."
        )
    return np.empty((0, *columns), dtype=collection.dtype)


def _unique(y: Matrix) -> Matrix:
    return np.unique(np.asarray(y))


def _n_rows(block: Matrix) -> int:
    return int(block.shape[0])


def _slice(block: Matrix, start: int, stop: int) -> Matrix:
    block = sparse.csr_array(block) if sparse.issparse(block) else block
    return block.iloc[start:stop] if hasattr(block, "iloc") else block[start:stop]


def _beside(parts: list[Matrix]) -> Matrix:
    if any(map(sparse.issparse, parts)):
        return sparse.hstack(parts, format="csr")
    return np.hstack(parts)


def stacked(parts: list[Matrix]) -> Matrix:
    """Stack blocks of rows: arrays, sparse arrays or data frames."""
    if any(map(sparse.issparse, parts)):
        return sparse.vstack(parts, format="csr")
    if hasattr(parts[0], "iloc"):
        import pandas as pd

        return pd.concat(parts)
    return np.concatenate(parts)
