"""What the solver is given of rows: features, their moments, and a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from homi.estimators.kernel_map import Kernel, KernelMap
from homi.graph import neighbour_laplacian
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
    """

    features: Any
    moments: Moments
    mean: Array
    scale: Array
    kernel_map: KernelMap | None = None


def linear_view(X: Any, Y: Any, *, standardize: bool, n_neighbors: int | None) -> View:
    """The rows themselves; no graph if ``n_neighbors`` is None."""
    moments = Moments.from_rows(X, Y)
    mean, scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
    if standardize:
        mean, scale = moments.x_mean, moments.scale()
        moments = moments.standardized()
    if n_neighbors is not None:
        L = neighbour_laplacian(X, n_neighbors, mean=mean, scale=scale)
        moments = moments.with_graph(X, L, scale=scale)
    return View(X, moments, mean, scale)


def kernel_view(
    X: Any,
    Y: Any,
    *,
    standardize: bool,
    n_neighbors: int | None,
    kernel: Kernel,
    n_components: int,
    params: dict[str, Any],
    rng: np.random.RandomState,
) -> View:
    """Nyström features as they are, and the graph of the rows."""
    mapped = KernelMap(
        X, kernel, n_components, params, standardize=standardize, rng=rng
    )
    features = mapped(X)
    moments = Moments.from_rows(features, Y)
    if n_neighbors is not None:
        scaler = mapped.scaler
        units = {"mean": scaler.mean, "scale": scaler.scale} if scaler else {}
        L = neighbour_laplacian(X, n_neighbors, **units)
        moments = moments.with_graph(features, L)
    m = features.shape[1]
    return View(features, moments, np.zeros(m), np.ones(m), mapped)
