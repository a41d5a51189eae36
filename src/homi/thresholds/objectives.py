"""Objectives that thresholds maximize, as means over lines of the label matrix.

A line is a row, a column or the whole matrix. The value of a line with p positives, k
predicted labels and h hits is a function of the three. An objective is the mean value
of its lines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from homi.metrics import METRICS, Metric
from homi.metrics.checks import check_labels
from homi.typing import Array, Indices, Mask, MatrixLike

D = TypeVar("D", bound=np.generic)

Lines = Literal["rows", "columns", "whole"]
#: An array of counts, broadcast against the others.
Count: TypeAlias = Array | Indices


class Objective(NamedTuple):
    """The kind of line, the value of a line, and the metric that results."""

    lines: Lines
    value: Callable[[Count, Count, Count], Array]
    metric: Metric

    def arranged(self, matrix: NDArray[D]) -> NDArray[D]:
        """Return the matrix with one row per line."""
        if self.lines == "whole":
            return matrix.reshape(1, -1)
        return matrix.T if self.lines == "columns" else matrix

    def weights(self, cells: Array) -> tuple[Array, Array | float]:
        """Return weights of the entries of each line, and of the lines.

        ``cells`` are weights of each label of each row, 0 where it is missing. Lines
        of rows have entries of weight 1 or 0, and the weight of their row.
        """
        if self.lines == "rows":
            return np.where(cells > 0, 1.0, 0.0), cells.max(axis=1)
        return self.arranged(cells), 1.0

    def score(self, Y: Mask, predicted: Mask, cells: Array | None = None) -> float:
        """Return the metric; a weighted one where there are weights of cells."""
        if cells is None:
            return self.metric(Y, predicted)
        if self.value is _right:
            return float(np.average(predicted != Y, weights=cells))
        weights, of_lines = self.weights(cells)
        truth, found = self.arranged(Y), self.arranged(predicted)
        h, k, p = ((weights * A).sum(axis=1) for A in (truth & found, found, truth))
        values = self.value(h, k, p)
        return float(np.average(values, weights=np.broadcast_to(of_lines, h.shape)))


def _right(h: Count, k: Count, p: Count) -> Array:
    """``2h - k``: right predictions minus wrong ones.

    Within one line, this and the negative Hamming loss are equal up to constants.
    """
    return 2.0 * h - k


def _f1(h: Count, k: Count, p: Count) -> Array:
    """``2h / (p + k)``, and 0 where nothing is true or predicted."""
    size = np.asarray(p + k, dtype=np.float64)
    f1: Array = 2.0 * h / np.where(size > 0, size, 1.0)
    return f1


def _exact(h: Count, k: Count, p: Count) -> Array:
    """``[h = k = p]``: 1 if the predicted labels are the true ones, else 0."""
    return ((h == k) & (h == p)).astype(np.float64)


def _jaccard(h: Count, k: Count, p: Count) -> Array:
    """``h / (p + k - h)``, and 0 where nothing is true or predicted."""
    jaccard: Array = h / np.maximum(p + k - h, 1)
    return jaccard


def _mean_jaccard(Y_true: MatrixLike, Y_pred: MatrixLike) -> float:
    """Return the mean over rows of the Jaccard index."""
    Y, P = check_labels(Y_true, Y_pred)
    counts = ((Y & P).sum(axis=1), P.sum(axis=1), Y.sum(axis=1))
    return float(np.mean(_jaccard(*counts)))


_JACCARD = Metric("jaccard", _mean_jaccard, True, "predict", "Jaccard index")

OBJECTIVES: dict[str, Objective] = {
    "hamming": Objective("whole", _right, METRICS["hamming_loss"]),
    "micro_f1": Objective("whole", _f1, METRICS["micro_f1"]),
    "macro_f1": Objective("columns", _f1, METRICS["macro_f1"]),
    "example_f1": Objective("rows", _f1, METRICS["example_f1"]),
    "jaccard": Objective("rows", _jaccard, _JACCARD),
    "subset_accuracy": Objective("rows", _exact, METRICS["exact_match"]),
}
