"""Time and memory of HOMI on sparse text: features 10² to 10⁵, labels 10 to 10⁴.

Every point is a process of its own, with one thread, so that its peak memory is its
own. Rows hold words of their labels' topics and words of no topic; 0.5 % of the
entries are not zero.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from scipy import sparse

ROWS, DENSITY, TOL, SWEEPS = 2_000, 0.005, 1e-4, 10

#: Features, labels, solver, rows.
POINTS = [
    (100, 10, "auto", ROWS),
    (1_000, 10, "auto", ROWS),
    (1_000, 10, "iterative", ROWS),
    (10_000, 10, "auto", ROWS),
    (100_000, 10, "auto", ROWS),
    (100_000, 10, "auto", 10 * ROWS),
    (100, 1_000, "auto", ROWS),
    (1_000, 100, "auto", ROWS),
    (1_000, 100, "iterative", ROWS),
    (10_000, 100, "auto", ROWS),
    (3_000, 10, "direct", ROWS),
    (3_000, 10, "iterative", ROWS),
    (100, 10_000, "auto", ROWS),
    (1_000, 1_000, "auto", ROWS),
    (10_000, 1_000, "auto", ROWS),
    (100_000, 100, "auto", ROWS),
    (1_000, 10_000, "auto", ROWS),
    (100_000, 10_000, "auto", ROWS),
]

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, help="Markdown file; else to the screen")
    parser.add_argument("--point", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.point:
        print(json.dumps(measure(*json.loads(arguments.point))))
        return
    lines = []
    for point in POINTS:
        lines.append(row(*point))
        if arguments.output:
            write(arguments.output, page(lines))
    if not arguments.output:
        print(page(lines), end="")


def write(path: Path, page: str) -> None:
    beside = path.with_suffix(".part")
    beside.write_text(page, encoding="utf-8")
    beside.replace(path)


def page(lines: list[str]) -> str:
    return head() + "\n".join(lines) + "\n"


def head() -> str:
    return (
        "# HOMI on sparse text: time and memory\n\n"
        "Written by `python benchmarks/scale_sparse.py`: processor time, one thread, "
        f"one process per line; {DENSITY:.1%} of the entries nonzero, tol = {TOL:g}, "
        f"at most {SWEEPS} sweeps, otherwise `HOMI()`; Python "
        f"{platform.python_version()}, numpy {np.__version__}, scipy "
        f"{scipy.__version__}. The fit includes the graph, whose time is also given "
        "separately. Memory is the peak of the process, libraries included. “In "
        "rows”: in the space of the rows.\n\n"
        "| rows | features | labels | solver asked for | taken | B free in | sweeps "
        "| fit, s | graph, s | peak, GB | objective |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
    )


def row(m: int, n_labels: int, solver: str, n: int) -> str:
    point = json.dumps([m, n_labels, solver, n])
    command = [sys.executable, __file__, "--point", point]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env=os.environ | dict.fromkeys(THREADS, "1"),
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    found = json.loads(done.stdout)
    line = f"| {n:,} | {m:,} | {n_labels:,} | {solver} | "
    if "refused" in found:
        line += f"refused: {found['refused']} | – | – | – | – | – | – |"
    else:
        line += (
            f"{found['solver']} | {found['rank']:,} | {found['sweeps']} "
            f"| {found['seconds']:.1f} | {found['graph']:.1f} | {found['peak']:.2f} "
            f"| {found['objective']:.7g} |"
        )
    print(line, file=sys.stderr, flush=True)
    return line


def measure(m: int, n_labels: int, solver: str, n: int) -> dict[str, Any]:
    from homi import HOMI
    from homi.base.targets import check_target
    from homi.graph import neighbor_laplacian
    from homi.model.route import is_factored
    from homi.model.rows_input import InMemoryRows
    from homi.moments import column_scaling
    from homi.solver import is_wide

    X, Y = text(m, n_labels, n)
    model = HOMI(solver=solver, tol=TOL, max_iter=SWEEPS)
    start = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, Y)
    except MemoryError as refusal:
        return {"refused": str(refusal).split(" of memory")[0]}
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    start = time.process_time()
    mean, scale = column_scaling(X)
    neighbor_laplacian(X, model.n_neighbors, mean=mean, scale=scale)
    in_rows = model.solver_ == "iterative" and is_wide(n, m)
    in_rows = in_rows and is_factored(InMemoryRows(X, check_target(Y)))
    return {
        "solver": model.solver_ + (", in rows" if in_rows else ""),
        "rank": model.label_rank_,
        "sweeps": model.n_iter_,
        "seconds": seconds,
        "graph": time.process_time() - start,
        "peak": peak,
        "objective": sum(model.history_[-1].values()),
    }


def text(
    m: int, n_labels: int, n: int = ROWS
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Rows of words and their labels; labels of a topic come together."""
    rng = np.random.default_rng(0)
    words = max(1, round(DENSITY * m))
    topics = max(1, n_labels // 20)
    topic = rng.integers(topics, size=n)
    own = topic[:, None] + topics * rng.integers(
        max(1, n_labels // topics), size=(n, 3)
    )
    any_label = (n_labels * rng.random((n, 1)) ** 3).astype(int)
    labels = np.hstack([own % n_labels, any_label])
    Y = indicator(labels, n_labels)
    vocabulary = rng.integers(m, size=(n_labels, 20))
    meant = vocabulary[labels[np.arange(n)[:, None], rng.integers(4, size=(n, words))]]
    meant = meant[
        np.arange(n)[:, None], np.arange(words), rng.integers(20, size=(n, 1))
    ]
    noise = (m * rng.random((n, words)) ** 2).astype(int)
    X = indicator(np.where(rng.random((n, words)) < 0.3, meant, noise), m)
    X.data = rng.lognormal(size=X.nnz)
    return X, Y


def indicator(columns: np.ndarray, width: int) -> sparse.csr_array:
    n, k = columns.shape
    ones = np.ones(columns.size)
    places = np.repeat(np.arange(n), k), columns.ravel()
    A = sparse.coo_array((ones, places), shape=(n, width)).tocsr()
    A.data[:] = 1.0
    return A


if __name__ == "__main__":
    main()
