"""Objective of a search, computed from calibrated scores."""

from __future__ import annotations

import numpy as np

from homi.linear import PooledSigmoids, fit_pooled_sigmoids
from homi.model.fold_scores import held_out_rows
from homi.model.scoring import Objective
from homi.solver import RowsOnPath, with_shares
from homi.typing import Array

#: Most steps of Newton's method, and the decrease of a label's loss at which sigmoids
#: of candidates, which start from those of the one before, are good enough to compare.
_STEPS, _TOL = 25, 1e-5


class CalibratedObjective:
    """Objective of scores: computed from probabilities, if scores will be calibrated.

    The sigmoids of one candidate are the start of the next.
    """

    def __init__(self, objective: Objective, calibrate: bool) -> None:
        self._objective, self.calibrates = objective, calibrate
        self._last: PooledSigmoids | None = None

    def __call__(self, Y: Array, scores: Array, weights: Array | None = None) -> float:
        """Return the objective; NaN, as where no label ever occurs, is the worst."""
        value = float(self._objective(Y, self.final(Y, scores, weights), weights))
        return value if value == value else -np.inf

    def held_out(self, rows: RowsOnPath, Y: Array, inverse: Array) -> Array:
        """Return leave-one-out scores, comparable between rows if calibrated."""
        scores = rows.held_out(Y, inverse)
        if not self.calibrates:
            return scores
        return with_shares(scores, Y, rows.y_mean, rows.n, rows.weights)

    def final(self, Y: Array, scores: Array, weights: Array | None = None) -> Array:
        """Return what the objective is computed from: probabilities, or the scores."""
        if not self.calibrates:
            return scores
        self._last = fit_pooled_sigmoids(
            scores, Y, weights=weights, start=self._last, tol=_TOL, max_iter=_STEPS
        )
        return self._last(scores)

    def gain(
        self, Y: Array, new: Array, old: Array, seed: int, weights: Array | None
    ) -> float:
        """Return how much better new scores are, in standard errors over folds."""
        new, old = self.final(Y, new, weights), self.final(Y, old, weights)
        gains = []
        for rows in held_out_rows(len(Y), seed):
            w = None if weights is None else weights[rows]
            values = [self._objective(Y[rows], S[rows], w) for S in (new, old)]
            gains.append(values[0] - values[1])
        error = np.std(gains, ddof=1) / np.sqrt(len(gains))
        mean = float(np.mean(gains))
        if np.isnan(mean):
            return -np.inf
        return mean / max(float(error), np.finfo(float).tiny)
