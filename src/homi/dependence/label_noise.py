"""Noise of labels: how often they are wrong, and how probably each one is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

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
    """Labels in bins of log-odds: mean log-odds, number absent and number present."""

    log_odds: Array
    absent: Array
    present: Array


def binned(log_odds: Array, Y: Array) -> Counts:
    """Return the counts of bins with equal numbers of labels."""
    s, y = log_odds.ravel(), Y.ravel()
    edges = np.quantile(s, np.linspace(0.0, 1.0, _BINS + 1)[1:-1])
    bins = np.searchsorted(edges, s)
    n = np.bincount(bins, np.ones(len(s)), _BINS)
    present = np.bincount(bins, y.astype(np.float64), _BINS)
    mean = np.bincount(bins, s, _BINS) / np.maximum(n, 1)
    absent = np.bincount(bins, 1.0 - y, _BINS)
    return Counts(mean, *(np.asarray(c, dtype=np.float64) for c in (absent, present)))


def fit_label_noise(counts: Counts) -> LabelNoise:
    """Fit the rates of noise by maximum likelihood.

    Rates that differ by less than a factor of 3 are taken as equal, and others are
    brought together by that factor.
    """
    fits = [_fit(counts, [1.0, 0.0, *logit(rates)], None) for rates in _STARTS]
    free = min(fits, key=lambda noise: _loss(noise, counts))
    gap = float(logit(free.missing) - logit(free.spurious))
    return _with_gap(free, counts, np.sign(gap) * max(abs(gap) - _SLACK, 0.0))


def refit(noise: LabelNoise, counts: Counts) -> LabelNoise:
    """Fit to other labels, with the same ratio of the two rates."""
    gap = float(logit(noise.missing) - logit(noise.spurious))
    return _with_gap(noise, counts, gap)


def _with_gap(start: LabelNoise, counts: Counts, gap: float) -> LabelNoise:
    middle = float(logit(start.missing) + logit(start.spurious)) / 2.0
    return _fit(counts, [start.slope, start.offset, middle], gap)


def _fit(counts: Counts, start: list[float], gap: float | None) -> LabelNoise:
    """Fit with a given gap between the log-odds of both rates, or with any."""
    found = minimize(
        lambda t: _loss(_unpacked(t, gap), counts),
        start,
        method="Nelder-Mead",
        options={"maxiter": 2000, "xatol": 1e-4, "fatol": 1e-4},
    )
    return _unpacked(found.x, gap)


def _unpacked(t: Array, gap: float | None) -> LabelNoise:
    ends = (t[2], t[3]) if gap is None else (t[2] - gap / 2.0, t[2] + gap / 2.0)
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
