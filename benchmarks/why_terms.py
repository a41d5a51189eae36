"""How large the terms are that explain scores of kernels, for the size of their sum.

Before: kernel value times weight. After: weight of a landmark times its own score, as
``why`` shows it. Numbers are sums of magnitudes, averaged over labels and 20 rows.

    python benchmarks/why_terms.py emotions yeast
"""

from __future__ import annotations

import sys

import numpy as np

from homi import HOMI
from homi.arrays import dense
from homi.datasets import load
from homi.explorer.model import summarize_model
from homi.explorer.waterfall import waterfalls

_KERNELS = ("rbf", "laplacian", "rbf+laplacian", "polynomial", "cosine")
_NEW = 20


def main() -> None:
    """Print one line per data set and kernel."""
    print(f"{'':10}{'kernel':15}{'before':>9}{'after':>8}{'sum':>7}{'difference':>12}")
    for name in sys.argv[1:] or ["emotions", "yeast"]:
        X, Y, *_ = load(name)
        X, Y = dense(X), dense(Y)
        for kernel in _KERNELS:
            model = HOMI(kernel=kernel, n_components=300, gamma=0.0, lam=1e-3)
            model.set_params(random_state=0).fit(X[:-_NEW], Y[:-_NEW])
            before, after, total, error = _sizes(model, X[-_NEW:])
            line = f"{before:9.2f}{after:8.2f}{total:7.2f}{error:12.1e}"
            print(f"{name:10}{kernel:15}{line}", flush=True)


def _sizes(model: HOMI, X: np.ndarray) -> tuple[float, float, float, float]:
    known = summarize_model(model)
    given = known.W, known.z, known.B, known.t, model.kernel_map_.mean_features()
    plain, shown = (
        [waterfalls(x, *given, triangle=triangle) for x in model.kernel_map_(X)]
        for triangle in (None, known.triangle)
    )
    pairs = zip(plain, shown, strict=True)
    return (
        float(np.mean([np.abs(p.features).sum(axis=0) for p in plain])),
        float(np.mean([np.abs(p.features).sum(axis=0) for p in shown])),
        float(np.mean([np.abs(p.features.sum(axis=0)) for p in shown])),
        max(float(np.abs(p.scores - s.scores).max()) for p, s in pairs),
    )


if __name__ == "__main__":
    main()
