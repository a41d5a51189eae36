"""LIFT: features of a label are distances to its own prototypes."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from scipy import sparse

from homi.base._compat import Interval
from homi.methods.prototype_classifier import PrototypeClassifier, Task
from homi.methods.prototypes import clusters_per_cell
from homi.typing import Indices, RandomState


class LIFT(PrototypeClassifier):
    r"""Multi-label learning with label-specific features.

    .. math:: \varphi_p(x) = \big(\|x - c\|\big)_{c \,\in\, P_p \cup N_p}, \qquad
              \min_{w, b} \tfrac12 \|w\|^2 + C \sum_i
              \log\big(1 + e^{-\tilde y_{ip} (w^\top \varphi_p(x_i) + b)}\big)

    For every label p, k-means finds k centers :math:`P_p` among the rows with the
    label and k centers :math:`N_p` among the rows without it. A linear model of the
    distances to all centers predicts the label. Good where the rows with a label form
    several clusters, which a model that is linear in the features cannot separate.

    Parameters
    ----------
    ratio : float in (0, 1], default=0.1
        r: the number of centers k is this share of the number of rows with the label,
        or without it, whichever is smaller, rounded up.
    C : float in (0, inf), default=1.0
        Inverse strength of the ridge penalty.
    max_prototypes : int in [1, inf), default=200
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
    n_prototypes_ : ndarray of shape (n_labels,)
        Number of prototypes of each label, 0 for a constant label.
    prototypes_ : Prototypes
        Scaled training rows, with the prototypes and linear models of each label.
    classes_, label_names_, n_features_in_, feature_names_in_
        As in :class:`~homi.HOMI`.

    Notes
    -----
    A score is a probability minus ½. The original fits a support vector machine and
    maps its margins to probabilities; logistic regression models them. k-means is run
    once, from random rows, on at most 1000 rows with the label and as many without
    it, or ten per center if that is more.

    A label costs O(nnz(X)·k) for the distances, O(nk²) for their Gram matrix, and O(nk)
    for each of the few dozen iterations of the linear models. The training rows are
    stored, and a prototype is the set of indices of the rows that it averages.

    References
    ----------
    M.-L. Zhang, L. Wu. LIFT: Multi-Label Learning with Label-Specific Features. IEEE
    Transactions on Pattern Analysis and Machine Intelligence 37(1), 2015.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from homi.estimators import LIFT
    >>> X, Y = make_multilabel_classification(200, n_classes=4, random_state=0)
    >>> LIFT(random_state=0).fit(X, Y).predict(X[:2]).shape
    (2, 4)
    """

    _parameter_constraints = {
        "ratio": [Interval(Real, 0, 1, closed="right")],
        "C": [Interval(Real, 0, None, closed="neither")],
        "max_prototypes": [Interval(Integral, 1, None, closed="left")],
        "standardize": ["boolean"],
        "standardize_distances": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        ratio: float = 0.1,
        *,
        C: float = 1.0,
        max_prototypes: int = 200,
        standardize: bool = True,
        standardize_distances: bool = True,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.ratio = ratio
        self.C = C
        self.max_prototypes = max_prototypes
        self.standardize = standardize
        self.standardize_distances = standardize_distances
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _tasks(self, Y: sparse.csc_array) -> list[Task]:
        labels = varying_labels(Y)
        return single_tasks(Y, labels, self.ratio, self.max_prototypes)


def single_tasks(
    Y: sparse.csc_array, labels: Indices, ratio: float, most: int
) -> list[Task]:
    """Return one task per label; its cells are the rows with and without the label."""
    count = Y[:, labels].sum(axis=0)
    sizes = np.column_stack([count, Y.shape[0] - count])
    k = clusters_per_cell(sizes, ratio, most)
    return [Task([p], k_p) for p, k_p in zip(labels.tolist(), k.tolist(), strict=True)]


def varying_labels(Y: sparse.csc_array) -> Indices:
    """Return the labels that are not constant."""
    count = Y.sum(axis=0)
    return np.flatnonzero((count > 0) & (count < Y.shape[0]))
