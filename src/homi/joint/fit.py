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
from homi.joint.low_rank import Covariance
from homi.joint.model import GaussianShift, JointModel, Weights, set_log_odds
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
) -> tuple[Covariance, LabelSets]:
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

    def flat(self) -> tuple[Array, Array, Array]:
        """Return features, log-odds and labels of all entries that are there."""
        seen = ~np.isnan(self.labels)
        return self.features[:, seen], self.log_odds[seen], self.labels[seen]

    def row_losses(self, weights: Array) -> Array:
        """Return the log-loss of each row."""
        scores = self.log_odds + np.einsum("d,dnu->nu", weights, self.features)
        losses = _losses(scores, self.labels)
        return np.where(np.isnan(losses), 0.0, losses).sum(axis=1)


class Flat(NamedTuple):
    """Features (d, N), log-odds and labels of all hidden labels that are there."""

    features: Array
    log_odds: Array
    labels: Array

    @classmethod
    def of(cls, entries: list[Entries]) -> Flat:
        """Return those of all masks of both halves."""
        parts = zip(*(e.flat() for e in entries), strict=True)
        return cls(*(np.concatenate(part, axis=-1) for part in parts))

    def loss(self, weights: Array) -> float:
        """Return the sum of log-losses."""
        scores = self.log_odds + weights @ self.features
        return float(_losses(scores, self.labels).sum())


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
        flat = Flat.of(entries)
        weights = _fit_weights(flat)
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
        loss = flat.loss(weights if helps else nothing)
        return loss, Weights(*map(float, weights)) if helps else NO_EFFECT


class _Side(NamedTuple):
    """Rows of one half, with what was learned from the other half."""

    log_odds: Array
    Y: Array
    residuals: Array
    gaussian: GaussianShift
    covariance: Covariance
    sets: LabelSets

    def by_gaussian(self, C: Covariance, k: Mask) -> Entries:
        """Return the labels outside k, with the shift that those in k cause."""
        known = k & ~np.isnan(self.Y)
        residuals = np.where(k, self.residuals, 0.0)
        shift = conditional_shift(C, residuals, known)
        S, change = self.log_odds[:, ~k], self.gaussian(shift, ~k)
        share = known.mean(axis=1, keepdims=True)
        features = np.stack([S * share, change])
        return Entries(features, S, self.Y[:, ~k], np.flatnonzero(~k))

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
    S, labels = log_odds[judged], Y[judged]
    E = scaled_residuals(S, labels)
    return _Side(S, labels, E, GaussianShift(S), C, sets)


def _masks(q: int) -> list[Mask]:
    """Return sets of known labels; all rows of a half share a set, and its factor."""
    rng = np.random.default_rng(0)
    repeats = int(np.clip(24 // q, 2, 4))
    masks = []
    for share in _SHARES * repeats:
        count = int(np.clip(round(share * q), 1, q - 1))
        masks.append(np.isin(np.arange(q), rng.permutation(q)[:count]))
    return masks


def _fit_weights(flat: Flat) -> Array:
    """Return the weights of greatest likelihood; those of shifts are not negative."""
    some = np.arange(len(flat.features))
    while True:
        weights = np.zeros(len(flat.features))
        weights[some] = _newton(flat, some)
        wrong = some[(weights[some] < 0) & (some > 0)]
        if not len(wrong):
            return weights
        some = np.setdiff1d(some, wrong)


def _newton(flat: Flat, some: Indices, ridge: float = 1.0) -> Array:
    """Return the weights of some features by Newton's method."""
    F, weights = flat.features[some], np.zeros(len(some))
    for _ in range(20):
        P = expit(flat.log_odds + weights @ F)
        gradient = F @ (flat.labels - P) - ridge * weights
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
    flat = Flat.of(entries)
    return flat.loss(_fit_weights(flat))


def _losses(scores: Array, labels: Array) -> Array:
    """``log(1 + exp(s)) - y s``."""
    found: Array = np.log1p(np.exp(-np.abs(scores)))
    found += np.maximum(scores, 0.0) - labels * scores
    return found
