"""Low rank plus diagonal: a covariance of thousands of labels, ``D + VVᵀ``.

No array of labels × labels is made, and conditionals solve systems of the rank's size.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from numpy.typing import DTypeLike
from sklearn.utils.extmath import randomized_svd

from homi.typing import Array, Mask

#: With more labels than this, the covariance has low rank plus a diagonal.
MANY_LABELS = 2000
#: Its rank.
RANK = 200


@dataclass(frozen=True, eq=False)
class LowRank:
    """The covariance ``D + VVᵀ`` of labels.

    Attributes
    ----------
    factors : ndarray of shape (n_labels, rank)
        V.
    variances : ndarray of shape (n_labels,)
        Diagonal of D: what the factors leave of each variance.
    """

    factors: Array
    variances: Array

    @classmethod
    def of(cls, E: Array, squares: Array, rank: int = RANK) -> LowRank:
        """Approximate ``EᵀE``, whose diagonal is ``squares``; exact with full rank."""
        if rank >= min(E.shape):
            _, s, Vt = scipy.linalg.svd(E, full_matrices=False)
        else:
            _, s, Vt = randomized_svd(E, rank, n_iter=2, random_state=0)
        V = np.ascontiguousarray(Vt.T * s)
        return cls(V, np.maximum(squares - _squares(V), 0.0))

    def __len__(self) -> int:
        """Return the number of labels."""
        return len(self.variances)

    def __array__(
        self, dtype: DTypeLike | None = None, copy: bool | None = None
    ) -> Array:
        """Return the covariance as an array."""
        C = self.factors @ self.factors.T
        C[np.diag_indices_from(C)] += self.variances
        found: Array = C.astype(dtype, copy=False)
        return found

    def with_diagonal(self, extra: Array) -> LowRank:
        """Return the covariance with more on its diagonal."""
        return replace(self, variances=self.variances + extra)

    def diagonal(self) -> Array:
        """Return the variances of the labels."""
        return self.variances + _squares(self.factors)

    def with_label(self) -> LowRank:
        """Return the covariance with a label of variance 1 that is independent."""
        V = np.pad(self.factors, ((0, 1), (0, 0)))
        return LowRank(V, np.append(self.variances, 1.0))

    def shift(self, residuals: Array, k: Mask) -> Array:
        """``V_U (I + V_Kᵀ D_K⁻¹ V_K)⁻¹ V_Kᵀ D_K⁻¹ e_K``, by Woodbury's identity."""
        scaled = self.factors[k] / self.variances[k, None]
        means: Array = self._solve(k, (residuals @ scaled).T)
        return (self.factors[~k] @ means).T

    def leave_one_out(self, E: Array, k: Mask) -> Array:
        """``e_j - (e C_KK⁻¹)_j / (C_KK⁻¹)_jj`` with C_KK⁻¹ by Woodbury's identity."""
        scaled = self.factors[k] / self.variances[k, None]
        own = 1.0 / self.variances[k]
        solved = self._solve(k, scaled.T)
        products = E * own - (E @ scaled) @ solved
        diagonal = own - np.einsum("jr,rj->j", scaled, solved)
        return E - products / diagonal

    def conditional(self, k: Mask) -> Array:
        """``D_U + V_U (I + V_Kᵀ D_K⁻¹ V_K)⁻¹ V_Uᵀ``: covariance of unknown labels."""
        V = self.factors[~k]
        C: Array = V @ self._solve(k, V.T)
        C[np.diag_indices_from(C)] += self.variances[~k]
        return C

    def _solve(self, k: Mask, right: Array) -> Array:
        """``(I + V_Kᵀ D_K⁻¹ V_K)⁻¹ right``."""
        root = self.factors[k] / np.sqrt(self.variances[k, None])
        A = root.T @ root
        A[np.diag_indices_from(A)] += 1.0
        factor = scipy.linalg.cho_factor(A, lower=True, check_finite=False)
        found: Array = scipy.linalg.cho_solve(factor, right, check_finite=False)
        return found


#: A covariance of labels: an array, or low rank plus diagonal.
Covariance = Array | LowRank


def _squares(V: Array) -> Array:
    found: Array = np.einsum("jr,jr->j", V, V)
    return found
