"""Parser of CSV and TSV files with Python's csv module, where pyarrow is missing.

It gives the same names and values as `homi.datasets.tables`, only slower.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from homi.budget import Budget, Refused
from homi.datasets.dataset import Content, Table
from homi.datasets.files import at_line, lines, short
from homi.datasets.sniff import Dialect, sniff
from homi.datasets.strings import from_strings

#: Bytes of a cell with its float64, and per byte of text.
_CELL, _TEXT = 120, 4


def parse_text(path: Path, budget: Budget) -> Content:
    """Parse a CSV or TSV file whose first line names the columns."""
    dialect = sniff(path, budget)
    return content(*text_columns(path, budget, dialect), budget, dialect.decimal)


def text_columns(
    path: Path, budget: Budget, dialect: Dialect
) -> tuple[list[str], list[list[str]]]:
    """Return the names and the columns, as strings, of a CSV or TSV file."""
    count = n_columns(path, budget, dialect)
    rows = []
    for line, row in _rows(path, budget, dialect):
        if len(row) != count:
            cells = dialect.delimiter.join(row)
            reason = f"Expected {count} columns, got {len(row)}: {cells[:100]}"
            raise at_line(line, reason)
        budget.take(_CELL * count + _TEXT * sum(map(len, row)), "its cells")
        rows.append(row)
    names, *body = rows
    columns = [list(column) for column in zip(*body, strict=True)]
    return names, columns or [[] for _ in names]


def texts(column: list[str], name: str, budget: Budget | None) -> list[str]:
    """Return the values of a column."""
    return column


def vectors(column: list[str]) -> None:
    """Return None: cells of text files are strings."""


def as_column(strings: list[str]) -> list[str]:
    """Return strings as a column."""
    return strings


def content(
    names: list[str],
    columns: list[list[str]],
    budget: Budget | None = None,
    decimal: str = ".",
) -> Content:
    """Convert columns to numbers, or to positions in lists of strings."""
    n_rows = len(columns[0]) if columns else 0
    values, nominal = np.empty((n_rows, len(columns))), {}
    for j, (name, column) in enumerate(zip(names, columns, strict=True)):
        try:
            values[:, j], words = from_strings(column, decimal)
        except ValueError as error:
            raise Refused(f"column {short(name)} {error}") from error
        if words is not None:
            nominal[j] = words
    return Content(Table(names, values, nominal, budget))


def n_columns(path: Path, budget: Budget, dialect: Dialect, each: int = 0) -> int:
    """Count and charge the columns in the header, `each` bytes per column."""
    try:
        text = _charged_lines(path, budget, dialect.encoding)
        rows = csv.reader(text, delimiter=dialect.delimiter)
        header = next((row for row in rows if row), [])
    except csv.Error as error:
        raise Refused(f"line 1: the header cannot be parsed: {error}.") from error
    if not header:
        raise Refused("is empty; its first line must name the columns.")
    budget.take_columns(len(header), each)
    return len(header)


def _charged_lines(path: Path, budget: Budget, encoding: str) -> Iterator[str]:
    """Yield and charge the lines of a header; quotes may span many of them."""
    for _, line in lines(path, budget, encoding):
        budget.take(16 * len(line), "its columns")
        yield line


def _rows(
    path: Path, budget: Budget, dialect: Dialect
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not empty, header included, and their first lines."""
    text = (line for _, line in lines(path, budget, dialect.encoding))
    reader, start = csv.reader(text, delimiter=dialect.delimiter), 1
    with _long_fields(budget.line):
        try:
            for row in reader:
                if row:
                    yield start, row
                start = reader.line_num + 1
        except csv.Error as error:
            raise at_line(start, f"{error}.") from error


@contextmanager
def _long_fields(limit: int) -> Iterator[None]:
    """Let the csv module read long texts; its limit is one for the whole process."""
    before = csv.field_size_limit(limit)
    try:
        yield
    finally:
        csv.field_size_limit(before)
