"""How much the seed of HOMICV matters: ten seeds on one split of small data sets.

    python benchmarks/seeds.py
    python benchmarks/seeds.py --source OLD/src   # another version

Prints the number of different structures (kernel, scaling, label correction) that were
chosen, and the mean and standard deviation of the average precision on test rows.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from homi import HOMICV
from homi.datasets import load
from homi.model.scoring import average_precision

DATASETS = ("emotions", "birds", "CAL500")
SEEDS = 10


def main() -> None:
    """Print a line for each data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--source", type=Path, help="the src of another version")
    arguments = parser.parse_args()
    if arguments.source is not None:
        command = [sys.executable, __file__, "--datasets", *arguments.datasets]
        paths = {"PYTHONPATH": str(arguments.source)}
        subprocess.run(command, env=os.environ | paths, check=True)
        return
    with threadpool_limits(1):
        for name in arguments.datasets:
            print(line(name), flush=True)


def line(dataset: str) -> str:
    X, Y, *_ = load(dataset)
    split = train_test_split(X, np.asarray(Y), test_size=0.5, random_state=0)
    X_train, X_test, Y_train, Y_test = split
    structures, values = set(), []
    for seed in range(SEEDS):
        model = HOMICV(random_state=seed).fit(X_train, Y_train)
        chosen = model.best_params_
        names = ("kernel", "standardize", "correlation", "beta", "n_neighbors")
        structures.add(tuple(chosen.get(name) for name in names))
        values.append(average_precision(Y_test, model.decision_function(X_test)))
    return (
        f"{dataset}: {len(structures)} structures of {SEEDS} seeds, average precision "
        f"{np.mean(values):.4f} ± {np.std(values, ddof=1):.4f}"
    )


if __name__ == "__main__":
    main()
