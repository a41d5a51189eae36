"""CSV, TSV and Parquet, through pyarrow."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from homi.budget import Budget, Refused
from homi.datasets.files import (
    at_line,
    lines,
    number,
    open_binary,
    short,
    split_name,
)
from homi.datasets.select import Content, Table, check_unique

#: Texts that stand for a missing value.
MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "null", "NULL", "None")

#: Different texts of a nominal column; one with more, or with a text of its own in
#: each of more than FEW_ROWS rows, is free text.
MAX_NOMINAL, FEW_ROWS = 256, 20

#: Bytes that pyarrow takes for a column and a cell, with its float64, and that each
#: byte of text and of the footer of a Parquet file turns into.
_COLUMN, _CELL, _TEXT, _FOOTER = 8000, 40, 4, 60

#: Bytes of a CSV file that pyarrow is given at a time: at least, and at most.
_BLOCKS = (2**22, 2**26)

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


def parse_text(path: Path, budget: Budget) -> Content:
    """A CSV or TSV file whose first line names the columns."""
    return content(*text_columns(path, budget), budget)


def text_columns(path: Path, budget: Budget) -> tuple[list[str], list[Any]]:
    """Names and columns of a CSV or TSV file, as they stand there.

    Every column is read as text and its type decided by the whole of it: pyarrow
    would decide by the first block of the file, and fail on what comes later.
    """
    delimiter = "\t" if split_name(path)[1] == ".tsv" else ","
    count = n_columns(path, delimiter, budget)
    size = {f"f{j}": pa.string() for j in range(count)}
    try:
        table = _csv(path, delimiter, size, budget)
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


def _csv(path: Path, delimiter: str, size: dict[str, Any], budget: Budget) -> Any:
    with _Charged(open_binary(path, budget), delimiter, budget) as file:
        return pyarrow.csv.read_csv(
            file,
            # One thread, because only then does an error name its row.
            pyarrow.csv.ReadOptions(
                autogenerate_column_names=True,
                use_threads=False,
                block_size=int(np.clip(budget.line, *_BLOCKS)),
            ),
            pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            pyarrow.csv.ConvertOptions(column_types=size, strings_can_be_null=False),
        )


class _Charged(io.BufferedReader):
    """Text that is charged as it is read: its bytes, and a cell for each delimiter."""

    def __init__(self, file: IO[bytes], delimiter: str, budget: Budget) -> None:
        super().__init__(file)  # type: ignore[arg-type]
        self._ends, self._budget = (delimiter.encode(), b"\n"), budget

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        n_cells = sum(map(data.count, self._ends))
        self._budget.take(_CELL * n_cells + _TEXT * len(data), "its cells")
        return data


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


def parse_parquet(path: Path, budget: Budget) -> Content:
    """A Parquet file; an index that pandas stored with it is left out."""
    return content(*parquet_columns(path, budget), budget)


def parquet_columns(path: Path, budget: Budget) -> tuple[list[str], list[Any]]:
    """Names and columns of a Parquet file, as they stand there.

    Of a column of lists or other nested values there is the type, and no row.
    """
    with open_binary(path, budget) as file:
        source = io.BytesIO(file.read()) if split_name(path)[2] else file
        try:
            opened, schema = open_parquet(source, budget)
            flat = [f.name for f in schema if not pa.types.is_nested(f.type)]
            _charge_rows(opened.metadata, len(flat), budget)
            table = plain(opened.read(flat).unify_dictionaries(), schema, budget)
        except Refused:
            raise
        except PARQUET_ERRORS as error:
            raise Refused(f"cannot be read as Parquet: {error}") from error
    kept = [f for f in schema if f.name not in stored_index(schema)]
    return [f.name for f in kept], [
        table[f.name] if f.name in flat else pa.chunked_array([], f.type) for f in kept
    ]


def open_parquet(source: Any, budget: Budget) -> tuple[Any, Any]:
    """A Parquet file and its schema, charged before it is parsed.

    Texts are read as dictionaries, which repeat none, until `plain` has charged them.
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
    texts = [f.name for f in schema if _holds_texts(f.type)]
    file = pq.ParquetFile(source, read_dictionary=texts)
    sizes = [group.total_byte_size for group in _groups(file.metadata)]
    budget.check(_TEXT * max(sizes, default=0), "its pages")
    return file, schema


def _groups(metadata: Any) -> list[Any]:
    return [metadata.row_group(i) for i in range(metadata.num_row_groups)]


def _charge_rows(metadata: Any, n_columns: int, budget: Budget) -> None:
    groups = _groups(metadata)
    rows = max(metadata.num_rows, sum(group.num_rows for group in groups))
    if not rows:
        raise Refused("has 0 rows; at least one is needed.")
    budget.take(_CELL * rows * n_columns, f"its {rows:,} rows of {n_columns:,} columns")
    budget.take(_TEXT * sum(group.total_byte_size for group in groups), "its pages")


def plain(table: Any, schema: Any, budget: Budget) -> Any:
    """The table with texts that are no longer in dictionaries, where the file has none.

    Their bytes are charged first: a few bytes can stand for any number of them.
    """
    for j, name in enumerate(table.column_names):
        if _holds_texts(schema.field(name).type):
            table = table.set_column(j, name, decoded(table[name], name, budget))
    return table


def decoded(column: Any, name: str, budget: Budget) -> Any:
    """A column of texts that is no longer in dictionaries, charged before."""
    chunks = [_decoded(chunk, name, budget) for chunk in column.iterchunks()]
    return pa.chunked_array(chunks, chunks[0].type)


def _decoded(chunk: Any, name: str, budget: Budget) -> Any:
    used = pc.binary_length(chunk.dictionary).take(chunk.indices)
    n_bytes = pc.sum(pc.cast(used, pa.int64())).as_py() or 0
    budget.take(_TEXT * n_bytes, f"texts of column {short(name)}")
    is_text = pa.types.is_string(chunk.dictionary.type)
    # Offsets in 64 bits: more than 2 GiB of texts may be in a chunk.
    words = chunk.dictionary.cast(pa.large_string() if is_text else pa.large_binary())
    return pa.DictionaryArray.from_arrays(chunk.indices, words).dictionary_decode()


def stored_index(schema: Any) -> set[str]:
    """Columns that pandas stored as the index."""
    about = schema.pandas_metadata or {}
    return {name for name in about.get("index_columns", []) if isinstance(name, str)}


def _holds_texts(kind: Any) -> bool:
    """Whether a cell may be of any length."""
    views = (pa.types.is_string_view, pa.types.is_binary_view)
    return _is_text(kind) or any(
        check(kind) for check in (pa.types.is_binary, pa.types.is_large_binary, *views)
    )


def _is_text(kind: Any) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def n_columns(path: Path, delimiter: str, budget: Budget | None = None) -> int:
    """How many columns the header of a CSV file has, which are charged."""
    budget = budget or Budget.of(path)
    header: list[str] = []
    try:
        rows = csv.reader(_charged_lines(path, budget), delimiter=delimiter)
        header = next((row for row in rows if row), [])
    except csv.Error as error:
        raise Refused(f"line 1: the header cannot be read: {error}.") from error
    if not header:
        raise Refused("is empty; its first line must name the columns.")
    budget.take_columns(len(header), _COLUMN)
    return len(header)


def _charged_lines(path: Path, budget: Budget) -> Iterator[str]:
    """Lines of a header, which is split whole: quotes may go over many of them."""
    for _, line in lines(path, budget):
        budget.take(16 * len(line), "its columns")
        yield line


def content(
    names: list[str], columns: list[Any], budget: Budget | None = None
) -> Content:
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
    return Content(Table(names, values, nominal, budget))


def _column(array: Any) -> Column:
    """Numbers, or positions in a list of texts; NaN where the value is missing."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        if _is_text(kind.value_type):
            return _numbers(array.indices), array.dictionary.to_pylist()
        if not _holds_texts(kind.value_type):
            return _column(array.dictionary_decode())
    if _is_text(kind):
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
