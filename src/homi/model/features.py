"""What the solver is given of rows: features, their moments, and a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from homi.graph import Neighbours, nearest, neighbour_laplacian
from homi.linalg import Array
from homi.matrix_free import Basis, Rows, compact_rows, is_wide
from homi.model.kernel_map import KernelMap
from homi.moments import Moments, column_units

#: From this many features on, rows that are fewer than half of them are seen in the
#: space they span.
MANY_FEATURES = 1_000


class RowSpace(NamedTuple):
    """Units of the features as given, and the basis of the space of their rows."""

    mean: Array
    scale: Array
    basis: Basis

    def features(self, X: Any) -> Array:
        """Coordinates of rows: of what the space has of them, if they are others."""
        Q = self.basis.written_out() / self.scale[:, None]
        return np.asarray(X @ Q - self.mean @ Q)


@dataclass(frozen=True)
class FeatureSpace:
    """Features that scores are linear in, and what was learnt of them.

    Attributes
    ----------
    features : array or CSR matrix
        The rows, or what a kernel makes of them.
    moments : Moments
        Of the features in the solver's units, with the graph of the rows if there is
        one.
    mean, scale : ndarray of shape (n_features,)
        The solver's units: a feature f is ``(f - mean) / scale`` there.
    kernel_map : KernelMap or None
        Makes features of other rows; None where they are the rows themselves.
    weights : ndarray of shape (n_samples,) or None
        Of the rows; None where each counts once.
    row_space : RowSpace or None
        Leads from the features to those of the rows, where they are coordinates in
        the space of the rows; None where they are not.
    """

    features: Any
    moments: Moments
    mean: Array
    scale: Array
    kernel_map: KernelMap | None = None
    weights: Array | None = None
    row_space: RowSpace | None = None

    @property
    def scaling(self) -> tuple[Any, ...]:
        """Mean, scale and, if compacted, basis: from a solution to the features."""
        return self.row_space or (self.mean, self.scale)

    @property
    def n_features(self) -> int:
        """How many features there are, or were before they were compacted."""
        return len(self.scaling[1])

    def features_of(self, X: Any) -> Any:
        """The features of other rows."""
        if self.kernel_map is not None:
            return self.kernel_map(X)
        return X if self.row_space is None else self.row_space.features(X)


def is_compacted(n: int, m: int) -> bool:
    """Whether n rows of m features are better seen in the space they span."""
    return m >= MANY_FEATURES and is_wide(n, m)


def linear_features(
    X: Any,
    Y: Any,
    *,
    standardize: bool,
    weights: Array | None = None,
    compact: bool = False,
) -> FeatureSpace:
    """The rows themselves or, compact, in the space they span; without a graph."""
    if compact:
        return _compact_view(X, Y, standardize, weights)
    moments = Moments.from_rows(X, Y, weights)
    mean, scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
    if standardize:
        mean, scale = moments.x_mean, moments.scale()
        moments = moments.standardized()
    return FeatureSpace(X, moments, mean, scale, weights=weights)


def _compact_view(
    X: Any, Y: Any, standardize: bool, weights: Array | None
) -> FeatureSpace:
    center, scale = column_units(X, weights)
    mean = center
    if not standardize:
        mean, scale = np.zeros_like(center), np.ones_like(center)
    # Centred to keep digits; rows that are not standardised get their mean back.
    rows = Rows.of(X, center, scale, center - mean)
    coordinates, basis = compact_rows(rows)
    features = coordinates[:-1] + coordinates[-1]
    moments = Moments.from_rows(features, Y, weights)
    r = features.shape[1]
    row_space = RowSpace(mean, scale, basis)
    return FeatureSpace(
        features,
        moments,
        np.zeros(r),
        np.ones(r),
        weights=weights,
        row_space=row_space,
    )


def kernel_features(
    X: Any, Y: Any, kernel_map: KernelMap, *, weights: Array | None = None
) -> FeatureSpace:
    """Nyström features as they are, without a graph."""
    features = kernel_map(X)
    moments = Moments.from_rows(features, Y, weights)
    m = features.shape[1]
    return FeatureSpace(features, moments, np.zeros(m), np.ones(m), kernel_map, weights)


def with_labels(view: FeatureSpace, Y: Array) -> FeatureSpace:
    """The same rows with other labels; what is known of the features stays."""
    moments = view.moments
    w = None if view.weights is None else view.weights[:, None]
    y_mean = np.average(Y, axis=0, weights=view.weights)
    centred = Y - y_mean
    weighted = centred if w is None else w * centred
    # Labels that are centred need no centred features.
    Sxy = (view.features.T @ weighted) / view.scale[:, None]
    changed = replace(moments, y_mean=y_mean, Sxy=Sxy, Syy=centred.T @ weighted)
    return replace(view, moments=changed)


def with_exact_graph(
    view: FeatureSpace,
    X: Any,
    n_neighbors: int,
    *,
    search: Callable[..., Neighbours] = nearest,
) -> FeatureSpace:
    """The same with the graph of the rows X, in the units that they are seen in."""
    weights, units = view.weights, units_of(view)
    L = neighbour_laplacian(X, n_neighbors, weights=weights, **units, search=search)
    moments = view.moments.with_graph(view.features, L, scale=view.scale)
    return replace(view, moments=moments)


def units_of(view: FeatureSpace) -> dict[str, Array]:
    """``mean`` and ``scale`` of the rows, in which the graph sees them."""
    if view.row_space is not None:
        return {"mean": view.row_space.mean, "scale": view.row_space.scale}
    if view.kernel_map is None:
        return {"mean": view.mean, "scale": view.scale}
    scaler = view.kernel_map.scaler
    return {"mean": scaler.mean, "scale": scaler.scale} if scaler else {}
