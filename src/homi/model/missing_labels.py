"""Missing labels: NaN or None in Y."""

from __future__ import annotations

import numpy as np

from homi.arrays import dense
from homi.base.targets import Target
from homi.linalg import Array
from homi.model.features import FeatureSpace
from homi.model.fold_scores import FilledLabels, folds, part_of
from homi.solver.impute import LabelImputer, RowsWithMoments, impute_labels
from homi.typing import Mask, Matrix, Names


def fill_missing_labels(
    space: FeatureSpace, X: Matrix, target: Target, weights: Array | None
) -> Array:
    """Return the labels of all rows, missing ones filled in by the rows that count."""
    assert target.known is not None
    Y, known = target.indicator, target.known
    Y = dense(Y)
    counts = np.ones(len(Y)) if weights is None else weights
    check_known_somewhere(known[counts > 0], target.names)
    used = np.flatnonzero(counts)
    labels, model = _impute(space, Y[used], known[used], counts[used])
    if len(used) == len(Y):
        return labels
    # Rows of weight 0 have taught nothing, but their labels can be filled in.
    everything = model.complete_new(space.features_of(X), Y, known)
    everything[used] = labels
    return everything


def fill_by_folds(
    space: FeatureSpace, Y: Array, known: Mask, seed: int
) -> FilledLabels:
    """Fill in missing labels from features: by all rows, and by those of each fold."""
    by_fold = [
        _filled(part_of(space, fold.moments, rows), fold.labels, known[rows])
        for fold in folds(space, Y, None, seed)
        for rows in [fold.others]
    ]
    cells = cell_weights(known, space.weights)
    return FilledLabels(_filled(space, Y, known), by_fold, cells)


def cell_weights(known: Mask, weights: Array | None) -> Array:
    """Return weights of each label of each row, 0 where it is missing."""
    return np.where(known, 1.0 if weights is None else weights[:, None], 0.0)


def _filled(space: FeatureSpace, Y: Array, known: Mask) -> Array:
    counts = np.ones(len(Y)) if space.weights is None else space.weights
    return _impute(space, Y, known, counts)[0]


def _impute(
    space: FeatureSpace, Y: Array, known: Mask, counts: Array
) -> tuple[Array, LabelImputer]:
    rows = RowsWithMoments(
        space.features,
        space.mean,
        space.scale,
        space.moments.x_mean,
        space.moments.Sxx,
        counts,
        space.n_features,
    )
    return impute_labels(rows, Y, known)


def check_known_somewhere(known: Mask, names: Names) -> None:
    """Raise an error that names labels without any known entry."""
    nowhere = [repr(name) for name in names[~known.any(axis=0)]]
    if nowhere:
        more = f" and {len(nowhere) - 3} more" if len(nowhere) > 3 else ""
        raise ValueError(
            f"nothing is known of the label(s) {', '.join(nowhere[:3])}{more}: every "
            "entry is missing (or in a row of weight 0); leave such labels out of Y."
        )
