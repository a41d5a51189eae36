"""Rows in the blocks of Dask collections; Dask is imported only for them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from homi.base.targets import Target, check_target
from homi.graph import AnchorPlan, anchor_moments, plan_anchors
from homi.graph.laplacian import possible_neighbors
from homi.graph.reservoir import drawn
from homi.linalg import Array
from homi.model.batch_checks import batch_target
from homi.model.block_checks import Expected, checked_block, checked_rows
from homi.model.features import FeatureSpace
from homi.model.graphs import Sums, choose_graph, scaled_moments
from homi.model.rows_input import Built
from homi.moments import Moments
from homi.typing import Fields, Matrix

if TYPE_CHECKING:
    from homi.distributed.blocks import Blocks
    from homi.model.route import Route

S = TypeVar("S")

log = logging.getLogger("homi")


def is_collection(data: object) -> bool:
    """Return True for Dask arrays, data frames and series."""
    return hasattr(data, "__dask_graph__")


@dataclass(frozen=True)
class DaskRows:
    """Rows and labels in blocks, which are checked where they are."""

    blocks: Blocks
    target: Target
    sample_weight: ArrayLike | None = None
    label_weight: Array | None = None

    way = "a Dask collection"
    in_memory = None

    @classmethod
    def of(
        cls,
        model: BaseEstimator,
        X: Matrix,
        y: Matrix,
        sample_weight: ArrayLike | None,
    ) -> DaskRows:
        """Check columns and labels without computing rows."""
        _check_both(X, y)
        from homi.distributed import row_blocks

        blocks = row_blocks(X, y)
        validate_data(model, blocks.X_like, skip_check_array=True)
        return cls(blocks, _described(blocks), sample_weight)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        n, m = self.blocks.shape
        return n, m

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return len(self.target.names)

    @property
    def given(self) -> Fields:
        """``sample_weight`` and ``label_weight``; None for what was not given."""
        return {
            "sample_weight": self.sample_weight,
            "label_weight": self.label_weight,
        }

    def graph(self, name: str) -> str:
        """Return the graph to build: "auto" is exact or anchors."""
        if name != "auto":
            return name
        # Lists of all rows would have to be in one memory: it is exact, or anchors.
        exact = choose_graph(self, free=0.0)[0] == "exact"
        chosen = "exact" if exact else "anchors"
        log.info(
            "graph='auto' is %r for %s rows in blocks.", chosen, f"{self.shape[0]:,}"
        )
        return chosen

    def build(self, route: Route) -> Built:
        """Sum moments over blocks, with the graph of a route."""
        standardize = route.settings.standardize
        if route.graph == "anchors":
            plan = self._plan(route)
            sums = Sums(plan, self._summed(partial(anchor_moments, plan=plan)))
            return Built(FeatureSpace(None, *sums.scaled(standardize)), sums=sums)
        moments = self._summed(Moments.from_rows)
        if route.graph == "exact":
            _, mean, scale = scaled_moments(moments, standardize)
            H = self._neighbor_product(route.settings.n_neighbors, mean, scale)
            moments = replace(moments, H=H)
        return Built(FeatureSpace(None, *scaled_moments(moments, standardize)))

    def _summed(self, function: Callable[[Matrix, Matrix], S]) -> S:
        """Sum a function of rows and labels over all blocks."""
        from homi.distributed import summed

        check = partial(checked_block, expected=self.expected)
        return summed(self.blocks, function, check)

    def _plan(self, route: Route) -> AnchorPlan:
        """Make the plan that a stream of all rows would make."""
        from homi.distributed import taken

        check = partial(checked_rows, expected=self.expected)
        seed = route.seed()
        sample = taken(self.blocks, drawn(*self.shape, seed), check)
        settings = route.settings
        return plan_anchors(
            sample,
            settings.n_neighbors,
            settings.n_anchors,
            standardize=settings.standardize,
            seed=seed,
        )

    def _neighbor_product(self, n_neighbors: int, mean: Array, scale: Array) -> Array:
        """``XᵀLX`` with the exact graph of all rows."""
        from homi.distributed import computed, neighbor_product

        s = possible_neighbors(*self.shape, n_neighbors)
        if s == 0:
            return np.zeros((self.shape[1],) * 2)
        check = partial(checked_rows, expected=self.expected)
        product: Array = computed(neighbor_product(self.blocks, s, mean, scale, check))
        return product

    @property
    def expected(self) -> Expected:
        """What every block must have."""
        is_indicator = self.target.encoding.kind == "multilabel-indicator"
        return Expected(
            self.shape[1],
            self.n_labels,
            _names(self.blocks.X_like),
            _names(self.blocks.y_like),
            None if is_indicator else self.target.classes,
        )


def _check_both(X: Matrix, Y: Matrix) -> None:
    for name, given, other in (("X", X, "y"), ("y", Y, "X")):
        if not is_collection(given):
            raise TypeError(
                f"{other} is a Dask collection and {name} is a "
                f"{type(given).__name__}; pass both as Dask arrays or data frames, or "
                f"compute {other} first."
            )


def _described(blocks: Blocks) -> Target:
    """Names and classes of the labels, without the labels themselves."""
    like = blocks.y_like
    if like.ndim == 1:
        classes = blocks.classes()
        return batch_target(classes, classes)
    dtype = np.asarray(like).dtype
    empty = np.zeros((1, like.shape[1]), dtype=dtype if dtype.kind in "iu" else int)
    target = check_target(empty, compact=False)
    if not hasattr(like, "columns"):
        return target
    return replace(target, names=np.array(list(like.columns), dtype=object))


def _names(like: Matrix) -> tuple[str, ...] | None:
    return tuple(like.columns) if hasattr(like, "columns") else None
