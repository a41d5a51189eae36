"""Dask collections -> moments, where the data is; only moments are moved."""

from dask.delayed import delayed

from homi.distributed.blocks import Block, Blocks, columns_like, row_blocks
from homi.distributed.exact import neighbour_product
from homi.distributed.predict import lazily
from homi.distributed.sample import taken
from homi.distributed.tasks import computed, fused, tree_sum

__all__ = [
    "Block",
    "Blocks",
    "columns_like",
    "computed",
    "delayed",
    "fused",
    "lazily",
    "neighbour_product",
    "row_blocks",
    "taken",
    "tree_sum",
]
