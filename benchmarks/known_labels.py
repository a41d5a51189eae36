"""Write docs/measured/known_labels.md: what known labels and whole sets add.

HOMI_DATA=data python benchmarks/known_labels.py

The page is written from results/known_labels.jsonl, one line for each data set and part
of the page. Lines that lack are measured; delete one to measure it again. Log-odds of
folds are kept in build/known_labels/. One thread.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy.special import expit
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import average_precision_score
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from homi import HOMI, HOMICV
from homi.arrays import dense
from homi.atomic_write import whole_file
from homi.datasets import load
from homi.datasets.load import at_hand
from homi.estimators import ClassifierChain
from homi.joint import fit_joint_model
from homi.metrics import exact_match, example_f1
from homi.model.blend import fit_log_odds
from homi.model.calibration import LEAST_ROWS, cross_validated_scores
from homi.model.partial_fit import seed_of
from homi.model.route import choose_route
from homi.solver import Problem, leave_one_out
from homi.thresholds import expected_calibration_error
from homi.thresholds.rules import fit_rule

Done: TypeAlias = dict[tuple[str, str], dict[str, Any]]

#: Five folds with trees.
SMALL = ("emotions", "birds", "CAL500", "yeast", "scene", "enron", "langlog")
SMALL += ("mediamill-2500",)
#: Folds without trees.
LARGE = {"corel5k": 5, "bibtex": 5, "corel16k001": 5, "delicious": 1}
SHARES = (0.2, 0.5)
METRICS = ("average precision", "ranking loss", "Hamming loss", "calibration error")
FOLDS = 5
#: Large data sets: folds of whole label sets.
SETS_FOLDS = 2
#: Trees of the forest of label sets, where 300 take too long.
TREES = {"corel5k": 100, "bibtex": 100, "corel16k001": 100}
#: Trees that are grown at a time: each node has a number for each label set.
BATCH = {"corel16k001": 2}
#: Nearly all label sets differ: they are counted, and no forest is grown.
UNIQUE = ("delicious",)
#: Chains of data with more label sets take hours.
_MOST_SETS = 1000
#: Most seconds for 1,000 rows with different known labels.
TARGETS = (
    ("CAL500", 2.0, "At most 2 s with 174 labels"),
    ("delicious", 100.0, "At most 100 ms a row with 983 labels"),
)
METHODS = ("plain", "joint sets", "sets forest", "chain")
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
forest", 300 trees), and of a classifier chain. Large data sets: {folds} folds. A dash:
not run; chains of more than {most:,} label sets take hours. Exact match of joint sets
is at least that of the forest on {level} of {both} data sets, and below plain on:
{below}; "±" is the standard error over folds. Not run: {lacking}.
"""

UNIQUE_SETS = """
{name} was not run: {sets:,} label sets in {rows:,} training rows of the first fold. A
tree whose classes are these sets would take about {gigabytes:.1f} GB, and
{seen:.1%} of the test rows have a set that occurs in training, which is the most that
such a forest could match.
"""

FEWER = """
Forests with fewer trees, to save time: {fewer}.
"""

CALIBRATED = """
## HOMI

`HOMI(calibration="sigmoid")`, with its graph and without (γ = 0): average precision and
Hamming loss of the unknown labels, by features alone, then with {share:.0%} known. Its
sigmoids and joint model are fitted to scores of five folds. "Leave-one-out": the same,
fitted to leave-one-out scores in closed form, with B and the graph held. "Held out" is
the average precision of the scores that are fitted to, and "new" that of new rows. With
a graph, a left-out row keeps its edges, which a new row does not have. Where features
are many, as in enron, its score is far too good. Hence the folds. Means over {folds}
folds; processor seconds of the held-out scores.
"""

TIME = """
## Time

Processor seconds: the fit, the part of it that learns how labels go together, and
conditional probabilities of 1,000 rows with 50 % known, all sets different.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=(*SMALL, *LARGE))
    parser.add_argument("--parts", nargs="+", default=(*PARTS,), choices=(*PARTS,))
    results = Path("results/known_labels.jsonl")
    parser.add_argument("--results", type=Path, default=results)
    page = Path("docs/measured/known_labels.md")
    parser.add_argument("--output", type=Path, default=page)
    arguments = parser.parse_args()
    done = read(arguments.results)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, part in product(arguments.datasets, arguments.parts):
            if (name, part) in done or not applies(part, name):
                continue
            if at_hand(name) is None:
                print(f"skipped {name}: no local copy", file=sys.stderr)
                continue
            done[name, part] = {"data": name, "part": part} | PARTS[part](name)
            with arguments.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(done[name, part]) + "\n")
            print(done[name, part], file=sys.stderr, flush=True)
    with whole_file(arguments.output) as unfinished:
        unfinished.write_text(page_of(done), encoding="utf-8")


def applies(part: str, name: str) -> bool:
    if part in ("whole sets", "sets forest", "unique sets"):
        return (name in UNIQUE) == (part == "unique sets")
    if part == "calibrated HOMI":
        return name in ("emotions", "CAL500", "yeast", "scene", "enron")
    return part != "chain" or name not in LARGE


def read(results: Path) -> Done:
    lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
    return {(r["data"], r["part"]): r for r in map(json.loads, lines)}


def folds_of(name: str, most: int) -> Iterator[tuple[Any, Any, Any, Any]]:
    """Yield training rows, their labels, test rows and their labels."""
    X, Y, *_ = load(name)
    Y = np.asarray(dense(Y), dtype=int)
    folds = KFold(FOLDS, shuffle=True, random_state=0).split(Y)
    for _, (train, test) in zip(range(most), folds, strict=False):
        yield X[train], Y[train], X[test[:_ROWS]], Y[test[:_ROWS]]


def log_odds(name: str, most: int) -> Iterator[Any]:
    """Yield the log-odds of folds: from files, or computed and kept there."""
    for fold, (X, Y, rows, truth) in enumerate(folds_of(name, most)):
        path = Path("build/known_labels") / f"{name}-{fold}.npz"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            model = HOMICV(trees=False if name in LARGE else "auto", logistic=False)
            began = time.process_time()
            found = {"held_out": model.fit_held_out(X, Y), "Y": Y > 0}
            found["fit"] = time.process_time() - began
            found |= {"log_odds": model.decision_function(rows), "truth": truth > 0}
            with whole_file(path) as unfinished, unfinished.open("wb") as file:
                np.savez_compressed(file, **found)
        yield np.load(path)


def known(name: str) -> dict[str, Any]:
    """Return measures of unknown labels and times, means over folds."""
    records = [
        known_of_fold(kept, fold)
        for fold, kept in enumerate(log_odds(name, LARGE.get(name, FOLDS)))
    ]
    last = SHARES[-1]
    gains = [r[f"given {last}"][0] - r[f"plain {last}"][0] for r in records]
    count = len(records)
    error = np.std(gains, ddof=1) / np.sqrt(count) if count > 1 else None
    means = {k: np.mean([r[k] for r in records], axis=0).tolist() for k in records[0]}
    return {"folds": count, **means, "gain": [np.mean(gains), error]}


def known_of_fold(kept: Any, fold: int) -> dict[str, Any]:
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
    return record


def calibrated(name: str) -> dict[str, Any]:
    """Return measures of HOMI, calibrated by folds and by leave-one-out scores."""
    found: dict[str, list[list[float]]] = {}
    for fold, (X, Y, rows, truth) in enumerate(folds_of(name, FOLDS)):
        X, rows = dense(X), dense(rows)
        hidden = np.random.default_rng(fold).random(truth.shape) >= SHARES[-1]
        known = np.where(hidden, np.nan, truth)
        for (kind, scores_of), gamma in product(HELD_OUT.items(), (1.0, 0.0)):
            began = time.process_time()
            held_out = scores_of(HOMI(gamma=gamma), X, Y)
            spent = time.process_time() - began
            odds = fit_log_odds(held_out, Y)
            log_odds, labels = odds(held_out), Y.astype(float)
            joint = fit_joint_model(log_odds, labels, least_rows=LEAST_ROWS)
            raw = HOMI(gamma=gamma).fit(X, Y).decision_function(rows)
            given = measures(truth > 0, joint.probabilities(odds(raw), known), hidden)
            plain = measures(truth > 0, expit(odds(raw)), hidden)
            pairs = ((Y, held_out), (truth, raw))
            precision = [
                average_precision_score(y.ravel(), s.ravel()) for y, s in pairs
            ]
            record = [*precision, plain[0], given[0], plain[2], given[2], spent]
            found.setdefault(f"{kind}, γ = {gamma:g}", []).append(record)
    return mean_of_folds(found)


def by_folds(model: HOMI, X: Any, Y: Any) -> Any:
    given = model._rows(X, Y, None, None)
    return cross_validated_scores(model.get_params(deep=False), given, seed_of(model))


def by_one(model: HOMI, X: Any, Y: Any) -> Any:
    rows = model.fit(X, Y)._rows(X, Y, None, None)
    space = rows.build(choose_route(model.get_params(deep=False), rows)).features
    problem = Problem(space.moments, model.lam, model.beta, model.gamma)
    B, scaling = model.label_correlation_, {"mean": space.mean, "scale": space.scale}
    P = leave_one_out(problem, space.features, Y, B, **scaling)
    return P @ B + model.label_bias_ - 0.5


HELD_OUT = {"folds": by_folds, "leave-one-out": by_one}


def whole_sets(name: str) -> dict[str, Any]:
    """Return exact match and F1 without tuning and of ``strategy="joint"``."""
    plain, joint = [], []
    for kept in log_odds(name, sets_folds(name)):
        held_out, Y, S, truth = (
            kept[k] for k in ("held_out", "Y", "log_odds", "truth")
        )
        plain.append(scores(truth, S > 0))
        found = [
            fit_rule(held_out, Y, objective, "joint")(S) > 0
            for objective in ("subset_accuracy", "example_f1")
        ]
        joint.append([scores(truth, each)[i] for i, each in enumerate(found)])
    gains = np.subtract(joint, plain)[:, 0]
    error = np.std(gains, ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else None
    means = mean_of_folds({"plain": plain, "joint sets": joint})
    return means | {"sets gain": [np.mean(gains), error]}


def sets_forest(name: str) -> dict[str, Any]:
    """Return those of a random forest whose classes are the label sets of training."""
    half, every = [], []
    trees, batch = TREES.get(name, 300), BATCH.get(name, 10)
    for X, Y, rows, truth in folds_of(name, sets_folds(name)):
        sets, classes = np.unique(Y, axis=0, return_inverse=True)
        shares, found = np.zeros((rows.shape[0], len(sets))), []
        for seed in range(trees // batch):  # all trees at once may take gigabytes
            forest = RandomForestClassifier(batch, random_state=seed)
            shares += forest.fit(X, classes.ravel()).predict_proba(rows)
            found.append(scores(truth, sets[shares.argmax(axis=1)] > 0))
        half.append(found[len(found) // 2 - 1])
        every.append(found[-1])
    means = mean_of_folds({"sets forest": every, "half of the trees": half})
    return {"trees": trees, **means}


def unique_sets(name: str) -> dict[str, Any]:
    """Return the label sets of training, and how many test rows have one of them."""
    _, Y, _, truth = next(folds_of(name, 1))
    sets = {row.tobytes() for row in Y > 0}
    seen = float(np.mean([row.tobytes() in sets for row in truth > 0]))
    # A bootstrap sample has 63 % of the rows, and a tree twice as many nodes as leaves.
    nodes = 2 * (1 - np.exp(-1)) * len(Y)
    return {
        "rows": len(Y),
        "sets": len(sets),
        "seen": seen,
        "bytes": nodes * 8 * len(sets),
    }


def chain(name: str) -> dict[str, Any]:
    """Return those of a classifier chain."""
    found = []
    for X, Y, rows, truth in folds_of(name, sets_folds(name)):
        model = ClassifierChain(random_state=0).fit(X, Y)
        found.append(scores(truth > 0, model.predict(rows) > 0))
    return mean_of_folds({"chain": found})


def sets_folds(name: str) -> int:
    return min(SETS_FOLDS, LARGE[name]) if name in LARGE else FOLDS


def scores(truth: Any, found: Any) -> list[float]:
    return [exact_match(truth, found), example_f1(truth, found)]


def mean_of_folds(found: dict[str, list[list[float]]]) -> dict[str, Any]:
    means = {k: np.mean(v, axis=0).tolist() for k, v in found.items()}
    return {"folds": len(next(iter(found.values()))), **means}


#: What a line of the results is of.
PARTS = {
    "known labels": known,
    "calibrated HOMI": calibrated,
    "whole sets": whole_sets,
    "sets forest": sets_forest,
    "unique sets": unique_sets,
    "chain": chain,
}


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


def page_of(done: Done) -> str:
    names = [n for n in (*SMALL, *LARGE) if (n, "known labels") in done]
    known = {name: done[name, "known labels"] for name in names}
    columns = ["data", "known"]
    for metric in METRICS:
        columns += [metric, "given"]
    folds = ", ".join(f"{n} ({known[n]['folds']})" for n in LARGE if n in known)
    text = HEAD.format(folds=FOLDS, large=folds, rows=_ROWS)
    count = sum(record["gain"][0] >= 0.05 for record in known.values())
    text += KNOWN.format(count=count, total=len(known))
    text += "\n" + head([*columns, "gain"])
    text += "".join(row for name in names for row in known_rows(name, known[name]))
    text += sets_page(done) + calibrated_page(done)
    text += TIME + "\n" + head(["data", "fit", "joint model", "1,000 rows"])
    for name, record in known.items():
        times = [f"{record[key]:.2f}" for key in ("fit", "joint", "predict")]
        text += line([name, *times])
    return text + "".join(targets(known))


def sets_page(done: Done) -> str:
    found: dict[str, dict[str, Any]] = {}
    for (name, _), record in done.items():
        found.setdefault(name, {}).update(record)
    rows = {n: found[n] for n in (*SMALL, *LARGE) if "plain" in found.get(n, {})}
    lacking = [name for name in (*SMALL, *LARGE) if name not in rows]
    both = [r for r in rows.values() if "sets forest" in r]
    level = sum(at_least(r, "sets forest") for r in both)
    below = [
        f"{name}{sets_gain(r)}" for name, r in rows.items() if not at_least(r, "plain")
    ]
    text = SETS.format(
        most=_MOST_SETS,
        folds=SETS_FOLDS,
        level=level,
        both=len(both),
        below=", ".join(below) or "none",
        lacking=", ".join(lacking) or "none",
    )
    columns = ["data", *(f"exact match, {method}" for method in METHODS)]
    columns += [f"F1, {method}" for method in METHODS]
    text += "\n" + head(columns)
    for name, record in rows.items():
        cells = [
            f"{record[method][i]:.3f}" if method in record else "–"
            for i in (0, 1)
            for method in METHODS
        ]
        text += line([name, *cells])
    fewer = [
        f"{name} ({r['trees']} trees: {r['sets forest'][0]:.3f}; half of them: "
        f"{r['half of the trees'][0]:.3f})"
        for name, r in rows.items()
        if r.get("trees", 300) < 300
    ]
    text += FEWER.format(fewer=", ".join(fewer)) if fewer else ""
    for name in UNIQUE:
        if "sets" in (r := found.get(name, {})):
            text += UNIQUE_SETS.format(name=name, gigabytes=r["bytes"] / 1e9, **r)
    return text


def calibrated_page(done: Done) -> str:
    columns = ["data", "scores", "held out", "new", "precision", "given"]
    columns += ["Hamming loss", "given", "s"]
    text = CALIBRATED.format(share=SHARES[-1], folds=FOLDS) + "\n" + head(columns)
    for name in (*SMALL, *LARGE):
        record = done.get((name, "calibrated HOMI"), {})
        for kind in (kind for kind in record if "γ" in kind):
            *shown, spent = record[kind]
            cells = [f"{x:.3f}" for x in shown]
            text += line([name, kind, *cells, f"{spent:.2f}"])
    return text


def sets_gain(record: dict[str, Any]) -> str:
    """Return the gain of exact match over plain with its standard error, if known."""
    gain, error = record.get("sets gain", (None, None))
    return f" ({gain:+.4f} ± {error:.4f})" if error is not None else ""


def at_least(record: dict[str, Any], other: str) -> bool:
    """Return True if joint sets match at least as often, to the digits of the page."""
    ours, theirs = (round(record[k][0], 3) for k in ("joint sets", other))
    return bool(ours >= theirs)


def targets(known: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each target: seconds for 1,000 rows."""
    for name, most, words in TARGETS:
        if name in known:
            spent = known[name]["predict"]
            met = "met" if spent <= most else "MISS"
            yield f"\n{words}: {spent:.2f} s for 1,000 rows of {name}, {met}.\n"


def known_rows(name: str, record: dict[str, Any]) -> Iterator[str]:
    gain, error = record["gain"]
    words = f"{gain:+.3f}" + (f" ± {error:.3f}" if error is not None else "")
    for share in SHARES:
        cells = [
            f"{record[f'{kind} {share}'][i]:.3f}"
            for i in range(len(METRICS))
            for kind in ("plain", "given")
        ]
        last = share == SHARES[-1]
        yield line([name, f"{share:.0%}", *cells, words if last else ""])


def head(columns: list[str]) -> str:
    return line(columns) + line(["---"] * len(columns))


def line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    main()
