"""What is wrong with a stored record, if anything is."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from homi.benchmark.values import said

#: What is timed of a cell.
TIMES = ("search", "fit", "predict")


def fault_of(record: Any, key: str, values: str) -> str | None:
    """What a record lacks, or has of another type than was written; None if nothing.

    ``key`` is where it says what it is of, "cell" or "study"; ``values`` is "metrics",
    or the kind of study whose findings it has.
    """
    if not isinstance(record, dict):
        return "it is no object"
    main = "metrics" if key == "cell" else "found"
    for part in (key, main, "parameters", "seconds", "asked", "made_with"):
        if not isinstance(record.get(part), dict):
            return f"{part} is {said(record.get(part))}, not an object"
    for name, value in record["seconds"].items():
        if not (_is_number(value) and 0 <= value < math.inf):
            return f"{said(name)} took {said(value)} seconds"
    if key == "cell":
        return _fault_of_cell(record)
    return _fault_of_findings(record["found"], _FINDINGS[values])


def _fault_of_cell(record: dict[str, Any]) -> str | None:
    metrics, wanted = record["metrics"], record["asked"].get("metrics", [])
    for name in wanted if isinstance(wanted, list) else [wanted]:
        if not isinstance(name, str) or name not in metrics:
            return f"{said(name)} was asked for and is not there"
    for name, value in metrics.items():
        # An AUC of labels that have one value only is NaN.
        if not (_is_number(value) and (math.isnan(value) or 0 <= value <= 1)):
            return f"{said(name)} is {said(value)}, not a number from 0 to 1"
    if lacking := [name for name in TIMES if name not in record["seconds"]]:
        return f"the seconds of {lacking[0]} are not there"
    return None


def _fault_of_findings(found: dict[str, Any], kinds: dict[str, _Is]) -> str | None:
    if found.keys() != kinds.keys():
        differ = sorted(found.keys() ^ kinds.keys())
        return f"{said(differ[0])} is not there, or not to be there"
    for name, is_right in kinds.items():
        if not is_right(found[name]):
            return f"{name} is {said(found[name])}"
    return None


def _is_number(value: Any) -> bool:
    # An integer of JSON may be too large for any arithmetic.
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, float) or (is_integer and abs(value) < 2**63)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _list_of(is_right: _Is) -> _Is:
    return lambda value: isinstance(value, list) and all(map(is_right, value))


def _is_square(value: Any) -> bool:
    rows = _list_of(_list_of(_is_number))
    return rows(value) and all(len(row) == len(value) for row in value)


_Is = Callable[[Any], bool]

_COUNTS = (
    *("n_samples", "n_features", "n_labels", "cardinality", "density", "distinct"),
    *("rank", "imbalance_mean", "imbalance_max", "scumble", "unlabelled"),
)

#: What each kind of study finds.
_FINDINGS: dict[str, dict[str, _Is]] = {
    "characteristics": {
        "name": _is_text,
        **dict.fromkeys(_COUNTS, _is_number),
        "duplicates": _list_of(_list_of(_is_text)),
        "empty_labels": _list_of(_is_text),
    },
    "convergence": dict.fromkeys(("paper", "joint"), _list_of(_is_number)),
    "correlations": {"labels": _list_of(_is_text), "B": _is_square},
    "folds": {"fold_of_row": _is_text},
}
