"""The forest of log-odds beside scikit-learn's random forest: time and quality.

Three of five folds of each data set, 300 trees. One thread, processor time.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from scipy.special import logit
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from threadpoolctl import threadpool_limits

from homi.datasets import load
from homi.datasets.load import at_hand
from homi.metrics import average_precision, ranking_loss
from homi.model.forest import Forest

DATASETS = ("emotions", "birds", "CAL500", "yeast", "scene", "enron", "langlog")
FOLDS = 3

Scores = Callable[[Any], Any]


def main() -> None:
    arguments = parse()
    lines = [head()]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in arguments.datasets:
            if at_hand(name) is None:
                print(f"skipped {name}: no local copy", file=sys.stderr)
                continue
            lines += rows(name)
            print("\n".join(lines[-3:]), file=sys.stderr, flush=True)
    arguments.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--output", type=Path, default=Path("docs/measured/forests.md"))
    return parser.parse_args()


def head() -> str:
    columns = ["data set", "forest", "fit", "predict 1,000 rows"]
    columns += ["average precision", "ranking loss"]
    columns += ["average precision, mean", "ranking loss, mean"]
    return (
        "# Forests\n\n"
        "Written by `python benchmarks/forests.py`: processor seconds, one thread; "
        f"Python {platform.python_version()}, numpy {np.__version__}, scikit-learn "
        f"{sklearn.__version__}. Means over {FOLDS} of five folds; 300 trees. Random "
        "forest: scikit-learn's `RandomForestClassifier`, with probabilities clipped "
        "to [.001, .999]. The others are `Forest` with either splitter, and their time "
        "includes the out-of-bag log-odds. The last two columns are of the mean of "
        "its log-odds and those of a logistic regression.\n\n"
        f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}"
    )


def rows(dataset: str) -> list[str]:
    X, Y, *_ = load(dataset)
    Y = np.asarray(Y.toarray() if hasattr(Y, "toarray") else Y, dtype=float)
    found: dict[str, list[list[float]]] = {name: [] for name in FORESTS}
    folds = list(KFold(5, shuffle=True, random_state=0).split(Y))
    for train, test in folds[:FOLDS]:
        linear = logistic(X[train], Y[train])(X[test])
        for name, fit in FORESTS.items():
            seconds, log_odds = timed(fit, X[train], Y[train])
            later, scores = timed(log_odds, X[test])
            values = [seconds, later * 1000 / len(test)]
            for given in (scores, (scores + linear) / 2):
                values.append(average_precision(Y[test], given))
                values.append(ranking_loss(Y[test], given))
            found[name].append(values)
    return [line(dataset, name, np.mean(found[name], axis=0)) for name in FORESTS]


def line(dataset: str, forest: str, values: Any) -> str:
    cells = [f"{values[0]:.2f}", f"{values[1]:.3f}", *(f"{v:.4f}" for v in values[2:])]
    return f"| {dataset} | {forest} | {' | '.join(cells)} |"


def random_forest(X: Any, Y: Any) -> Scores:
    model = RandomForestClassifier(300, random_state=0).fit(X, Y)
    # A label without positives, or without negatives, has one column.
    places = [
        list(classes).index(1) if 1 in classes else None
        for classes in classes_of(model)
    ]

    def log_odds(rows: Any) -> Any:
        parts = model.predict_proba(rows)
        parts = parts if isinstance(parts, list) else [parts]
        columns = [
            np.zeros(len(part)) if place is None else part[:, place]
            for part, place in zip(parts, places, strict=True)
        ]
        return logit(np.clip(np.column_stack(columns), 0.001, 0.999))

    return log_odds


def classes_of(model: Any) -> list[Any]:
    return model.classes_ if isinstance(model.classes_, list) else [model.classes_]


def forest(splitter: str) -> Callable[[Any, Any], Scores]:
    return lambda X, Y: Forest.fit(X, Y, seed=0, splitter=splitter).log_odds


def logistic(X: Any, Y: Any) -> Scores:
    one = LogisticRegression(max_iter=1000)
    model = make_pipeline(MaxAbsScaler(), OneVsRestClassifier(one)).fit(X, Y)

    def log_odds(rows: Any) -> Any:
        return logit(np.clip(model.predict_proba(rows), 0.001, 0.999))

    return log_odds


FORESTS: dict[str, Callable[[Any, Any], Scores]] = {
    "random forest": random_forest,
    "best splits": forest("best"),
    "random splits": forest("random"),
}


def timed(call: Callable[..., Any], *given: Any) -> tuple[float, Any]:
    started = time.process_time()
    value = call(*given)
    return time.process_time() - started, value


if __name__ == "__main__":
    main()
