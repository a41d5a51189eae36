"""Calibrated label ranking: pairwise comparisons with a virtual label."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Literal

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from homi.base._compat import Interval, StrOptions
from homi.base.classifier import MultiLabelClassifier
from homi.base.scaling import Scaler
from homi.base.targets import Target
from homi.methods.logistic import fit_logistic
from homi.typing import Array, Indices, Matrix

#: Entries of a block of comparisons.
_BLOCK = 2**21
#: Smallest distance of a probability from 0 and 1.
_EDGE = 1e-12


class CalibratedLabelRanking(MultiLabelClassifier):
    r"""Rank labels by pairwise comparison, with a virtual label, by Fürnkranz et al.

    For every pair of labels, a logistic regression on the rows that have exactly one of
    them models the probability :math:`p_{jk}(x)` of j rather than k. The virtual label
    0 ranks between the labels that a row has and those that it does not have, so
    :math:`p_{j0}` is the probability of label j, fitted to all rows. A label is
    predicted where it gets more votes than the virtual label:

    .. math::
        s_j = v_j - v_0, \quad v_j = p_{j0} + \sum_{k \ne j} p_{jk}, \quad
        v_0 = \sum_j (1 - p_{j0})

    With hard votes, each p is rounded to 0 or 1 first.

    Parameters
    ----------
    C : float in (0, inf), default=0.03
        Inverse strength of the ridge penalty of each logistic regression. The default
        suits standardized features.
    votes : {"hard", "soft"}, default="hard"
        Whether a comparison gives one vote to the winner, or shares it by probability.
    n_jobs : int or None, default=None
        Number of processes, as in joblib. Each uses one thread.
    standardize : bool, default=True
        Whether to scale every feature to mean 0 and variance 1 first.
    max_labels : int in [1, inf), default=200
        More labels are an error: l labels need l(l - 1)/2 comparisons, each with a
        coefficient for every feature.

    Attributes
    ----------
    pairs_ : ndarray of shape (n_pairs, 2)
        Labels j < k of each comparison.
    pair_coef_ : ndarray of shape (n_pairs, n_features)
        Coefficients of each comparison for unscaled features. 0 where all rows with
        exactly one of the labels have the same one, or no row has.
    pair_intercept_ : ndarray of shape (n_pairs,)
        Intercept of each comparison; infinite where one label always wins, 0 where the
        two never differ and both get half a vote.
    coef_ : ndarray of shape (n_labels, n_features)
        Coefficients of the comparisons with the virtual label.
    intercept_ : ndarray of shape (n_labels,)
        Their intercepts; infinite for a label that all rows have, or no row has.
    classes_, label_names_, n_features_in_, feature_names_in_
        As in :class:`~homi.HOMI`.

    Notes
    -----
    The cost is that of l(l - 1)/2 logistic regressions on the rows with exactly one of
    two labels, so the number of labels dominates. Good where labels are few and
    rankings matter. Hard votes have many ties.

    References
    ----------
    J. Fürnkranz, E. Hüllermeier, E. Loza Mencía, K. Brinker. Multilabel classification
    via calibrated label ranking. Machine Learning 73(2), 2008.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from homi.estimators import CalibratedLabelRanking
    >>> X, Y = make_multilabel_classification(200, n_classes=4, random_state=0)
    >>> model = CalibratedLabelRanking().fit(X, Y)
    >>> model.predict(X[:2]).shape
    (2, 4)
    >>> len(model.pairs_)
    6
    """

    _parameter_constraints = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "votes": [StrOptions({"hard", "soft"})],
        "n_jobs": [Integral, None],
        "standardize": ["boolean"],
        "max_labels": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        C: float = 0.03,
        *,
        votes: Literal["hard", "soft"] = "hard",
        n_jobs: int | None = None,
        standardize: bool = True,
        max_labels: int = 200,
    ) -> None:
        self.C = C
        self.votes = votes
        self.n_jobs = n_jobs
        self.standardize = standardize
        self.max_labels = max_labels

    def _fit(self, X: Matrix, target: Target) -> None:
        n_labels = target.indicator.shape[1]
        if n_labels > self.max_labels:
            raise ValueError(
                f"{n_labels} labels need {n_labels * (n_labels - 1) // 2} comparisons, "
                f"more than max_labels={self.max_labels} allows; increase it, or use "
                "RAKEL."
            )
        scaler = Scaler(X) if self.standardize else None
        X = _as_rows(X if scaler is None else scaler(X)).astype(np.float64, copy=False)
        holders = _holders(target.indicator)
        fits = Parallel(n_jobs=self.n_jobs)(
            delayed(_compare)(X, holders[j:], self.C) for j in range(n_labels)
        )
        self.pairs_ = np.column_stack(np.triu_indices(n_labels, 1))
        self._store(fits, scaler)

    def _store(self, fits: list[tuple[Array, Array]], scaler: Scaler | None) -> None:
        """Set the coefficients; the first comparison is with the virtual label."""
        if scaler is not None:
            fits = [_unscaled(W, b, scaler) for W, b in fits]
        self.coef_ = np.array([W[0] for W, _ in fits])
        self.intercept_ = np.array([b[0] for _, b in fits])
        self.pair_coef_ = np.concatenate([W[1:] for W, _ in fits])
        self.pair_intercept_ = np.concatenate([b[1:] for _, b in fits])

    def _scores(self, X: Matrix) -> Array:
        X = _as_rows(X)
        step = max(1, _BLOCK // (len(self.pairs_) + 1))
        starts = range(0, X.shape[0], step)
        return np.concatenate([self._count(X[i : i + step]) for i in starts])

    def _count(self, X: Matrix) -> Array:
        """``v_j - v_0``; the second label of a pair gets the rest of the vote."""
        share = expit if self.votes == "soft" else _won
        won = share(X @ self.pair_coef_.T + self.pair_intercept_)
        own = share(X @ self.coef_.T + self.intercept_)
        first, second = self.pairs_.T
        numbers, ones = np.arange(len(first)), np.ones(len(first))
        shape = (len(first), own.shape[1])
        gives = sparse.csr_array((ones, (numbers, first)), shape)
        gives -= sparse.csr_array((ones, (numbers, second)), shape)
        votes = own + won @ gives + np.bincount(second, minlength=shape[1])
        return votes - (1.0 - own).sum(axis=1, keepdims=True)

    def _probabilities(self, scores: Array) -> Array:
        # Votes lie between 0 and the number of labels.
        inside = 0.5 + scores / (2 * scores.shape[1])
        return np.clip(inside, _EDGE, 1.0 - _EDGE)


def _won(F: Array) -> Array:
    """Return 1 for a comparison that is won, 0 if it is lost, ½ if undecided."""
    return 0.5 * (np.sign(F) + 1.0)


def _as_rows(X: Matrix) -> Matrix:
    return sparse.csr_array(X) if sparse.issparse(X) else X


def _holders(indicator: Matrix) -> list[Indices]:
    """Return the indices of the rows that have each label."""
    Y = sparse.csc_array(indicator)
    Y.eliminate_zeros()
    return np.split(Y.indices, Y.indptr[1:-1])


def _unscaled(W: Array, b: Array, scaler: Scaler) -> tuple[Array, Array]:
    """Return coefficients and intercepts for unscaled features."""
    W = W / scaler.scale
    return W, b - W @ scaler.shift


def _compare(X: Matrix, holders: list[Indices], C: float) -> tuple[Array, Array]:
    """Compare the first label with the virtual one, then with each of the others."""
    others = np.setdiff1d(np.arange(X.shape[0]), holders[0])
    opponents = [others, *holders[1:]]
    W, b = np.zeros((len(opponents), X.shape[1])), np.zeros(len(opponents))
    with threadpool_limits(1):
        for i, rows in enumerate(opponents):
            wins = np.setdiff1d(holders[0], rows, assume_unique=True)
            losses = np.setdiff1d(rows, holders[0], assume_unique=True)
            W[i], b[i] = _decide(X, wins, losses, C)
    return W, b


def _decide(
    X: Matrix, wins: Indices, losses: Indices, C: float
) -> tuple[Array | float, float]:
    """Return coefficients and intercept that separate wins from losses."""
    if len(wins) == 0 or len(losses) == 0:
        surplus = len(wins) - len(losses)
        return 0.0, float(np.copysign(np.inf, surplus)) if surplus else 0.0
    signs = np.repeat([1.0, -1.0], [len(wins), len(losses)])
    return fit_logistic(X[np.concatenate([wins, losses])], signs, C)
