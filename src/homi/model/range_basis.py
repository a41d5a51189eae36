"""Orthonormal basis of the leading directions of wide rows."""

from __future__ import annotations

import numpy as np

from homi.linalg import Array
from homi.typing import Matrix


class RangeBasis:
    """Directions in which rows vary most, by random projections and one power step.

    It does not depend on labels, so that leave-one-out scores stay honest.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
        Rows; they are not centered, so that sparse ones stay sparse.
    scale : ndarray of shape (n_features,)
        What features are divided by.
    size : int
        Number of directions.
    seed : int

    References
    ----------
    N. Halko, P. G. Martinsson, J. A. Tropp. Finding Structure with Randomness. SIAM
    Review 53 (2011): algorithm 4.4.
    """

    def __init__(self, X: Matrix, scale: Array, size: int, seed: int) -> None:
        def back(A: Array) -> Array:
            return np.asarray(X.T @ A) / scale[:, None]

        rng = np.random.default_rng(seed)
        Q = np.linalg.qr(back(rng.normal(size=(X.shape[0], size))))[0]
        self._Q = np.linalg.qr(back(np.asarray(X @ (Q / scale[:, None]))))[0]

    def written_out(self) -> Array:
        """Return the basis as an array of shape (n_features, size)."""
        return self._Q

    def widen(self, W: Array, out: Array) -> Array:
        """Compute ``out = QW``."""
        return np.matmul(self._Q, W, out=out)
