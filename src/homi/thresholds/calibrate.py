"""Map scores to probabilities: one map per label, shrunk toward a pooled one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import KFold

from homi.base.classifier import strictly_inside
from homi.linear import fit_sigmoids
from homi.typing import Array, Mask

Method: TypeAlias = Literal["sigmoid", "isotonic"]

#: Default κ.
SHRINKAGE = {"sigmoid": 3.0, "isotonic": 30.0}


class Map(Protocol):
    """A function from scores to probabilities."""

    def __call__(self, scores: Array, /) -> Array:
        """Return the probabilities of scores."""


class CalibrationMaps(NamedTuple):
    """Weighted mean of each label's own map and the pooled map.

    Attributes
    ----------
    weight : ndarray of shape (n_labels,)
        Weight of each label's own map; the pooled map has the rest.
    own, pooled : callable
        Map scores of shape (n_samples, n_labels) to probabilities.
    """

    weight: Array
    own: Map
    pooled: Map

    def __call__(self, S: Array) -> Array:
        """Return probabilities, strictly between 0 and 1 and monotone in the scores."""
        own, pooled = self.own(S), self.pooled(S)
        return strictly_inside(self.weight * own + (1.0 - self.weight) * pooled)


def fit_maps(
    S: Array, Y: Mask, method: Method, shrinkage: float, cells: Array | None = None
) -> CalibrationMaps:
    r"""Fit a map from scores to probabilities for each label.

    .. math:: p_j(s) = w_j\, f_j(s) + (1 - w_j)\, f(s),
              \qquad w_j = \frac{n_j}{n_j + \kappa}

    with f_j fitted to the scores of label j, f to those of all labels, n_j the number
    of rows with label j and κ the shrinkage.

    Parameters
    ----------
    S : ndarray of shape (n_samples, n_labels)
        Held-out scores: of rows that the classifier was not fitted to.
    Y : ndarray of bool of shape (n_samples, n_labels)
        Their labels.
    method : {"sigmoid", "isotonic"}
        Platt's sigmoids, or isotonic regressions, clipped as far from 0 and 1 as
        Platt's targets are.
    shrinkage : float in [0, inf]
        κ. With 0 each label uses only its own map, with infinity only the pooled one.
    cells : ndarray of shape (n_samples, n_labels), default=None
        Weights of each label of each row, 0 where it is missing; None for 1 each.

    Returns
    -------
    maps : CalibrationMaps
    """
    positives = Y.sum(axis=0) if cells is None else (Y * cells).sum(axis=0)
    weight = np.ones(S.shape[1])
    if shrinkage > 0:
        weight = positives / (positives + shrinkage)
    pooled = S.reshape(-1, 1), Y.reshape(-1, 1)
    whole = None if cells is None else cells.reshape(-1, 1)
    fit = FITS[method]
    return CalibrationMaps(weight, fit(S, Y, cells), fit(*pooled, whole))


def held_out_maps(
    S: Array,
    Y: Mask,
    method: Method,
    shrinkage: float,
    folds: KFold,
    cells: Array | None = None,
) -> Array:
    """Return cross-validated probabilities: each fold by maps fitted to the others."""
    P = np.empty_like(S)
    for rest, rows in folds.split(S):
        w = None if cells is None else cells[rest]
        P[rows] = fit_maps(S[rest], Y[rest], method, shrinkage, w)(S[rows])
    return P


class Isotonics(NamedTuple):
    """Isotonic regressions, one per column, or a single one for all columns."""

    functions: list[IsotonicRegression]
    margin: float

    def __call__(self, S: Array) -> Array:
        """Return probabilities of scores."""
        if len(self.functions) == 1:
            P = self.functions[0].predict(S.ravel()).reshape(S.shape)
        else:
            pairs = zip(self.functions, S.T, strict=True)
            P = np.column_stack([function.predict(s) for function, s in pairs])
        return np.clip(P, self.margin, 1.0 - self.margin)


def _fit_isotonic(S: Array, Y: Mask, cells: Array | None) -> Isotonics:
    W = np.ones_like(S) if cells is None else cells
    columns = zip(S.T, Y.T, W.T, strict=True)
    functions = [_isotonic(s, y.astype(float), w) for s, y, w in columns]
    return Isotonics(functions, 1.0 / (float(W.sum(axis=0).max()) + 2.0))


def _isotonic(s: Array, y: Array, w: Array) -> IsotonicRegression:
    # Without any weight, the map is that of all rows; its own weight is then 0.
    used = w > 0 if w.any() else w == 0
    weights = None if (w[used] == w[used][0]).all() else w[used]
    regression = IsotonicRegression(out_of_bounds="clip")
    return regression.fit(s[used], y[used], weights)


FITS: dict[str, Callable[[Array, Mask, Array | None], Map]] = {
    "sigmoid": fit_sigmoids,
    "isotonic": _fit_isotonic,
}
