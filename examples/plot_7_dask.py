"""
Fit on a Dask cluster
=====================

``fit`` takes Dask arrays. Each worker computes the moments of its blocks, and only
these are moved. The model is that of one machine, up to rounding.

Here the cluster is two processes on this machine. For a real one, pass its address to
``Client``. Every worker needs this package.
"""

# %%
# Worker processes import this file again. So the work is in a function that only the
# main process calls.

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client, LocalCluster

from homi import HOMI
from homi.datasets import make_correlated

BLOCK = 5_000


def fit_on_workers(X, Y):
    """A model of rows that are spread over the workers."""
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        ) as cluster,
        Client(cluster),
    ):
        rows = da.from_array(X, chunks=(BLOCK, -1))
        labels = da.from_array(Y, chunks=(BLOCK, -1))
        return HOMI(graph="anchors", random_state=0).fit(rows, labels)


def bytes_moved(n, m, q, anchors=64):
    """What the blocks send: their moments, and their edges to the anchors."""
    return -(-n // BLOCK) * 8 * (m * m + m * q + q * q + anchors * m)


# %%
# 20,000 rows in four blocks, on the workers and here. Sums are taken in another order,
# so only the last digits differ.

if __name__ == "__main__":
    X, Y, _, _ = make_correlated(20_000, 50, 10, random_state=0)
    cluster = fit_on_workers(X, Y)
    here = HOMI(graph="anchors", random_state=0).fit(X, Y)
    gap = np.abs(cluster.coef_ - here.coef_).max()
    print(f"largest difference of a weight: {gap:.1e}")

# %%
# Rows that workers read themselves are not moved. (Here they come from this process.)
# Moments are moved. Their size for 50 features, 10 labels and blocks of 5,000 rows:

if __name__ == "__main__":
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
    left.plot(here.coef_.ravel(), cluster.coef_.ravel(), ".", alpha=0.6)
    left.axline((0, 0), slope=1, color="grey", linewidth=1)
    left.set_xlabel("weight, fitted here")
    left.set_ylabel("weight, fitted by two workers")
    left.set_title(f"The same 500 weights: largest difference {gap:.0e}")

    n = np.logspace(4, 9, 11).astype(int)
    right.loglog(n, 8 * n * 60, "o-", label="the rows, which can stay where they are")
    right.loglog(n, bytes_moved(n, 50, 10), "s-", label="moments, which are moved")
    right.set_xlabel("rows")
    right.set_ylabel("bytes")
    right.legend()
    share = bytes_moved(10**9, 50, 10) / (8 * 60 * 10**9)
    right.set_title(f"Moments are {share:.1%} of the rows")
    figure.suptitle("A cluster gives the model of one machine, and moves little")
    plt.show()
