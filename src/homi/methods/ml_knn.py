"""ML-KNN: posterior probabilities of labels given their counts among neighbors."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from homi.arrays import dense
from homi.base._compat import Interval
from homi.base.classifier import MultiLabelClassifier
from homi.base.targets import Target
from homi.base.weights import UnweightedMixin
from homi.graph import without_self
from homi.typing import Array, Fields, Indices, Matrix

#: Entries of a block of counts.
_BLOCK = 2**21


class MLkNN(UnweightedMixin, MultiLabelClassifier):
    r"""Multi-label k-nearest neighbors by Zhang and Zhou.

    With :math:`c_j(x)` the number of x's k nearest training rows that have label j,
    the label is predicted where its posterior probability exceeds one half:

    .. math::
        P(y_j \mid c_j) = \frac{P_{1j} L_{1j}[c_j]}{P_{1j} L_{1j}[c_j]
        + P_{0j} L_{0j}[c_j]}

    Priors P and likelihoods L are smoothed counts over the training rows; a row is not
    its own neighbor. Each label is predicted separately. Good where rows with a small
    Euclidean distance have similar labels, so scale the features.

    Parameters
    ----------
    n_neighbors : int in [1, inf), default=10
        k. With fewer rows, all other rows are neighbors.
    smoothing : float in (0, inf), default=1.0
        s, added to every count.

    Attributes
    ----------
    posterior_ : ndarray of shape (n_labels, n_neighbors + 1)
        Probability of each label for each count.
    classes_, label_names_, n_features_in_, feature_names_in_
        As in :class:`~homi.HOMI`.

    Notes
    -----
    The search costs O(n²m) in training and O(nm) per predicted row. Among rows at equal
    distance, scikit-learn chooses the neighbors. A score has at most k + 1 values, so
    rankings have many ties.

    References
    ----------
    M.-L. Zhang, Z.-H. Zhou. ML-KNN: A lazy learning approach to multi-label learning.
    Pattern Recognition 40(7), 2007.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from homi.estimators import MLkNN
    >>> X, Y = make_multilabel_classification(200, n_classes=4, random_state=0)
    >>> MLkNN().fit(X, Y).predict(X[:2]).shape
    (2, 4)
    """

    _unweighted = "it counts the neighbors of a row one by one"
    _parameter_constraints = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "smoothing": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(self, n_neighbors: int = 10, *, smoothing: float = 1.0) -> None:
        self.n_neighbors = n_neighbors
        self.smoothing = smoothing

    def _fit(self, X: Matrix, target: Target) -> None:
        n = X.shape[0]
        if n < 2:
            raise ValueError(
                f"neighbors need at least 2 rows, got n_samples = {n}; pass more rows."
            )
        k = min(self.n_neighbors, n - 1)
        indicator = sparse.csr_array(target.indicator)
        # scikit-learn keeps dense rows without a copy of its own.
        self.__dict__.update(training_attributes(X.copy(), indicator, k))
        found = self._neighbors.kneighbors(X, k + 1, return_distance=False)
        counts = _count(without_self(found), self._indicator)
        self.posterior_ = _posterior(counts, self._indicator, k, self.smoothing)

    def _scores(self, X: Matrix) -> Array:
        # Dense training rows are stored in a tree, which does not accept sparse rows.
        X = X if self._is_sparse else dense(X)
        found = self._neighbors.kneighbors(X, return_distance=False)
        counts = _count(found, self._indicator)
        return self.posterior_[np.arange(counts.shape[1]), counts] - 0.5

    def _probabilities(self, scores: Array) -> Array:
        return scores + 0.5


def training_rows(model: MLkNN) -> tuple[Matrix, sparse.csr_array, int]:
    """Return the training rows, their labels and the number of neighbors."""
    # scikit-learn stores the rows only in a private attribute.
    neighbors = model._neighbors
    return neighbors._fit_X, model._indicator, int(neighbors.n_neighbors)


def training_attributes(X: Matrix, indicator: sparse.csr_array, k: int) -> Fields:
    """Return the fitted attributes for k neighbors among the rows X."""
    return {
        "_neighbors": NearestNeighbors(n_neighbors=k).fit(X),
        "_is_sparse": sparse.issparse(X),
        "_indicator": indicator,
    }


def _count(found: Indices, Y: sparse.csr_array) -> Indices:
    """Count the neighbors of each row that have each label."""
    n, k = found.shape
    bounds = np.arange(0, n * k + 1, k)
    edges = sparse.csr_array((np.ones(n * k), found.ravel(), bounds), (n, Y.shape[0]))
    return dense(edges @ Y).astype(np.intp)


def _posterior(counts: Indices, Y: sparse.csr_array, k: int, smoothing: float) -> Array:
    """Compute ``P(y_j | c_j = r)`` for every label j and count r, by Bayes' rule."""
    n = len(counts)
    with_label = _histogram(counts, Y, k)
    without = _histogram(counts, None, k) - with_label
    prior = (smoothing + with_label.sum(axis=1)) / (2 * smoothing + n)
    joint = [
        share[:, None]
        * (smoothing + table)
        / (smoothing * (k + 1) + table.sum(axis=1, keepdims=True))
        for share, table in ((prior, with_label), (1.0 - prior, without))
    ]
    return joint[0] / (joint[0] + joint[1])


def _histogram(counts: Indices, Y: sparse.csr_array | None, k: int) -> Array:
    """Count the rows per label and neighbor count; with Y, rows with the label only."""
    n, q = counts.shape
    table = np.zeros(q * (k + 1))
    step = max(1, _BLOCK // q)
    for start in range(0, n, step):
        rows = slice(start, start + step)
        cells = np.arange(q) * (k + 1) + counts[rows]
        weights = None if Y is None else dense(Y[rows]).ravel()
        table += np.bincount(cells.ravel(), weights, len(table))
    return table.reshape(q, k + 1)
