"""Write docs/measured/known_labels.md: what known labels and whole sets add.

HOMI_DATA=data python benchmarks/known_labels.py

The log-odds of each fold are kept in build/known_labels/, so that no classifier is
fitted twice; what follows from them is computed again. One thread.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import average_precision_score
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from homi import HOMICV
from homi.arrays import dense
from homi.atomic_write import whole_file
from homi.datasets import load
from homi.datasets.load import at_hand
from homi.estimators import ClassifierChain
from homi.joint import fit_joint_model
from homi.metrics import exact_match, example_f1
from homi.thresholds import expected_calibration_error
from homi.thresholds.rules import fit_rule

#: Five folds with trees.
SMALL = ("emotions", "birds", "CAL500", "yeast", "scene", "enron", "langlog")
SMALL += ("mediamill-2500",)
#: Folds without trees.
LARGE = {"corel5k": 5, "bibtex": 5, "corel16k001": 5, "delicious": 1}
SHARES = (0.2, 0.5)
METRICS = ("average precision", "ranking loss", "Hamming loss", "calibration error")
FOLDS = 5
#: Chains of data with more label sets take hours.
_MOST_SETS = 1000
#: Most seconds for 1,000 rows with different known labels.
TARGETS = (
    ("CAL500", 2.0, "At most 2 s with 174 labels"),
    ("delicious", 100.0, "At most 100 ms a row with 983 labels"),
)
#: What is fitted beside HOMICV.
TRAINED = ("sets forest", "chain")
#: Most test rows of a fold.
_ROWS = 1000

HEAD = """# Known labels: what they add

Written by `python benchmarks/known_labels.py`: `HOMICV(logistic=False)`, means over
{folds} folds; on large data sets also `trees=False`, to save time, with these numbers
of folds: {large}.
At most {rows:,} test rows of a fold. A share of the labels of each test row, at random,
is known; the tables are of the others. Weights, shrinkage and gates are those of the
training rows, but the form of the joint model and its constants were compared on these
data sets, too: the figures may be a little optimistic.
"""

KNOWN = """
## Unknown labels

Average precision of all unknown entries together, ranking loss within rows (of rows
with both kinds of unknown labels), Hamming loss, and expected calibration error; by
features alone, then given the known labels. The last column is the gain of average
precision with 50 % known, ± its standard error over folds. At least +0.05: {count} of
{total} data sets.
"""

SETS = """
## Whole label sets

Exact match and example-based F1 of `predict` ("plain"), of `strategy="joint"` for that
objective, of a random forest whose classes are the label sets of training ("sets
forest", 300 trees), and of a classifier chain. A dash: not run, more than {most:,}
label sets.
"""

TIME = """
## Time

Processor seconds: the fit, the part of it that learns how labels go together, and
conditional probabilities of 1,000 rows with 50 % known, all sets different.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=(*SMALL, *LARGE))
    parser.add_argument("--journal", type=Path, default=Path("build/known_labels"))
    page = Path("docs/measured/known_labels.md")
    parser.add_argument("--output", type=Path, default=page)
    parser.add_argument("--fit-only", action="store_true", help="only fill the journal")
    arguments = parser.parse_args()
    arguments.journal.mkdir(parents=True, exist_ok=True)
    found: dict[str, list[dict[str, Any]]] = {}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in arguments.datasets:
            if at_hand(name) is None:
                print(f"skipped {name}: no local copy", file=sys.stderr)
                continue
            kept = journal(name, arguments.journal)
            if arguments.fit_only:
                continue
            found[name] = [measured(np.load(path), i) for i, path in enumerate(kept)]
            with whole_file(arguments.output) as unfinished:
                unfinished.write_text(page_of(found), encoding="utf-8")


def journal(name: str, directory: Path) -> list[Path]:
    """Return the files of all folds; those that lack are computed."""
    X, Y, *_ = load(name)
    Y = np.asarray(dense(Y), dtype=int)
    folds = KFold(FOLDS, shuffle=True, random_state=0).split(Y)
    paths = []
    for fold, (train, test) in zip(range(LARGE.get(name, FOLDS)), folds, strict=False):
        paths.append(directory / f"{name}-{fold}.npz")
        if not paths[-1].exists():
            trees = False if name in LARGE else "auto"
            model = HOMICV(trees=trees, logistic=False)
            kept = fitted(model, X[train], Y[train], X[test[:_ROWS]], Y[test[:_ROWS]])
            with whole_file(paths[-1]) as unfinished, unfinished.open("wb") as file:
                np.savez_compressed(file, **kept)
            print(f"{name}, fold {fold}: {kept['fit']:.0f} s", file=sys.stderr)
    return paths


def fitted(model: HOMICV, X: Any, Y: Any, rows: Any, truth: Any) -> dict[str, Any]:
    """Return log-odds of training rows, held out, and of test rows; label sets."""
    began = time.process_time()
    scores = model.fit_held_out(X, Y)
    found = {"fit": time.process_time() - began, "held_out": scores, "Y": Y > 0}
    found |= {"log_odds": model.decision_function(rows), "truth": truth > 0}
    found["sets forest"] = sets_forest(X, Y, rows) > 0
    if len(np.unique(Y, axis=0)) <= _MOST_SETS:
        found["chain"] = ClassifierChain(random_state=0).fit(X, Y).predict(rows) > 0
    return found


def measured(kept: Any, fold: int) -> dict[str, Any]:
    """Return what the joint model makes of the log-odds of a fold."""
    held_out, Y, S, truth = (kept[k] for k in ("held_out", "Y", "log_odds", "truth"))
    began = time.process_time()
    model = fit_joint_model(held_out, Y.astype(float))
    record: dict[str, Any] = {"fit": float(kept["fit"])}
    record["joint"] = time.process_time() - began
    for share in SHARES:
        hidden = np.random.default_rng(fold).random(truth.shape) >= share
        known = np.where(hidden, np.nan, truth)
        began = time.process_time()
        given = model.probabilities(S, known)
        record["predict"] = (time.process_time() - began) * 1000 / len(truth)
        record[f"plain {share}"] = measures(truth, expit(S), hidden)
        record[f"given {share}"] = measures(truth, given, hidden)
    record["joint sets"] = [
        metric(truth, fit_rule(held_out, Y, objective, "joint")(S) > 0)
        for metric, objective in (
            (exact_match, "subset_accuracy"),
            (example_f1, "example_f1"),
        )
    ]
    labels = {"plain": S > 0, **{k: kept[k] for k in TRAINED if k in kept}}
    for name, found in labels.items():
        record[name] = [exact_match(truth, found), example_f1(truth, found)]
    return record


def measures(truth: Any, P: Any, hidden: Any) -> list[float]:
    """Average precision, ranking and Hamming loss, and calibration error."""
    precision = average_precision_score(truth[hidden], P[hidden])
    losses = []
    for y, p, u in zip(truth, P, hidden, strict=True):
        ones, zeros = p[u & (y == 1)], p[u & (y == 0)]
        if len(ones) and len(zeros):
            losses.append(np.mean(ones[:, None] <= zeros))
    wrong = (P > 0.5) != truth
    error = expected_calibration_error(truth[hidden], P[hidden])
    return [precision, np.mean(losses), wrong[hidden].mean(), error]


def sets_forest(X: Any, Y: Any, rows: Any) -> Any:
    """Predict one of the label sets of training by a random forest."""
    sets, classes = np.unique(Y, axis=0, return_inverse=True)
    shares = np.zeros((rows.shape[0], len(sets)))
    for seed in range(30):  # all 300 trees at once may take gigabytes
        forest = RandomForestClassifier(10, random_state=seed).fit(X, classes.ravel())
        shares += forest.predict_proba(rows)
    return sets[shares.argmax(axis=1)]


def page_of(found: dict[str, list[dict[str, Any]]]) -> str:
    columns = ["data", "known"]
    for metric in METRICS:
        columns += [metric, "given"]
    folds = ", ".join(f"{name} ({count})" for name, count in LARGE.items())
    text = HEAD.format(folds=FOLDS, large=folds, rows=_ROWS)
    count = sum(np.mean(gains(records)) >= 0.05 for records in found.values())
    text += KNOWN.format(count=count, total=len(found))
    text += "\n" + head([*columns, "gain"])
    for name, records in found.items():
        text += "".join(known_rows(name, records))
    methods = ("plain", "joint sets", *TRAINED)
    columns = ["data", *(f"exact match, {method}" for method in methods)]
    columns += [f"F1, {method}" for method in methods]
    text += SETS.format(most=_MOST_SETS) + "\n" + head(columns)
    for name, records in found.items():
        cells = [mean(records, method, i) for i in (0, 1) for method in methods]
        text += line([name, *cells])
    text += TIME + "\n" + head(["data", "fit", "joint model", "1,000 rows"])
    for name, records in found.items():
        values = [np.mean([r[k] for r in records]) for k in ("fit", "joint", "predict")]
        text += line([name, *(f"{value:.2f}" for value in values)])
    return text + "".join(targets(found))


def targets(found: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    """Yield a line for each target: seconds for 1,000 rows."""
    for name, most, words in TARGETS:
        if name in found:
            spent = np.mean([record["predict"] for record in found[name]])
            met = "met" if spent <= most else "MISS"
            yield f"\n{words}: {spent:.2f} s for 1,000 rows of {name}, {met}.\n"


def known_rows(name: str, records: list[dict[str, Any]]) -> Iterator[str]:
    for share in SHARES:
        cells = []
        for i in range(len(METRICS)):
            cells += [
                mean(records, f"{kind} {share}", i) for kind in ("plain", "given")
            ]
        last, values = share == SHARES[-1], gains(records)
        gain = f"{np.mean(values):+.3f}" if last else ""
        if last and len(values) > 1:
            gain += f" ± {np.std(values, ddof=1) / np.sqrt(len(values)):.3f}"
        yield line([name, f"{share:.0%}", *cells, gain])


def gains(records: list[dict[str, Any]]) -> list[float]:
    last = SHARES[-1]
    return [r[f"given {last}"][0] - r[f"plain {last}"][0] for r in records]


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
