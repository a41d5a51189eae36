"""Print why a row has its labels, on the terminal and as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from homi.cli.terminal import printable
from homi.explorer import Facts, ModelSummary, Row
from homi.typing import Fields

#: Number of labels of a row that are explained on the terminal.
_MOST_LABELS = 5


def _explained(row: Row) -> list[Any]:
    """Return the predicted labels, or the one of highest score if there are none."""
    predicted = [why for why in row.why if why.predicted]
    return sorted(predicted or row.why[:1], key=lambda why: -why.score)[:_MOST_LABELS]


def print_row(console: Console, known: Facts, row: Row) -> None:
    """Print a table for each predicted label: what adds up to its score."""
    names = known.model.names
    for why in _explained(row):
        verdict = "predicted" if why.predicted else "not predicted"
        title = f"{row.name}: {names[why.label]}, {verdict}"
        table = Table("because of", "adds", title=printable(title), box=SIMPLE_HEAD)
        table.columns[1].justify = "right"
        start = "the mean row" if known.from_mean else "a row of zeros"
        table.add_row(start, f"{why.start:.4f}")
        for step in why.steps:
            table.add_row(printable(_reason(known, row, step)), f"{step.value:+.4f}")
        table.add_row(_score(known.model, why.label), f"{why.score:.4f}", style="bold")
        console.print(table)
    if row.truth is not None:
        truth = ", ".join(names[j] for j in row.truth) or "none"
        console.print(printable(f"Labels that the row has: {truth}"))


def _score(model: ModelSummary, label: int) -> str:
    """Return the name of a score, and its threshold if that is a fixed number."""
    name = "g(x)" if model.odds is None else "log-odds"
    threshold = model.thresholds[label]
    if np.isnan(threshold):
        return name
    return f"{name}, predicted above {threshold:.4g}"


def _reason(known: Facts, row: Row, step: Any) -> str:
    if step.index < 0:
        return f"{step.count} other {step.kind}s"
    if step.kind == "label":
        return f"label {known.model.names[step.index]}"
    if step.kind == "neighbor":
        similarity = row.similar.get(step.index)
        about = "" if similarity is None else f", similarity {similarity:.3g}"
        return f"like training row {step.index}{about}"
    name = known.model.feature_names[step.index]
    return f"{name} = {row.values[step.index]:g}"


def summary(known: Facts, output: Path | None, *, asked: bool) -> Fields:
    """Return the result for JSON; with `asked`, the explanation of the row."""
    page = None if output is None else str(output)
    found: Fields = {"page": page, "labels": len(known.model.names)}
    if asked:
        row = known.rows[0]
        found["row"] = {
            "name": row.name,
            "why": [
                {
                    "label": known.model.names[why.label],
                    "start": why.start,
                    "steps": [
                        {"because": _reason(known, row, step), "adds": step.value}
                        for step in why.steps
                    ],
                    "score": why.score,
                    "threshold": known.model.thresholds[why.label],
                    "predicted": why.predicted,
                }
                for why in row.why
            ],
        }
    return found
