"""Features of the final fit: of all rows, or of a sample with the moments of all."""

from __future__ import annotations

from functools import partial

import numpy as np
from sklearn.utils import check_random_state

from homi.linalg import Array
from homi.model.batches import Batches, Sample, is_whole, row_slices
from homi.model.block_features import (
    KernelFeatures,
    LinearFeatures,
    mapped_moments,
    plain_moments,
)
from homi.model.features import (
    FeatureSpace,
    RangeBasis,
    RowSpace,
    kernel_features,
    linear_features,
)
from homi.model.kernel_map import KernelMap, Triangle
from homi.model.route import check_direct
from homi.moments import column_scaling
from homi.typing import Fields, Indices, Matrix

#: With more features, and more rows, linear models are fitted in ``n_components``
#: directions: the span of rows, or of more than the sample those of most variance.
_MOST_FEATURES = 3_000
#: The same where no logistic regressions see all directions; they take a minute.
_MOST_ALONE = 6_000


def final_features(
    batches: Batches,
    params: Fields,
    *,
    n_components: int,
    seed: int,
    alone: bool = False,
) -> FeatureSpace:
    """Return the features that parameters of HOMI name.

    The features are those of the sample, which may be all rows, and the moments are
    those of all rows. The scaling of rows for a kernel, the landmarks and the span of
    wide rows come from the sample. ``alone`` says that no logistic regressions join.
    """
    if not is_whole(batches):
        return _of_sample(batches, params, n_components, seed)
    X, Y, weights, *_ = batches.sample
    if params["kernel"] is not None:
        kernel_map = _kernel_map(batches.sample, params, n_components, seed)
        return kernel_features(X, Y, kernel_map, weights=weights)
    most = _MOST_ALONE if alone else _MOST_FEATURES
    given = params["standardize"], n_components, seed
    return linear_features_of(X, Y, weights, *given, most=most)


def is_reduced(X: Matrix, params: Fields, n_components: int) -> bool:
    """Return True if a linear model of all rows has fewer directions than they have."""
    n, m = X.shape
    is_linear = params["kernel"] is None
    return is_linear and min(n + 1, m) > max(_MOST_FEATURES, n_components)


def linear_features_of(
    X: Matrix,
    Y: Matrix,
    weights: Array | None,
    standardize: bool,
    n_components: int,
    seed: int,
    most: int | None = None,
) -> FeatureSpace:
    """Return the rows as features, in their own span where that is smaller.

    With more than ``most`` of both, in the span of ``n_components`` rows.
    """
    n, m = X.shape
    most = max(_MOST_FEATURES if most is None else most, n_components)
    return linear_features(
        X,
        Y,
        standardize=standardize,
        weights=weights,
        compact=n + 1 < m,
        landmarks=_spanning(n, m, most, n_components, seed),
    )


def _of_sample(
    batches: Batches, params: Fields, n_components: int, seed: int
) -> FeatureSpace:
    X, _, weights, places, _ = batches.sample
    if params["kernel"] is not None:
        kernel_map = _kernel_map(batches.sample, params, n_components, seed)
        kernel_map.indices = places[kernel_map.indices]
        return _kernel_features(batches, kernel_map)
    standardize = params["standardize"]
    near, scale = column_scaling(X, weights)
    if X.shape[1] > max(_MOST_FEATURES, n_components):
        return _leading_features(batches, near, scale, standardize, n_components, seed)
    moments = batches.summed("moments", partial(plain_moments, near=near))
    mean, scale = np.zeros_like(near), np.ones_like(near)
    if standardize:
        mean, scale = moments.x_mean, moments.scale()
        moments = moments.standardized()
    return FeatureSpace(X, moments, mean, scale, weights=weights)


def _kernel_features(batches: Batches, kernel_map: KernelMap) -> FeatureSpace:
    X, _, weights, *_ = batches.sample
    basis = Triangle(kernel_map.triangle)
    features = np.empty((X.shape[0], len(kernel_map.triangle)))
    for rows in row_slices(*features.shape):
        features[rows] = basis.features(kernel_map.of_block(X[rows]))
    quick = KernelFeatures(kernel_map)
    near = quick.to_blocks(features.mean(axis=0))
    add_up = partial(mapped_moments, features=quick, near=near)
    moments = quick.from_blocks(batches.summed("moments", add_up))
    scaling = np.zeros(len(near)), np.ones(len(near))
    row_space = RowSpace(*scaling, basis)
    return FeatureSpace(features, moments, *scaling, kernel_map, weights, row_space)


def _leading_features(
    batches: Batches,
    mean: Array,
    scale: Array,
    standardize: bool,
    size: int,
    seed: int,
) -> FeatureSpace:
    """Return coordinates of wide rows in the directions in which they vary most."""
    if not standardize:
        mean, scale = np.zeros_like(mean), np.ones_like(scale)
    X, _, weights, *_ = batches.sample
    row_space = RowSpace(mean, scale, RangeBasis(X, scale, size, seed))
    Q = row_space.basis.written_out() / scale[:, None]
    map_rows = LinearFeatures(Q, mean @ Q)
    features = map_rows(X)
    near = features.mean(axis=0)
    add_up = partial(mapped_moments, features=map_rows, near=near)
    moments = batches.summed("moments", add_up)
    scaling = np.zeros(size), np.ones(size)
    return FeatureSpace(
        features, moments, *scaling, weights=weights, row_space=row_space
    )


def _spanning(
    n: int, m: int, most: int, n_components: int, seed: int
) -> Indices | None:
    """Return the rows in whose span wide rows are fitted; None for all features."""
    size, landmarks = min(n + 1, m), None
    if size > most:
        size = n_components
        landmarks = check_random_state(seed).permutation(n)[:size]
    check_direct(size)
    return landmarks


def _kernel_map(
    sample: Sample, params: Fields, n_components: int, seed: int
) -> KernelMap:
    return KernelMap.fit(
        sample.X,
        params["kernel"],
        n_components,
        params["kernel_params"],
        standardize=params["standardize"],
        rng=check_random_state(seed),
        weights=sample.weights,
    )
