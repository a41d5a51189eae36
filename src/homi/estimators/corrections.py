"""How far scores may correct each other: measured on folds that were not scored by it.

Leave-one-out scores are too kind to a correction: the scores of the other rows, from
which it is learnt, have seen the labels of the row left out. With a hundred labels
and a few hundred rows that is enough to be misled. So rows are held out in folds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from homi.estimators.view import View
from homi.linalg import Array
from homi.moments import Moments
from homi.solver import correction, graph_path, ridge_path

_FOLDS = 5


def corrected_by_folds(
    view: View, Y: Array, params: dict[str, Any], betas: Sequence[float], seed: int
) -> Iterator[tuple[float, Array]]:
    """Held-out scores without a correction (β = 0), then with that of each β.

    The rows of a fold are scored by the model of all others, and corrected by what
    was learnt from the others' own leave-one-out scores.
    """
    found = {beta: np.empty(Y.shape) for beta in (0.0, *betas)}
    n_folds = min(_FOLDS, len(Y) // 2)
    if n_folds < 2:
        return
    folds = KFold(n_folds, shuffle=True, random_state=seed)
    parts = [rows for _, rows in folds.split(Y)]
    moments = [Moments.from_rows(view.features[rows], Y[rows]) for rows in parts]
    for k, rows in enumerate(parts):
        others = np.sort(np.concatenate(parts[:k] + parts[k + 1 :]))
        rest = reduce(add, moments[:k] + moments[k + 1 :])
        learnt, scores = _scored(view, rest, Y, others, rows, params)
        found[0.0][rows] = scores
        for beta in betas:
            B, t = correction(learnt, Y[others], beta)
            found[beta][rows] = scores @ B + t
    yield from found.items()


def _scored(
    view: View,
    moments: Moments,
    Y: Array,
    others: Any,
    rows: Any,
    params: dict[str, Any],
) -> tuple[Array, Array]:
    """Leave-one-out scores of the others, and those of a fold by their model."""
    lam, gamma = params["lam"], params["gamma"]
    units = view.mean, view.scale
    moments = replace(moments.in_units(*units), H=view.moments.H)
    X = view.features[others]
    if gamma > 0:
        path = graph_path(moments, X, lam, *units)
        inverse = 1.0 / (1.0 + gamma * path.values)
    else:
        path = ridge_path(moments, X, *units)
        inverse = 1.0 / (path.values + lam)
    W = path.weights(inverse) / view.scale[:, None]
    bias = moments.y_mean - (moments.x_mean * view.scale + view.mean) @ W
    return path.held_out(Y[others], inverse), view.features[rows] @ W + bias
