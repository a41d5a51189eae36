"""Write docs/measured/many_labels.md: known labels where there are thousands.

python benchmarks/many_labels.py

Each row of the table is measured in a process of its own, with one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

import homi.joint.gaussian
from homi.atomic_write import whole_file
from homi.joint import fit_joint_model
from homi.joint.low_rank import MANY_LABELS, RANK

LABELS = (983, 2000, 5000)
SHARES = (0.2, 0.5, 0.9)
#: Rows of the fit, and rows that are predicted.
ROWS, NEW = 2500, 100
#: Hidden causes, each of a tenth of the labels.
CAUSES = 20
#: Most milliseconds for a row.
TARGET = 100.0

HEAD = """# Known labels: thousands of labels

Written by `python benchmarks/many_labels.py`. Synthetic log-odds and labels: {causes}
hidden causes, each of a tenth of the labels, change the labels of {rows:,} rows. "Low
rank" is a covariance of rank {rank} plus a diagonal, which is used with more than
{many:,} labels; "dense" is one of all pairs of labels, which is used with fewer. So few
causes suit a low rank: its gain in log-loss need not hold for real labels.

The table has processor seconds of the fit of the joint model; the most memory of the
process, and what of it was there before the fit; milliseconds for one row at a time, by
the share of its labels that is known; and the log-loss of the unknown labels with 50 %
known, by features alone and given the known ones.

"""
COLUMNS = [
    *("labels", "covariance", "fit, s", "memory, GB", "before, GB"),
    *(f"{share:.0%} known, ms" for share in SHARES),
    *("features", "given"),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", nargs=2, metavar=("LABELS", "FORM"))
    page = Path("docs/measured/many_labels.md")
    parser.add_argument("--output", type=Path, default=page)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measured(int(arguments.one[0]), arguments.one[1])))
        return
    records = [apart(q, form) for q in LABELS for form in ("dense", "low rank")]
    with whole_file(arguments.output) as unfinished:
        unfinished.write_text(page_of(records), encoding="utf-8")


def apart(q: int, form: str) -> dict[str, Any]:
    """Measure in another process."""
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    found = subprocess.run(
        [sys.executable, __file__, "--one", str(q), form],
        env=os.environ | dict.fromkeys(names, "1"),
        check=True,
        capture_output=True,
        text=True,
    )
    print(found.stdout.strip(), file=sys.stderr, flush=True)
    record: dict[str, Any] = json.loads(found.stdout)
    return record


def rows_of(q: int) -> tuple[Any, Any]:
    """Return log-odds without the hidden causes, and labels."""
    rng = np.random.default_rng(0)
    n = ROWS + NEW
    effects = 1.5 * rng.normal(size=(CAUSES, q)) * (rng.random((CAUSES, q)) < 0.1)
    S = rng.normal(-3.5, 1.0, size=q) + rng.normal(size=(n, q))
    causes = rng.normal(size=(n, CAUSES))
    Y = (rng.random((n, q)) < expit(S + causes @ effects)).astype(float)
    # Marginal log-odds, as a calibrated classifier without the causes has them.
    return S / np.sqrt(1.0 + np.pi / 8.0 * (effects**2).sum(axis=0)), Y


def measured(q: int, form: str) -> dict[str, Any]:
    homi.joint.gaussian.MANY_LABELS = q if form == "dense" else q - 1
    S, Y = rows_of(q)
    record: dict[str, Any] = {"labels": q, "form": form, "before": gigabytes()}
    began = time.process_time()
    model = fit_joint_model(S[:ROWS], Y[:ROWS])
    record |= {"fit": time.process_time() - began, "memory": gigabytes()}
    S, Y = S[ROWS:], Y[ROWS:]
    for share in SHARES:
        hidden = np.random.default_rng(1).random(Y.shape) >= share
        known = np.where(hidden, np.nan, Y)
        few = 10
        began = time.process_time()
        for i in range(few):
            model.probabilities(S[i : i + 1], known[i : i + 1])
        record[f"{share}"] = (time.process_time() - began) / few * 1000
        if share == 0.5:
            given = model.probabilities(S, known)
            record["losses"] = [loss(Y, P, hidden) for P in (expit(S), given)]
    return record


def loss(Y: Any, P: Any, hidden: Any) -> float:
    return float(-np.log(np.where(Y > 0, P, 1.0 - P)[hidden]).mean())


def gigabytes() -> float:
    """Return the most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


def page_of(records: list[dict[str, Any]]) -> str:
    text = HEAD.format(causes=CAUSES, rows=ROWS, rank=RANK, many=MANY_LABELS)
    text += line(COLUMNS) + line(["---"] * len(COLUMNS))
    for r in records:
        cells = [f"{r['labels']:,}", r["form"], f"{r['fit']:.1f}"]
        cells += [f"{r[key]:.2f}" for key in ("memory", "before")]
        cells += [f"{r[str(share)]:.0f}" for share in SHARES]
        text += line([*cells, *(f"{x:.4f}" for x in r["losses"])])
    used = [r for r in records if (r["labels"] > MANY_LABELS) == (r["form"] != "dense")]
    most = max(r[str(share)] for r in used for share in SHARES)
    met = "met" if most <= TARGET else "MISS"
    text += f"\nAt most {TARGET:.0f} ms a row with the covariance that is used: "
    return text + f"{most:.0f} ms, {met}.\n"


def line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    main()
