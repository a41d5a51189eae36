"""HOMER: a hierarchy of label clusters with one multi-label classifier per node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from homi.arrays import dense
from homi.base._compat import Interval
from homi.base.classifier import agreeing
from homi.base.targets import Target
from homi.base.weights import UnweightedMixin
from homi.methods.binary_relevance import BinaryRelevance
from homi.methods.wrapping import (
    WrappingClassifier,
    label_probabilities,
    seeded,
)
from homi.typing import Array, Indices, Mask, Matrix, RandomState

#: Iterations of balanced k-means.
_ITERATIONS = 10


@dataclass(frozen=True)
class Node:
    """An inner node: its labels are divided among its children.

    Attributes
    ----------
    labels : ndarray
        Indices of all labels below the node.
    children : tuple
        Inner nodes, and leaves as arrays of one label.
    estimator : object
        Classifier of the meta-labels: whether a row has any label of each child.
    """

    labels: Indices
    children: tuple[Node | Indices, ...]
    estimator: BaseEstimator


class HOMER(UnweightedMixin, WrappingClassifier):
    r"""Hierarchy of multi-label classifiers by Tsoumakas, Katakis and Vlahavas.

    Balanced k-means divides the labels into k clusters of similar labels, each of these
    again, down to single labels. At every inner node, a multi-label classifier predicts
    the meta-labels of its children: whether a row has any label of child c. It is
    fitted to the rows that have any label of the node. A label is predicted where all
    meta-labels on its path are; its probability is their product:

    .. math::
        P(y_j \mid x) = \prod_{c \,\ni\, j} P(\mu_c \mid \mu_{parent(c)}, x),
        \qquad \mu_c = \bigvee_{i \in c} y_i

    Good for many labels: a node has few meta-labels, which are more balanced than
    the labels, and nodes far from the root have few rows.

    Parameters
    ----------
    estimator : multi-label classifier or None, default=None
        Classifier of the meta-labels of a node; its ``predict_proba`` has one column
        per label. None means ``BinaryRelevance(loss="log", C=0.1)``.
    n_children : int in [2, inf), default=3
        k, the number of children of a node.
    random_state : int, RandomState instance or None, default=0
        Seed of the clusters and of classifiers that need one.

    Attributes
    ----------
    root_ : object
        The root, with ``labels`` (indices), ``children`` (nodes, or arrays of one
        label) and ``estimator``.
    classes_, label_names_, n_features_in_, feature_names_in_
        As in :class:`~homi.HOMI`.

    Notes
    -----
    Labels are compared by the Euclidean distance of their columns in Y. There are at
    most l - 1 nodes for l labels. The root is fitted to all rows. Where a product
    contradicts the prediction, ``predict_proba`` returns a value next to one half that
    agrees with it.

    References
    ----------
    G. Tsoumakas, I. Katakis, I. Vlahavas. Effective and Efficient Multilabel
    Classification in Domains with Large Number of Labels. ECML PKDD Workshop on Mining
    Multidimensional Data, 2008.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from homi.estimators import HOMER
    >>> X, Y = make_multilabel_classification(200, n_classes=7, random_state=0)
    >>> model = HOMER().fit(X, Y)
    >>> [child.labels.tolist() for child in model.root_.children[:2]]
    [[3, 4, 6], [0, 2]]
    """

    _label_squares = 2
    _unweighted = "its clusters of labels count rows once"
    _parameter_constraints = {
        "estimator": "no_validation",
        "n_children": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        n_children: int = 3,
        random_state: RandomState = 0,
    ) -> None:
        self.estimator = estimator
        self.n_children = n_children
        self.random_state = random_state

    def _fit(self, X: Matrix, target: Target) -> None:
        rng = check_random_state(self.random_state)
        X = sparse.csr_array(X) if sparse.issparse(X) else X
        Y = sparse.csc_array(target.indicator)
        gram = np.asarray(dense(Y.T @ Y), dtype=float)
        base = self.estimator
        if base is None:
            base = BinaryRelevance(loss="log", C=0.1)
        grow = _Growth(X, Y, gram, base, self.n_children, rng)
        self.root_ = grow.node(np.arange(Y.shape[1]), np.arange(X.shape[0]))

    def _scores(self, X: Matrix) -> Array:
        P = np.empty((X.shape[0], len(self.label_names_)))
        predicted = np.empty(P.shape, dtype=bool)
        start = np.ones(len(P)), np.ones(len(P), dtype=bool)
        for label, product, reached in _leaves(self.root_, X, *start):
            P[:, label], predicted[:, label] = product, reached
        return agreeing(P, predicted) - 0.5


@dataclass(frozen=True)
class _Growth:
    """Data shared by all nodes: rows, labels, YᵀY and the base classifier."""

    X: Matrix
    Y: sparse.csc_array
    gram: Array
    base: BaseEstimator
    n_children: int
    rng: np.random.RandomState

    def node(self, labels: Indices, rows: Indices) -> Node:
        """Fit a node, and each child to the rows with any of the child's labels."""
        parts = [labels]
        if len(labels) > 1:
            gram = self.gram[np.ix_(labels, labels)]
            parts = [
                labels[c] for c in balanced_clusters(gram, self.n_children, self.rng)
            ]
        has = np.column_stack([self.has_any(part)[rows] for part in parts])
        X = self.X if len(rows) == self.X.shape[0] else self.X[rows]
        estimator = seeded(self.base, self.rng).fit(X, has.astype(int))
        children = tuple(
            part if len(part) == 1 else self.node(part, self.enough(rows[has[:, c]]))
            for c, part in enumerate(parts)
        )
        return Node(labels, children, estimator)

    def has_any(self, labels: Indices) -> Mask:
        """Return ``μ``: whether each row has any of the labels."""
        return np.asarray(self.Y[:, labels].sum(axis=1)).ravel() > 0

    def enough(self, rows: Indices) -> Indices:
        """Return the rows, or all rows if there are fewer than two."""
        return rows if len(rows) > 1 else np.arange(self.X.shape[0])


def _leaves(
    node: Node, X: Matrix, product: Array, reached: Mask
) -> Iterator[tuple[int, Array, Mask]]:
    """Yield each label, its probability and whether its whole path is predicted."""
    P = label_probabilities(node.estimator, X, len(node.children))
    for child, p in zip(node.children, P.T, strict=True):
        path = product * p, reached & (p > 0.5)
        if isinstance(child, Node):
            yield from _leaves(child, X, *path)
        else:
            yield int(child[0]), *path


def balanced_clusters(
    gram: Array, n_clusters: int, rng: np.random.RandomState
) -> list[Indices]:
    """Divide labels into clusters of at most ⌈l / k⌉ by balanced k-means.

    ``gram`` is YᵀY of the labels. The first centers are random labels.
    """
    q = len(gram)
    k = min(n_clusters, q)
    members = [np.array([label]) for label in rng.permutation(q)[:k]]
    for _ in range(_ITERATIONS):
        before, members = members, _assign(_distances(gram, members), -(-q // k))
        if all(map(np.array_equal, before, members)):
            break
    return [part for part in members if len(part)]


def _distances(gram: Array, members: list[Indices]) -> Array:
    """Compute ``‖y_p - c‖²`` for every label p and cluster mean c, from YᵀY."""
    M = np.zeros((len(gram), len(members)))
    for c, part in enumerate(members):
        M[part, c] = 1.0 / max(1, len(part))
    GM = gram @ M
    return np.diag(gram)[:, None] - 2.0 * GM + np.sum(M * GM, axis=0)


def _assign(distances: Array, limit: int) -> list[Indices]:
    """Assign labels to the nearest cluster; a full one passes on its farthest label."""
    left = distances.copy()
    members: list[list[int]] = [[] for _ in distances.T]
    for label in range(len(left)):
        moving = [label]
        while moving:
            c = int(left[moving].argmin())
            members[c] += moving
            members[c].sort(key=distances[:, c].__getitem__)
            moving = members[c][limit:]
            del members[c][limit:]
            left[moving, c] = np.inf
    return [np.sort(np.array(part, dtype=np.intp)) for part in members]
