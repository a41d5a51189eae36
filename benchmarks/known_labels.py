"""Write docs/measured/known_labels.md: what known labels and whole sets add.

HOMI_DATA=data python benchmarks/known_labels.py

Each fold is kept in build/known_labels/, and is not computed twice. One thread.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import average_precision_score
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from homi import HOMICV
from homi.atomic_write import whole_file
from homi.datasets import load
from homi.datasets.load import at_hand
from homi.estimators import ClassifierChain
from homi.metrics import exact_match, example_f1
from homi.thresholds.rules import fit_rule

DATASETS = ("emotions", "birds", "CAL500", "yeast", "scene", "enron", "langlog")
DATASETS += ("mediamill-2500", "corel5k", "bibtex", "corel16k001", "delicious")
SHARES = (0.2, 0.5)
FOLDS = 5
#: Chains and forests of label sets with more labels take hours.
_MOST_LABELS = 200

HEAD = """# Known labels: what they add

Written by `python benchmarks/known_labels.py`. `{model}`, {folds} folds. A share of the
labels of each test row, at random, is known; the tables are of the others.
"""

KNOWN = """
## Unknown labels

Average precision of all unknown entries together, ranking loss within rows (of rows
with both kinds of unknown labels), and Hamming loss; by features alone, then given the
known labels. The last column is the gain of average precision with 50 % known, ± its
standard error over folds.
"""

SETS = """
## Whole label sets

Exact match and example-based F1 of `predict` ("plain"), of `strategy="joint"` for that
objective, of a random forest whose classes are the label sets of training ("sets
forest", 300 trees), and of a classifier chain. A dash: not run, more than {most}
labels.
"""

TIME = """
## Time

Processor seconds: the fit, the part of it that learns how labels go together, and
conditional probabilities of 1,000 rows with 50 % known, all sets different.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--journal", type=Path, default=Path("build/known_labels"))
    page = Path("docs/measured/known_labels.md")
    parser.add_argument("--output", type=Path, default=page)
    parser.add_argument("--linear", action="store_true", help="no trees, no kernels")
    arguments = parser.parse_args()
    options = {"widths": [], "trees": False} if arguments.linear else {}
    arguments.journal.mkdir(parents=True, exist_ok=True)
    found: dict[str, list[dict[str, Any]]] = {}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in arguments.datasets:
            if at_hand(name) is None:
                print(f"skipped {name}: no local copy", file=sys.stderr)
                continue
            found[name] = list(folds(name, arguments.journal, options))
            text = page_of(found, HOMICV(**options))
            with whole_file(arguments.output) as unfinished:
                unfinished.write_text(text, encoding="utf-8")


def folds(name: str, journal: Path, options: Any) -> Iterator[dict[str, Any]]:
    """Yield the record of each fold, from the journal or computed."""
    X, Y, *_ = load(name)
    Y = np.asarray(Y.toarray() if sparse.issparse(Y) else Y, dtype=int)
    kind = "linear-" if options else ""
    for fold, (train, test) in enumerate(
        KFold(FOLDS, shuffle=True, random_state=0).split(Y)
    ):
        path = journal / f"{kind}{name}-{fold}.json"
        if not path.exists():
            record = run(X[train], Y[train], X[test], Y[test], fold, options)
            with whole_file(path) as unfinished:
                unfinished.write_text(json.dumps(record), encoding="utf-8")
            print(f"{name}, fold {fold}: {record['fit']:.0f} s", file=sys.stderr)
        yield json.loads(path.read_text(encoding="utf-8"))


def run(X: Any, Y: Any, rows: Any, truth: Any, fold: int, options: Any) -> Any:
    began = time.process_time()
    model = HOMICV(**options)
    scores = model.fit_held_out(X, Y)
    record: dict[str, Any] = {"fit": time.process_time() - began}
    began = time.process_time()
    model._fit_joint_model(scores, Y.astype(float), None)
    record["joint"] = time.process_time() - began
    plain = model.predict_proba(rows)
    for share in SHARES:
        hidden = np.random.default_rng(fold).random(truth.shape) >= share
        known = np.where(hidden, np.nan, truth)
        given = model.predict_proba(rows, known=known)
        record[f"plain {share}"] = measures(truth, plain, hidden)
        record[f"given {share}"] = measures(truth, given, hidden)
    log_odds = model.decision_function(rows)
    began = time.process_time()
    model.joint_model_.probabilities(log_odds, known)
    record["predict"] = (time.process_time() - began) * 1000 / len(truth)
    labels = {"plain": plain > 0.5}
    record["joint sets"] = [
        metric(truth, fit_rule(scores, Y > 0, objective, "joint")(log_odds) > 0)
        for metric, objective in (
            (exact_match, "subset_accuracy"),
            (example_f1, "example_f1"),
        )
    ]
    if Y.shape[1] <= _MOST_LABELS:
        labels["sets forest"] = sets_forest(X, Y, rows)
        chain = ClassifierChain(random_state=0).fit(X, Y)
        labels["chain"] = chain.predict(rows)
    for name, found in labels.items():
        record[name] = [exact_match(truth, found), example_f1(truth, found)]
    return record


def measures(truth: Any, P: Any, hidden: Any) -> list[float]:
    """Average precision, ranking loss and Hamming loss of hidden entries."""
    precision = average_precision_score(truth[hidden], P[hidden])
    losses = []
    for y, p, u in zip(truth, P, hidden, strict=True):
        ones, zeros = p[u & (y == 1)], p[u & (y == 0)]
        if len(ones) and len(zeros):
            losses.append(np.mean(ones[:, None] <= zeros))
    wrong = (P > 0.5) != truth
    return [float(precision), float(np.mean(losses)), float(wrong[hidden].mean())]


def sets_forest(X: Any, Y: Any, rows: Any) -> Any:
    """Predict one of the label sets of training by a random forest."""
    sets, classes = np.unique(Y, axis=0, return_inverse=True)
    forest = RandomForestClassifier(300, random_state=0).fit(X, classes.ravel())
    return sets[forest.predict(rows)]


def page_of(found: dict[str, list[dict[str, Any]]], model: HOMICV) -> str:
    columns = ["data", "known"]
    for metric in ("average precision", "ranking loss", "Hamming loss"):
        columns += [metric, "given"]
    text = HEAD.format(model=model, folds=FOLDS) + KNOWN
    text += "\n" + head([*columns, "gain"])
    for name, records in found.items():
        text += "".join(known_rows(name, records))
    methods = ("plain", "joint sets", "sets forest", "chain")
    columns = ["data", *(f"exact match, {method}" for method in methods)]
    columns += [f"F1, {method}" for method in methods]
    text += SETS.format(most=_MOST_LABELS) + "\n" + head(columns)
    for name, records in found.items():
        cells = [mean(records, method, i) for i in (0, 1) for method in methods]
        text += line([name, *cells])
    text += TIME + "\n" + head(["data", "fit", "joint model", "1,000 rows"])
    for name, records in found.items():
        values = [np.mean([r[k] for r in records]) for k in ("fit", "joint", "predict")]
        text += line([name, *(f"{value:.2f}" for value in values)])
    return text


def known_rows(name: str, records: list[dict[str, Any]]) -> Iterator[str]:
    for share in SHARES:
        cells = []
        for i in range(3):
            cells += [
                mean(records, f"{kind} {share}", i) for kind in ("plain", "given")
            ]
        last = SHARES[-1]
        gains = [r[f"given {last}"][0] - r[f"plain {last}"][0] for r in records]
        error = np.std(gains, ddof=1) / np.sqrt(len(gains))
        gain = f"{np.mean(gains):+.3f} ± {error:.3f}" if share == last else ""
        yield line([name, f"{share:.0%}", *cells, gain])


def mean(records: list[dict[str, Any]], key: str, place: int) -> str:
    if key not in records[0]:
        return "–"
    return f"{np.mean([record[key][place] for record in records]):.3f}"


def head(columns: list[str]) -> str:
    return line(columns) + line(["---"] * len(columns))


def line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    main()
