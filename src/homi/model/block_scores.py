"""Leave-one-out scores of blocks of rows, and their log-odds from a small table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homi.arrays import dense
from homi.linalg import Array
from homi.model.batches import row_slices
from homi.model.block_features import values_of
from homi.model.features import FeatureSpace
from homi.model.kernel_map import KernelMap
from homi.solver import Path, shares, with_shares
from homi.solver.held_out import without_own
from homi.typing import Indices, Matrix

#: Nodes of the table for each label.
_NODES = 1024

#: Columns of random projections for the leverages, and the number of rows for each
#: feature from which on they are used: the mean leverage is then below 0.5 %.
COLUMNS, MANY_ROWS = 144, 200


@dataclass(frozen=True)
class BlockScores:
    """Scores of rows of the fit, each by the model of all other rows.

    Attributes
    ----------
    kernel_map : KernelMap or None
        None for the rows as they are.
    A : ndarray of shape (n_values, n_labels + n_columns)
        Weights of the values for each label, then F: the leverage of a row of values k
        is a sum of squares of ``k F - shift``.
    z, shift : ndarray of shape (n_labels,) and (n_columns,)
        Intercepts, and what is subtracted.
    D : ndarray of shape (n_columns, n_groups)
        Weights of the squares, for each group of labels of equal weight.
    groups : ndarray of shape (n_labels,)
        The group of each label.
    n : float
        Number of rows, or their total weight.
    y_mean : ndarray of shape (n_labels,)
    B, t : ndarray of shape (n_labels, n_labels) and (n_labels,)
        The label correction.
    calibrated : bool
        Whether the intercepts are those for the shares of labels in all rows.
    """

    kernel_map: KernelMap | None
    A: Array
    z: Array
    shift: Array
    D: Array
    groups: Indices
    n: float
    y_mean: Array
    B: Array
    t: Array
    calibrated: bool

    def __call__(self, X: Matrix, Y: Array, weights: Array | None) -> Array:
        """Return held-out decision scores of some rows."""
        given, n_labels = values_of(X, self.kernel_map), len(self.z)
        both = np.asarray(given @ self.A)
        fitted, P = both[:, :n_labels] + self.z, both[:, n_labels:] - self.shift
        leverage = (np.square(P, out=P) @ self.D + 1.0 / self.n)[:, self.groups]
        if weights is not None:
            leverage *= weights[:, None]
        scores = without_own(fitted, leverage, Y, self.y_mean) @ self.B + self.t
        if self.calibrated:
            scores = with_shares(scores, Y, self.y_mean, self.n, weights)
        scores -= 0.5
        return scores


def block_scores(
    space: FeatureSpace,
    path: Path,
    lam: float,
    label_weight: Array,
    B: Array,
    t: Array,
    seed: int,
    calibrated: bool,
) -> BlockScores:
    """Return what scores any rows of a ridge regression, on a path of all λ."""
    unique, groups = np.unique(label_weight, return_inverse=True)
    kept = shares(lam / (path.values + lam), unique) / (path.values + lam)[:, None]
    F, D = _leverage_factor(path, kept, seed)
    W, moments, n_labels = path.weights(kept[:, groups]), space.moments, len(t)
    A = _for_values(space, np.hstack([W, F]))
    # Features are values times the basis, less the mean of the values times it.
    mean = space.scaling[0] @ A
    return BlockScores(
        space.kernel_map,
        A,
        moments.y_mean - moments.x_mean @ W - mean[:n_labels],
        mean[n_labels:] + moments.x_mean @ F,
        D,
        groups,
        float(moments.n),
        moments.y_mean,
        B,
        t,
        calibrated,
    )


def _leverage_factor(path: Path, kept: Array, seed: int) -> tuple[Array, Array]:
    """Return F and D: leverages of centered features f are ``(f F)² D``.

    With many rows for each feature, leverages are small, and random projections of the
    features estimate them without bias: F has few columns.
    """
    (n_features, rank), n_groups = path.V.shape, kept.shape[1]
    size = COLUMNS // n_groups
    if path.moments.n < MANY_ROWS * rank or size * n_groups >= rank:
        return path.V, kept
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], (n_features, size * n_groups)) / np.sqrt(size)
    parts = np.split(path.V.T @ signs, n_groups, axis=1)
    # A symmetric root does not depend on the signs of eigenvectors.
    roots = [
        path.V @ (np.sqrt(column)[:, None] * part)
        for column, part in zip(kept.T, parts, strict=True)
    ]
    return np.hstack(roots), np.repeat(np.eye(n_groups), size, axis=0)


def _for_values(space: FeatureSpace, W: Array) -> Array:
    """Return weights of the values of rows from weights of features."""
    if space.row_space is None:
        return W / space.scale[:, None]
    out = np.empty((space.n_features, W.shape[1]))
    space.row_space.basis.widen(W, out)
    out /= space.row_space.scale[:, None]
    return out


@dataclass(frozen=True)
class ScoreTable:
    """Weights of positives and of negatives near each node of an even grid of scores.

    The weight of a score goes to the two nodes beside it, so that its mean is kept
    (linear binning). ``counts`` has the shape (2, 2, n_labels, n_nodes): rows in even
    and in odd places; all of them, and positives.
    """

    first: Array
    step: Array
    counts: Array

    @classmethod
    def empty(cls, scores: Array) -> ScoreTable:
        """Return a table without rows, for scores like these."""
        low, high = scores.min(axis=0), scores.max(axis=0)
        margin = 0.5 * np.where(high > low, high - low, 1.0)
        step = (high - low + 2 * margin) / (_NODES - 1)
        return cls(low - margin, step, np.zeros((2, 2, scores.shape[1], _NODES)))

    def __add__(self, other: ScoreTable) -> ScoreTable:
        """Return the table of the rows of both."""
        return ScoreTable(self.first, self.step, self.counts + other.counts)

    def add(self, scores: Array, Y: Array, weights: Array | None, start: int) -> None:
        """Add rows, the first of them in the place ``start`` of all rows."""
        u = (scores - self.first) / self.step
        np.clip(u, 0.0, _NODES - 1.001, out=u)
        node = u.astype(np.intp)
        u -= node
        node += _NODES * np.arange(scores.shape[1])
        w = np.ones(len(Y)) if weights is None else weights
        for place in (0, 1):
            # ``place`` is that of the row among all.
            half = slice((place - start) % 2, None, 2)
            at, part, heavy = node[half], u[half], w[half]
            each = np.broadcast_to(heavy[:, None], at.shape)
            self._count(place, 0, at.ravel(), part.ravel(), each.ravel())
            ones = Y[half] > 0
            self._count(place, 1, at[ones], part[ones], each[ones])

    def _count(self, place: int, kind: int, at: Indices, u: Array, w: Array) -> None:
        counts = self.counts[place, kind]
        right = np.bincount(at, u * w, minlength=counts.size).reshape(counts.shape)
        counts += np.bincount(at, w, minlength=counts.size).reshape(counts.shape)
        counts -= right
        counts[:, 1:] += right[:, :-1]

    def points(self) -> tuple[Array, Array, Array]:
        """Return scores, labels and weights of cells, one column for each label.

        Rows of even places alternate with those of odd ones, as all rows do.
        """
        nodes = self.first[:, None] + self.step[:, None] * np.arange(_NODES)
        every, ones = self.counts[:, 0], self.counts[:, 1]
        zeros = np.maximum(every - ones, 0.0)
        # Label, kind, node, half -> rows, label.
        weights = np.stack([np.maximum(ones, 0.0), zeros], axis=-1)
        weights = weights.transpose(1, 3, 2, 0).reshape(len(nodes), -1).T
        scores = np.broadcast_to(nodes[:, None, :, None], (len(nodes), 2, _NODES, 2))
        Y = np.zeros_like(weights)
        Y[: 2 * _NODES] = 1.0
        return scores.reshape(len(nodes), -1).T.copy(), Y, np.ascontiguousarray(weights)


def tabulated(
    X: Matrix,
    Y: Matrix,
    weights: Array | None,
    start: int,
    *,
    scores: BlockScores,
    empty: ScoreTable,
    out: Array | None = None,
) -> ScoreTable:
    """Return the table of held-out scores of rows; the scores as well go to ``out``."""
    table = ScoreTable(empty.first, empty.step, np.zeros_like(empty.counts))
    width = scores.A.shape[1] + (0 if scores.kernel_map is None else len(scores.A))
    for rows in row_slices(X.shape[0], width):
        y = np.asarray(dense(Y[rows]), dtype=np.float64)
        w = None if weights is None else weights[rows]
        found = scores(X[rows], y, w)
        table.add(found, y, w, start + rows.start)
        if out is not None:
            out[rows] = found
    return table
