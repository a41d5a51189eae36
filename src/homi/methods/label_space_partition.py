"""Partition the labels by communities; fit one multi-label classifier to each part."""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from homi.arrays import columns_of, dense
from homi.base._compat import Interval
from homi.base.targets import Target
from homi.base.weights import UnweightedMixin
from homi.methods.label_powerset import LabelPowerset
from homi.methods.wrapping import (
    WrappingClassifier,
    label_probabilities,
    seeded,
)
from homi.typing import Array, Indices, Matrix, RandomState


class LabelSpacePartition(UnweightedMixin, WrappingClassifier):
    r"""Communities of labels that occur together, each with its own classifier.

    In the label graph, the weight of an edge is the number of rows that have both
    labels. The parts are communities c, found by greedy maximization of the modularity

    .. math::
        \sum_c \Big( e_{cc} - \gamma a_c^2 \Big), \qquad a_c = \sum_d e_{cd},

    where :math:`e_{cd}` is the share of the total edge weight between c and d. Labels
    of different parts are predicted independently. Good with a classifier such as
    :class:`~homi.estimators.LabelPowerset`, which cannot model hundreds of labels at
    once.

    Parameters
    ----------
    estimator : multi-label classifier or None, default=None
        Classifier of the labels of a part; its ``predict_proba`` has one column per
        label. None means ``LabelPowerset()``.
    resolution : float in [0, inf), default=1.0
        γ. Larger values give more and smaller parts; 0 gives the connected components.
    random_state : int, RandomState instance or None, default=0
        Seed of classifiers that need one.

    Attributes
    ----------
    label_parts_ : list of ndarray
        Indices of the labels of each part.
    estimators_ : list
        Fitted classifier of each part.
    classes_, label_names_, n_features_in_, feature_names_in_
        As in :class:`~homi.HOMI`.

    Notes
    -----
    The pair of communities with the largest gain is joined first, as by Clauset, Newman
    and Moore; this costs O(l³) for l labels.

    References
    ----------
    P. Szymański, T. Kajdanowicz, K. Kersting. How Is a Data-Driven Approach Better than
    Random Choice in Label Space Division for Multi-Label Classification? Entropy
    18(8), 2016.

    A. Clauset, M. E. J. Newman, C. Moore. Finding community structure in very large
    networks. Physical Review E 70, 2004.

    Examples
    --------
    >>> from homi.datasets import load
    >>> from homi.estimators import LabelSpacePartition, MLkNN
    >>> X, Y = load("yeast")[:2]
    >>> model = LabelSpacePartition(MLkNN()).fit(X, Y)
    >>> [part.tolist() for part in model.label_parts_]
    [[0, 1, 2, 3, 11, 12, 13], [4, 5, 6, 7, 8], [9, 10]]
    """

    _label_squares = 3
    _unweighted = "its graph counts rows in which labels occur together"
    _parameter_constraints = {
        "estimator": "no_validation",
        "resolution": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        resolution: float = 1.0,
        random_state: RandomState = 0,
    ) -> None:
        self.estimator = estimator
        self.resolution = resolution
        self.random_state = random_state

    def _fit(self, X: Matrix, target: Target) -> None:
        rng = check_random_state(self.random_state)
        Y = target.indicator
        weights = np.asarray(dense(Y.T @ Y), dtype=float)
        np.fill_diagonal(weights, 0.0)
        base = LabelPowerset() if self.estimator is None else self.estimator
        self.label_parts_ = communities(weights, self.resolution)
        self.estimators_ = [
            seeded(base, rng).fit(X, columns_of(Y, part).astype(int))
            for part in self.label_parts_
        ]

    def _scores(self, X: Matrix) -> Array:
        P = np.empty((X.shape[0], len(self.label_names_)))
        for part, model in zip(self.label_parts_, self.estimators_, strict=True):
            P[:, part] = label_probabilities(model, X, len(part))
        return P - 0.5


def communities(weights: Array, resolution: float) -> list[Indices]:
    """Join the two communities with the largest gain in modularity, until none gains.

    ``weights`` is symmetric with an empty diagonal. Joining c and d adds
    ``2 (e_cd - γ a_c a_d)``, where a are the row sums of e.
    """
    parts = [[label] for label in range(len(weights))]
    e = weights / max(weights.sum(), 1.0)
    while len(parts) > 1:
        a = e.sum(axis=1)
        gain = e - resolution * np.outer(a, a)
        np.fill_diagonal(gain, -np.inf)
        c, d = divmod(int(gain.argmax()), len(parts))
        if gain[c, d] <= 0:
            break
        # c < d: gain is symmetric, and argmax returns the first.
        parts[c] += parts.pop(d)
        e[c] += e[d]
        e[:, c] += e[:, d]
        e = np.delete(np.delete(e, d, axis=0), d, axis=1)
    return sorted((np.sort(part) for part in parts), key=lambda part: int(part[0]))
