"""Choose a strategy by cross-validation, or none if none is clearly better."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from sklearn.model_selection import KFold

from homi.thresholds.objectives import Objective
from homi.thresholds.rules import fit_rule
from homi.typing import Array, Indices, Mask

#: Standard errors by which a strategy must be better than no tuning.
_CLEARLY = 2.0


def unseen_labels(
    S: Array,
    Y: Mask,
    objective: str,
    strategy: str,
    folds: KFold,
    cells: Array | None = None,
) -> Mask:
    """Return cross-validated predictions, each fold by a rule of the others."""
    found = np.empty_like(Y)
    for rest, rows in folds.split(S):
        w = None if cells is None else cells[rest]
        rule = fit_rule(S[rest], Y[rest], objective, strategy, w)
        found[rows] = rule(S[rows]) > 0
    return found


def choose_strategy(
    unseen: dict[str, Mask],
    Y: Mask,
    objective: Objective,
    folds: Iterable[Indices],
    cells: Array | None = None,
) -> str:
    """Return the strategy whose cross-validated predictions are best.

    The first strategy is no tuning. Another one is chosen only if its mean gain over
    folds exceeds two standard errors of that mean: the best of several is better than
    the first by chance, too.

    Parameters
    ----------
    unseen : dict of ndarray
        Predictions of each strategy for rows that it was not fitted to.
    Y : ndarray of bool of shape (n_samples, n_labels)
        Labels.
    objective : Objective
        What is compared.
    folds : iterable of ndarray of int
        Rows of each fold.
    cells : ndarray of shape (n_samples, n_labels) or None
        Weights of each label of each row.

    Returns
    -------
    strategy : str
    """
    first = next(iter(unseen))
    sign = 1 if objective.metric.greater_is_better else -1
    rows = list(folds)

    def value(found: Mask, fold: Indices) -> float:
        w = None if cells is None else cells[fold]
        return sign * objective.score(Y[fold], found[fold], w)

    values = {
        name: np.array([value(found, fold) for fold in rows])
        for name, found in unseen.items()
    }
    best = max(values, key=lambda name: float(values[name].mean()))
    gains = values[best] - values[first]
    error = gains.std(ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else np.inf
    return best if gains.mean() > _CLEARLY * error else first
