"""The journal: one JSON file per finished task, below one directory.

Each result is a file of its own, so that a killed run loses only the tasks that it was
working on. The directory is not committed; :mod:`homi.benchmark.packed` has the table
that is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from homi.benchmark.cells import STUDIES, Cell, Record, Study, Task
from homi.benchmark.records import check_record, damaged, key_of
from homi.datasets.files import writing

_REMEDY = "delete it and run the experiment again"


def encode(task: Task, record: Record) -> bytes:
    """Return the content of a task's file."""
    named = {key_of(task): asdict(task), **record}
    return json.dumps(named, indent=1, ensure_ascii=False).encode() + b"\n"


def write(directory: Path, task: Task, record: Record) -> None:
    """Write a task's file atomically."""
    path = task.path(directory)
    path.parent.mkdir(parents=True, exist_ok=True)
    with writing(path) as file:
        file.write(encode(task, record))


def read(directory: Path, task: Task) -> Record:
    """Read and check a task's file.

    Raises
    ------
    FileNotFoundError
        If the task has no file.
    ValueError
        If the file is damaged or of another task.
    """
    path = task.path(directory)
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise damaged(str(path), error, _REMEDY) from error
    return check_record(record, task, str(path), _REMEDY)


def tasks(directory: Path) -> Iterator[Task]:
    """List the tasks that have a file, by the names of the files."""
    for path in directory.glob("*/*/*.json"):
        if path.stem in STUDIES:
            protocol, dataset = path.relative_to(directory).parts[:2]
            yield Study(protocol, dataset, path.stem)
    for path in directory.glob("*/*/*/*.json"):
        protocol, dataset, method = path.relative_to(directory).parts[:3]
        fold = int(path.stem) if path.stem.isdecimal() else -1
        cell = Cell(protocol, dataset, method, fold)
        if cell.path(directory) != path:
            raise ValueError(
                f"{path} is not where a result is stored: its name must be the number "
                "of a fold; move or delete it."
            )
        yield cell
