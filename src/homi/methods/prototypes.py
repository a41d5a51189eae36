"""Label-specific features: distances from a row to prototypes, the means of clusters.

The rows are split into cells by the values of one or more labels. k-means finds
clusters in every cell, and the means of all clusters are the prototypes. A prototype
is stored as the indices of its rows, which needs far less memory and keeps sparse rows
sparse.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state

from homi.arrays import dense
from homi.typing import Array, Indices, Matrix, RandomState

#: Cells are sampled down to this many rows, or this many per cluster if that is more.
_SAMPLE, _SAMPLE_PER_CLUSTER = 1000, 10
#: Maximum number of iterations of k-means.
_MAX_ITER = 100


def clusters_per_cell(sizes: Array, ratio: float, most: int) -> Indices:
    """``⌈ratio · size of the smallest cell that is not empty⌉``, at most ``most``.

    ``sizes`` has one column per cell; the result has one number per row of it.
    """
    smallest = np.where(sizes > 0, sizes, np.inf).min(axis=1)
    # Rounding may make an integer product slightly larger.
    k = np.ceil(ratio * smallest - 1e-9)
    return np.clip(k, 1, most).astype(np.intp)


def cells(Y: Array) -> list[Indices]:
    """Return the rows with each combination of the labels Y that occurs."""
    code = (Y @ 2 ** np.arange(Y.shape[1])).astype(np.intp)
    found = (np.flatnonzero(code == c) for c in range(2 ** Y.shape[1]))
    return [rows for rows in found if len(rows)]


def find_members(
    X: Matrix, cells: list[Indices], k: int, random_state: RandomState
) -> sparse.csr_array:
    """Find k clusters in each cell; return a boolean matrix of clusters by rows of X.

    A cell with fewer distinct rows has fewer clusters.
    """
    rng = check_random_state(random_state)
    clusters = [rows for cell in cells for rows in _cluster(X, cell, k, rng)]
    indices = np.concatenate(clusters).astype(np.int32)
    bounds = np.cumsum([0, *map(len, clusters)], dtype=np.int32)
    shape = (len(clusters), X.shape[0])
    return sparse.csr_array((np.ones(len(indices), bool), indices, bounds), shape)


def _cluster(
    X: Matrix, rows: Indices, k: int, rng: np.random.RandomState
) -> list[Indices]:
    most = max(_SAMPLE, _SAMPLE_PER_CLUSTER * k)
    if len(rows) > most:
        rows = np.sort(rng.choice(rows, most, replace=False))
    if k == 1:
        return [rows]
    if k >= len(rows):
        return list(rows[:, None])
    # Initialized with random rows, as in LIFT; k-means++ takes longer than all
    # iterations and does not change the results.
    search = KMeans(k, init="random", n_init=1, max_iter=_MAX_ITER, random_state=rng)
    found = search.fit(X[rows]).labels_
    order = np.argsort(found, kind="stable")
    return np.split(rows[order], np.flatnonzero(np.diff(found[order])) + 1)


def means(X: Matrix, members: sparse.csr_array) -> Array:
    """Return the mean of the rows of X that each row of ``members`` marks."""
    sums = members.astype(np.float64) @ X
    sums = dense(sums)
    return sums / np.diff(members.indptr)[:, None]


def distances(X: Matrix, centers: Array) -> Array:
    """Compute Euclidean distances by ``‖x - c‖² = ‖x‖² - 2x·c + ‖c‖²``."""
    D = X @ centers.T
    D *= -2.0
    D += _squared_lengths(X)[:, None]
    D += _squared_lengths(centers)
    return np.sqrt(np.maximum(D, 0.0, out=D), out=D)


def _squared_lengths(X: Matrix) -> Array:
    if sparse.issparse(X):
        return (X * X).sum(axis=1)
    return np.einsum("ij,ij->i", X, X)
