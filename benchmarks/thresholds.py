"""What tuned thresholds and calibration add to HOMI, on rows of outer folds."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from homi import HOMI
from homi.datasets import load
from homi.metrics import exact_match, example_f1, hamming_loss, macro_f1, micro_f1
from homi.thresholds import TunedThresholds, expected_calibration_error

DATASETS = ("emotions", "yeast", "scene")
STRATEGIES = ("global", "per_label", "cardinality", "top_k", "auto")
OBJECTIVES = {
    "hamming": hamming_loss,
    "micro_f1": micro_f1,
    "macro_f1": macro_f1,
    "example_f1": example_f1,
    "subset_accuracy": exact_match,
}

HEAD = """# Thresholds and calibration: what they add

Written by `python benchmarks/thresholds.py`. The classifier is `HOMI()`. Five outer
folds; thresholds and calibration are fitted on the training folds, and the tables show
means over the test folds.

## Thresholds

The column "untuned" is `HOMI().predict`. Less is better for `hamming`, more for the
others; the best of a row is bold.
"""

CALIBRATION = """
## Calibration

Expected calibration error of `predict_proba`, 15 bins; less is better.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    page = Path("docs/measured/thresholds.md")
    parser.add_argument("--output", type=Path, default=page)
    output = parser.parse_args().output
    thresholds, calibration = [], []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in DATASETS:
            X, Y, *_ = load(name)
            folds = list(KFold(5, shuffle=True, random_state=0).split(X))
            thresholds += [row(name, each, X, Y, folds) for each in OBJECTIVES]
            calibration.append(calibration_row(name, X, Y, folds))
            print(name, file=sys.stderr, flush=True)
    columns = ["data set", "objective", "untuned", *STRATEGIES]
    text = HEAD + table(columns, thresholds) + CALIBRATION
    text += table(["data set", "untuned", "sigmoid", "isotonic"], calibration)
    output.write_text(text, encoding="utf-8")


def row(name: str, objective: str, X: Any, Y: Any, folds: Any) -> list[str]:
    tuned = (
        TunedThresholds(HOMI(), objective=objective, strategy=strategy)
        for strategy in STRATEGIES
    )
    models = [HOMI(), *tuned]
    metric = OBJECTIVES[objective]

    def test_score(model: Any, train: Any, test: Any) -> float:
        return metric(Y[test], model.fit(X[train], Y[train]).predict(X[test]))

    values = [np.mean([test_score(m, *fold) for fold in folds]) for m in models]
    best = min(values) if objective == "hamming" else max(values)
    cells = [f"**{v:.3f}**" if v == best else f"{v:.3f}" for v in values]
    return [name, f"`{objective}`", *cells]


def calibration_row(name: str, X: Any, Y: Any, folds: Any) -> list[str]:
    maps = ("sigmoid", "isotonic")
    models = [HOMI(), *(TunedThresholds(HOMI(), calibration=each) for each in maps)]

    def error(model: Any, train: Any, test: Any) -> float:
        found = model.fit(X[train], Y[train]).predict_proba(X[test])
        return expected_calibration_error(Y[test], found)

    return [name, *(f"{np.mean([error(m, *f) for f in folds]):.3f}" for m in models)]


def table(columns: list[str], rows: list[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    main()
