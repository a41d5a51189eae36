"""Parser of JSON lines: an object per line, whose keys are the columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from homi.budget import Budget, Refused
from homi.datasets.dataset import Content
from homi.datasets.files import at_line, lines
from homi.datasets.plain_csv import as_column, content, texts, vectors
from homi.datasets.sniff import Dialect

__all__ = ["as_column", "content", "parse_text", "text_columns", "texts", "vectors"]

#: Bytes of a cell with its float64, and per byte of text.
_CELL, _TEXT = 120, 4


def parse_text(path: Path, budget: Budget) -> Content:
    """Parse a file of JSON lines."""
    return content(*text_columns(path, budget, Dialect()), budget)


def text_columns(
    path: Path, budget: Budget, dialect: Dialect
) -> tuple[list[str], list[list[str]]]:
    """Return the names and the columns, as strings; an absent key is a missing value.

    Lists and objects stay JSON.
    """
    rows: list[dict[str, str]] = []
    names: dict[str, None] = {}
    for number, line in lines(path, budget, dialect.encoding):
        if line.strip():
            rows.append(_row(number, line))
            budget.take(_CELL * len(rows[-1]) + _TEXT * len(line), "its cells")
            names.update(dict.fromkeys(rows[-1]))
    if not rows:
        raise Refused("is empty; expected a JSON object on each line.")
    budget.take_columns(len(names))
    budget.take(16 * len(names) * len(rows), f"its {len(names):,} columns")
    return list(names), [[row.get(name, "") for row in rows] for name in names]


def _row(number: int, line: str) -> dict[str, str]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise at_line(number, f"is not JSON: {error}.") from error
    if not isinstance(found, dict):
        raise at_line(number, 'is not a JSON object such as {"a": 1}.')
    return {name: _cell(value) for name, value in found.items()}


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
