"""Missing labels: NaN or None in Y."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from homi.arrays import dense
from homi.base.targets import Target
from homi.linalg import Array
from homi.model.features import FeatureSpace
from homi.solver.impute import Mask, RowsWithMoments, impute_labels
from homi.typing import Matrix


def fill_missing_labels(
    space: FeatureSpace, X: Matrix, target: Target, weights: Array | None
) -> Array:
    """Return the labels of all rows, missing ones filled in by the rows that count."""
    assert target.known is not None
    Y, known = target.indicator, target.known
    Y = dense(Y)
    counts = np.ones(len(Y)) if weights is None else weights
    _check_known_somewhere(known[counts > 0], target.names)
    used = np.flatnonzero(counts)
    rows = RowsWithMoments(
        space.features,
        space.mean,
        space.scale,
        space.moments.x_mean,
        space.moments.Sxx,
        counts[used],
        space.n_features,
    )
    labels, model = impute_labels(rows, Y[used], known[used])
    if len(used) == len(Y):
        return labels
    # Rows of weight 0 have taught nothing, but their labels can be filled in.
    everything = model.complete_new(space.features_of(X), Y, known)
    everything[used] = labels
    return everything


def _check_known_somewhere(known: Mask, names: NDArray[Any]) -> None:
    nowhere = [repr(name) for name in names[~known.any(axis=0)]]
    if nowhere:
        more = f" and {len(nowhere) - 3} more" if len(nowhere) > 3 else ""
        raise ValueError(
            f"nothing is known of the label(s) {', '.join(nowhere[:3])}{more}: every "
            "entry is missing (or in a row of weight 0); leave such labels out of Y."
        )
