"""Impute missing labels from a row's features and its known labels.

Two regressions, as in the model itself, but with leave-one-out scores:

1. A ridge regression of every label on the features gives each row its leave-one-out
   scores P. A missing label that is set to its own score adds nothing to the fit, so
   each label is learned from the rows where it is known.
2. The residuals of the known labels, Y - P, have a covariance Σ between labels. A
   missing label is its conditional mean given the known labels of its row,
   ``y_u = p_u + Σ_uk Σ_kk⁻¹ (y_k - p_k)``.

The two steps are repeated until the labels no longer change, because imputed labels
are also targets of the first regression.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from homi.linalg import Array, Matrix

Mask = NDArray[np.bool_]

#: Penalties of the ridge regression to choose from, relative to the mean eigenvalue.
_PENALTIES = 10.0 ** np.arange(-5.0, 2.1, 0.5)
#: Most rounds, and the change (root mean square) at which they stop.
_ROUNDS, _TOLERANCE = 30, 1e-3
#: Smallest eigenvalue of the labels' correlations. Labels that are nearly combinations
#: of others would otherwise be imputed with multiples of tiny errors.
_SMALLEST = 1e-2
#: Numbers in a block of rows: 16 MB.
_BLOCK = 2**21


@dataclass(frozen=True)
class RowsWithMoments:
    """Unscaled features, their scaling, and the moments of the scaled features.

    ``n_features`` is their number before a change to the row space, if there was one.
    """

    X: Matrix
    mean: Array
    scale: Array
    x_mean: Array
    Sxx: Array
    weights: Array
    n_features: int

    @property
    def total(self) -> float:
        """Sum of the sample weights."""
        return float(self.weights.sum())


@dataclass(frozen=True)
class LabelImputer:
    """Fitted model: a ridge regression, and the precision matrix of its residuals.

    ``precision`` is that of the residuals divided by their deviations ``spread``.
    """

    coefficients: Array
    intercept: Array
    precision: Array
    spread: Array

    def complete(self, Y: Array, known: Mask, scores: Array) -> Array:
        """Impute the missing labels; the scores must be leave-one-out."""
        residual = np.where(known, (Y - scores) / self.spread, 0.0)
        shift = _solve_missing(self.precision, -residual @ self.precision, ~known)
        return np.where(known, Y, scores + self.spread * shift)

    def complete_new(self, X: Matrix, Y: Array, known: Mask) -> Array:
        """Impute the missing labels of rows that the model was not fitted to."""
        scores = X @ self.coefficients + self.intercept
        return np.clip(self.complete(Y, known, scores), 0.0, 1.0)


def impute_labels(
    rows: RowsWithMoments, Y: Array, known: Mask
) -> tuple[Array, LabelImputer]:
    """Impute missing labels by values in [0, 1].

    Parameters
    ----------
    rows : RowsWithMoments
        Features and sample weights.
    Y : ndarray of shape (n_samples, n_labels)
        0 or 1; any value where a label is missing.
    known : ndarray of bool of shape (n_samples, n_labels)
        False where a label is missing. A label that is known in no row is filled with
        zeros.

    Returns
    -------
    labels : ndarray of shape (n_samples, n_labels)
        Y with the missing labels imputed.
    imputer : LabelImputer
        Model that imputes labels of other rows.
    """
    ridge = _HeldOutRidge(rows)
    counts = rows.weights @ known
    means = _ratio(rows.weights @ np.where(known, Y, 0.0), counts)
    filled = np.where(known, Y, means)
    # Chosen once: where most labels are imputed, they favor a model that fits its own
    # imputations.
    choice = ridge.best(ridge.coefficients(filled), filled, known)
    for _ in range(_ROUNDS):
        coefficients = ridge.coefficients(filled)
        scores = ridge.scores(coefficients, choice, filled)
        correlation, spread = _residual_correlation(
            np.where(known, Y - scores, 0.0), known, rows
        )
        model = LabelImputer(
            *ridge.model(coefficients, choice, filled), _inverse(correlation), spread
        )
        before, filled = filled, model.complete(Y, known, scores)
        if _rms((filled - before)[~known]) <= _TOLERANCE:
            break
    return np.clip(filled, 0.0, 1.0), model


class _HeldOutRidge:
    """Ridge regressions of all labels, one for each penalty; leave-one-out scores."""

    def __init__(self, rows: RowsWithMoments) -> None:
        self._rows = rows
        e, self._V = scipy.linalg.eigh(rows.Sxx, check_finite=False)
        e = np.maximum(e, 0.0)
        unit = float(e.sum()) / rows.n_features or 1.0
        self._D = 1.0 / (e[:, None] + unit * _PENALTIES)
        self._to_scaled = self._V / rows.scale[:, None]
        self._shift = (rows.mean / rows.scale + rows.x_mean) @ self._V
        leverage = np.vstack([(P * P) @ self._D for P in self._projected()])
        leverage += 1.0 / rows.total
        self._leverage = np.minimum(leverage * rows.weights[:, None], 1.0 - 1e-9)

    def _projected(self) -> Iterator[Array]:
        """Yield dense blocks of rows along the eigenvectors of Sxx."""
        n, step = self._rows.X.shape[0], max(1, _BLOCK // len(self._V))
        for first in range(0, n, step):
            yield self._rows.X[first : first + step] @ self._to_scaled - self._shift

    def coefficients(self, Y: Array) -> Array:
        """``VᵀXᵀY`` of centered rows and labels, before any penalty."""
        w = self._rows.weights[:, None]
        centered = w * (Y - self._mean(Y))
        return self._to_scaled.T @ (self._rows.X.T @ centered)

    def _mean(self, Y: Array) -> Array:
        return self._rows.weights @ Y / self._rows.total

    def model(self, coefficients: Array, choice: int, Y: Array) -> tuple[Array, Array]:
        """Weights and intercepts for unscaled rows."""
        scaled = self._D[:, [choice]] * coefficients
        return self._to_scaled @ scaled, self._mean(Y) - self._shift @ scaled

    def scores(self, coefficients: Array, choice: int, Y: Array) -> Array:
        """Leave-one-out scores."""
        W, z = self.model(coefficients, choice, Y)
        h = self._leverage[:, [choice]]
        return (self._rows.X @ W + z - h * Y) / (1.0 - h)

    def best(self, coefficients: Array, Y: Array, known: Mask) -> int:
        """Index of the penalty of least leave-one-out error on known labels."""
        w = self._rows.weights
        errors = [
            w @ np.where(known, Y - self.scores(coefficients, i, Y), 0.0) ** 2
            for i in range(len(_PENALTIES))
        ]
        return int(np.argmin(np.sum(errors, axis=1)))


def _residual_correlation(
    R: Array, known: Mask, rows: RowsWithMoments
) -> tuple[Array, Array]:
    """Correlations of the residuals, and their deviations.

    Each pair of labels counts where both are known. The correlations are shrunk toward
    0 by the share that chance explains (the shrinkage of least expected error).
    """
    K, w = known.astype(np.float64), rows.weights[:, None]
    counts = np.maximum(K.T @ (w * K), 1.0)
    products = R.T @ (w * R) / counts
    spread = np.sqrt(np.maximum(np.diag(products), 1e-8))
    C = np.clip(products / np.outer(spread, spread), -1.0, 1.0)
    np.fill_diagonal(C, 0.0)
    by_chance = ((1.0 - C**2) ** 2 / counts).sum() - (1.0 / np.diag(counts)).sum()
    C *= 1.0 - min(1.0, by_chance / max((C**2).sum(), 1e-12))
    np.fill_diagonal(C, 1.0)
    return C, spread


def _inverse(correlation: Array) -> Array:
    values, vectors = scipy.linalg.eigh(correlation, check_finite=False)
    return (vectors / np.maximum(values, _SMALLEST)) @ vectors.T


def _solve_missing(M: Array, R: Array, missing: Mask) -> Array:
    """``x_u = M_uu⁻¹ r_u`` of each row, 0 elsewhere.

    Conjugate gradients for all rows of a block together: every row has its own set u of
    missing labels, but one product with M serves them all.
    """
    out = np.zeros_like(R)
    step = max(1, _BLOCK // len(M))
    for first in range(0, len(R), step):
        block = slice(first, first + step)
        out[block] = _conjugate_gradients(M, R[block], missing[block])
    return out


def _conjugate_gradients(M: Array, R: Array, missing: Mask) -> Array:
    inverse = 1.0 / np.diag(M)
    x, r = np.zeros_like(R), np.where(missing, R, 0.0)
    p = inverse * r
    size = np.einsum("ij,ij->i", r, p)
    enough = 1e-12 * size.max(initial=0.0)
    for _ in range(2 * len(M)):
        if size.max(initial=0.0) <= enough:
            break
        Mp = np.where(missing, p @ M, 0.0)
        along = _ratio(size, np.einsum("ij,ij->i", p, Mp))[:, None]
        x += along * p
        r -= along * Mp
        before, size = size, np.einsum("ij,ij->i", r, inverse * r)
        p = inverse * r + _ratio(size, before)[:, None] * p
    return x


def _ratio(a: Array, b: Array) -> Array:
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)


def _rms(a: Array) -> float:
    return float(np.sqrt(np.mean(a * a))) if a.size else 0.0
