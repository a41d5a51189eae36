"""Fit the joint model to held-out log-odds: each half of the rows judges the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from homi.joint.gaussian import (
    conditional_shift,
    covariance,
    scaled_residuals,
    shrunk,
)
from homi.joint.label_sets import (
    SHARPNESS,
    LabelSets,
    Sharpness,
    marginals,
    seen_sets,
)
from homi.joint.model import JointModel, Weights, gaussian_shift, set_log_odds
from homi.typing import Array, Indices, Mask

#: Strengths ρ of the shrinkage that are compared.
_STRENGTHS = (0.03, 0.2, 1.0, 4.0)
#: Shares of known labels that are tried.
_SHARES = (0.2, 0.5, 0.8)
#: Entries whose likelihood is compared, and rows of a half that they are taken from.
_ENTRIES, _ROWS = 50_000, (60, 400)
#: With fewer rows nothing is learned.
_LEAST_ROWS = 20

NO_EFFECT = Weights(0.0, 0.0, 0.0)
#: Strength of the prior toward a gate of 1.
GATE_PRIOR = 100.0


def fit_joint_model(
    log_odds: Array,
    Y: Array,
    sample_weight: Array | None = None,
    *,
    least_rows: int = 1,
) -> JointModel:
    """Fit the joint model of labels to held-out log-odds.

    The shrinkage of the covariance, the sharpness of the posterior over label sets and
    the weights of both are chosen by the likelihood of hidden labels: of each half of
    the rows, by a model of the other half. The weights are 0 unless the likelihood
    rises by more than one standard error. The gate of each label has the greatest
    likelihood, too, with a strong prior at 1.

    Parameters
    ----------
    log_odds : ndarray of shape (n_samples, n_labels)
        Log-odds of rows that the classifier was not fitted to. In-sample log-odds
        leave no errors to learn from.
    Y : ndarray of shape (n_samples, n_labels)
        Labels, 0 or 1, and NaN where missing. The covariance of two labels is then that
        of the rows where both are there, and label sets are those of complete rows.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows.
    least_rows : int, default=1
        Label sets of fewer rows are not kept, so that no label set of a single row can
        be read from the model.

    Returns
    -------
    model : JointModel
    """
    C, sets = _moments(log_odds, Y, sample_weight, least_rows)
    n, q = Y.shape
    if n < _LEAST_ROWS or q < 2:
        C, gates = shrunk(C, _STRENGTHS[-1]), np.ones(q)
        return JointModel(C, sets, SHARPNESS[0], NO_EFFECT, gates)
    trial = _Trial(log_odds, Y, sample_weight, _masks(q), least_rows)
    by_gaussian = {strength: trial.by_gaussian(strength) for strength in _STRENGTHS}
    strength = min(by_gaussian, key=lambda s: _fitted_loss(by_gaussian[s]))
    by_sets = [trial.with_sets(by_gaussian[strength], s) for s in SHARPNESS]
    fits = [trial.fit(entries) for entries in by_sets]
    best = min(range(len(fits)), key=lambda i: fits[i][0])
    weights = fits[best][1]
    gates = np.ones(q)
    if any(weights):
        gates = fit_gates(by_sets[best], np.array(weights), q)
    return JointModel(shrunk(C, strength), sets, SHARPNESS[best], weights, gates)


def _moments(
    log_odds: Array, Y: Array, weights: Array | None, least_rows: int
) -> tuple[Array, LabelSets]:
    """Return the covariance of residuals, and the label sets of complete rows."""
    seen = ~np.isnan(Y)
    C = covariance(scaled_residuals(log_odds, Y), weights, seen)
    complete = seen.all(axis=1)
    some = None if weights is None else weights[complete]
    return C, seen_sets(Y[complete], some, least_rows=least_rows)


class Entries(NamedTuple):
    """Hidden labels of a half: features (d, n, u), log-odds and labels (n, u).

    ``columns`` are the places of the u labels. Missing labels are NaN.
    """

    features: Array
    log_odds: Array
    labels: Array
    columns: Indices

    def flat(self, some: Indices) -> tuple[Array, Array, Array]:
        """Return some features, log-odds and labels of all entries that are there."""
        seen = ~np.isnan(self.labels)
        return self.features[some][:, seen], self.log_odds[seen], self.labels[seen]

    def row_losses(self, weights: Array) -> Array:
        """Return the log-loss of each row."""
        scores = self.log_odds + np.tensordot(weights, self.features, 1)
        losses: Array = np.logaddexp(0.0, scores) - self.labels * scores
        return np.nansum(losses, axis=1)


class _Trial:
    """Rows of two halves, each with a covariance and label sets of the other."""

    def __init__(
        self,
        log_odds: Array,
        Y: Array,
        weights: Array | None,
        masks: list[Mask],
        least_rows: int,
    ) -> None:
        self.masks = masks
        order = np.random.default_rng(0).permutation(len(Y))
        middle = len(Y) // 2
        hidden = sum(int(np.count_nonzero(~k)) for k in masks)
        count = int(np.clip(_ENTRIES / (2 * hidden), *_ROWS))
        halves = order[:middle], order[middle:]
        self.sides = [
            _side(log_odds, Y, weights, fitted, judged[:count], least_rows)
            for fitted, judged in (halves, halves[::-1])
        ]

    def by_gaussian(self, strength: float) -> list[Entries]:
        """Return hidden labels with the shifts of the Gaussian, for one shrinkage."""
        return [
            side.by_gaussian(C, k)
            for side in self.sides
            for C in [shrunk(side.covariance, strength)]
            for k in self.masks
        ]

    def with_sets(self, entries: list[Entries], sharpness: Sharpness) -> list[Entries]:
        """Return them with the shifts of label sets, too."""
        shifts = [s for side in self.sides for s in side.by_sets(self.masks, sharpness)]
        return [
            e._replace(features=np.concatenate([e.features, shift[None]]))
            for e, shift in zip(entries, shifts, strict=True)
        ]

    def fit(self, entries: list[Entries]) -> tuple[float, Weights]:
        """Return the loss, and the weights: 0 where they help less than noise."""
        weights = _fit_weights(entries)
        nothing = np.zeros_like(weights)
        gains = np.concatenate(
            [
                sum(e.row_losses(nothing) - e.row_losses(weights) for e in side)
                for side in (
                    entries[: len(self.masks)],
                    entries[len(self.masks) :],
                )
            ]
        )
        helps = gains.mean() > gains.std() / np.sqrt(len(gains))
        loss = _loss(entries, weights if helps else nothing)
        return loss, Weights(*map(float, weights)) if helps else NO_EFFECT


class _Side(NamedTuple):
    """Rows of one half, with what was learned from the other half."""

    log_odds: Array
    Y: Array
    covariance: Array
    sets: LabelSets

    def by_gaussian(self, C: Array, k: Mask) -> Entries:
        """Return the labels outside k, with the shift that those in k cause."""
        S, Y = self.log_odds, np.where(k, self.Y, np.nan)
        known = ~np.isnan(Y)
        shift = conditional_shift(C, scaled_residuals(S, Y), known)
        parts = S * known.mean(axis=1, keepdims=True), gaussian_shift(S, shift)
        features = np.stack([part[:, ~k] for part in parts])
        return Entries(features, S[:, ~k], self.Y[:, ~k], np.flatnonzero(~k))

    def by_sets(self, masks: list[Mask], sharpness: Sharpness) -> list[Array]:
        """Return the shifts of the labels outside each mask, by label sets."""

        def odds(k: Mask) -> Array:
            Y = np.where(k, self.Y, np.nan)
            return set_log_odds(marginals(self.sets, sharpness, self.log_odds, Y))

        before = odds(np.zeros_like(masks[0]))
        return [(odds(k) - before)[:, ~k] for k in masks]


def _side(
    log_odds: Array,
    Y: Array,
    weights: Array | None,
    fitted: Indices,
    judged: Indices,
    least_rows: int,
) -> _Side:
    w = None if weights is None else weights[fitted]
    C, sets = _moments(log_odds[fitted], Y[fitted], w, least_rows)
    return _Side(log_odds[judged], Y[judged], C, sets)


def _masks(q: int) -> list[Mask]:
    """Return sets of known labels; all rows of a half share a set, and its factor."""
    rng = np.random.default_rng(0)
    repeats = int(np.clip(24 // q, 2, 4))
    masks = []
    for share in _SHARES * repeats:
        count = int(np.clip(round(share * q), 1, q - 1))
        masks.append(np.isin(np.arange(q), rng.permutation(q)[:count]))
    return masks


def _fit_weights(entries: list[Entries]) -> Array:
    """Return the weights of greatest likelihood; those of shifts are not negative."""
    some = np.arange(len(entries[0].features))
    while True:
        weights = np.zeros(len(entries[0].features))
        weights[some] = _newton(entries, some)
        wrong = some[(weights[some] < 0) & (some > 0)]
        if not len(wrong):
            return weights
        some = np.setdiff1d(some, wrong)


def _newton(entries: list[Entries], some: Indices, ridge: float = 1.0) -> Array:
    """Return the weights of some features by Newton's method."""
    parts = zip(*(e.flat(some) for e in entries), strict=True)
    F, offset, y = (np.concatenate(part, axis=-1) for part in parts)
    weights = np.zeros(len(some))
    for _ in range(20):
        P = expit(offset + weights @ F)
        gradient = F @ (y - P) - ridge * weights
        H = (F * (P * (1.0 - P))) @ F.T + ridge * np.eye(len(some))
        step = np.linalg.solve(H, gradient)
        weights += step
        if np.abs(step).max() < 1e-4:
            break
    return weights


def fit_gates(entries: list[Entries], weights: Array, q: int) -> Array:
    """Return factors of the shifts of labels, by Newton's method, with a prior at 1."""
    parts = [(e, np.tensordot(weights, e.features, 1)) for e in entries]
    # A label that is missing has no part in it.
    parts = [(e, np.where(np.isnan(e.labels), 0.0, D)) for e, D in parts]
    gates = np.ones(q)
    for _ in range(20):
        gradient, second = GATE_PRIOR * (1.0 - gates), np.full(q, GATE_PRIOR)
        for e, D in parts:
            P = expit(e.log_odds + gates[e.columns] * D)
            gradient[e.columns] += np.nansum(D * (e.labels - P), axis=0)
            second[e.columns] += (D * D * P * (1.0 - P)).sum(axis=0)
        step = gradient / second
        gates += step
        if np.abs(step).max() < 1e-4:
            break
    return np.maximum(gates, 0.0)


def _fitted_loss(entries: list[Entries]) -> float:
    return _loss(entries, _fit_weights(entries))


def _loss(entries: list[Entries], weights: Array) -> float:
    return float(sum(e.row_losses(weights).sum() for e in entries))
