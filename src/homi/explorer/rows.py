"""Explain rows: what adds up to the score of each label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from homi.arrays import dense
from homi.explorer.model import (
    ModelSummary,
    checked_rows,
    features_of,
    innermost_rows,
    log_odds_of,
    unscaled_values,
)
from homi.explorer.waterfall import (
    Step,
    Waterfalls,
    forest_waterfalls,
    steps,
    waterfalls,
)
from homi.typing import Array, Fields, Indices, Mask, Matrix
from homi.verdict import predicted_labels

#: Characters of a row's text that are kept.
_MOST_TEXT = 2000

#: Labels of a row that are explained: those with the highest scores, and in addition
#: all true and all predicted labels. Of more than `_FEW_ROWS` rows fewer, and at most
#: `_MOST_EACH`: first those that are predicted and not true, or the reverse.
_MOST_LABELS, _FEWER_LABELS, _FEW_ROWS, _MOST_EACH = 40, 4, 10, 16


@dataclass(frozen=True)
class Why:
    """Explanation of one score of a row, as steps from a start to the score.

    ``predicted`` is the output of the model's ``predict``; None if unknown.
    ``leaves`` is the share of the label in the leaves that the row falls into, shrunk,
    if the model has trees.
    """

    label: int
    start: float
    steps: list[Step]
    score: float
    predicted: bool | None = None
    leaves: float | None = None


@dataclass(frozen=True)
class Row:
    """Explanation of a row.

    Attributes
    ----------
    name : str
        Name of the row.
    values : dict
        Values of the features that are named by a step.
    truth : list of int or None
        True labels, if known.
    why : list of Why
        Explained labels, the highest score first.
    index : int or None
        Its place among the rows it comes from.
    text : str
        Text, link or path of a file to show.
    similar : dict
        With a kernel: its values with the training rows that are named by a step.
    log_odds : array or None
        Log-odds of all labels, without tuned thresholds.
    predicted : list of int
        Predicted labels.
    """

    name: str
    values: dict[int, float]
    truth: list[int] | None
    why: list[Why]
    index: int | None = None
    text: str = ""
    similar: dict[int, float] = field(default_factory=dict)
    log_odds: Array | None = None
    predicted: list[int] = field(default_factory=list)


class RowsToExplain(NamedTuple):
    """Rows, with their labels, names, texts and places if known."""

    X: Matrix
    labels: Matrix = None
    names: Sequence[str] | None = None
    texts: Sequence[str] | None = None
    places: Indices | None = None

    def about(self, k: int) -> Fields:
        """Return name, truth, place and text of row k."""
        place = k if self.places is None else int(self.places[k])
        return {
            "name": f"row {place}" if self.names is None else str(self.names[k]),
            "truth": None if self.labels is None else _present(self.labels[[k]]),
            "index": None if self.places is None else place,
            "text": "" if self.texts is None else str(self.texts[k])[:_MOST_TEXT],
        }


def explain_rows(
    model: Any, known: ModelSummary, given: RowsToExplain, center: Array | None
) -> list[Row]:
    """Explain rows relative to a center, which is in the features of a kernel if any.

    Parameters
    ----------
    model : classifier
        The fitted model.
    known : ModelSummary
        Its arrays.
    given : RowsToExplain
        Rows as the model takes them; labels are a 0/1 matrix.
    center : array or None
        Features that contributions are relative to; None for zeros.
    """
    n_labels = len(known.names)
    if not known.explains_rows:
        return _unexplained_rows(model, n_labels, given)
    features = features_of(model, given.X)
    others = known.trees is not None or known.logistic is not None
    rows = checked_rows(model, given.X) if others else None
    predicted = predicted_labels(model, given.X, n_labels)
    log_odds = log_odds_of(model, innermost_rows(model, given.X), n_labels)
    n_rows = features.shape[0]
    trees: Iterator[Waterfalls | None] = repeat(None, n_rows)
    if known.trees is not None:
        trees = forest_waterfalls(known.trees[0], rows)
    has_few = n_rows <= _FEW_ROWS or n_labels <= _MOST_EACH
    most = _MOST_LABELS if has_few else _FEWER_LABELS
    explained = [
        explain_row(
            known,
            flat(features[[k]]),
            center=center,
            predicted=predicted[k],
            row=None if rows is None else flat(rows[[k]]),
            log_odds=log_odds[k],
            most=most,
            trees=forest,
            **given.about(k),
        )
        for k, forest in enumerate(trees)
    ]
    return [
        replace(row, values=unscaled_values(model, row.values)) for row in explained
    ]


def _unexplained_rows(model: Any, n_labels: int, given: RowsToExplain) -> list[Row]:
    """Return rows with their predictions alone."""
    predicted = predicted_labels(model, given.X, n_labels)
    log_odds = log_odds_of(model, innermost_rows(model, given.X), n_labels)
    return [
        Row(
            values={},
            why=[],
            log_odds=log_odds[k],
            predicted=np.flatnonzero(said).tolist(),
            **given.about(k),
        )
        for k, said in enumerate(predicted)
    ]


def explain_row(
    known: ModelSummary,
    x: Array,
    *,
    center: Array | None = None,
    name: str = "row",
    truth: list[int] | None = None,
    predicted: Mask | None = None,
    row: Array | None = None,
    index: int | None = None,
    text: str = "",
    log_odds: Array | None = None,
    most: int = _MOST_LABELS,
    trees: Waterfalls | None = None,
    centre: Array | None = None,
) -> Row:
    """Explain one row. x and the center are features, of the kernel if any.

    Parameters
    ----------
    known : ModelSummary
        The model.
    x : array of shape (n_features,)
        The row.
    center : array of shape (n_features,), optional
        Contributions are relative to it; zeros by default.
    name, truth, index, text, log_odds
        As in :class:`Row`.
    predicted : array of bool, optional
        The row's output of :func:`homi.verdict.predicted_labels`.
    row : array, optional
        What a forest or logistic regressions take, if the model has some; None where
        that is x.
    most : int, default=40
        Labels to explain, those with the highest scores; true and predicted labels in
        addition.
    trees : Waterfalls, optional
        Contributions of the model's forest, if they are known already.
    centre : array, optional
        Former name of ``center``.

    Returns
    -------
    row : Row
    """
    center = centre if center is None else center
    parts = _Parts(known, x, center, x if row is None else row, trees)
    if not np.isfinite(parts.scores).all():
        raise ValueError(
            f"scores of {name} are NaN or infinite, because its values are too large "
            "for the model; correct them or choose another row."
        )
    said = [] if predicted is None else np.flatnonzero(predicted).tolist()
    best = np.argsort(-parts.scores, kind="stable")[:most].tolist()
    shown = [*best, *(truth or []), *said]
    if most < _MOST_LABELS:
        wrong = sorted(set(truth or said) ^ set(said), key=lambda j: -parts.scores[j])
        shown = list(dict.fromkeys([*best, *wrong, *shown]))[:_MOST_EACH]
    shown = sorted(set(shown), key=lambda j: (-parts.scores[j], j))
    why = [
        parts.why(j, None if predicted is None else bool(predicted[j])) for j in shown
    ]
    used = {(s.kind, s.index) for w in why for s in w.steps if s.index >= 0}
    return Row(
        name=name,
        values={f: float(parts.row[f]) for kind, f in used if kind == "feature"},
        truth=truth,
        why=why,
        index=index,
        text=text,
        similar=parts.similarities([i for kind, i in used if kind == "neighbor"]),
        log_odds=log_odds,
        predicted=said,
    )


class _Parts:
    """Contributions to the scores of a row: of HOMI, and of models averaged with it.

    Without a kernel, both are contributions of features and are added.
    """

    def __init__(
        self,
        known: ModelSummary,
        x: Array,
        center: Array | None,
        row: Array,
        trees: Waterfalls | None,
    ) -> None:
        self.known, self.x, self.row = known, x, row
        given = known.W, known.z, known.B, known.t
        linear = waterfalls(x, *given, center, triangle=known.triangle)
        if known.odds is not None:
            linear = linear.as_log_odds(*known.odds)
        self.linear, self.leaves = linear, None
        others = []
        if known.logistic is not None:
            none = np.zeros(len(known.names))
            weights = known.logistic, none, np.eye(len(none)), none
            others.append(waterfalls(row, *weights, None if known.kernel else center))
        if known.trees is not None:
            forest, slope = known.trees
            trees = trees or next(forest_waterfalls(forest, row[None]))
            self.leaves = 1.0 / (1.0 + np.exp(-trees.scores))
            others.append(trees.times(slope))
        self.beside = None
        for part in others:
            if not known.kernel:
                self.linear = self.linear + part
            else:
                self.beside = part if self.beside is None else self.beside + part
        self.start, self.scores = self.linear.start, self.linear.scores
        if self.beside is not None:
            self.start = self.start + self.beside.start
            self.scores = self.scores + self.beside.scores

    def why(self, j: int, predicted: bool | None) -> Why:
        kind = "neighbor" if self.known.kernel else "feature"
        bars = [self._named(step) for step in steps(self.linear, j, kind=kind)]
        if self.beside is not None:
            bars = [*steps(self.beside, j), *bars]
            bars.sort(key=lambda s: ("neighbor", "feature", "label").index(s.kind))
        leaves = None if self.leaves is None else float(self.leaves[j])
        numbers = float(self.start[j]), bars, float(self.scores[j])
        return Why(j, *numbers, predicted, leaves)

    def _named(self, step: Step) -> Step:
        """Name a neighbor by its training row."""
        if step.kind != "neighbor" or step.index < 0 or self.known.neighbors is None:
            return step
        number = int(self.known.neighbors[step.index])
        return Step(step.kind, number, step.value, step.count)

    def similarities(self, rows: list[int]) -> dict[int, float]:
        if not rows or self.known.neighbors is None:
            return {}
        place = {int(i): k for k, i in enumerate(self.known.neighbors)}
        return {i: float(self.x[place[i]]) for i in rows}


def some_rows(X: Any, rows: Indices) -> Matrix:
    """Return some rows in the container of X: a model may use its columns."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if sparse.issparse(X):
        return X.tocsr()[rows]
    return [X[i] for i in rows] if isinstance(X, list | tuple) else X[rows]


def flat(row: Matrix) -> Array:
    """Return one row as a dense vector of float."""
    return np.asarray(dense(row)).ravel().astype(np.float64)


def _present(row: Matrix) -> list[int]:
    return np.flatnonzero(flat(row)).tolist()
