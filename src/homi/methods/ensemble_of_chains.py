"""Ensemble of classifier chains, each with an order and a sample of its own."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from homi.base._compat import Interval, StrOptions
from homi.base.scaling import Scaler
from homi.methods._labelwise import Array, LabelModel, LabelwiseClassifier, in_units
from homi.methods.chain_model import SHARED_CONSTRAINTS, fit_one

#: Share of the rows in a subset.
_SUBSET = 0.67

#: Largest seed that scikit-learn takes.
_SEEDS = np.iinfo(np.int32).max


class EnsembleOfChains(LabelwiseClassifier):
    r"""Classifier chains of random orders on random rows, by Read and others.

    A label is predicted where the mean of its probabilities over N chains exceeds a
    threshold:

    .. math:: \frac1N \sum_{c=1}^N P_c(y_j \mid x, \hat y_{c1}, \dots) > t

    Each :class:`ClassifierChain` c decides the labels in an order of its own, with
    those it has decided before as features.

    Parameters
    ----------
    estimator : classifier or None, default=None
        A binary classifier of scikit-learn to fit to each label of each chain
        instead. C, loss and tol are then unused.
    n_chains : int in [1, inf), default=5
        N.
    C : float in (0, inf), default=1.0
        Weight of the loss.
    loss : {"squared_hinge", "log"}, default="squared_hinge"
        Support vector machines with Platt's sigmoids, or logistic regressions, which
        take a tenth of the time.
    sample : {"bootstrap", "subset", "all"}, default="bootstrap"
        Rows of each chain: as many as there are, drawn with replacement; 67 % of
        them without; or all.
    threshold : float in (0, 1) or "pcut", default=0.5
        t. "pcut" is where as many labels of the training rows are predicted as they
        have.
    standardize : bool, default=True
        Whether to give every feature variance 1, and mean 0 if the rows are dense.
    tol : float in (0, inf), default=1e-3
        A label is done when its gradient is this share of that at w = 0.
    n_jobs : int or None, default=None
        Chains that are fitted at the same time, by threads; with ``estimator`` by
        processes. None is one, -1 as many as processors.
    random_state : int, RandomState instance or None, default=0
        Seed of the orders, the rows, and the inner folds of support vector machines.

    Attributes
    ----------
    orders_ : list of ndarray of shape (n_labels,)
        Labels of each chain, the first to be decided first.
    threshold_ : float
        t.
    classes_, label_names_, n_features_in_, feature_names_in_
        As in :class:`~homi.HOMI`.

    Notes
    -----
    A label that is constant in the rows of a chain is constant in its predictions.
    Costs N fits of linear classifiers with up to n_labels more features; support
    vector machines cost three times that, for the inner folds of their sigmoids. A row
    that a bootstrap sample has twice is read once, with a weight.

    The HOMI paper states N only. Of the two losses, the mean of probabilities or of
    votes, and the kinds of sample, the defaults come nearest to the row it prints.

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
        estimator=None,
        *,
        n_chains=5,
        C=1.0,
        loss="squared_hinge",
        sample="bootstrap",
        threshold=0.5,
        standardize=True,
        tol=1e-3,
        n_jobs=None,
        random_state=0,
    ):
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
        self, X: Any, Y: Any, scaler: Scaler | None, rng: np.random.RandomState
    ) -> None:
        options = {"C": self.C, "loss": self.loss, "tol": self.tol}
        jobs = (
            delayed(_fit_sample)(X, Y, self.sample, self.estimator, options, seed)
            for seed in rng.randint(_SEEDS, size=self.n_chains)
        )
        threads = {"require": "sharedmem"} if self.estimator is None else {}
        with threadpool_limits(1):
            fitted = Parallel(self.n_jobs, **threads)(jobs)
        self.orders_, self._chains = map(list, zip(*fitted, strict=True))
        self.threshold_ = self.threshold
        if self.threshold == "pcut":
            self.threshold_ = pcut(self._votes(X), round(Y.sum()))
        self._chains = [in_units(chain, scaler) for chain in self._chains]

    def _votes(self, X: Any) -> Array:
        """Means of the chains' probabilities."""
        return np.mean([chain.probabilities(X) for chain in self._chains], axis=0)

    def _scores(self, X: Any) -> Array:
        return self._votes(X) - self.threshold_

    def _probabilities(self, scores: Array) -> Array:
        inside = scores + self.threshold_
        return np.clip(inside, np.nextafter(0.0, 1.0), np.nextafter(1.0, 0.0))


def pcut(scores: Array, positives: int) -> float:
    """A threshold that as many scores exceed, ties aside: midway to the next one."""
    ranked = np.concatenate([[1.0], np.sort(scores, axis=None)[::-1], [0.0]])
    return float(ranked[positives : positives + 2].mean())


def _fit_sample(
    X: Any, Y: Any, sample: str, estimator: Any, options: dict[str, Any], seed: int
) -> tuple[NDArray[np.intp], LabelModel]:
    """An order of the labels, and a chain in this order of some of the rows."""
    rng = np.random.RandomState(seed)
    order, draws = rng.permutation(Y.shape[1]), _draws(sample, X.shape[0], rng)
    return order, fit_one(X, Y, order, estimator, options, rng, draws)


def _draws(sample: str, n: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    if sample == "bootstrap":
        return rng.randint(n, size=n)
    if sample == "subset":
        return rng.permutation(n)[: max(1, round(_SUBSET * n))]
    return np.arange(n)
