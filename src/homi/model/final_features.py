"""Features of the final fit: of all rows, or of a sample with the moments of all."""

from __future__ import annotations

from functools import partial

import numpy as np
from sklearn.utils import check_random_state

from homi.model.batches import Batches, Sample, is_whole
from homi.model.block_features import BlockFeatures, mapped_moments, plain_moments
from homi.model.features import (
    FeatureSpace,
    RowSpace,
    kernel_features,
    linear_features,
    span_of,
)
from homi.model.kernel_map import KernelMap, Triangle
from homi.model.route import check_direct
from homi.moments import column_scaling
from homi.typing import Fields, Indices

#: With more features, and more rows, linear models are fitted in the span of
#: ``n_components`` rows.
_MOST_FEATURES = 3_000


def final_features(
    batches: Batches, params: Fields, *, n_components: int, seed: int
) -> FeatureSpace:
    """Return the features that parameters of HOMI name.

    The features are those of the sample, which may be all rows, and the moments are
    those of all rows. The scaling of rows for a kernel, the landmarks and the span of
    wide rows come from the sample.
    """
    build = _of_whole if is_whole(batches) else _of_sample
    return build(batches, params, n_components, seed)


def _of_whole(
    batches: Batches, params: Fields, n_components: int, seed: int
) -> FeatureSpace:
    X, Y, weights, *_ = batches.sample
    if params["kernel"] is not None:
        kernel_map = _kernel_map(batches.sample, params, n_components, seed)
        return kernel_features(X, Y, kernel_map, weights=weights)
    n, m = X.shape
    return linear_features(
        X,
        Y,
        standardize=params["standardize"],
        weights=weights,
        compact=n + 1 < m,
        landmarks=_spanning(n, m, n_components, seed),
    )


def _of_sample(
    batches: Batches, params: Fields, n_components: int, seed: int
) -> FeatureSpace:
    X, _, weights, places, _ = batches.sample
    if params["kernel"] is not None:
        kernel_map = _kernel_map(batches.sample, params, n_components, seed)
        kernel_map.indices = places[kernel_map.indices]
        basis = Triangle(kernel_map.triangle)
        size = len(kernel_map.triangle)
        row_space = RowSpace(np.zeros(size), np.ones(size), basis)
        return _mapped(batches, row_space, kernel_map)
    standardize = params["standardize"]
    n, m = X.shape
    landmarks = _spanning(n, m, n_components, seed)
    if landmarks is not None:
        row_space, _ = span_of(X, standardize, weights, landmarks)
        return _mapped(batches, row_space, None)
    near, _ = column_scaling(X, weights)
    moments = batches.summed("moments", partial(plain_moments, near=near))
    mean, scale = np.zeros_like(near), np.ones_like(near)
    if standardize:
        mean, scale = moments.x_mean, moments.scale()
        moments = moments.standardized()
    return FeatureSpace(X, moments, mean, scale, weights=weights)


def _mapped(
    batches: Batches, row_space: RowSpace, kernel_map: KernelMap | None
) -> FeatureSpace:
    """Return features in a row space, which are made block by block."""
    Q = row_space.basis.written_out() / row_space.scale[:, None]
    features = BlockFeatures(kernel_map, Q, row_space.mean @ Q)
    X, _, weights, *_ = batches.sample
    made = features.of_all(X)
    near = made.mean(axis=0)
    moments = batches.summed(
        "moments", partial(mapped_moments, features=features, near=near)
    )
    m = len(near)
    units = np.zeros(m), np.ones(m)
    return FeatureSpace(made, moments, *units, kernel_map, weights, row_space)


def _spanning(n: int, m: int, n_components: int, seed: int) -> Indices | None:
    """Return the rows in whose span wide rows are fitted; None for all features."""
    size, landmarks = min(n + 1, m), None
    if size > max(_MOST_FEATURES, n_components):
        size = n_components
        landmarks = check_random_state(seed).permutation(n)[:size]
    check_direct(size)
    return landmarks


def _kernel_map(
    sample: Sample, params: Fields, n_components: int, seed: int
) -> KernelMap:
    return KernelMap(
        sample.X,
        params["kernel"],
        n_components,
        params["kernel_params"],
        standardize=params["standardize"],
        rng=check_random_state(seed),
        weights=sample.weights,
    )
