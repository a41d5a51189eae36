"""RAKEL: multiclass classifiers of label combinations in small random label sets."""

from __future__ import annotations

import math
import warnings
from itertools import combinations
from numbers import Integral

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from homi.arrays import dense
from homi.base._compat import Interval
from homi.base.classifier import MultiLabelClassifier
from homi.base.scaling import Scaler
from homi.base.targets import Target
from homi.base.weights import SampleWeightMixin
from homi.methods.wrapping import seeded
from homi.threads import one_thread
from homi.typing import Array, Indices, Matrix, RandomState

#: C is the best of 1, 0.1, 0.03, 0.01 and 0.003 on most of the smaller data sets.
_DEFAULT = LogisticRegression(C=0.01, solver="newton-cg", tol=1e-5, max_iter=1000)

#: Smallest distance of a probability from 0 and 1.
_EDGE = 1e-12


class RAKEL(SampleWeightMixin, MultiLabelClassifier):
    r"""Random k-labelsets by Tsoumakas and Vlahavas.

    Random sets R of k labels are drawn. For each set, one multiclass classifier
    predicts which combination of its labels a row has, among those that occur. This
    models dependence between the labels of a set. A label is predicted where its
    probability, the mean over the sets that contain it, exceeds one half:

    .. math::
        P(y_j \mid x) = \frac{1}{|\{R : j \in R\}|} \sum_{R \ni j} \;
        \sum_{c\,:\,c_j = 1} P_R(c \mid x)

    If the classifier has no probabilities, the predicted c has probability 1.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Multiclass classifier of the combinations of a set. None means logistic
        regression with C = 0.01, which suits standardized features.
    labelset_size : int in [1, inf), default=3
        k. With fewer labels, a set contains all of them; 1 is binary relevance.
    n_labelsets : int in [1, inf) or None, default=None
        Number of sets. None means twice the number of labels if sets overlap, and at
        most the number of distinct sets.
    overlap : bool, default=True
        Whether a label may be in several sets (RAKELo). Otherwise the sets partition
        the labels (RAKELd), and the last set may be smaller.
    n_jobs : int or None, default=None
        Number of processes, as in joblib. Each uses one thread.
    standardize : bool, default=True
        Whether to scale every feature to mean 0 and variance 1 first. Sparse rows are
        scaled to variance 1 only.
    random_state : int, RandomState instance or None, default=0
        Seed of the sets and of classifiers that need one.

    Attributes
    ----------
    labelsets_ : list of ndarray
        Labels of each set. Every label is in at least one set.
    combinations_ : list of ndarray of shape (n_combinations, labelset_size)
        The combinations of 0 and 1 that occur in each set.
    estimators_ : list
        Classifier of each set, whose class i is combination i; None where only one
        combination occurs.
    scaler_ : Scaler or None
        Scaling of the features; None without ``standardize``.
    classes_, label_names_, n_features_in_, feature_names_in_
        As in :class:`~homi.HOMI`.

    Notes
    -----
    A set of k labels has at most 2ᵏ combinations, and at most as many as rows. The cost
    is that of one multiclass classifier per set.

    References
    ----------
    G. Tsoumakas, I. Vlahavas. Random k-Labelsets: An Ensemble Method for Multilabel
    Classification. ECML 2007.

    G. Tsoumakas, I. Katakis, I. Vlahavas. Random k-Labelsets for Multilabel
    Classification. IEEE Transactions on Knowledge and Data Engineering 23(7), 2011.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from homi.estimators import RAKEL
    >>> X, Y = make_multilabel_classification(200, n_classes=4, random_state=0)
    >>> model = RAKEL(random_state=0).fit(X, Y)
    >>> model.predict(X[:2]).shape
    (2, 4)
    >>> len(model.labelsets_)  # all sets of 3 of 4 labels
    4
    """

    _parameter_constraints = {
        "estimator": "no_validation",
        "labelset_size": [Interval(Integral, 1, None, closed="left")],
        "n_labelsets": [Interval(Integral, 1, None, closed="left"), None],
        "overlap": ["boolean"],
        "n_jobs": [Integral, None],
        "standardize": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        labelset_size: int = 3,
        n_labelsets: int | None = None,
        overlap: bool = True,
        n_jobs: int | None = None,
        standardize: bool = True,
        random_state: RandomState = 0,
    ) -> None:
        self.estimator = estimator
        self.labelset_size = labelset_size
        self.n_labelsets = n_labelsets
        self.overlap = overlap
        self.n_jobs = n_jobs
        self.standardize = standardize
        self.random_state = random_state

    def _fit(  # type: ignore[override]
        self, X: Matrix, target: Target, weights: Array | None
    ) -> None:
        rng = check_random_state(self.random_state)
        self._check_takes_weights(weights)
        Y = target.indicator
        Y = sparse.csc_array(Y) if sparse.issparse(Y) else Y
        self.labelsets_ = self._draw(Y.shape[1], rng)
        self.scaler_ = Scaler.fit(X, weights) if self.standardize else None
        X = self._scaled(X)
        fits = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_combinations)(self._base(rng), X, _columns(Y, labels), weights)
            for labels in self.labelsets_
        )
        self.combinations_, self.estimators_ = map(list, zip(*fits, strict=True))

    def _check_takes_weights(self, weights: Array | None) -> None:
        base = self.estimator
        if weights is None or base is None or has_fit_parameter(base, "sample_weight"):
            return
        raise ValueError(
            f"fit of {type(base).__name__} takes no sample_weight; pass another "
            "estimator to RAKEL, or leave sample_weight out."
        )

    def _draw(self, n_labels: int, rng: np.random.RandomState) -> list[Indices]:
        size = min(self.labelset_size, n_labels)
        fewest = math.ceil(n_labels / size)
        number = self.n_labelsets
        if not self.overlap:
            number = fewest if number is None else number
            if number != fewest:
                raise ValueError(
                    f"{n_labels} labels make {fewest} sets of {size} that do not "
                    f"overlap, got n_labelsets={number}; pass n_labelsets=None."
                )
            return partition(n_labels, size, rng)
        number = 2 * n_labels if number is None else number
        number = min(number, math.comb(n_labels, size))
        if number < fewest:
            raise ValueError(
                f"n_labelsets={number} sets of {size} labels cannot contain all "
                f"{n_labels} labels; use at least {fewest} sets, or larger ones."
            )
        return overlapping(n_labels, size, number, rng)

    def _base(self, rng: np.random.RandomState) -> BaseEstimator:
        """Return an unfitted classifier with its own seeds."""
        return seeded(_DEFAULT if self.estimator is None else self.estimator, rng)

    def _scaled(self, X: Matrix) -> Matrix:
        return X if self.scaler_ is None else self.scaler_(X)

    def _scores(self, X: Matrix) -> Array:
        X = self._scaled(X)
        sums = np.zeros((X.shape[0], len(self.label_names_)))
        counts = np.zeros(len(self.label_names_))
        for labels, rows, model in zip(
            self.labelsets_, self.combinations_, self.estimators_, strict=True
        ):
            sums[:, labels] += _marginals(model, rows, X)
            counts[labels] += 1
        return sums / counts - 0.5

    def _probabilities(self, scores: Array) -> Array:
        return np.clip(scores + 0.5, _EDGE, 1.0 - _EDGE)


def _columns(Y: Matrix, labels: Indices) -> NDArray[np.int8]:
    """Return some columns of Y as a dense array."""
    some = Y[:, labels]
    return dense(some).astype(np.int8)


def _fit_combinations(
    base: BaseEstimator, X: Matrix, Y: NDArray[np.int8], weights: Array | None
) -> tuple[NDArray[np.int8], BaseEstimator | None]:
    """Return the distinct rows of Y, and a classifier that predicts them from X."""
    rows, codes = np.unique(Y, axis=0, return_inverse=True)
    if len(rows) == 1:
        return rows, None
    with one_thread(), warnings.catch_warnings():
        # Expected: few rows may have many combinations.
        warnings.filterwarnings("ignore", "The number of unique classes")
        given = {} if weights is None else {"sample_weight": weights}
        return rows, base.fit(X, codes.ravel(), **given)


def _marginals(model: BaseEstimator | None, rows: NDArray[np.int8], X: Matrix) -> Array:
    """Sum the probabilities of the combinations that contain each label of a set."""
    if model is None:
        return np.repeat(rows.astype(float), X.shape[0], axis=0)
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X) @ rows
    return rows[model.predict(X)].astype(float)


def partition(n_labels: int, size: int, rng: np.random.RandomState) -> list[Indices]:
    """Draw a random partition into sets of ``size``; the last set may be smaller."""
    order = rng.permutation(n_labels)
    return [np.sort(order[i : i + size]) for i in range(0, n_labels, size)]


def overlapping(
    n_labels: int, size: int, number: int, rng: np.random.RandomState
) -> list[Indices]:
    """Draw distinct random sets that together contain every label.

    The first ones are a partition, whose last set is filled up with other labels.
    """
    first = partition(n_labels, size, rng)
    others = np.setdiff1d(np.arange(n_labels), first[-1])
    fill = rng.choice(others, size - len(first[-1]), replace=False)
    first[-1] = np.sort(np.append(first[-1], fill))
    sets = dict.fromkeys(tuple(labels.tolist()) for labels in first)
    if math.comb(n_labels, size) <= 2 * number:
        every = list(combinations(range(n_labels), size))
        rest = [every[i] for i in rng.permutation(len(every)) if every[i] not in sets]
        sets.update(dict.fromkeys(rest[: number - len(sets)]))
    while len(sets) < number:
        labels = rng.choice(n_labels, size, replace=False)
        sets[tuple(np.sort(labels).tolist())] = None
    return [np.array(labels) for labels in sets]
