"""How much the seed of HOMICV matters: ten seeds on one split of small data sets.

    python benchmarks/seeds.py --old OLD   # a checkout of an earlier version beside it

Writes docs/measured/seeds.md: the number of different structures (kernel, scaling,
label correction) that were chosen, and the spread of the quality on test rows.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from homi import HOMICV
from homi.datasets import load
from homi.metrics import ranking_loss
from homi.model.scoring import average_precision

DATASETS = ("emotions", "birds", "CAL500")
SEEDS = 10
PAGE = Path(__file__).parents[1] / "docs/measured/seeds.md"
#: Parameters that make a structure.
STRUCTURE = ("kernel", "standardize", "correlation", "beta", "n_neighbors")
HEAD = """# Seeds of HOMICV

Written by `python benchmarks/seeds.py`: one half of the rows to fit, the other to
judge, seeds 0 to {last}. "structures" is the number of different choices of kernel,
scaling, label correction and graph. A fit without a seed takes 0, so two calls give
the same model. The spread is one standard deviation over the seeds.

| data set | version | structures | average precision | ranking loss |
| --- | --- | --- | --- | --- |
"""


def main() -> None:
    """Measure the data sets that are at hand, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--old", type=Path, help="checkout of an earlier version")
    parser.add_argument("--print", action="store_true", help="print and write nothing")
    arguments = parser.parse_args()
    with threadpool_limits(1):
        ours = {name: measure(name) for name in arguments.datasets}
    if arguments.print:
        print(json.dumps(ours))
        return
    versions = {"this one": ours}
    if arguments.old is not None:
        versions = {"before": measure_old(arguments)} | versions
    rows = [
        f"| {name} | {version} | {found[name]} |\n"
        for name in arguments.datasets
        for version, found in versions.items()
    ]
    PAGE.write_text(HEAD.format(last=SEEDS - 1) + "".join(rows), encoding="utf-8")


def measure_old(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the cells of another version, measured in a process of its own."""
    command = [sys.executable, __file__, "--print"]
    command += ["--datasets", *arguments.datasets]
    paths = {"PYTHONPATH": str(arguments.old / "src")}
    given = {"env": os.environ | paths, "check": True, "stdout": subprocess.PIPE}
    found: dict[str, str] = json.loads(subprocess.run(command, **given).stdout)
    return found


def measure(dataset: str) -> str:
    """Return the cells of a data set."""
    X, Y, *_ = load(dataset)
    split = train_test_split(X, np.asarray(Y), test_size=0.5, random_state=0)
    X_train, X_test, Y_train, Y_test = split
    structures, values = set(), []
    for seed in range(SEEDS):
        model = HOMICV(random_state=seed).fit(X_train, Y_train)
        structures.add(tuple(model.best_params_.get(name) for name in STRUCTURE))
        scores = model.decision_function(X_test)
        values.append((average_precision(Y_test, scores), ranking_loss(Y_test, scores)))
    means, spreads = np.mean(values, axis=0), np.std(values, axis=0, ddof=1)
    cells = [f"{m:.4f} ± {s:.4f}" for m, s in zip(means, spreads, strict=True)]
    return " | ".join([str(len(structures)), *cells])


if __name__ == "__main__":
    main()
