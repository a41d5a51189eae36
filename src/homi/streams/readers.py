"""Readers of batches from CSV, TSV, Parquet and LIBSVM files."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from homi.budget import Budget, Refused
from homi.datasets.dataset import Content, Labels, Table
from homi.datasets.files import lines, number, open_binary, short, split_name
from homi.datasets.labels import split
from homi.datasets.libsvm import Entries, Names, Row, names_in, row_in
from homi.datasets.sniff import Dialect, suffix_delimiter
from homi.datasets.tables import (
    ArrowColumn,
    ArrowSchema,
    ArrowTable,
    ParquetFile,
    csv_error,
    csv_options,
    is_string,
    open_parquet,
    parquet_errors,
    plain,
    stored_index,
    without_missing,
)
from homi.streams.sources import Batch

#: Bytes of text that are parsed at a time.
_TEXT_BLOCK = 2**22

_TRUTH = {"true": 1.0, "false": 0.0}

_LIBSVM = (".libsvm", ".svm", ".svmlight", ".txt")


class Reader(Protocol):
    """Reader of files of one format with the same columns."""

    label_names: Sequence[str]

    def count(self, path: Path) -> int | None:
        """Return the number of pieces of a file, if known without reading it."""

    def pieces(self, path: Path, start: int) -> Iterator[Any]:
        """Yield the pieces of a file from number ``start`` on, one per batch."""

    def batch(self, piece: Any) -> Batch:
        """Convert a piece to X and Y."""


def open_reader(
    paths: Sequence[Path], labels: Labels | None, batch_size: int
) -> Reader:
    """Return the reader for the format of the files."""
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"there is no file {path}.")
    forms = sorted({split_name(path)[1] for path in paths})
    form = forms[0]
    if len(forms) > 1 or form not in {*_TABLES, *_LIBSVM}:
        raise ValueError(
            f"{paths[0]}: a stream needs files of one format, "
            f"{', '.join([*_TABLES, *_LIBSVM])}; got {', '.join(forms)}. "
            "For .npy pass the pair (X, Y); read others with homi.datasets.read."
        )
    if form in _TABLES:
        return _TABLES[form](paths[0], labels, batch_size)
    if labels is not None:
        raise ValueError("LIBSVM files state their labels; leave labels out.")
    return LibsvmReader(paths, batch_size)


class TableReader(ABC):
    """Reader of named columns of numbers or of true and false."""

    def __init__(self, path: Path, labels: Labels | None, batch_size: int) -> None:
        self._size = batch_size
        try:
            self._names = self.names(path)
            everything = np.arange(len(self._names))[None, :]
            X, Y = split(Content(Table(self._names, everything, {})), labels)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
        self._features, self._labels = X.values[0], Y.values[0]
        self.label_names: Sequence[str] = Y.names

    @abstractmethod
    def names(self, path: Path) -> list[str]:
        """Return the names of the columns of a file."""

    @abstractmethod
    def tables(self, path: Path, first_row: int) -> Iterator[ArrowTable]:
        """Yield tables of any number of rows, from row ``first_row`` on."""

    def count(self, path: Path) -> int | None:
        """Return the number of batches, if known without reading the file."""
        return None

    def pieces(self, path: Path, start: int) -> Iterator[ArrowTable]:
        """Yield tables of ``batch_size`` rows, from number ``start`` on."""
        names = self.names(path)
        if names != self._names:
            raise Refused(
                f"has the columns {_some(names)}, but the file before has "
                f"{_some(self._names)}; pass files with the same columns."
            )
        return rebatched(self.tables(path, start * self._size), self._size)

    def batch(self, piece: ArrowTable) -> Batch:
        """Convert a table to X and Y."""
        values = np.empty((len(piece), len(self._names)))
        for j, (name, column) in enumerate(
            zip(self._names, piece.columns, strict=True)
        ):
            values[:, j] = _numbers(column.combine_chunks(), name)
        return values[:, self._features], values[:, self._labels]


class ParquetReader(TableReader):
    """Reader of Parquet files, which skips row groups that are not needed."""

    def names(self, path: Path) -> list[str]:
        """Return the names of the columns, without an index of pandas."""
        schema = _parquet(path)[1]
        kept = [f for f in schema if f.name not in stored_index(schema)]
        if nested := [f for f in kept if pa.types.is_nested(f.type)]:
            raise Refused(
                f"column {short(nested[0].name)} has type {nested[0].type}; a stream "
                "needs columns of numbers."
            )
        return [f.name for f in kept]

    def count(self, path: Path) -> int:
        """Return the number of batches."""
        return math.ceil(_parquet(path)[0].metadata.num_rows / self._size)

    def tables(self, path: Path, first_row: int) -> Iterator[ArrowTable]:
        """Yield parts of row groups, from row ``first_row`` on."""
        file, schema = _parquet(path)
        about = file.metadata
        sizes = [about.row_group(g).num_rows for g in range(file.num_row_groups)]
        ends = np.cumsum(sizes)
        group = int(np.searchsorted(ends, first_row, side="right"))
        if group == len(sizes):
            return
        skip = first_row - int(ends[group] - sizes[group])
        groups = list(range(group, len(sizes)))
        with parquet_errors():
            for part in file.iter_batches(
                min(self._size, 65_536), row_groups=groups, columns=self._names
            ):
                table = pa.Table.from_batches([part.slice(min(skip, len(part)))])
                yield plain(table, schema, Budget.of(path))
                skip = max(0, skip - len(part))


def _parquet(path: Path) -> tuple[ParquetFile, ArrowSchema]:
    with parquet_errors():
        return open_parquet(pa.OSFile(str(path)), Budget.of(path))


class CsvReader(TableReader):
    """Reader of CSV and TSV files; types are not guessed from the first rows."""

    def names(self, path: Path) -> list[str]:
        """Return the cells of the header."""
        first = next(self._raw(path), None)
        return [] if first is None else [str(c[0].as_py()) for c in first.columns]

    def tables(self, path: Path, first_row: int) -> Iterator[ArrowTable]:
        """Yield blocks of strings, from row ``first_row`` on."""
        skip = first_row + 1
        for part in self._raw(path):
            yield pa.Table.from_batches([part.slice(min(skip, len(part)))])
            skip = max(0, skip - len(part))

    def _raw(self, path: Path) -> Iterator[ArrowTable]:
        dialect = Dialect(suffix_delimiter(path))
        options = csv_options(path, _TEXT_BLOCK, Budget.of(path), dialect)
        with open_binary(path) as file:
            try:
                yield from pyarrow.csv.open_csv(file, *options)
            except pa.ArrowInvalid as error:
                row, reason = csv_error(error)
                if row is not None:  # the header is row 1
                    reason = f"row {row - 1} of the file: {reason}"
                raise Refused(reason) from error


_TABLES: dict[str, type[TableReader]] = {
    ".parquet": ParquetReader,
    ".csv": CsvReader,
    ".tsv": CsvReader,
}


def rebatched(tables: Iterable[ArrowTable], size: int) -> Iterator[ArrowTable]:
    """Yield tables of ``size`` rows each; the last one may have fewer."""
    held: list[ArrowTable] = []
    count = 0
    for table in tables:
        held.append(table)
        count += len(table)
        while count >= size:
            whole = pa.concat_tables(held)
            yield whole.slice(0, size)
            held, count = [whole.slice(size)], count - size
    if count:
        yield pa.concat_tables(held)


def _numbers(array: ArrowColumn, name: str) -> NDArray[np.float64]:
    """Convert a column to float64, with NaN for missing values."""
    if is_string(array.type):
        array = without_missing(array)
    elif pa.types.is_boolean(array.type):
        array = array.cast(pa.uint8())
    try:
        return array.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return np.array([_number(x, i, name) for i, x in enumerate(array.to_pylist())])


def _number(value: object, row: int, name: str) -> float:
    if value is None:
        return math.nan
    text = str(value)
    try:
        return _TRUTH[text.lower()] if text.lower() in _TRUTH else number(text)
    except ValueError:
        raise Refused(
            f"row {row + 1} of it: column {short(name)} is {short(text)}; a stream "
            "needs columns of numbers."
        ) from None


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(map(short, names[:4]))
    return f"{shown}{', ...' if len(names) > 4 else ''} ({len(names)})"


class LibsvmReader:
    """Reader of LIBSVM files, as sparse batches.

    Unless the first line of each file has the names, all files are read once before,
    to find the number of features and the labels that occur.
    """

    def __init__(self, paths: Sequence[Path], batch_size: int) -> None:
        self._size = batch_size
        names = [_names(path) for path in paths]
        if names[0] is not None and all(given == names[0] for given in names):
            self._base, self._n_features = 1, len(names[0].features)
            self._labels = {j: j for j in range(len(names[0].labels))}
            self.label_names: Sequence[str] = names[0].labels
            return
        low, high, found = 1, 0, set()
        for path in paths:
            for chosen, columns, _ in _rows(path):
                found.update(chosen)
                low, high = min([low, *columns]), max([high, *columns])
        Budget.of(paths[0]).take_columns(high + 1 - low + len(found))
        if not found:
            raise ValueError(f"{paths[0]}: no row has a label.")
        self._base, self._n_features = low, high + 1 - low
        self._labels = {label: j for j, label in enumerate(sorted(found))}
        self.label_names = [str(label) for label in sorted(found)]

    def count(self, path: Path) -> int | None:
        """Return None: the number of batches is not known."""
        return None

    def pieces(self, path: Path, start: int) -> Iterator[list[Row]]:
        """Yield lists of ``batch_size`` rows, always from the first on."""
        held: list[Row] = []
        for row in _rows(path):
            held.append(row)
            if len(held) == self._size:
                yield held
                held = []
        if held:
            yield held

    def batch(self, piece: list[Row]) -> Batch:
        """Convert rows to sparse X and Y."""
        features, labels = Entries(), Entries()
        for i, (chosen, columns, values) in enumerate(piece):
            if unknown := [x for x in chosen if x not in self._labels]:
                raise Refused(f"row {i + 1} of it: label {unknown[0]} is not named.")
            outside = [j for j in columns if not 0 <= j - self._base < self._n_features]
            if outside:
                raise Refused(f"row {i + 1} of it: feature {outside[0]} is not named.")
            places = [self._labels[label] for label in chosen]
            labels.add(places, [1.0] * len(chosen))
            features.add(columns, values)
        X = features.csr(self._base, self._n_features)
        return X, labels.csr(0, len(self._labels))


def _names(path: Path) -> Names | None:
    first = next(lines(path), None)
    try:
        return None if first is None else names_in(first[1])
    except Refused as error:
        raise ValueError(f"{path}: {error}") from error


def _rows(path: Path) -> Iterator[Row]:
    for count, line in lines(path):
        row = row_in(count, line)
        if row is not None:
            yield row
