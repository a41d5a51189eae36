"""Features at unit variance for classifiers that need the rows themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import StandardScaler


class Scaler:
    """Rows -> rows with variance 1, and mean 0 unless it was given sparse ones.

    Classifiers with an intercept that costs nothing learn the same from both.

    Attributes
    ----------
    mean : ndarray of shape (n_features,)
        Of the rows that it was given.
    shift, scale : ndarray of shape (n_features,)
        A row x becomes ``(x - shift) / scale``.
    """

    def __init__(self, X: Any, weights: Any = None):
        found = StandardScaler(with_mean=False).fit(X, sample_weight=weights)
        self.mean, self.scale = found.mean_, found.scale_
        self.shift = np.zeros_like(found.mean_) if sparse.issparse(X) else found.mean_

    @classmethod
    def restore(cls, mean: Any, shift: Any, scale: Any) -> Scaler:
        """Return a Scaler with the attributes of an earlier one."""
        scaler = cls.__new__(cls)
        scaler.mean, scaler.shift, scaler.scale = mean, shift, scale
        return scaler

    def __call__(self, X: Any) -> Any:
        if not sparse.issparse(X):
            return (X - self.shift) / self.scale
        if not self.shift.any():
            return sparse.csr_array(X.multiply(1.0 / self.scale))
        # It was given dense rows of this many columns before.
        return (X.toarray() - self.shift) / self.scale
