"""Fit and predict of the eleven methods as ratios to HOMI's fit, in one process.

Every data set is split once, four fifths to learn from. One thread throughout.
HOMI's fit is timed again beside every method, in turns, so that a busy machine slows
both alike; medians are compared. A fit that is longer than the budget is timed once.
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
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from homi.benchmark.methods import METHODS, marked
from homi.datasets import load
from homi.datasets.load import at_hand
from homi.estimators import HOMI

DATASETS = ("emotions", "yeast", "scene", "enron", "corel5k", "delicious")

#: Seconds after which nothing is repeated any more.
BUDGET = 10.0

CLOCKS = {"processor": time.process_time, "wall": time.perf_counter}


def main() -> None:
    arguments = parse()
    lines = [head(arguments)]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in arguments.datasets:
            if at_hand(name) is None:
                print(f"{name} is not at hand: left out", file=sys.stderr)
                continue
            lines += table(name, arguments.methods, CLOCKS[arguments.clock])
            if arguments.output:
                arguments.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if not arguments.output:
        print("\n".join(lines))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=DATASETS, choices=DATASETS)
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--clock", choices=CLOCKS, default="processor")
    parser.add_argument("--output", type=Path, help="Markdown file; else to the screen")
    return parser.parse_args()


def head(arguments: argparse.Namespace) -> str:
    versions = (
        f"Python {platform.python_version()}, numpy {np.__version__}, "
        f"scikit-learn {sklearn.__version__}"
    )
    return (
        "# How fast the eleven methods are\n\n"
        f"Written by `python benchmarks/methods.py`: {arguments.clock} time, "
        f"one thread, medians; {versions}. Default hyper-parameters. Fitted to four "
        "fifths of the rows, predicted on the rest. † marks a reconstruction.\n"
    )


def table(dataset: str, methods: Any, clock: Callable[[], float]) -> list[str]:
    X, Y, *_ = load(dataset)
    train, test = train_test_split(np.arange(X.shape[0]), test_size=0.2, random_state=0)
    lines = [
        f"## {dataset}: {len(train)} × {X.shape[1]}, {Y.shape[1]} labels\n",
        "| method | fit, s | fit / HOMI's fit | predict, s | predict / HOMI's fit |",
        "| --- | --- | --- | --- | --- |",
    ]
    for method in methods:
        found = race(METHODS[method], X[train], Y[train], X[test], clock)
        ours, fit, predict = (statistics.median(times) for times in found)
        lines.append(
            f"| {marked(method)} | {fit:.3g} | {fit / ours:.3g} | {predict:.3g} "
            f"| {predict / ours:.3g} |"
        )
        print(f"{dataset:10} {lines[-1]}", file=sys.stderr, flush=True)
    return [*lines, ""]


def race(
    method: type, X: Any, Y: Any, test: Any, clock: Callable[[], float]
) -> tuple[list[float], list[float], list[float]]:
    """Seconds of HOMI's fit, of the method's fit and of its predict, in turns."""
    homi, model = HOMI(), method()
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    if X.shape[0] < 5000:
        homi.fit(X, Y), model.fit(X, Y)  # what is loaded at first use is not timed
    times: tuple[list[float], list[float], list[float]] = ([], [], [])
    calls = (
        lambda: homi.fit(X, Y),
        lambda: model.fit(X, Y),
        lambda: model.predict(test),
    )
    spent = 0.0
    while spent < BUDGET and len(times[0]) < 15:
        for call, seconds in zip(calls, times, strict=True):
            start = clock()
            call()
            seconds.append(clock() - start)
            spent += seconds[-1]
    return times


if __name__ == "__main__":
    main()
