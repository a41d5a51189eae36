"""scikit-learn's multi-label classifiers, safe for labels that are constant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from homi.arrays import dense
from homi.base.scaling import Scaler
from homi.linear import Sigmoids, fit_sigmoids, held_out_margins

Array = NDArray[np.float64]

#: From the labels that vary to a classifier of these, to be fitted.
Make = Callable[[NDArray[np.intp]], Any]


@dataclass(frozen=True)
class WrappedModel:
    """A classifier of the labels that vary, and what is known of the rest.

    Attributes
    ----------
    classifier : object
        Fitted to the labels that vary; None if there are none.
    varied : ndarray
        These labels.
    constant, share : ndarray of shape (n_labels,)
        Margins and probabilities of the others.
    sigmoids : Sigmoids or None
        From margins to probabilities, if the classifier has none of its own.
    scaler : Scaler or None
        What rows go through first.
    """

    classifier: Any
    varied: NDArray[np.intp]
    constant: Array
    share: Array
    sigmoids: Sigmoids | None = None
    scaler: Scaler | None = None

    def margins(self, X: Any) -> Array:
        """Scores, above 0 where a label is predicted."""
        X, F = self._rows(X), np.tile(self.constant, (X.shape[0], 1))
        if hasattr(self.classifier, "decision_function"):
            F[:, self.varied] = self._columns(self.classifier.decision_function(X))
        elif self.classifier is not None:
            F[:, self.varied] = self._columns(self.classifier.predict_proba(X)) - 0.5
        return F

    def probabilities(self, X: Any) -> Array:
        """Probabilities, strictly between 0 and 1."""
        if self.sigmoids is not None:
            return self.sigmoids(self.margins(X))
        X, P = self._rows(X), np.tile(self.share, (X.shape[0], 1))
        if self.classifier is not None:
            P[:, self.varied] = self._columns(self.classifier.predict_proba(X))
        return np.clip(P, np.nextafter(0.0, 1.0), np.nextafter(1.0, 0.0))

    def unscaled(self, scaler: Scaler) -> WrappedModel:
        """The same for rows as given, if it was fitted to scaled ones."""
        return replace(self, scaler=scaler)

    def _rows(self, X: Any) -> Any:
        return X if self.scaler is None else self.scaler(X)

    def _columns(self, values: Array) -> Array:
        # A single label comes back as one dimension, or beside its complement.
        return values.reshape(len(values), -1)[:, -len(self.varied) :]


def fit_wrapped(make: Make, X: Any, Y: Any, rng: np.random.RandomState) -> WrappedModel:
    """Fit a classifier, and Platt's sigmoids if it has no probabilities."""
    Y = dense(Y).astype(int)
    model = _fit(make, X, Y)
    if model.classifier is None or hasattr(model.classifier, "predict_proba"):
        return model

    def fit(rows: NDArray[np.intp]) -> Callable[[Any], Array]:
        return _fit(make, X[rows], Y[rows]).margins

    held_out = held_out_margins(X, Y.shape[1], fit, rng=rng)
    return replace(model, sigmoids=fit_sigmoids(held_out, Y))


def _fit(make: Make, X: Any, Y: NDArray[Any]) -> WrappedModel:
    n, counts = len(Y), Y.sum(axis=0)
    varied = np.flatnonzero((counts > 0) & (counts < n))
    classifier = make(varied).fit(X, Y[:, varied]) if len(varied) else None
    constant = np.where(counts > 0, 1.0, -1.0)
    return WrappedModel(classifier, varied, constant, (counts + 1.0) / (n + 2.0))
