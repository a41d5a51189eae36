"""Exact search for the s rows most correlated with each row.

For rows that are centered and scaled to unit length, Pearson correlation is an inner
product. Candidates are found in float32 by products of blocks, of which `TopScores`
keeps the largest. This is one search for dense and sparse rows; benchmarks/speed.py
compares it with FAISS's flat index. Correlations of candidates are in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from homi.arrays import dense
from homi.graph.top_scores import TopScores
from homi.typing import Array, Matrix

#: Rows of a block. A block of products of this size fits in the cache.
_BLOCK = 1024

#: Entries of a block of neighbors or of scaled rows: 1 MB, which fits in the cache.
_BLOCK_ENTRIES = 2**17

#: Below this share of nonzeros, products of sparse rows with sparse rows are faster.
_THIN = 0.01

#: Below this share of a row's length, the deviation from its mean is rounding error.
_FLAT = 1e-7


class Neighbors(NamedTuple):
    """Indices of s other rows for each of n rows, and the Pearson correlations."""

    indices: NDArray[np.int64]
    correlations: Array


def nearest(
    X: Matrix,
    n_neighbors: int,
    *,
    mean: Array | None = None,
    scale: Array | None = None,
) -> Neighbors:
    """Find the rows most correlated with each row of ``(X - mean) / scale``.

    A row is never its own neighbor, even if copies of it exist. A row without variance
    has correlation 0 with all rows.
    """
    n, m = X.shape
    if not 1 <= n_neighbors < n:
        raise ValueError(
            f"n_neighbors must be between 1 and {n - 1} for {n} rows, got "
            f"{n_neighbors}; choose a number in this range."
        )
    mean = np.zeros(m) if mean is None else mean
    scale = np.ones(m) if scale is None else scale
    search = _nearest_sparse if sparse.issparse(X) else _nearest_dense
    return search(X, n_neighbors, mean, scale)


def _blocks(n: int, step: int | None = None) -> Iterator[slice]:
    step = step or _BLOCK
    return (slice(i, min(i + step, n)) for i in range(0, n, step))


def others(found: NDArray[np.int64], own: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mark all candidates of a row but itself, or but the last if it is not among them.

    ``own`` is the index of each row; exactly one candidate per row is left out.
    """
    keep = found != own[:, None]
    keep[keep.all(axis=1), -1] = False
    return keep


def without_self(found: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the candidates of each row without the row itself."""
    n, k = found.shape
    return found[others(found, np.arange(n))].reshape(n, k - 1)


def _nearest_dense(X: Array, n_neighbors: int, mean: Array, scale: Array) -> Neighbors:
    unit = unit_rows(X, mean, scale)
    single = unit.astype(np.float32)
    n, k = len(unit), n_neighbors + 1
    found = search(single, lambda columns: single[columns].T, n, k).indices()
    indices = without_self(found)
    return Neighbors(indices, correlations(unit, unit, indices))


def correlations(unit: Array, other: Array, indices: NDArray[np.int64]) -> Array:
    """Return the inner products of each unit row with the rows at its indices."""
    n, s = indices.shape
    out = np.empty((n, s))
    step = max(1, _BLOCK_ENTRIES // max(1, s * unit.shape[1]))
    room = np.empty((min(step, n), s, unit.shape[1]))
    for rows in _blocks(n, step):
        others = room[: rows.stop - rows.start]
        # All indices are valid; this mode avoids a copy.
        other.take(indices[rows], axis=0, out=others, mode="clip")
        out[rows] = (others @ unit[rows, :, None])[..., 0]
    return out


def unit_rows(X: Matrix, mean: Array, scale: Array) -> Array:
    """Return rows ``(X - mean) / scale``, dense, each centered and of length 1.

    A row without variance is 0.
    """
    X = dense(X)
    out = np.empty(X.shape)
    for rows in _blocks(len(X), max(1, _BLOCK_ENTRIES // max(1, X.shape[1]))):
        block = np.subtract(X[rows], mean, out=out[rows])
        block /= scale
        length = np.linalg.norm(block, axis=1)
        block -= block.mean(axis=1, keepdims=True)
        block *= _inverse_spread(np.linalg.norm(block, axis=1), length)[:, None]
    return out


def _inverse_spread(spread: Array, length: Array) -> Array:
    flat = spread <= _FLAT * length
    return np.where(flat, 0.0, 1.0 / np.where(flat, 1.0, spread))


def _nearest_sparse(
    X: Matrix, n_neighbors: int, mean: Array, scale: Array
) -> Neighbors:
    rows, every = CenteredRows.of(X, mean, scale), slice(0, X.shape[0])
    indices = without_self(search_sparse(rows, every, every, n_neighbors + 1).indices())
    return Neighbors(indices, rows.correlations(indices))


class CenteredRows(NamedTuple):
    """Sparse rows q_i with the centering and scaling to apply to them.

    The standardized, centered row i of unit length is
    ``(q_i - shift - row_mean_i 1) * inverse_i``. It is dense, so it is formed only for
    a block at a time.
    """

    q: sparse.csr_array
    shift: Array
    row_mean: Array
    inverse: Array

    @classmethod
    def of(cls, X: Matrix, mean: Array, scale: Array) -> CenteredRows:
        """Compute the centering and scaling of the rows ``(X - mean) / scale``."""
        q = sparse.csr_array(X, dtype=np.float64, copy=True)
        q.sum_duplicates()
        q.data /= scale[q.indices]
        shift = mean / scale
        # Columns that are stored in every row can be centered and X stays as sparse.
        full = np.bincount(q.indices, minlength=q.shape[1]) == q.shape[0]
        q.data -= np.where(full, shift, 0.0)[q.indices]
        shift = np.where(full, 0.0, shift)
        row_mean = (q.sum(axis=1) - shift.sum()) / q.shape[1]
        squares = (q * q).sum(axis=1) + shift @ shift
        spread = squares - 2 * (q @ shift) - q.shape[1] * row_mean**2
        # Rounding errors are relative to the terms, not to the small difference.
        inverse = _inverse_spread(np.sqrt(np.maximum(spread, 0.0)), np.sqrt(squares))
        return cls(q, shift, row_mean, inverse)

    def dense(self, rows: slice) -> Array:
        """Return the centered unit rows of a block."""
        block = dense(self.q[rows])
        block -= self.shift
        block -= self.row_mean[rows, None]
        block *= self.inverse[rows, None]
        return block

    def queries(self) -> sparse.csr_array:
        """Return sparse rows with one more column for the mean correction.

        The other factor has centered rows, so the row mean of a query cancels, and the
        shift is the same for all queries.
        """
        return sparse.hstack(
            [self.q * self.inverse[:, None], sparse.csr_array(-self.inverse[:, None])],
            format="csr",
            dtype=np.float32,
        )

    def against(self, rows: slice) -> NDArray[np.float32]:
        """Return the rows of a block as columns, and their products with the shift."""
        block = self.dense(rows)
        return np.vstack([block.T, block @ self.shift]).astype(np.float32)

    def correlations(self, indices: NDArray[np.int64]) -> Array:
        """Return the correlations of the first rows with the rows at their indices."""
        first, m = slice(len(indices)), self.q.shape[1]
        q, along_shift = self.q[first], self.q @ self.shift
        constant = self.shift @ self.shift
        out = np.empty(indices.shape)
        for rank in range(indices.shape[1]):
            other = indices[:, rank]
            product = (q * self.q[other]).sum(axis=1)
            product += constant - along_shift[first] - along_shift[other]
            product -= m * self.row_mean[first] * self.row_mean[other]
            out[:, rank] = product * self.inverse[first] * self.inverse[other]
        return out


def search_sparse(rows: CenteredRows, asking: slice, among: slice, k: int) -> TopScores:
    """Find the k best of the rows ``among`` for each of the rows ``asking``."""
    n, m = rows.q.shape
    if rows.q.nnz <= _THIN * n * m:
        return _search_thin(rows, asking, among, k)
    start = among.start
    return search(
        rows.queries()[asking],
        lambda part: rows.against(slice(start + part.start, start + part.stop)),
        among.stop - start,
        k,
    )


def _search_thin(rows: CenteredRows, asking: slice, among: slice, k: int) -> TopScores:
    """Find the k best among rows with few nonzeros, without forming dense rows.

    The products of the sparse rows are corrected for centering and scaling: a matrix
    of rank 3. Each pair of blocks of the same rows is computed once.
    """
    unit, ahead, back = _thin_factors(rows)
    best, same = TopScores(asking.stop - asking.start, k), asking == among
    for columns in _blocks(among.stop - among.start):
        place = slice(among.start + columns.start, among.start + columns.stop)
        other = unit[place].T.tocsr()
        for part in _blocks(asking.stop - asking.start):
            if same and part.start > columns.start:
                break
            at = slice(asking.start + part.start, asking.start + part.stop)
            scores: Any = ahead[at] @ back[place].T
            scores += dense(unit[at] @ other)
            best.add(scores, part.start, columns.start)
            if same and part.start < columns.start:
                best.add(scores.T, columns.start, part.start)
    return best


def _thin_factors(rows: CenteredRows) -> tuple[sparse.csr_array, Array, Array]:
    """Sparse Q and n × 3 arrays A, C such that ``QQᵀ + ACᵀ`` are all correlations."""
    shift, inverse = rows.shift, rows.inverse
    along, means = rows.q @ shift, rows.row_mean
    m, one = rows.q.shape[1], np.ones_like(means)
    ahead = np.column_stack([shift @ shift - along, -one, -m * means])
    back = np.column_stack([one, along, means])
    unit = sparse.csr_array(rows.q * inverse[:, None])
    return unit, ahead * inverse[:, None], back * inverse[:, None]


def search(
    queries: Matrix,
    against: Callable[[slice], NDArray[np.float32]],
    n_others: int,
    k: int,
) -> TopScores:
    """Find the k best of all other rows for each query, in blocks."""
    n = queries.shape[0]
    best = TopScores(n, k)
    for columns in _blocks(n_others):
        block = against(columns)
        for part in _blocks(n):
            best.add(queries[part] @ block, part.start, columns.start)
    return best
