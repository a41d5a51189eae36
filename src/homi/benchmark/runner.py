"""Run the missing tasks of an experiment."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from homi.atomic_write import remove_leftovers_below
from homi.benchmark.cells import Cell, Record, Study, Task
from homi.benchmark.compute import asked, compute, stopped
from homi.benchmark.engines import Engine, local
from homi.benchmark.experiment import Experiment
from homi.benchmark.limited import Stopped, within
from homi.benchmark.store import everything, recall, store

Done = Callable[[Task, Record], None]


def missing(
    experiment: Experiment, tasks: Iterable[Task], directory: Path
) -> list[Task]:
    """Return the tasks without a current result."""
    return [task for task in tasks if not is_current(experiment, task, directory)]


def is_current(experiment: Experiment, task: Task, directory: Path) -> bool:
    """Return True if a task has a result of what the experiment asks for now."""
    record = recall(directory, task)
    return record is not None and record["asked"] == asked(experiment, task)


class Stored(NamedTuple):
    """Results of an experiment: current ones, stale ones and foreign ones."""

    current: list[tuple[Task, Record]]
    stale: list[Task]
    foreign: list[Task]


def sort_out(experiment: Experiment, directory: Path) -> Stored:
    """Read all results of an experiment, and separate those that are not current.

    Those that were asked for with something else are stale, as for :func:`missing`;
    those of tasks that are not in the experiment are foreign.
    """
    wanted, found = set(experiment.tasks()), Stored([], [], [])
    for task, record in everything(directory).items():
        if task not in wanted:
            found.foreign.append(task)
        elif record["asked"] != asked(experiment, task):
            found.stale.append(task)
        else:
            found.current.append((task, record))
    return found


class Failure(NamedTuple):
    """A task that ended in an error, and the message."""

    task: Task
    error: str


def run(
    experiment: Experiment,
    tasks: Iterable[Task],
    directory: Path,
    *,
    engine: Engine | None = None,
    done: Done = lambda task, record: None,
    failed: Callable[[Failure], None] = lambda failure: None,
) -> list[Failure]:
    """Compute tasks and store each result as soon as it is there.

    Whatever ends the run, at most the tasks under way are lost. A task that fails
    does not end the others; those that failed are returned.
    """
    remove_leftovers_below(directory)
    failures = []
    work = partial(_outcome, experiment, current_commit(), directory)
    for task, outcome in (engine or local(1))(work, tasks):
        if isinstance(outcome, str):
            failures.append(Failure(task, outcome))
            failed(failures[-1])
        else:
            store(directory, task, outcome)
            done(task, outcome)
    return failures


def _outcome(
    experiment: Experiment, commit: str, directory: Path, task: Task
) -> tuple[Task, Record | str]:
    try:
        if experiment.limit is None or isinstance(task, Study):
            return task, compute(experiment, task, commit)
        return task, _limited(experiment, commit, directory, task)
    except Exception as error:  # any error concerns this task only
        return task, f"{type(error).__name__}: {error}"


def _limited(
    experiment: Experiment, commit: str, directory: Path, cell: Cell
) -> Record:
    """Compute a cell within the limits; do not try one whose first fold was over."""
    assert experiment.limit is not None
    first = recall(directory, replace(cell, fold=0)) if cell.fold else None
    if first is not None and "stopped" in first:
        return stopped(experiment, cell, commit, first["stopped"], 0.0)
    started = time.perf_counter()
    limits = experiment.limit.minutes, experiment.limit.gigabytes
    found = within(*limits, compute, experiment, cell, commit)
    if not isinstance(found, Stopped):
        return found
    spent = time.perf_counter() - started
    return stopped(experiment, cell, commit, found.reason, spent)


def current_commit() -> str:
    """Return the commit of this code, and whether the checkout has changes."""
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
