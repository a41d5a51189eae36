r"""Metrics of the k labels ranked highest, for many labels of which few are true.

The definitions are those of the extreme classification repository. Rows are ranked
block by block, so sparse labels are never dense as a whole. In the formulas
:math:`\sigma_i(r)` is the label of sample i at rank r: the one with the r-th largest
score, and the first of them where scores are tied. With fewer than k labels, the ranks
that are missing count as wrong.
"""

from collections.abc import Iterator
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from homi.metrics.checks import Values, indicator_blocks, score_blocks
from homi.typing import MatrixLike


def precision_at_k(Y_true: MatrixLike, scores: MatrixLike, k: int = 5) -> float:
    r"""Fraction of the k labels ranked highest that are true.

    .. math:: \frac{1}{nk} \sum_i \sum_{r=1}^{k} [\sigma_i(r) \in P_i]

    With k = 1 it is 1 - ``one_error``. A sample without positive labels counts 0.

    Examples
    --------
    >>> precision_at_k([[1, 0, 1], [0, 1, 0]], [[3, 2, 1], [1, 2, 3]], k=2)
    0.5
    """
    n, found = 0, 0
    for Y, top in _ranked(Y_true, scores, k):
        n += len(Y)
        found += int(np.take_along_axis(Y, top, axis=1).sum())
    return found / (n * k)


def ndcg_at_k(Y_true: MatrixLike, scores: MatrixLike, k: int = 5) -> float:
    r"""Discounted gain of the k labels ranked highest, over the largest possible one.

    .. math:: \frac{1}{n} \sum_i \frac{\sum_{r=1}^{k} [\sigma_i(r) \in P_i] / \log_2(r
              + 1)}{\sum_{r=1}^{\min(k, |P_i|)} 1 / \log_2(r + 1)}

    A sample without positive labels counts 0, as in ``sklearn.metrics.ndcg_score``,
    which gives tied labels the mean of their gains.

    Examples
    --------
    >>> round(ndcg_at_k([[1, 0, 1], [0, 1, 0]], [[3, 2, 1], [1, 2, 3]], k=2), 4)
    0.622
    """
    n, total = 0, 0.0
    for Y, top in _ranked(Y_true, scores, k):
        discounts = 1.0 / np.log2(np.arange(2, top.shape[1] + 2))
        best = np.concatenate([[1.0], np.cumsum(discounts)])
        gains = np.take_along_axis(Y, top, axis=1) @ discounts
        # A row without positive labels has no gain, so it may be divided by 1.
        total += float(np.sum(gains / best[np.minimum(Y.sum(axis=1), top.shape[1])]))
        n += len(Y)
    return total / n


def label_propensities(
    Y_train: MatrixLike, *, a: float = 0.55, b: float = 1.5
) -> Values:
    r"""Estimate how likely it is that a true label of a sample is recorded as such.

    .. math:: p_j = \frac{1}{1 + C (N_j + b)^{-a}}, \quad C = (\log N - 1)(b + 1)^a

    with N training samples, :math:`N_j` of them with label j: the model of Jain et al.
    (2016). Rare labels are missing more often.

    Parameters
    ----------
    Y_train : matrix-like of shape (n_samples, n_labels)
        Labels of the training samples, at least 3 of them.
    a, b : float, default=0.55 and 1.5
        Constants of the model; 0.5 and 0.4 for Wikipedia, 0.6 and 2.6 for Amazon.

    References
    ----------
    H. Jain, Y. Prabhu, M. Varma. Extreme Multi-label Loss Functions for Recommendation,
    Tagging, Ranking & Other Missing Label Applications. KDD 2016.

    Examples
    --------
    >>> Y_train = [[1, 0], [1, 0], [1, 0], [1, 1]]
    >>> label_propensities(Y_train).round(3)
    array([0.8  , 0.721])
    """
    n, counts = 0, np.zeros(1)
    for Y in indicator_blocks("Y_train", Y_train):
        n, counts = n + len(Y), counts + Y.sum(axis=0)
    if n < 3:
        raise ValueError(
            f"propensities need at least 3 training samples, got {n}; pass the labels "
            "of all training samples."
        )
    C = (np.log(n) - 1.0) * (b + 1.0) ** a
    propensities: Values = 1.0 / (1.0 + C * (counts + b) ** -a)
    return propensities


def propensity_scored_precision_at_k(
    Y_true: MatrixLike, scores: MatrixLike, propensities: ArrayLike, k: int = 5
) -> float:
    r"""Precision at k with each true label weighted by 1 / its propensity.

    .. math:: \frac{\sum_i \sum_{r=1}^{k} [\sigma_i(r) \in P_i] / p_{\sigma_i(r)}}
              {\sum_i \max_{T \subseteq P_i, |T| \le k} \sum_{j \in T} 1 / p_j}

    Rare labels count more. The best ranking has the value 1, which no sample without
    positive labels changes; nan if no sample has one.

    Parameters
    ----------
    Y_true, scores : matrix-like of shape (n_samples, n_labels)
    propensities : array-like of shape (n_labels,)
        A number above 0 for each label: ``label_propensities`` of the training labels.
    k : int, default=5

    Examples
    --------
    >>> Y, scores = [[1, 0, 1], [0, 1, 0]], [[3, 2, 1], [1, 2, 3]]
    >>> propensity_scored_precision_at_k(Y, scores, [0.5, 0.5, 0.25], k=1)
    0.3333333333333333
    """
    inverse = _inverse(propensities)
    found, best = 0.0, 0.0
    for Y, top in _ranked(Y_true, scores, k):
        if Y.shape[1] != len(inverse):
            raise ValueError(
                f"there are {len(inverse)} propensities for {Y.shape[1]} labels; pass "
                "one for each label."
            )
        weights, size = Y * inverse, top.shape[1]
        found += float(np.take_along_axis(weights, top, axis=1).sum())
        weights.partition(weights.shape[1] - size, axis=1)
        best += float(weights[:, -size:].sum())
    return found / best if best else float("nan")


def _inverse(propensities: ArrayLike) -> Values:
    values = np.asarray(propensities, dtype=float)
    if values.ndim != 1 or not (np.isfinite(values) & (values > 0)).all():
        raise ValueError(
            "propensities must be one finite number above 0 for each label, got an "
            f"array of shape {values.shape} with {np.sum(~(values > 0))} others; use "
            "label_propensities of the training labels."
        )
    inverse: Values = 1.0 / values
    return inverse


def _ranked(
    Y_true: MatrixLike, scores: MatrixLike, k: int
) -> Iterator[tuple[Values, Values]]:
    """Yield blocks of labels, and the indices of their k highest scores, in order."""
    _check_k(k)
    for Y, S in score_blocks(Y_true, scores):
        yield Y, _top(S, min(int(k), S.shape[1]))


def _check_k(k: object) -> None:
    if type(k) is bool or not isinstance(k, Integral) or k < 1:
        raise ValueError(f"k must be an integer of at least 1, got {k!r}.")


def _top(S: Values, k: int) -> Values:
    """Return the indices of each row's k largest scores; of tied ones the first."""
    S, rows = S.copy(), np.arange(len(S))
    top = np.empty((len(S), k), dtype=np.intp)
    # For a small k the fastest way that ranks ties by their place.
    for rank in range(k):
        top[:, rank] = S.argmax(axis=1)
        S[rows, top[:, rank]] = -np.inf
    return top
