"""Labels given in place of another one: two errors of a row that agree with each other.

Given the wrong label, the right one is improbable, and the other way round: each is
judged together with the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from homi.typing import Array, Indices

#: Log-odds beyond which features are not trusted.
_MOST_ODDS = 20.0
#: Greatest share of pairs that are swapped.
_MOST_SWAPPED = 0.2
#: Least gain of log-likelihood: the likelihood-ratio test at 5 %.
_LEAST_GAIN = 1.92


class Pairs(NamedTuple):
    """Pairs of a label that a row has and one that it lacks, and is likelier to have.

    Attributes
    ----------
    rows, given, other : ndarray of shape (n_pairs,)
        The row, the label that it has, and the one that it lacks.
    ratio : ndarray of shape (n_pairs,)
        How many times likelier the swapped pair is, by features, than the labels as
        given, or with one of the two wrong by itself.
    rest : float
        Sum of one minus this ratio over all other pairs.
    """

    rows: Indices
    given: Indices
    other: Indices
    ratio: Array
    rest: float


def pairs(log_odds: Array, Y: Array, wrong: Array) -> Pairs:
    """Return the pairs that may be swapped.

    Parameters
    ----------
    log_odds, Y : ndarray of shape (n_samples, n_labels)
        Held-out log-odds, and given labels.
    wrong : ndarray of shape (n_samples, n_labels)
        Probability that a label is wrong by itself.
    """
    alone, found, rest = _odds(wrong), [], 0.0
    for k in range(Y.shape[1]):
        rows = np.flatnonzero(Y[:, k])
        gain = log_odds[rows] - log_odds[rows, k : k + 1]
        ratio = np.exp(np.clip(gain, -_MOST_ODDS, _MOST_ODDS))
        ratio /= 1.0 + alone[rows] + alone[rows, k : k + 1]
        lacks, likely = Y[rows] == 0, ratio > 1.0
        rest += float((1.0 - ratio[lacks & ~likely]).sum())
        i, j = np.nonzero(lacks & likely)
        found.append((rows[i], np.full(len(i), k), j, ratio[i, j]))
    parts = [np.concatenate(part) for part in zip(*found, strict=True)]
    return Pairs(parts[0], parts[1], parts[2], parts[3], rest)


def swap_rate(found: Pairs) -> float:
    r"""Return the share r of swapped pairs, by maximum likelihood.

    .. math:: \sum_p \log(1 - r + r \rho_p) - r \sum_{p'} (1 - \rho_{p'})

    over likely pairs p and all others, with ratios ρ. It is 0 unless the
    likelihood-ratio test rejects that.
    """
    more = found.ratio - 1.0

    def slope(r: float) -> float:
        return float((more / (1.0 + r * more)).sum() - found.rest)

    if slope(0.0) <= 0.0:
        return 0.0
    high = slope(_MOST_SWAPPED) >= 0.0
    r = _MOST_SWAPPED if high else float(brentq(slope, 0.0, _MOST_SWAPPED))
    gain = float(np.log1p(r * more).sum()) - r * found.rest
    return r if gain > _LEAST_GAIN else 0.0


def with_swaps(log_odds: Array, Y: Array, wrong: Array) -> tuple[Array, Indices]:
    """Return the probability that each label is wrong, by itself or swapped.

    Parameters are those of ``pairs``.

    Returns
    -------
    wrong : ndarray of shape (n_samples, n_labels)
    partner : ndarray of shape (n_samples, n_labels)
        The label that it is swapped with, or -1 if it is rather wrong by itself.
    """
    partner = np.full(Y.shape, -1, dtype=np.intp)
    found = pairs(log_odds, Y, wrong)
    rate = swap_rate(found)
    if not rate:
        return wrong, partner
    odds = _odds(wrong)
    likeliest, swapped = odds.copy(), rate / (1.0 - rate) * found.ratio
    order = np.argsort(swapped, kind="stable")
    for one, other in ((found.given, found.other), (found.other, found.given)):
        cells = found.rows, one
        np.add.at(odds, cells, swapped)
        ordered = tuple(part[order] for part in cells)
        # Of repeated cells, the last one stays: the likeliest pair.
        better = swapped[order] > likeliest[ordered]
        places = tuple(part[better] for part in ordered)
        partner[places] = other[order][better]
    return odds / (1.0 + odds), partner


def _odds(probability: Array) -> Array:
    return probability / np.maximum(1.0 - probability, 1e-12)
