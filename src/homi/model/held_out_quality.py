"""Quality of held-out scores: a few metrics, and AUC and F1 of each label."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from homi.typing import Array, Fields, Mask, Names

#: Most scores that are rated; of more, evenly spaced rows are.
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
