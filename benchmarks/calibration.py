"""Calibration of rare labels: scores as they are, Platt's sigmoids, and pooled ones.

    python benchmarks/calibration.py

One HOMICV without trees is fitted to four fifths of each data set. Its held-out scores
are mapped to log-odds in three ways, and the other rows tell which ranks them best:
not at all, by one of Platt's sigmoids for each label, and by sigmoids with a common
prior, as HOMICV does. Results are appended to a journal, so that a run that was stopped
goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from scipy import sparse
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from homi import HOMICV
from homi.datasets import load
from homi.datasets.load import at_hand
from homi.linear import fit_sigmoids
from homi.metrics import ranking_loss

DATASETS = ("langlog", "enron", "corel5k", "bibtex", "delicious")
WAYS = ("scores as they are", "Platt's sigmoids", "pooled sigmoids")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    journal = Path("build/calibration.jsonl")
    parser.add_argument("--journal", type=Path, default=journal)
    output = Path("docs/measured/calibration.md")
    parser.add_argument("--output", type=Path, default=output)
    arguments = parser.parse_args()
    done = {}
    if arguments.journal.exists():
        done = {r["data set"]: r for r in map(json.loads, arguments.journal.open())}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in arguments.datasets:
            if name in done:
                continue
            if at_hand(name) is None:
                print(f"skipped {name}: no local copy", file=sys.stderr)
                continue
            done[name] = measure(name)
            print(done[name], file=sys.stderr, flush=True)
            arguments.journal.parent.mkdir(parents=True, exist_ok=True)
            with arguments.journal.open("a") as out:
                out.write(json.dumps(done[name]) + "\n")
    arguments.output.write_text(page(done.values()), encoding="utf-8")


def measure(name: str) -> dict[str, Any]:
    X, Y, *_ = load(name)
    Y = Y.toarray() if sparse.issparse(Y) else np.asarray(Y)
    rows = np.arange(X.shape[0])
    train, test = train_test_split(rows, test_size=0.2, random_state=0)
    model = HOMICV(trees=False)
    pooled = model.fit_held_out(X[train], Y[train])
    slope, offset = model.odds_slope_, model.odds_offset_
    assert slope is not None
    # Log-odds are a line of the scores; a slope of 0 belongs to constant scores.
    divisor = np.where(slope == 0, 1.0, slope)
    held_out = (pooled - offset) / divisor
    odds = model.decision_function(X[test])
    scores = (odds - offset) / divisor
    platt = fit_sigmoids(held_out, Y[train])
    ways = (scores, -(scores * platt.slope + platt.offset), odds)
    counts = Y[train].sum(axis=0)
    return {
        "data set": name,
        "labels": Y.shape[1],
        "rare": int((counts <= 10).sum()),
        "ranking loss": [ranking_loss(Y[test], S) for S in ways],
        "macro-F1": [
            f1_score(Y[test], S > 0, average="macro", zero_division=0) for S in ways
        ],
    }


def page(found: Iterable[dict[str, Any]]) -> str:
    head = ["data set", "labels", "with at most 10 positives", *WAYS]
    parts = [
        "# Calibration of rare labels\n\n"
        "Written by `python benchmarks/calibration.py`: "
        "`HOMICV(trees=False)` fitted to four fifths of each data set; the other rows "
        "are scored. Python "
        f"{platform.python_version()}, numpy {np.__version__}, scikit-learn "
        f"{sklearn.__version__}. Ranking loss is better when lower, macro-F1 (labels "
        "with scores above 0) when higher.\n"
    ]
    found = list(found)
    for metric in ("ranking loss", "macro-F1"):
        lines = [f"## {metric[0].upper() + metric[1:]}\n", f"| {' | '.join(head)} |"]
        lines.append("|" + " --- |" * len(head))
        for r in found:
            cells = [r["data set"], str(r["labels"]), str(r["rare"])]
            cells += [f"{value:.4f}" for value in r[metric]]
            lines.append(f"| {' | '.join(cells)} |")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    main()
