"""Linear margins of all labels, with sigmoids that make probabilities of them."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from homi.base.scaling import Scaler
from homi.linear import (
    LinearMargins,
    LossName,
    Sigmoids,
    fit_margins,
    fit_sigmoids,
    held_out_margins,
)

Array = NDArray[np.float64]

#: Inner folds end at this many times the tolerance: two numbers are learnt from them.
_LOOSE = 10.0


class LinearModel(NamedTuple):
    """Linear margins, and their sigmoids."""

    linear: LinearMargins
    sigmoids: Sigmoids

    def margins(self, X: Any) -> Array:
        """Scores, above 0 where a label is predicted."""
        return self.linear(X)

    def probabilities(self, X: Any) -> Array:
        """Probabilities, strictly between 0 and 1."""
        return self.sigmoids(self.linear(X))

    def unscaled(self, scaler: Scaler) -> LinearModel:
        """The same for rows as given, if it was fitted to scaled ones."""
        return self._replace(linear=unscaled(self.linear, scaler))


def fit_linear(
    X: Any,
    Y: Any,
    *,
    C: float,
    loss: LossName,
    tol: float,
    rng: np.random.RandomState,
    draws: NDArray[np.intp] | None = None,
    allowed: NDArray[np.bool_] | None = None,
    n_jobs: int | None = None,
) -> LinearModel:
    """Fit linear classifiers, and probabilities.

    Those of the log loss are its own. For the squared hinge, Platt's sigmoids are
    fitted on margins from three inner folds. ``draws`` are numbers of rows to learn
    from, of which some may come more than once; None for each row once.
    """
    fit = partial(_fit_draws, X, Y, C=C, loss=loss, allowed=allowed, n_jobs=n_jobs)
    draws = np.arange(X.shape[0]) if draws is None else draws
    linear = fit(draws, tol=tol)
    _warn_of_unfinished(linear)
    if loss == "log":
        return LinearModel(linear, _logistic(Y[draws]))
    loose = partial(fit, tol=_LOOSE * tol)
    held_out = held_out_margins(X, Y.shape[1], loose, draws=draws, rng=rng)
    return LinearModel(linear, fit_sigmoids(held_out, Y[draws]))


def _fit_draws(
    X: Any, Y: Any, draws: NDArray[np.intp], **options: Any
) -> LinearMargins:
    """Margins learnt from these rows; one that comes twice is read once."""
    rows, counts = np.unique(draws, return_counts=True)
    weight = counts.astype(np.float64) if counts.max() > 1 else None
    if len(rows) < X.shape[0]:
        X, Y = X[rows], Y[rows]
    return fit_margins(X, Y, weight=weight, **options)


def unscaled(linear: LinearMargins, scaler: Scaler) -> LinearMargins:
    """Margins of rows as given, from margins of scaled ones."""
    coef = linear.coef / scaler.scale[:, None]
    return linear._replace(coef=coef, intercept=linear.intercept - scaler.shift @ coef)


def _logistic(Y: Any) -> Sigmoids:
    """1 / (1 + exp(-f)), but Laplace's rule of succession for constant labels."""
    n = Y.shape[0]
    positives = np.asarray(Y.sum(axis=0), dtype=np.float64).ravel()
    varied = (positives > 0) & (positives < n)
    log_odds_against = np.log((n - positives + 1.0) / (positives + 1.0))
    return Sigmoids(
        np.where(varied, -1.0, 0.0), np.where(varied, 0.0, log_odds_against)
    )


def _warn_of_unfinished(linear: LinearMargins) -> None:
    if linear.unfinished:
        warnings.warn(
            f"the linear classifiers of {linear.unfinished} of {len(linear.intercept)} "
            "labels did not converge; increase tol, decrease C, or scale the features.",
            ConvergenceWarning,
            stacklevel=2,
        )
