"""How surprising each given label is, by features and the other labels of its row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit
from sklearn.model_selection import KFold

from homi.dependence.label_noise import (
    LabelNoise,
    binned,
    fit_label_noise,
    most_wrong,
    refit,
)
from homi.dependence.swaps import with_swaps
from homi.joint import JointModel, fit_joint_model
from homi.typing import Array, Indices

#: Folds of the joint model: no row is judged by a model fitted to its own labels.
_FOLDS = 5
#: Groups of rows that are left out in turn to estimate a standard error.
_GROUPS = 10
#: Normal quantile of an interval of 90 %.
_QUANTILE = 1.645


class Suspicion(NamedTuple):
    """What is known about each given label.

    Attributes
    ----------
    by_features : ndarray of shape (n_samples, n_labels)
        Held-out probabilities by features.
    probability : ndarray of shape (n_samples, n_labels)
        The same, given the other labels of the row; by features only for a label that
        is probably swapped.
    wrong : ndarray of shape (n_samples, n_labels)
        Probability that the given label is wrong.
    partner : ndarray of shape (n_samples, n_labels)
        Column of the label that it is probably swapped with, -1 for none.
    n_wrong : float
        Estimated number of wrong labels.
    interval : tuple of float
        Range of that number, as in ``plausible_range``.
    """

    by_features: Array
    probability: Array
    wrong: Array
    partner: Indices
    n_wrong: float
    interval: tuple[float, float]


def suspicion(log_odds: Array, Y: Array, joint: JointModel | None = None) -> Suspicion:
    """Judge given labels by held-out log-odds and the other labels of each row.

    Parameters
    ----------
    log_odds : ndarray of shape (n_samples, n_labels)
        Held-out log-odds.
    Y : ndarray of shape (n_samples, n_labels)
        Given labels, 0 or 1.
    joint : JointModel or None, default=None
        Joint model of other rows. None to fit some to folds of these rows.
    """
    if joint is None:
        given_others = _given_others(log_odds, Y)
    else:
        given_others = logit(joint.leave_one_out(log_odds, Y))
    noise = fit_label_noise(binned(given_others, Y))
    wrong, partner = with_swaps(log_odds, Y, noise.wrong(given_others, Y))
    swapped = partner >= 0
    interval = plausible_range(
        noise, given_others, log_odds, Y, swaps=bool(swapped.any())
    )
    chosen = expit(np.where(swapped, log_odds, given_others))
    total = float(wrong.sum())
    return Suspicion(expit(log_odds), chosen, wrong, partner, total, interval)


def plausible_range(
    noise: LabelNoise, log_odds: Array, features: Array, Y: Array, *, swaps: bool
) -> tuple[float, float]:
    """Return the least and the greatest number of wrong labels that is plausible.

    The least one is the lower limit of two estimates: given the other labels, and by
    features only. The greatest one is their upper limit, or what the surest predictions
    allow, which is more: uncertain predictions cannot tell noise from chance.
    ``log_odds`` are given the other labels.
    """
    by_features = fit_label_noise(binned(features, Y))
    low, high = confidence_interval(noise, log_odds, Y, features if swaps else None)
    other = confidence_interval(by_features, features, Y)
    return min(low, other[0]), max(high, other[1], most_wrong(log_odds, Y))


def confidence_interval(
    noise: LabelNoise, log_odds: Array, Y: Array, features: Array | None = None
) -> tuple[float, float]:
    """Return the 90 % interval of the number of wrong labels, by the jackknife.

    ``log_odds`` are given the other labels. With log-odds by features, labels may be
    swapped, too.
    """
    total = _total(noise, log_odds, Y, features)
    margin = _QUANTILE * _standard_error(noise, log_odds, Y, features)
    return max(total - margin, 0.0), min(total + margin, float(Y.size))


def _given_others(log_odds: Array, Y: Array) -> Array:
    """Return log-odds given the other labels, by a joint model of other rows."""
    if len(Y) < 2 * _FOLDS:
        return log_odds
    found = np.empty_like(log_odds)
    folds = KFold(_FOLDS, shuffle=True, random_state=0)
    for train, test in folds.split(Y):
        model = fit_joint_model(log_odds[train], Y[train])
        found[test] = logit(model.leave_one_out(log_odds[test], Y[test]))
    return found


def _total(
    noise: LabelNoise, log_odds: Array, Y: Array, features: Array | None
) -> float:
    wrong = noise.wrong(log_odds, Y)
    if features is not None:
        wrong, _ = with_swaps(features, Y, wrong)
    return float(wrong.sum())


def _standard_error(
    noise: LabelNoise, log_odds: Array, Y: Array, features: Array | None
) -> float:
    """Return the standard error of the number of wrong labels, by the jackknife."""
    if len(Y) < 2:
        return np.inf
    group = np.random.default_rng(0).permutation(len(Y)) % _GROUPS
    totals = []
    for left_out in range(min(_GROUPS, len(Y))):
        kept = group != left_out
        S, given = log_odds[kept], Y[kept]
        some = None if features is None else features[kept]
        rest = refit(noise, binned(S, given))
        totals.append(_total(rest, S, given, some) / kept.mean())
    count = len(totals)
    return float(np.sqrt((count - 1) * np.var(totals)))
