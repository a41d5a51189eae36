"""Rows in the blocks of dask collections -> what the solver is given."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from homi.graph import AnchorPlan, plan_anchors, tied_moments
from homi.graph.choose import choose_graph
from homi.graph.laplacian import possible_neighbors
from homi.graph.reservoir import drawn
from homi.linalg import Array
from homi.model.block_checks import Expected, checked_block, checked_rows
from homi.model.features import View
from homi.model.graphs import Sums, in_units
from homi.moments import Moments

log = logging.getLogger("homi")


class DaskRows:
    """All rows, in blocks that are checked where they are used.

    Dask is imported here, by those who have it: only its collections lead here.
    """

    def __init__(self, blocks: Any, expected: Expected) -> None:
        self._blocks, self._expected = blocks, expected
        self.shape: tuple[int, int] = blocks.shape

    def summed(self, function: Callable[[Any, Any], Any]) -> Any:
        """The sum over blocks of a function of rows and labels."""
        from homi.distributed import summed

        check = partial(checked_block, expected=self._expected)
        return summed(self._blocks, function, check)

    def sample(self, seed: int) -> Any:
        """The rows that a stream of all of them would keep."""
        from homi.distributed import taken

        check = partial(checked_rows, expected=self._expected)
        return taken(self._blocks, drawn(*self.shape, seed), check)

    def neighbor_product(self, n_neighbors: int, mean: Array, scale: Array) -> Array:
        """``XᵀLX`` with the exact graph of all rows."""
        from homi.distributed import computed, neighbor_product

        s = possible_neighbors(*self.shape, n_neighbors)
        if s == 0:
            return np.zeros((self.shape[1],) * 2)
        check = partial(checked_rows, expected=self._expected)
        return computed(neighbor_product(self._blocks, s, mean, scale, check))


def dask_view(model: Any, rows: DaskRows, weights: Array | None) -> View:
    """The features and the graph that the model's parameters ask for."""
    if weights is not None:
        raise ValueError(
            "sample_weight is not taken with dask collections; compute them first, or "
            "repeat rows."
        )
    model.graph_ = _graph(model, rows) if model.gamma > 0 else "none"
    if model.graph_ == "anchors":
        plan = _plan(model, rows)
        model._sums = Sums(plan, rows.summed(partial(tied_moments, plan=plan)))
        return View(rows, *model._sums.units(model.standardize))
    moments = rows.summed(Moments.from_rows)
    if model.graph_ == "exact":
        _, mean, scale = in_units(moments, model.standardize)
        H = rows.neighbor_product(model.n_neighbors, mean, scale)
        moments = replace(moments, H=H)
    return View(rows, *in_units(moments, model.standardize))


def _graph(model: Any, rows: DaskRows) -> str:
    if model.graph != "auto":
        return str(model.graph)
    # Lists of all rows would have to be in one memory: it is exact, or anchors.
    is_exact = choose_graph(rows, free=0.0)[0] == "exact"
    chosen = "exact" if is_exact else "anchors"
    log.info("graph='auto' is %r for %s rows in blocks.", chosen, f"{rows.shape[0]:,}")
    return chosen


def _plan(model: Any, rows: DaskRows) -> AnchorPlan:
    seed = model._seed()
    return plan_anchors(
        rows.sample(seed),
        model.n_neighbors,
        model.n_anchors,
        standardize=model.standardize,
        seed=seed,
    )
