"""An open file: columns before they are parsed as numbers."""

from __future__ import annotations

import fnmatch
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from homi.budget import Budget, Refused
from homi.datasets.dataset import Table
from homi.datasets.files import short, split_name
from homi.datasets.labels import check_unique
from homi.datasets.read import JSON_LINES, TABLES, parser, table_parsers
from homi.datasets.sniff import Dialect, sniff
from homi.datasets.strings import MISSING
from homi.tables.vectors import as_vectors
from homi.typing import Array

#: Bytes of a string that replaces another one.
_REPLACED = 200
#: Name of the column that --embeddings adds.
EMBEDDINGS = "embeddings"
#: Formats that store no zeros, and so may lack columns of zeros.
SPARSE = {".libsvm", ".svm", ".svmlight", ".txt"}


@dataclass(frozen=True)
class File:
    """An open file: names and columns, before they are parsed as numbers.

    Attributes
    ----------
    path : Path
    names : list of str
        Names of all columns but the labels that the format states itself.
    raw : list or None
        Columns of a CSV, TSV or Parquet file.
    table : Table or None
        Columns of any other file.
    stated : Table or None
        Labels that the format states itself.
    said : labels or None
        Which columns are labels, if the file says so.
    budget : Budget or None
        Memory that the file may still take.
    dialect : Dialect
        How a CSV or TSV file is written.
    """

    path: Path
    names: list[str]
    raw: list[Any] | None = None
    table: Table | None = None
    stated: Table | None = None
    said: Any = None
    budget: Budget | None = None
    dialect: Dialect = field(default_factory=Dialect)

    @property
    def leaves_out_zeros(self) -> bool:
        """True for formats that store no zeros."""
        return split_name(self.path)[1] in SPARSE

    def take(self, columns: list[int]) -> Table:
        """Return columns as numbers, or as positions in lists of words."""
        if self.table is not None:
            return self.table.take(columns)
        assert self.raw is not None
        names, raw = [self.names[j] for j in columns], [self.raw[j] for j in columns]
        content = table_parsers(self.path).content
        return content(names, raw, self.budget, self.dialect.decimal).table

    def texts(self, names: list[str]) -> list[str]:
        """Return one text per row, several columns joined; a missing text is empty."""
        if self.raw is None:
            raise ValueError(
                f"{self.path}: texts are read from {', '.join(TABLES)} files only."
            )
        texts = table_parsers(self.path).texts
        with with_file_name(self.path):
            columns = [
                texts(self.raw[self.position(name)], name, self.budget)
                for name in names
            ]
        cells = [[_text(cell) for cell in column] for column in columns]
        return ["\n".join(row) for row in zip(*cells, strict=True)]

    def first_strings(self, name: str, most: int = 1000) -> list[str]:
        """Return the first strings of a column of a CSV, TSV or Parquet file."""
        if self.raw is None:
            return []
        texts = table_parsers(self.path).texts
        try:
            cells = texts(self.raw[self.position(name)][:most], name, self.budget)
        except Refused:  # nested values
            return []
        kinds = (str, int, date)
        return [str(cell) for cell in cells if isinstance(cell, kinds)]

    def is_empty(self, name: str, most: int = 1000) -> bool:
        """Return True if every cell of a CSV, TSV or Parquet file is missing."""
        column = self.raw[self.position(name)] if self.raw is not None else None
        if column is None or isinstance(column, np.ndarray):
            return False
        texts = table_parsers(self.path).texts
        try:
            return all(  # few columns have no value in their first rows
                _text(cell).strip() in MISSING
                for cells in (column[:most], column)
                for cell in texts(cells, name, self.budget)
            )
        except Refused:  # nested values
            return False

    def vectors(self, name: str) -> Array | None:
        """Return a column whose cells are lists of numbers; None for any other."""
        if self.raw is None:
            return None
        column = self.raw[self.position(name)]
        if isinstance(column, np.ndarray):
            return column
        try:
            found = table_parsers(self.path).vectors(column)
            some = next(filter(None, self.first_strings(name)), "")
            if found is not None or not some.startswith("["):
                return found
            return as_vectors(self.texts([name]))
        except ValueError as error:
            raise ValueError(f"column {short(name)}: {error}") from error

    def with_embeddings(self, path: Path | None) -> File:
        """Return the file with one more column, the rows of a .npy file."""
        if path is None:
            return self
        if self.raw is None:
            raise ValueError(
                f"{self.path}: --embeddings go with {', '.join(TABLES)} files only."
            )
        vectors = read_embeddings(path)
        if self.raw and len(vectors) != len(self.raw[0]):
            raise ValueError(
                f"{path} has {len(vectors)} rows, and {self.path} has "
                f"{len(self.raw[0])}; give one vector for each row, in the same order."
            )
        names = [*self.names, EMBEDDINGS]
        check_unique(names, "column")
        return replace(self, names=names, raw=[*self.raw, vectors])

    def replaced(self, name: str, new: dict[str, list[str]]) -> File:
        """Return the file with other columns in the place of one."""
        assert self.raw is not None
        j, names, raw = self.position(name), [*self.names], [*self.raw]
        if self.budget is not None:
            n_cells = sum(map(len, new.values()))
            self.budget.take(_REPLACED * n_cells, f"the values of {name!r}")
        names[j : j + 1] = new
        raw[j : j + 1] = map(table_parsers(self.path).as_column, new.values())
        check_unique(names, "column")
        return replace(self, names=names, raw=raw)

    def position(self, name: str) -> int:
        """Return the position of a column."""
        if name not in self.names:
            near = get_close_matches(name, self.names, n=1)
            meant = f"did you mean {short(near[0])}? It" if near else "it"
            raise ValueError(
                f"{self.path} has no column {short(name)}; {meant} has "
                f"{listed(self.names)}."
            )
        return self.names.index(name)

    def matching(self, patterns: list[str]) -> set[int]:
        """Return the columns that match a pattern; each pattern must match one."""
        found: set[int] = set()
        for pattern in patterns:
            some = {j for j, n in enumerate(self.names) if fnmatch.fnmatch(n, pattern)}
            if not some:
                raise ValueError(
                    f"{self.path}: no column fits {pattern!r}; it has "
                    f"{listed(self.names)}."
                )
            found |= some
        return found


def read_embeddings(path: Path) -> Array:
    """Return a matrix of numbers that numpy.save wrote."""
    found = None
    with suppress(EOFError, ValueError):
        found = np.load(path, allow_pickle=False)
    if (
        not isinstance(found, np.ndarray)
        or found.ndim != 2
        or found.dtype.kind not in "fiu"
    ):
        raise ValueError(
            f"{path} must hold one array of numbers, rows by dimensions; write it by "
            "numpy.save."
        )
    return found.astype(np.float64)


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell)


def listed(names: list[str], most: int = 5) -> str:
    """Return the first names, for an error message."""
    shown = ", ".join(short(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def open_file(path: Path) -> File:
    """Open a file of any format that ``homi.datasets.read`` reads."""
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}.")
    form = split_name(path)[1]
    try:
        budget = Budget.of(path)
        if form in TABLES and not path.is_dir():
            parsers, dialect = table_parsers(path), Dialect()
            if form == ".parquet":
                names, columns = parsers.parquet_columns(path, budget)
            else:
                dialect = dialect if form in JSON_LINES else sniff(path, budget)
                names, columns = parsers.text_columns(path, budget, dialect)
            check_unique(names, "column")
            return File(path, names, raw=columns, budget=budget, dialect=dialect)
        content = parser(path)(path, budget)
    except ModuleNotFoundError:
        raise
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{path}: {str(error)[:1000]}") from error
    table, said = content.table, content.said
    if content.labels is None:
        check_unique(table.names, "column")
    return File(path, table.names, table=table, stated=content.labels, said=said)


#: Most bytes that are read, and bytes of a block.
_MOST, _BLOCK = 2**30, 2**20


def open_rows(path: Path) -> File:
    """Open a file; ``-`` is standard input: CSV, JSON lines or Parquet."""
    if str(path) != "-":
        return open_file(path)
    with TemporaryDirectory(prefix="homi-") as directory:
        copy = Path(directory) / "stdin"
        _copy(copy)
        named = copy.rename(copy.with_suffix(_suffix(copy)))
        try:
            return replace(open_file(named), path=Path(named.name))
        except ValueError as error:
            text = str(error).replace(str(named), "standard input")
            raise ValueError(text) from error


def _copy(path: Path) -> None:
    left = _MOST
    with path.open("wb") as file:
        while block := sys.stdin.buffer.read(_BLOCK):
            left -= file.write(block)
            if left < 0:
                raise ValueError(
                    f"standard input has more than {_MOST >> 30} GiB; write it to a "
                    "file, and name that."
                )


def _suffix(path: Path) -> str:
    """Return the suffix of a format by the first bytes."""
    with path.open("rb") as file:
        start = file.read(1024).removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"PAR1"):
        return ".parquet"
    return ".jsonl" if start.startswith(b"{") else ".csv"


@contextmanager
def with_file_name(path: Path) -> Iterator[None]:
    """Put the name of a file in front of errors about its content."""
    try:
        yield
    except ValueError as error:
        text, name = str(error), str(path)
        if "is free text" in text or "holds dates" in text:
            text += " Or ignore it by --drop, or pass it by --text."
        if text.startswith(name):
            raise
        raise ValueError(f"{name}: {text}") from error
