"""Two kinds of features that HOMICV does not use, and what they would add.

*Leaves*: membership in the leaves of 300 random trees that have not seen a label, with
their own linear HOMICV. *Gradients*: features scaled by the root mean square of the
partial derivatives of a fitted kernel model (the diagonal of the average gradient outer
product), with a kernel HOMICV of its own. Each is averaged with ``HOMICV()`` in
log-odds. The share is chosen by the log-loss of held-out scores of the training rows.
Three of five folds of data sets that the design of HOMICV has seen.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.ensemble import RandomTreesEmbedding
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from homi import HOMICV
from homi.arrays import dense
from homi.datasets import load
from homi.datasets.load import at_hand
from homi.metrics import average_precision, ranking_loss

DATASETS = ("emotions", "birds", "CAL500", "yeast", "scene")
FOLDS = 3
SHARES = np.arange(0.0, 0.55, 0.1)
#: Rows whose gradients are averaged, and the step of a difference, in standard units.
GRADIENT_ROWS, STEP = 300, 1e-3

Scores = tuple[Any, Any, float]  # held out, of the test rows, processor seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument(
        "--output", type=Path, default=Path("docs/measured/features_tried.md")
    )
    arguments = parser.parse_args()
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


def head() -> str:
    return (
        "# Features that were tried and not kept\n\n"
        "Written by `python benchmarks/features_tried.py`: means over the first three "
        "of five folds; one thread. *With leaves* averages `HOMICV()` and a "
        "linear `HOMICV` on leaves of 300 random trees that have not seen a label; "
        "*with gradients*, with a kernel `HOMICV` on features scaled by the partial "
        "derivatives of a first one (AGOP). The share is chosen by the log-loss of "
        "held-out scores of the training rows.\n\n"
        "| data set | model | average precision | ranking loss | log-loss | share "
        "| fit, s |\n| --- | --- | --- | --- | --- | --- | --- |"
    )


def rows(name: str) -> list[str]:
    data = load(name)
    X, Y = dense(data.X), dense(data.Y)
    found: dict[str, list[list[float]]] = {}
    folds = KFold(5, shuffle=True, random_state=0).split(X)
    for train, test in [fold for fold, _ in zip(folds, range(FOLDS), strict=False)]:
        scaler = StandardScaler().fit(X[train])
        given = scaler.transform(X[train]), scaler.transform(X[test]), Y[train]
        plain = scores(HOMICV(), *given)
        others = {"with leaves": leaves(*given), "with gradients": gradients(*given)}
        found.setdefault("`HOMICV()`", []).append(
            [*quality(Y[test], plain[1]), 0, plain[2]]
        )
        for title, other in others.items():
            share = best_share(Y[train], plain[0], other[0])
            blend = (1 - share) * plain[1] + share * other[1]
            values = [*quality(Y[test], blend), share, plain[2] + other[2]]
            found.setdefault(title, []).append(values)
    return [
        line(name, title, np.mean(values, axis=0)) for title, values in found.items()
    ]


def line(name: str, title: str, values: Any) -> str:
    precision, ranking, loss, share, seconds = values
    return (
        f"| {name} | {title} | {precision:.4f} | {ranking:.4f} | {loss:.4f} "
        f"| {share:.2f} | {seconds:.1f} |"
    )


def scores(model: HOMICV, train: Any, test: Any, Y: Any) -> Scores:
    start = time.process_time()
    held_out = model.fit_held_out(train, Y)
    seconds = time.process_time() - start
    return held_out, model.decision_function(test), seconds


def leaves(train: Any, test: Any, Y: Any) -> Scores:
    trees = RandomTreesEmbedding(300, max_depth=7, min_samples_leaf=3, random_state=0)
    start = time.process_time()
    inside = trees.fit_transform(train)
    seconds = time.process_time() - start
    model = HOMICV(kernels=(), trees=False, logistic=False, standardize=False)
    held_out, outside, fit = scores(model, inside, trees.transform(test), Y)
    return held_out, outside, seconds + fit


def gradients(train: Any, test: Any, Y: Any) -> Scores:
    start = time.process_time()
    first = HOMICV(trees=False, logistic=False).fit(train, Y)
    scale = root_mean_square_gradient(first, train)
    seconds = time.process_time() - start
    model = HOMICV(trees=False, logistic=False, standardize=False)
    held_out, outside, fit = scores(model, train * scale, test * scale, Y)
    return held_out, outside, seconds + fit


def root_mean_square_gradient(model: HOMICV, X: Any) -> Any:
    rng = np.random.RandomState(0)
    X = X[rng.permutation(len(X))[:GRADIENT_ROWS]]
    at, squares = model.decision_function(X), np.zeros(X.shape[1])
    for j in range(X.shape[1]):
        moved = X.copy()
        moved[:, j] += STEP
        squares[j] = np.mean(((model.decision_function(moved) - at) / STEP) ** 2)
    return np.sqrt(squares / squares.mean())


def best_share(Y: Any, plain: Any, other: Any) -> float:
    losses = [mean_log_loss(Y, (1 - share) * plain + share * other) for share in SHARES]
    return float(SHARES[np.argmin(losses)])


def mean_log_loss(Y: Any, log_odds: Any) -> float:
    return log_loss(Y.ravel(), expit(log_odds).ravel(), labels=[0, 1])


def quality(Y: Any, log_odds: Any) -> list[float]:
    return [
        average_precision(Y, log_odds),
        ranking_loss(Y, log_odds),
        mean_log_loss(Y, log_odds),
    ]


if __name__ == "__main__":
    main()
