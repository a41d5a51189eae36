"""Find the thresholds that maximize an objective, from scores and labels alone.

A label is predicted where its score exceeds the threshold. A threshold between two
adjacent scores is halfway between them. A threshold above all scores is infinite, so
that nothing is predicted; one below all scores is minus infinity. Among equally good
thresholds the highest is taken, which predicts the fewest labels.

There is no grid. Scores are sorted once, and cumulative sums give the objective for
every threshold: O(nq log nq) for n rows and q labels.

``cells`` are weights of each label of each row, 0 where it is missing; None for 1 each.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from homi.thresholds.objectives import OBJECTIVES, Objective
from homi.typing import Array, Indices, Mask

#: Sums with a smaller relative difference are equal up to rounding.
_ROUNDING = 1e-12
#: Limit of sweeps over the labels, and of steps for a ratio. Both converge far sooner.
_MAX_ITER = 100


def best_global(S: Array, Y: Mask, objective: str, cells: Array | None = None) -> float:
    """Find the best threshold shared by all labels. Exact for every objective.

    As the threshold falls past a score, the value of only one line changes. The change
    follows from the scores of that line, before all scores are sorted.
    """
    criterion = OBJECTIVES[objective]
    S = _without_missing(S, cells)
    gains, scores = _gains(S, Y, criterion, cells)
    return _best_cut(scores, gains, np.argsort(-scores, kind="stable"))[0]


def _without_missing(S: Array, cells: Array | None) -> Array:
    """Give labels without weight a score that others have: no threshold fits there."""
    if cells is None or cells.all():
        return S
    return np.where(cells > 0, S, S[cells > 0].max(initial=-np.inf))


def _gains(
    S: Array, Y: Mask, criterion: Objective, cells: Array | None
) -> tuple[Array, Array]:
    """Return the change of the line's value at each score as the threshold falls."""
    scores, truth = criterion.arranged(S), criterion.arranged(Y)
    order = np.argsort(-scores, axis=1, kind="stable")
    found: Array | Mask = np.take_along_axis(truth, order, axis=1)
    of_lines = np.ones(len(truth))
    predicted = np.arange(truth.shape[1] + 1)
    if cells is not None:
        weights, given = criterion.weights(cells)
        of_lines = of_lines * given
        weights = np.take_along_axis(weights, order, axis=1)
        found, predicted = found * weights, _with_zero(np.cumsum(weights, axis=1))
    hits = _with_zero(np.cumsum(found, axis=1))
    values = criterion.value(hits, predicted, hits[:, -1:]) * of_lines[:, None]
    ordered = np.take_along_axis(scores, order, axis=1)
    return np.diff(values, axis=1).ravel(), ordered.ravel()


def best_per_label(
    S: Array,
    Y: Mask,
    objective: str,
    free: Mask | None = None,
    cells: Array | None = None,
) -> Array:
    """Find a threshold for each label.

    Exact for ``"hamming"``, ``"macro_f1"`` and ``"micro_f1"``. For ``"example_f1"``
    and ``"subset_accuracy"`` it is a local optimum, never worse than the global
    threshold: changing the threshold of any single label does not improve it.

    Parameters
    ----------
    S : ndarray of shape (n_samples, n_labels)
        Scores.
    Y : ndarray of shape (n_samples, n_labels)
        Labels.
    objective : str
        A key of OBJECTIVES.
    free : ndarray of shape (n_labels,), default=None
        Labels with their own threshold; the others keep the global one. None means
        all.
    cells : ndarray of shape (n_samples, n_labels), default=None
        Weights of each label of each row; None for 1 each.

    Returns
    -------
    thresholds : ndarray of shape (n_labels,)
    """
    thresholds = np.full(S.shape[1], best_global(S, Y, objective, cells))
    free = np.ones(S.shape[1], dtype=bool) if free is None else free
    if not free.any():
        return thresholds
    criterion = OBJECTIVES[objective]
    if cells is not None and not cells.all():
        parts = zip(S.T[:, :, None], cells.T[:, :, None], strict=True)
        S = np.hstack([_without_missing(s, c) for s, c in parts])
    if criterion.lines == "rows":
        return _ascend(S, Y, criterion, thresholds, free, cells)
    w = None if cells is None else cells[:, free]
    columns, hits, predicted = _sorted(S[:, free], Y[:, free], w)
    if objective == "micro_f1":
        kept, w = S[:, ~free] > thresholds[~free], np.ones_like(S)
        w = w if cells is None else cells
        rest = w[:, ~free]
        fixed = (kept & Y[:, ~free]) * rest, kept * rest
        positives = float((Y * w).sum())
        counts = _best_ratio(
            columns, hits, predicted, fixed[0].sum(), fixed[1].sum() + positives
        )
    else:
        counts = _best_counts(columns, criterion.value(hits, predicted, hits[-1]))
    thresholds[free] = columns.thresholds(counts)
    return thresholds


def _sorted(
    S: Array, Y: Mask, cells: Array | None
) -> tuple[_Columns, NDArray[Any], NDArray[Any]]:
    """Sort the scores of each label in descending order; count hits and predictions."""
    order = np.argsort(-S, axis=0, kind="stable")
    truth = np.take_along_axis(Y, order, axis=0)
    columns = _Columns.of(np.take_along_axis(S, order, axis=0))
    if cells is None:
        return columns, np.cumsum(truth, axis=0), np.arange(1, len(S) + 1)[:, None]
    weights = np.take_along_axis(cells, order, axis=0)
    return columns, np.cumsum(truth * weights, axis=0), np.cumsum(weights, axis=0)


def _best_ratio(
    columns: _Columns,
    hits: NDArray[Any],
    predicted: NDArray[Any],
    fixed_hits: float,
    fixed_size: float,
) -> Indices:
    """Find the numbers of predictions that maximize ``F = 2h / (k + p)`` of all labels.

    Dinkelbach's method: at the optimum, the maximum of 2h - F(k + p) is 0, and this
    splits into one term per label. Each step increases F until it is optimal.
    """
    labels = np.arange(hits.shape[1])
    padded, sizes = (
        _with_zero(np.broadcast_to(A, hits.shape).T).T for A in (hits, predicted)
    )
    counts, ratio = np.zeros(hits.shape[1], dtype=np.intp), -1.0
    for _ in range(_MAX_ITER):
        found = padded[counts, labels].sum() + fixed_hits
        size = sizes[counts, labels].sum() + fixed_size
        reached = 2.0 * found / (size or 1.0)
        if reached <= ratio * (1.0 + _ROUNDING):
            break
        ratio = reached
        counts = _best_counts(columns, 2.0 * hits - ratio * predicted)
    return counts


def _ascend(
    S: Array,
    Y: Mask,
    criterion: Objective,
    thresholds: Array,
    free: Mask,
    cells: Array | None,
) -> Array:
    """Improve the threshold of one label at a time until none can be improved."""
    state = _RowCounts(thresholds < S, Y, cells)
    found = thresholds.copy()
    orders = np.argsort(-S, axis=0, kind="stable")
    for _ in range(_MAX_ITER):
        moved = False
        for j in map(int, np.flatnonzero(free)):
            gains = state.gains(j, criterion)
            threshold, best = _best_cut(S[:, j], gains, orders[:, j])
            if best > gains[state.P[:, j]].sum() + _ROUNDING * len(S):
                found[j], moved = threshold, True
                state.predict(j, S[:, j] > threshold)
        if not moved:
            break
    return found


def _best_cut(scores: Array, gains: Array, order: Indices) -> tuple[float, float]:
    """Return the threshold with the largest sum of gains, and this sum."""
    column, totals = _Columns.of(scores[order][:, None]), np.cumsum(gains[order])
    count = _best_counts(column, totals[:, None])
    return float(column.thresholds(count)[0]), float(np.append(0.0, totals)[count[0]])


class _RowCounts:
    """Predicted and true labels, and the counts of both in each row."""

    def __init__(self, P: Mask, Y: Mask, cells: Array | None) -> None:
        self.known = np.ones_like(Y) if cells is None else cells > 0
        self.weights = 1.0 if cells is None else cells.max(axis=1)
        self.P, self.Y = P, Y & self.known
        self.hits = (P & self.Y).sum(axis=1)
        self.predicted = (P & self.known).sum(axis=1)
        self.positives = self.Y.sum(axis=1)

    def gains(self, j: int, criterion: Objective) -> Array:
        """Return the gain in value of each row if label j is predicted."""
        known, P, Y = self.known[:, j], self.P[:, j], self.Y[:, j]
        hits, predicted = self.hits - (P & Y), self.predicted - (P & known)
        without = criterion.value(hits, predicted, self.positives)
        value = criterion.value(hits + Y, predicted + known, self.positives)
        return (value - without) * self.weights

    def predict(self, j: int, labels: Mask) -> None:
        """Predict label j in the given rows, and in no others."""
        y, was, known = self.Y[:, j], self.P[:, j], self.known[:, j]
        self.predicted = self.predicted - (was & known) + (labels & known)
        self.hits = self.hits - (was & y) + (labels & y)
        self.P[:, j] = labels


def best_k(S: Array, Y: Mask, objective: str, cells: Array | None = None) -> int:
    """Find the best number of labels of highest score to predict in all rows. Exact.

    Tied labels are ordered by column. The number may be 0. Among equally good numbers
    the lowest is taken.
    """
    criterion = OBJECTIVES[objective]
    order = np.argsort(-S, axis=1, kind="stable")
    weights: Array = np.ones(S.shape)
    of_lines: Array = np.ones(1)
    if cells is not None:
        by_row = criterion.lines == "rows"
        weights = np.where(cells > 0, 1.0, 0.0) if by_row else cells
        of_lines = np.atleast_1d(criterion.weights(cells)[1])
    hits = _with_zero(_met_by_rank(order, Y * weights, criterion))
    predicted = _with_zero(_met_by_rank(order, weights, criterion))
    lines = criterion.value(hits, predicted, hits[:, -1:])
    values = (lines * of_lines[:, None]).sum(axis=0)
    return int(np.argmax(values >= values.max() - _slack(values)))


def _met_by_rank(order: Indices, weights: Array, criterion: Objective) -> Array:
    """Sum the weights of each line over the first 1, 2, … labels of each row."""
    q = weights.shape[1]
    ranked = np.take_along_axis(weights, order, axis=1)
    if criterion.lines == "rows":
        return np.cumsum(ranked, axis=1)
    if criterion.lines == "whole":
        return np.cumsum(ranked.sum(axis=0))[None]
    places = (order * q + np.arange(q)).ravel()
    sums = np.bincount(places, ranked.ravel(), minlength=q * q)
    return np.cumsum(sums.reshape(q, q), axis=1)


def _with_zero(sums: NDArray[Any]) -> NDArray[Any]:
    """Prepend a 0 to the cumulative sums of each row."""
    return np.pad(sums, ((0, 0), (1, 0)))


class _Columns(NamedTuple):
    """Columns of descending scores, and the places where a threshold fits."""

    scores: Array
    ends: Mask

    @classmethod
    def of(cls, scores: Array) -> _Columns:
        """Mark the last of each run of equal scores."""
        ends = np.ones(scores.shape, dtype=bool)
        ends[:-1] = scores[:-1] > scores[1:]
        return cls(scores, ends)

    def thresholds(self, counts: Indices) -> Array:
        """Return thresholds that the given numbers of scores exceed."""
        n, q = self.scores.shape
        every = np.arange(q)
        above = self.scores[np.maximum(counts, 1) - 1, every]
        below = self.scores[np.minimum(counts, n - 1), every]
        inner = midpoint(below, above)
        return np.where(counts == 0, np.inf, np.where(counts == n, -np.inf, inner))


def _best_counts(columns: _Columns, totals: Array) -> Indices:
    """Return the best number of scores to pass per column; 0 if no total is above 0."""
    cut = np.where(columns.ends, totals, -np.inf)
    cut = np.vstack([np.zeros(cut.shape[1]), cut])
    good = cut >= cut.max(axis=0) - _slack(totals)
    return np.argmax(good, axis=0)


def _slack(values: Array) -> float:
    """Return the largest difference between equal sums due to rounding."""
    return _ROUNDING * max(1.0, float(np.abs(values).max()))


def midpoint(below: Array, above: Array) -> Array:
    """Return the midpoint, or ``below`` where rounding moved it to ``above``."""
    middle = 0.5 * below + 0.5 * above
    return np.where((below <= middle) & (middle < above), middle, below)
