"""scikit-learn's ColumnTransformer of imputers and one-hot encoders, on numbers.

All that these learn is one number per column, the imputed value, because categories
are given as parameters. So a file holds parameters and one row, and a transformer that
is fitted to this row is the one that was saved.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.utils.validation import check_is_fitted

from homi.arrays import dense
from homi.io.errors import ModelFileError
from homi.io.fitted import params_of, rebuilt
from homi.io.tensors import Out, Source
from homi.io.values import encode
from homi.typing import Array, Fields

Node = Fields

_WHAT = (
    "a model file holds a ColumnTransformer that was fitted to an array, takes every "
    "column once, by its number, and has SimpleImputer and OneHotEncoder with given "
    "categories of numbers as steps"
)
#: Parameters that change the result; all others must have their defaults.
_PARAMS = ("sparse_threshold", "verbose_feature_names_out")
#: Steps without parameters of their own.
_WORDS = ("passthrough", "drop")
#: The only function that a step may call.
_FUNCTIONS = {"dense": dense}


def dump_column_transformer(model: ColumnTransformer, out: Out) -> Node:
    """Return the header of a fitted ColumnTransformer, and put its row into `out`."""
    check_is_fitted(model)
    _check_whole(model)
    n_columns = model.n_features_in_
    steps = [
        [name, _dump_step(step), _checked_columns(columns)]
        for name, step, columns in model.transformers
    ]
    _check_once(steps, n_columns)
    out.put("row", _imputed_values(model))
    kept = {name: getattr(model, name) for name in _PARAMS}
    return {
        "kind": "ColumnTransformer",
        "params": {name: encode(value, name) for name, value in kept.items()},
        "steps": steps,
        "sparse": bool(model.sparse_output_),
    }


def _imputed_values(model: ColumnTransformer) -> Array:
    """Return what is imputed in each column, and 0 where nothing is."""
    row = np.zeros(model.n_features_in_)
    for _, step, columns in model.transformers_:
        for part in step if isinstance(step, Pipeline) else [step]:
            if isinstance(part, SimpleImputer):
                if part.n_features_in_ != len(columns):
                    raise ModelFileError(f"an imputer follows an encoder; {_WHAT}.")
                row[columns] = part.statistics_
    return row


def load_column_transformer(node: object, source: Source) -> ColumnTransformer:
    """Return the fitted ColumnTransformer of a header."""
    if not isinstance(node, dict) or node.get("kind") != "ColumnTransformer":
        raise ModelFileError("its preprocessing is of an unknown kind.")
    row = source.floats("row", (source.length("row"),))[None, :]
    _check_once(node["steps"], row.shape[1])
    steps = []
    for name, step, columns in node["steps"]:
        if not isinstance(name, str):
            raise ModelFileError("a step of the preprocessing has no name.")
        steps.append((name, _load_step(step), _checked_columns(columns)))
    model = rebuilt(ColumnTransformer, node["params"], transformers=steps)
    _check_whole(model)
    is_sparse = bool(node["sparse"])
    model.fit(sparse.csr_array(row) if is_sparse else row)
    model.sparse_output_ = is_sparse  # one row may have fewer zeros than all had
    return model


def _check_whole(model: ColumnTransformer) -> None:
    if model.remainder != "drop" or model.transformer_weights is not None:
        raise ModelFileError(f"a remainder or weights cannot be held: {_WHAT}.")
    if model.n_jobs is not None:
        raise ModelFileError("a ColumnTransformer with n_jobs cannot be held.")


def _checked_columns(columns: object) -> list[int]:
    if not isinstance(columns, list) or not all(type(j) is int for j in columns):
        raise ModelFileError(f"columns {str(columns)[:40]!r} cannot be held: {_WHAT}.")
    return columns


def _check_once(steps: list[list[Any]], n_columns: int) -> None:
    taken = sorted(j for _, _, columns in steps for j in columns)
    if taken != list(range(n_columns)):
        raise ModelFileError(f"the preprocessing takes other columns: {_WHAT}.")


def _dump_step(step: BaseEstimator | str) -> Node | str:
    if isinstance(step, str):
        return _checked_word(step)
    if type(step) is Pipeline and step.memory is None:
        return {
            "kind": "Pipeline",
            "steps": [[n, _dump_part(s)] for n, s in step.steps],
        }
    return _dump_part(step)


def _checked_word(step: str) -> str:
    if step not in _WORDS:
        raise ModelFileError(f"a step {step[:40]!r} cannot be saved: {_WHAT}.")
    return step


def _dump_part(step: BaseEstimator) -> Node:
    kind = type(step).__name__
    if type(step) is FunctionTransformer:
        for name, function in _FUNCTIONS.items():
            if step.func is function:
                return {"kind": kind, "func": name}
    if type(step) is SimpleImputer or type(step) is OneHotEncoder:
        _check_step(step)
        return {"kind": kind, "params": params_of(step)}
    raise ModelFileError(f"a step {str(step)[:40]!r} cannot be saved: {_WHAT}.")


def _load_step(node: Node | str) -> BaseEstimator | str:
    if isinstance(node, str):
        return _checked_word(node)
    if node["kind"] == "Pipeline":
        return Pipeline([(str(name), _load_part(part)) for name, part in node["steps"]])
    return _load_part(node)


def _load_part(node: Node) -> BaseEstimator:
    kind = node["kind"]
    if kind == "FunctionTransformer":
        return FunctionTransformer(_FUNCTIONS[node["func"]], accept_sparse=True)
    if kind not in _CLASSES:
        raise ModelFileError(f"a step of kind {str(kind)[:40]!r} is unknown here.")
    step = rebuilt(_CLASSES[kind], node["params"])
    _check_step(step)
    return step


_CLASSES = {"SimpleImputer": SimpleImputer, "OneHotEncoder": OneHotEncoder}


def _check_step(step: SimpleImputer | OneHotEncoder) -> None:
    """Refuse parameters with which a fit to one row would not be the saved one."""
    if isinstance(step, SimpleImputer):
        is_sound = step.keep_empty_features and not step.add_indicator
        is_sound = is_sound and step.missing_values != step.missing_values  # NaN
    else:
        plain = (step.drop, step.min_frequency, step.max_categories)
        is_sound = (
            isinstance(step.categories, list)
            and all(map(_is_numbers, step.categories))
            and step.handle_unknown == "ignore"
            and all(value is None for value in plain)
        )
    if not is_sound:
        raise ModelFileError(
            f"{type(step).__name__} has parameters that a model file does not hold: "
            "pass keep_empty_features=True, no add_indicator and NaN as missing value, "
            "or categories of numbers, handle_unknown='ignore' and no drop."
        )


def _is_numbers(values: ArrayLike) -> bool:
    array = np.asarray(values)
    return array.ndim == 1 and array.dtype.kind in "fiu"
