"""The best thresholds for an objective: pure functions of scores and labels.

A label is predicted where its score exceeds the threshold. A threshold that cuts
between two neighbouring scores is halfway between them; one above all scores is
infinite, so that nothing is predicted, and one below them all minus infinite. Of cuts
that are equally good the highest is taken: the one that predicts fewest labels.

Nothing is searched on a grid. Scores are sorted once, and sums along them give the
objective after every cut: O(nq log nq) for n rows and q labels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from homi.thresholds.objectives import OBJECTIVES, Array, Counts, Labels, Objective

#: Sums of values that differ by less than this share are equal up to rounding.
_ROUNDING = 1e-12
#: Sweeps over the labels, and steps for a ratio. Both end by themselves far sooner.
_MAX_ITER = 100


def best_global(S: Array, Y: Labels, objective: str) -> float:
    """The best threshold that all labels share. Exact for every objective.

    As it falls past a score, the value of one line alone changes: by how much is
    known from the scores of that line, before all scores are sorted.
    """
    goal = OBJECTIVES[objective]
    gains, scores = _gains(goal.arranged(S), goal.arranged(Y), goal)
    return _best_cut(scores, gains, np.argsort(-scores, kind="stable"))[0]


def _gains(scores: Array, truth: Labels, goal: Objective) -> tuple[Array, Array]:
    """What each score adds to its line's value when its label is predicted too."""
    order = np.argsort(-scores, axis=1, kind="stable")
    hits = _with_zero(np.cumsum(np.take_along_axis(truth, order, axis=1), axis=1))
    positives = truth.sum(axis=1, keepdims=True)
    values = goal.value(hits, np.arange(hits.shape[1]), positives)
    ordered = np.take_along_axis(scores, order, axis=1)
    return np.diff(values, axis=1).ravel(), ordered.ravel()


def best_per_label(
    S: Array, Y: Labels, objective: str, free: Labels | None = None
) -> Array:
    """A threshold for each label.

    Exact for ``"hamming"``, ``"macro_f1"`` and ``"micro_f1"``. For ``"example_f1"``
    and ``"subset_accuracy"`` it is a local optimum, never worse than the global
    threshold: no other threshold of any one label would improve it.

    Parameters
    ----------
    S : ndarray of shape (n_samples, n_labels)
        Scores.
    Y : ndarray of shape (n_samples, n_labels)
        Labels.
    objective : str
        A key of OBJECTIVES.
    free : ndarray of shape (n_labels,), default=None
        Labels that get a threshold of their own; the others keep the global one.
        None means all.

    Returns
    -------
    thresholds : ndarray of shape (n_labels,)
    """
    thresholds = np.full(S.shape[1], best_global(S, Y, objective))
    free = np.ones(S.shape[1], dtype=bool) if free is None else free
    if not free.any():
        return thresholds
    goal = OBJECTIVES[objective]
    if goal.lines == "rows":
        return _ascend(S, Y, goal, thresholds, free)
    columns, hits = _sorted(S[:, free], Y[:, free])
    if objective == "micro_f1":
        kept = S[:, ~free] > thresholds[~free]
        fixed = int((kept & Y[:, ~free]).sum()), int(kept.sum() + Y.sum())
        counts = _best_ratio(columns, hits, *fixed)
    else:
        predicted = np.arange(1, len(S) + 1)[:, None]
        counts = _best_counts(columns, goal.value(hits, predicted, hits[-1]))
    thresholds[free] = columns.thresholds(counts)
    return thresholds


def _sorted(S: Array, Y: Labels) -> tuple[_Columns, Counts]:
    """Falling scores of each label, and how many positives are met along them."""
    order = np.argsort(-S, axis=0, kind="stable")
    truth = np.take_along_axis(Y, order, axis=0)
    scores = np.take_along_axis(S, order, axis=0)
    return _Columns.of(scores), np.cumsum(truth, axis=0)


def _best_ratio(
    columns: _Columns, hits: Counts, fixed_hits: int, fixed_size: int
) -> Counts:
    """Cuts of the labels for the best F = 2h / (k + p) of all together.

    Dinkelbach's method: where F is best, the largest 2h - F(k + p) is 0, and that
    splits into one term for each label. Each step cannot but raise F, to the optimum.
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
    S: Array, Y: Labels, goal: Objective, thresholds: Array, free: Labels
) -> Array:
    """Improve the threshold of one label after the other, in order, while any can."""
    state = _RowCounts(thresholds < S, Y)
    found = thresholds.copy()
    orders = np.argsort(-S, axis=0, kind="stable")
    for _ in range(_MAX_ITER):
        moved = False
        for j in map(int, np.flatnonzero(free)):
            gains = state.gains(j, goal)
            threshold, best = _best_cut(S[:, j], gains, orders[:, j])
            if best > gains[state.P[:, j]].sum() + _ROUNDING * len(S):
                found[j], moved = threshold, True
                state.predict(j, S[:, j] > threshold)
        if not moved:
            break
    return found


def _best_cut(scores: Array, gains: Array, order: Counts) -> tuple[float, float]:
    """The threshold past which gains sum to the most, and their sum."""
    column, totals = _Columns.of(scores[order][:, None]), np.cumsum(gains[order])
    count = _best_counts(column, totals[:, None])
    return float(column.thresholds(count)[0]), float(np.append(0.0, totals)[count[0]])


class _RowCounts:
    """Predicted labels, and how many each row has, of these and of true ones."""

    def __init__(self, P: Labels, Y: Labels) -> None:
        self.P, self.Y = P, Y
        self.hits, self.predicted = (P & Y).sum(axis=1), P.sum(axis=1)
        self.positives = Y.sum(axis=1)

    def gains(self, j: int, goal: Objective) -> Array:
        """What the value of each row gains if label j is predicted, over if not."""
        others = (
            self.hits - (self.P[:, j] & self.Y[:, j]),
            self.predicted - self.P[:, j],
        )
        hits, predicted = others
        without = goal.value(hits, predicted, self.positives)
        return goal.value(hits + self.Y[:, j], predicted + 1, self.positives) - without

    def predict(self, j: int, labels: Labels) -> None:
        """Predict label j in the given rows, and in no others."""
        y, was = self.Y[:, j], self.P[:, j]
        self.predicted = self.predicted - was + labels
        self.hits = self.hits - (was & y) + (labels & y)
        self.P[:, j] = labels


def best_k(S: Array, Y: Labels, objective: str) -> int:
    """How many labels of highest score to predict, the same for all rows. Exact.

    Tied labels come in the order of their columns; 0 is possible. Of equally good
    numbers the lowest is taken.
    """
    goal = OBJECTIVES[objective]
    order = np.argsort(-S, axis=1, kind="stable")
    hits, predicted = _met_by_rank(order, Y, goal)
    positives = goal.arranged(Y).sum(axis=1, keepdims=True)
    values = goal.value(_with_zero(hits), _with_zero(predicted), positives).sum(axis=0)
    return int(np.argmax(values >= values.max() - _slack(values)))


def _met_by_rank(order: Counts, Y: Labels, goal: Objective) -> tuple[Counts, Counts]:
    """Hits and predictions of each line if 1, 2, … labels of each row are predicted."""
    n, q = Y.shape
    truth, k = np.take_along_axis(Y, order, axis=1), np.arange(1, q + 1)
    if goal.lines == "rows":
        return np.cumsum(truth, axis=1), k[None]
    if goal.lines == "whole":
        return np.cumsum(truth.sum(axis=0))[None], n * k[None]
    places = order * q + np.arange(q)
    return _counts_by_rank(places[truth], q), _counts_by_rank(places.ravel(), q)


def _counts_by_rank(places: Counts, q: int) -> Counts:
    """How many rows have each label, one a line, among their first 1, 2, …"""
    return np.cumsum(np.bincount(places, minlength=q * q).reshape(q, q), axis=1)


def _with_zero(sums: Counts) -> Counts:
    """Running sums along rows, from before the first."""
    return np.pad(sums, ((0, 0), (1, 0)))


class _Columns(NamedTuple):
    """Columns of falling scores, and where each can be cut below a score."""

    scores: Array
    ends: Labels

    @classmethod
    def of(cls, scores: Array) -> _Columns:
        ends = np.ones(scores.shape, dtype=bool)
        ends[:-1] = scores[:-1] > scores[1:]
        return cls(scores, ends)

    def thresholds(self, counts: Counts) -> Array:
        """Thresholds that let the given numbers of scores pass."""
        n, q = self.scores.shape
        every = np.arange(q)
        above = self.scores[np.maximum(counts, 1) - 1, every]
        below = self.scores[np.minimum(counts, n - 1), every]
        inner = midpoint(below, above)
        return np.where(counts == 0, np.inf, np.where(counts == n, -np.inf, inner))


def _best_counts(columns: _Columns, totals: Array) -> Counts:
    """For each column, how many scores to let pass: 0 if no total is above 0."""
    cut = np.where(columns.ends, totals, -np.inf)
    cut = np.vstack([np.zeros(cut.shape[1]), cut])
    good = cut >= cut.max(axis=0) - _slack(totals)
    return np.argmax(good, axis=0)


def _slack(values: Array) -> float:
    """How far equal sums may be apart by rounding."""
    return _ROUNDING * max(1.0, float(np.abs(values).max()))


def midpoint(below: Array, above: Array) -> Array:
    """Halfway, or the one below where rounding took that to the one above."""
    middle = 0.5 * below + 0.5 * above
    return np.where((below <= middle) & (middle < above), middle, below)
