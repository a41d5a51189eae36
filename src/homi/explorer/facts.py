"""Everything that the page shows, as plain data; nothing of HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from homi.explorer.evidence import Evidence, Quality, evidence, quality
from homi.explorer.layout import Map, clustered_order, label_map, strongest
from homi.explorer.model import (
    Learnt,
    features_of,
    indicator,
    innermost,
    innermost_rows,
    learnt,
)
from homi.explorer.waterfall import Step, Waterfalls, steps, waterfalls
from homi.verdict import predicted_labels

Array = NDArray[np.float64]

#: Rows that are taken apart if nobody says which.
_EXAMPLES = 6

#: Labels of a row that are taken apart: its highest scores. Those that it has, and
#: those that are predicted, are as well.
_MOST_LABELS = 40

#: Entries of B that can be drawn as arrows.
_MOST_ARROWS, _ARROWS_PER_LABEL = 2000, 4


@dataclass(frozen=True)
class Why:
    """One score of a row, from where it starts to where it ends.

    ``predicted`` is what the model's own ``predict`` says; None if nobody asked it.
    """

    label: int
    start: float
    steps: list[Step]
    score: float
    predicted: bool | None = None


@dataclass(frozen=True)
class Row:
    """A row taken apart; ``truth`` are the labels that it has, if that is known."""

    name: str
    values: dict[int, float]
    truth: list[int] | None
    why: list[Why]


class _Chosen(NamedTuple):
    """Rows that somebody wants taken apart, and what is known of them."""

    rows: Any
    labels: Any
    names: Sequence[str] | None


@dataclass(frozen=True)
class Facts:
    """What the page shows.

    Attributes
    ----------
    learnt : Learnt
        The model.
    map : Map
        Places and groups of the labels.
    order : array of int
        Labels in the order of the matrix.
    arrows : array of shape (n_arrows, 2)
        The strongest entries of B off its diagonal, strongest first.
    data : Evidence or None
        What the rows say, if there were rows with labels.
    quality : Quality or None
        How well a test set is predicted, if there was one.
    rows : list of Row
        Rows taken apart.
    from_mean : bool
        Whether that counts from the mean of X, or else from a row of zeros.
    """

    learnt: Learnt
    map: Map
    order: NDArray[np.intp]
    arrows: NDArray[np.intp]
    data: Evidence | None
    quality: Quality | None
    rows: list[Row]
    from_mean: bool


def facts(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    X_test: Any = None,
    y_test: Any = None,
    rows: Any = None,
    row_labels: Any = None,
    row_names: Sequence[str] | None = None,
    label_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
) -> Facts:
    """Gather what the page shows; see :func:`homi.explorer.explain`."""
    known = learnt(model, label_names, feature_names)
    B, n_labels = known.B, len(known.names)
    given = None if rows is None else _Chosen(rows, row_labels, row_names)
    most = max(_MOST_ARROWS, _ARROWS_PER_LABEL * n_labels)
    return Facts(
        learnt=known,
        map=label_map(B),
        order=clustered_order(B),
        arrows=strongest(B, most),
        data=None if y is None else evidence(indicator(model, y, n_labels)),
        quality=_quality(model, X_test, y_test, n_labels),
        rows=_rows(model, known, X, y, given),
        from_mean=X is not None,
    )


def explain_row(
    known: Learnt,
    x: Array,
    *,
    centre: Array | None = None,
    name: str = "row",
    truth: list[int] | None = None,
    predicted: NDArray[np.bool_] | None = None,
) -> Row:
    """Take one row apart. It and the centre are features, mapped if by a kernel.

    ``predicted`` says of each label whether the model predicts it, as of
    :func:`homi.verdict.predicted_labels`.
    """
    parts = waterfalls(x, known.W, known.z, known.B, known.t, centre)
    if known.odds is not None:
        parts = parts.as_log_odds(*known.odds)
    if known.kernel:
        # Features of a kernel have no meaning of their own: they are one bar.
        together = parts.features.sum(axis=0, keepdims=True)
        parts = Waterfalls(parts.start, together, parts.labels)
    scores = parts.scores
    if not np.isfinite(scores).all():
        raise ValueError(
            f"scores of {name} are NaN or infinite: its values are too large for the "
            "model; correct it or choose another row."
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
    model: Any, known: Learnt, X: Any, y: Any, given: _Chosen | None
) -> list[Row]:
    """The rows that were asked for, or some of X, counted from the mean of X."""
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
    return [
        explain_row(
            known,
            _dense(features[[i]]),
            centre=centre,
            name=f"row {i}" if names is None else str(names[i]),
            truth=None if truths is None else _present(truths[[i]]),
            predicted=said,
        )
        for i, said in zip(chosen, predicted, strict=True)
    ]


def _some(X: Any, rows: NDArray[np.intp]) -> Any:
    """Some rows, in the form in which X came: a model may look at its columns."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if sparse.issparse(X):
        return X.tocsr()[rows]
    return [X[i] for i in rows] if isinstance(X, list | tuple) else X[rows]


def _quality(model: Any, X: Any, y: Any, n_labels: int) -> Quality | None:
    if (X is None) != (y is None):
        raise ValueError("X_test and y_test go together; pass both or neither.")
    if X is None:
        return None
    scores = innermost(model).decision_function(innermost_rows(model, X))
    predicted = predicted_labels(model, X, n_labels)
    y = indicator(model, y, n_labels)
    return quality(y, scores.reshape(-1, n_labels), predicted)


def _dense(row: Any) -> Array:
    row = row.toarray() if sparse.issparse(row) else np.asarray(row)
    return row.ravel().astype(np.float64)


def _present(row: Any) -> list[int]:
    return np.flatnonzero(_dense(row)).tolist()
