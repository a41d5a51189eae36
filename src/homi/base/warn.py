"""Warnings that point at the user's line."""

from __future__ import annotations

import sys
import warnings

#: Packages whose frames stand between a user's call and a warning.
_OURS = {"homi", "sklearn", "contextlib"}


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first caller outside the library and scikit-learn."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _package(frame.f_back) in _OURS:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _package(frame: object) -> str:
    name: str = frame.f_globals.get("__name__", "")  # type: ignore[attr-defined]
    return name.partition(".")[0]
