"""scikit-learn's ColumnTransformer of imputers and one-hot encoders, on numbers.

All that these learn is one number per column, the imputed value, because categories
are given as parameters. So a file holds parameters and one row, and a transformer that
is fitted to this row is the one that was saved.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.utils.validation import check_is_fitted

from homi.arrays import dense
from homi.io.errors import ModelFileError
from homi.io.fitted import params_of, rebuilt
from homi.io.tensors import Out, Source

Node = dict[str, Any]

_WHAT = (
    "a model file holds a ColumnTransformer that was fitted to an array, takes every "
    "column once, by its number, and has SimpleImputer and OneHotEncoder with given "
    "categories of numbers as steps"
)
#: Steps without parameters of their own.
_WORDS = ("passthrough", "drop")
#: The only function that a step may call.
_FUNCTIONS = {"dense": dense}


def dump_column_transformer(model: ColumnTransformer, out: Out) -> Node:
    """Return the header of a fitted ColumnTransformer, and put its row into `out`."""
    check_is_fitted(model)
    n_columns = model.n_features_in_
    steps = [
        [name, _dump_step(step), _checked_columns(columns)]
        for name, step, columns in model.transformers
    ]
    _check_once(steps, n_columns)
    row = np.zeros(n_columns)
    for _, step, columns in model.transformers_:
        for part in step if isinstance(step, Pipeline) else [step]:
            if isinstance(part, SimpleImputer):
                row[columns] = part.statistics_
    out.put("row", row)
    return {
        "kind": "ColumnTransformer",
        "params": params_of(model, ("transformers",)),
        "steps": steps,
        "sparse": bool(model.sparse_output_),
    }


def load_column_transformer(node: Any, source: Source) -> ColumnTransformer:
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
    if model.remainder != "drop" or model.n_jobs is not None:
        raise ModelFileError("its ColumnTransformer has a remainder, or n_jobs.")
    return model.fit(sparse.csr_array(row) if node["sparse"] else row)


def _checked_columns(columns: Any) -> list[int]:
    if not isinstance(columns, list) or not all(type(j) is int for j in columns):
        raise ModelFileError(f"columns {str(columns)[:40]!r} cannot be held: {_WHAT}.")
    return columns


def _check_once(steps: list[Any], n_columns: int) -> None:
    taken = sorted(j for _, _, columns in steps for j in columns)
    if taken != list(range(n_columns)):
        raise ModelFileError(f"the preprocessing takes other columns: {_WHAT}.")


def _dump_step(step: Any) -> Any:
    kind = type(step).__name__
    if isinstance(step, str) and step in _WORDS:
        return step
    if type(step) is Pipeline and step.memory is None:
        return {"kind": kind, "steps": [[n, _dump_step(s)] for n, s in step.steps]}
    if type(step) is FunctionTransformer:
        for name, function in _FUNCTIONS.items():
            if step.func is function:
                return {"kind": kind, "func": name}
    if type(step) is SimpleImputer or type(step) is OneHotEncoder:
        _check_step(step)
        return {"kind": kind, "params": params_of(step)}
    raise ModelFileError(f"a step {str(step)[:40]!r} cannot be saved: {_WHAT}.")


def _load_step(node: Any) -> Any:
    if isinstance(node, str) and node in _WORDS:
        return node
    kind = node["kind"]
    if kind == "Pipeline":
        return Pipeline([(str(name), _load_part(part)) for name, part in node["steps"]])
    return _load_part(node)


def _load_part(node: Any) -> Any:
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
            "pass keep_empty_features=True and no add_indicator, or categories of "
            "numbers, handle_unknown='ignore' and no drop."
        )


def _is_numbers(values: Any) -> bool:
    array: NDArray[Any] = np.asarray(values)
    return array.ndim == 1 and array.dtype.kind in "fiu"
