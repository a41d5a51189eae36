"""Results of other machines: copy them, and compute some again to check them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from homi.benchmark.cells import Cell, Record, Task
from homi.benchmark.compute import compute, rows_digest
from homi.benchmark.experiment import Experiment
from homi.benchmark.runner import current_commit, is_current, missing
from homi.benchmark.store import recall, store, stored, stored_studies

#: Parts of a record that must be the same when it is computed again.
_COMPARED = ("metrics", "found")


class Difference(NamedTuple):
    """A task with two results, and their largest difference."""

    task: Task
    size: float


class Merged(NamedTuple):
    """Tasks whose results were copied, and tasks whose two results differ."""

    taken: list[Task]
    conflicts: list[Difference]


def merge(
    experiment: Experiment, sources: Iterable[Path], directory: Path, tolerance: float
) -> Merged:
    """Copy current results that are missing here. Nothing here is replaced."""
    merged = Merged([], [])
    for source in sources:
        for task in experiment.tasks():
            if is_current(experiment, task, source):
                _take(experiment, task, source, directory, tolerance, merged)
    return merged


def _take(
    experiment: Experiment,
    task: Task,
    source: Path,
    directory: Path,
    tolerance: float,
    merged: Merged,
) -> None:
    theirs = _without_name(recall(source, task))
    if not is_current(experiment, task, directory):
        store(directory, task, theirs)
        merged.taken.append(task)
        return
    size = difference(_without_name(recall(directory, task)), theirs)
    if size > tolerance:
        merged.conflicts.append(Difference(task, size))


def _without_name(record: Record | None) -> Record:
    assert record is not None
    return {key: value for key, value in record.items() if key not in ("cell", "study")}


def verify(
    experiment: Experiment,
    tasks: Iterable[Task],
    directory: Path,
    count: int,
    seed: int,
) -> Iterator[Difference]:
    """Compute a random sample of the stored tasks again and compare."""
    tasks = list(tasks)
    absent = set(missing(experiment, tasks, directory))
    there = [task for task in tasks if task not in absent]
    chosen = random.Random(seed).sample(there, min(count, len(there)))
    commit = current_commit()
    for task in chosen:
        stored = _without_name(recall(directory, task))
        yield Difference(task, difference(stored, compute(experiment, task, commit)))


def difference(one: Record, other: Record) -> float:
    """Return the largest difference of any value; infinite if the results are unlike.

    Results are unlike if they have different values, or were tested on different rows.
    """
    made = (record.get("made_with", {}) for record in (one, other))
    rows = _gap(*(part.get("test_rows_sha256") for part in made))
    return max(rows, *(_gap(one.get(key), other.get(key)) for key in _COMPARED))


def wrong_folds(directory: Path) -> list[Cell]:
    """Return the cells whose test rows are not those of the stored fold.

    Nothing is computed again: the checksum in a cell is compared with that of the rows
    which the study ``folds`` lists. Cells of a data set without this study are not
    checked.
    """
    digests: dict[tuple[str, str, int], str] = {}
    for study, record in stored_studies(directory):
        if study.kind == "folds":
            of_rows = np.array(record["found"]["fold_of_row"].split(), dtype=int)
            for fold in range(of_rows.max() + 1):
                digest = rows_digest(np.flatnonzero(of_rows == fold))
                digests[study.protocol, study.dataset, fold] = digest
    known = {(protocol, dataset) for protocol, dataset, _ in digests}
    return [
        cell
        for cell, record in stored(directory)
        if (cell.protocol, cell.dataset) in known
        and record["made_with"].get("test_rows_sha256")
        != digests.get((cell.protocol, cell.dataset, cell.fold))
    ]


def _gap(one: Any, other: Any) -> float:
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return max((_gap(one[key], other[key]) for key in one), default=0.0)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        if len(one) != len(other):
            return float("inf")
        return max((_gap(a, b) for a, b in zip(one, other, strict=True)), default=0.0)
    if isinstance(one, float | int) and isinstance(other, float | int):
        if np.isnan(one) or np.isnan(other):
            return 0.0 if np.isnan(one) and np.isnan(other) else float("inf")
        return 0.0 if one == other else float(abs(one - other))
    return 0.0 if one == other else float("inf")
