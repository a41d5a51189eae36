"""How evenly folds spread labels and pairs of labels, and how long that takes.

Deviation is that of Sechidis et al. (2011): the absolute difference between the odds of
a label in a fold and in all rows, averaged over labels, folds and five seeds. A label
that every row of a fold has is left out there.

    python benchmarks/folds.py yeast emotions CAL500 enron
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from homi.arrays import dense
from homi.datasets import IterativeStratifiedKFold, load
from homi.typing import Indices, Mask

_SEEDS = 5


def main() -> None:
    """Print one line per data set and splitter."""
    print(f"{'':10}{'splitter':12}{'labels':>9}{'pairs':>9}{'sizes':>12}{'seconds':>9}")
    for name in sys.argv[1:] or ["yeast", "emotions", "CAL500", "enron"]:
        Y = dense(load(name).Y).astype(bool)
        for title, make in _splitters():
            start = time.process_time()
            runs = [[t for _, t in make(seed).split(Y, Y)] for seed in range(_SEEDS)]
            seconds = (time.process_time() - start) / _SEEDS
            labels, pairs = (
                np.mean([_deviation(Z, folds) for folds in runs])
                for Z in (Y, _pairs(Y))
            )
            sizes = [len(test) for folds in runs for test in folds]
            span = f"{min(sizes)}-{max(sizes)}"
            line = f"{labels:9.4f}{pairs:9.4f}{span:>12}{seconds:9.2f}"
            print(f"{name:10}{title:12}{line}", flush=True)


def _splitters() -> list[tuple[str, Any]]:
    def stratified(order: int) -> Any:
        return lambda seed: IterativeStratifiedKFold(order=order, random_state=seed)

    def random(seed: int) -> KFold:
        return KFold(5, shuffle=True, random_state=seed)

    return [("random", random), ("order 1", stratified(1)), ("order 2", stratified(2))]


def _pairs(Y: Mask) -> Mask:
    """Return one column per pair of labels that occurs."""
    first, second = np.triu_indices(Y.shape[1], 1)
    found = (Y.T.astype(float) @ Y)[first, second] > 0
    return Y[:, first[found]] & Y[:, second[found]]


def _deviation(Y: Mask, folds: list[Indices]) -> float:
    total, n = Y.sum(axis=0), len(Y)
    Y, total = Y[:, total < n], total[total < n]
    counts = np.array([Y[test].sum(axis=0) for test in folds])
    negatives = np.array([[len(test)] for test in folds]) - counts
    odds = np.divide(counts, negatives, where=negatives > 0, out=np.zeros(counts.shape))
    return float(np.abs(odds - total / (n - total))[negatives > 0].mean())


if __name__ == "__main__":
    main()
