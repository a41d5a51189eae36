"""The fitted joint model: conditionals given any known labels of a row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from homi.base.classifier import strictly_inside
from homi.joint.gaussian import (
    conditional_covariance,
    conditional_shift,
    deviations,
    leave_one_out_shift,
    scaled_residuals,
)
from homi.joint.label_sets import (
    LabelSets,
    Sharpness,
    leave_one_out_marginals,
    marginals,
)
from homi.joint.low_rank import Covariance, LowRank
from homi.typing import Array, Mask

#: Log-odds of a label that is known: finite, as metrics require.
KNOWN = 1e9
#: Closer than this to 0 and 1, an expected label is bent to become a probability.
TAIL = 0.02
#: Least probability that a posterior over seen sets gives to a label.
LEAST_SHARE = 0.01


class Weights(NamedTuple):
    """Weights of what known labels say about the log-odds of unknown ones.

    ``slope`` makes log-odds steeper with the share of known labels; ``gaussian`` and
    ``sets`` multiply the shifts of the two models.
    """

    slope: float
    gaussian: float
    sets: float


@dataclass(frozen=True, eq=False)
class JointModel:
    r"""Labels of a row given its log-odds and some of its labels.

    .. math:: \mathrm{logit}\, P(y_j = 1 \mid x, y_K) =
              s_j + \kappa_j\, (a\, t\, s_j + g\, d^G_j + h\, d^S_j)

    with the log-odds s of the classifier, the share t of known labels, the shift
    :math:`d^G` of a Gaussian conditional of residuals, and the shift :math:`d^S` of the
    posterior over label sets seen in training. Shifts and t are 0 where nothing is
    known.

    Attributes
    ----------
    covariance : ndarray of shape (n_labels, n_labels) or LowRank
        Covariance C of scaled held-out residuals, shrunk toward its diagonal. Of more
        than 2,000 labels it is ``D + VVᵀ``, low rank plus diagonal; ``np.asarray``
        writes it out.
    sets : LabelSets
        Label sets seen in training.
    sharpness : Sharpness
        How far scores and known labels decide between them.
    weights : Weights
        a, g and h; all 0 where labels say nothing about each other.
    gates : ndarray of shape (n_labels,)
        κ, how far each label follows the others: 0 for one that is left unchanged.
    """

    covariance: Covariance
    sets: LabelSets
    sharpness: Sharpness
    weights: Weights
    gates: Array

    @property
    def has_effect(self) -> bool:
        """Return True if known labels change the probabilities of others."""
        return any(self.weights)

    def with_label(self) -> JointModel:
        """Return the model with one more label that has nothing to do with others."""
        C = _with_label(self.covariance)
        # A label that is in no set has no part in the posterior.
        members = np.pad(self.sets.members, ((0, 0), (0, 1)))
        sets, gates = self.sets._replace(members=members), np.append(self.gates, 0.0)
        return replace(self, covariance=C, sets=sets, gates=gates)

    def log_odds(self, log_odds: Array, Y: Array) -> Array:
        """Return the log-odds of each label given the known ones.

        Parameters
        ----------
        log_odds : ndarray of shape (n_samples, n_labels)
            Log-odds of the classifier.
        Y : ndarray of shape (n_samples, n_labels)
            0 or 1 for a known label, NaN for an unknown one.

        Returns
        -------
        conditional : ndarray of shape (n_samples, n_labels)
            ±1e9 for a known label, ``log_odds`` itself where a row has none.
        """
        known = ~np.isnan(Y)
        found = log_odds.copy()
        some = known.any(axis=1) & ~known.all(axis=1)
        if self.has_effect and some.any():
            parts = shifts(self, log_odds[some], Y[some])
            found[some] += self.gates * combined(self.weights, parts)
        return np.where(known, KNOWN * (2.0 * Y - 1.0), found)

    def probabilities(self, log_odds: Array, Y: Array) -> Array:
        """Return the probability of each label given the known ones, which are 0 or 1.

        Parameters are those of ``log_odds``.
        """
        conditional = strictly_inside(expit(self.log_odds(log_odds, Y)))
        return np.where(np.isnan(Y), conditional, Y)

    def leave_one_out(self, log_odds: Array, Y: Array) -> Array:
        """Return the probability of each label given all known labels but itself.

        Parameters are those of ``log_odds``. An unknown label has its probability given
        the known ones.
        """
        if not self.has_effect:
            return strictly_inside(expit(log_odds))
        known = ~np.isnan(Y)
        E = scaled_residuals(log_odds, Y)
        shift = leave_one_out_shift(self.covariance, E, known)
        sets = leave_one_out_marginals(self.sets, self.sharpness, log_odds, Y)
        others = known.sum(axis=1, keepdims=True) - known
        parts = _parts(self, log_odds, shift, sets, others / Y.shape[1])
        found = log_odds + self.gates * combined(self.weights, parts)
        return strictly_inside(expit(np.where(others > 0, found, log_odds)))

    def conditional_covariance(self, log_odds: Array, Y: Array) -> Array:
        """Return the covariance of the labels of one row given its known ones.

        Parameters
        ----------
        log_odds, Y : ndarray of shape (n_labels,)
            As in ``log_odds``, for one row.

        Returns
        -------
        covariance : ndarray of shape (n_labels, n_labels)
            Correlations of the Gaussian conditional with variances p(1 - p) of the
            conditional probabilities; 0 for known labels. Without any effect of known
            labels it is diagonal.
        """
        P = self.probabilities(log_odds[None], Y[None])[0]
        known = ~np.isnan(Y)
        u = np.ix_(~known, ~known)
        found = np.zeros((len(Y), len(Y)))
        if known.all():
            return found
        C = conditional_covariance(self.covariance, known)
        scale = np.sqrt((P * (1.0 - P))[~known] / np.diag(C))
        found[u] = C * np.outer(scale, scale)
        return found if self.has_effect else np.diag(np.diag(found))


def _with_label(C: Covariance) -> Covariance:
    if isinstance(C, LowRank):
        return C.with_label()
    q = len(C)
    found = np.eye(q + 1)
    found[:q, :q] = C
    return found


def shifts(model: JointModel, log_odds: Array, Y: Array) -> tuple[Array, ...]:
    """Return what the weights multiply; rows have known and unknown labels."""
    known = ~np.isnan(Y)
    share = known.mean(axis=1, keepdims=True)
    E = scaled_residuals(log_odds, Y)
    shift = conditional_shift(model.covariance, E, known)
    sets = marginals(model.sets, model.sharpness, log_odds, Y)
    return _parts(model, log_odds, shift, sets, share)


def combined(weights: Weights, parts: tuple[Array, ...]) -> Array:
    """Return the sum of the parts, in the order of the weights."""
    total = np.zeros_like(parts[0])
    for weight, part in zip(weights, parts, strict=True):
        total += weight * part
    return total


def _parts(
    model: JointModel, log_odds: Array, shift: Array, sets: Array, share: Array
) -> tuple[Array, ...]:
    nothing = np.full_like(log_odds, np.nan)
    before = marginals(model.sets, model.sharpness, log_odds, nothing)
    return (
        share * log_odds,
        GaussianShift(log_odds)(shift),
        set_log_odds(sets) - set_log_odds(before),
    )


class GaussianShift:
    """By how much expected residuals change the log-odds of their labels."""

    def __init__(self, log_odds: Array) -> None:
        self._P = expit(log_odds)
        self._deviation, self._before = deviations(self._P), _bent_log_odds(self._P)

    def __call__(self, shift: Array, some: Mask | slice = slice(None)) -> Array:
        """Return the change of some labels, of those of ``shift``."""
        after = self._P[:, some] + self._deviation[:, some] * shift[:, some]
        return _bent_log_odds(after) - self._before[:, some]


def _bent_log_odds(p: Array) -> Array:
    """Log-odds of p, which continue slowly below 0 and above 1."""
    distance = np.minimum(p, 1.0 - p)
    tail = TAIL**2 / (2.0 * TAIL - np.minimum(distance, TAIL))
    odds: Array = logit(np.where(distance < TAIL, tail, distance))
    return np.where(p < 0.5, odds, -odds)


def set_log_odds(p: Array) -> Array:
    """Return log-odds of marginals over label sets, which are 0 or 1 at times."""
    found: Array = logit(LEAST_SHARE + (1.0 - 2.0 * LEAST_SHARE) * p)
    return found
