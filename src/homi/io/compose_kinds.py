"""scikit-learn's ColumnTransformer and FeatureUnion in a model file.

A ColumnTransformer is fitted to one made-up row, with its loaded steps frozen, so that
scikit-learn itself sets all that follows from names and columns.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import OneHotEncoder

from homi.io.errors import ModelFileError
from homi.io.fitted import features_of, params_of, rebuilt, set_features
from homi.io.tensors import Out, Source
from homi.io.values import decode
from homi.typing import Fields, MatrixLike

#: Steps without state of their own.
WORDS = ("passthrough", "drop")

#: A step, or a word that stands for one.
Step: TypeAlias = BaseEstimator | str
#: What a step transforms: a name, a number, or a list of either.
Columns: TypeAlias = str | int | list[str | int]

#: From a step and its place to its header, and back.
Dump = Callable[..., Fields]
Load = Callable[[Fields, Source], BaseEstimator]


def dump_columns(
    model: ColumnTransformer, out: Out, dump: Dump, fitted: bool
) -> Fields:
    """Return the header of a ColumnTransformer; ``dump`` is that of its steps."""
    _check_jobs(model)
    steps = model.transformers_ if fitted else model.transformers
    known = {name: (step, columns) for name, step, columns in steps}
    nodes = []
    for j, (name, given, columns) in enumerate(model.transformers):
        step, columns = known.get(name, (given, columns))
        columns = _checked_columns(columns)
        is_word = isinstance(given, str) or columns == []
        word = given if isinstance(given, str) else "drop"
        node = word if is_word else dump(step, out.under(f"part{j}"), fitted=fitted)
        nodes.append([name, node, columns])
    node = {"params": params_of(model, ("transformers",)), "steps": nodes}
    if fitted:
        facts = {**features_of(model), "sparse": bool(model.sparse_output_)}
        node["fitted"] = facts
    return node


def load_columns(node: Fields, source: Source, load: Load) -> ColumnTransformer:
    """Return the ColumnTransformer of a header."""
    steps = []
    for j, (name, step, columns) in enumerate(node["steps"]):
        found = step if step in WORDS else load(step, source.under(f"part{j}"))
        steps.append((_text(name), found, _checked_columns(columns)))
    model = rebuilt(ColumnTransformer, node["params"], transformers=steps)
    _check_jobs(model)
    if node.get("fitted") is None:
        return model
    facts = node["fitted"]
    count = set_features(model, facts)
    names = getattr(model, "feature_names_in_", None)
    row = _made_up(steps, count, names)
    model.transformers = [(n, _frozen(step), c) for n, step, c in steps]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(_container(row, names))
    model.transformers = [
        (n, step if isinstance(step, str) else clone(step), c) for n, step, c in steps
    ]
    model.transformers_ = [(n, _thawed(step), c) for n, step, c in model.transformers_]
    # One row may have fewer zeros than all had.
    model.sparse_output_ = bool(facts["sparse"])
    return model


def dump_union(model: FeatureUnion, out: Out, dump: Dump, fitted: bool) -> Fields:
    """Return the header of a FeatureUnion."""
    _check_jobs(model)
    steps = [
        [name, s if s in WORDS else dump(s, out.under(f"part{j}"), fitted=fitted)]
        for j, (name, s) in enumerate(model.transformer_list)
    ]
    return {"params": params_of(model, ("transformer_list",)), "steps": steps}


def load_union(node: Fields, source: Source, load: Load) -> FeatureUnion:
    """Return the FeatureUnion of a header."""
    steps = [
        (_text(name), s if s in WORDS else load(s, source.under(f"part{j}")))
        for j, (name, s) in enumerate(node["steps"])
    ]
    # scikit-learn checks no parameter of a FeatureUnion.
    options = {name: decode(value) for name, value in node["params"].items()}
    model = FeatureUnion(steps, **options)
    _check_jobs(model)
    weights = model.transformer_weights
    flags = {type(model.verbose), type(model.verbose_feature_names_out)}
    if flags != {bool} or not (weights is None or isinstance(weights, dict)):
        raise ModelFileError("a FeatureUnion has wrong parameters.")
    return model


def _check_jobs(model: ColumnTransformer | FeatureUnion) -> None:
    if model.n_jobs is not None:
        raise ModelFileError(
            f"a {type(model).__name__} with n_jobs cannot be held by a model file; set "
            "it to None by set_params(n_jobs=None)."
        )


def _text(name: object) -> str:
    if not isinstance(name, str):
        raise ModelFileError("a step has no name.")
    return name


def _checked_columns(columns: object) -> Columns:
    """Return a name, a number, or a list of either."""
    if isinstance(columns, str | int) and type(columns) in (str, int):
        return columns
    plain = list(columns) if isinstance(columns, list | tuple | np.ndarray) else None
    if plain is not None and all(type(c) in (str, int) for c in plain):
        return plain
    raise ModelFileError(
        f"columns {str(columns)[:40]!r} cannot be held by a model file; name them by a "
        "list of names or numbers."
    )


def _frozen(step: Step) -> Step:
    return step if isinstance(step, str) else FrozenEstimator(step)


def _thawed(step: Step) -> Step:
    return step.estimator if isinstance(step, FrozenEstimator) else step


def _made_up(
    steps: list[tuple[str, Step, Columns]], count: int, names: Iterable[str] | None
) -> list[object]:
    """Return one value for each column that the steps can transform."""
    places = {} if names is None else {name: j for j, name in enumerate(names)}
    row: list[object] = [0.0] * count
    # A text may be any, but a category must be known: it is set last.
    for _, step, columns in sorted(
        steps, key=lambda step: _encoder(step[1]) is not None
    ):
        listed = columns if isinstance(columns, list) else [columns]
        for column, value in zip(listed, _values(step, len(listed)), strict=True):
            if value is not None:
                row[places[column] if isinstance(column, str) else column] = value
    return row


def _encoder(step: Step) -> OneHotEncoder | None:
    """Return the one-hot encoder that a column gets to, perhaps after an imputer."""
    parts = [part for _, part in step.steps] if isinstance(step, Pipeline) else [step]
    others = (part for part in parts if not isinstance(part, SimpleImputer))
    first = next(others, None)
    return first if isinstance(first, OneHotEncoder) else None


def _values(step: Step, count: int) -> list[object]:
    """Return a value for each column of a step; None where any number will do."""
    encoder = _encoder(step)
    if encoder is not None and len(encoder.categories_) == count:
        return [values[0] for values in encoder.categories_]
    while isinstance(step, Pipeline | FeatureUnion):
        parts = step.steps if isinstance(step, Pipeline) else step.transformer_list
        step = parts[0][1]
    if isinstance(step, CountVectorizer):
        return [""] * count
    if isinstance(step, SimpleImputer):
        return [None if value != value else value for value in step.statistics_]
    return [None] * count


def _container(row: list[object], names: Iterable[str] | None) -> MatrixLike:
    if names is None:
        is_number = all(isinstance(value, int | float | np.number) for value in row)
        return np.array([row], dtype=float if is_number else object)
    try:
        import pandas as frames
    except ModuleNotFoundError:
        import polars as frames
    return frames.DataFrame({n: [value] for n, value in zip(names, row, strict=True)})
