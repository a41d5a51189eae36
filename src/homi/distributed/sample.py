"""Some rows of all, by their numbers, from the blocks that have them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask
import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray
from scipy import sparse

from homi.distributed.blocks import Blocks, checked, stacked
from homi.distributed.tasks import fused


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
    parts = []
    for block in blocks.blocks:
        first, last = np.searchsorted(ordered, [block.start, block.stop])
        if first < last:
            places = ordered[first:last] - block.start
            parts.append(delayed(_take)(checked(block, check), places))
    found = stacked(list(dask.compute(*fused(parts))))
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return found[back]


def _take(X: Any, places: NDArray[np.int64]) -> Any:
    return (sparse.csr_array(X) if sparse.issparse(X) else X)[places]
