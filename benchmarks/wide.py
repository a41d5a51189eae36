"""Few rows of many features: in the space of the rows against in their features.

Both in turns in one process with one thread, processor time, medians.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from scale_sparse import text, write
from threadpoolctl import threadpool_limits

from homi import HOMI, HOMICV
from homi.solver import costs

#: Kind of rows, rows, features, labels, what is fitted.
POINTS: list[tuple[str, int, int, int, Callable[[], Any]]] = [
    ("dense", 100, 1_000, 10, HOMI),
    ("dense", 400, 1_000, 50, HOMI),
    ("dense", 100, 2_000, 10, HOMI),
    ("dense", 900, 2_000, 20, HOMI),
    ("dense", 500, 4_000, 20, HOMI),
    ("text", 1_000, 20_000, 20, HOMI),
    ("text", 2_000, 20_000, 100, HOMI),
    ("dense", 100, 1_000, 10, HOMICV),
    ("dense", 300, 2_000, 10, HOMICV),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, help="Markdown file; else to the screen")
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = []
    with threadpool_limits(1):
        for point in POINTS:
            lines.append(row(*point, arguments.repeat))
            print(lines[-1], file=sys.stderr, flush=True)
    page = head(arguments.repeat) + "\n".join(lines) + "\n"
    if arguments.output:
        write(arguments.output, page)
    else:
        print(page, end="")


def head(repeat: int) -> str:
    return (
        "# Fewer rows than features: time\n\n"
        "Written by `python benchmarks/wide.py`: seconds of one core, medians of "
        f"{repeat} alternating fits; Python {platform.python_version()}, numpy "
        f"{np.__version__}, scipy {scipy.__version__}. In the rows: in the space "
        "spanned by the rows, which is what `fit` does. In the features: with this "
        "turned off, by the solver that `auto` chooses then. `HOMICV` tries linear "
        "models only. The gap is the largest difference between the scores of the two "
        "models; scores are around 0 and 1, and `HOMI` stops at its default `tol`.\n\n"
        "| | rows | features | labels | in the features, s | in the rows, s | times "
        "as fast | gap |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n"
    )


def row(kind: str, n: int, m: int, n_labels: int, make: Any, repeat: int) -> str:
    X, Y = text(m, n_labels, n) if kind == "text" else dense(n, m, n_labels)
    model = make() if make is HOMI else HOMICV(kernels=[], random_state=0)
    seconds: dict[int, list[float]] = {0: [], costs.MOST_ROWS: []}
    scores = {}
    for _ in range(repeat):
        for most, taken in seconds.items():
            with most_rows(most):
                start = time.process_time()
                model.fit(X, Y)
                taken.append(time.process_time() - start)
            scores[most] = model.decision_function(X)
    plain, inside = (float(np.median(taken)) for taken in seconds.values())
    gap = np.abs(np.subtract(*scores.values())).max()
    return (
        f"| {make.__name__}, {kind} | {n:,} | {m:,} | {n_labels} | {plain:.3g} "
        f"| {inside:.3g} | {plain / inside:.1f} | {gap:.1g} |"
    )


@contextmanager
def most_rows(most: int) -> Iterator[None]:
    """At most so many rows are seen in the space they span."""
    before = costs.MOST_ROWS
    costs.MOST_ROWS = most
    try:
        yield
    finally:
        costs.MOST_ROWS = before


def dense(n: int, m: int, n_labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows such as those of genes: few of the features say something of a label."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, m))
    signal = X @ (rng.normal(size=(m, n_labels)) * (rng.random((m, n_labels)) < 0.01))
    signal += rng.normal(size=(n, n_labels))
    return X, (signal > np.quantile(signal, 0.7, axis=0)).astype(int)


if __name__ == "__main__":
    main()
