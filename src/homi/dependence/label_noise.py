"""Noise of labels: how often they are wrong, and how probably each one is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import beta

from homi.typing import Array

#: Bins of log-odds whose counts stand for all labels of all rows.
_BINS = 300
#: Logarithm of the ratio of the two rates of noise that counts as no difference:
#: a factor of 3. Smaller differences are within the calibration error.
_SLACK = np.log(3.0)
#: Smallest and largest rate: a smaller one is indistinguishable from 0, and one half or
#: more would swap the meaning of a label.
_RATES = (1e-3, 0.45)
#: Rates that a fit starts from: the likelihood may have more than one maximum.
_STARTS = ((0.02, 0.02), (0.002, 0.2), (0.2, 0.002))
#: Rate of noise before any data, and its weight in rows.
_PRIOR_RATE, _PRIOR_ROWS = 0.02, 10.0
#: Share of the labels that counts as surest, at either end.
_SUREST = 0.05
#: Chance that a limit of a rate is missed.
_MISSED = 0.05


class LabelNoise(NamedTuple):
    r"""Labels that are flipped at random, and log-odds of the true ones.

    .. math:: P(\text{given} = 1 \mid s) = e_0 (1 - p) + (1 - e_1)\, p, \qquad
              p = \sigma(a s + b)

    Attributes
    ----------
    slope, offset : float
        a and b.
    spurious : float
        e₀, the share of absent labels that are given.
    missing : float
        e₁, the share of present labels that are not given.
    """

    slope: float
    offset: float
    spurious: float
    missing: float

    def wrong(self, log_odds: Array, Y: Array) -> Array:
        """Return the probability that each given label is wrong."""
        p = expit(self.slope * log_odds + self.offset)
        added, kept = self.spurious * (1.0 - p), (1.0 - self.missing) * p
        lost, absent = self.missing * p, (1.0 - self.spurious) * (1.0 - p)
        return np.where(Y > 0, added / (added + kept), lost / (lost + absent))


class Counts(NamedTuple):
    """Labels in bins of log-odds: mean log-odds, number absent and number present.

    ``least`` is a lower limit of the rate of spurious labels.
    """

    log_odds: Array
    absent: Array
    present: Array
    least: float


def binned(log_odds: Array, Y: Array) -> Counts:
    """Return the counts of bins with equal numbers of labels."""
    s, y = log_odds.ravel(), Y.ravel()
    edges = np.quantile(s, np.linspace(0.0, 1.0, _BINS + 1)[1:-1])
    bins = np.searchsorted(edges, s)
    n, total, present = (
        np.bincount(bins, weights, _BINS).astype(np.float64)
        for weights in (np.ones(len(s)), s, y.astype(np.float64))
    )
    found, size = _surest(log_odds, Y)[0]
    least = float(beta.ppf(_MISSED, found, size - found + 1.0)) if found else 0.0
    # No label is known to be rarer than one row of a half.
    least = min(max(least - 2.0 / len(Y), 0.0), _RATES[1])
    return Counts(total / np.maximum(n, 1.0), n - present, present, least)


def fit_label_noise(counts: Counts) -> LabelNoise:
    """Fit the rates of noise by maximum likelihood.

    Rates that differ by less than a factor of 3 are taken as equal, and others are
    brought together by that factor. The labels that are most surely absent set a lower
    limit to the rate of spurious ones.
    """
    starts = (LabelNoise(1.0, 0.0, *rates) for rates in _STARTS)
    fits = (_fit(counts, start, None) for start in starts)
    free = min(fits, key=lambda noise: _loss(noise, counts))
    gap = _gap(free)
    return _fit(counts, free, np.sign(gap) * max(abs(gap) - _SLACK, 0.0))


def refit(noise: LabelNoise, counts: Counts) -> LabelNoise:
    """Fit to other labels, with the same ratio of the two rates."""
    return _fit(counts, noise, _gap(noise))


def most_wrong(log_odds: Array, Y: Array) -> float:
    r"""Return how many labels may be wrong: no rate exceeds that of the surest labels.

    Of the labels that are most surely absent, at least the share :math:`e_0` is given,
    and of those most surely present at least :math:`e_1` is not. Of N labels, with n
    given ones, :math:`t = (n - e_0 N)/(1 - e_0 - e_1)` are then right to have, and

    .. math:: e_0 (N - t) + e_1 t

    are wrong; or :math:`2 e_1 n`, if labels are swapped for others. Both rates are
    upper limits, at 95 %.
    """
    n, given = float(Y.size), float(Y.sum())
    # The limit is NaN if all of them are contradicted: the rate is the greatest then.
    e0, e1 = (
        float(np.fmin(beta.ppf(1.0 - _MISSED, found + 1.0, size - found), _RATES[1]))
        for found, size in _surest(log_odds, Y)
    )
    right = float(np.clip((given - e0 * n) / (1.0 - e0 - e1), 0.0, n))
    alone = min(e0 * (n - right), given) + e1 * right
    return max(alone, 2.0 * e1 * given)


def _surest(log_odds: Array, Y: Array) -> list[tuple[float, int]]:
    """Return how many of the surest labels are contradicted, and their number.

    First those that are most surely absent, then those most surely present. Labels that
    are rare by chance must not look sure: how frequent a label is, is taken from the
    other half of the rows.
    """
    half = np.arange(len(Y)) % 2 == 0
    shares = [(Y[h].sum(axis=0) + 0.5) / (h.sum() + 1.0) for h in (half, ~half)]
    own, other = (logit(share) for share in shares)
    change = np.where(half[:, None], other - own, own - other)
    # The whole data have the mean of both; log-odds move by half the difference.
    y = Y.ravel()[np.argsort((log_odds + change / 2.0).ravel(), kind="stable")]
    counts = [max(int(np.ceil(_SUREST * c)), 1) for c in (len(y) - y.sum(), y.sum())]
    absent, present = y[: counts[0]], y[-counts[1] :]
    return [
        (float(absent.sum()), counts[0]),
        (float(len(present) - present.sum()), counts[1]),
    ]


def _gap(noise: LabelNoise) -> float:
    """Return the difference between the log-odds of both rates."""
    return float(logit(noise.missing) - logit(noise.spurious))


def _fit(counts: Counts, start: LabelNoise, gap: float | None) -> LabelNoise:
    """Fit with a given gap between the log-odds of both rates, or with any."""
    ends = [float(logit(rate)) for rate in (start.spurious, start.missing)]
    found = minimize(
        lambda t: _loss(_unpacked(t, gap, counts.least), counts),
        [start.slope, start.offset, *(ends if gap is None else [sum(ends) / 2.0])],
        method="Nelder-Mead",
        options={"maxiter": 2000, "xatol": 1e-4, "fatol": 1e-4},
    )
    return _unpacked(found.x, gap, counts.least)


def _unpacked(t: Array, gap: float | None, least: float) -> LabelNoise:
    if gap is None:
        ends = [t[2], t[3]]
    else:
        spurious = max(t[2] - gap / 2.0, float(logit(least)))
        ends = [spurious, max(t[2] + gap / 2.0, spurious + min(gap, 0.0))]
    rates = [float(np.clip(expit(end), *_RATES)) for end in ends]
    return LabelNoise(float(t[0]), float(t[1]), *rates)


def _loss(noise: LabelNoise, counts: Counts) -> float:
    p = expit(noise.slope * counts.log_odds + noise.offset)
    given = noise.spurious * (1.0 - p) + (1.0 - noise.missing) * p
    given = np.clip(given, 1e-12, 1.0 - 1e-12)
    loss = -(counts.present @ np.log(given) + counts.absent @ np.log1p(-given))
    for rate in (noise.spurious, noise.missing):
        prior = _PRIOR_RATE * np.log(rate) + (1.0 - _PRIOR_RATE) * np.log1p(-rate)
        loss -= _PRIOR_ROWS * prior
    return float(loss)
