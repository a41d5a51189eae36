"""What the solver is given of rows: features, their moments, and a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from homi.estimators.kernel_map import KernelMap
from homi.graph import Neighbours, nearest, neighbour_laplacian
from homi.linalg import Array
from homi.moments import Moments


@dataclass(frozen=True)
class View:
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
    """

    features: Any
    moments: Moments
    mean: Array
    scale: Array
    kernel_map: KernelMap | None = None
    weights: Array | None = None


def linear_view(
    X: Any, Y: Any, *, standardize: bool, weights: Array | None = None
) -> View:
    """The rows themselves, without a graph."""
    moments = Moments.from_rows(X, Y, weights)
    mean, scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
    if standardize:
        mean, scale = moments.x_mean, moments.scale()
        moments = moments.standardized()
    return View(X, moments, mean, scale, weights=weights)


def kernel_view(
    X: Any, Y: Any, kernel_map: KernelMap, *, weights: Array | None = None
) -> View:
    """Nyström features as they are, without a graph."""
    features = kernel_map(X)
    moments = Moments.from_rows(features, Y, weights)
    m = features.shape[1]
    return View(features, moments, np.zeros(m), np.ones(m), kernel_map, weights)


def relabelled(view: View, Y: Array) -> View:
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


def tied(
    view: View,
    X: Any,
    n_neighbors: int,
    *,
    search: Callable[..., Neighbours] = nearest,
) -> View:
    """The same with the graph of the rows X, in the units that they are seen in."""
    weights, units = view.weights, units_of(view)
    L = neighbour_laplacian(X, n_neighbors, weights=weights, **units, search=search)
    moments = view.moments.with_graph(view.features, L, scale=view.scale)
    return replace(view, moments=moments)


def units_of(view: View) -> dict[str, Array]:
    """``mean`` and ``scale`` of the rows, which a kernel sees in units of its own."""
    if view.kernel_map is None:
        return {"mean": view.mean, "scale": view.scale}
    scaler = view.kernel_map.scaler
    return {"mean": scaler.mean, "scale": scaler.scale} if scaler else {}
