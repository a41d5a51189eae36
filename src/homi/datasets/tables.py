"""CSV, TSV and Parquet, through pyarrow."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from homi.datasets.files import (
    MAX_LINE,
    Refused,
    array_budget,
    at_line,
    number,
    open_binary,
    short,
    split_name,
)
from homi.datasets.select import Content, Table

#: Texts that stand for a missing value.
MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "null", "NULL", "None")

#: Different texts of a nominal column; one with more, or with a text of its own in
#: each of more than FEW_ROWS rows, is free text.
MAX_NOMINAL, FEW_ROWS = 256, 20

_DATE = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}([T ].*)?", re.ASCII)

Column = tuple[NDArray[np.float64], list[str] | None]

#: What pyarrow raises on a damaged file: its own errors, and some of Python's.
PARQUET_ERRORS = (
    pa.ArrowException,
    AttributeError,
    LookupError,
    OSError,
    OverflowError,
    RecursionError,
    TypeError,
    ValueError,
)


def parse_text(path: Path) -> Content:
    """A CSV or TSV file whose first line names the columns."""
    return content(*text_columns(path))


def text_columns(path: Path) -> tuple[list[str], list[Any]]:
    """Names and columns of a CSV or TSV file, as they stand there.

    Every column is read as text and its type decided by the whole of it: pyarrow
    would decide by the first block of the file, and fail on what comes later.
    """
    delimiter = "\t" if split_name(path)[1] == ".tsv" else ","
    size = {f"f{j}": pa.string() for j in range(n_columns(path, delimiter))}
    try:
        table = _csv(path, delimiter, size)
    except pa.ArrowInvalid as error:
        row = re.search(r"Row #(\d+): (.*)", str(error), re.DOTALL)
        if row is None:
            raise
        line = _line_of(int(row[1]), path, delimiter)
        raise at_line(line, row[2].rstrip()) from error
    if any(kind != pa.string() for kind in table.schema.types):
        raise Refused("line 1: the quotes in the header cannot be understood.")
    names = [column[0].as_py() for column in table.columns]
    return names, [column.slice(1) for column in table.columns]


def _csv(path: Path, delimiter: str, size: dict[str, Any]) -> Any:
    with open_binary(path) as file:
        return pyarrow.csv.read_csv(
            file,
            # One thread, because only then does an error name its row.
            pyarrow.csv.ReadOptions(
                autogenerate_column_names=True, use_threads=False, block_size=MAX_LINE
            ),
            pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            pyarrow.csv.ConvertOptions(column_types=size, strings_can_be_null=False),
        )


def _line_of(row: int, path: Path, delimiter: str) -> int:
    """The line that a row starts in; rows with quoted line breaks take several."""
    with (
        open_binary(path) as file,
        io.TextIOWrapper(file, "utf-8-sig", errors="replace", newline="") as text,
    ):
        rows, seen, start = csv.reader(text, delimiter=delimiter), 0, 1
        while seen < row:
            start = rows.line_num + 1
            try:
                # pyarrow passes over empty lines, and does not count them.
                seen += bool(next(rows))
            except (StopIteration, csv.Error):
                break
        return start


def parse_parquet(path: Path) -> Content:
    """A Parquet file; an index that pandas stored with it is left out."""
    return content(*parquet_columns(path))


def parquet_columns(path: Path) -> tuple[list[str], list[Any]]:
    """Names and columns of a Parquet file, as they stand there."""
    with open_binary(path) as file:
        source = pa.py_buffer(file.read()) if split_name(path)[2] else file
        try:
            table = _parquet(source, array_budget(path))
        except Refused:
            raise
        except PARQUET_ERRORS as error:
            raise Refused(f"cannot be read as Parquet: {error}") from error
    return table.column_names, table.columns


def n_columns(path: Path, delimiter: str) -> int:
    with (
        open_binary(path) as file,
        io.TextIOWrapper(file, "utf-8-sig", errors="replace", newline="") as text,
    ):
        try:
            rows = csv.reader(text, delimiter=delimiter)
            header = next((row for row in rows if row), [])
        except csv.Error as error:
            raise Refused(f"line 1: the header cannot be read: {error}.") from error
    if not header:
        raise Refused("is empty; its first line must name the columns.")
    return len(header)


def _parquet(source: Any, budget: int) -> Any:
    file = pq.ParquetFile(source)
    shape = (file.metadata.num_rows, len(file.schema_arrow.names))
    if shape[0] * shape[1] * 8 > budget:
        raise Refused(
            f"states {shape[0]} rows of {shape[1]} columns: too many to read."
        )
    about = file.schema_arrow.pandas_metadata or {}
    index = [name for name in about.get("index_columns", []) if isinstance(name, str)]
    return file.read().drop_columns(index).unify_dictionaries()


def content(names: list[str], columns: list[Any]) -> Content:
    """Columns as numbers, or as positions in lists of texts."""
    n_rows = len(columns[0]) if columns else 0
    values, nominal = np.empty((n_rows, len(columns))), {}
    for j, (name, column) in enumerate(zip(names, columns, strict=True)):
        try:
            values[:, j], words = _column(column.combine_chunks())
        except (ValueError, pa.ArrowException) as error:
            raise Refused(f"column {short(name)} {error}") from error
        if words is not None:
            nominal[j] = words
    return Content(Table(names, values, nominal))


def _column(array: Any) -> Column:
    """Numbers, or positions in a list of texts; NaN where the value is missing."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        if not pa.types.is_string(kind.value_type):
            return _column(array.dictionary_decode())
        return _numbers(array.indices), array.dictionary.to_pylist()
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _text(array)
    if pa.types.is_boolean(kind):
        array = array.cast(pa.uint8())
    elif not (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_null(kind)
    ):
        raise ValueError(f"is of type {kind}; only numbers and nominal texts are read.")
    return _numbers(array), None


def _numbers(array: Any) -> NDArray[np.float64]:
    return array.cast(pa.float64()).to_numpy(zero_copy_only=False)


def _text(array: Any) -> Column:
    trimmed = pc.utf8_trim_whitespace(array)
    absent = pc.is_in(trimmed, value_set=pa.array(MISSING, type=trimmed.type))
    known = pc.if_else(absent, pa.scalar(None, trimmed.type), trimmed)
    try:
        return _numbers(known), None
    except pa.ArrowInvalid:
        pass
    encoded = known.dictionary_encode()
    words, positions = encoded.dictionary.to_pylist(), _numbers(encoded.indices)
    as_numbers = [_number_or_none(word) for word in words]
    if None not in as_numbers:
        return _looked_up(as_numbers, positions), None
    _check_nominal(words, as_numbers, len(array))
    order = sorted(words)
    rank = {word: float(i) for i, word in enumerate(order)}
    return _looked_up([rank[word] for word in words], positions), order


def _check_nominal(words: list[str], numbers: list[float | None], n_rows: int) -> None:
    text = words[numbers.index(None)]
    if any(value is not None for value in numbers):
        mixed = next(w for w, v in zip(words, numbers, strict=True) if v is not None)
        raise ValueError(
            f"mixes numbers, such as {short(mixed)}, with text, such as {short(text)}; "
            "make it one or the other."
        )
    if all(_DATE.fullmatch(word) for word in words):
        raise ValueError(
            f"holds dates, such as {short(text)}; remove it, or turn it into numbers."
        )
    if len(words) > MAX_NOMINAL or FEW_ROWS < n_rows == len(words):
        raise ValueError(
            f"is free text, with {len(words)} different values such as {short(text)}; "
            "remove it, or turn it into numbers."
        )


def _number_or_none(text: str) -> float | None:
    try:
        return number(text)
    except ValueError:
        return None


def _looked_up(table: list[Any], positions: NDArray[np.float64]) -> NDArray[np.float64]:
    """``table[positions]``, with NaN kept."""
    known = ~np.isnan(positions)
    found = np.full(len(positions), np.nan)
    found[known] = np.array(table, dtype=np.float64)[positions[known].astype(np.intp)]
    return found
