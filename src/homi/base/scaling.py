"""Scale features to unit variance for classifiers that use rows, not moments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from homi.arrays import dense
from homi.typing import Array, Matrix


@dataclass(frozen=True, eq=False)
class Scaler:
    """Scale rows to variance 1, and to mean 0 if it was fitted to dense rows.

    A classifier whose intercept is not penalized learns the same from both.

    Attributes
    ----------
    mean : ndarray of shape (n_features,)
        Means of the rows that it was fitted to.
    shift, scale : ndarray of shape (n_features,)
        A row x becomes ``(x - shift) / scale``.
    """

    mean: Array
    shift: Array
    scale: Array

    @classmethod
    def fit(cls, X: Matrix, weights: Array | None = None) -> Scaler:
        """Return the scaler of rows."""
        found = StandardScaler(with_mean=False).fit(X, sample_weight=weights)
        shift = np.zeros_like(found.mean_) if sparse.issparse(X) else found.mean_
        return cls(found.mean_, shift, found.scale_)

    def __call__(self, X: Matrix) -> Matrix:
        """Return the scaled rows."""
        if not sparse.issparse(X):
            return (X - self.shift) / self.scale
        if not self.shift.any():
            return sparse.csr_array(X.multiply(1.0 / self.scale))
        # It was fitted to dense rows, so a dense array of this width fits in memory.
        return (dense(X) - self.shift) / self.scale
