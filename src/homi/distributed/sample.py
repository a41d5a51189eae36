"""Some rows of all, by their numbers, from the blocks that have them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask
import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray
from scipy import sparse

from homi.distributed.blocks import Blocks, stacked
from homi.distributed.tasks import each, fused


def taken(
    blocks: Blocks,
    rows: NDArray[np.int64],
    check: Callable[[Any, int, int, int], Any],
) -> Any:
    """The rows of these numbers, in this order. Other blocks are not computed.

    ``check`` checks the rows of a block, by its number and its first and last row.
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
    check: Callable[[Any, int, int, int], Any],
    number: int,
    start: int,
    stop: int,
    X: Any,
    places: NDArray[np.int64],
) -> Any:
    X = check(X, number, start, stop)
    return (sparse.csr_array(X) if sparse.issparse(X) else X)[places]
