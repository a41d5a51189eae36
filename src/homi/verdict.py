"""The labels that a classifier predicts, for all code that shows predictions."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from homi.arrays import dense
from homi.typing import Mask, MatrixLike


def predicted_labels(model: BaseEstimator, X: MatrixLike, n_labels: int) -> Mask:
    """Return the output of ``model.predict`` as booleans, one column per label.

    No other code compares scores with a threshold, because the threshold depends on the
    model. Classes of a 1-D y become labels.

    Examples
    --------
    >>> from homi import HOMI
    >>> X, y = [[0.0], [0.1], [0.9], [1.0]], ["a", "a", "b", "b"]
    >>> predicted_labels(HOMI(gamma=0).fit(X, y), X, 1).ravel().tolist()
    [False, False, True, True]
    """
    found = np.asarray(dense(model.predict(X)))
    if found.ndim == 1:
        found = found[:, None] == np.asarray(model.classes_)[-n_labels:]
    if found.shape[1] != n_labels:
        raise ValueError(
            f"predict of {type(model).__name__} returned shape {found.shape} for "
            f"{n_labels} labels; pass a multi-label classifier."
        )
    return np.asarray(found > 0)
