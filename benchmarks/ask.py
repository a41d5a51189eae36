"""Error left after k questions: ask, the most uncertain labels, and random ones."""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from homi import HOMICV
from homi.arrays import dense
from homi.datasets import load
from homi.dependence.ask import questions

DATASETS = ("emotions", "birds", "scene", "yeast", "CAL500")
#: Questions for each row.
COUNTS = (0, 1, 2, 3, 5)
#: Most test rows of a fold.
ROWS = 150
#: Most seconds for one row of CAL500.
TARGET = 0.05
ORDERS = {
    "ask": "ask, at once",
    "uncertain": "most uncertain, at once",
    "ask in turn": "ask, in turn",
    "uncertain in turn": "most uncertain, in turn",
    "random": "random",
}

HEAD = """# Questions against error

Written by `python benchmarks/ask.py`. For each test row, k labels are asked about and
become known; the number is the Brier score, the mean squared error of the probabilities
of all labels, those answered included; less is better. "most uncertain" asks
about the labels whose probability is nearest to one half. "At once": all questions of
a row are chosen before any answer; "in turn": each one after the answers before it.
The model is `HOMICV(widths=[], trees=False)`; means over five folds ± standard error,
of at most 150 test rows each.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    page = Path("docs/measured/ask.md")
    parser.add_argument("--output", type=Path, default=page)
    output = parser.parse_args().output
    lines, times = [], []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in DATASETS:
            X, Y, *_ = load(name)
            X, Y = np.asarray(dense(X), dtype=float), np.asarray(dense(Y), dtype=int)
            folds = KFold(5, shuffle=True, random_state=0).split(X)
            found = [errors(X, Y, *fold) for fold in folds]
            lines += [row(name, order, found) for order in ORDERS]
            slowest = np.mean([each["seconds"] for each in found])
            times.append(f"{name} ({Y.shape[1]} labels) {1000 * slowest:.1f} ms")
            if name == "CAL500":
                verdict = "met" if slowest <= TARGET else "MISS"
            print(name, file=sys.stderr, flush=True)
    heads = ["data set", "order", *(f"k = {k}" for k in COUNTS)]
    text = "".join(f"| {' | '.join(x)} |\n" for x in [heads, ["---"] * 7, *lines])
    text += (
        f"\nMean time of `ask` for one row and three questions: {', '.join(times)}. "
        f"At most {1000 * TARGET:.0f} ms at 174 labels: {verdict}.\n"
    )
    output.write_text(f"{HEAD}\n{text}", encoding="utf-8")


def errors(X: Any, Y: Any, train: Any, test: Any) -> dict[str, Any]:
    """Return the Brier scores of each order, and the seconds of a row."""
    model = HOMICV(widths=[], trees=False).fit(X[train], Y[train])
    test = test[:ROWS]
    joint, S, nothing = model._given(X[test], np.full(Y[test].shape, np.nan))
    rng = np.random.default_rng(0)
    most = min(max(COUNTS), Y.shape[1])
    orders = {
        "ask": best(joint, S, nothing, most),
        "uncertain": np.argsort(np.abs(expit(S) - 0.5), axis=1)[:, :most],
        "ask in turn": in_turn(best, joint, S, Y[test], most),
        "uncertain in turn": in_turn(uncertain, joint, S, Y[test], most),
        "random": np.array([rng.permutation(Y.shape[1])[:most] for _ in test]),
    }
    found: dict[str, Any] = {
        name: [brier(joint, S, Y[test], order[:, :k]) for k in COUNTS]
        for name, order in orders.items()
    }
    started = time.perf_counter()
    for s, y in zip(S[:20], nothing[:20], strict=True):
        questions(joint, s, y, 3)
    return found | {"seconds": (time.perf_counter() - started) / len(S[:20])}


def in_turn(choose: Any, joint: Any, S: Any, Y: Any, count: int) -> Any:
    order = np.zeros((len(Y), 0), dtype=int)
    for _ in range(count):
        order = np.hstack([order, choose(joint, S, known(Y, order), 1)])
    return order


def best(joint: Any, S: Any, Y: Any, count: int) -> Any:
    return np.array([questions(joint, s, y, count) for s, y in zip(S, Y, strict=True)])


def uncertain(joint: Any, S: Any, Y: Any, count: int) -> Any:
    return np.abs(joint.probabilities(S, Y) - 0.5).argmin(axis=1)[:, None]


def known(Y: Any, order: Any) -> Any:
    found = np.full(Y.shape, np.nan)
    np.put_along_axis(found, order, np.take_along_axis(Y, order, 1).astype(float), 1)
    return found


def brier(joint: Any, S: Any, Y: Any, order: Any) -> float:
    P = joint.probabilities(S, known(Y, order))
    return float(np.mean((P - Y) ** 2))


def row(name: str, order: str, found: list[dict[str, Any]]) -> list[str]:
    values = np.array([each[order] for each in found])
    mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))
    cells = (f"{m:.4f} ± {e:.4f}" for m, e in zip(mean, error, strict=True))
    return [name, ORDERS[order], *cells]


if __name__ == "__main__":
    main()
