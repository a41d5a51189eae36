"""Warnings that name the line of the user's program."""

from __future__ import annotations

import sys
import warnings
from types import FrameType
from typing import Any

#: Packages whose frames stand between a user's call and a warning.
_BETWEEN = {"homi", "sklearn", "joblib", "contextlib"}


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first caller outside the library and scikit-learn."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _package(frame) in _BETWEEN:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def warn_of_row_order(X: object, Y: object, x_name: str = "X", name: str = "y") -> None:
    """Warn if two data frames have the same index in different orders.

    Rows are matched by position, as in scikit-learn.
    """
    index: Any = getattr(X, "index", None)
    other: Any = getattr(Y, "index", None)
    if not hasattr(index, "equals") or not hasattr(other, "equals"):
        return
    if not index.equals(other) and set(index) == set(other):
        warn(
            f"{name} has the index of {x_name} in another order, but rows are matched "
            f"by position: pass {name}.loc[{x_name}.index], or {name}.to_numpy() if "
            "the positions are right."
        )


def _package(frame: FrameType) -> str:
    name: str = frame.f_globals.get("__name__", "")
    return name.partition(".")[0]
