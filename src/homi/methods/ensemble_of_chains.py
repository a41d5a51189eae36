"""Ensemble of classifier chains, each with its own order and sample of rows."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.parallel import Parallel, delayed

from homi.base._compat import Interval, StrOptions
from homi.base.classifier import strictly_inside
from homi.base.scaling import Scaler
from homi.linear import LossName
from homi.methods.chains import SHARED_CONSTRAINTS, fit_one
from homi.methods.label_models import LabelModel, undo_scaling
from homi.methods.labelwise import LabelwiseClassifier
from homi.threads import one_thread
from homi.typing import Array, Fields, Indices, Matrix, RandomState

#: Share of the rows in a subset.
_SUBSET = 0.67

#: Largest seed that scikit-learn accepts.
_SEEDS = np.iinfo(np.int32).max


class EnsembleOfChains(LabelwiseClassifier):
    r"""Average classifier chains of random orders on random rows, by Read et al.

    A label is predicted where the mean of its probabilities over N chains exceeds a
    threshold:

    .. math:: \frac1N \sum_{c=1}^N P_c(y_j \mid x, \hat y_{c1}, \dots) > t

    Each :class:`ClassifierChain` c has its own order. It predicts a label from the
    features and the labels predicted earlier.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Binary scikit-learn classifier to fit to each label of each chain instead.
        ``C``, ``loss`` and ``tol`` are then ignored.
    n_chains : int in [1, inf), default=5
        Number of chains N.
    C : float in (0, inf), default=1.0
        Weight of the loss.
    loss : {"squared_hinge", "log"}, default="squared_hinge"
        Support vector machines with Platt's sigmoids, or logistic regressions, which
        are about ten times as fast.
    sample : {"bootstrap", "subset", "all"}, default="bootstrap"
        Rows of each chain: n_samples rows drawn with replacement; 67 % of the rows
        drawn without replacement; or all rows.
    threshold : float in (0, 1) or "pcut", default=0.5
        t. "pcut" chooses it so that the number of labels predicted in training equals
        the number of true labels.
    standardize : bool, default=True
        Whether to scale every feature to variance 1, and to mean 0 if X is dense.
    tol : float in (0, inf), default=1e-3
        A label has converged when the norm of its gradient is at most this share of
        the norm at w = 0.
    n_jobs : int or None, default=None
        Number of chains fitted in parallel, by threads, or by processes with
        ``estimator``. None means 1, -1 means all processors.
    random_state : int, RandomState instance or None, default=0
        Seed of the orders, the rows, and the inner folds of support vector machines.

    Attributes
    ----------
    orders_ : list of ndarray of shape (n_labels,)
        Labels of each chain, in its order.
    chains_ : list
        The fitted chains.
    threshold_ : float
        Threshold t.
    classes_, label_names_, n_features_in_, feature_names_in_
        As in :class:`~homi.HOMI`.

    Notes
    -----
    A chain predicts a constant for a label that is constant in its rows. The cost is
    that of N fits of linear classifiers with up to n_labels more features. Support
    vector machines cost three times as much, because of the inner folds of their
    sigmoids. A row drawn twice in a bootstrap sample is stored once, with a weight.

    The HOMI paper states only N. The defaults for the loss, the averaging and the
    sample are those whose results are closest to the paper's.

    References
    ----------
    J. Read, B. Pfahringer, G. Holmes, E. Frank. Classifier chains for multi-label
    classification. ECML PKDD 2009, and Machine Learning 85(3), 2011.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from homi.estimators import EnsembleOfChains
    >>> X, Y = make_multilabel_classification(200, n_classes=4, random_state=0)
    >>> EnsembleOfChains(random_state=0).fit(X, Y).predict(X[:2]).shape
    (2, 4)
    """

    _parameter_constraints = {
        **SHARED_CONSTRAINTS,
        "n_chains": [Interval(Integral, 1, None, closed="left")],
        "sample": [StrOptions({"bootstrap", "subset", "all"})],
        "threshold": [StrOptions({"pcut"}), Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        n_chains: int = 5,
        C: float = 1.0,
        loss: LossName = "squared_hinge",
        sample: Literal["bootstrap", "subset", "all"] = "bootstrap",
        threshold: float | Literal["pcut"] = 0.5,
        standardize: bool = True,
        tol: float = 1e-3,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.estimator = estimator
        self.n_chains = n_chains
        self.C = C
        self.loss = loss
        self.sample = sample
        self.threshold = threshold
        self.standardize = standardize
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learn(
        self,
        X: Matrix,
        Y: Matrix,
        scaler: Scaler | None,
        rng: np.random.RandomState,
        weights: Array | None,
    ) -> None:
        if weights is not None and self.threshold == "pcut":
            raise ValueError(
                "threshold='pcut' does not support sample_weight; pass a number as "
                "threshold, or leave sample_weight out."
            )
        options: Fields = {"C": self.C, "loss": self.loss, "tol": self.tol}
        options["weights"] = weights
        jobs = (
            delayed(_fit_sample)(X, Y, self.sample, self.estimator, options, seed)
            for seed in rng.randint(_SEEDS, size=self.n_chains)
        )
        threads = {"require": "sharedmem"} if self.estimator is None else {}
        with one_thread():
            fitted = Parallel(self.n_jobs, **threads)(jobs)
        self.orders_, self.chains_ = map(list, zip(*fitted, strict=True))
        self.threshold_ = (
            pcut(self._votes(X), round(Y.sum()))
            if self.threshold == "pcut"
            else self.threshold
        )
        self.chains_ = [undo_scaling(chain, scaler) for chain in self.chains_]

    def _votes(self, X: Matrix) -> Array:
        """Return the mean probabilities of the chains."""
        return np.mean([chain.probabilities(X) for chain in self.chains_], axis=0)

    def _scores(self, X: Matrix) -> Array:
        return self._votes(X) - self.threshold_

    def _probabilities(self, scores: Array) -> Array:
        return strictly_inside(scores + self.threshold_)


def pcut(scores: Array, positives: int) -> float:
    """Return a threshold that the given number of scores exceed, apart from ties."""
    ranked = np.concatenate([[1.0], np.sort(scores, axis=None)[::-1], [0.0]])
    return float(ranked[positives : positives + 2].mean())


def _fit_sample(
    X: Matrix,
    Y: Matrix,
    sample: str,
    estimator: BaseEstimator,
    options: Fields,
    seed: int,
) -> tuple[Indices, LabelModel]:
    """Draw an order of the labels and a sample of the rows, and fit a chain."""
    rng = np.random.RandomState(seed)
    order, draws = rng.permutation(Y.shape[1]), _draws(sample, X.shape[0], rng)
    return order, fit_one(X, Y, order, estimator, options, rng, draws)


def _draws(sample: str, n: int, rng: np.random.RandomState) -> Indices:
    if sample == "bootstrap":
        return rng.randint(n, size=n)
    if sample == "subset":
        return rng.permutation(n)[: max(1, round(_SUBSET * n))]
    return np.arange(n)
