"""Write docs/measured/add_label.md: time to add a label, and to fit all again.

HOMI_DATA=data python benchmarks/add_label.py

Processor time, one thread; medians over labels that are added.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from homi import HOMI, HOMICV
from homi.arrays import dense
from homi.datasets import load

MODELS = {
    'HOMI(correlation="identity", gamma=0.0)': HOMI(correlation="identity", gamma=0.0),
    'HOMI(correlation="identity")': HOMI(correlation="identity"),
    "HOMICV(widths=[], trees=False)": HOMICV(widths=[], trees=False),
}
#: Labels that are added, and fits that are timed; one fit of HOMICV.
ADDED, FITS = 9, 3

HEAD = """# Time to add a label

Written by `python benchmarks/add_label.py`: delicious, {n:,} rows, {m} features, {q}
labels. The model is fitted to all labels but one, which `add_label` adds; then it is
fitted to all. Processor seconds, one thread; medians over {added} labels, and over
{fits} fits of HOMI. The last column is the largest difference between the decision
scores of both ways, for the label that was added.

"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    page = Path("docs/measured/add_label.md")
    parser.add_argument("--output", type=Path, default=page)
    output = parser.parse_args().output
    X, Y, *_ = load("delicious")
    Y = np.asarray(dense(Y), dtype=int)
    (n, m), q = X.shape, Y.shape[1]
    text = HEAD.format(n=n, m=m, q=q, added=ADDED, fits=FITS)
    heads = ["model", "fit to all labels", "`add_label`", "ratio", "difference"]
    lines = [heads, ["---"] * 5]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, model in MODELS.items():
            lines.append([f"`{name}`", *measured(model, X, Y)])
    text += "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
    output.write_text(text, encoding="utf-8")


def measured(model: Any, X: Any, Y: Any) -> list[str]:
    count = 1 if isinstance(model, HOMICV) else FITS
    whole = clone(model)
    fit = median(count, lambda _: whole.fit(X, Y))
    added = clone(model).fit(X, Y[:, :-1])
    add = median(ADDED, lambda i: added.add_label(f"new {i}", Y[:, -1], X))
    gap = np.abs(added.decision_function(X)[:, -1] - whole.decision_function(X)[:, -1])
    shown = f"{gap.max():.1e}" if isinstance(model, HOMI) else "not the same model"
    return [f"{fit:.2f}", f"{add:.4f}", f"{fit / add:.0f}", shown]


def median(count: int, run: Callable[[int], Any]) -> float:
    times = []
    for i in range(count):
        began = time.process_time()
        run(i)
        times.append(time.process_time() - began)
    return float(np.median(times))


if __name__ == "__main__":
    main()
