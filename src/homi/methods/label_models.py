"""Label models of binary relevance and classifier chains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from homi.arrays import dense
from homi.base.classifier import strictly_inside
from homi.base.scaling import Scaler
from homi.linear import (
    LinearMargins,
    LossName,
    Sigmoids,
    fit_margins,
    fit_sigmoids,
    held_out_margins,
)
from homi.typing import Array, Indices, Mask, Matrix
from homi.warn import warn

#: Function that returns an unfitted classifier of labels, none of them constant.
Make = Callable[[Indices], BaseEstimator]

L = TypeVar("L", bound="LabelModel")

#: Factor of the tolerance in inner folds: they serve to fit two numbers per label.
_LOOSE = 10.0


class LabelModel(Protocol):
    """A fitted model of all labels."""

    def margins(self, X: Matrix) -> Array:
        """Return scores, above 0 where a label is predicted."""

    def probabilities(self, X: Matrix) -> Array:
        """Return probabilities, strictly between 0 and 1."""

    def unscaled(self, scaler: Scaler) -> Self:
        """Return the model for unscaled rows, if this one was fitted to scaled rows."""


def undo_scaling(model: L, scaler: Scaler | None) -> L:
    """Return the model for unscaled rows."""
    return model if scaler is None else model.unscaled(scaler)


class LinearModel(NamedTuple):
    """Linear margins with sigmoids that map them to probabilities."""

    linear: LinearMargins
    sigmoids: Sigmoids

    def margins(self, X: Matrix) -> Array:
        """Return scores, above 0 where a label is predicted."""
        return self.linear(X)

    def probabilities(self, X: Matrix) -> Array:
        """Return probabilities, strictly between 0 and 1."""
        return self.sigmoids(self.linear(X))

    def unscaled(self, scaler: Scaler) -> LinearModel:
        """Return the model for unscaled rows."""
        return self._replace(linear=unscaled(self.linear, scaler))


def fit_linear(
    X: Matrix,
    Y: Matrix,
    *,
    C: float,
    loss: LossName,
    tol: float,
    rng: np.random.RandomState,
    draws: Indices | None = None,
    weights: Array | None = None,
    allowed: Mask | None = None,
    n_jobs: int | None = None,
) -> LinearModel:
    """Fit linear classifiers and their sigmoids.

    The log loss models probabilities. For the squared hinge loss, Platt's sigmoids are
    fitted to margins from three inner folds. ``draws`` are indices of the training
    rows, possibly repeated; None means each row once.
    """
    fit = partial(
        _fit_draws,
        X,
        Y,
        weights,
        C=C,
        loss=loss,
        allowed=allowed,
        n_jobs=n_jobs,
    )
    draws = np.arange(X.shape[0]) if draws is None else draws
    linear = fit(draws, tol=tol)
    _warn_of_unfinished(linear)
    w = None if weights is None else weights[draws]
    if loss == "log":
        return LinearModel(linear, _logistic(Y[draws], w))
    loose = partial(fit, tol=_LOOSE * tol)
    held_out = held_out_margins(X, Y.shape[1], loose, draws=draws, rng=rng)
    cells = None if w is None else np.broadcast_to(w[:, None], held_out.shape)
    return LinearModel(linear, fit_sigmoids(held_out, Y[draws], cells))


def _fit_draws(
    X: Matrix, Y: Matrix, weights: Array | None, draws: Indices, **options: Any
) -> LinearMargins:
    """Fit margins to the drawn rows; a row drawn twice has twice its weight."""
    rows, counts = np.unique(draws, return_counts=True)
    weight = counts.astype(np.float64) if counts.max() > 1 else None
    if weights is not None:
        weight = counts * weights[rows]
    if len(rows) < X.shape[0]:
        X, Y = X[rows], Y[rows]
    return fit_margins(X, Y, weight=weight, **options)


def unscaled(linear: LinearMargins, scaler: Scaler) -> LinearMargins:
    """Return margins of unscaled rows, given margins of scaled rows."""
    coef = linear.coef / scaler.scale[:, None]
    return linear._replace(coef=coef, intercept=linear.intercept - scaler.shift @ coef)


def _logistic(Y: Matrix, weights: Array | None) -> Sigmoids:
    """Return ``1 / (1 + exp(-f))``; Laplace's rule of succession if constant."""
    w = np.ones(Y.shape[0]) if weights is None else weights
    n, positives = w.sum(), np.asarray(Y.T @ w, dtype=np.float64)
    varied = (positives > 0) & (positives < n)
    log_odds_against = np.log((n - positives + 1.0) / (positives + 1.0))
    return Sigmoids(
        np.where(varied, -1.0, 0.0), np.where(varied, 0.0, log_odds_against)
    )


def _warn_of_unfinished(linear: LinearMargins) -> None:
    if linear.unfinished:
        warn(
            f"the linear classifiers of {linear.unfinished} of {len(linear.intercept)} "
            "labels did not converge; increase tol, decrease C, or scale the features.",
            ConvergenceWarning,
        )


@dataclass(frozen=True)
class WrappedModel:
    """A scikit-learn classifier of the varying labels, and constants for the rest.

    Attributes
    ----------
    classifier : object
        Fitted to the varying labels; None if there are none.
    varied : ndarray
        Indices of these labels.
    constant, share : ndarray of shape (n_labels,)
        Margins and probabilities of the constant labels.
    sigmoids : Sigmoids or None
        Maps margins to probabilities, if the classifier has no ``predict_proba``.
    scaler : Scaler or None
        Scaling of the rows.
    """

    classifier: BaseEstimator
    varied: Indices
    constant: Array
    share: Array
    sigmoids: Sigmoids | None = None
    scaler: Scaler | None = None

    def margins(self, X: Matrix) -> Array:
        """Return scores, above 0 where a label is predicted."""
        X, F = self._rows(X), np.tile(self.constant, (X.shape[0], 1))
        if hasattr(self.classifier, "decision_function"):
            F[:, self.varied] = self._columns(self.classifier.decision_function(X))
        elif self.classifier is not None:
            F[:, self.varied] = self._columns(self.classifier.predict_proba(X)) - 0.5
        return F

    def probabilities(self, X: Matrix) -> Array:
        """Return probabilities, strictly between 0 and 1."""
        if self.sigmoids is not None:
            return self.sigmoids(self.margins(X))
        X, P = self._rows(X), np.tile(self.share, (X.shape[0], 1))
        if self.classifier is not None:
            P[:, self.varied] = self._columns(self.classifier.predict_proba(X))
        return strictly_inside(P)

    def unscaled(self, scaler: Scaler) -> WrappedModel:
        """Return the model for unscaled rows."""
        return replace(self, scaler=scaler)

    def _rows(self, X: Matrix) -> Matrix:
        return X if self.scaler is None else self.scaler(X)

    def _columns(self, values: Array) -> Array:
        # A single label is returned as 1-D, or after the column of class 0.
        return values.reshape(len(values), -1)[:, -len(self.varied) :]


def fit_wrapped(
    make: Make, X: Matrix, Y: Matrix, rng: np.random.RandomState
) -> WrappedModel:
    """Fit a classifier, and Platt's sigmoids if it has no ``predict_proba``."""
    Y = dense(Y).astype(int)
    model = _fit(make, X, Y)
    if model.classifier is None or hasattr(model.classifier, "predict_proba"):
        return model

    def fit(rows: Indices) -> Callable[[Matrix], Array]:
        return _fit(make, X[rows], Y[rows]).margins

    held_out = held_out_margins(X, Y.shape[1], fit, rng=rng)
    return replace(model, sigmoids=fit_sigmoids(held_out, Y))


def _fit(make: Make, X: Matrix, Y: Indices) -> WrappedModel:
    n, counts = len(Y), Y.sum(axis=0)
    varied = np.flatnonzero((counts > 0) & (counts < n))
    classifier = make(varied).fit(X, Y[:, varied]) if len(varied) else None
    constant = np.where(counts > 0, 1.0, -1.0)
    return WrappedModel(classifier, varied, constant, (counts + 1.0) / (n + 2.0))
