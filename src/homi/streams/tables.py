"""Batches of CSV, TSV and Parquet files, through pyarrow."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

from homi.budget import Budget, Refused
from homi.datasets.files import number, open_binary, short, split_name
from homi.datasets.select import Content, Table, split
from homi.datasets.tables import (
    MISSING,
    PARQUET_ERRORS,
    n_columns,
    open_parquet,
    plain,
    stored_index,
)
from homi.streams.sources import Batch

#: Bytes of text that are parsed at a time.
_TEXT_BLOCK = 2**22

_TRUTH = {"true": 1.0, "false": 0.0}


class TableReader(ABC):
    """Files whose columns have names; only numbers are read, and true and false."""

    def __init__(self, path: Path, labels: Any, batch_size: int) -> None:
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
        """The names of a file's columns."""

    @abstractmethod
    def tables(self, path: Path, first_row: int) -> Iterator[Any]:
        """Tables of any number of rows each, from a row on."""

    def count(self, path: Path) -> int | None:
        return None

    def pieces(self, path: Path, start: int) -> Iterator[Any]:
        names = self.names(path)
        if names != self._names:
            raise Refused(
                f"has the columns {_some(names)}, but the file before has "
                f"{_some(self._names)}; give files of the same columns."
            )
        return rebatched(self.tables(path, start * self._size), self._size)

    def batch(self, piece: Any) -> Batch:
        values = np.empty((len(piece), len(self._names)))
        for j, (name, column) in enumerate(
            zip(self._names, piece.columns, strict=True)
        ):
            values[:, j] = _numbers(column.combine_chunks(), name)
        return values[:, self._features], values[:, self._labels]


class ParquetReader(TableReader):
    """Row groups are read as they are needed, and passed over if they are not."""

    def names(self, path: Path) -> list[str]:
        schema = _parquet(path)[1]
        kept = [f for f in schema if f.name not in stored_index(schema)]
        if nested := [f for f in kept if pa.types.is_nested(f.type)]:
            raise Refused(
                f"column {short(nested[0].name)} is of type {nested[0].type}; streams "
                "are read from columns of numbers."
            )
        return [f.name for f in kept]

    def count(self, path: Path) -> int:
        return math.ceil(_parquet(path)[0].metadata.num_rows / self._size)

    def tables(self, path: Path, first_row: int) -> Iterator[Any]:
        file, schema = _parquet(path)
        about = file.metadata
        sizes = [about.row_group(g).num_rows for g in range(file.num_row_groups)]
        ends = np.cumsum(sizes)
        group = int(np.searchsorted(ends, first_row, side="right"))
        if group == len(sizes):
            return
        skip = first_row - int(ends[group] - sizes[group])
        groups = list(range(group, len(sizes)))
        try:
            for part in file.iter_batches(
                min(self._size, 65_536), row_groups=groups, columns=self._names
            ):
                table = pa.Table.from_batches([part.slice(min(skip, len(part)))])
                yield plain(table, schema, Budget.of(path))
                skip = max(0, skip - len(part))
        except Refused:
            raise
        except PARQUET_ERRORS as error:
            raise Refused(f"cannot be read as Parquet: {error}") from error


def _parquet(path: Path) -> tuple[Any, Any]:
    try:
        return open_parquet(pa.OSFile(str(path)), Budget.of(path))
    except Refused:
        raise
    except PARQUET_ERRORS as error:
        raise Refused(f"cannot be read as Parquet: {error}") from error


class CsvReader(TableReader):
    """Every column is read as text: types are those of numbers, not of guesses."""

    def names(self, path: Path) -> list[str]:
        first = next(self._raw(path), None)
        return [] if first is None else [str(c[0].as_py()) for c in first.columns]

    def tables(self, path: Path, first_row: int) -> Iterator[Any]:
        skip = first_row + 1
        for part in self._raw(path):
            yield pa.Table.from_batches([part.slice(min(skip, len(part)))])
            skip = max(0, skip - len(part))

    def _raw(self, path: Path) -> Iterator[Any]:
        delimiter = "\t" if split_name(path)[1] == ".tsv" else ","
        size = {f"f{j}": pa.string() for j in range(n_columns(path, delimiter))}
        with open_binary(path) as file:
            try:
                yield from pyarrow.csv.open_csv(
                    file,
                    # One thread, because only then does an error name its row.
                    pyarrow.csv.ReadOptions(
                        autogenerate_column_names=True,
                        use_threads=False,
                        block_size=_TEXT_BLOCK,
                    ),
                    pyarrow.csv.ParseOptions(delimiter=delimiter),
                    pyarrow.csv.ConvertOptions(
                        column_types=size, strings_can_be_null=False
                    ),
                )
            except pa.ArrowInvalid as error:
                text = str(error)
                row = re.search(r"Row #(\d+): (.*)", text, re.DOTALL)
                # The header is row 1 of the file.
                where = f"row {int(row[1]) - 1} of the file: {row[2]}" if row else text
                raise Refused(where.rstrip()) from error


def rebatched(tables: Iterable[Any], size: int) -> Iterator[Any]:
    """Tables of ``size`` rows each, the last one of what is left."""
    held: list[Any] = []
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


def _numbers(array: Any, name: str) -> NDArray[np.float64]:
    """A column in float64, NaN where a value is missing."""
    kind = array.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        array = pc.utf8_trim_whitespace(array)
        absent = pc.is_in(array, value_set=pa.array(MISSING, type=array.type))
        array = pc.if_else(absent, pa.scalar(None, array.type), array)
    elif pa.types.is_boolean(kind):
        array = array.cast(pa.uint8())
    try:
        return array.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return np.array([_number(x, i, name) for i, x in enumerate(array.to_pylist())])


def _number(value: Any, row: int, name: str) -> float:
    if value is None:
        return math.nan
    text = str(value)
    try:
        return _TRUTH[text.lower()] if text.lower() in _TRUTH else number(text)
    except ValueError:
        raise Refused(
            f"row {row + 1} of it: column {short(name)} is {short(text)}; "
            "streams are read from columns of numbers."
        ) from None


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(map(short, names[:4]))
    return f"{shown}{', ...' if len(names) > 4 else ''} ({len(names)})"
