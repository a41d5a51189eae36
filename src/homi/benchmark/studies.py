"""Studies of all rows of a data set: sizes, folds, convergence, matrix B."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from homi.benchmark.cells import Study
from homi.benchmark.protocols import PreparedRows, fold_of_rows
from homi.datasets import load
from homi.datasets.summary import summarize
from homi.estimators import HOMI
from homi.solver import total
from homi.typing import Fields

Found = Fields

#: The paper's γ, and that of the authors' first version, which gives its Figure 1.
GAMMAS = (1.0, 0.01)


def characteristics(study: Study, rows: PreparedRows, parameters: Fields) -> Found:
    """Return sizes and label statistics (Tables 1 and 2) of the data set itself."""
    return asdict(summarize(load(study.dataset), study.dataset))


def convergence(study: Study, rows: PreparedRows, parameters: Fields) -> Found:
    """Return the objective after each sweep (Figure 6), the paper's and joint ones."""
    return {
        sweep: [total(terms) for terms in _descent(rows, parameters, sweep)]
        for sweep in ("paper", "joint")
    }


def _descent(rows: PreparedRows, parameters: Fields, sweep: str) -> list[Any]:
    model: Any = HOMI
    whole = parameters | {"sweep": sweep, "tol": 0.0, "max_iter": 100}
    return model(**whole).fit(*rows).history_


def correlations(study: Study, rows: PreparedRows, parameters: Fields) -> Found:
    """Return B for each γ of ``GAMMAS``, and the names of the labels (Figure 1)."""
    model: Any = HOMI
    found = {
        str(gamma): model(**parameters | {"gamma": gamma}).fit(*rows).label_correlation_
        for gamma in GAMMAS
    }
    B = {gamma: found[gamma].tolist() for gamma in found}
    return {"labels": load(study.dataset).label_names, "B": B}


def folds(study: Study, rows: PreparedRows, parameters: Fields) -> Found:
    """Return the test fold of each row, first row first."""
    of_rows = fold_of_rows(
        study.protocol, study.dataset, len(rows.Y), parameters["folds"]
    )
    return {"fold_of_row": " ".join(map(str, of_rows))}


FIND: dict[str, Callable[[Study, PreparedRows, Fields], Found]] = {
    "characteristics": characteristics,
    "convergence": convergence,
    "correlations": correlations,
    "folds": folds,
}
