"""What every reader returns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Dataset(NamedTuple):
    """Rows X (dense, or CSR if the file is sparse), 0/1 labels Y, and names."""

    X: Any
    Y: NDArray[np.int8]
    feature_names: list[str]
    label_names: list[str]
