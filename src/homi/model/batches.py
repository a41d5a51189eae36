"""Rows of a fit as HOMICV needs them: a sample to choose on, and sums over all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from homi.arrays import dense
from homi.graph.reservoir import drawn
from homi.linalg import Array
from homi.model.missing_labels import cell_weights
from homi.typing import Indices, Mask, Matrix

#: Maximum rows of the sample that choices are made on; fewer rows are all in it.
SAMPLE_ROWS = 20_000

#: Numbers in a block of features: 48 MB.
_BLOCK = 6 * 2**20


class Sample(NamedTuple):
    """Rows that are held, their labels (0/1) and weights, and their places.

    ``known`` is False where a label is missing, and None where all are known.
    """

    X: Matrix
    Y: Array
    weights: Array | None
    rows: Indices
    known: Mask | None = None

    @property
    def cells(self) -> Array | None:
        """Weights of the rows or, where labels are missing, of single labels."""
        if self.known is None:
            return self.weights
        return cell_weights(self.known, self.weights)


S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)


class BlockFunction(Protocol[S_co]):
    """A function of rows, labels, weights and the place of the first row.

    Values for different rows can be added. It is sent to the workers of a cluster, so
    that it must be picklable, and splits large blocks itself.
    """

    def __call__(self, X: Matrix, Y: Matrix, weights: Array | None, start: int) -> S_co:
        """Return the sum over the rows."""


class HeldRows(Protocol):
    """Rows in memory, with their labels and weights."""

    @property
    def X(self) -> Matrix:
        """The rows."""

    @property
    def Y(self) -> Matrix:
        """Their labels."""

    @property
    def weights(self) -> Array | None:
        """Weights of the rows; None for 1 each."""

    @property
    def known(self) -> Mask | None:
        """False where a label is missing; None where all are known."""

    @property
    def cells(self) -> Array | None:
        """Weights of the rows or, where labels are missing, of single labels."""


class Batches(Protocol):
    """All rows of a fit, wherever they are."""

    #: What they are, for error messages.
    way: str

    @property
    def seed(self) -> int:
        """Seed of the sample, and of everything that follows."""

    @property
    def n(self) -> int:
        """Number of rows."""

    @property
    def sample(self) -> Sample:
        """Rows by a rule of their places: the same ones however rows are split."""

    @property
    def all_rows(self) -> HeldRows | None:
        """All rows; None where they are not in memory."""

    def summed(self, stage: str, function: BlockFunction[S]) -> S:
        """Sum a function over all rows; ``stage`` names the pass over them."""


def is_whole(batches: Batches) -> bool:
    """Return True if the sample has all rows."""
    return len(batches.sample.rows) == batches.n


def rows_in_memory(batches: Batches) -> HeldRows | None:
    """Return all rows; None if only a sample of them is in memory."""
    return batches.sample if is_whole(batches) else batches.all_rows


@dataclass(frozen=True)
class RowsInMemory:
    """Rows as an array or a CSR matrix, and their labels.

    The sample has at most ``most`` rows; all rows, if labels are missing.
    """

    X: Matrix
    Y: Matrix
    weights: Array | None
    seed: int
    most: int
    known: Mask | None = None

    way = "an array"

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def cells(self) -> Array | None:
        """Weights of the rows; the sample has all rows where labels are missing."""
        return self.weights

    @property
    def all_rows(self) -> HeldRows:
        """All rows: these."""
        return self

    @cached_property
    def sample(self) -> Sample:
        """All rows where they are few; otherwise those that a stream would keep."""
        X, Y, weights = self.X, self.Y, self.weights
        most = self.most if self.known is None else self.n
        rows = sample_places(self.n, self.seed, most)
        if len(rows) < self.n:
            weights = None if weights is None else weights[rows]
            X, Y = X[rows], Y[rows]
        Y = np.asarray(dense(Y), dtype=np.float64)
        return Sample(X, Y, weights, rows, self.known)

    def summed(self, stage: str, function: BlockFunction[S]) -> S:
        """Sum a function over all rows."""
        return function(self.X, self.Y, self.weights, 0)


def sample_places(n: int, seed: int, most: int) -> Indices:
    """Return the places of the sample among n rows; all of them where they are few."""
    return np.arange(n) if n <= most else drawn(n, 1, seed, most)


def row_slices(n: int, width: int) -> Iterator[slice]:
    """Yield slices of n rows whose ``width`` numbers each fit into a block."""
    step = max(_BLOCK // max(width, 1), 1)
    return (slice(first, first + step) for first in range(0, n, step))
