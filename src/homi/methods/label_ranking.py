"""Calibrated label ranking: pairwise comparisons with a virtual label."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Literal

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.parallel import Parallel, delayed

from homi.arrays import dense
from homi.base._compat import Interval, StrOptions
from homi.base.classifier import MultiLabelClassifier
from homi.base.scaling import Scaler
from homi.base.targets import Target
from homi.base.weights import SampleWeightMixin
from homi.linear import LinearMargins, fit_margins
from homi.methods.label_models import unscaled
from homi.threads import one_thread
from homi.typing import Array, Fields, Indices, Mask, Matrix
from homi.warn import warn

#: Entries of a block of comparisons.
_BLOCK = 2**21
#: Smallest distance of a probability from 0 and 1.
_EDGE = 1e-12
#: Tolerance of the logistic regressions: margins are exact to about four digits.
_TOL = 1e-6


class CalibratedLabelRanking(SampleWeightMixin, MultiLabelClassifier):
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
        Maximum number of labels; more are an error. l labels need l(l - 1)/2
        comparisons, each with one coefficient per feature.

    Attributes
    ----------
    pairs_ : ndarray of shape (n_pairs, 2)
        Labels j < k of each comparison.
    pair_coef_ : ndarray of shape (n_pairs, n_features)
        Coefficients of each comparison for unscaled features. 0 where one label always
        wins, or the two never differ.
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

    def _fit(  # type: ignore[override]
        self, X: Matrix, target: Target, weights: Array | None
    ) -> None:
        n_labels = target.indicator.shape[1]
        if n_labels > self.max_labels:
            raise ValueError(
                f"{n_labels} labels need {n_labels * (n_labels - 1) // 2} comparisons, "
                f"more than max_labels={self.max_labels} allows; increase it, or use "
                "RAKEL."
            )
        scaler = Scaler.fit(X, weights) if self.standardize else None
        X = _as_rows(X if scaler is None else scaler(X)).astype(np.float64, copy=False)
        Y = dense(target.indicator) > 0
        own = _fit(X, Y, np.ones_like(Y), self.C, weights)
        # Most frequent labels first: pairs of rare labels have few rows.
        counts = Y.sum(axis=0) if weights is None else weights @ Y
        order = np.argsort(-counts, kind="stable")
        places = range(n_labels - 1)
        fits = Parallel(n_jobs=self.n_jobs)(
            delayed(_compare)(X, Y, order[i], order[i + 1 :], self.C, weights)
            for i in places
        )
        self.pairs_ = np.column_stack(np.triu_indices(n_labels, 1))
        pairs = _in_order(fits, order, X.shape[1])
        _warn_of_unfinished([own, pairs])
        if scaler is not None:
            own, pairs = unscaled(own, scaler), unscaled(pairs, scaler)
        self.coef_, self.intercept_ = own.coef.T.copy(), own.intercept
        self.pair_coef_, self.pair_intercept_ = pairs.coef.T.copy(), pairs.intercept

    def _scores(self, X: Matrix) -> Array:
        X = _as_rows(X)
        step = max(1, _BLOCK // (len(self.pairs_) + 1))
        starts = range(0, X.shape[0], step)
        return np.concatenate([self._count(X[i : i + step]) for i in starts])

    def _count(self, X: Matrix) -> Array:
        """Return ``v_j - v_0``; the second label of a pair gets the rest of a vote."""
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
    """Return 1 for a won comparison, 0 for a lost one, ½ if undecided."""
    return 0.5 * (np.sign(F) + 1.0)


def _as_rows(X: Matrix) -> Matrix:
    return sparse.csr_array(X) if sparse.issparse(X) else X


def _fit(
    X: Matrix, Y: Mask, known: Mask, C: float, weights: Array | None
) -> LinearMargins:
    """Fit logistic regressions of all columns; ±inf intercepts for one class only."""
    options: Fields = {"known": known, "weight": weights, "C": C, "tol": _TOL}
    margins = fit_margins(X, Y, loss="log", **options)
    wins, losses = (Y & known).sum(axis=0), (~Y & known).sum(axis=0)
    margins.intercept[losses == 0] = np.inf
    margins.intercept[wins == 0] = -np.inf
    margins.intercept[wins + losses == 0] = 0.0
    return margins


def _compare(
    X: Matrix,
    Y: Mask,
    label: int,
    others: Indices,
    C: float,
    weights: Array | None,
) -> LinearMargins:
    """Fit the comparisons of a label with each of the others."""
    known = Y[:, [label]] != Y[:, others]
    rows = np.flatnonzero(known.any(axis=1))
    if not len(rows):
        return LinearMargins(np.zeros((X.shape[1], len(others))), np.zeros(len(others)))
    wins = np.repeat(Y[rows, label][:, None], len(others), axis=1)
    with one_thread():
        w = None if weights is None else weights[rows]
        return _fit(X[rows], wins, known[rows], C, w)


def _in_order(
    fits: list[LinearMargins], order: Indices, n_features: int
) -> LinearMargins:
    """Return the margins of all pairs j < k, in the order of ``pairs_``."""
    n_labels = len(order)
    first, second = np.triu_indices(n_labels, 1)
    number = np.zeros((n_labels, n_labels), dtype=np.intp)
    number[first, second] = number[second, first] = np.arange(len(first))
    coef, intercept = np.zeros((n_features, len(first))), np.zeros(len(first))
    for i, fit in enumerate(fits):
        label, others = order[i], order[i + 1 :]
        sign = np.where(label < others, 1.0, -1.0)
        coef[:, number[label, others]] = sign * fit.coef
        intercept[number[label, others]] = sign * fit.intercept
    return LinearMargins(coef, intercept, sum(fit.unfinished for fit in fits))


def _warn_of_unfinished(fits: list[LinearMargins]) -> None:
    unfinished = sum(fit.unfinished for fit in fits)
    if unfinished:
        warn(
            f"{unfinished} of {sum(len(fit.intercept) for fit in fits)} comparisons "
            "did not converge; decrease C, or scale the features.",
            ConvergenceWarning,
        )
