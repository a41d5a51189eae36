"""Columns of strings -> numbers, or positions in lists of words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from homi.datasets.files import number, short

#: Numbers, or positions and the list of words; NaN if missing.
Column: TypeAlias = tuple[NDArray[np.float64], list[str] | None]

#: Strings that mean a missing value.
MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "null", "NULL", "None")

#: Most distinct strings of a nominal column. A column with more, or with a different
#: string in each of more than FEW_ROWS rows, is free text.
MAX_NOMINAL, FEW_ROWS = 256, 20

_DATE = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}([T ].*)?", re.ASCII)


#: A number with a decimal comma.
COMMA_NUMBER = r"^[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?$"


def from_strings(strings: Sequence[str], decimal: str = ".") -> Column:
    """Convert strings to numbers, or to positions in the sorted list of words."""
    place: dict[str, int] = {}
    trimmed = [string.strip() for string in strings]
    absent = frozenset(MISSING)
    positions = [
        np.nan if word in absent else place.setdefault(word, len(place))
        for word in trimmed
    ]
    return from_words(list(place), np.array(positions, dtype=np.float64), decimal)


def from_words(
    words: list[str], positions: NDArray[np.float64], decimal: str = "."
) -> Column:
    """Convert positions in a list of distinct words; NaN is a missing value."""
    as_numbers = [_number_or_none(_with_point(word, decimal)) for word in words]
    if None not in as_numbers:
        return _looked_up(as_numbers, positions), None
    _check_nominal(words, as_numbers, len(positions))
    order = sorted(words)
    rank = {word: float(i) for i, word in enumerate(order)}
    return _looked_up([rank[word] for word in words], positions), order


def _check_nominal(words: list[str], numbers: list[float | None], n_rows: int) -> None:
    text = words[numbers.index(None)]
    if any(value is not None for value in numbers):
        mixed = next(w for w, v in zip(words, numbers, strict=True) if v is not None)
        raise ValueError(
            f"mixes numbers, such as {short(mixed)}, with text, such as {short(text)}; "
            "write numbers only, without units or separators of thousands, and leave "
            "cells without a number empty."
        )
    if all(_DATE.fullmatch(word) for word in words):
        raise ValueError(
            f"holds dates, such as {short(text)}; remove it, or convert it to numbers."
        )
    if len(words) > MAX_NOMINAL or FEW_ROWS < n_rows == len(words):
        raise ValueError(
            f"is free text, with {len(words)} distinct values such as {short(text)}; "
            "remove it, or convert it to numbers."
        )


def _with_point(text: str, decimal: str) -> str:
    """Return a number with a decimal comma as one with a point; other texts stay."""
    is_number = decimal == "," and re.match(COMMA_NUMBER, text)
    return text.replace(",", ".") if is_number else text


def _number_or_none(text: str) -> float | None:
    try:
        return number(text)
    except ValueError:
        return None


def _looked_up(
    table: Sequence[float | None], positions: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return ``table[positions]``; NaN positions give NaN."""
    known = ~np.isnan(positions)
    found = np.full(len(positions), np.nan)
    found[known] = np.array(table, dtype=np.float64)[positions[known].astype(np.intp)]
    return found
