"""Cells: one fold of one method on one data set by one protocol, each its own file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

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


def seed_of(*parts: str) -> int:
    """A 32-bit seed from names."""
    digest = hashlib.sha256("/".join(parts).encode()).digest()
    return int.from_bytes(digest[:4], "big")


def store(directory: Path, cell: Cell, record: Record) -> None:
    """Write a cell's file, whole or not at all."""
    path = cell.path(directory)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"cell": asdict(cell), **record}, indent=1, ensure_ascii=False)
    with writing(path) as file:
        file.write(text.encode() + b"\n")


def recall(directory: Path, cell: Cell) -> Record | None:
    """A cell's record, or None if there is none."""
    try:
        return _checked(cell.path(directory), cell)
    except FileNotFoundError:
        return None


def stored(directory: Path) -> Iterator[tuple[Cell, Record]]:
    """All cells below a directory, in the order of their names."""
    for path in sorted(directory.glob("*/*/*/*.json")):
        protocol, dataset, method = path.relative_to(directory).parts[:3]
        cell = Cell(protocol, dataset, method, int(path.stem))
        yield cell, _checked(path, cell)


def _checked(path: Path, cell: Cell) -> Record:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        named = record["cell"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path} is not a result of this program ({error}); delete it and run the "
            "experiment again."
        ) from error
    if named != asdict(cell):
        raise ValueError(
            f"{path} holds the result of {named}; a cell's place names it: move the "
            "file back or delete it."
        )
    return record
