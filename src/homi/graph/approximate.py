"""Approximate search for the s rows most correlated with each row, by FAISS.

Rows are assigned to lists around centers (an inverted file index), and each row is
compared with the rows of the nearest lists. The recall is measured on a sample of rows,
and more lists are searched until it is high enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from homi.extras import optional
from homi.graph.exact import Neighbors, others, unit_rows
from homi.graph.top_scores import TopScores
from homi.typing import Array, Matrix

#: Recall to reach, and number of rows that it is measured on.
TARGET_RECALL, _MEASURED = 0.95, 200

#: Training rows per list, bytes of all of them, and iterations of k-means.
_ROWS_PER_LIST, _TRAINING_BYTES, _ROUNDS = 39, 2**29, 5

#: Bytes of a dense block of rows.
_BLOCK_BYTES = 2**24

Single = NDArray[np.float32]


class ApproximateSearch:
    """A search with the signature of `nearest`, that measures its ``recall``."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self.recall = float("nan")

    def __call__(
        self, X: Matrix, n_neighbors: int, *, mean: Array | None, scale: Array | None
    ) -> Neighbors:
        """Find the rows most correlated with each row of ``(X - mean) / scale``."""
        n, m = X.shape
        mean = np.zeros(m) if mean is None else mean
        scale = np.ones(m) if scale is None else scale
        rows = _UnitRows(X, mean, scale)
        rng = np.random.default_rng(self._seed)
        index = _filled(rows, rng, self._seed)
        self.recall = _widen(index, rows, n_neighbors + 1, rng)
        indices = np.empty((n, n_neighbors), dtype=np.int64)
        correlations = np.empty((n, n_neighbors))
        for part, block in rows.blocks():
            scores, found = index.search(block, n_neighbors + 1)
            own = np.arange(part.start, part.stop)
            found, scores = _without_self(found, scores, own)
            # A row whose lists have too few rows gets edges of weight 0 to itself.
            missing = found < 0
            indices[part] = np.where(missing, own[:, None], found)
            correlations[part] = np.where(missing, 0.0, scores)
        return Neighbors(indices, correlations)


class _UnitRows:
    """Centered rows of unit length, dense and in float32, in blocks."""

    def __init__(self, X: Matrix, mean: Array, scale: Array) -> None:
        self._X = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
        self._scaling = (mean, scale)
        self.shape = X.shape

    def take(self, rows: Any) -> Single:
        return unit_rows(self._X[rows], *self._scaling).astype(np.float32)

    def blocks(self) -> Iterator[tuple[slice, Single]]:
        n, m = self.shape
        step = max(1, _BLOCK_BYTES // (8 * m))
        for start in range(0, n, step):
            part = slice(start, min(start + step, n))
            yield part, self.take(part)


def _filled(rows: _UnitRows, rng: np.random.Generator, seed: int) -> Any:
    with optional("graph='approximate'"):
        import faiss
    n, m = rows.shape
    n_lists = int(np.clip(2 * np.sqrt(n), 1, max(1, n // _ROWS_PER_LIST)))
    index = faiss.IndexIVFFlat(
        faiss.IndexFlatIP(m), m, n_lists, faiss.METRIC_INNER_PRODUCT
    )
    index.cp.seed, index.cp.niter = seed % 2**31, _ROUNDS
    index.cp.spherical, index.cp.min_points_per_centroid = True, 1
    most = max(n_lists, min(_ROWS_PER_LIST * n_lists, _TRAINING_BYTES // (4 * m)))
    index.train(rows.take(np.sort(rng.choice(n, min(n, most), replace=False))))
    for _, block in rows.blocks():
        index.add(block)
    return index


def _widen(index: Any, rows: _UnitRows, k: int, rng: np.random.Generator) -> float:
    """Search more lists until the recall is high enough, and return the recall.

    A row as near as the last true neighbor, up to rounding, counts as one.
    """
    n = rows.shape[0]
    queries = rows.take(np.sort(rng.choice(n, min(n, _MEASURED), replace=False)))
    best = TopScores(len(queries), k)
    for part, block in rows.blocks():
        best.add(queries @ block.T, 0, part.start)
    last = best.scores()[:, -1:] - 1e-6
    index.nprobe = min(8, index.nlist)
    while True:
        found = index.search(queries, k)[0]
        recall = float(np.mean(found >= last))
        if recall >= TARGET_RECALL or index.nprobe == index.nlist:
            return recall
        index.nprobe = min(2 * index.nprobe, index.nlist)


def _without_self(
    found: NDArray[np.int64], scores: Single, own: NDArray[np.int64]
) -> tuple[NDArray[np.int64], Single]:
    """Return the rows found and their scores, without the rows themselves."""
    keep, shape = others(found, own), (len(found), found.shape[1] - 1)
    return found[keep].reshape(shape), scores[keep].reshape(shape)
