"""Exact neighbor graph of rows in blocks, by comparing all pairs of blocks.

The neighbors of a block are searched in each block in turn, and the best are kept. Then
the edges between two blocks contribute to H. A pair of blocks needs memory for s + 1
candidates per row, or for one m × m matrix.
"""

from __future__ import annotations

from dask.delayed import Delayed, delayed

from homi.distributed.blocks import Block, Blocks, CheckRows, stacked
from homi.distributed.tasks import each, fused, tree_sum
from homi.graph.block_pairs import edge_product, found_among, nearest_of
from homi.typing import Array, Matrix

#: Maximum number of blocks; adjacent blocks are joined, because the number of pairs
#: grows with the square.
_MOST = 24


def neighbor_product(
    blocks: Blocks,
    n_neighbors: int,
    mean: Array,
    scale: Array,
    check: CheckRows,
) -> Delayed:
    """``H = XᵀLX`` with the Laplacian L of the exact neighbor graph.

    Rows are compared as ``(X - mean) / scale``; H is that of unscaled rows. ``check``
    checks the rows of a block, given its number and its first and last row.
    """
    groups = _joined(blocks.blocks, check)
    scaling = delayed((mean, scale))
    near = []
    for start, stop, X in groups:
        found = [
            delayed(found_among)(X, other, n_neighbors + 1, scaling, first)
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


def _joined(blocks: list[Block], check: CheckRows) -> list[tuple[int, int, Delayed]]:
    """Join blocks to at most ``_MOST`` groups; return (start, stop, rows) of each."""
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
    check: CheckRows,
    number: int,
    start: int,
    stop: int,
    X: Matrix,
) -> Matrix:
    return check(X, number, start, stop)
