"""Posterior over label sets that were seen in training."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import log_expit

from homi.typing import Array, Indices, Mask

#: Most label sets that are kept; the most frequent ones.
MOST_SETS = 3000
#: Most entries of a table of rows and sets.
_BLOCK = 2_000_000


class Sharpness(NamedTuple):
    """How far scores, known labels and frequencies decide between sets.

    ``scores`` is the factor of log-odds, which are not independent of each other;
    ``known`` is the log-odds against a set for each known label it contradicts;
    ``frequency`` and ``independent`` are the factors of the log-frequency of a set, and
    of what it would be with independent labels.
    """

    scores: float
    known: float
    frequency: float
    independent: float


#: Few labels have nearly independent log-odds; many have not.
SHARPNESS = (
    Sharpness(1.0, 6.0, 0.3, 0.3),
    Sharpness(0.75, 8.0, 0.7, 0.3),
    Sharpness(0.5, 4.0, 0.5, 0.2),
    Sharpness(0.3, 2.0, 0.09, 0.09),
)


class LabelSets(NamedTuple):
    """Distinct label sets, one per row.

    ``frequency`` is the logarithm of the share of rows that have the set, and
    ``independent`` what it would be if labels were independent.
    """

    members: Array
    frequency: Array
    independent: Array

    def places(self, Y: Array | Mask) -> tuple[Indices, Indices]:
        """Return the places of the label sets of rows, and the rows that have one."""
        place = {row.tobytes(): t for t, row in enumerate(self.members > 0)}
        found = np.array([place.get(row.tobytes(), -1) for row in Y > 0], dtype=np.intp)
        rows = np.flatnonzero(found >= 0)
        return found[rows], rows


def seen_sets(
    Y: Array,
    weights: Array | None = None,
    most: int = MOST_SETS,
    least_rows: int = 1,
) -> LabelSets:
    """Return the most frequent label sets of training rows.

    Sets of fewer than ``least_rows`` rows are left out. If none is left, the only one
    has no label, and says nothing about any.
    """
    w = np.ones(len(Y)) if weights is None else weights
    members, group = np.unique(Y, axis=0, return_inverse=True)
    counts = np.bincount(group.ravel(), w)
    # Sets of the same frequency in random order: np.unique has sorted them by label.
    shuffled = np.random.default_rng(0).permutation(len(counts))
    kept = shuffled[np.argsort(-counts[shuffled], kind="stable")]
    kept = kept[np.bincount(group.ravel())[kept] >= least_rows][:most]
    if not len(kept):
        return LabelSets(np.zeros((1, Y.shape[1])), np.zeros(1), np.zeros(1))
    members = members[kept]
    odds = np.log((w @ Y + 0.5) / (w @ (1.0 - Y) + 0.5))
    independent = members @ log_expit(odds) + (1.0 - members) @ log_expit(-odds)
    return LabelSets(members, np.log(counts[kept] / w.sum()), independent)


def set_weights(
    sets: LabelSets, sharpness: Sharpness, log_odds: Array, Y: Array
) -> Array:
    """Return the log-weight of each set in each row, up to a constant; NaN is unknown.

    A set has the log-odds of its unknown labels, and loses for each known label that it
    contradicts.
    """
    unknown = np.isnan(Y)
    ones = np.where(unknown, 0.0, Y)
    zeros = np.where(unknown, 0.0, 1.0 - Y)
    field = sharpness.scores * np.where(unknown, log_odds, 0.0)
    field += sharpness.known * (ones - zeros)
    prior = sharpness.frequency * sets.frequency
    prior -= sharpness.independent * sets.independent
    return field @ sets.members.T + prior


def marginals(
    sets: LabelSets, sharpness: Sharpness, log_odds: Array, Y: Array
) -> Array:
    """Return the probability of each label under the posterior over sets."""
    found = np.empty_like(log_odds)
    step = max(1, _BLOCK // len(sets.members))
    for start in range(0, len(log_odds), step):
        rows = slice(start, start + step)
        weights = set_weights(sets, sharpness, log_odds[rows], Y[rows])
        found[rows] = _normalized(weights) @ sets.members
    return np.clip(found, 0.0, 1.0)


def leave_one_out_marginals(
    sets: LabelSets, sharpness: Sharpness, log_odds: Array, Y: Array
) -> Array:
    """Return marginals of each label as if it alone of the known ones were unknown.

    The posterior of all known labels is divided by what label j contributed to it.
    """
    found = np.empty_like(log_odds)
    step = max(1, _BLOCK // len(sets.members))
    for start in range(0, len(log_odds), step):
        rows = slice(start, start + step)
        S, y = log_odds[rows], Y[rows]
        weights = _normalized(set_weights(sets, sharpness, S, y))
        # Rounding may leave nothing of a label that all likely sets contradict.
        share = np.clip(weights @ sets.members, 1e-300, 1.0)
        rest = np.clip(weights @ (1.0 - sets.members), 1e-300, 1.0)
        own = sharpness.scores * S - sharpness.known * (2.0 * y - 1.0)
        odds = np.log(share) - np.log(rest) + np.where(np.isnan(y), 0.0, own)
        found[rows] = np.exp(log_expit(odds))
    return found


def _normalized(weights: Array) -> Array:
    shares = np.exp(weights - weights.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    found: Array = shares
    return found
