"""What thresholds are chosen for: values of lines of the label matrix.

A line is a row, a column or the whole of the matrix. The value of a line that has p
positives, k predicted labels and h hits among these is a function of the three, and
an objective is the mean of its lines' values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from homi.metrics import METRICS, Metric

Array = NDArray[np.float64]
Labels = NDArray[np.bool_]
Counts = NDArray[np.intp]
Lines = Literal["rows", "columns", "whole"]


class Objective(NamedTuple):
    """Lines, the value of each, and the metric that it amounts to."""

    lines: Lines
    value: Callable[[Any, Any, Any], Array]
    metric: Metric

    def arranged(self, matrix: NDArray[Any]) -> NDArray[Any]:
        """The matrix with one row for each line."""
        if self.lines == "whole":
            return matrix.reshape(1, -1)
        return matrix.T if self.lines == "columns" else matrix


def _right(h: Any, k: Any, p: Any) -> Array:
    """Predicted labels that are right, less those that are wrong.

    Among cuts of one line, this and the Hamming loss differ by constants.
    """
    return 2.0 * h - k


def _f1(h: Any, k: Any, p: Any) -> Array:
    """2h / (p + k), and 0 where nothing is true or predicted."""
    f1: Array = 2.0 * h / np.maximum(p + k, 1)
    return f1


def _exact(h: Any, k: Any, p: Any) -> Array:
    """1 if the predicted labels are the true ones, else 0."""
    return ((h == k) & (h == p)).astype(np.float64)


OBJECTIVES: dict[str, Objective] = {
    "hamming": Objective("whole", _right, METRICS["hamming_loss"]),
    "micro_f1": Objective("whole", _f1, METRICS["micro_f1"]),
    "macro_f1": Objective("columns", _f1, METRICS["macro_f1"]),
    "example_f1": Objective("rows", _f1, METRICS["example_f1"]),
    "subset_accuracy": Objective("rows", _exact, METRICS["exact_match"]),
}
