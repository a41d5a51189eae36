"""Checks of a stored record: complete, of the right types, and of the right task."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from homi.benchmark.cells import Cell, Record, Task
from homi.benchmark.values import said
from homi.typing import Fields

#: Timed steps of a cell.
TIMES = ("search", "fit", "predict")


def key_of(task: Task) -> str:
    """Return the entry of a record that names its task."""
    return "cell" if isinstance(task, Cell) else "study"


def check_record(record: Any, task: Task, place: str, remedy: str) -> Record:
    """Return the record if it is whole and belongs to the task.

    Parameters
    ----------
    record : object
        What was read.
    task : Cell or Study
        What the place says it is.
    place, remedy : str
        Where it was read, and what to do if it is damaged; both for the message.

    Raises
    ------
    ValueError
        If a part is missing, has the wrong type, or names another task.
    """
    if (fault := _fault_of(record, task)) is not None:
        raise damaged(place, fault, remedy)
    named = record[key_of(task)]
    if named != asdict(task):
        raise ValueError(
            f"{place} holds the result of {named}, not of the task that its place "
            "names; move it back or delete it."
        )
    return record


def damaged(place: str, fault: object, remedy: str) -> ValueError:
    """Return the error for a record that cannot be used."""
    return ValueError(f"{place} is not a result of this program ({fault}); {remedy}.")


def _fault_of(record: Any, task: Task) -> str | None:
    if not isinstance(record, dict):
        return "it is no object"
    key = key_of(task)
    main = "metrics" if key == "cell" else "found"
    for part in (key, main, "parameters", "seconds", "asked", "made_with"):
        if not isinstance(record.get(part), dict):
            return f"{part} is {said(record.get(part))}, not an object"
    for name, value in record["seconds"].items():
        if not (_is_number(value) and 0 <= value < math.inf):
            return f"{said(name)} took {said(value)} seconds"
    if isinstance(task, Cell):
        return _fault_of_cell(record)
    return _fault_of_findings(record["found"], _FINDINGS[task.kind])


def _fault_of_cell(record: Fields) -> str | None:
    metrics, wanted = record["metrics"], record["asked"].get("metrics", [])
    for name in wanted if isinstance(wanted, list) else [wanted]:
        if not isinstance(name, str) or name not in metrics:
            return f"{said(name)} was asked for and is not there"
    for name, value in metrics.items():
        # The AUC of labels with a single value is NaN.
        if not (_is_number(value) and (math.isnan(value) or 0 <= value <= 1)):
            return f"{said(name)} is {said(value)}, not a number from 0 to 1"
    if lacking := [name for name in TIMES if name not in record["seconds"]]:
        return f"the seconds of {lacking[0]} are not there"
    return None


def _fault_of_findings(found: Fields, kinds: dict[str, _Is]) -> str | None:
    if found.keys() != kinds.keys():
        differ = sorted(found.keys() ^ kinds.keys())
        return f"{said(differ[0])} is missing, or should not be there"
    for name, is_right in kinds.items():
        if not is_right(found[name]):
            return f"{name} is {said(found[name])}"
    return None


def _is_number(value: Any) -> bool:
    # An integer in JSON can be too large for arithmetic.
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, float) or (is_integer and abs(value) < 2**63)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _list_of(is_right: _Is) -> _Is:
    return lambda value: isinstance(value, list) and all(map(is_right, value))


def _is_square(value: Any) -> bool:
    rows = _list_of(_list_of(_is_number))
    return rows(value) and all(len(row) == len(value) for row in value)


def _by_gamma(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_square, value.values()))


def _is_fold_list(value: Any) -> bool:
    return _is_text(value) and re.fullmatch(r"\d{1,3}( \d{1,3})*", value) is not None


_Is = Callable[[Any], bool]

_COUNTS = (
    *("n_samples", "n_features", "n_labels", "cardinality", "density", "distinct"),
    *("rank", "imbalance_mean", "imbalance_max", "scumble", "unlabelled"),
)

#: Entries of ``found`` for each kind of study.
_FINDINGS: dict[str, dict[str, _Is]] = {
    "characteristics": {
        "name": _is_text,
        **dict.fromkeys(_COUNTS, _is_number),
        "duplicates": _list_of(_list_of(_is_text)),
        "empty_labels": _list_of(_is_text),
    },
    "convergence": dict.fromkeys(("paper", "joint"), _list_of(_is_number)),
    "correlations": {"labels": _list_of(_is_text), "B": _by_gamma},
    "folds": {"fold_of_row": _is_fold_list},
}
