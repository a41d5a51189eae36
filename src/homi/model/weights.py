"""Checks of ``sample_weight`` and ``label_weight``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from homi.linalg import Array
from homi.moments import check_weights
from homi.typing import Matrix


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


def check_label_weight(label_weight: Any, names: NDArray[Any]) -> Array | None:
    """Return one positive weight for each label, or None where all are 1."""
    if label_weight is None:
        return None
    weights = np.asarray(label_weight, dtype=np.float64)
    if weights.shape != names.shape:
        raise ValueError(
            f"label_weight has shape {weights.shape} for {len(names)} labels; pass one "
            "number for each label."
        )
    wrong = ~((weights > 0) & np.isfinite(weights))
    if wrong.any():
        first = int(wrong.argmax())
        raise ValueError(
            "label_weight must hold positive finite numbers, got "
            f"{weights[first]:g} for the label {names[first]!r}; leave labels that "
            "must not count out of Y."
        )
    return None if (weights == 1).all() else weights


def drop_zero_weight(
    X: Matrix, Y: Matrix, weights: Array | None
) -> tuple[Any, Any, Array | None]:
    """Return rows of positive weight, their labels and weights."""
    if weights is None or weights.all():
        return X, Y, weights
    kept = np.flatnonzero(weights)
    return X[kept], Y[kept], weights[kept]
