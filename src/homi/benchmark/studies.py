"""Studies of all rows of a data set: sizes, folds, convergence, matrix B."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from homi.benchmark.protocols import Rows, fold_of_rows
from homi.datasets import load
from homi.datasets.summary import summarize
from homi.estimators import HOMI
from homi.solver import total
from homi.typing import Fields

Found = Fields


def characteristics(dataset: str, rows: Rows, parameters: Fields) -> Found:
    """Return sizes and label statistics (Tables 1 and 2) of the data set itself."""
    return asdict(summarize(load(dataset), dataset))


def convergence(dataset: str, rows: Rows, parameters: Fields) -> Found:
    """Return the objective after each sweep (Figure 6), the paper's and joint ones."""
    return {
        sweep: [total(terms) for terms in _descent(rows, parameters, sweep)]
        for sweep in ("paper", "joint")
    }


def _descent(rows: Rows, parameters: Fields, sweep: str) -> list[Any]:
    model: Any = HOMI
    whole = parameters | {"sweep": sweep, "tol": 0.0, "max_iter": 100}
    return model(**whole).fit(*rows).history_


def correlations(dataset: str, rows: Rows, parameters: Fields) -> Found:
    """Return B and the names of the labels (Figure 1)."""
    model: Any = HOMI
    B = model(**parameters).fit(*rows).label_correlation_
    return {"labels": load(dataset).label_names, "B": B.tolist()}


def folds(dataset: str, rows: Rows, parameters: Fields) -> Found:
    """Return the test fold of each row, first row first."""
    of_rows = fold_of_rows(dataset, len(rows.Y), parameters["folds"])
    return {"fold_of_row": " ".join(map(str, of_rows))}


FIND: dict[str, Callable[[str, Rows, Fields], Found]] = {
    "characteristics": characteristics,
    "convergence": convergence,
    "correlations": correlations,
    "folds": folds,
}
