"""Cells and studies, each its own file.

A cell is one fold of one method on one data set by one protocol, a study what is
learnt from all rows of a data set. What a result belongs to is where it is stored.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from homi.benchmark.records import fault_of
from homi.datasets.files import writing

Record = dict[str, Any]


@dataclass(frozen=True, order=True)
class Cell:
    """What a result belongs to. It names the file, and the seeds follow from it."""

    protocol: str
    dataset: str
    method: str
    fold: int

    def path(self, directory: Path) -> Path:
        """The cell's file below the directory of an experiment's results."""
        return (
            directory / self.protocol / self.dataset / self.method / f"{self.fold}.json"
        )

    def seed(self, *parts: str) -> int:
        """A seed that depends on the named parts alone: all of them for a model."""
        return seed_of(*(str(getattr(self, part)) for part in parts))

    def __str__(self) -> str:
        return f"{self.protocol}  {self.dataset}  {self.method}  fold {self.fold}"


@dataclass(frozen=True, order=True)
class Study:
    """What is learnt from all rows of a data set; ``kind`` is one of ``STUDIES``."""

    protocol: str
    dataset: str
    kind: str

    #: All of them look at HOMI, or at the data alone.
    method = "HOMI"

    def path(self, directory: Path) -> Path:
        """The study's file below the directory of an experiment's results."""
        return directory / self.protocol / self.dataset / f"{self.kind}.json"

    def __str__(self) -> str:
        return f"{self.protocol}  {self.dataset}  {self.kind}"


#: The size of a data set and of its label matrix; the objective sweep by sweep; B; the
#: fold of each row, the checksum of which is in every cell.
STUDIES = ("characteristics", "convergence", "correlations", "folds")

Task = Cell | Study

#: The name in a cell's metrics of the AUC that counts ties half.
USUAL_AUC = "roc_auc"


def seed_of(*parts: str) -> int:
    """A 32-bit seed from names."""
    digest = hashlib.sha256("/".join(parts).encode()).digest()
    return int.from_bytes(digest[:4], "big")


def store(directory: Path, task: Task, record: Record) -> None:
    """Write a task's file, whole or not at all."""
    path = task.path(directory)
    path.parent.mkdir(parents=True, exist_ok=True)
    named = {_key(task): asdict(task), **record}
    text = json.dumps(named, indent=1, ensure_ascii=False)
    with writing(path) as file:
        file.write(text.encode() + b"\n")


def recall(directory: Path, task: Task) -> Record | None:
    """A task's record, or None if there is none."""
    try:
        return _checked(task.path(directory), task)
    except FileNotFoundError:
        return None


def stored(directory: Path) -> Iterator[tuple[Cell, Record]]:
    """All cells below a directory, in the order of their names."""
    for path in sorted(directory.glob("*/*/*/*.json")):
        protocol, dataset, method = path.relative_to(directory).parts[:3]
        fold = int(path.stem) if path.stem.isdecimal() else -1
        cell = Cell(protocol, dataset, method, fold)
        if cell.path(directory) != path:
            raise ValueError(
                f"{path} is not where a result is stored: its name must be the number "
                "of a fold; move or delete it."
            )
        yield cell, _checked(path, cell)


def stored_studies(directory: Path) -> Iterator[tuple[Study, Record]]:
    """All studies below a directory, in the order of their names."""
    for path in sorted(directory.glob("*/*/*.json")):
        protocol, dataset = path.relative_to(directory).parts[:2]
        if path.stem in STUDIES:
            study = Study(protocol, dataset, path.stem)
            yield study, _checked(path, study)


def _key(task: Task) -> str:
    return "cell" if isinstance(task, Cell) else "study"


def _checked(path: Path, task: Task) -> Record:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        values = "metrics" if isinstance(task, Cell) else task.kind
        fault = fault_of(record, _key(task), values)
    except (ValueError, RecursionError) as error:
        fault = str(error)
    if fault is not None:
        raise ValueError(
            f"{path} is not a result of this program ({fault}); delete it and run the "
            "experiment again."
        )
    named = record[_key(task)]
    if named != asdict(task):
        raise ValueError(
            f"{path} holds the result of {named}; a result's place names it: move the "
            "file back or delete it."
        )
    return record
