"""Sum a function of rows and labels over blocks, computed where the blocks are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from dask.delayed import delayed
from dask.sizeof import sizeof

from homi.distributed.blocks import Blocks
from homi.distributed.tasks import computed, each, fused, tree_sum
from homi.graph.anchors import AnchorEdges, AnchorMoments
from homi.moments import Moments
from homi.typing import Matrix

S = TypeVar("S")

#: Checks rows and labels of a block, given its number and its first and last row.
Check = Callable[[Matrix, Matrix, int, int, int], tuple[Matrix, Matrix]]

#: A function of rows and labels, or of the first row's place too, with sums.
Function = Callable[..., S]


def summed(
    blocks: Blocks, function: Function[S], check: Check, *, placed: bool = False
) -> S:
    """Sum a function of the checked rows and labels over all blocks.

    If ``placed``, it is also given the place of the first row.
    """
    shared = delayed((function, check, placed))
    parts = each(_part, [(shared, *block) for block in blocks.blocks])
    return computed(tree_sum(fused(parts)))


def _part(
    shared: tuple[Function[S], Check, bool],
    number: int,
    start: int,
    stop: int,
    X: Matrix,
    y: Matrix,
) -> S:
    """Compute the contribution of a block; runs on its worker."""
    function, check, placed = shared
    return function(*check(X, y, number, start, stop), *([start] if placed else []))


def _size(value: Moments | AnchorEdges | AnchorMoments) -> int:
    return sum(sizeof(part) for part in vars(value).values())


# Dask schedules by size, and does not measure attributes of objects.
sizeof.register((Moments, AnchorEdges, AnchorMoments), _size)
