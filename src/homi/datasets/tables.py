"""Parsers of CSV, TSV and Parquet files, with pyarrow."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from homi.budget import Budget, Refused
from homi.datasets.dataset import Content, Table
from homi.datasets.files import at_line, open_binary, open_utf8, short, split_name
from homi.datasets.labels import check_unique
from homi.datasets.parquet_pages import page_bytes, page_values
from homi.datasets.plain_csv import Unequal, n_columns
from homi.datasets.sniff import Dialect, sniff
from homi.datasets.strings import MISSING, Column, from_words

#: Bytes that pyarrow needs per column, per cell with its float64, per byte of text,
#: and per byte of the footer of a Parquet file.
_COLUMN, _CELL, _TEXT, _FOOTER = 8000, 40, 4, 60
#: Bytes per byte of strings in lists.
_LISTED = 100

#: Smallest and largest block of a CSV file, in bytes, that pyarrow parses at a time.
_BLOCKS = (2**22, 2**26)

# pyarrow has no type hints; mypy reads these as Any.
ArrowColumn: TypeAlias = "pa.Array | pa.ChunkedArray"
ArrowTable: TypeAlias = "pa.Table"
ArrowSchema: TypeAlias = "pa.Schema"
ArrowType: TypeAlias = "pa.DataType"
#: Bytes of a Parquet file up to which sizes are taken from the headers of its pages.
_SMALL_FILE = 2**24

ParquetFile: TypeAlias = "pq.ParquetFile"
ParquetMetadata: TypeAlias = "pq.FileMetaData | pq.RowGroupMetaData"

#: Errors that pyarrow raises on a damaged file: its own, and some of Python's.
_PARQUET_ERRORS = (
    pa.ArrowException,
    AttributeError,
    LookupError,
    OSError,
    OverflowError,
    RecursionError,
    TypeError,
    ValueError,
)


def parse_text(path: Path, budget: Budget) -> Content:
    """Parse a CSV or TSV file whose first line names the columns."""
    dialect = sniff(path, budget)
    return content(*text_columns(path, budget, dialect), budget, dialect.decimal)


def text_columns(
    path: Path, budget: Budget, dialect: Dialect
) -> tuple[list[str], list[ArrowColumn]]:
    """Return the names and the columns, as strings, of a CSV or TSV file.

    pyarrow would guess the type of a column from the first block of the file, and fail
    on later blocks.
    """
    block_size = int(np.clip(budget.line, *_BLOCKS))
    options = csv_options(path, block_size, budget, dialect, newlines_in_values=True)
    unequal = Unequal()

    def skip(row: Any) -> str:
        unequal.add(row.number, row.expected_columns, row.actual_columns, row.text)
        return "skip"

    options[1].invalid_row_handler = skip
    opened = open_utf8(path, budget, dialect.encoding)
    try:
        with _Charged(opened, dialect.delimiter, budget) as file:
            table = pyarrow.csv.read_csv(file, *options)
    except pa.ArrowInvalid as error:
        row, reason = csv_error(error)
        if row is None:
            raise
        raise at_line(_lines_of([row], path, dialect)[0], reason) from error
    if any(kind != pa.string() for kind in table.schema.types):
        raise Refused("line 1: the quotes in the header cannot be parsed.")
    names = [column[0].as_py() for column in table.columns]
    found = names, [column.slice(1) for column in table.columns]
    if unequal.count:
        raise unequal.error(_lines_of(unequal.rows, path, dialect), found)
    return found


def csv_options(
    path: Path,
    block_size: int,
    budget: Budget,
    dialect: Dialect,
    *,
    newlines_in_values: bool = False,
) -> tuple[Any, Any, Any]:
    """Return pyarrow's options to read all columns as strings, the header as a row."""
    count = n_columns(path, budget, dialect, _COLUMN)
    kinds = {f"f{j}": pa.string() for j in range(count)}
    return (
        # With more than one thread an error does not name its row.
        pyarrow.csv.ReadOptions(
            autogenerate_column_names=True, use_threads=False, block_size=block_size
        ),
        pyarrow.csv.ParseOptions(
            delimiter=dialect.delimiter, newlines_in_values=newlines_in_values
        ),
        pyarrow.csv.ConvertOptions(column_types=kinds, strings_can_be_null=False),
    )


def csv_error(error: Exception) -> tuple[int | None, str]:
    """Return the row, header included, and the reason of an error of pyarrow."""
    found = re.search(r"Row #(\d+): (.*)", str(error), re.DOTALL)
    if found is None:
        return None, str(error).rstrip()
    return int(found[1]), found[2].rstrip()


class _Charged(io.BufferedReader):
    """Text that is charged as it is read: its bytes, and a cell per delimiter."""

    def __init__(self, file: IO[bytes], delimiter: str, budget: Budget) -> None:
        super().__init__(file)  # type: ignore[arg-type]
        self._ends, self._budget = (delimiter.encode(), b"\n"), budget

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        n_cells = sum(map(data.count, self._ends))
        self._budget.take(_CELL * n_cells + _TEXT * len(data), "its cells")
        return data


def _lines_of(wanted: list[int], path: Path, dialect: Dialect) -> list[int]:
    """Return the lines that rows start in; quoted line breaks make rows longer."""
    with (
        open_utf8(path, encoding=dialect.encoding) as file,
        io.TextIOWrapper(file, "utf-8-sig", errors="replace", newline="") as text,
    ):
        rows, seen, start, found = (
            csv.reader(text, delimiter=dialect.delimiter),
            0,
            1,
            [],
        )
        for row in wanted:
            while seen < row:
                start = rows.line_num + 1
                try:
                    # pyarrow skips empty lines and does not count them.
                    seen += bool(next(rows))
                except (StopIteration, csv.Error):
                    break
            found.append(start)
        return found


def parse_parquet(path: Path, budget: Budget) -> Content:
    """Parse a Parquet file; leave out an index that pandas stored in it."""
    return content(*parquet_columns(path, budget), budget)


def parquet_columns(path: Path, budget: Budget) -> tuple[list[str], list[ArrowColumn]]:
    """Return the names and the columns of a Parquet file.

    A column of nested values other than lists of numbers or strings has its type and
    no rows.
    """
    with open_binary(path, budget) as file:
        source = io.BytesIO(file.read()) if split_name(path)[2] else file
        with parquet_errors():
            opened, schema = open_parquet(source, budget)
            lists = [f.name for f in schema if _is_plain_list(f.type)]
            flat = [f.name for f in schema if not pa.types.is_nested(f.type)]
            sizes = _group_bytes(source, opened.metadata)
            _charge_rows(opened.metadata, len(flat + lists), sum(sizes), budget)
            if lists:
                is_large = source.seek(0, io.SEEK_END) > _SMALL_FILE
                n_values = page_values(source, stated=is_large)
                budget.take(_CELL * n_values, "its lists")
            flat += lists
            table = plain(opened.read(flat).unify_dictionaries(), schema, budget)
    kept = [f for f in schema if f.name not in stored_index(schema)]
    return [f.name for f in kept], [
        table[f.name] if f.name in flat else pa.chunked_array([], f.type) for f in kept
    ]


@contextlib.contextmanager
def parquet_errors() -> Iterator[None]:
    """Raise the errors of pyarrow on a damaged file as Refused."""
    try:
        yield
    except Refused:
        raise
    except _PARQUET_ERRORS as error:
        raise Refused(f"cannot be read as Parquet: {error}") from error


def open_parquet(
    source: IO[bytes] | pa.NativeFile, budget: Budget
) -> tuple[ParquetFile, ArrowSchema]:
    """Open a Parquet file; charge its footer before it is parsed.

    Strings are read as dictionaries, which store each distinct string once. `plain`
    charges and decodes them.
    """
    source.seek(0, io.SEEK_END)
    n_bytes = source.tell()
    source.seek(max(0, n_bytes - 8))
    footer = min(int.from_bytes(source.read(4), "little"), n_bytes)
    budget.take(_FOOTER * footer, "its columns")
    schema = pq.read_schema(source)
    budget.take_columns(len(schema), _COLUMN)
    if len(set(schema.names)) < len(schema):
        check_unique(schema.names, "column")
    strings = [f.name for f in schema if _has_any_length(f.type)]
    strings += [
        f"{f.name}.list.{f.type.value_field.name}"
        for f in schema
        if _is_list(f.type) and _has_any_length(f.type.value_type)
    ]
    file = pq.ParquetFile(source, read_dictionary=strings)
    budget.check(
        _TEXT * max(_group_bytes(source, file.metadata), default=0), "its pages"
    )
    return file, schema


def _group_bytes(
    source: IO[bytes] | pa.NativeFile, metadata: pq.FileMetaData
) -> list[int]:
    """Return the bytes of each row group: the footer may say less than the pages.

    Headers of all pages of a large file would take long to read, and its budget is
    large enough for what they can hide.
    """
    stated = [group.total_byte_size for group in _groups(metadata)]
    if source.seek(0, io.SEEK_END) > _SMALL_FILE:
        return stated
    return [max(pair) for pair in zip(stated, page_bytes(source), strict=True)]


def _groups(metadata: ParquetMetadata) -> list[ParquetMetadata]:
    return [metadata.row_group(i) for i in range(metadata.num_row_groups)]


def _charge_rows(
    metadata: ParquetMetadata, n_columns: int, n_bytes: int, budget: Budget
) -> None:
    groups = _groups(metadata)
    rows = max(metadata.num_rows, sum(group.num_rows for group in groups))
    if not rows:
        raise Refused("has 0 rows; at least one is needed.")
    budget.take(_CELL * rows * n_columns, f"its {rows:,} rows of {n_columns:,} columns")
    budget.take(_TEXT * n_bytes, "its pages")


def plain(table: ArrowTable, schema: ArrowSchema, budget: Budget) -> ArrowTable:
    """Decode string columns that the file does not store as a dictionary type.

    Charge them first: a few bytes of a dictionary can decode to any number of bytes.
    """
    for j, name in enumerate(table.column_names):
        if _has_any_length(schema.field(name).type):
            table = table.set_column(j, name, decoded(table[name], name, budget))
    return table


def decoded(column: ArrowColumn, name: str, budget: Budget) -> ArrowColumn:
    """Charge and decode a dictionary column of strings."""
    chunks = [_decoded(chunk, name, budget) for chunk in column.iterchunks()]
    return pa.chunked_array(chunks, chunks[0].type)


def _decoded(chunk: ArrowColumn, name: str, budget: Budget) -> ArrowColumn:
    used = pc.binary_length(chunk.dictionary).take(chunk.indices)
    n_bytes = pc.sum(pc.cast(used, pa.int64())).as_py() or 0
    budget.take(_TEXT * n_bytes, f"the strings of column {short(name)}")
    is_text = pa.types.is_string(chunk.dictionary.type)
    # 64-bit offsets: a chunk may have more than 2 GiB of strings.
    words = chunk.dictionary.cast(pa.large_string() if is_text else pa.large_binary())
    return pa.DictionaryArray.from_arrays(chunk.indices, words).dictionary_decode()


def stored_index(schema: ArrowSchema) -> set[str]:
    """Return the columns that pandas stored as the index."""
    about = schema.pandas_metadata or {}
    return {name for name in about.get("index_columns", []) if isinstance(name, str)}


def vectors(column: ArrowColumn) -> NDArray[np.float64] | None:
    """Return a column of lists of numbers of one length; None for any other."""
    if not _is_list(column.type) or not _is_number(column.type.value_type):
        return None
    lengths = pc.unique(pc.list_value_length(column)).to_pylist()
    if len(lengths) != 1 or not lengths[0]:
        raise Refused(
            "lists of numbers are missing or differ in length; give each row as many."
        )
    flat = pc.list_flatten(column).cast(pa.float64()).combine_chunks()
    return flat.to_numpy(zero_copy_only=False).reshape(-1, lengths[0])


def _is_list(kind: ArrowType) -> bool:
    checks = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(check(kind) for check in checks)


def _is_number(kind: ArrowType) -> bool:
    return pa.types.is_floating(kind) or pa.types.is_integer(kind)


def _is_plain_list(kind: ArrowType) -> bool:
    """Return True for lists of numbers or of strings."""
    return _is_list(kind) and (
        _is_number(kind.value_type) or is_string(kind.value_type)
    )


def _holds_strings(kind: ArrowType) -> bool:
    """Return True for lists of strings, also as a dictionary."""
    inner = kind.value_type if _is_list(kind) else kind
    inner = inner.value_type if pa.types.is_dictionary(inner) else inner
    return _is_list(kind) and is_string(inner)


def texts(column: ArrowColumn, name: str, budget: Budget | None) -> list[Any]:
    """Return the values of a column of single values; None if missing.

    Lists of strings become JSON.
    """
    kind = column.type
    if _holds_strings(kind):
        return _listed(column, name, budget)
    if pa.types.is_nested(kind):
        raise Refused(
            f"column {short(name)} is of type {kind}; texts are read from columns of "
            "single values."
        )
    if pa.types.is_dictionary(kind) and pa.types.is_string(kind.value_type):
        assert budget is not None
        column = decoded(column, name, budget)
    return column.to_pylist()


def _listed(column: ArrowColumn, name: str, budget: Budget | None) -> list[Any]:
    """Charge lists of strings, and return them as JSON."""
    flat = pc.list_flatten(column)
    if pa.types.is_dictionary(flat.type) and budget is not None:
        flat = decoded(flat, name, budget) if flat.num_chunks else flat
    n_bytes = pc.sum(pc.binary_length(flat)).as_py() if len(flat) else 0
    if budget is not None:
        budget.take(_CELL * len(column) + _LISTED * n_bytes, f"the lists of {name!r}")
    cells = column.to_pylist()
    return [None if c is None else json.dumps(c, ensure_ascii=False) for c in cells]


def as_column(strings: list[str]) -> ArrowColumn:
    """Return strings as a column."""
    return pa.chunked_array([pa.array(strings, pa.string())])


def _has_any_length(kind: ArrowType) -> bool:
    """Return True for types of strings and bytes."""
    views = (pa.types.is_string_view, pa.types.is_binary_view)
    return is_string(kind) or any(
        check(kind) for check in (pa.types.is_binary, pa.types.is_large_binary, *views)
    )


def is_string(kind: ArrowType) -> bool:
    """Return True for the types of strings."""
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def content(
    names: list[str],
    columns: Sequence[ArrowColumn],
    budget: Budget | None = None,
    decimal: str = ".",
) -> Content:
    """Convert columns to numbers, or to positions in lists of strings."""
    n_rows = len(columns[0]) if columns else 0
    values, nominal = np.empty((n_rows, len(columns))), {}
    for j, (name, column) in enumerate(zip(names, columns, strict=True)):
        try:
            values[:, j], words = _column(column.combine_chunks(), decimal)
        except (ValueError, pa.ArrowException) as error:
            raise Refused(f"column {short(name)} {error}") from error
        if words is not None:
            nominal[j] = words
    return Content(Table(names, values, nominal, budget))


def _column(array: ArrowColumn, decimal: str = ".") -> Column:
    """Return numbers, or positions and the list of strings; NaN if missing."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        if is_string(kind.value_type):
            return _numbers(array.indices), array.dictionary.to_pylist()
        if not _has_any_length(kind.value_type):
            return _column(array.dictionary_decode())
    if is_string(kind):
        return _string_column(array, decimal)
    if pa.types.is_boolean(kind):
        array = array.cast(pa.uint8())
    elif not (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_null(kind)
    ):
        raise ValueError(f"has type {kind}; only numbers and strings are supported.")
    return _numbers(array), None


def _numbers(array: ArrowColumn) -> NDArray[np.float64]:
    return array.cast(pa.float64()).to_numpy(zero_copy_only=False)


def without_missing(strings: ArrowColumn) -> ArrowColumn:
    """Trim strings; make those that mean a missing value null."""
    trimmed = pc.utf8_trim_whitespace(strings)
    absent = pc.is_in(trimmed, value_set=pa.array(MISSING, type=trimmed.type))
    return pc.if_else(absent, pa.scalar(None, trimmed.type), trimmed)


def _string_column(array: ArrowColumn, decimal: str) -> Column:
    known = without_missing(array)
    try:
        return _numbers(known), None
    except pa.ArrowInvalid:
        pass
    encoded = known.dictionary_encode()
    words, positions = encoded.dictionary.to_pylist(), _numbers(encoded.indices)
    return from_words(words, positions, decimal)
