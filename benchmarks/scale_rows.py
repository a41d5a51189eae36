"""One fit of generated rows in a process of its own: seconds and memory, as JSON.

``python benchmarks/scale_rows.py 100000``. The rows are made on the fly, and so are
the bare products of the same rows: their time is taken off that of the fit, and what
other programs do to this one meets both alike.
"""

from __future__ import annotations

import json
import resource
import sys
import time

import numpy as np
from threadpoolctl import threadpool_limits

from homi import HOMI, fit_stream

#: As mediamill, with its share of ones among the labels.
FEATURES, LABELS, SHARE = 120, 101, 0.043
BATCH = 8192


class Rows:
    """Batches of rows around a hundred centers, and the clocks beside them."""

    def __init__(self, n: int) -> None:
        self.n, self.generating, self.bare, self.passes = n, 0.0, 0.0, 0.0
        rng = np.random.default_rng(0)
        self._centers = rng.normal(size=(100, FEATURES))
        self._W = rng.normal(size=(FEATURES, LABELS)) / np.sqrt(2 * FEATURES)

    def __call__(self):
        rng = np.random.default_rng(1)
        for start in range(0, self.n, BATCH):
            begin = time.process_time()
            k = min(BATCH, self.n - start)
            X = rng.standard_normal((k, FEATURES))
            X += self._centers[rng.integers(len(self._centers), size=k)]
            scores = X @ self._W + rng.standard_normal((k, LABELS))
            Y = (scores > 2.43).astype(np.int8)
            labels = Y.astype(np.float64)
            made = time.process_time()
            products = X.T @ X, X.T @ labels, labels.T @ labels
            self.bare += time.process_time() - made
            del products, scores, labels
            self.generating += time.process_time() - begin
            self.passes += k / self.n
            yield X, Y


def measure(n: int) -> dict[str, float]:
    rows = Rows(n)
    with threadpool_limits(1):
        # What a process loads once, the first time that it is needed.
        fit_stream(Rows(2 * BATCH), HOMI(graph="anchors", random_state=0))
    begin = time.process_time()
    with threadpool_limits(1):
        model = fit_stream(rows, HOMI(graph="anchors", random_state=0))
    spent = time.process_time() - begin
    # Every pass made the rows and their products; one of them would do.
    return {
        "n": n,
        "fit": spent - rows.generating,
        "bare": rows.bare / rows.passes,
        "generating": rows.generating - rows.bare,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "sweeps": model.n_iter_,
    }


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
