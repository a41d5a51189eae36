"""Unknown labels, from what a row's features and its known labels say.

Two regressions, as in the model itself, but of scores of rows that were left out:

1. A ridge regression of every label on the features gives each row the scores P of the
   model of all other rows. An unknown label that has its score by that model adds
   nothing to the fit, so that each label is learnt where it is known.
2. What is left of the known labels, Y - P, has a covariance Σ between labels. An
   unknown label is its score and what the known ones of its row tell of it,
   ``y_u = p_u + Σ_uk Σ_kk⁻¹ (y_k - p_k)``.

The two are repeated until the labels stay as they are: labels that were filled in from
others also teach the first regression.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from homi.linalg import Array

Mask = NDArray[np.bool_]

#: Penalties of the ridge regression that are tried, in units of the mean eigenvalue.
_PENALTIES = 10.0 ** np.arange(-5.0, 2.1, 0.5)
#: Most rounds, and the change (root mean square) below which they end.
_ROUNDS, _TOLERANCE = 30, 1e-3
#: Smallest eigenvalue of the labels' correlations. Labels that are nearly combinations
#: of others would else be filled in with multiples of tiny errors.
_SMALLEST = 1e-2
#: Numbers in a block of rows: 16 MB.
_BLOCK = 2**21


@dataclass(frozen=True)
class Rows:
    """Features as they are, and the units in which Sxx and x_mean are theirs.

    ``n_features`` is how many there were before they were compacted, if they were.
    """

    X: Any
    mean: Array
    scale: Array
    x_mean: Array
    Sxx: Array
    weights: Array
    n_features: int

    @property
    def total(self) -> float:
        return float(self.weights.sum())


@dataclass(frozen=True)
class Filling:
    """A model that fills in labels of rows: scores, and the labels' inverse covariance.

    ``precision`` is of what is left of the labels in units of ``spread``.
    """

    coefficients: Array
    intercept: Array
    precision: Array
    spread: Array

    def complete(self, Y: Array, known: Mask, scores: Array) -> Array:
        """Labels with the unknown ones filled in; scores must not have seen them."""
        left = np.where(known, (Y - scores) / self.spread, 0.0)
        told = _solve_unknown(self.precision, -left @ self.precision, ~known)
        return np.where(known, Y, scores + self.spread * told)

    def complete_new(self, X: Any, Y: Array, known: Mask) -> Array:
        """The same for rows that the model was not made from."""
        scores = X @ self.coefficients + self.intercept
        return np.clip(self.complete(Y, known, scores), 0.0, 1.0)


def fill(rows: Rows, Y: Array, known: Mask) -> tuple[Array, Filling]:
    """Labels between 0 and 1 for every row, the known ones as they are.

    Parameters
    ----------
    rows : Rows
    Y : ndarray of shape (n_samples, n_labels)
        0 and 1; anything where they are not known.
    known : ndarray of bool of the same shape
        Each label must be known in some row of positive weight.
    """
    ridge = _HeldOutRidge(rows)
    counts = rows.weights @ known
    means = (rows.weights @ np.where(known, Y, 0.0)) / counts
    filled = np.where(known, Y, means)
    # Chosen once: labels that were filled in make a model that trusts itself too much
    # look well where most are.
    choice = ridge.best(ridge.coefficients(filled), filled, known)
    for _ in range(_ROUNDS):
        coefficients = ridge.coefficients(filled)
        scores = ridge.scores(coefficients, choice, filled)
        correlation, spread = _left_over(np.where(known, Y - scores, 0.0), known, rows)
        model = Filling(
            *ridge.model(coefficients, choice, filled), _inverse(correlation), spread
        )
        before, filled = filled, model.complete(Y, known, scores)
        if _rms((filled - before)[~known]) <= _TOLERANCE:
            break
    return np.clip(filled, 0.0, 1.0), model


class _HeldOutRidge:
    """Ridge regression of all labels for several penalties, and held-out scores."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        e, self._V = scipy.linalg.eigh(rows.Sxx, check_finite=False)
        e = np.maximum(e, 0.0)
        unit = float(e.sum()) / rows.n_features or 1.0
        self._D = 1.0 / (e[:, None] + unit * _PENALTIES)
        self._to_units = self._V / rows.scale[:, None]
        self._shift = (rows.mean / rows.scale + rows.x_mean) @ self._V
        leverage = np.vstack([(P * P) @ self._D for P in self._projected()])
        leverage += 1.0 / rows.total
        self._leverage = np.minimum(leverage * rows.weights[:, None], 1.0 - 1e-9)

    def _projected(self) -> Iterator[Array]:
        """Blocks of rows along the eigenvectors of Sxx; dense, so never all of them."""
        n, step = self._rows.X.shape[0], max(1, _BLOCK // len(self._V))
        for first in range(0, n, step):
            yield self._rows.X[first : first + step] @ self._to_units - self._shift

    def coefficients(self, Y: Array) -> Array:
        """``VᵀXᵀY`` less the means, before any penalty."""
        w = self._rows.weights[:, None]
        centred = w * (Y - self._mean(Y))
        return self._to_units.T @ (self._rows.X.T @ centred)

    def _mean(self, Y: Array) -> Array:
        return self._rows.weights @ Y / self._rows.total

    def model(self, coefficients: Array, choice: int, Y: Array) -> tuple[Array, Array]:
        """Weights and intercepts for rows as they are."""
        in_units = self._D[:, [choice]] * coefficients
        return self._to_units @ in_units, self._mean(Y) - self._shift @ in_units

    def scores(self, coefficients: Array, choice: int, Y: Array) -> Array:
        """Each row's by the model of all others."""
        W, z = self.model(coefficients, choice, Y)
        h = self._leverage[:, [choice]]
        return (self._rows.X @ W + z - h * Y) / (1.0 - h)

    def best(self, coefficients: Array, Y: Array, known: Mask) -> int:
        """The penalty whose held-out scores are nearest to the known labels."""
        w = self._rows.weights
        errors = [
            w @ np.where(known, Y - self.scores(coefficients, i, Y), 0.0) ** 2
            for i in range(len(_PENALTIES))
        ]
        return int(np.argmin(np.sum(errors, axis=1)))


def _left_over(R: Array, known: Mask, rows: Rows) -> tuple[Array, Array]:
    """Correlations of what is left of the labels, and its spread.

    Of each pair of labels where both are known; drawn to 0 by as much as chance would
    make of them (the share that is least wrong on average).
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


def _solve_unknown(M: Array, R: Array, unknown: Mask) -> Array:
    """``x_u = M_uu⁻¹ r_u`` of each row, 0 elsewhere.

    Conjugate gradients of all rows of a block together: every row has another set u,
    but one product with M serves them all.
    """
    out = np.zeros_like(R)
    step = max(1, _BLOCK // len(M))
    for first in range(0, len(R), step):
        block = slice(first, first + step)
        out[block] = _conjugate_gradients(M, R[block], unknown[block])
    return out


def _conjugate_gradients(M: Array, R: Array, unknown: Mask) -> Array:
    inverse = 1.0 / np.diag(M)
    x, r = np.zeros_like(R), np.where(unknown, R, 0.0)
    p = inverse * r
    size = np.einsum("ij,ij->i", r, p)
    enough = 1e-12 * size.max(initial=0.0)
    for _ in range(2 * len(M)):
        if size.max(initial=0.0) <= enough:
            break
        Mp = np.where(unknown, p @ M, 0.0)
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
