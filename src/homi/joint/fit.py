"""Fit the joint model to held-out log-odds: each half of the rows judges the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from homi.joint.gaussian import (
    conditional_shift,
    covariance,
    scaled_residuals,
    shrunk,
)
from homi.joint.label_sets import SHARPNESS, LabelSets, Sharpness, seen_sets
from homi.joint.model import JointModel, Weights, gaussian_shift, shifts
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
    rises by more than one standard error.

    Parameters
    ----------
    log_odds : ndarray of shape (n_samples, n_labels)
        Log-odds of rows that the classifier was not fitted to. In-sample log-odds
        leave no errors to learn from.
    Y : ndarray of shape (n_samples, n_labels)
        Labels, 0 or 1.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows.
    least_rows : int, default=1
        Label sets of fewer rows are not kept, so that no label set of a single row can
        be read from the model.

    Returns
    -------
    model : JointModel
    """
    E = scaled_residuals(log_odds, Y)
    C = covariance(E, sample_weight)
    sets = seen_sets(Y, sample_weight, least_rows=least_rows)
    n, q = Y.shape
    if n < _LEAST_ROWS or q < 2:
        return JointModel(shrunk(C, _STRENGTHS[-1]), sets, SHARPNESS[0], NO_EFFECT)
    trial = _Trial(log_odds, Y, sample_weight, _masks(q), least_rows)
    strength = min(_STRENGTHS, key=trial.gaussian_loss)
    fits = [trial.fit(strength, sharpness) for sharpness in SHARPNESS]
    best = min(range(len(fits)), key=lambda i: fits[i][0])
    return JointModel(shrunk(C, strength), sets, SHARPNESS[best], fits[best][1])


class _Entries(NamedTuple):
    """Hidden labels of a half: features (d, n, u), log-odds and labels (n, u)."""

    features: Array
    log_odds: Array
    labels: Array


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

    def gaussian_loss(self, strength: float) -> float:
        """Return the loss of hidden labels by the Gaussian alone."""
        entries = list(self._entries(strength, None))
        return _loss(entries, _fit_weights(entries))

    def fit(self, strength: float, sharpness: Sharpness) -> tuple[float, Weights]:
        """Return the loss, and the weights: 0 where they help less than noise."""
        entries = list(self._entries(strength, sharpness))
        weights = _fit_weights(entries)
        nothing = np.zeros_like(weights)
        gains = np.concatenate(
            [
                sum(_row_losses(e, nothing) - _row_losses(e, weights) for e in side)
                for side in (
                    entries[: len(self.masks)],
                    entries[len(self.masks) :],
                )
            ]
        )
        helps = gains.mean() > gains.std() / np.sqrt(len(gains))
        loss = _loss(entries, weights if helps else nothing)
        return loss, Weights(*map(float, weights)) if helps else NO_EFFECT

    def _entries(
        self, strength: float, sharpness: Sharpness | None
    ) -> Iterator[_Entries]:
        for side in self.sides:
            C = shrunk(side.covariance, strength)
            for k in self.masks:
                yield side.entries(C, k, sharpness)


class _Side(NamedTuple):
    """Rows of one half, with what was learned from the other half."""

    log_odds: Array
    Y: Array
    covariance: Array
    sets: LabelSets

    def entries(self, C: Array, k: Mask, sharpness: Sharpness | None) -> _Entries:
        """Return the labels outside k, with the shifts that those in k cause."""
        S, Y = self.log_odds, np.where(k, self.Y, np.nan)
        if sharpness is None:
            known = np.broadcast_to(k, Y.shape)
            E = scaled_residuals(S, Y)
            shift = gaussian_shift(S, conditional_shift(C, E, known))
            parts: tuple[Array, ...] = (S * k.mean(), shift)
        else:
            model = JointModel(C, self.sets, sharpness, NO_EFFECT)
            parts = shifts(model, S, Y)
        features = np.stack([part[:, ~k] for part in parts])
        return _Entries(features, S[:, ~k], self.Y[:, ~k])


def _side(
    log_odds: Array,
    Y: Array,
    weights: Array | None,
    fitted: Indices,
    judged: Indices,
    least_rows: int,
) -> _Side:
    w = None if weights is None else weights[fitted]
    E = scaled_residuals(log_odds[fitted], Y[fitted])
    C = covariance(E, w)
    return _Side(
        log_odds[judged], Y[judged], C, seen_sets(Y[fitted], w, least_rows=least_rows)
    )


def _masks(q: int) -> list[Mask]:
    """Return sets of known labels; all rows of a half share a set, and its factor."""
    rng = np.random.default_rng(0)
    repeats = int(np.clip(24 // q, 2, 4))
    masks = []
    for share in _SHARES * repeats:
        count = int(np.clip(round(share * q), 1, q - 1))
        masks.append(np.isin(np.arange(q), rng.permutation(q)[:count]))
    return masks


def _fit_weights(entries: list[_Entries]) -> Array:
    """Return the weights of greatest likelihood; those of shifts are not negative."""
    some = np.arange(len(entries[0].features))
    while True:
        weights = np.zeros(len(entries[0].features))
        weights[some] = _newton(entries, some)
        wrong = some[(weights[some] < 0) & (some > 0)]
        if not len(wrong):
            return weights
        some = np.setdiff1d(some, wrong)


def _newton(entries: list[_Entries], some: Indices, ridge: float = 1.0) -> Array:
    """Return the weights of some features by Newton's method."""
    F = np.hstack([e.features[some].reshape(len(some), -1) for e in entries])
    offset = np.concatenate([e.log_odds.ravel() for e in entries])
    y = np.concatenate([e.labels.ravel() for e in entries])
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


def _row_losses(e: _Entries, weights: Array) -> Array:
    """Return the log-loss of each row."""
    scores = e.log_odds + np.tensordot(weights, e.features, 1)
    losses: Array = (np.logaddexp(0.0, scores) - e.labels * scores).sum(axis=1)
    return losses


def _loss(entries: list[_Entries], weights: Array) -> float:
    return float(sum(_row_losses(e, weights).sum() for e in entries))
