"""Linear classifiers learnt from moments: regression on 0/1 labels, cut at ½."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from homi.base.classifier import LinearMultiLabelClassifier
from homi.moments import Moments
from homi.typing import Array, Matrix


@dataclass(frozen=True)
class Units:
    """How the features that a method works on follow from those that were given.

    The method sees ``(x - shift) / scale`` and explains ``y - offset``.
    """

    shift: Array
    scale: Array
    offset: Array


def label_counts(moments: Moments, units: Units) -> Array:
    """``YᵀY`` of the labels as they are, also where the moments are of centred ones."""
    return moments.YtY + moments.n * np.outer(units.offset, units.offset)


class MomentsClassifier(LinearMultiLabelClassifier):
    """A method that needs the rows only as moments, and gives coefficients.

    A subclass has the parameters ``standardize`` and ``fit_intercept``.
    """

    def _prepare(self, X: Matrix, Y: Matrix) -> tuple[Moments, Units]:
        """Moments in the method's units, where ``G``, ``C`` and ``YtY`` are the rest.

        With an intercept, features and labels are centred: that solves for it.
        Without one, standardised features are centred and labels are not.
        """
        moments = Moments.from_rows(X, Y)
        m, q = moments.Sxy.shape
        centred = self.standardize or self.fit_intercept
        units = Units(
            shift=moments.x_mean if centred else np.zeros(m),
            scale=moments.scale() if self.standardize else np.ones(m),
            offset=moments.y_mean if self.fit_intercept else np.zeros(q),
        )
        if self.standardize:
            moments = moments.standardized()
        if self.fit_intercept:
            moments = replace(moments, x_mean=np.zeros(m), y_mean=np.zeros(q))
        return moments, units

    def _store(self, W: Array, units: Units, threshold: float = 0.5) -> None:
        """Keep coefficients W (m, l) of the method's units in those of the rows."""
        W = W / units.scale[:, None]
        self.coef_ = np.ascontiguousarray(W.T)
        self.intercept_ = units.offset - units.shift @ W - threshold

    def _warn_if_not(self, converged: bool) -> None:
        if not converged:
            warnings.warn(
                f"{type(self).__name__} ended after max_iter={self.max_iter} "
                f"iterations without reaching tol={self.tol:g}; increase either.",
                ConvergenceWarning,
                stacklevel=5,
            )
