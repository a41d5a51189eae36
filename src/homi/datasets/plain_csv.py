"""Parser of CSV and TSV files with Python's csv module, where pyarrow is missing.

It gives the same names and values as `homi.datasets.tables`, only slower.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from homi.budget import Budget, Refused
from homi.datasets.dataset import Content, Table
from homi.datasets.files import at_line, lines, short
from homi.datasets.sniff import Dialect, sniff
from homi.datasets.strings import from_strings

#: Bytes of a cell with its float64, and per byte of text.
_CELL, _TEXT = 120, 4
#: Lines of another number of cells that an error names.
_NAMED = 10


class UnequalRows(Refused):
    """Lines that do not have one cell for each column.

    Attributes
    ----------
    lines : list of int
        The first of these lines.
    count : int
        How many there are.
    is_one_each : bool
        Whether none of them goes on in the next line.
    others : tuple
        Names and columns of all other lines.
    """

    def __init__(
        self, reason: str, lines: list[int], found: Unequal, others: tuple[Any, Any]
    ) -> None:
        count = found.count
        more = f", and {count - len(lines)} more" if count > len(lines) else ""
        named = ", ".join(map(str, lines))
        all_lines = f" All {count} such lines: {named}{more}." if count > 1 else ""
        super().__init__(f"line {lines[0]}: {reason}{all_lines}")
        self.lines, self.count, self.others = lines, count, others
        self.is_one_each = found.is_one_each


class Unequal:
    """Rows of another number of cells than the header, as a parser meets them."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.count, self.reason, self.is_one_each = 0, "", True

    def add(self, row: int, expected: int, found: int, text: str) -> None:
        """Remember a row, by its number or its line."""
        if not self.count:
            cells = f"{text[:100]}{'…' * (len(text) > 100)}"
            self.reason = f"Expected {expected} columns, got {found}: {cells}"
        self.count += 1
        self.is_one_each &= "\n" not in text.rstrip("\n")
        if len(self.rows) < _NAMED:
            self.rows.append(row)

    def error(self, lines: list[int], others: tuple[Any, Any]) -> UnequalRows:
        """Return the error that names these rows by their lines."""
        end = "." if self.count > 1 and not self.reason.endswith((".", "…")) else ""
        return UnequalRows(self.reason + end, lines, self, others)


def parse_text(path: Path, budget: Budget) -> Content:
    """Parse a CSV or TSV file whose first line names the columns."""
    dialect = sniff(path, budget)
    return content(*text_columns(path, budget, dialect), budget, dialect.decimal)


def text_columns(
    path: Path, budget: Budget, dialect: Dialect
) -> tuple[list[str], list[list[str]]]:
    """Return the names and the columns, as strings, of a CSV or TSV file."""
    count, unequal = n_columns(path, budget, dialect), Unequal()
    rows = []
    for line, row in _rows(path, budget, dialect):
        if len(row) != count:
            unequal.add(line, count, len(row), dialect.delimiter.join(row))
            continue
        budget.take(_CELL * count + _TEXT * sum(map(len, row)), "its cells")
        rows.append(row)
    names, *body = rows
    columns = [list(column) for column in zip(*body, strict=True)]
    found = names, columns or [[] for _ in names]
    if unequal.count:
        raise unequal.error(unequal.rows, found)
    return found


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
