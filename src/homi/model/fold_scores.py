"""Scores of rows that were held out in folds, for what leave-one-out is too kind to.

A graph helps a row that is left out but keeps its ties: new rows have none. And scores
that correct each other are learnt from those of the other rows, which have seen the
labels of the row left out. With a fold, all of it is left out.

All but the share of each label: a fold with more of a rare label leaves less of it to
the others, so that the scores of the fold would be too low by just that, and rows of
different folds could not be compared. So the biases are those for the share in all
rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import KFold

from homi.linalg import Array
from homi.model.features import FeatureSpace
from homi.moments import Moments
from homi.solver import Correction, Path, graph_path, shares, weight_path

_FOLDS = 5

Rows = NDArray[np.intp]


class Fold(NamedTuple):
    """Rows that are held out, the others, and the moments of these.

    ``gap`` is what the share of each label in all rows is above that in the others.
    """

    held_out: Rows
    others: Rows
    moments: Moments
    gap: Array


def held_out_rows(n: int, seed: int) -> list[Rows]:
    """The rows of each fold."""
    splits = KFold(min(_FOLDS, n), shuffle=True, random_state=seed)
    return [rows for _, rows in splits.split(np.empty(n))]


def folds(view: FeatureSpace, Y: Array, L: Any, seed: int) -> Iterator[Fold]:
    """Five folds of the rows of a view; the moments of the others are sums of parts.

    The graph of the others is that of all rows without the ties to rows held out. Its
    matrix is scaled to what all rows have, so that γ means the same.
    """
    parts = held_out_rows(len(Y), seed)
    moments = [Moments.from_rows(view.features[rows], Y[rows]) for rows in parts]
    for k, rows in enumerate(parts):
        others = np.sort(np.concatenate(parts[:k] + parts[k + 1 :]))
        rest = reduce(add, moments[:k] + moments[k + 1 :])
        rest = rest.in_units(view.mean, view.scale)
        if L is not None:
            rest = _tied(rest, view, L, others)
        yield Fold(rows, others, rest, view.moments.y_mean - rest.y_mean)


def _tied(rest: Moments, view: FeatureSpace, L: Any, others: Rows) -> Moments:
    inner = sparse.csr_array(L)[others][:, others]
    S = sparse.diags_array(inner.diagonal()) - inner
    own = sparse.diags_array(np.asarray(S.sum(axis=1)).ravel()) - S
    tied = rest.with_graph(view.features[others], own.tocsr(), scale=view.scale)
    assert tied.H is not None
    assert view.moments.H is not None
    share = rest.n / view.moments.n * np.trace(view.moments.H)
    left = np.trace(tied.H)
    return replace(tied, H=tied.H * (share / left) if left > 0 else tied.H)


def graphs_by_folds(
    view: FeatureSpace,
    Y: Array,
    L: Any,
    lams: Sequence[float],
    gammas: Sequence[float],
    seed: int,
) -> dict[tuple[float, float], Array]:
    """Scores for every λ and γ, each row by the model of the other folds."""
    found = {(lam, gamma): np.empty(Y.shape) for lam in lams for gamma in gammas}
    for fold in folds(view, Y, L, seed):
        for lam in lams:
            path = graph_path(fold.moments, lam)
            for gamma in gammas:
                inverse = 1.0 / (1.0 + gamma * path.values)
                scores = _scores(view, fold, path, inverse)
                found[lam, gamma][fold.held_out] = scores + fold.gap
    return found


def corrections_by_folds(
    view: FeatureSpace,
    Y: Array,
    L: Any,
    params: dict[str, Any],
    betas: Sequence[float],
    seed: int,
    label_weight: Array | None = None,
) -> dict[tuple[bool, float], Array]:
    """Scores corrected with every β, 0 for none; and all of these by weights (True).

    What corrects the rows of a fold was learnt from the leave-one-out scores of all
    others. Weights of labels are the same in all folds: others would give the scores of
    a label another scale in each of them.
    """
    kinds = {False: np.ones(Y.shape[1])}
    if label_weight is not None:
        kinds[True] = label_weight
    names = [(own, beta) for own in kinds for beta in (0.0, *betas)]
    found = {name: np.empty(Y.shape) for name in names}
    for fold in folds(view, Y, L if params["gamma"] > 0 else None, seed):
        path = weight_path(fold.moments, params["lam"], params["gamma"])
        rows = path.of(view.features[fold.others], view.mean, view.scale)
        for own, weight in kinds.items():
            scores = _scores(view, fold, path, shares(path.values, weight))
            found[own, 0.0][fold.held_out] = scores + fold.gap
            if not len(betas):
                continue
            seen = rows.weighted(Y[fold.others], path.values, weight)
            given = weight if own else None
            correct = Correction(seen, Y[fold.others], label_weight=given)
            for beta in betas:
                B, t = correct(beta)
                found[own, beta][fold.held_out] = scores @ B + t + fold.gap
    return found


def _scores(view: FeatureSpace, fold: Fold, path: Path, inverse: Array) -> Array:
    """Of the rows held out, by the model of the others."""
    W = path.weights(inverse) / view.scale[:, None]
    mean = fold.moments.x_mean * view.scale + view.mean
    return view.features[fold.held_out] @ W + (fold.moments.y_mean - mean @ W)
