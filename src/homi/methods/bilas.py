"""BILAS: features of a pair of labels are distances to its own prototypes."""

from __future__ import annotations

import math
from numbers import Integral, Real

import numpy as np
from scipy import sparse

from homi.arrays import dense
from homi.base._compat import Interval
from homi.methods.lift import single_tasks, varying_labels
from homi.methods.prototype_classifier import PrototypeClassifier, Task
from homi.methods.prototypes import clusters_per_cell
from homi.typing import Array, Indices, RandomState

#: Default ratio of LIFT, for a label without a partner.
_LIFT_RATIO = 0.1


class BILAS(PrototypeClassifier):
    r"""BiLabel-specific features (reconstruction).

    .. math:: \varphi_{pq}(x) = \big(\|x - c\|\big)_{c \,\in\, \mathcal C_{pq}}, \qquad
              s_p(x) = \operatorname{mean}_{q} P\big(y_p = 1 \mid \varphi_{pq}(x)\big)

    Every label is paired with the labels that it correlates with most. A pair splits
    the rows into four cells: with both labels, only the first, only the second, and
    neither. k-means finds k centers in each cell, and logistic regressions on the
    distances to all centers,

    .. math:: \min_{w, b} \tfrac12 \|w\|^2 + C \sum_i
              \log\big(1 + e^{-\tilde y_{ip} (w^\top \varphi_{pq}(x_i) + b)}\big),

    predict both labels. The score of a label is its mean probability over its pairs.
    Good where the rows with a label form several clusters that depend on other labels.

    The details are not public: this is a reconstruction from the abstract, from the
    parameters that the HOMI paper names, and from LIFT, which the method extends.

    Parameters
    ----------
    t : float in (0, 1], default=0.1
        Share of the other labels that are a label's partners, rounded up.
    ratio : float in (0, 1], default=0.5
        The number of centers k is this share of the smallest cell that is not empty,
        rounded up.
    C : float in (0, inf), default=1.0
        Inverse strength of the ridge penalty.
    max_partners : int in [1, inf), default=10
        Maximum number of partners of a label; it may also be a partner of others.
    max_prototypes : int in [1, inf), default=50
        Maximum number of centers k.
    standardize : bool, default=True
        Whether to scale every feature to variance 1 first.
    standardize_distances : bool, default=True
        Whether to scale every distance to mean 0 and variance 1 before the linear
        models. Otherwise the penalty is much weaker where there are many features.
    n_jobs : int or None, default=None
        Number of threads in ``fit`` and ``predict``. None means 1, -1 means all
        processors.
    random_state : int, RandomState instance or None, default=0
        Seed of the initial centers of k-means, and of the sample of large cells.

    Attributes
    ----------
    pairs_ : ndarray of shape (n_pairs, 2)
        Pairs of labels.
    n_prototypes_ : ndarray of shape (n_labels,)
        Number of prototypes of all pairs that contain each label.
    prototypes_ : Prototypes
        Scaled training rows, with the prototypes and linear models of each pair.
    classes_, label_names_, n_features_in_, feature_names_in_
        As in :class:`~homi.HOMI`.

    Notes
    -----
    A constant label has a constant score. A label without a partner, because all others
    are constant, is fitted as by :class:`LIFT` with its default ratio. k-means is run
    once, from random rows, on at most 1000 rows of a cell, or ten per center if that
    is more.

    A pair costs O(nnz(X)·k) for the distances, O(nk²) for their Gram matrix, and O(nk)
    for each of the few dozen iterations of the linear models. The training rows are
    stored, and a prototype is the set of indices of the rows that it averages.

    References
    ----------
    M.-L. Zhang, J.-P. Fang, Y.-B. Wang. BiLabel-Specific Features for Multi-Label
    Classification. ACM Transactions on Knowledge Discovery from Data 16(1), 2021.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from homi.estimators import BILAS
    >>> X, Y = make_multilabel_classification(200, n_classes=4, random_state=0)
    >>> BILAS(random_state=0).fit(X, Y).predict(X[:2]).shape
    (2, 4)
    """

    reconstruction = True

    _parameter_constraints = {
        "t": [Interval(Real, 0, 1, closed="right")],
        "ratio": [Interval(Real, 0, 1, closed="right")],
        "C": [Interval(Real, 0, None, closed="neither")],
        "max_partners": [Interval(Integral, 1, None, closed="left")],
        "max_prototypes": [Interval(Integral, 1, None, closed="left")],
        "standardize": ["boolean"],
        "standardize_distances": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        t: float = 0.1,
        ratio: float = 0.5,
        *,
        C: float = 1.0,
        max_partners: int = 10,
        max_prototypes: int = 50,
        standardize: bool = True,
        standardize_distances: bool = True,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.t = t
        self.ratio = ratio
        self.C = C
        self.max_partners = max_partners
        self.max_prototypes = max_prototypes
        self.standardize = standardize
        self.standardize_distances = standardize_distances
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _tasks(self, Y: sparse.csc_array) -> list[Task]:
        n, n_labels = Y.shape
        labels, YtY = varying_labels(Y), dense(Y.T @ Y)
        if len(labels) < 2:
            self.pairs_ = np.empty((0, 2), dtype=np.intp)
            return single_tasks(Y, labels, _LIFT_RATIO, self.max_prototypes)
        count = min(_share(self.t, n_labels - 1), self.max_partners, len(labels) - 1)
        near = correlation(YtY[np.ix_(labels, labels)], n)
        self.pairs_ = labels[choose_pairs(np.abs(near), count)]
        sizes = cell_sizes(YtY, n, self.pairs_)
        k = clusters_per_cell(sizes, self.ratio, self.max_prototypes)
        return [
            Task(*task) for task in zip(self.pairs_.tolist(), k.tolist(), strict=True)
        ]


def correlation(YtY: Array, n: int) -> Array:
    """Return the Pearson correlations of labels that are not constant, in n rows."""
    count = np.diag(YtY)
    spread = np.sqrt(count * (n - count))
    return (n * YtY - np.outer(count, count)) / np.outer(spread, spread)


def choose_pairs(near: Array, count: int) -> Indices:
    """Pair each label with its ``count`` nearest; return distinct pairs p < q."""
    # Ties are resolved by the order of labels, not by rounding.
    near = near.round(10)
    np.fill_diagonal(near, -np.inf)
    partners = np.argsort(-near, axis=1, kind="stable")[:, :count]
    labels = np.repeat(np.arange(len(near)), count)
    pairs = np.column_stack([labels, partners.ravel()])
    return np.unique(np.sort(pairs, axis=1), axis=0)


def cell_sizes(YtY: Array, n: int, pairs: Indices) -> Array:
    """Count the rows with both labels of a pair, only p, only q, and neither."""
    p, q = pairs.T
    both, count = YtY[p, q], np.diag(YtY)
    either = count[p] + count[q] - both
    return np.column_stack([both, count[p] - both, count[q] - both, n - either])


def _share(t: float, n: int) -> int:
    """``max(1, ⌈tn⌉)``."""
    return max(1, math.ceil(t * n - 1e-9))
