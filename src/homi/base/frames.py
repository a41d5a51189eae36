"""Data frame in, data frame out: predictions with the names of the labels."""

from __future__ import annotations

import sys
from typing import Any

from numpy.typing import NDArray

from homi.typing import Names


def like_frame(X: Any, values: NDArray[Any], names: Names) -> Any:
    """Return values as a data frame of the library of X, or as they are for others.

    A data frame of pandas keeps its index. Neither library is imported.
    """
    if _is_frame(X, "pandas"):
        frame = sys.modules["pandas"].DataFrame
        return frame(values, index=X.index, columns=names.tolist())
    if _is_frame(X, "polars"):
        return sys.modules["polars"].DataFrame(values, schema=[str(n) for n in names])
    return values


def _is_frame(X: object, library: str) -> bool:
    loaded = sys.modules.get(library)
    return loaded is not None and isinstance(X, loaded.DataFrame)
