"""Multi-label metrics: one function each, and METRICS, a table of them.

Every function takes the true labels first and the output of a classifier second:
``Y_true`` and ``Y_pred`` are 0/1 or bool, ``scores`` are finite numbers, and both have
the shape (n_samples, n_labels) with at least one sample and one label. All may be
arrays, lists, data frames, or scipy sparse. Anything else raises ValueError.

In the formulas n is n_samples, q is n_labels, s the scores, and P_i and N_i the
positive and the negative labels of sample i.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial, update_wrapper
from typing import Any, Literal, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import label_ranking_average_precision_score, make_scorer
from sklearn.pipeline import Pipeline

from homi.arrays import check_label_order
from homi.metrics.checks import Values, check_labels, check_option, check_scores
from homi.metrics.pairs import misordered_pairs, pair_counts
from homi.metrics.top_k import ndcg_at_k, precision_at_k
from homi.typing import Fields, MatrixLike

Response: TypeAlias = Literal["predict", "decision_function"]

PAPER_METRICS = ("hamming_loss", "ranking_loss", "one_error", "macro_auc")


def hamming_loss(Y_true: MatrixLike, Y_pred: MatrixLike) -> float:
    r"""Fraction of labels that are predicted incorrectly.

    .. math:: \frac{1}{nq} \sum_{i,j} [y_{ij} \ne \hat y_{ij}]

    This is the usual definition. The text of the HOMI paper omits 1/q and swaps the two
    cases of the symmetric difference.

    Examples
    --------
    >>> hamming_loss([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.25
    """
    Y, P = check_labels(Y_true, Y_pred)
    return float(np.mean(Y != P))


def ranking_loss(Y_true: MatrixLike, scores: MatrixLike) -> float:
    r"""Mean over samples of the fraction of label pairs in the wrong order.

    .. math:: \frac{1}{n} \sum_i \frac{|\{(j, k) \in P_i \times N_i :
              s_{ij} \le s_{ik}\}|}{|P_i| |N_i|}

    A tie counts as an error. A sample without positive or without negative labels
    counts 0, as in ``sklearn.metrics.label_ranking_loss``.

    Examples
    --------
    >>> ranking_loss([[1, 0, 0], [1, 1, 1]], [[0.5, 0.5, 0.1], [0.3, 0.2, 0.1]])
    0.25
    """
    Y, S = check_scores(Y_true, scores)
    return float(np.mean(misordered_pairs(Y, S) / np.maximum(pair_counts(Y), 1)))


def one_error(Y_true: MatrixLike, scores: MatrixLike) -> float:
    r"""Fraction of samples whose top-ranked label is not a true label.

    .. math:: \frac{1}{n} \sum_i [\arg\max_j s_{ij} \notin P_i]

    Among tied labels the first is ranked highest. A sample without positive labels
    always counts as an error.

    Examples
    --------
    >>> one_error([[0, 1], [1, 0], [0, 0]], [[0.1, 0.9], [0.4, 0.4], [0.2, 0.1]])
    0.3333333333333333
    """
    Y, S = check_scores(Y_true, scores)
    return float(np.mean(~Y[np.arange(len(Y)), S.argmax(axis=1)]))


def macro_auc(
    Y_true: MatrixLike,
    scores: MatrixLike,
    *,
    ties: Literal["correct", "half"] = "correct",
    undefined: Literal["skip", "zero"] = "skip",
) -> float:
    r"""Mean over labels of the fraction of sample pairs in the right order.

    .. math:: \frac{1}{q} \sum_j \frac{|\{(a, b) \in T_j^+ \times T_j^- :
              s_{aj} \ge s_{bj}\}|}{|T_j^+| |T_j^-|}

    with :math:`T_j^+` and :math:`T_j^-` the samples that have label j or not.

    Parameters
    ----------
    Y_true, scores : matrix-like of shape (n_samples, n_labels)
    ties : {"correct", "half"}, default="correct"
        Whether a tied pair counts 1, as in the HOMI paper, or 1/2, as in the usual
        AUC and ``sklearn.metrics.roc_auc_score``.
    undefined : {"skip", "zero"}, default="skip"
        Whether a label that all samples have, or no sample has, is left out of the
        mean, or counts 0, as in the code of the paper's authors.

    Notes
    -----
    The mean is nan if every label is skipped. With ``ties="correct"`` constant scores
    reach 1; use "half" to compare methods with many ties. The AUC that the paper prints
    for HOMI is a different number: it equals 1 - Hamming loss.

    Examples
    --------
    >>> Y, scores = [[1, 0], [0, 0], [0, 0]], [[0.5, 0.1], [0.5, 0.2], [0.1, 0.3]]
    >>> macro_auc(Y, scores)
    1.0
    >>> macro_auc(Y, scores, ties="half")
    0.75
    >>> macro_auc(Y, scores, undefined="zero")
    0.5
    """
    check_option("ties", ties, ("correct", "half"))
    check_option("undefined", undefined, ("skip", "zero"))
    Y, S = (matrix.T for matrix in check_scores(Y_true, scores))
    pairs = pair_counts(Y)
    right = misordered_pairs(~Y, S)  # pairs whose negative is not above the positive
    if ties == "half":
        right = (right + pairs - misordered_pairs(Y, S)) / 2
    auc = right / np.maximum(pairs, 1)
    if undefined == "skip":
        auc = auc[pairs > 0]
    return float(auc.mean()) if len(auc) else float("nan")


def example_f1(Y_true: MatrixLike, Y_pred: MatrixLike) -> float:
    r"""F1 of each sample, averaged over samples.

    .. math:: \frac{1}{n} \sum_i \frac{2 |P_i \cap \hat P_i|}{|P_i| + |\hat P_i|}

    A sample without true and predicted labels counts 0, although it has no error, as in
    scikit-learn's ``f1_score(average="samples", zero_division=0)``.

    Examples
    --------
    >>> example_f1([[1, 0], [0, 0]], [[1, 0], [0, 0]])
    0.5
    """
    return float(np.mean(_f1(Y_true, Y_pred, axis=1)))


def micro_f1(Y_true: MatrixLike, Y_pred: MatrixLike) -> float:
    r"""F1 of all labels of all samples together.

    .. math:: \frac{2 \sum_i |P_i \cap \hat P_i|}{\sum_i |P_i| + |\hat P_i|}

    It is 0 if there are no true and no predicted labels.

    Examples
    --------
    >>> micro_f1([[1, 0], [1, 1]], [[1, 0], [0, 0]])
    0.5
    """
    return float(_f1(Y_true, Y_pred, axis=None))


def macro_f1(Y_true: MatrixLike, Y_pred: MatrixLike) -> float:
    r"""F1 of each label, averaged over labels.

    .. math:: \frac{1}{q} \sum_j \frac{2 \sum_i y_{ij} \hat y_{ij}}
              {\sum_i y_{ij} + \hat y_{ij}}

    A label without true and predicted samples counts 0.

    Examples
    --------
    >>> macro_f1([[1, 0], [1, 0]], [[1, 0], [1, 0]])
    0.5
    """
    return float(np.mean(_f1(Y_true, Y_pred, axis=0)))


def average_precision(Y_true: MatrixLike, scores: MatrixLike) -> float:
    r"""Mean over samples of the precision at the rank of each true label.

    .. math:: \frac{1}{n} \sum_i \frac{1}{|P_i|} \sum_{j \in P_i}
              \frac{|\{k \in P_i : s_{ik} \ge s_{ij}\}|}{|\{k : s_{ik} \ge s_{ij}\}|}

    A sample whose labels are all positive or all negative counts 1, as in
    scikit-learn's ``label_ranking_average_precision_score``.

    Examples
    --------
    >>> average_precision([[1, 0, 1]], [[0.9, 0.8, 0.7]]) == (1 + 2 / 3) / 2
    True
    """
    return float(label_ranking_average_precision_score(*check_scores(Y_true, scores)))


def coverage(Y_true: MatrixLike, scores: MatrixLike) -> float:
    r"""Mean number of steps down the ranking until all true labels are covered.

    .. math:: \frac{1}{n} \sum_i \max_{j \in P_i} |\{k : s_{ik} \ge s_{ij}\}| - 1

    It is between 0 and q - 1, not divided by q, and tied labels get the worst rank. A
    sample without positive labels counts 0. If every sample has one, this is
    ``sklearn.metrics.coverage_error`` minus 1.

    Examples
    --------
    >>> coverage([[1, 0, 1], [0, 0, 0]], [[0.9, 0.8, 0.7], [0.3, 0.2, 0.1]])
    1.0
    """
    Y, S = check_scores(Y_true, scores)
    lowest = np.where(Y, S, np.inf).min(axis=1, keepdims=True)
    return float(np.mean((lowest <= S).sum(axis=1) - Y.any(axis=1)))


def exact_match(Y_true: MatrixLike, Y_pred: MatrixLike) -> float:
    r"""Fraction of samples whose labels are all predicted correctly.

    .. math:: \frac{1}{n} \sum_i [P_i = \hat P_i]

    Examples
    --------
    >>> exact_match([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.5
    """
    Y, P = check_labels(Y_true, Y_pred)
    return float(np.mean((Y == P).all(axis=1)))


@dataclass(frozen=True)
class Metric:
    """A metric with its properties; called like its function.

    ``name`` is its key in METRICS, ``response`` the method of a classifier whose output
    the function takes, and ``title`` its name in tables and figures.
    """

    name: str
    function: Callable[..., float]
    greater_is_better: bool
    response: Response
    title: str

    def __call__(self, Y_true: MatrixLike, output: MatrixLike, **options: Any) -> float:
        """Return the value of the metric."""
        return self.function(Y_true, output, **options)


_LABELS: Response = "predict"
_SCORES: Response = "decision_function"

METRICS: dict[str, Metric] = {
    function.__name__: Metric(function.__name__, function, greater, response, title)
    for function, greater, response, title in (
        (hamming_loss, False, _LABELS, "Hamming loss"),
        (ranking_loss, False, _SCORES, "Ranking loss"),
        (one_error, False, _SCORES, "One-error"),
        (macro_auc, True, _SCORES, "Macro AUC"),
        (example_f1, True, _LABELS, "Example-based F1"),
        (micro_f1, True, _LABELS, "Micro F1"),
        (macro_f1, True, _LABELS, "Macro F1"),
        (average_precision, True, _SCORES, "Average precision"),
        (coverage, False, _SCORES, "Coverage"),
        (exact_match, True, _LABELS, "Exact match"),
    )
}

#: Metrics of the k highest labels. They have a name for every k, so METRICS, which
#: tables print as a whole, has none of them.
_AT_K = {"precision": (precision_at_k, "P"), "ndcg": (ndcg_at_k, "nDCG")}


def scorers(names: Iterable[str] = PAPER_METRICS) -> Fields:
    """Make scorers for ``cross_validate`` or ``GridSearchCV``; losses are negated.

    Names are those of METRICS, and ``"precision_at_3"`` or ``"ndcg_at_3"`` of any k.
    Ranking metrics use ``ranking_scores`` of a classifier that has them, also at the
    end of a pipeline, and ``decision_function`` of any other.

    Examples
    --------
    >>> sorted(scorers(["one_error", "macro_auc"]))
    ['macro_auc', 'one_error']
    """
    return {name: _scorer(_lookup(name)) for name in names}


def _scorer(metric: Metric) -> Any:
    by_response = make_scorer(
        metric.function,
        response_method=metric.response,
        greater_is_better=metric.greater_is_better,
    )
    return (
        _RankingScorer(metric, by_response)
        if metric.response == _SCORES
        else (by_response)
    )


@dataclass(frozen=True)
class _RankingScorer:
    """Scorer that uses ``ranking_scores`` if the classifier has them."""

    metric: Metric
    by_response: Callable[..., float]

    def __call__(self, estimator: BaseEstimator, X: MatrixLike, Y: MatrixLike) -> float:
        last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
        if not hasattr(last, "ranking_scores"):
            return self.by_response(estimator, X, Y)
        names = getattr(last, "label_names_", None)
        check_label_order(getattr(Y, "columns", None), names, "Y_true")
        if last is not estimator and len(estimator) > 1:
            X = estimator[:-1].transform(X)
        sign = 1.0 if self.metric.greater_is_better else -1.0
        scores = last.ranking_scores(X)
        return sign * self.metric(Y, scores.reshape(np.shape(Y)))


def evaluate(
    Y_true: MatrixLike,
    scores: MatrixLike,
    Y_pred: MatrixLike,
    names: Iterable[str] = PAPER_METRICS,
) -> dict[str, float]:
    """Compute metrics by name, from the scores or the predictions.

    Names are those of METRICS, and ``"precision_at_3"`` or ``"ndcg_at_3"`` of any k.

    Examples
    --------
    >>> evaluate([[1, 0]], [[0.7, 0.6]], [[1, 1]], ["hamming_loss", "ranking_loss"])
    {'hamming_loss': 0.5, 'ranking_loss': 0.0}
    """
    outputs = {_LABELS: Y_pred, _SCORES: scores}
    metrics = [_lookup(name) for name in names]
    return {metric.name: metric(Y_true, outputs[metric.response]) for metric in metrics}


def _f1(Y_true: MatrixLike, Y_pred: MatrixLike, axis: int | None) -> Values:
    """``2 |P and Q| / (|P| + |Q|)`` along the axis, 0 where P and Q are empty."""
    Y, P = check_labels(Y_true, Y_pred)
    f1: Values = 2 * (Y & P).sum(axis) / np.maximum(Y.sum(axis) + P.sum(axis), 1)
    return f1


def _lookup(name: str) -> Metric:
    """Return the metric of a name: one of METRICS, or such as ``"ndcg_at_5"``."""
    if at_k := re.fullmatch(r"(precision|ndcg)_at_([1-9]\d*)", name):
        function, title = _AT_K[at_k[1]]
        k = int(at_k[2])
        # With its name, which the text of a scorer has.
        at = update_wrapper(partial(function, k=k), function)
        return Metric(name, at, True, _SCORES, f"{title}@{k}")
    check_option("metric", name, (*METRICS, "precision_at_5", "ndcg_at_5"))
    return METRICS[name]
