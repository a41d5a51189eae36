"""Checks of ``label_weight``."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from homi.linalg import Array
from homi.typing import Names


def check_label_weight(label_weight: ArrayLike | None, names: Names) -> Array | None:
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
