"""Fetch rows by index from the blocks that contain them."""

from __future__ import annotations

from collections.abc import Iterator

import dask
import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray
from scipy import sparse

from homi.distributed.blocks import Block, Blocks, CheckRows, stacked
from homi.distributed.sums import Check
from homi.distributed.tasks import each, fused
from homi.typing import Matrix


def taken(
    blocks: Blocks,
    rows: NDArray[np.int64],
    check: CheckRows,
) -> Matrix:
    """Return the rows at these indices, in this order; do not compute other blocks.

    ``check`` checks the rows of a block, given its number and its first and last row.
    """
    order = np.argsort(rows, kind="stable")
    shared = delayed(check)
    calls = [
        (shared, *block[:-1], places) for block, places in _within(blocks, rows[order])
    ]
    found = stacked(list(dask.compute(*fused(each(_take, calls)))))
    return found[np.argsort(order)]


def taken_with_labels(
    blocks: Blocks, rows: NDArray[np.int64], check: Check
) -> tuple[Matrix, Matrix]:
    """Return the rows at these indices and their labels, in this order."""
    order = np.argsort(rows, kind="stable")
    shared = delayed(check)
    calls = [(shared, *block, places) for block, places in _within(blocks, rows[order])]
    found = dask.compute(*fused(each(_take_both, calls)))
    X, Y = (stacked(list(parts)) for parts in zip(*found, strict=True))
    back = np.argsort(order)
    return X[back], Y[back]


def _within(
    blocks: Blocks, ordered: NDArray[np.int64]
) -> Iterator[tuple[Block, NDArray[np.int64]]]:
    """Yield the blocks that contain ordered indices, and the places in each."""
    for block in blocks.blocks:
        first, last = np.searchsorted(ordered, [block.start, block.stop])
        if first < last:
            yield block, ordered[first:last] - block.start


def _take_both(
    check: Check,
    number: int,
    start: int,
    stop: int,
    X: Matrix,
    y: Matrix,
    places: NDArray[np.int64],
) -> tuple[Matrix, Matrix]:
    found = check(X, y, number, start, stop)
    X, Y = (sparse.csr_array(A) if sparse.issparse(A) else A for A in found)
    return X[places], Y[places]


def _take(
    check: CheckRows,
    number: int,
    start: int,
    stop: int,
    X: Matrix,
    places: NDArray[np.int64],
) -> Matrix:
    X = check(X, number, start, stop)
    return (sparse.csr_array(X) if sparse.issparse(X) else X)[places]
