"""Write docs/measured/audit.md: audit beside cleanlab, and features only.

The page is written from results/audit.jsonl, one line a draw of noise. With
``--cleanlab PYTHON`` draws that lack are measured; delete a line to measure it again.
``--again`` judges all draws anew and keeps what cleanlab has found. Held-out log-odds
are kept in build/audit/.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import average_precision_score
from sklearn.model_selection import KFold, cross_val_predict
from threadpoolctl import threadpool_limits

from homi import HOMICV
from homi.arrays import dense
from homi.atomic_write import whole_file
from homi.datasets import load
from homi.dependence.suspicion import suspicion

DATASETS = (
    *("emotions", "birds", "CAL500", "yeast", "scene", "enron", "langlog"),
    *("mediamill-2500", "corel5k", "bibtex", "corel16k001", "delicious"),
)
#: Rows, drawn at random, of data sets that are not used as a whole.
_ROWS = dict.fromkeys(DATASETS[5:], 600)
#: What reaches the target: the area divided by that of the better cleanlab.
_TARGET = 1.3
#: Resamples of rows for standard errors.
_RESAMPLES = 30
NOISE = {
    "flip 2": "2 % flipped",
    "flip 5": "5 % flipped",
    "flip 10": "10 % flipped",
    "missing": "20 % of positives missing",
    "swap": "10 % of positives swapped",
}
COLUMNS = {
    "cleanlab": "cleanlab, forest",
    "cleanlab_homi": "cleanlab, HOMICV",
    "features": "features only",
    "audit": "audit",
}
HEAD = """# Label audit

Written by `python benchmarks/audit.py`. Labels are made wrong at random, and the area
under the precision-recall curve says how well a ranking of all labels of all rows finds
them; more is better. "cleanlab, forest": quality of each label by cleanlab 2.9 with its
defaults, given probabilities of a random forest by five folds. "cleanlab, HOMICV": the
same, given the held-out probabilities of `HOMICV()`. "features only": one minus the
held-out probability of the given label, by `HOMICV()`; cleanlab's default ranks in the
same way. "audit": `homi.dependence.audit(HOMICV(), X, Y)`. "wrong" is how many
labels were made wrong, and "estimate" what the audit says, with the range that it calls
plausible. The data sets have errors of their own, which count as false alarms here.

Swaps move a positive to the label whose mean row is nearest. Of {rows}: {n} rows, drawn
at random, with the labels that some of them have. Not run: {lacking}.
One draw of noise in each row of the table; "±" is the standard error of the area of the
audit minus that of features only, by the bootstrap of rows.

The constants of the audit were chosen on other draws of noise on emotions, birds,
CAL500, scene and yeast; the rule for swapped labels, on one other draw of swaps, 5 %
flips and missing positives on emotions, birds, scene and yeast. One term of the joint
model was dropped after a look at these draws of the five. The range of the estimate,
and the lower limit of the rate of spurious labels, were changed after a look at the
estimates of these draws, on one other draw of emotions, birds, scene, enron, langlog
and corel5k. A rule against the loss with swaps on langlog was tried: it helped on that
other draw, not here, cost more with missing positives, and was dropped. An earlier
version of the range was judged on these draws, too: that its upper limits were too low
led to a correction for labels that are rare by chance. delicious had no part in any
choice, and the others had no part in any other one.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cleanlab", help="Python with cleanlab 2.9.")
    parser.add_argument("--again", action="store_true", help="Judge all draws anew.")
    parser.add_argument("--results", type=Path, default=Path("results/audit.jsonl"))
    output = Path("docs/measured/audit.md")
    parser.add_argument("--output", type=Path, default=output)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    done = read(given.results)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in given.datasets if given.cleanlab else ():
            lacking = [n for n in NOISE if (name, n, given.seed) not in done]
            for cell in measure(name, lacking, given.seed, given.cleanlab):
                done[name, cell["noise"], given.seed] = cell
                with given.results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(cell) + "\n")
                print(cell, file=sys.stderr, flush=True)
        for key in done if given.again else ():
            if key[0] in given.datasets:
                done[key] |= judged(*draw(*key))
                print(done[key], file=sys.stderr, flush=True)
    if given.again:
        lines = "".join(json.dumps(cell) + "\n" for cell in done.values())
        given.results.write_text(lines, encoding="utf-8")
    order = sorted(
        done,
        key=lambda key: (DATASETS.index(key[0]), list(NOISE).index(key[1]), key[2]),
    )
    given.output.write_text(page([done[key] for key in order]), encoding="utf-8")


def read(results: Path) -> dict[tuple[str, str, int], dict[str, Any]]:
    lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
    cells = map(json.loads, lines)
    return {(cell["data"], cell["noise"], cell["seed"]): cell for cell in cells}


def measure(
    name: str, noises: list[str], seed: int, python: str
) -> Iterator[dict[str, Any]]:
    """Yield a cell for each noise; cleanlab judges all of them in one call."""
    if not noises:
        return
    X, _ = rows_of(name)
    draws = [draw(name, noise, seed) for noise in noises]
    drawn = [given for _, given, _ in draws]
    P = [*(forest(X, given) for given in drawn), *(expit(s) for *_, s in draws)]
    qualities = cleanlab(P, [*drawn, *drawn], python)
    for i, (noise, (Y, given, log_odds)) in enumerate(zip(noises, draws, strict=True)):
        cell: dict[str, Any] = {"data": name, "noise": noise, "seed": seed}
        for j, method in enumerate(("cleanlab", "cleanlab_homi")):
            suspicions = 1 - qualities[j * len(noises) + i]
            cell[method] = area(given != Y, suspicions)
        yield cell | judged(Y, given, log_odds)


def draw(name: str, noise: str, seed: int) -> tuple[Any, Any, Any]:
    """Return labels, what noise makes of them, and held-out log-odds: from a file."""
    path = Path("build/audit") / f"{name}-{noise.replace(' ', '')}-{seed}.npz"
    if not path.exists():
        X, Y = rows_of(name)
        given = with_noise(X, Y, noise, np.random.default_rng(seed)).astype(int)
        log_odds = HOMICV().fit_held_out(X, given)
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as unfinished, unfinished.open("wb") as file:
            np.savez_compressed(file, Y=Y, given=given, log_odds=log_odds)
    with np.load(path) as file:
        return file["Y"], file["given"], file["log_odds"]


def judged(Y: Any, given: Any, log_odds: Any) -> dict[str, Any]:
    """Return what features only and the audit find, and the estimate of the audit."""
    found, wrong = suspicion(log_odds, given.astype(float)), given != Y
    features = np.abs(given - found.by_features)
    return {
        "features": area(wrong, features),
        "audit": area(wrong, found.wrong),
        "error": standard_error(wrong, found.wrong, features),
        "wrong": int(wrong.sum()),
        "estimate": [found.n_wrong, *found.interval],
    }


def area(wrong: Any, suspicions: Any) -> float:
    return float(average_precision_score(wrong.ravel(), suspicions.ravel()))


def rows_of(name: str) -> tuple[Any, Any]:
    """Return rows of a data set, and the labels that some of them have."""
    X, Y, *_ = load(name)
    if name in _ROWS:
        some = np.random.default_rng(0).permutation(X.shape[0])[: _ROWS[name]]
        X, Y = X[some], Y[some]
    X, Y = np.asarray(dense(X), dtype=float), np.asarray(dense(Y)) > 0
    return (X, Y[:, Y.any(axis=0)]) if name in _ROWS else (X, Y)


def standard_error(wrong: Any, ours: Any, theirs: Any) -> float:
    """Return the standard error of the difference of two areas."""
    rng, found = np.random.default_rng(0), []
    for _ in range(_RESAMPLES):
        some = rng.integers(len(wrong), size=len(wrong))
        areas = [area(wrong[some], scores[some]) for scores in (ours, theirs)]
        found.append(areas[0] - areas[1])
    return float(np.std(found, ddof=1))


def with_noise(X: Any, Y: Any, noise: str, rng: np.random.Generator) -> Any:
    chance = rng.random(Y.shape)
    if noise.startswith("flip"):
        return Y ^ (chance < float(noise.split()[1]) / 100)
    if noise == "missing":
        return Y & (chance >= 0.2)
    near, noisy = nearest_labels(X, Y), Y.copy()
    for i, j in np.argwhere(Y & (chance < 0.1)):
        if not noisy[i, near[j]]:
            noisy[i, [j, near[j]]] = False, True
    return noisy


def nearest_labels(X: Any, Y: Any) -> Any:
    """Return for each label the one with the nearest mean of standardized rows."""
    Z = (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-9)
    means = Y.T.astype(float) @ Z / np.maximum(Y.sum(axis=0), 1)[:, None]
    distances = ((means[:, None] - means) ** 2).sum(axis=-1)
    distances[:, ~Y.any(axis=0)] = np.inf
    np.fill_diagonal(distances, np.inf)
    return distances.argmin(axis=1)


def forest(X: Any, Y: Any) -> Any:
    folds = KFold(5, shuffle=True, random_state=0)
    model = RandomForestClassifier(100, random_state=0)
    found = cross_val_predict(model, X, Y, cv=folds, method="predict_proba")
    # A label that no training row has is never predicted.
    return np.column_stack([p[:, 1] if p.shape[1] > 1 else 0 * p[:, 0] for p in found])


def cleanlab(P: list[Any], Y: list[Any], python: str) -> Any:
    """Return qualities of labels Y given P, computed in another environment."""
    script = Path(__file__).with_name("audit_cleanlab.py")
    with tempfile.TemporaryDirectory() as here:
        given, output = Path(here) / "given.npz", Path(here) / "quality.npy"
        np.savez(given, P=np.stack(P), Y=np.stack(Y))
        subprocess.run([python, script, given, output], check=True, env={})
        return np.load(output)


def page(cells: list[dict[str, Any]]) -> str:
    run = {cell["data"] for cell in cells}
    rows = ", ".join(name for name in _ROWS if name in run)
    lacking = ", ".join(name for name in DATASETS if name not in run) or "none"
    heads = ["data set", "noise", *COLUMNS.values(), "audit / best cleanlab"]
    heads += ["audit − features", "wrong", "estimate"]
    return (
        HEAD.format(rows=rows, n=_ROWS["enron"], lacking=lacking)
        + lines_of([heads, *map(row, cells)])
        + summary(cells)
    )


def lines_of(rows: list[list[str]]) -> str:
    rows = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def summary(cells: list[dict[str, Any]]) -> str:
    names = [name for name in DATASETS if any(c["data"] == name for c in cells)]
    means = {name: geometric_mean(name, cells) for name in names}
    reached = sum(mean >= _TARGET for mean in means.values())
    below = [c for c in cells if c["features"] - c["audit"] > c["error"]]
    words = ", ".join(f"{c['data']} ({NOISE[c['noise']]})" for c in below) or "none"
    over = sum(c["wrong"] < c["estimate"][1] for c in cells)
    held = sum(c["estimate"][1] <= c["wrong"] <= c["estimate"][2] for c in cells)
    return (
        "\n## By data set\n\nA data set reaches the target if the geometric mean of "
        f"audit / best cleanlab over its noises is at least {_TARGET}: {reached} of "
        f"{len(means)} do.\n"
        + lines_of(
            [["data set", "mean ratio"], *([n, f"{m:.2f}"] for n, m in means.items())]
        )
        + f"\nThe audit is below features only by more than a standard error in "
        f"{len(below)} of {len(cells)} rows: {words}.\n\nThe interval holds the number "
        f"of labels made wrong in {held} of {len(cells)} rows; in {over} of the "
        "others it lies above. Errors that a data set has already, and labels that "
        "are hard to predict, count as wrong there.\n"
    )


def geometric_mean(name: str, cells: list[dict[str, Any]]) -> float:
    rates = [ratio(cell) for cell in cells if cell["data"] == name]
    return float(np.exp(np.mean(np.log(rates))))


def ratio(cell: dict[str, Any]) -> float:
    return float(cell["audit"] / max(cell["cleanlab"], cell["cleanlab_homi"]))


def row(cell: dict[str, Any]) -> list[str]:
    best = max(cell[method] for method in COLUMNS)
    values = (cell[method] for method in COLUMNS)
    areas = [f"**{v:.3f}**" if v == best else f"{v:.3f}" for v in values]
    gain = f"{cell['audit'] - cell['features']:+.3f} ± {cell['error']:.3f}"
    total, low, high = cell["estimate"]
    counts = [str(cell["wrong"]), f"{total:.0f} ({low:.0f} to {high:.0f})"]
    names = [cell["data"], NOISE[cell["noise"]]]
    return [*names, *areas, f"{ratio(cell):.2f}", gain, *counts]


if __name__ == "__main__":
    main()
