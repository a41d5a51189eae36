"""Held-out scores: their quality, overall and of each label, and a key to keep them."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.stats import rankdata

from homi.arrays import dense
from homi.base.targets import Target
from homi.typing import Array, Fields, Mask, Matrix, Names

#: Maximum scores to rate; with more, evenly spaced rows are rated.
_MOST_SCORES = 2e7
METRICS = ("hamming_loss", "micro_f1", "macro_f1", "macro_auc")
#: Columns of the table of labels.
LABEL_COLUMNS = ("label", "positives", "auc", "f1")


def held_out_quality(
    Y: Array,
    scores: Array,
    predicted: Mask,
    names: Names,
    known: Mask | None = None,
) -> tuple[dict[str, float], Fields]:
    """Return metrics of all labels, and a table of the labels as a dict of lists.

    Parameters
    ----------
    Y, scores, predicted : ndarray of shape (n_samples, n_labels)
        Labels, held-out scores, and what these predict.
    names : ndarray of shape (n_labels,)
        Names of the labels.
    known : ndarray of shape (n_samples, n_labels), optional
        Labels that are known; None for all.

    Examples
    --------
    >>> Y = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> S = np.array([[1.0, -1.0], [-1.0, 1.0], [2.0, -2.0]])
    >>> found, labels = held_out_quality(Y, S, S > 0, np.array(["a", "b"]))
    >>> round(found["hamming_loss"], 2), labels["auc"]
    (0.33, [0.5, 0.5])
    """
    step = max(1, int(np.ceil(Y.size / _MOST_SCORES)))
    truth, scores, predicted = Y[::step] > 0, scores[::step], predicted[::step]
    rated: Mask = np.ones_like(truth) if known is None else known[::step]
    columns = zip(truth.T, scores.T, predicted.T, rated.T, strict=True)
    table = [_label(*column) for column in columns]
    positives, claimed, hits, auc = np.array(table, dtype=float).T
    f1 = _share(2 * hits, positives + claimed)
    wrong = ((predicted != truth) & rated).sum()
    defined = auc[~np.isnan(auc)]
    numbers = (
        wrong / max(rated.sum(), 1),
        _share(2 * hits.sum(), positives.sum() + claimed.sum()),
        f1.mean(),
        defined.mean() if len(defined) else float("nan"),
    )
    metrics = dict(zip(METRICS, map(float, numbers), strict=True))
    lists = names.tolist(), positives.astype(int).tolist(), auc.tolist(), f1.tolist()
    return metrics, dict(zip(LABEL_COLUMNS, lists, strict=True))


def _label(y: Mask, s: Array, predicted: Mask, known: Mask) -> tuple[float, ...]:
    """Return positives, predictions, hits and AUC of one label."""
    y, s, predicted = y[known], s[known], predicted[known]
    p = int(y.sum())
    pairs = p * (len(y) - p)
    # Mann and Whitney's U: the sum of the ranks of the positives, ties halved.
    wins = rankdata(s)[y].sum() - p * (p + 1) / 2 if pairs else 0.0
    auc = wins / pairs if pairs else float("nan")
    return p, int(predicted.sum()), int((y & predicted).sum()), auc


def _share(part: Array, whole: Array) -> Array:
    """Return part / whole, and 0 where both are 0."""
    return part / np.maximum(whole, 1)


class KeptScores(NamedTuple):
    """Held-out scores, and a key of the data and the parameters of the fit."""

    key: str
    scores: Array


def data_key(
    rows: Matrix, target: Target, sample_weight: ArrayLike | None, params: Fields
) -> str:
    """Return a checksum of checked rows, labels, weights and parameters."""
    digest = hashlib.sha256(repr(sorted(params.items())).encode())
    parts: list[Any] = [rows, dense(target.indicator).astype(np.int8)]
    parts += [] if target.known is None else [target.known]
    if sample_weight is not None:
        parts.append(np.asarray(sample_weight, dtype=np.float64))
    for part in parts:
        for array in _arrays(part):
            digest.update(repr((array.shape, array.dtype.str)).encode())
            digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _arrays(part: Any) -> list[Any]:
    if sparse.issparse(part):
        part = sparse.csr_array(part)
        return [part.data, part.indices, part.indptr]
    return [np.asarray(part)]
