"""Held-out scores to log-odds, alone or in a mean with the log-odds of a forest."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from homi.linalg import Array
from homi.linear import choose_strength, fit_pooled_sigmoids, log_loss
from homi.typing import Mask

#: Shares of the forest in the mean that are compared.
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
#: Share of the log-loss that a forest must save to be kept.
_LEAST_GAIN = 1e-3


class LogOdds(NamedTuple):
    """Log-odds that are linear in scores, and in the log-odds of a forest if any."""

    slope: Array
    offset: Array
    forest_slope: Array | None = None

    def __call__(self, scores: Array, forest: Array | None = None) -> Array:
        """Return the log-odds."""
        odds = scores * self.slope + self.offset
        if self.forest_slope is not None and forest is not None:
            odds += forest * self.forest_slope
        return odds


def fit_log_odds(scores: Array, Y: Array, weights: Array | None = None) -> LogOdds:
    """Fit the log-odds of held-out scores: Platt's sigmoids with a common prior."""
    strength = choose_strength(scores, Y, weights)
    found = fit_pooled_sigmoids(scores, Y, strength=strength, weights=weights)
    # A sigmoid's exponent falls as the log-odds rise.
    return LogOdds(-found.slope, -found.offset)


def fit_blend(
    scores: Array, forest: Array, Y: Array, weights: Array | None = None
) -> LogOdds:
    """Fit the log-odds of a mean of two models.

    The log-odds of both are calibrated, then averaged with the share of the forest that
    has the greatest held-out likelihood, then calibrated once more: a mean is less
    certain than what it is made of.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Held-out scores.
    forest : ndarray of shape (n_samples, n_labels)
        Out-of-bag log-odds of a forest.
    Y, weights
        Labels, and weights of the rows, or of each label of each row, or None.

    Returns
    -------
    log_odds : LogOdds
        Without a ``forest_slope`` where the share of the forest is 0.
    """
    ours, trees = (fit_log_odds(S, Y, weights) for S in (scores, forest))
    parts = ours(scores), trees(forest)
    share = _best_share(scores, forest, Y, weights) if len(Y) > 1 else 0.0
    if share == 0:
        return ours
    mean = (1.0 - share) * parts[0] + share * parts[1]
    final = fit_log_odds(mean, Y, weights)
    slope = (1.0 - share) * final.slope
    forest_slope = share * final.slope * trees.slope
    offset = final.offset + slope * ours.offset + share * final.slope * trees.offset
    return LogOdds(slope * ours.slope, offset, forest_slope)


def _best_share(scores: Array, forest: Array, Y: Array, weights: Array | None) -> float:
    """Return the share of greatest likelihood: each half of the rows by the other."""
    losses = dict.fromkeys(_SHARES, 0.0)
    even = np.arange(len(Y)) % 2 == 0
    for seen in (even, ~even):
        w = None if weights is None else weights[seen]
        rest = None if weights is None else weights[~seen]
        ours, trees = (_odds(S, seen, Y, w) for S in (scores, forest))
        for share in _SHARES:
            mean = (1.0 - share) * ours + share * trees
            found = fit_pooled_sigmoids(mean[seen], Y[seen], weights=w, tol=0.01)
            losses[share] += log_loss(Y[~seen], found(mean[~seen]), rest)
    best = min(losses, key=losses.__getitem__)
    return best if losses[best] < (1.0 - _LEAST_GAIN) * losses[0.0] else 0.0


def _odds(scores: Array, seen: Mask, Y: Array, weights: Array | None) -> Array:
    """Return log-odds of all rows by sigmoids of those seen."""
    found = fit_pooled_sigmoids(scores[seen], Y[seen], weights=weights, tol=0.01)
    return -(scores * found.slope + found.offset)
