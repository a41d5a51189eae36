"""Scale features to unit variance for classifiers that use rows, not moments."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from homi.arrays import dense
from homi.typing import Array, Matrix


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

    def __init__(self, X: Matrix, weights: Array | None = None) -> None:
        found = StandardScaler(with_mean=False).fit(X, sample_weight=weights)
        self.mean, self.scale = found.mean_, found.scale_
        self.shift = np.zeros_like(found.mean_) if sparse.issparse(X) else found.mean_

    @classmethod
    def restore(cls, mean: Array, shift: Array, scale: Array) -> Scaler:
        """Return a Scaler with the attributes of an earlier one."""
        scaler = cls.__new__(cls)
        scaler.mean, scaler.shift, scaler.scale = mean, shift, scale
        return scaler

    def __call__(self, X: Matrix) -> Matrix:
        """Return the scaled rows."""
        if not sparse.issparse(X):
            return (X - self.shift) / self.scale
        if not self.shift.any():
            return sparse.csr_array(X.multiply(1.0 / self.scale))
        # It was fitted to dense rows, so a dense array of this width fits in memory.
        return (dense(X) - self.shift) / self.scale
