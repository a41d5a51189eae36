"""How evenly folds spread labels and pairs of labels, and how long that takes.

    python benchmarks/folds.py

It writes docs/measured/folds.md. scikit-multilearn and iterative-stratification are
compared where they can be imported; install them in an environment of their own, by
``pip install --no-deps scikit-multilearn iterative-stratification``.
"""

from __future__ import annotations

import time
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from homi.arrays import dense
from homi.datasets import IterativeStratifiedKFold, load
from homi.typing import Indices, Mask

_PAGE = Path("docs/measured/folds.md")
_DATA = ("yeast", "emotions", "CAL500", "enron")
_SEEDS, _FOLDS = 5, 5

_HEAD = """# How evenly folds spread labels

Written by `python benchmarks/folds.py`: {n_folds} folds, averages over {n_seeds}
seeds. The deviation is that of Sechidis et al. (2011): the absolute difference
between the odds of a label in a fold and in all rows, averaged over labels and
folds. That of pairs is the same for pairs of labels that occur together. A label
that every row of a fold has is left out there. Lower is better. *Sizes* are the
rows of the smallest and the largest fold, *seconds* processor time of one split.

{versions}
"""

_END = """
Order 1 is the algorithm of Sechidis et al. Each row goes to the fold that lacks
most rows of its rarest label, whatever the size of that fold. Its folds are
unequal, and so are the numbers of rows *without* a frequent label, which are the
denominators of its odds. On yeast, the {n_top} labels that most rows have make
{share:.0%} of its deviation, which goes from {low:.3f} to {high:.3f} with the seed
({first:.3f} with seed 0). Order 2 counts all labels and pairs of a row, and the
size of a fold as one more label.
"""

#: Labels that most rows of yeast have.
_TOP = 2


def main() -> None:
    """Write the page, and print it as it grows."""
    lines = [
        "| data | splitter | labels | pairs | sizes | seconds |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    splitters = _splitters()
    for name in _DATA:
        Y = dense(load(name).Y).astype(bool)
        for title, split in splitters:
            lines.append(f"| {name} | {title} | {_measured(Y, split)} |")
            print(lines[-1], flush=True)
    packages = ("homi-learn", "scikit-learn", "scikit-multilearn")
    used = [*packages, "iterative-stratification"]
    versions = ", ".join(f"{name} {_version(name)}" for name in used)
    about = f"Versions: {versions}."
    head = _HEAD.format(n_folds=_FOLDS, n_seeds=_SEEDS, versions=about)
    text = "\n".join([head, *lines, _END.format(**_order_1_on_yeast())])
    _PAGE.write_text(text, encoding="utf-8")


def _order_1_on_yeast() -> dict[str, float]:
    """Return deviations by seed, and the share of the most frequent labels."""
    Y = dense(load("yeast").Y).astype(bool)
    top = np.argsort(-Y.sum(axis=0), kind="stable")[:_TOP]
    found, parts = [], []
    for seed in range(_SEEDS):
        kfold = IterativeStratifiedKFold(_FOLDS, order=1, random_state=seed)
        folds = [test for _, test in kfold.split(Y, Y)]
        found.append(_deviation(Y, folds))
        parts.append(_deviation(Y[:, top], folds) * _TOP / Y.shape[1])
    share = sum(parts) / sum(found)
    seeds = {"low": min(found), "high": max(found), "first": found[0]}
    return {"n_top": _TOP, "share": share, **seeds}


def _version(name: str) -> str:
    try:
        return version(name)
    except ModuleNotFoundError:
        return "not installed"


def _measured(Y: Mask, split: Any) -> str:
    start = time.process_time()
    runs = [split(seed, Y) for seed in range(_SEEDS)]
    seconds = (time.process_time() - start) / _SEEDS
    labels, pairs = (
        np.mean([_deviation(Z, folds) for folds in runs]) for Z in (Y, _pairs(Y))
    )
    sizes = [len(test) for folds in runs for test in folds]
    span = f"{min(sizes)}–{max(sizes)}"
    return f"{labels:.4f} | {pairs:.4f} | {span} | {seconds:.2f}"


def _splitters() -> list[tuple[str, Any]]:
    """Return titles, and functions of a seed and the labels to test rows."""

    def by(make: Any) -> Any:
        return lambda seed, Y: [
            test for _, test in make(seed).split(np.zeros((len(Y), 1)), Y.astype(int))
        ]

    def ours(order: int) -> Any:
        return by(
            lambda seed: IterativeStratifiedKFold(
                _FOLDS, order=order, random_state=seed
            )
        )

    found = [
        ("random", by(lambda seed: KFold(_FOLDS, shuffle=True, random_state=seed))),
        ("homi, order 1", ours(1)),
        ("homi, order 2", ours(2)),
    ]
    if _can_import("iterstrat"):
        kind = import_module("iterstrat.ml_stratifiers").MultilabelStratifiedKFold
        given = {"n_splits": _FOLDS, "shuffle": True}
        split = by(lambda seed: kind(**given, random_state=seed))
        found.append(("iterative-stratification", split))
    if _can_import("skmultilearn"):
        other = import_module("skmultilearn.model_selection").IterativeStratification
        found += [
            (f"scikit-multilearn, order {order}", _by_global_seed(by, other, order))
            for order in (1, 2)
        ]
    return found


def _by_global_seed(by: Any, kind: Any, order: int) -> Any:
    """Return a splitter that numpy's global seed decides: it refuses a seed itself."""

    def make(seed: int) -> Any:
        np.random.seed(seed)  # noqa: NPY002
        return kind(n_splits=_FOLDS, order=order)

    return by(make)


def _can_import(name: str) -> bool:
    try:
        import_module(name)
    except ImportError:
        return False
    return True


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
