"""The exact graph of rows that lie in blocks: every block against every block.

The neighbours of a block are found among each block in turn and the best are kept;
then the edges between two blocks give their part of H. What is kept of a pair of
blocks are s + 1 candidates a row, or a matrix of m × m.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dask.delayed import Delayed, delayed

from homi.distributed.blocks import Block, Blocks, stacked
from homi.distributed.tasks import each, fused, tree_sum
from homi.graph.block_pairs import edge_product, found_among, nearest_of
from homi.linalg import Array

#: Blocks next to each other are joined until there are no more than these: pairs of
#: blocks grow with the square.
_MOST = 24


def neighbor_product(
    blocks: Blocks,
    n_neighbors: int,
    mean: Array,
    scale: Array,
    check: Callable[[Any, int, int, int], Any],
) -> Delayed:
    """``H = XᵀLX`` with L of the rows most correlated with each row.

    Rows are compared as ``(X - mean) / scale``; H is of rows as they are. ``check``
    checks the rows of a block, by its number and its first and last row.
    """
    groups = _joined(blocks.blocks, check)
    units = delayed((mean, scale))
    near = []
    for start, stop, X in groups:
        found = [
            delayed(found_among)(X, other, n_neighbors + 1, units, first)
            for first, _, other in groups
        ]
        near.append(delayed(nearest_of)(found, start, stop, n_neighbors))
    parts = []
    for i, (start, stop, X) in enumerate(groups):
        parts.append(delayed(edge_product)(X, near[i], (start, stop)))
        parts += [
            delayed(edge_product)(
                *(X, near[i], (start, stop)), *(other, near[j], (first, last))
            )
            for j, (first, last, other) in enumerate(groups)
            if j > i
        ]
    return tree_sum(parts)


def _joined(
    blocks: list[Block], check: Callable[[Any, int, int, int], Any]
) -> list[tuple[int, int, Any]]:
    """(start, stop, rows) of at most so many groups of blocks."""
    step = -(-len(blocks) // _MOST)
    shared = delayed(check)
    parts = fused(each(_checked, [(shared, *block[:-1]) for block in blocks]))
    groups = []
    for i in range(0, len(blocks), step):
        some, rows = blocks[i : i + step], parts[i : i + step]
        X = rows[0] if len(rows) == 1 else delayed(stacked)(rows)
        groups.append((some[0].start, some[-1].stop, X))
    return groups


def _checked(
    check: Callable[[Any, int, int, int], Any],
    number: int,
    start: int,
    stop: int,
    X: Any,
) -> Any:
    return check(X, number, start, stop)
