"""Find the thresholds that maximize an objective, from scores and labels alone.

A label is predicted where its score exceeds the threshold. A threshold between two
adjacent scores is halfway between them. A threshold above all scores is infinite, so
that nothing is predicted; one below all scores is minus infinity. Among equally good
thresholds the highest is taken, which predicts the fewest labels.

There is no grid. Scores are sorted once, and cumulative sums give the objective for
every threshold: O(nq log nq) for n rows and q labels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from homi.thresholds.objectives import OBJECTIVES, Objective
from homi.typing import Array, Indices, Mask

#: Sums with a smaller relative difference are equal up to rounding.
_ROUNDING = 1e-12
#: Limit of sweeps over the labels, and of steps for a ratio. Both converge far sooner.
_MAX_ITER = 100


def best_global(S: Array, Y: Mask, objective: str) -> float:
    """Find the best threshold shared by all labels. Exact for every objective.

    As the threshold falls past a score, the value of only one line changes. The change
    follows from the scores of that line, before all scores are sorted.
    """
    criterion = OBJECTIVES[objective]
    gains, scores = _gains(criterion.arranged(S), criterion.arranged(Y), criterion)
    return _best_cut(scores, gains, np.argsort(-scores, kind="stable"))[0]


def _gains(scores: Array, truth: Mask, criterion: Objective) -> tuple[Array, Array]:
    """Return the change of the line's value at each score as the threshold falls."""
    order = np.argsort(-scores, axis=1, kind="stable")
    hits = _with_zero(np.cumsum(np.take_along_axis(truth, order, axis=1), axis=1))
    positives = truth.sum(axis=1, keepdims=True)
    values = criterion.value(hits, np.arange(hits.shape[1]), positives)
    ordered = np.take_along_axis(scores, order, axis=1)
    return np.diff(values, axis=1).ravel(), ordered.ravel()


def best_per_label(
    S: Array, Y: Mask, objective: str, free: Mask | None = None
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

    Returns
    -------
    thresholds : ndarray of shape (n_labels,)
    """
    thresholds = np.full(S.shape[1], best_global(S, Y, objective))
    free = np.ones(S.shape[1], dtype=bool) if free is None else free
    if not free.any():
        return thresholds
    criterion = OBJECTIVES[objective]
    if criterion.lines == "rows":
        return _ascend(S, Y, criterion, thresholds, free)
    columns, hits = _sorted(S[:, free], Y[:, free])
    if objective == "micro_f1":
        kept = S[:, ~free] > thresholds[~free]
        fixed = int((kept & Y[:, ~free]).sum()), int(kept.sum() + Y.sum())
        counts = _best_ratio(columns, hits, *fixed)
    else:
        predicted = np.arange(1, len(S) + 1)[:, None]
        counts = _best_counts(columns, criterion.value(hits, predicted, hits[-1]))
    thresholds[free] = columns.thresholds(counts)
    return thresholds


def _sorted(S: Array, Y: Mask) -> tuple[_Columns, Indices]:
    """Sort the scores of each label in descending order, and count positives."""
    order = np.argsort(-S, axis=0, kind="stable")
    truth = np.take_along_axis(Y, order, axis=0)
    scores = np.take_along_axis(S, order, axis=0)
    return _Columns.of(scores), np.cumsum(truth, axis=0)


def _best_ratio(
    columns: _Columns, hits: Indices, fixed_hits: int, fixed_size: int
) -> Indices:
    """Find the numbers of predictions that maximize ``F = 2h / (k + p)`` of all labels.

    Dinkelbach's method: at the optimum, the maximum of 2h - F(k + p) is 0, and this
    splits into one term per label. Each step increases F until it is optimal.
    """
    predicted = np.arange(1, len(hits) + 1)[:, None]
    padded = _with_zero(hits.T).T
    counts, ratio = np.zeros(hits.shape[1], dtype=np.intp), -1.0
    for _ in range(_MAX_ITER):
        found = padded[counts, np.arange(len(counts))].sum() + fixed_hits
        size = counts.sum() + fixed_size
        reached = 2.0 * found / max(size, 1)
        if reached <= ratio * (1.0 + _ROUNDING):
            break
        ratio = reached
        counts = _best_counts(columns, 2.0 * hits - ratio * predicted)
    return counts


def _ascend(
    S: Array, Y: Mask, criterion: Objective, thresholds: Array, free: Mask
) -> Array:
    """Improve the threshold of one label at a time until none can be improved."""
    state = _RowCounts(thresholds < S, Y)
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

    def __init__(self, P: Mask, Y: Mask) -> None:
        self.P, self.Y = P, Y
        self.hits, self.predicted = (P & Y).sum(axis=1), P.sum(axis=1)
        self.positives = Y.sum(axis=1)

    def gains(self, j: int, criterion: Objective) -> Array:
        """Return the gain in value of each row if label j is predicted."""
        others = (
            self.hits - (self.P[:, j] & self.Y[:, j]),
            self.predicted - self.P[:, j],
        )
        hits, predicted = others
        without = criterion.value(hits, predicted, self.positives)
        return (
            criterion.value(hits + self.Y[:, j], predicted + 1, self.positives)
            - without
        )

    def predict(self, j: int, labels: Mask) -> None:
        """Predict label j in the given rows, and in no others."""
        y, was = self.Y[:, j], self.P[:, j]
        self.predicted = self.predicted - was + labels
        self.hits = self.hits - (was & y) + (labels & y)
        self.P[:, j] = labels


def best_k(S: Array, Y: Mask, objective: str) -> int:
    """Find the best number of labels of highest score to predict in all rows. Exact.

    Tied labels are ordered by column. The number may be 0. Among equally good numbers
    the lowest is taken.
    """
    criterion = OBJECTIVES[objective]
    order = np.argsort(-S, axis=1, kind="stable")
    hits, predicted = _met_by_rank(order, Y, criterion)
    positives = criterion.arranged(Y).sum(axis=1, keepdims=True)
    values = criterion.value(_with_zero(hits), _with_zero(predicted), positives).sum(
        axis=0
    )
    return int(np.argmax(values >= values.max() - _slack(values)))


def _met_by_rank(
    order: Indices, Y: Mask, criterion: Objective
) -> tuple[Indices, Indices]:
    """Count hits and predictions of each line for 1, 2, … predicted labels per row."""
    n, q = Y.shape
    truth, k = np.take_along_axis(Y, order, axis=1), np.arange(1, q + 1)
    if criterion.lines == "rows":
        return np.cumsum(truth, axis=1), k[None]
    if criterion.lines == "whole":
        return np.cumsum(truth.sum(axis=0))[None], n * k[None]
    places = order * q + np.arange(q)
    return _counts_by_rank(places[truth], q), _counts_by_rank(places.ravel(), q)


def _counts_by_rank(places: Indices, q: int) -> Indices:
    """Count the rows that have each label among their first 1, 2, … labels."""
    return np.cumsum(np.bincount(places, minlength=q * q).reshape(q, q), axis=1)


def _with_zero(sums: Indices) -> Indices:
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
