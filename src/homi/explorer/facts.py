"""Everything that the page shows, as plain data without HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit
from sklearn.utils.validation import check_consistent_length

from homi.arrays import dense
from homi.explorer.compare import Comparison, OtherModel, compare
from homi.explorer.errors import Errors, errors
from homi.explorer.evidence import Evidence, Quality, evidence, quality
from homi.explorer.layout import Map
from homi.explorer.model import (
    ModelSummary,
    features_of,
    indicator,
    innermost,
    innermost_rows,
    log_odds_of,
    own_label_names,
    summarize_model,
)
from homi.explorer.relations import LabelGraph, label_graph
from homi.explorer.row_texts import row_names_of, row_texts_of
from homi.explorer.rows import (
    Row,
    RowsToExplain,
    Why,
    explain_row,
    explain_rows,
    some_rows,
)
from homi.explorer.suspects import Suspects, find_suspects, suspects_of_audit
from homi.joint import JointModel
from homi.typing import Array, Indices, Mask, Matrix, MatrixLike
from homi.verdict import predicted_labels
from homi.warn import warn_of_row_order

__all__ = ["Facts", "Row", "Why", "explain_row", "facts"]

#: Rows that are judged, and labels of all of them: enough for rates, and quick.
_MOST_JUDGED, _MOST_CELLS = 4000, 2_000_000
#: Rows that are shown: between these numbers, by the bytes of their log-odds.
_MOST_SHOWN, _LEAST_SHOWN, _SHOWN_BYTES = 150, 40, 400_000
#: Suspicious labels and confused pairs whose rows are shown, and half as many rows
#: about which two models disagree.
_FIRST = 40


@dataclass(frozen=True)
class Facts:
    """What the page shows.

    Attributes
    ----------
    model : ModelSummary
        The model.
    graph : LabelGraph
        Relations of labels, their positions and groups.
    data : Evidence or None
        Co-occurrence of labels, if labels were passed.
    judged : Judged or None
        The rows whose predictions are judged.
    quality : Quality or None
        Quality of the predictions of each label.
    errors : Errors or None
        Confused labels, calibration and thresholds.
    suspects : Suspects or None
        Labels that are probably wrong.
    comparison : Comparison or None
        Disagreements with another model.
    rows : list of Row
        Explained rows.
    from_mean : bool
        Whether contributions are relative to the mean of X, or to a row of zeros.
    average : array of shape (n_labels,)
        Log-odds of the labels of an average row.
    """

    model: ModelSummary
    graph: LabelGraph
    data: Evidence | None
    judged: Judged | None
    quality: Quality | None
    errors: Errors | None
    suspects: Suspects | None
    comparison: Comparison | None
    rows: list[Row]
    from_mean: bool
    average: Array

    @property
    def map(self) -> Map:
        """Positions and groups of the labels."""
        return self.graph.map

    @property
    def order(self) -> Indices:
        """Labels in the order of the matrix."""
        return self.graph.order

    @property
    def learnt(self) -> ModelSummary:
        """The former name of ``model``."""
        return self.model


class Judged(NamedTuple):
    """Rows whose predictions are judged: all, or some that are evenly spaced.

    ``held_out`` says whether they were passed as test rows. ``Y`` is None where true
    labels are not known.
    """

    X: Matrix
    places: Indices
    n_rows: int
    Y: Mask | None
    log_odds: Array
    predicted: Mask
    held_out: bool


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
    row_texts: Sequence[str] | None = None,
    label_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    audit: Any = None,
    other: Any = None,
) -> Facts:
    """Collect what the page shows; see :func:`homi.explorer.explain`."""
    known = summarize_model(model, label_names, feature_names)
    n_labels = len(known.names)
    Y = None if y is None else _labels(model, X, y, n_labels)
    data = None if Y is None else evidence(Y)
    judged = _judged(model, n_labels, (X, Y), (X_test, y_test), audit is not None)
    found = None if judged is None else _quality(model, judged)
    wrong = None if judged is None or judged.Y is None else _errors(judged)
    suspects = _suspects(model, known, judged, audit)
    comparison = _comparison(model, judged, other)
    if rows is None:
        notable = _notable(suspects, comparison, wrong, judged)
        shown = _shown(judged, len(known.names), notable, row_names, row_texts)
    else:
        labels = None
        if row_labels is not None:
            labels = _labels(model, rows, row_labels, n_labels)
        shown = RowsToExplain(
            rows,
            labels,
            row_names_of(rows) if row_names is None else row_names,
            row_texts_of(rows) if row_texts is None else row_texts,
        )
    return Facts(
        model=known,
        graph=label_graph(known, data),
        data=data,
        judged=judged,
        quality=found,
        errors=wrong,
        suspects=suspects,
        comparison=comparison,
        rows=_explained(model, known, shown, X),
        from_mean=X is not None,
        average=_average(known, data),
    )


def _labels(model: Any, X: MatrixLike | None, y: MatrixLike, n_labels: int) -> Matrix:
    """Return labels as a 0/1 matrix, one row for each row of X if there are any."""
    found = indicator(model, y, n_labels)
    if X is not None:
        check_consistent_length(X, found)
        warn_of_row_order(X, y)
    return found


def _judged(
    model: Any, n_labels: int, given: Any, test: Any, has_audit: bool
) -> Judged | None:
    """Score test rows, or else the rows given: those that an audit is about."""
    if (test[0] is None) != (test[1] is None):
        raise ValueError(
            "only one of X_test and y_test was passed; pass both or neither."
        )
    held_out = test[0] is not None and not has_audit
    X, y = given
    if held_out:
        X, y = test[0], _labels(model, test[0], test[1], n_labels)
    if X is None:
        return None
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    count = min(n_rows, _MOST_JUDGED, max(1, _MOST_CELLS // n_labels))
    places = np.unique(np.linspace(0, n_rows - 1, count).astype(np.intp))
    # A model may need all columns of a frame, or a list of texts: the container stays.
    some = X if count == n_rows else some_rows(X, places)
    Y = None if y is None else np.asarray(dense(some_rows(y, places))) > 0
    log_odds = log_odds_of(model, innermost_rows(model, some), n_labels)
    predicted = predicted_labels(model, some, n_labels)
    return Judged(some, places, n_rows, Y, log_odds, predicted, held_out)


def _quality(model: Any, judged: Judged) -> Quality | None:
    if judged.Y is None:
        return None
    scores = judged.log_odds
    if getattr(innermost(model), "odds_slope_", None) is None:
        scores = innermost(model).decision_function(innermost_rows(model, judged.X))
        scores = np.asarray(scores).reshape(judged.Y.shape)
    return quality(judged.Y, scores, judged.predicted)


def _errors(judged: Judged) -> Errors:
    assert judged.Y is not None
    return errors(judged.Y, expit(judged.log_odds), judged.predicted)


def _suspects(
    model: Any, known: ModelSummary, judged: Judged | None, audit: Any
) -> Suspects | None:
    if audit is not None:
        return suspects_of_audit(audit, known.names)
    joint: JointModel | None = known.joint
    if judged is None or judged.Y is None or joint is None:
        return None
    rows = (
        innermost_rows(model, judged.X),
        judged.log_odds,
        judged.Y.astype(np.float64),
    )
    found = find_suspects(model, joint, rows, known.names, held_out=judged.held_out)
    listed = [s._replace(row=int(judged.places[s.row])) for s in found.listed]
    return found._replace(listed=listed)


def _notable(
    suspects: Suspects | None,
    comparison: Comparison | None,
    wrong: Errors | None,
    judged: Judged | None,
) -> list[int]:
    """Return places of rows that other parts of the page name."""
    found = [s.row for s in suspects.listed[:_FIRST]] if suspects else []
    if comparison is not None:
        found += [r.row for r in comparison.rows[: _FIRST // 2]]
    if wrong is not None and judged is not None:
        found += [int(judged.places[pair.rows[0]]) for pair in wrong.pairs[:_FIRST]]
    return found


def _shown(
    judged: Judged | None,
    n_labels: int,
    notable: list[int],
    names: Sequence[str] | None,
    texts: Sequence[str] | None,
) -> RowsToExplain | None:
    """Choose rows to show: notable ones, and others that are evenly spaced."""
    if judged is None:
        return None
    count = _SHOWN_BYTES // (8 * n_labels)
    count = int(np.clip(count, _LEAST_SHOWN, _MOST_SHOWN))
    at = {place: k for k, place in enumerate(judged.places.tolist())}
    wanted = [at[row] for row in notable if row in at]
    n_judged = len(judged.places)
    spread = np.linspace(0, n_judged - 1, min(count, n_judged)).astype(int).tolist()
    room = count - min(count // 3, n_judged)
    chosen = np.array([*dict.fromkeys(wanted)][:room] + spread, dtype=np.intp)
    chosen = np.unique(np.array([*dict.fromkeys(chosen.tolist())][:count]))
    some, places = some_rows(judged.X, chosen), judged.places[chosen]
    names = row_names_of(some) if names is None else [names[i] for i in places]
    texts = row_texts_of(some) if texts is None else [texts[i] for i in places]
    labels = None if judged.Y is None else judged.Y[chosen]
    return RowsToExplain(some, labels, names, texts, places)


def _comparison(model: Any, judged: Judged | None, other: Any) -> Comparison | None:
    if other is None:
        return None
    if judged is None:
        raise ValueError(
            "two models are compared on rows; pass X, or X_test and y_test."
        )
    given = other if isinstance(other, OtherModel) else OtherModel(other)
    X = judged.X if given.X is None else some_rows(given.X, judged.places)
    names = [str(name) for name in own_label_names(model)]
    found = compare(names, judged.predicted, given, X, judged.Y)
    rows = [r._replace(row=int(judged.places[r.row])) for r in found.rows]
    return found._replace(rows=rows)


def _explained(
    model: Any, known: ModelSummary, shown: RowsToExplain | None, X: MatrixLike | None
) -> list[Row]:
    """Explain rows relative to the mean of the features of X."""
    if shown is None:
        return []
    center = None
    if X is not None and known.explains_rows:
        center = np.asarray(features_of(model, X).mean(axis=0)).ravel()
    return explain_rows(model, known, shown, center)


def _average(known: ModelSummary, data: Evidence | None) -> Array:
    """Return log-odds of the share of rows that have each label."""
    if data is not None:
        share = (np.diag(data.YtY) + 0.5) / (data.n_samples + 1.0)
    elif known.joint is not None:
        sets = known.joint.sets
        weights = np.exp(sets.frequency)
        share = (weights @ sets.members + 1e-3) / (weights.sum() + 2e-3)
    else:
        share = np.full(len(known.names), 0.5)
    found: Array = logit(share)
    return found
