"""Choose the labels that a person should be asked about."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from homi.joint import JointModel, KnownLabelsMixin, given_known
from homi.thresholds import TunedThresholds
from homi.thresholds.scores import last_classifier
from homi.typing import Array, MatrixLike


def ask(
    model: Any, X: MatrixLike, known: MatrixLike | None = None, k: int = 3
) -> list[list[Any]]:
    r"""Choose the labels of each row whose answers reduce the expected error most.

    With the covariance C of the unknown labels given the known ones, the answer to
    label j reduces the summed variance of all unknown labels by

    .. math:: \sum_u C_{uj}^2 / C_{jj},

    its own variance included. The best label is taken, C is conditioned on it, and so
    on.

    Parameters
    ----------
    model : HOMICV or LabelDependence
        Fitted classifier with a joint model of labels, or a ``TunedThresholds`` of one.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Rows.
    known : array-like of shape (n_samples, n_labels) or data frame, default=None
        Labels that are known, 0 or 1, and NaN where unknown, as in ``predict``. None if
        nothing is known.
    k : int, default=3
        Number of labels to ask about.

    Returns
    -------
    questions : list of list
        Names of labels for each row, the best question first; fewer than k where fewer
        are unknown.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from homi import HOMICV
    >>> from homi.dependence import ask
    >>> X, Y = make_multilabel_classification(300, n_classes=4, random_state=0)
    >>> model = HOMICV(widths=[], trees=False).fit(X, Y)
    >>> [len(labels) for labels in ask(model, X[:2], k=2)]
    [2, 2]
    """
    if isinstance(model, TunedThresholds):
        model, X = last_classifier(model.estimator_, X)
    if not isinstance(model, KnownLabelsMixin):
        raise TypeError(
            f"ask needs a classifier with a joint model of labels, got "
            f"{type(model).__name__}; use HOMICV, or fit LabelDependence(...) of it."
        )
    if k != int(k) or k < 1:
        raise ValueError(f"k must be a whole number of at least 1, got {k!r}.")
    given = _nothing(model, X) if known is None else known
    joint, log_odds, Y = given_known(model, X, given)
    names = np.asarray(model.label_names_, dtype=object)
    return [
        names[questions(joint, s, y, k)].tolist()
        for s, y in zip(log_odds, Y, strict=True)
    ]


def questions(joint: JointModel, log_odds: Array, Y: Array, k: int) -> NDArray[np.intp]:
    """Return the columns to ask about in one row, the best first.

    Parameters
    ----------
    joint : JointModel
    log_odds, Y : ndarray of shape (n_labels,)
        Log-odds, and known labels with NaN for unknown ones.
    k : int
        Number of questions.
    """
    C = joint.conditional_covariance(log_odds, Y)
    chosen: list[int] = []
    for _ in range(min(k, int(np.isnan(Y).sum()))):
        variance = np.diag(C)
        open_ = variance > 1e-12
        open_[chosen] = False
        gain = np.where(
            open_, np.einsum("uj,uj->j", C, C) / np.where(open_, variance, 1.0), -1.0
        )
        gain[~np.isnan(Y)] = gain[chosen] = -2.0
        j = int(gain.argmax())
        chosen.append(j)
        C = C - np.outer(C[:, j], C[j]) / max(C[j, j], 1e-12)
    return np.array(chosen, dtype=np.intp)


def _nothing(model: Any, X: Any) -> Array:
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    return np.full((n, len(model.label_names_)), np.nan)
