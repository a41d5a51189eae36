"""Tasks of an experiment: cells and studies.

A cell is one fold of one method on one data set under one protocol. A study looks at
all rows of a data set. A task names the place of its result.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from homi.typing import Fields

Record = Fields


@dataclass(frozen=True, order=True)
class Cell:
    """One fold of one method; it names the result, and seeds derive from it."""

    protocol: str
    dataset: str
    method: str
    fold: int

    def path(self, directory: Path) -> Path:
        """Return the cell's file below the directory of the journal."""
        return (
            directory / self.protocol / self.dataset / self.method / f"{self.fold}.json"
        )

    def seed(self, *parts: str) -> int:
        """Return a seed that depends on the named fields only."""
        return seed_of(*(str(getattr(self, part)) for part in parts))

    def __str__(self) -> str:
        """Return the name for messages."""
        return f"{self.protocol}  {self.dataset}  {self.method}  fold {self.fold}"


@dataclass(frozen=True, order=True)
class Study:
    """A study of all rows of a data set; ``kind`` is one of ``STUDIES``."""

    protocol: str
    dataset: str
    kind: str

    #: Studies look at HOMI or at the data only.
    method = "HOMI"

    def path(self, directory: Path) -> Path:
        """Return the study's file below the directory of the journal."""
        return directory / self.protocol / self.dataset / f"{self.kind}.json"

    def __str__(self) -> str:
        """Return the name for messages."""
        return f"{self.protocol}  {self.dataset}  {self.kind}"


#: Size of a data set and of its label matrix; objective after each sweep; matrix B;
#: test fold of each row, whose checksum is in every cell.
STUDIES = ("characteristics", "convergence", "correlations", "folds")

Task = Cell | Study

#: Name, in a cell's metrics, of the AUC that counts ties as one half.
USUAL_AUC = "roc_auc"


def seed_of(*parts: str) -> int:
    """Return a 32-bit seed derived from names."""
    digest = hashlib.sha256("/".join(parts).encode()).digest()
    return int.from_bytes(digest[:4], "big")
