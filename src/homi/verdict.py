"""Which labels a classifier predicts: what shows a verdict asks here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def predicted_labels(model: Any, X: Any, n_labels: int) -> NDArray[np.bool_]:
    """Return which labels ``model.predict`` gives to rows, one column for each label.

    No other code compares scores with a threshold to say what is predicted: the
    threshold depends on the model. Classes of a 1-D y are taken apart into labels.

    Examples
    --------
    >>> from homi import HOMI
    >>> X, y = [[0.0], [0.1], [0.9], [1.0]], ["a", "a", "b", "b"]
    >>> predicted_labels(HOMI(gamma=0).fit(X, y), X, 1).ravel().tolist()
    [False, False, True, True]
    """
    found = model.predict(X)
    said = found.toarray() if sparse.issparse(found) else np.asarray(found)
    if said.ndim == 1:
        said = said[:, None] == np.asarray(model.classes_)[-n_labels:]
    if said.shape[1] != n_labels:
        raise ValueError(
            f"predict of {type(model).__name__} gave shape {said.shape} for {n_labels} "
            "labels; pass a multi-label classifier."
        )
    return np.asarray(said > 0)
