"""Rows of a fit of HOMICV in the blocks of Dask collections."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from homi.arrays import dense
from homi.model.batches import BlockFunction, S, Sample, sample_places
from homi.model.block_checks import checked_block
from homi.model.dask_rows import DaskRows
from homi.typing import Matrix


@dataclass(frozen=True)
class DaskBatches:
    """Rows and labels in blocks; sums are taken where the blocks are.

    Only the sample and the sums are moved.
    """

    rows: DaskRows
    seed: int
    most: int

    way = DaskRows.way
    all_rows = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.rows.shape[0]

    @cached_property
    def sample(self) -> Sample:
        """The rows that a stream of all rows would keep."""
        from homi.distributed import taken_with_labels

        places = sample_places(self.n, self.seed, self.most)
        X, Y = taken_with_labels(self.rows.blocks, places, self._check)
        return Sample(X, np.asarray(dense(Y), dtype=np.float64), None, places)

    def summed(self, stage: str, function: BlockFunction[S]) -> S:
        """Sum a function over all rows, in a fixed order."""
        from homi.distributed import summed

        placed = partial(_unweighted, function)
        return summed(self.rows.blocks, placed, self._check, placed=True)

    @property
    def _check(self) -> partial[tuple[Matrix, Matrix]]:
        return partial(checked_block, expected=self.rows.expected)


def _unweighted(function: BlockFunction[S], X: Matrix, Y: Matrix, start: int) -> S:
    return function(X, Y, None, start)
