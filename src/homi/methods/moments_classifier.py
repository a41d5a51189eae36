"""Base class of linear classifiers that are fitted to moments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral, Real

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from homi.base._compat import Interval
from homi.base.classifier import LinearMultiLabelClassifier
from homi.base.weights import SampleWeightMixin
from homi.moments import Moments
from homi.typing import Array, Matrix
from homi.warn import warn


@dataclass(frozen=True)
class Scaling:
    """Scaling of features and labels: ``(x - shift) / scale`` and ``y - offset``."""

    shift: Array
    scale: Array
    offset: Array


def label_counts(moments: Moments, scaling: Scaling) -> Array:
    """Return ``YᵀY`` of the uncentered labels."""
    return moments.YtY + moments.n * np.outer(scaling.offset, scaling.offset)


class MomentsClassifier(SampleWeightMixin, LinearMultiLabelClassifier):
    """Base class of linear classifiers that need only the moments of the rows.

    A subclass has the parameters ``standardize``, ``fit_intercept``, ``max_iter`` and
    ``tol``.
    """

    _parameter_constraints = {
        "fit_intercept": ["boolean"],
        "standardize": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    standardize: bool
    fit_intercept: bool
    max_iter: int
    tol: float

    def _prepare(
        self, X: Matrix, Y: Matrix, weights: Array | None
    ) -> tuple[Moments, Scaling]:
        """Return scaled moments, and the scaling.

        With an intercept, features and labels are centered, which eliminates it.
        Without one, standardized features are centered and labels are not.
        """
        moments = Moments.from_rows(X, Y, weights)
        m, q = moments.Sxy.shape
        centered = self.standardize or self.fit_intercept
        scaling = Scaling(
            shift=moments.x_mean if centered else np.zeros(m),
            scale=moments.scale() if self.standardize else np.ones(m),
            offset=moments.y_mean if self.fit_intercept else np.zeros(q),
        )
        if self.standardize:
            moments = moments.standardized()
        if self.fit_intercept:
            moments = replace(moments, x_mean=np.zeros(m), y_mean=np.zeros(q))
        return moments, scaling

    def _store(self, W: Array, scaling: Scaling, threshold: float = 0.5) -> None:
        """Set the coefficients of unscaled features, given W (m, l) of scaled ones."""
        W = W / scaling.scale[:, None]
        self.coef_ = np.ascontiguousarray(W.T)
        self.intercept_ = scaling.offset - scaling.shift @ W - threshold

    def _warn_if_not(self, converged: bool) -> None:
        if not converged:
            warn(
                f"{type(self).__name__} did not converge to tol={self.tol:g} within "
                f"max_iter={self.max_iter} iterations; increase either.",
                ConvergenceWarning,
            )
