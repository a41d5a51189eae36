"""Feature maps: the matrix that scores are linear in, its moments, and a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from homi.graph import Neighbors, nearest, neighbor_laplacian
from homi.linalg import Array
from homi.model.fitted_attributes import Scaling, SpaceBasis
from homi.model.kernel_map import KernelMap, Triangle
from homi.moments import Moments, column_scaling
from homi.solver import (
    Path,
    RowsOnPath,
    ScaledRows,
    compact_rows,
    is_wide,
    ridge_path,
)
from homi.typing import Indices, Matrix

#: From this many features on, fewer rows than half of them are fitted in the space
#: they span.
MANY_FEATURES = 1_000


class RowSpace(NamedTuple):
    """Scaling of the features as given, and a basis of the space of their rows.

    The features as given of a kernel are its values with the landmarks.
    """

    mean: Array
    scale: Array
    basis: SpaceBasis

    def features(self, X: Matrix) -> Array:
        """Return coordinates of rows, projected onto the space if they are new."""
        Q = self.basis.written_out() / self.scale[:, None]
        return np.asarray(X @ Q - self.mean @ Q)


@dataclass(frozen=True)
class FeatureSpace:
    """Features that scores are linear in, with their moments.

    Attributes
    ----------
    features : array or CSR matrix
        The rows, coordinates of them, or their Nyström features.
    moments : Moments
        Moments of the scaled features, with the graph of the rows if there is one.
    mean, scale : ndarray of shape (n_features,)
        Scaling: the solver is given ``(f - mean) / scale`` of a feature f.
    kernel_map : KernelMap or None
        Maps other rows to features; None where rows are the features.
    weights : ndarray of shape (n_samples,) or None
        Weights of the rows; None for 1 each.
    row_space : RowSpace or None
        The way back to features as given, where ``features`` are coordinates in the
        space of the rows or of the landmarks; None where they are not.
    """

    features: Matrix
    moments: Moments
    mean: Array
    scale: Array
    kernel_map: KernelMap | None = None
    weights: Array | None = None
    row_space: RowSpace | None = None

    @cached_property
    def on_path(self) -> tuple[Path, RowsOnPath]:
        """Path of all λ without a graph, and the rows on it."""
        path = ridge_path(self.moments)
        return path, path.of(self.features, self.mean, self.scale, self.weights)

    @property
    def scaling(self) -> Scaling:
        """Mean, scale and, if compacted, basis: from a solution to the features."""
        return Scaling(*(self.row_space or (self.mean, self.scale)))

    @property
    def n_features(self) -> int:
        """Number of features, before they were compacted."""
        return len(self.scaling[1])

    def features_of(self, X: Matrix) -> Matrix:
        """Return the features of other rows."""
        given = X if self.kernel_map is None else self.kernel_map(X)
        return given if self.row_space is None else self.row_space.features(given)


def is_compacted(n: int, m: int) -> bool:
    """Return True where n rows of m features are fitted in the space they span."""
    return m >= MANY_FEATURES and is_wide(n, m)


def linear_features(
    X: Matrix,
    Y: Matrix,
    *,
    standardize: bool,
    weights: Array | None = None,
    compact: bool = False,
    landmarks: Indices | None = None,
) -> FeatureSpace:
    """Return the rows as features or, compact, as coordinates in their own span.

    With ``landmarks``, in the span of these rows only.
    """
    if compact or landmarks is not None:
        return _compact_features(X, Y, standardize, weights, landmarks)
    moments = Moments.from_rows(X, Y, weights)
    mean, scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
    if standardize:
        mean, scale = moments.x_mean, moments.scale()
        moments = moments.standardized()
    return FeatureSpace(X, moments, mean, scale, weights=weights)


def _compact_features(
    X: Matrix,
    Y: Matrix,
    standardize: bool,
    weights: Array | None,
    landmarks: Indices | None = None,
) -> FeatureSpace:
    center, scale = column_scaling(X, weights)
    mean = center
    if not standardize:
        mean, scale = np.zeros_like(center), np.ones_like(center)
    # Centered to keep digits; rows that are not standardized get their mean back.
    spanning = X if landmarks is None else X[landmarks]
    rows = ScaledRows.of(spanning, center, scale, center - mean)
    coordinates, basis = compact_rows(rows)
    row_space = RowSpace(mean, scale, basis)
    if landmarks is None:
        features = coordinates[:-1] + coordinates[-1]
    else:
        features = row_space.features(X)
    moments = Moments.from_rows(features, Y, weights)
    r = features.shape[1]
    return FeatureSpace(
        features,
        moments,
        np.zeros(r),
        np.ones(r),
        weights=weights,
        row_space=row_space,
    )


def kernel_features(
    X: Matrix, Y: Matrix, kernel_map: KernelMap, *, weights: Array | None = None
) -> FeatureSpace:
    """Return Nyström features of the rows, without a graph."""
    features = kernel_map.features(X)
    moments = Moments.from_rows(features, Y, weights)
    m = features.shape[1]
    mean, scale = np.zeros(m), np.ones(m)
    space = RowSpace(mean, scale, Triangle(kernel_map.triangle))
    return FeatureSpace(features, moments, mean, scale, kernel_map, weights, space)


def with_labels(space: FeatureSpace, Y: Array) -> FeatureSpace:
    """Return the same features with the moments of other labels."""
    moments = space.moments
    w = None if space.weights is None else space.weights[:, None]
    y_mean = np.average(Y, axis=0, weights=space.weights)
    centred = Y - y_mean
    weighted = centred if w is None else w * centred
    # Centered labels need no centered features.
    Sxy = (space.features.T @ weighted) / space.scale[:, None]
    changed = replace(moments, y_mean=y_mean, Sxy=Sxy, Syy=centred.T @ weighted)
    return replace(space, moments=changed)


def with_exact_graph(
    space: FeatureSpace,
    X: Matrix,
    n_neighbors: int,
    *,
    search: Callable[..., Neighbors] = nearest,
) -> FeatureSpace:
    """Return the same features with the neighbor graph of the rows X."""
    weights, scaling = space.weights, scaling_of(space)
    L = neighbor_laplacian(X, n_neighbors, weights=weights, **scaling, search=search)
    moments = space.moments.with_graph(space.features, L, scale=space.scale)
    return replace(space, moments=moments)


def scaling_of(space: FeatureSpace) -> dict[str, Array]:
    """Return ``mean`` and ``scale`` of the rows for the graph."""
    if space.kernel_map is not None:
        scaler = space.kernel_map.scaler
        return {"mean": scaler.mean, "scale": scaler.scale} if scaler else {}
    scaling = space.row_space or space
    return {"mean": scaling.mean, "scale": scaling.scale}


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
