"""Write docs/measured/missing_labels.md: how well hidden labels are recovered.

HOMI_DATA=data python benchmarks/missing_labels.py            all but HOMICV
HOMI_DATA=data python benchmarks/missing_labels.py --homicv   the section of HOMICV
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import islice, product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import scipy.linalg
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import KFold

from homi import HOMI, HOMICV
from homi.atomic_write import whole_file
from homi.datasets import load
from homi.linear import log_loss
from homi.metrics import (
    PAPER_METRICS,
    evaluate,
    hamming_loss,
    macro_auc,
    ranking_loss,
)
from homi.model.features import FeatureSpace, with_labels
from homi.solver import Problem, solve

HEAD = """# Hidden labels: what is recovered

Written by `python benchmarks/missing_labels.py`. Five folds; 10, 30 or 50 % of the
entries of the training fold's Y are hidden at random. The test fold keeps all. The
hidden entries are imputed by

- **zeros**: 0, as if the label were absent;
- **means**: the mean of the label where it is known;
- **own ridge**: a ridge regression per label (with the model's λ), fitted to the rows
  where the label is known;
- **objective**: minimizing HOMI's own objective over the hidden entries too, in at most
  ten alternations with W, z, B and t;
- **filled**: `HOMI(missing_labels="ignore")`, as
  [described](../mathematics.md#missing-labels).

*All known* is the model without hidden labels.
"""

HIDDEN = """
## The hidden entries

Area under the ROC curve of all hidden entries together (1 is best, 0.5 is chance), and
their mean squared error, as imputed for `{model}`.
"""

TEST = """
## {model} on the test folds

Means over the folds: Hamming loss, ranking loss, one-error (smaller is better) and
macro-averaged AUC (larger is better).
"""

HOMICV_TEST = """
Written by `python benchmarks/missing_labels.py --homicv`. Means over the first three of
five folds: log-loss, Hamming loss and ranking loss (smaller is better), micro-averaged
average precision and macro-averaged AUC (larger is better), processor seconds of a fit.

- **all known**: `HOMICV()` without hidden labels;
- **ignored**: `HOMICV(missing_labels="ignore")`;
- **zeros**: `HOMICV()` with 0 for hidden labels;
- **complete rows**: `HOMICV()` on the rows without a hidden label, if at least 20.

"""

Fill = Callable[[HOMI, FeatureSpace, Any, Any], Any]
Cell = tuple[str, float, str, str]
Values = dict[Cell, list[list[float]]]

DATA = ("emotions", "yeast", "scene", "CAL500", "enron")
SHARES = (0.1, 0.3, 0.5)
HOMICV_DATA = ("emotions", "yeast", "scene", "enron")
HOMICV_SHARES = (0.2, 0.5)
HOMICV_MARK = "\n## HOMICV on the test folds\n"
MODELS: dict[str, dict[str, Any]] = {
    "HOMI()": {},
    'HOMI(correlation="held-out", gamma=0.1)': {
        "correlation": "held-out",
        "gamma": 0.1,
    },
}


def zeros(model: HOMI, space: FeatureSpace, Y: Any, known: Any) -> Any:
    return np.where(known, Y, 0.0)


def means(model: HOMI, space: FeatureSpace, Y: Any, known: Any) -> Any:
    return np.where(known, Y, (Y * known).sum(axis=0) / known.sum(axis=0))


def own_ridge(model: HOMI, space: FeatureSpace, Y: Any, known: Any) -> Any:
    X = in_units(space)
    filled = Y.copy()
    whole = X.T @ X + model.lam * np.eye(X.shape[1])
    for j, rows in enumerate(known.T):
        A = whole - X[~rows].T @ X[~rows]
        w = scipy.linalg.solve(A, X[rows].T @ Y[rows, j], assume_a="pos")
        filled[~rows, j] = X[~rows] @ w
    return filled


def in_units(space: FeatureSpace) -> Any:
    X = space.features
    X = X.toarray() if sparse.issparse(X) else X
    return np.column_stack([(X - space.mean) / space.scale, np.ones(len(X))])


def objective(model: HOMI, space: FeatureSpace, Y: Any, known: Any) -> Any:
    """Minimize over (W, z, B, t), then over the unknown labels, and so on."""
    X, filled, eye = in_units(space), means(model, space, Y, known), np.eye(Y.shape[1])
    pencil, params = None, None
    for _ in range(10):
        moments = with_labels(space, filled).moments
        problem = Problem(moments, model.lam, model.beta, model.gamma)
        # The features stay as they are, and so does what was factored of them.
        pencil = vars(problem).setdefault(
            "joint_pencil", problem.joint_pencil if pencil is None else pencil
        )
        params = solve(problem, start=params).params
        W, z, B, t = params
        # min ‖y - f‖² + β‖y(I - B) - t‖²: yM = f + βt(I - B)ᵀ in the unknown ones.
        E = eye - B
        M = eye + model.beta * E @ E.T
        R = X @ np.vstack([W, z]) + model.beta * t @ E.T
        before, filled = filled, filled.copy()
        for y, r, k in zip(filled, R, known, strict=True):
            u = ~k
            y[u] = np.linalg.solve(M[np.ix_(u, u)], r[u] - M[np.ix_(u, k)] @ y[k])
        if np.abs(filled - before).max() < 1e-3:
            break
    return filled


FILLINGS: dict[str, Fill | None] = {
    "zeros": zeros,
    "means": means,
    "own ridge": own_ridge,
    "objective": objective,
    "filled": None,
}


def fitted(name: str, options: dict[str, Any], X: Any, Y: Any) -> HOMI:
    """Fit HOMI with missing labels filled in by a rule."""
    rule, model = FILLINGS[name], HOMI(missing_labels="ignore", **options)
    if rule is None:
        return model.fit(X, Y)

    def fill(space: FeatureSpace, X: Any, target: Any, weights: Any) -> Any:
        return rule(model, space, dense(target.indicator), target.known)

    with patch("homi.model.rows_input.fill_missing_labels", fill):
        return model.fit(X, Y)


def dense(A: Any) -> Any:
    return np.asarray(A.toarray() if sparse.issparse(A) else A, dtype=float)


def cells(data: str) -> Iterator[tuple[Cell, list[float]]]:
    """Metrics of each fold, share, filling and model; hidden entries last."""
    X, Y, *_ = load(data)
    Y = dense(Y)
    folds = KFold(5, shuffle=True, random_state=0).split(Y)
    for fold, (train, test) in enumerate(folds):
        for title, options in MODELS.items():
            full = HOMI(**options).fit(X[train], Y[train])
            reference = metrics(full, X[test], Y[test])
            for share in SHARES:
                yield (data, share, "all known", title), reference
                known = np.random.default_rng(fold).random(Y[train].shape) >= share
                hidden = np.where(known, Y[train], np.nan)
                for name in FILLINGS:
                    model = fitted(name, options, X[train], hidden)
                    guess = model.filled_labels_[~known]
                    true = Y[train][~known]
                    recovered = [
                        float(roc_auc_score(true, guess)),
                        float(np.mean((true - guess) ** 2)),
                    ]
                    yield (
                        (data, share, name, title),
                        metrics(model, X[test], Y[test]) + recovered,
                    )


def metrics(model: HOMI, X: Any, Y: Any) -> list[float]:
    scores, labels = model.decision_function(X), model.predict(X)
    return list(evaluate(Y, scores, labels, PAPER_METRICS).values())


def page(values: Values) -> str:
    return (
        HEAD
        + hidden_tables(values)
        + "".join(test_table(values, model) for model in MODELS)
    )


def hidden_tables(values: Values) -> str:
    first, names = next(iter(MODELS)), list(FILLINGS)
    text = HIDDEN.format(model=first)
    for title, column in (("AUC", 4), ("Mean squared error", 5)):
        text += f"\n**{title}**\n\n" + header(["data", "hidden", *names])
        for data, share in rows_of(values):
            row = [one(values, data, share, name, first, column) for name in names]
            text += line([data, f"{share:.0%}", *row])
    return text


def test_table(values: Values, model: str) -> str:
    columns = ["Hamming loss", "ranking loss", "one-error", "macro-AUC"]
    text = TEST.format(model=f"`{model}`") + "\n"
    text += header(["data", "hidden", "labels", *columns])
    for data, share in rows_of(values):
        for name in ("all known", *FILLINGS):
            row = [one(values, data, share, name, model, i) for i in range(4)]
            text += line([data, f"{share:.0%}", name, *row])
    return text


def rows_of(values: Values) -> Iterator[tuple[str, float]]:
    yield from product(dict.fromkeys(cell[0] for cell in values), SHARES)


def one(values: Values, *key: Any) -> str:
    *cell, column = key
    return f"{np.mean([row[column] for row in values[tuple(cell)]]):.3f}"


def header(names: list[str]) -> str:
    return line(names) + line(["---"] * len(names))


def line(entries: list[str]) -> str:
    return f"| {' | '.join(entries)} |\n"


def homicv_cells(data: str) -> Iterator[tuple[Cell, list[float]]]:
    """Metrics of each fold, share and way to use HOMICV."""
    X, Y, *_ = load(data)
    Y = dense(Y)
    folds = islice(KFold(5, shuffle=True, random_state=0).split(Y), 3)
    for fold, (train, test) in enumerate(folds):
        reference = homicv_row(HOMICV(), X[train], Y[train], X[test], Y[test])
        for share in HOMICV_SHARES:
            yield (data, share, "all known", "HOMICV"), reference
            known = np.random.default_rng(fold).random(Y[train].shape) >= share
            hidden = np.where(known, Y[train], np.nan)
            complete = train[known.all(axis=1)]
            ways = {
                "ignored": (HOMICV(missing_labels="ignore"), X[train], hidden),
                "zeros": (HOMICV(), X[train], np.nan_to_num(hidden)),
            }
            if len(complete) >= 20:
                ways["complete rows"] = HOMICV(), X[complete], Y[complete]
            for name, given in ways.items():
                row = homicv_row(*given, X[test], Y[test])
                yield (data, share, name, "HOMICV"), row


def homicv_row(model: HOMICV, X: Any, Y: Any, X_test: Any, Y_test: Any) -> list[float]:
    began = time.process_time()
    model.fit(X, Y)
    took = time.process_time() - began
    P = model.predict_proba(X_test)
    return [
        log_loss(Y_test, P),
        hamming_loss(Y_test, P > 0.5),
        ranking_loss(Y_test, P),
        float(average_precision_score(Y_test, P, average="micro")),
        macro_auc(Y_test, P),
        took,
    ]


def homicv_section(values: Values) -> str:
    columns = ["log-loss", "Hamming loss", "ranking loss", "AP", "macro-AUC", "s"]
    text = HOMICV_MARK + HOMICV_TEST + header(["data", "hidden", "labels", *columns])
    for data, share, name, _ in values:
        key = data, share, name, "HOMICV"
        row = [one(values, *key, i) for i in range(5)]
        seconds = np.mean([row[5] for row in values[key]])
        text += line([data, f"{share:.0%}", name, *row, f"{seconds:.1f}"])
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--homicv", action="store_true")
    parser.add_argument("--data")
    path = Path("docs/measured/missing_labels.md")
    parser.add_argument("--output", type=Path, default=path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    before, mark, after = arguments.output.read_text("utf-8").partition(HOMICV_MARK)
    run = homicv_cells if arguments.homicv else cells
    default = HOMICV_DATA if arguments.homicv else DATA
    values: Values = {}
    for data in arguments.data.split(",") if arguments.data else default:
        began = time.monotonic()
        for cell, row in run(data):
            values.setdefault(cell, []).append(row)
        print(f"{data}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        if arguments.homicv:
            text = before + homicv_section(values)
        else:
            text = page(values) + mark + after
        with whole_file(arguments.output) as unfinished:
            unfinished.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
