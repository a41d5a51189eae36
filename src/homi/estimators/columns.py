"""Columns of a dense or sparse matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from homi.arrays import dense


def columns_of(Y: Any, columns: NDArray[np.intp]) -> NDArray[np.float64]:
    """Some columns as a dense array."""
    part = Y[:, columns]
    return dense(part)
