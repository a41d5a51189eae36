"""What a column of strings holds: dates, identifiers, texts, or words."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from homi.datasets.files import number, short
from homi.datasets.strings import FEW_ROWS, MAX_NOMINAL, MISSING

Kind = Literal["", "identifier", "text", "many"]

#: What rare words of a column become.
OTHER = "(other)"
#: Features that a date becomes.
PARTS = ("year", "month", "day", "weekday", "hour")
#: Orders of day, month and year, the more common one first.
ORDERS = {"ymd": "year-month-day", "dmy": "day/month/year", "mdy": "month/day/year"}
_DATE = re.compile(
    r"(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})(?:[T ](\d{1,2}):\d{2}.*)?", re.ASCII
)
#: Names of columns that count rows, or name them.
_IDENTIFIER = re.compile(r"(?:.*[\W_])?id|index|unnamed: \d+|", re.IGNORECASE)
#: Mean number of words of a text.
_WORDS = 3


def may_be_special(name: str, some: Sequence[str]) -> bool:
    """Return False for numbers, unless they are named as identifiers or count rows."""
    is_number = any(_is_number(cell.strip()) for cell in some)
    is_identifier = _IDENTIFIER.fullmatch(name) or _counts_rows(some)
    return bool(some) and (not is_number or bool(is_identifier))


def kind_of(name: str, cells: Sequence[str]) -> Kind:
    """Return what a column holds; "" if it holds numbers or few distinct words.

    Examples
    --------
    >>> kind_of("user_id", ["7", "9"]), kind_of("size", ["7", "9"])
    ('identifier', '')
    >>> kind_of("key", [f"k{i}" for i in range(30)])
    'identifier'
    >>> kind_of("nr", [str(i) for i in range(1, 30)])
    'identifier'
    """
    known = [cell for cell in map(str.strip, cells) if cell not in MISSING]
    distinct = set(known)
    is_each = len(distinct) == len(cells)
    if not distinct:
        return ""
    if all(map(_is_whole, distinct)):
        is_named = is_each and _IDENTIFIER.fullmatch(name)
        return "identifier" if is_named or _counts_rows(known) else ""
    is_many = len(distinct) > MAX_NOMINAL
    if not is_many and not FEW_ROWS < len(known) < 2 * len(distinct):
        return ""
    if any(map(_is_number, distinct)):
        return ""  # numbers, or a mistake that the parser explains
    if sum(len(cell.split()) for cell in distinct) >= _WORDS * len(distinct):
        return "text"
    if not is_many and not FEW_ROWS < len(cells) == len(distinct):
        return ""
    return "identifier" if is_each else "many"


def _counts_rows(cells: Sequence[str]) -> bool:
    """Return True for 0, 1, 2 and so on, or 1, 2, 3 and so on."""
    if len(cells) <= FEW_ROWS or cells[0] not in ("0", "1"):
        return False
    first = int(cells[0])
    return all(cell == str(i) for i, cell in enumerate(cells, first))


def _is_whole(cell: str) -> bool:
    return cell.isascii() and cell.isdigit()


def _is_number(cell: str) -> bool:
    try:
        number(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def most_frequent(cells: Sequence[str]) -> list[str]:
    """Return the words that stay in a column of too many, sorted."""
    counts = Counter(cell.strip() for cell in cells if cell.strip() not in MISSING)
    order = sorted(counts, key=lambda word: (-counts[word], word))
    return sorted(order[: MAX_NOMINAL - 1])


def without_rare(cells: Sequence[str], words: Sequence[str]) -> list[str]:
    """Return cells with one word in the place of all that are not among `words`."""
    kept = {*words, *MISSING}
    return [cell if cell.strip() in kept else OTHER for cell in cells]


def date_order(cells: Sequence[str]) -> str | None:
    """Return the order of day, month and year; None if cells are not all dates.

    Examples
    --------
    >>> date_order(["2024-02-29", ""]), date_order(["1/2/2024", "2/29/2024"])
    ('ymd', 'mdy')
    >>> date_order(["2023-02-29"]) is None
    True
    """
    known = {cell.strip() for cell in cells} - {*MISSING}
    if not known:
        return None
    able = (o for o in ORDERS if all(_parts(cell, o) is not None for cell in known))
    return next(able, None)


def date_parts(cells: Sequence[str], order: str, name: str) -> list[list[str]]:
    """Return the year, month, day, weekday and hour of dates, as strings."""
    rows = []
    for i, cell in enumerate(map(str.strip, cells), 1):
        row = [""] * len(PARTS) if cell in MISSING else _parts(cell, order)
        if row is None:
            raise ValueError(
                f"column {short(name)} holds {short(cell)} in row {i}, and held dates "
                f"as {ORDERS[order]} in training; correct it, or leave it empty."
            )
        rows.append(row)
    return [list(part) for part in zip(*rows, strict=True)] or [[] for _ in PARTS]


def _parts(cell: str, order: str) -> list[str] | None:
    found = _DATE.fullmatch(cell)
    if found is None:
        return None
    part = dict(zip(order, (found[1], found[3], found[4]), strict=True))
    if len(part["y"]) != 4:
        return None
    try:
        date = datetime.date(int(part["y"]), int(part["m"]), int(part["d"]))
    except ValueError:
        return None
    numbers = (date.year, date.month, date.day, date.weekday(), int(found[5] or 0))
    return [str(value) for value in numbers]
