"""Why a row has its labels: terms that add up to each decision score, by name."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from homi.arrays import dense
from homi.explorer.model import (
    checked_rows,
    innermost,
    landmark_triangle,
    own_feature_names,
    own_label_names,
    unscaled_values,
)
from homi.explorer.waterfall import Waterfalls, forest_waterfalls, steps, waterfalls
from homi.typing import Array, Mask, Matrix, MatrixLike
from homi.verdict import predicted_labels

if TYPE_CHECKING:
    import pandas as pd

#: Labels that are explained unless some are asked for.
_MOST_LABELS = 5


class Term(NamedTuple):
    """One term of a decision score.

    ``kind`` is "start", "feature", "neighbor" (a landmark of a kernel, which is a
    training row), "label" or "threshold"; ``value`` is the value of the feature, or the
    kernel value of the row and the neighbor, and None for all others.
    """

    label: object
    kind: str
    name: str
    value: float | None
    contribution: float


@dataclass(frozen=True)
class Explanation:
    """Terms that add up to the decision scores of one row.

    ``print`` shows it as text, and a notebook as a table.

    Attributes
    ----------
    terms : list of Term
        One after another for each label: the start, features, neighbors, other labels,
        and what a tuned threshold subtracts; the largest of each kind, and the sum of
        its others.
    scores : dict of float
        Name of each explained label -> its decision score, the sum of its terms.
    predicted : dict of bool
        Whether the label is predicted.
    """

    terms: list[Term]
    scores: dict[Hashable, float]
    predicted: dict[Hashable, bool]

    def to_frame(self) -> pd.DataFrame:
        """Return the terms as a data frame of pandas.

        Returns
        -------
        frame : pandas.DataFrame
            The columns are the fields of a term.
        """
        import pandas as pd

        return pd.DataFrame(self.terms, columns=Term._fields)

    def __str__(self) -> str:
        """Return one indented list for each label."""
        width = max((len(_text(term)) for term in self.terms), default=0)
        lines = []
        for label in self.scores:
            lines.append(self._title(label))
            lines += [
                f"  {_text(term):{width}}  {term.contribution:+10.4f}"
                for term in self._of(label)
            ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return one table for each label."""
        return "".join(self._table(label) for label in self.scores)

    def _table(self, label: Hashable) -> str:
        rows = (
            f"<tr><td>{escape(_text(term))}</td>"
            f'<td style="text-align:right">{term.contribution:+.4f}</td></tr>'
            for term in self._of(label)
        )
        title = escape(self._title(label))
        return f"<table><caption>{title}</caption>{''.join(rows)}</table>"

    def _title(self, label: Hashable) -> str:
        verdict = "predicted" if self.predicted[label] else "not predicted"
        return f"{label}: {verdict}, score {self.scores[label]:+.4f}"

    def _of(self, label: Hashable) -> Iterable[Term]:
        return (term for term in self.terms if term.label == label)


def _text(term: Term) -> str:
    between = ", similarity " if term.kind == "neighbor" else " = "
    value = "" if term.value is None else f"{between}{term.value:.4g}"
    return f"{term.kind}: {term.name}{value}"


def why(
    model: BaseEstimator,
    x: MatrixLike,
    labels: Sequence[object] | None = None,
    *,
    X: MatrixLike | None = None,
    n_terms: int = 8,
) -> Explanation:
    """Explain the decision scores of one row.

    A score of a linear model is a sum over features and, by the label correlation B,
    over other labels. With a kernel, it is a sum over neighbors, the training rows that
    are landmarks: the score that the model gives to each, relative to the start, times
    a weight that is large for near ones. The log-odds of a forest are a sum over
    features, too (see ``Forest.contributions``), and are added to those of a linear
    model.

    Parameters
    ----------
    model : HOMI, HOMICV or a linear classifier of homi, alone or in a Pipeline or a \
TunedThresholds
        The fitted model.
    x : array-like of shape (n_features,) or (1, n_features), or str
        The row, as the model takes it; one text for a pipeline of texts.
    labels : sequence, default=None
        Names of the labels to explain. None for those predicted, at most five, or the
        one of highest score if there are none.
    X : array-like of shape (n_samples, n_features), default=None
        Rows such as those of ``fit``: contributions are then relative to their mean. By
        default they are relative to a row of zeros or, with a kernel, to the mean of
        its landmarks.
    n_terms : int, default=8
        Most terms of each kind; the others are summed up.

    Returns
    -------
    explanation : Explanation
        Terms that add up to ``decision_function``.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from homi import HOMI
    >>> texts = ["red ball", "red box", "blue ball", "blue box"] * 3
    >>> tags = [text.split() for text in texts]
    >>> model = make_pipeline(TfidfVectorizer(), HOMI(gamma=0.0)).fit(texts, tags)
    >>> found = why(model, "a blue ball", ["blue"])
    >>> [term.name for term in found.terms if term.kind == "feature"]
    ['blue', 'ball']
    """
    row = _one_row(x)
    rows = checked_rows(model, row)
    names = own_label_names(model)
    decisions = np.asarray(model.decision_function(row)).reshape(-1)
    predicted = predicted_labels(model, row, len(names))[0]
    sources = _sources(model, rows, None if X is None else checked_rows(model, X))
    start = np.sum([source.parts.start for source in sources], axis=0)
    total = np.sum([source.parts.scores for source in sources], axis=0)
    _check_sum(innermost(model), rows, total)
    shown = _shown(labels, names, decisions, predicted)
    is_zero = X is None and sources[0].kind == "feature"
    reference = "a row of zeros" if is_zero else "the mean row"
    terms: list[Term] = []
    for j in shown:
        terms.append(Term(names[j], "start", reference, None, float(start[j])))
        terms += _terms(sources, names, j, n_terms)
        if not np.isclose(decisions[j], total[j], rtol=1e-9, atol=1e-9):
            cut = float(decisions[j] - total[j])
            terms.append(Term(names[j], "threshold", "of the label", None, cut))
    return Explanation(
        terms,
        {names[j]: float(decisions[j]) for j in shown},
        {names[j]: bool(predicted[j]) for j in shown},
    )


def _one_row(x: Any) -> Matrix:
    """Return one row in two dimensions, or a list of one text."""
    if isinstance(x, str):
        return [x]
    if hasattr(x, "to_frame") and hasattr(x, "index"):  # a row of a data frame
        return x.to_frame().T.infer_objects()
    if not sparse.issparse(x) and not hasattr(x, "columns"):
        x = np.asarray(x)
        x = x[None] if x.ndim == 1 and x.dtype.kind in "biuf" else x
    if x.shape[0] != 1:
        raise ValueError(
            f"x has {x.shape[0]} rows, and one is explained at a time; pass a single "
            "one, such as X[0], or texts[0]."
        )
    return x


class _Source(NamedTuple):
    """Contributions of one kind, with the names and values of what contributes."""

    kind: str
    names: Sequence[str]
    values: Array
    parts: Waterfalls


def _sources(
    model: BaseEstimator, row: Matrix, background: Matrix | None
) -> list[_Source]:
    """Split the scores of the innermost model, before any tuned threshold."""
    inner = innermost(model)
    core = getattr(inner, "best_estimator_", inner)
    if not hasattr(core, "_features") and not hasattr(core, "coef_"):
        raise TypeError(
            f"{type(inner).__name__} cannot be explained: its scores are not sums over "
            "features; use HOMICV, HOMI or a linear classifier."
        )
    names = own_feature_names(model, row.shape[1])
    linear = _linear(core, row, background, names)
    if getattr(inner, "odds_slope_", None) is not None:
        slope, offset = inner.odds_slope_, inner.odds_offset_
        parts = linear.parts.times(slope)
        linear = linear._replace(parts=replace(parts, start=parts.start + offset))
    x = _flat(row)
    # Shown as the user's table has them, where a step of the pipeline scales them.
    values = np.array([*unscaled_values(model, dict(enumerate(x))).values()])
    if linear.kind == "feature":
        linear = linear._replace(values=values)
    found = [linear]
    for parts in _other_models(inner, x, background):
        if found[-1].kind == "feature":
            found[-1] = found[-1]._replace(parts=found[-1].parts + parts)
        else:
            found.append(_Source("feature", names, values, parts))
    return found


def _other_models(
    inner: Any, x: Array, background: Matrix | None
) -> Iterable[Waterfalls]:
    """Split the log-odds of logistic regressions and of a forest, if there are any."""
    coef = getattr(inner, "logistic_coef_", None)
    if coef is not None:
        none = np.zeros(coef.shape[1])
        center = None
        if background is not None:
            center = np.asarray(background.mean(axis=0)).ravel()
        yield waterfalls(x, coef, none, np.eye(len(none)), none, center)
    forest = getattr(inner, "forest_", None)
    if forest is not None:
        yield next(forest_waterfalls(forest, x[None])).times(inner.forest_slope_)


def _linear(
    core: BaseEstimator, row: Matrix, background: Matrix | None, names: Sequence[str]
) -> _Source:
    """Split decision scores that are linear in features, or in those of a kernel."""
    features = getattr(core, "_features", lambda X: X)  # coef_ alone is of the columns
    x, kernel_map = _flat(features(row)), getattr(core, "kernel_map_", None)
    center = None if kernel_map is None else kernel_map.mean_features()
    if background is not None:
        center = np.asarray(features(background).mean(axis=0)).ravel()
    parts = waterfalls(x, *_parameters(core), center, triangle=landmark_triangle(core))
    if kernel_map is None:
        return _Source("feature", names, x, parts)
    # In files of earlier versions, a feature is a combination of landmarks.
    what = "training row" if kernel_map.normalization is None else "combination"
    return _Source("neighbor", [f"{what} {i}" for i in kernel_map.indices], x, parts)


def _parameters(core: BaseEstimator) -> tuple[Array, Array, Array, Array]:
    """Return W, z, B and t of decision scores."""
    if hasattr(core, "label_correlation_"):
        t = core.label_bias_ - 0.5
        return core.feature_weights_, core.feature_bias_, core.label_correlation_, t
    n_labels = len(core.intercept_)
    return core.coef_.T, core.intercept_, np.eye(n_labels), np.zeros(n_labels)


def _check_sum(inner: BaseEstimator, rows: Matrix, total: Array) -> None:
    """Raise TypeError if the terms do not add up to the scores."""
    if not np.allclose(inner._scores(rows).ravel(), total, rtol=1e-6, atol=1e-6):
        raise TypeError(
            f"{type(inner).__name__} cannot be explained: its scores are not sums over "
            "features; use HOMICV, HOMI or a linear classifier."
        )


def _shown(
    labels: Sequence[object] | None,
    names: list[Hashable],
    scores: Array,
    predicted: Mask,
) -> list[int]:
    """Return the columns of the labels to explain."""
    if labels is None:
        best = np.argsort(-scores, kind="stable").tolist()
        return [j for j in best if predicted[j]][:_MOST_LABELS] or best[:1]
    given = [labels] if isinstance(labels, str) else list(labels)
    if unknown := [label for label in given if label not in names]:
        raise ValueError(
            f"{unknown[0]!r} is not a label of the model; its label_names_ are "
            f"{names[:5]}{'…' if len(names) > 5 else ''}."
        )
    return [names.index(label) for label in given]


def _terms(
    sources: list[_Source], names: list[Hashable], j: int, n_terms: int
) -> Iterable[Term]:
    for source in sources:
        for step in steps(source.parts, j, most=n_terms):
            is_label = step.kind == "label"
            kind = "label" if is_label else source.kind
            value = None
            if step.index < 0:
                name = f"{step.count} others"
            elif is_label:
                name = str(names[step.index])
            else:
                name = str(source.names[step.index])
                value = float(source.values[step.index])
            yield Term(names[j], kind, name, value, step.value)


def _flat(row: Matrix) -> Array:
    return np.asarray(dense(row), dtype=np.float64).ravel()
