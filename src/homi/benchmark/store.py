"""Results of an experiment: its journal and, for what is not in it, its table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from homi.benchmark import journal
from homi.benchmark.cells import Cell, Record, Study, Task
from homi.benchmark.packed import read_row, read_table, table_of, write_table


def store(directory: Path, task: Task, record: Record) -> None:
    """Add a result to the journal."""
    journal.write(directory, task, record)


def recall(directory: Path, task: Task) -> Record | None:
    """Return the result of a task, or None if there is none."""
    try:
        return journal.read(directory, task)
    except FileNotFoundError:
        return read_row(table_of(directory), task)


def place(directory: Path, task: Task) -> str:
    """Say where the result of a task is, for a message."""
    path = task.path(directory)
    return str(path) if path.exists() else f"{table_of(directory)}: {task}"


def everything(directory: Path) -> dict[Task, Record]:
    """Read all results, in the order of their names. The journal has precedence."""
    found = read_table(table_of(directory))
    found |= {task: journal.read(directory, task) for task in journal.tasks(directory)}
    return {task: found[task] for task in sorted(found, key=str)}


def stored(directory: Path) -> Iterator[tuple[Cell, Record]]:
    """Read all cells."""
    for task, record in everything(directory).items():
        if isinstance(task, Cell):
            yield task, record


def stored_studies(directory: Path) -> Iterator[tuple[Study, Record]]:
    """Read all studies."""
    for task, record in everything(directory).items():
        if isinstance(task, Study):
            yield task, record


def pack(directory: Path, records: dict[Task, Record]) -> Path:
    """Write these results into the table of a journal, and nothing else into it.

    Raises
    ------
    ValueError
        If a file of the journal is not as this program writes it: the table would not
        restore it byte for byte.
    """
    for task, record in records.items():
        path = task.path(directory)
        if path.exists() and path.read_bytes() != journal.encode(task, record):
            raise ValueError(
                f"{path} is not as homi writes it, so that a table cannot restore it; "
                "delete it and run the experiment again."
            )
    table = table_of(directory)
    write_table(table, records)
    return table


class Unpacked(NamedTuple):
    """Tasks that an unpack wrote, and those with another result in the journal."""

    written: list[Task]
    kept: list[Task]


def unpack(directory: Path) -> Unpacked:
    """Write the journal from the table. A file that is there is not replaced."""
    done = Unpacked([], [])
    table = table_of(directory)
    if not table.is_file():
        raise FileNotFoundError(f"there is no table {table} to unpack.")
    for task, record in read_table(table).items():
        path = task.path(directory)
        if not path.exists():
            journal.write(directory, task, record)
            done.written.append(task)
        elif path.read_bytes() != journal.encode(task, record):
            done.kept.append(task)
    return done
