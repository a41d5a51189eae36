"""The table of an experiment: all results in one Parquet file, which is committed.

A row is a task. Metrics, seconds and provenance have a column per value; parameters,
what was asked for and the findings of a study are JSON text. The column ``layout``
lists the entries of a record in their order, so that every record is restored byte for
byte. The fold of each row of a data set is a finding like any other: compressed, those
of all data sets take less space than the code that would compute them again, and they
stay readable when the algorithm that shuffles them changes.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from homi.atomic_write import target_of
from homi.benchmark.cells import STUDIES, Cell, Record, Study, Task
from homi.benchmark.journal import encode
from homi.benchmark.records import check_record, key_of
from homi.datasets.files import writing
from homi.typing import Fields

_REMEDY = "restore the table from version control, or delete it and pack again"

#: Columns that name the task of a row.
_NAMES = {
    "protocol": pa.string(),
    "dataset": pa.string(),
    "method": pa.string(),
    "fold": pa.int64(),
    "study": pa.string(),
}

#: Parts of a record that have a column per value.
_SPREAD = ("metrics", "seconds", "made_with")

#: Entry of the table's metadata: a checksum of all results in it.
_CHECKSUM = b"homi_sha256"

#: Metadata of a column whose text is JSON.
_IS_JSON = {b"homi": b"json"}

_Row = Fields


def table_of(directory: Path) -> Path:
    """Return the table that belongs to a journal: ``results/paper.parquet``."""
    return directory.parent / f"{directory.name}.parquet"


def write_table(path: Path, records: Mapping[Task, Record]) -> None:
    """Write results as one table, atomically, after reading it back.

    Raises
    ------
    ValueError
        If a record would not be restored byte for byte.
    """
    target_of(path)
    content = _content(records)
    rows = _rows(content)
    for task, record in records.items():
        restored = _record(task, rows[task])
        if encode(task, restored) != encode(task, record):
            raise ValueError(
                f"the result of {task} has values that a table cannot hold; delete it "
                "and run the experiment again."
            )
    with writing(path) as file:
        file.write(content)


def read_table(path: Path) -> dict[Task, Record]:
    """Read and check all results of a table; none if there is no such file.

    Raises
    ------
    ValueError
        If the file is damaged, is another kind of table, or has a damaged row.
    """
    rows = _rows_of(path)
    return {task: _checked(path, task, row) for task, row in rows.items()}


def read_row(path: Path, task: Task) -> Record | None:
    """Read and check the result of one task; None if the table does not have it."""
    row = _rows_of(path).get(task)
    return None if row is None else _checked(path, task, row)


def _checked(path: Path, task: Task, row: _Row) -> Record:
    return check_record(_record(task, row), task, f"{path}, row {task},", _REMEDY)


def _rows_of(path: Path) -> dict[Task, _Row]:
    try:
        state = path.stat()
    except FileNotFoundError:
        return {}
    return _cached_rows(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)
def _cached_rows(path: Path, modified: int, size: int) -> dict[Task, _Row]:
    try:
        return _rows(path.read_bytes())
    # Damage shows as any of these, depending on the byte.
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(
            f"{path} is damaged, or no table of results ({reason}); {_REMEDY}."
        ) from error


def _content(records: Mapping[Task, Record]) -> bytes:
    tasks = sorted(records, key=str)
    flat = [_flat(task, records[task]) for task in tasks]
    columns: Fields = {}
    fields: list[pa.Field] = []
    for name, kind in _NAMES.items():
        columns[name] = [_names(task).get(name) for task in tasks]
        fields.append(pa.field(name, kind))
    columns["layout"] = [json.dumps(list(row), ensure_ascii=False) for row in flat]
    fields.append(pa.field("layout", pa.string()))
    for name in dict.fromkeys(key for row in flat for key in row):
        values = [row.get(name) for row in flat]
        kind = _type_of(values)
        if kind is None:
            values = [_json(row[name]) if name in row else None for row in flat]
        columns[name] = values
        metadata = _IS_JSON if kind is None else None
        fields.append(pa.field(name, kind or pa.string(), metadata=metadata))
    checksum = _checksum(dict(zip(tasks, flat, strict=True)))
    table = pa.table(columns, pa.schema(fields, metadata={_CHECKSUM: checksum}))
    file = io.BytesIO()
    texts = [field.name for field in fields if pa.types.is_string(field.type)]
    pq.write_table(
        table,
        file,
        compression="zstd",
        compression_level=19,
        use_dictionary=texts,
    )
    return file.getvalue()


def _names(task: Task) -> Fields:
    names = asdict(task)
    return names if isinstance(task, Cell) else {**names, "study": names["kind"]}


def _flat(task: Task, record: Record) -> _Row:
    """Return the entries of a record, those of some parts one by one."""
    flat: _Row = {}
    for key, value in record.items():
        if key == key_of(task):
            continue
        if key in _SPREAD and isinstance(value, dict) and value:
            flat |= {f"{key}.{name}": part for name, part in value.items()}
        else:
            flat[key] = value
    return flat


def _type_of(values: Iterable[Any]) -> pa.DataType | None:
    """Return the type that holds the values exactly, or None if only JSON does."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int} and all(abs(value or 0) < 2**63 for value in values):
        return pa.int64()
    known = {float: pa.float64(), str: pa.string()}
    return known.get(kinds.pop()) if len(kinds) == 1 else None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _rows(content: bytes) -> dict[Task, _Row]:
    table = pq.read_table(pa.BufferReader(content))
    expected = (table.schema.metadata or {}).get(_CHECKSUM)
    if expected is None:
        raise ValueError("it has no checksum of homi")
    as_json = [f.name for f in table.schema if f.metadata and b"homi" in f.metadata]
    rows: dict[Task, _Row] = {}
    for row in table.to_pylist():
        task = _task(row)
        if task in rows:
            raise ValueError(f"it has two rows of {task}")
        for name in as_json:
            if row[name] is not None:
                row[name] = json.loads(row[name])
        rows[task] = {name: row[name] for name in json.loads(row["layout"])}
    if _checksum(rows) != expected:
        raise ValueError("its checksum does not match")
    return rows


def _checksum(rows: Mapping[Task, _Row]) -> bytes:
    """Return the checksum of results; Parquet has one for its pages only."""
    digest = hashlib.sha256()
    for task, row in rows.items():
        digest.update(_json([asdict(task), row]).encode())
    return digest.hexdigest().encode()


def _task(row: _Row) -> Task:
    kind = row["study"]
    used = ("protocol", "dataset") + (("method",) if kind is None else ())
    for key in used:
        # A name becomes a part of a path when the table is unpacked.
        name = row[key]
        if not name or name in (".", "..") or set(name) & set("/\\\0"):
            raise ValueError(f"{name!r} is no name of a {key}")
    if kind is None:
        return Cell(row["protocol"], row["dataset"], row["method"], int(row["fold"]))
    if kind not in STUDIES:
        raise ValueError(f"it has a study of an unknown kind, {kind!r}")
    return Study(row["protocol"], row["dataset"], kind)


def _record(task: Task, row: _Row) -> Record:
    record: Record = {key_of(task): asdict(task)}
    for path, value in row.items():
        part, dot, name = path.partition(".")
        if dot:
            record.setdefault(part, {})[name] = value
        else:
            record[part] = value
    return record
