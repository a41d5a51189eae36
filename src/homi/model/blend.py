"""Held-out scores to log-odds, alone or in a mean with the log-odds of other models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from homi.linalg import Array
from homi.linear import choose_strength, fit_pooled_sigmoids, log_loss
from homi.typing import Mask

#: Shares of another model in the mean that are compared.
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
#: Share of the log-loss that another model must save to be kept.
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


class Blend(NamedTuple):
    """Log-odds that are linear in the scores of several models.

    ``slopes`` has one array of factors for each model; None where it is left out.
    """

    slopes: list[Array | None]
    offset: Array

    def __call__(self, scores: Sequence[Array]) -> Array:
        """Return the log-odds of the scores of all models."""
        pairs = zip(self.slopes, scores, strict=True)
        return self.offset + sum(a * S for a, S in pairs if a is not None)


def fit_log_odds(scores: Array, Y: Array, weights: Array | None = None) -> LogOdds:
    """Fit the log-odds of held-out scores: Platt's sigmoids with a common prior."""
    strength = choose_strength(scores, Y, weights)
    found = fit_pooled_sigmoids(scores, Y, strength=strength, weights=weights)
    # A sigmoid's exponent falls as the log-odds rise.
    return LogOdds(-found.slope, -found.offset)


def fit_blend(scores: Sequence[Array], Y: Array, weights: Array | None = None) -> Blend:
    """Fit the log-odds of a mean of several models.

    The log-odds of all are calibrated, then averaged with the shares that have the
    greatest held-out likelihood, then calibrated once more: a mean is less certain than
    what it is made of. Shares are chosen one model after the other.

    Parameters
    ----------
    scores : sequence of ndarray of shape (n_samples, n_labels)
        Held-out scores of each model. The first is kept unless another one takes all.
    Y, weights
        Labels, and weights of the rows, or of each label of each row, or None.

    Returns
    -------
    blend : Blend
        Without a slope where the share of a model is 0.
    """
    shares = _best_shares(scores, Y, weights)
    used = [k for k, share in enumerate(shares) if share > 0]
    slopes: list[Array | None] = [None] * len(scores)
    maps = {k: fit_log_odds(scores[k], Y, weights) for k in used}
    if len(used) == 1:
        slopes[used[0]] = maps[used[0]].slope
        return Blend(slopes, maps[used[0]].offset)
    mean = sum((shares[k] * maps[k](scores[k]) for k in used), np.zeros(Y.shape))
    final = fit_log_odds(mean, Y, weights)
    offset = final.offset.copy()
    for k in used:
        slopes[k] = shares[k] * final.slope * maps[k].slope
        offset += shares[k] * final.slope * maps[k].offset
    return Blend(slopes, offset)


def _best_shares(
    scores: Sequence[Array], Y: Array, weights: Array | None
) -> list[float]:
    """Return the shares of greatest likelihood: each half of the rows by the other."""
    shares = [1.0] + [0.0] * (len(scores) - 1)
    if len(Y) < 2:
        return shares
    even = np.arange(len(Y)) % 2 == 0
    halves = [_Half(seen, scores[0], Y, weights) for seen in (even, ~even)]
    for k, other in enumerate(scores[1:], 1):
        losses = dict.fromkeys(_SHARES, 0.0)
        odds = [_odds(other, half.seen, Y, half.weights) for half in halves]
        for share in _SHARES:
            for half, new in zip(halves, odds, strict=True):
                losses[share] += half.loss((1.0 - share) * half.mean + share * new)
        best = min(losses, key=losses.__getitem__)
        if losses[best] >= (1.0 - _LEAST_GAIN) * losses[0.0]:
            continue
        shares = [(1.0 - best) * share for share in shares]
        shares[k] = best
        for half, new in zip(halves, odds, strict=True):
            half.mean = (1.0 - best) * half.mean + best * new
    return shares


class _Half:
    """Log-odds of the mean so far, calibrated on half of the rows."""

    def __init__(
        self, seen: Mask, scores: Array, Y: Array, weights: Array | None
    ) -> None:
        self.seen, self._Y = seen, Y
        self.weights = None if weights is None else weights[seen]
        self._rest = None if weights is None else weights[~seen]
        self.mean = _odds(scores, seen, Y, self.weights)

    def loss(self, mean: Array) -> float:
        """Return the log-loss of the other half."""
        seen, Y = self.seen, self._Y
        found = fit_pooled_sigmoids(mean[seen], Y[seen], weights=self.weights, tol=1e-4)
        return log_loss(Y[~seen], found(mean[~seen]), self._rest)


def _odds(scores: Array, seen: Mask, Y: Array, weights: Array | None) -> Array:
    """Return log-odds of all rows by sigmoids of those seen."""
    found = fit_pooled_sigmoids(scores[seen], Y[seen], weights=weights, tol=1e-4)
    return -(scores * found.slope + found.offset)
