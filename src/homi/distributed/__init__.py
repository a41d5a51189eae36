"""Moments of Dask collections, computed by the workers that hold the data."""

from homi.extras import optional

with optional("homi.distributed"):
    from homi.distributed.blocks import Block, Blocks, columns_like, row_blocks
    from homi.distributed.exact import neighbor_product
    from homi.distributed.predict import lazily
    from homi.distributed.sample import taken, taken_with_labels
    from homi.distributed.sums import summed
    from homi.distributed.tasks import computed, fused, tree_sum

__all__ = [
    "Block",
    "Blocks",
    "columns_like",
    "computed",
    "fused",
    "lazily",
    "neighbor_product",
    "row_blocks",
    "summed",
    "taken",
    "taken_with_labels",
    "tree_sum",
]
