"""Everything that the page shows, as plain data without HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from homi.arrays import dense
from homi.explorer.evidence import Evidence, Quality, evidence, quality
from homi.explorer.layout import Map, clustered_order, label_map, strongest
from homi.explorer.model import (
    ModelSummary,
    checked_rows,
    features_of,
    indicator,
    innermost,
    innermost_rows,
    summarize_model,
)
from homi.explorer.waterfall import Step, forest_waterfalls, steps, waterfalls
from homi.typing import Array, Indices, Mask, Matrix, MatrixLike
from homi.verdict import predicted_labels

#: Number of rows that are explained by default.
_EXAMPLES = 6

#: Labels of a row that are explained: those with the highest scores, and in addition
#: all true and all predicted labels.
_MOST_LABELS = 40

#: Maximum number of entries of B that are drawn as arrows.
_MOST_ARROWS, _ARROWS_PER_LABEL = 2000, 4


@dataclass(frozen=True)
class Why:
    """Explanation of one score of a row, as steps from a start to the score.

    ``predicted`` is the output of the model's ``predict``; None if unknown.
    """

    label: int
    start: float
    steps: list[Step]
    score: float
    predicted: bool | None = None


@dataclass(frozen=True)
class Row:
    """Explanation of a row; ``truth`` are its true labels, if known."""

    name: str
    values: dict[int, float]
    truth: list[int] | None
    why: list[Why]


class _RowsToExplain(NamedTuple):
    """Rows to explain, with their labels and names if known."""

    rows: Matrix
    labels: Matrix
    names: Sequence[str] | None


@dataclass(frozen=True)
class Facts:
    """What the page shows.

    Attributes
    ----------
    model : ModelSummary
        The model.
    map : Map
        Positions and groups of the labels.
    order : array of int
        Labels in the order of the matrix.
    arrows : array of shape (n_arrows, 2)
        The strongest entries of B off its diagonal, strongest first.
    data : Evidence or None
        Co-occurrence of labels, if labels were passed.
    quality : Quality or None
        Quality of the predictions for a test set, if it was passed.
    rows : list of Row
        Explained rows.
    from_mean : bool
        Whether contributions are relative to the mean of X, or to a row of zeros.
    """

    model: ModelSummary
    map: Map
    order: Indices
    arrows: Indices
    data: Evidence | None
    quality: Quality | None
    rows: list[Row]
    from_mean: bool

    @property
    def learnt(self) -> ModelSummary:
        """The former name of ``model``."""
        return self.model


def facts(
    model: Any,
    X: MatrixLike | None = None,
    y: MatrixLike | None = None,
    *,
    X_test: MatrixLike | None = None,
    y_test: MatrixLike | None = None,
    rows: MatrixLike | None = None,
    row_labels: MatrixLike | None = None,
    row_names: Sequence[str] | None = None,
    label_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
) -> Facts:
    """Collect what the page shows; see :func:`homi.explorer.explain`."""
    known = summarize_model(model, label_names, feature_names)
    B, n_labels = known.B, len(known.names)
    given = None if rows is None else _RowsToExplain(rows, row_labels, row_names)
    most = max(_MOST_ARROWS, _ARROWS_PER_LABEL * n_labels)
    return Facts(
        model=known,
        map=label_map(B),
        order=clustered_order(B),
        arrows=strongest(B, most),
        data=None if y is None else evidence(indicator(model, y, n_labels)),
        quality=_quality(model, X_test, y_test, n_labels),
        rows=_rows(model, known, X, y, given),
        from_mean=X is not None,
    )


def explain_row(
    known: ModelSummary,
    x: Array,
    *,
    centre: Array | None = None,
    name: str = "row",
    truth: list[int] | None = None,
    predicted: Mask | None = None,
    row: Array | None = None,
) -> Row:
    """Explain one row. x and the center are features, of the kernel if any.

    ``row`` is what a forest takes, if the model has one; None where that is x.
    ``predicted`` is the row's output of :func:`homi.verdict.predicted_labels`.
    """
    parts = waterfalls(x, known.W, known.z, known.B, known.t, centre)
    if known.odds is not None:
        parts = parts.as_log_odds(*known.odds)
    if known.kernel:
        # Kernel features have no meaning of their own: they are one step.
        parts = parts.together()
    if known.trees is not None:
        forest, slope = known.trees
        trees = forest_waterfalls(forest, x if row is None else row).times(slope)
        parts += trees.together() if known.kernel else trees
    scores = parts.scores
    if not np.isfinite(scores).all():
        raise ValueError(
            f"scores of {name} are NaN or infinite, because its values are too large "
            "for the model; correct them or choose another row."
        )
    best = np.argsort(-scores, kind="stable")[:_MOST_LABELS].tolist()
    said = [] if predicted is None else np.flatnonzero(predicted).tolist()
    shown = list(dict.fromkeys([*best, *(truth or []), *said]))
    verdicts: Any = {} if predicted is None else dict(enumerate(predicted.tolist()))
    why = [
        Why(
            j, float(parts.start[j]), steps(parts, j), float(scores[j]), verdicts.get(j)
        )
        for j in shown
    ]
    used = {s.index for w in why for s in w.steps if s.kind == "feature"} - {-1}
    values = {} if known.kernel else {f: float(x[f]) for f in sorted(used)}
    return Row(name, values, truth, why)


def _rows(
    model: Any, known: ModelSummary, X: Matrix, y: Matrix, given: _RowsToExplain | None
) -> list[Row]:
    """Explain the given rows, or some of X, relative to the mean of X."""
    features = None if X is None else features_of(model, X)
    centre = None if features is None else np.asarray(features.mean(axis=0)).ravel()
    if given is not None:
        features, y, names = features_of(model, given.rows), given.labels, given.names
        X, chosen = given.rows, np.arange(features.shape[0])
    elif features is not None:
        chosen = np.linspace(0, features.shape[0] - 1, _EXAMPLES).astype(int)
        chosen, names = np.unique(chosen), None
    else:
        return []
    truths = None if y is None else indicator(model, y, len(known.names))
    predicted = predicted_labels(model, _some(X, chosen), len(known.names))
    taken = checked_rows(model, _some(X, chosen)) if known.trees else None
    return [
        explain_row(
            known,
            _dense(features[[i]]),
            centre=centre,
            name=f"row {i}" if names is None else str(names[i]),
            truth=None if truths is None else _present(truths[[i]]),
            predicted=said,
            row=None if taken is None else _dense(taken[[k]]),
        )
        for k, (i, said) in enumerate(zip(chosen, predicted, strict=True))
    ]


def _some(X: Matrix, rows: Indices) -> Matrix:
    """Return some rows in the container of X: a model may use its columns."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if sparse.issparse(X):
        return X.tocsr()[rows]
    return [X[i] for i in rows] if isinstance(X, list | tuple) else X[rows]


def _quality(model: Any, X: Matrix, y: Matrix, n_labels: int) -> Quality | None:
    if (X is None) != (y is None):
        raise ValueError(
            "only one of X_test and y_test was passed; pass both or neither."
        )
    if X is None:
        return None
    scores = innermost(model).decision_function(innermost_rows(model, X))
    predicted = predicted_labels(model, X, n_labels)
    y = indicator(model, y, n_labels)
    return quality(y, np.asarray(scores).reshape(-1, n_labels), predicted)


def _dense(row: Matrix) -> Array:
    return np.asarray(dense(row)).ravel().astype(np.float64)


def _present(row: Matrix) -> list[int]:
    return np.flatnonzero(_dense(row)).tolist()
