"""Run the cells that are missing, and nothing else."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import joblib

from homi.benchmark.cells import Cell, Record, recall, store
from homi.benchmark.compute import asked, compute
from homi.benchmark.experiment import Experiment

Done = Callable[[Cell, Record], None]


def missing(
    experiment: Experiment, cells: Iterable[Cell], directory: Path
) -> list[Cell]:
    """Cells without a result, or whose result was asked for with something else."""
    return [cell for cell in cells if not _is_current(experiment, cell, directory)]


def _is_current(experiment: Experiment, cell: Cell, directory: Path) -> bool:
    record = recall(directory, cell)
    wanted = asked(experiment.ask(cell), experiment.folds)
    return record is not None and record["asked"] == wanted


def run(
    experiment: Experiment,
    cells: Iterable[Cell],
    directory: Path,
    *,
    jobs: int = 1,
    done: Done = lambda cell, record: None,
) -> None:
    """Compute cells in ``jobs`` processes; each is stored as soon as it is there.

    Whatever ends the run, at most the cells under way are lost.
    """
    commit = current_commit()
    for cell, record in _computed(experiment, list(cells), commit, jobs):
        store(directory, cell, record)
        done(cell, record)


def _computed(
    experiment: Experiment, cells: list[Cell], commit: str, jobs: int
) -> Iterator[tuple[Cell, Record]]:
    task = joblib.delayed(_computed_one)
    pool = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
    return pool(task(experiment, cell, commit) for cell in cells)


def _computed_one(
    experiment: Experiment, cell: Cell, commit: str
) -> tuple[Cell, Record]:
    return cell, compute(experiment, cell, commit)


def current_commit() -> str:
    """The commit of this code if it runs from a clean checkout; else it says so."""
    here = Path(__file__).parent
    try:
        commit = _git(here, "rev-parse", "HEAD")
        changed = _git(here, "status", "--porcelain", "--", str(here.parent))
    except (OSError, subprocess.CalledProcessError):
        return "not in a checkout"
    return f"{commit} with changes" if changed else commit


def _git(directory: Path, *arguments: str) -> str:
    command = ["git", "-C", str(directory), *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=True
    ).stdout.strip()
