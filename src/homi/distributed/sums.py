"""What blocks add, where they are, and the sum of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dask.delayed import delayed
from dask.sizeof import sizeof

from homi.distributed.blocks import Blocks
from homi.distributed.tasks import computed, each, fused, tree_sum
from homi.graph.anchors import TiedMoments, Ties
from homi.moments import Moments

#: Checks rows and labels of a block, by its number and its first and last row.
Check = Callable[[Any, Any, int, int, int], tuple[Any, Any]]


def summed(blocks: Blocks, function: Callable[[Any, Any], Any], check: Check) -> Any:
    """The sum over blocks of a function of their rows and labels, once checked."""
    shared = delayed((function, check))
    parts = each(_part, [(shared, *block) for block in blocks.blocks])
    return computed(tree_sum(fused(parts)))


def _part(
    shared: tuple[Callable[[Any, Any], Any], Check],
    number: int,
    start: int,
    stop: int,
    X: Any,
    y: Any,
) -> Any:
    """What a block adds. Runs where the block is."""
    function, check = shared
    return function(*check(X, y, number, start, stop))


def _size(noun: Moments | Ties | TiedMoments) -> int:
    return sum(sizeof(part) for part in vars(noun).values())


# Dask decides by sizes what to move where, and does not look into objects.
sizeof.register((Moments, Ties, TiedMoments), _size)
