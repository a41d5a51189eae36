"""Checks of ``sample_weight``."""

from __future__ import annotations

from typing import Any

import numpy as np

from homi.moments import check_weights
from homi.typing import Array, Matrix


def check_sample_weight(sample_weight: Any, n: int) -> Array | None:
    """Return one weight for each of n rows, or None where all are 1.

    A single number is the weight of every row.
    """
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    weights = check_weights(weights, n, "sample_weight")
    return None if (weights == 1).all() else weights


def drop_zero_weight(
    X: Matrix, Y: Matrix, weights: Array | None
) -> tuple[Any, Any, Array | None]:
    """Return rows of positive weight, their labels and weights."""
    if weights is None or weights.all():
        return X, Y, weights
    kept = np.flatnonzero(weights)
    return X[kept], Y[kept], weights[kept]
