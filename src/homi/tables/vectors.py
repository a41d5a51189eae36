"""Cells that are lists of numbers, such as embeddings -> one matrix."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from homi.typing import Array

_LISTS = (list, tuple, np.ndarray)


def as_vectors(cells: Sequence[Any]) -> Array | None:
    """Return cells that are lists of equally many numbers; None if they are not lists.

    A cell may also be a list as JSON writes it. Missing lists are a ValueError.

    Examples
    --------
    >>> as_vectors(["[1, 2]", [0.5, 3]])
    array([[1. , 2. ],
           [0.5, 3. ]])
    >>> as_vectors(["[red]"]) is None, as_vectors([1.0]) is None
    (True, True)
    """
    if not _is_list(next((cell for cell in cells if not _is_missing(cell)), None)):
        return None
    rows = [None if _is_missing(cell) else _numbers(cell) for cell in cells]
    if missing := rows.count(None):
        if missing > sum(map(_is_missing, cells)):
            return None
        raise ValueError(
            f"{missing} of {len(rows)} rows have no list of numbers, and others have "
            "one; give each row a list."
        )
    lengths = {len(row) for row in rows if row is not None}
    if len(lengths) > 1 or 0 in lengths:
        raise ValueError(
            f"lists of numbers have {min(lengths)} to {max(lengths)} entries; vectors "
            "must have equal lengths."
        )
    return np.array(rows, dtype=np.float64)


def _is_list(cell: Any) -> bool:
    if isinstance(cell, str):
        return cell.lstrip()[:1] == "["
    return isinstance(cell, _LISTS)


def _is_missing(cell: Any) -> bool:
    """Return True for empty cells, and for NaN, None or a number among lists."""
    return not cell.strip() if isinstance(cell, str) else not isinstance(cell, _LISTS)


def _numbers(cell: Any) -> list[float] | None:
    """Return the numbers of a cell; None if it holds anything else."""
    if isinstance(cell, str):
        try:
            cell = json.loads(cell)
        except (ValueError, RecursionError):
            return None
    if not isinstance(cell, _LISTS):
        return None
    values = list(cell)
    is_sound = all(isinstance(v, _NUMBERS) and type(v) is not bool for v in values)
    return [float(value) for value in values] if is_sound else None


_NUMBERS = (int, float, np.integer, np.floating)
