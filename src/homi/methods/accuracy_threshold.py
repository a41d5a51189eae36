"""One threshold for all labels: that of the highest example-based accuracy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from homi.arrays import dense

Array = NDArray[np.float64]

#: Numbers in a block of scores.
_BLOCK = 2**20

#: How many thresholds, from 0 to the highest score, are compared.
_CANDIDATES = 51


def most_accurate_threshold(scores: Callable[[Any], Array], X: Any, Y: Any) -> float:
    """The candidate with the highest example-based accuracy; the lowest of equals."""
    step = max(1, _BLOCK // max(Y.shape[1], _CANDIDATES))
    blocks = [slice(i, i + step) for i in range(0, Y.shape[0], step)]
    highest = max(float(scores(X[rows]).max()) for rows in blocks)
    candidates = np.linspace(0.0, max(highest, 0.0), _CANDIDATES)
    sums = [accuracies(scores(X[rows]), Y[rows], candidates) for rows in blocks]
    accuracy = np.sum(sums, axis=0)
    # Sums of thirds and sevenths that are equal differ by rounding.
    equals = accuracy >= accuracy.max() - 1e-9
    return float(candidates[np.argmax(equals)])


def accuracies(scores: Array, Y: Any, candidates: Array) -> Array:
    """``Σ |Ŷ ∩ Y| / |Ŷ ∪ Y|`` over rows, for Ŷ the scores above each candidate."""
    Y = dense(Y)
    shape = len(scores), len(candidates) + 1
    cells = np.searchsorted(candidates, scores)
    cells += shape[1] * np.arange(shape[0])[:, None]

    def count(weights: Array) -> Array:
        table = np.bincount(cells.ravel(), weights.ravel(), shape[0] * shape[1])
        return table.reshape(shape)[:, :0:-1].cumsum(axis=1)[:, ::-1]

    both = count(Y)
    either = count(1.0 - Y) + Y.sum(axis=1)[:, None]
    return np.divide(both, either, out=np.ones_like(both), where=either > 0).sum(axis=0)
