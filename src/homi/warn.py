"""Warnings that name the line of the user's program."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

#: Packages whose frames stand between a user's call and a warning.
_BETWEEN = {"homi", "sklearn", "joblib", "contextlib"}


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first caller outside the library and scikit-learn."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _package(frame) in _BETWEEN:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _package(frame: FrameType) -> str:
    name: str = frame.f_globals.get("__name__", "")
    return name.partition(".")[0]
