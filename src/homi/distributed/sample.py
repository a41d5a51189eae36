"""Fetch rows by index from the blocks that contain them."""

from __future__ import annotations

import dask
import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray
from scipy import sparse

from homi.distributed.blocks import Blocks, CheckRows, stacked
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
    ordered = rows[order]
    shared, calls = delayed(check), []
    for block in blocks.blocks:
        first, last = np.searchsorted(ordered, [block.start, block.stop])
        if first < last:
            places = ordered[first:last] - block.start
            calls.append((shared, *block[:-1], places))
    found = stacked(list(dask.compute(*fused(each(_take, calls)))))
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return found[back]


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
