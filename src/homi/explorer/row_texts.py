"""Names and texts of rows, where their container has some."""

from __future__ import annotations

from typing import Any

import numpy as np


def row_names_of(X: Any) -> list[str] | None:
    """Return the index of a data frame of pandas, unless it only counts rows.

    Examples
    --------
    >>> import pandas as pd
    >>> row_names_of(pd.DataFrame({"x": [1, 2]}, index=["a.png", "b.png"]))
    ['a.png', 'b.png']
    >>> row_names_of(pd.DataFrame({"x": [1, 2]})) is None
    True
    """
    index = getattr(X, "index", None)
    if index is None or not hasattr(X, "iloc") or index.dtype.kind in "iu":
        return None
    return [str(name) for name in index]


def row_texts_of(X: Any) -> list[str] | None:
    """Return texts that are rows, or the text columns of a data frame.

    Examples
    --------
    >>> row_texts_of(["a red ball", "a box"])
    ['a red ball', 'a box']
    >>> row_texts_of(np.eye(2)) is None
    True
    """
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        return _frame_texts(X)
    if isinstance(X, list | tuple) or (isinstance(X, np.ndarray) and X.ndim == 1):
        return list(X) if all(isinstance(x, str) for x in X) else None
    return None


def _frame_texts(X: Any) -> list[str] | None:
    columns = [
        [cell if isinstance(cell, str) else "" for cell in X.iloc[:, k]]
        for k in range(X.shape[1])
        if X.dtypes.iloc[k].kind not in "biufcmM"
    ]
    columns = [column for column in columns if any(column)]
    if not columns:
        return None
    cells = zip(*columns, strict=True)
    return [" · ".join(filter(None, row)) for row in cells]
