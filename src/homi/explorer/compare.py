"""Where two models disagree, by label and by row."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from homi.explorer.evidence import Quality, quality
from homi.explorer.model import own_label_names
from homi.typing import Array, Indices, Mask, Matrix
from homi.verdict import predicted_labels

#: Rows that are listed, those with most disagreements first.
_MOST_ROWS = 100


class RowDifference(NamedTuple):
    """Labels of a row that only the first and only the second model predicts."""

    row: int
    first: list[int]
    second: list[int]


class Comparison(NamedTuple):
    """Predictions of two models for the same rows and labels.

    Attributes
    ----------
    names : tuple of str
        Names of the two models.
    labels : list of int
        Labels that both have.
    first, second : ndarray of shape (n_labels,)
        Rows in which only this model predicts the label.
    quality : tuple of Quality or None
        Quality of each, where true labels are known.
    rows : list of RowDifference
        The rows with most disagreements.
    n_rows : int
        Number of rows compared.
    """

    names: tuple[str, str]
    labels: list[int]
    first: Indices
    second: Indices
    quality: tuple[Quality, Quality] | None
    rows: list[RowDifference]
    n_rows: int


class OtherModel(NamedTuple):
    """A second model, what to call the two, and the rows as it takes them."""

    model: Any
    names: tuple[str, str] = ("this model", "the other")
    X: Matrix = None


def compare(
    names: list[str], predicted: Mask, other: OtherModel, X: Matrix, Y: Mask | None
) -> Comparison:
    """Compare predictions of the page's model with those of another.

    Parameters
    ----------
    names : list of str
        Names of the labels of the page's model.
    predicted : ndarray of shape (n_rows, n_labels)
        Predictions of the page's model.
    other : OtherModel
        The other model.
    X : rows
        The same rows, as the other model takes them.
    Y : ndarray of bool or None
        True labels.
    """
    theirs = [str(name) for name in own_label_names(other.model)]
    place = {name: j for j, name in enumerate(theirs)}
    labels = [j for j, name in enumerate(names) if name in place]
    if not labels:
        raise ValueError(
            f"the two models have no label in common: one has {names[0]!r}, the other "
            f"{theirs[0]!r}; compare models of the same labels."
        )
    columns = [place[names[j]] for j in labels]
    found = predicted_labels(other.model, X, len(theirs))[:, columns]
    ours = predicted[:, labels]
    only, not_ours = ours & ~found, found & ~ours
    each = None
    if Y is not None:
        each = _quality(Y[:, labels], ours), _quality(Y[:, labels], found)
    return Comparison(
        names=other.names,
        labels=labels,
        first=only.sum(axis=0),
        second=not_ours.sum(axis=0),
        quality=each,
        rows=_rows(only, not_ours, np.array(labels)),
        n_rows=len(ours),
    )


def _quality(Y: Mask, predicted: Mask) -> Quality:
    return quality(Y, predicted.astype(np.float64), predicted)


def _rows(first: Mask, second: Mask, labels: Indices) -> list[RowDifference]:
    counts: Array = (first | second).sum(axis=1)
    order = np.argsort(-counts, kind="stable")[:_MOST_ROWS]
    return [
        RowDifference(int(i), labels[first[i]].tolist(), labels[second[i]].tolist())
        for i in order[counts[order] > 0]
    ]
