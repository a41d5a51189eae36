"""Exact nearest neighbors: homi's search, the same with FAISS's heaps, and others.

All in turns in one process with one thread, processor time, medians.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import faiss
import numpy as np
import sklearn
from scale_sparse import write
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

import homi.graph.exact
from homi.graph import nearest
from homi.graph.exact import unit_rows

#: Rows and features.
POINTS = [(2_000, 20), (2_000, 100), (10_000, 20), (10_000, 100), (50_000, 100)]
NEIGHBORS = 10


class Heaps:
    """`homi.graph.top_scores.TopScores` with the heaps of FAISS."""

    def __init__(self, n: int, k: int) -> None:
        self._scores = np.empty((n, k), dtype=np.float32)
        self._indices = np.empty((n, k), dtype=np.int64)
        self._heaps: Any = faiss.float_minheap_array_t()
        self._heaps.k, self._heaps.nh = k, n
        self._heaps.val = faiss.swig_ptr(self._scores)
        self._heaps.ids = faiss.swig_ptr(self._indices)
        self._heaps.heapify()

    def add(self, scores: Any, first_row: int, first_id: int) -> None:
        scores = np.ascontiguousarray(scores, dtype=np.float32)
        n_rows, n_ids = scores.shape
        self._heaps.addn(n_ids, faiss.swig_ptr(scores), first_id, first_row, n_rows)

    def indices(self) -> Any:
        self._heaps.reorder()
        return self._indices


def with_heaps(X: Any) -> Any:
    with patch.object(homi.graph.exact, "TopScores", Heaps):
        return nearest(X, NEIGHBORS)


def flat_index(X: Any) -> Any:
    unit = _unit(X).astype(np.float32)
    return faiss.knn(unit, unit, NEIGHBORS + 1, metric=faiss.METRIC_INNER_PRODUCT)


def scikit_learn(X: Any) -> Any:
    """Euclidean neighbors of unit rows are the most correlated rows."""
    search = NearestNeighbors(n_neighbors=NEIGHBORS, algorithm="brute", n_jobs=1)
    return search.fit(_unit(X)).kneighbors()


def _unit(X: Any) -> Any:
    return unit_rows(X, np.zeros(X.shape[1]), np.ones(X.shape[1]))


CALLS: dict[str, Callable[[Any], Any]] = {
    "homi": lambda X: nearest(X, NEIGHBORS),
    "with FAISS's heaps": with_heaps,
    "FAISS's flat index": flat_index,
    "scikit-learn": scikit_learn,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, help="Page to write.")
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    faiss.omp_set_num_threads(1)
    lines = []
    with threadpool_limits(1):
        for n, m in POINTS:
            lines.append(row(n, m, arguments.repeat if n < 20_000 else 1))
            print(lines[-1], file=sys.stderr, flush=True)
    page = head(arguments.repeat) + "\n".join(lines) + "\n"
    if arguments.output:
        write(arguments.output, page)
    else:
        print(page, end="")


def head(repeat: int) -> str:
    return (
        "# Exact neighbors with and without FAISS\n\n"
        "Written by `python benchmarks/neighbors.py`: the 10 most correlated rows of "
        "each row, seconds of one core, medians of "
        f"{repeat} in turns (1 with 50,000 rows); Python {platform.python_version()}, "
        f"numpy {np.__version__}, scikit-learn {sklearn.__version__}, FAISS "
        f"{faiss.__version__}. In brackets: the time divided by that of the same "
        "search with FAISS's heaps. The last column is the share of neighbors that "
        "the first two have in common; others are ties in single precision.\n\n"
        f"| rows | features | {' | '.join(CALLS)} | in common |\n"
        f"|{' --- |' * (3 + len(CALLS))}\n"
    )


def row(n: int, m: int, repeat: int) -> str:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, m)) @ rng.normal(size=(m, m))
    samples: dict[str, list[float]] = {name: [] for name in CALLS}
    found = {}
    for _ in range(repeat):
        for name, call in CALLS.items():
            started = time.process_time()
            found[name] = call(X)
            samples[name].append(time.process_time() - started)
    medians = {name: statistics.median(times) for name, times in samples.items()}
    ours, theirs = (np.sort(found[name][0], axis=1) for name in list(CALLS)[:2])
    base = medians["with FAISS's heaps"]
    times = " | ".join(f"{t:.3g} ({t / base:.2f})" for t in medians.values())
    return f"| {n:,} | {m} | {times} | {np.mean(ours == theirs):.5f} |"


if __name__ == "__main__":
    main()
