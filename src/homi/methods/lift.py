"""LIFT: each label sees the rows by their distances to its own prototypes."""

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

    For every label p, k-means finds k centres :math:`P_p` among the rows with the
    label and k centres :math:`N_p` among those without it, and a linear model of the
    distances to all of them predicts the label. Good where a label lives in several
    places of the feature space, which a model that is linear in the features cannot
    tell apart.

    Parameters
    ----------
    ratio : float in (0, 1], default=0.1
        r: the number of centres k is this share of the rarer of the two, rounded up.
    C : float in (0, inf), default=1.0
        Weight of the loss against the length of the coefficients.
    max_prototypes : int in [1, inf), default=200
        Most centres k.
    standardize : bool, default=True
        Whether to give every feature variance 1 first.
    standardize_distances : bool, default=True
        Whether to give every distance mean 0 and variance 1 before the linear models.
        Without it they are penalised much less where features are many.
    n_jobs : int or None, default=None
        Threads that learn and predict; None for one, -1 for one per core.
    random_state : int, RandomState instance or None, default=0
        Where k-means starts, and which rows of a large cell it sees.

    Attributes
    ----------
    n_prototypes_ : ndarray of shape (n_labels,)
        Number of prototypes of each label, 0 for a label that is constant.
    classes_, label_names_, n_features_in_, feature_names_in_
        As in :class:`~homi.HOMI`.

    Notes
    -----
    A score is a probability less ½. The original learns a support vector machine and
    then probabilities from its margins; the logistic loss gives them at once. k-means
    starts once, from random rows, and sees at most 1000 rows with the label and as many
    without it, or ten for each centre.

    A label costs O(nnz(X)·k) for the distances, O(nk²) for their Gram matrix, and O(nk)
    for each of the few dozen steps of the linear models. The rows are kept: a prototype
    is stored as the rows that it is the mean of.

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
    """Each label by itself: one cell of rows with it and one of those without."""
    count = Y[:, labels].sum(axis=0)
    sizes = np.column_stack([count, Y.shape[0] - count])
    k = clusters_per_cell(sizes, ratio, most)
    return [Task([p], k_p) for p, k_p in zip(labels.tolist(), k.tolist(), strict=True)]


def varying_labels(Y: sparse.csc_array) -> Indices:
    """The labels that some rows have and some have not."""
    count = Y.sum(axis=0)
    return np.flatnonzero((count > 0) & (count < Y.shape[0]))
