"""A data frame as a source of columns, as a file is one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from homi.datasets.dataset import Table
from homi.datasets.files import short
from homi.datasets.labels import check_unique
from homi.datasets.strings import MISSING, Column, from_strings
from homi.tables.vectors import as_vectors
from homi.typing import Array

#: Numbers, vectors as rows, or strings; "" is a missing one.
FrameColumn: TypeAlias = "NDArray[Any] | list[str]"

_NUMBERS = (bool, int, float, np.number, np.bool_)

#: Name of the column that a list of texts becomes.
TEXT = "text"


@dataclass(frozen=True)
class Frame:
    """Columns of a data frame; implements ``ColumnSource``."""

    names: list[str]
    columns: list[FrameColumn]

    @classmethod
    def of(cls, X: Any) -> Frame:
        """Return the columns of a data frame, of a dict of columns, or of texts."""
        if not hasattr(X, "columns") and not isinstance(X, Mapping):
            X = {TEXT: _texts(X)}
        names = list(X.columns if hasattr(X, "columns") else X)
        check_unique([str(name) for name in names], "column")
        if not names or not len(X[names[0]]):
            raise ValueError("the table has no rows; pass one with one or more.")
        return cls([str(n) for n in names], [_column(X[n], str(n)) for n in names])

    def first_strings(self, name: str, most: int = 1000) -> list[str]:
        """Return the first strings, or whole numbers, of a column."""
        column = self.columns[self.position(name)]
        if isinstance(column, list):
            return [cell for cell in column[:most] if cell]
        some = column[:most]
        is_whole = some.ndim == 1 and np.array_equal(some, np.trunc(some))
        return [_written(value) for value in some] if is_whole else []

    def texts(self, names: list[str]) -> list[str]:
        """Return one text per row, several columns joined; a missing text is empty."""
        columns = [self._strings(name) for name in names]
        return ["\n".join(cells) for cells in zip(*columns, strict=True)]

    def _strings(self, name: str) -> list[str]:
        column = self.columns[self.position(name)]
        return column if isinstance(column, list) else [_written(v) for v in column]

    def is_empty(self, name: str) -> bool:
        """Return True if every cell of a column is missing."""
        column = self.columns[self.position(name)]
        if isinstance(column, list):
            return all(cell.strip() in MISSING for cell in column)
        return bool(np.isnan(column).all())

    def vectors(self, name: str) -> Array | None:
        """Return a column whose cells are lists of numbers; None for any other."""
        column = self.columns[self.position(name)]
        if isinstance(column, list):
            return None
        return column if column.ndim == 2 else None

    def replaced(self, name: str, new: dict[str, list[str]]) -> Frame:
        """Return the frame with other columns in the place of one."""
        j, names, columns = self.position(name), [*self.names], [*self.columns]
        names[j : j + 1] = new
        columns[j : j + 1] = new.values()
        check_unique(names, "column")
        return Frame(names, columns)

    def position(self, name: str) -> int:
        """Return the position of a column."""
        if name not in self.names:
            raise ValueError(
                f"there is no column {short(name)}; the columns are "
                f"{', '.join(map(short, self.names[:5]))}."
            )
        return self.names.index(name)

    def take(self, columns: list[int]) -> Table:
        """Return columns as numbers, or as positions in lists of words."""
        n_rows = len(self.columns[0]) if self.columns else 0
        values, nominal = np.empty((n_rows, len(columns))), {}
        for new, old in enumerate(columns):
            column, words = self.columns[old], None
            if isinstance(column, list):
                column, words = _parsed(self.names[old], column)
            values[:, new] = column
            if words is not None:
                nominal[new] = words
        return Table([self.names[j] for j in columns], values, nominal)


def _parsed(name: str, cells: list[str]) -> Column:
    try:
        return from_strings(cells)
    except ValueError as error:
        raise ValueError(f"column {short(name)} {error}") from error


def _texts(X: Any) -> Sequence[str]:
    if isinstance(X, str):
        raise TypeError("expected a list of texts, got one text; pass it as [text].")
    texts = X.tolist() if hasattr(X, "tolist") else X
    if isinstance(texts, list | tuple):
        texts = ["" if _is_missing(text) else text for text in texts]
        if all(isinstance(text, str) for text in texts):
            return texts
    raise TypeError(
        f"expected a data frame, a dict of columns or a list of texts, got "
        f"{type(X).__name__}; pass pandas.DataFrame(X), or the array to HOMICV itself."
    )


def _column(column: Any, name: str) -> FrameColumn:
    """Return numbers, vectors, or strings."""
    values = (
        _objects(column) if isinstance(column, list | tuple) else np.asarray(column)
    )
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    if values.dtype.kind == "M":
        cells = np.datetime_as_string(values.astype("datetime64[s]")).tolist()
        return ["" if cell == "NaT" else cell for cell in cells]
    cells = list(values) if values.dtype == object else values.tolist()
    try:
        vectors = as_vectors(cells)
    except ValueError as error:
        raise ValueError(f"column {short(name)}: {error}") from error
    if vectors is not None:
        return vectors
    if all(_is_missing(cell) or isinstance(cell, _NUMBERS) for cell in cells):
        return np.array([np.nan if _is_missing(c) else float(c) for c in cells])
    return ["" if _is_missing(cell) else str(cell) for cell in cells]


def _objects(cells: Sequence[Any]) -> NDArray[Any]:
    """Return cells as they are, also lists."""
    found = np.empty(len(cells), dtype=object)
    for i, cell in enumerate(cells):
        found[i] = cell
    return found


def _is_missing(cell: Any) -> bool:
    """Return True for None, NaN, NaT and pandas.NA."""
    if cell is None or isinstance(cell, str):
        return cell is None
    is_nan = isinstance(cell, float | np.floating) and math.isnan(cell)
    return is_nan or type(cell).__name__ in ("NAType", "NaTType")


def _written(value: float) -> str:
    """Return a number as a file has it."""
    if math.isnan(value):
        return ""
    return str(int(value)) if float(value).is_integer() else repr(float(value))
