"""Time of a HOMICV fit, with and without kernels, beside HOMI and scikit-learn.

Every data set is split once, four fifths to fit. One thread, processor time. A fit that
takes longer than the budget is timed once, the others are medians.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier
from threadpoolctl import threadpool_limits

from homi import HOMI, HOMICV
from homi.datasets import load
from homi.datasets.load import at_hand

DATASETS = ("emotions", "birds", "yeast", "scene", "enron", "corel5k")

#: Seconds after which a fit is not repeated.
BUDGET = 10.0

MODELS: dict[str, Callable[[], Any]] = {
    "`HOMICV()`": HOMICV,
    "`HOMICV(widths=[])`": lambda: HOMICV(widths=[]),
    "`HOMI()`": HOMI,
    "logistic regression": lambda: OneVsRestClassifier(
        LogisticRegression(max_iter=1000)
    ),
}


def main() -> None:
    arguments = parse()
    lines = [head()]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in arguments.datasets:
            if at_hand(name) is None:
                print(f"skipped {name}: no local copy", file=sys.stderr)
                continue
            lines.append(row(name))
            print(lines[-1], file=sys.stderr, flush=True)
    arguments.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    page = Path("docs/measured/homicv_speed.md")
    parser.add_argument("--output", type=Path, default=page)
    return parser.parse_args()


def head() -> str:
    columns = ["data set", "rows", "features", "labels", *MODELS, "predict 1,000 rows"]
    return (
        "# Time of a HOMICV fit\n\n"
        "Written by `python benchmarks/homicv_speed.py`: processor seconds, one "
        f"thread; Python {platform.python_version()}, numpy {np.__version__}, "
        f"scikit-learn {sklearn.__version__}. Each model is fitted to four fifths of "
        "the rows. `HOMICV(widths=[])` tries no kernels. Logistic regression is "
        "scikit-learn's, one-vs-rest, with its default penalty and no search. The last "
        "column is `HOMICV().predict`.\n\n"
        f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}"
    )


def row(dataset: str) -> str:
    X, Y, *_ = load(dataset)
    Y = Y.toarray() if hasattr(Y, "toarray") else np.asarray(Y)
    train, test = train_test_split(np.arange(X.shape[0]), test_size=0.2, random_state=0)
    HOMI().fit(X[train][:200], Y[train][:200])  # loads what is imported on first use
    models = {name: make() for name, make in MODELS.items()}
    times = [
        seconds(lambda model=model: model.fit(X[train], Y[train]))
        for model in models.values()
    ]
    predict = seconds(lambda: models["`HOMICV()`"].predict(X[test]))
    times.append(predict * 1000 / len(test))
    cells = [dataset, *(f"{n:,}" for n in (len(train), X.shape[1], Y.shape[1]))]
    return f"| {' | '.join(cells + [f'{time:.3g}' for time in times])} |"


def seconds(call: Callable[[], object]) -> float:
    """Median processor time of up to five calls, within the budget."""
    times: list[float] = []
    while sum(times) < BUDGET and len(times) < 5:
        started = time.process_time()
        call()
        times.append(time.process_time() - started)
    return statistics.median(times)


if __name__ == "__main__":
    main()
