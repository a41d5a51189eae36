"""What all classifiers have in a header: parameters, names, classes, scalars."""

from __future__ import annotations

import re
from inspect import signature
from typing import TypeVar

import numpy as np
from sklearn.base import BaseEstimator

from homi.base.classifier import MultiLabelClassifier
from homi.base.targets import Encoding
from homi.io.errors import ModelFileError
from homi.io.values import decode, encode
from homi.typing import Fields

E = TypeVar("E", bound=BaseEstimator)

_TARGETS = ("multilabel-indicator", "binary", "multiclass")
#: Names of fitted attributes by scikit-learn's convention.
_PUBLIC = re.compile(r"[a-z][a-z0-9_]*[a-z0-9]_")
_ARRAYS = ("classes_", "label_names_")
#: None or an object, which has a place of its own in the file.
_APART = ("kernel_map_", "scaler_")


def params_of(model: BaseEstimator, leave_out: tuple[str, ...] = ()) -> Fields:
    """Return the hyperparameters for the header."""
    return {
        name: encode(value, f"{name} of {type(model).__name__}")
        for name, value in model.get_params(deep=False).items()
        if name not in leave_out
    }


def rebuilt(cls: type[E], params: object, **given: object) -> E:
    """Return an unfitted estimator with the parameters of a header, checked."""
    if not isinstance(params, dict):
        raise ModelFileError(f"the parameters of {cls.__name__} are missing.")
    values = {name: decode(value) for name, value in params.items()}
    if unknown := sorted(set(values) - set(signature(cls).parameters)):
        raise ModelFileError(
            f"{cls.__name__} has no parameter {unknown[0][:40]!r} here; it was saved "
            "by another version of homi or scikit-learn: install that, or fit again."
        )
    model = cls(**values, **given)
    # scikit-learn checks parameters in fit only, or by this method.
    try:
        model._validate_params()
    except ValueError as error:
        raise ModelFileError(str(error)[:300]) from error
    return model


def facts_of(model: MultiLabelClassifier) -> Fields:
    """Return names and classes for the header."""
    facts = {name: encode(getattr(model, name), name) for name in _ARRAYS}
    facts["target"] = {
        "kind": model.target_encoding_.kind,
        "dtype": model.target_encoding_.dtype.name,
    }
    return facts


def set_facts(model: MultiLabelClassifier, facts: Fields) -> int:
    """Set the names and classes of a model; return the number of labels."""
    for name in _ARRAYS:
        value = decode(facts[name])
        if not isinstance(value, np.ndarray) or value.ndim != 1 or not len(value):
            raise ModelFileError(f"{name} is not a list of names.")
        setattr(model, name, value)
    kind, dtype = facts["target"]["kind"], facts["target"]["dtype"]
    if kind not in _TARGETS or np.dtype(dtype).kind not in "iu":
        raise ModelFileError(f"a target of kind {str(kind)[:40]!r} is unknown.")
    model.target_encoding_ = Encoding(kind, np.dtype(dtype))
    n_labels, n_classes = len(model.label_names_), len(model.classes_)
    expected = {"binary": 2, "multiclass": n_labels}.get(kind, max(2, n_labels))
    if n_classes != expected or (kind == "binary" and n_labels != 1):
        raise ModelFileError(f"{n_classes} classes cannot be of {n_labels} labels.")
    return n_labels


def features_of(model: BaseEstimator) -> Fields:
    """Return the number and the names, if any, of the features for the header."""
    facts: Fields = {"n_features_in_": int(model.n_features_in_)}
    if hasattr(model, "feature_names_in_"):
        names = model.feature_names_in_
        facts["feature_names_in_"] = encode(names, "feature_names_in_")
    return facts


def set_features(model: BaseEstimator, facts: Fields) -> int:
    """Set the number and the names of the features of a model; return the number."""
    count = facts["n_features_in_"]
    if type(count) is not int or count < 1:
        raise ModelFileError(f"{str(count)[:40]} is not a number of features.")
    model.n_features_in_ = count
    if "feature_names_in_" in facts:
        names = decode(facts["feature_names_in_"])
        if (
            not isinstance(names, np.ndarray)
            or names.shape != (count,)
            or not all(isinstance(name, str) for name in names)
        ):
            raise ModelFileError(f"the names of the {count} features are wrong.")
        model.feature_names_in_ = names
    return count


def scalars_of(model: BaseEstimator) -> Fields:
    """Return fitted attributes that are single values, such as ``n_iter_``."""
    return {
        name: encode(value, name)
        for name, value in vars(model).items()
        if _PUBLIC.fullmatch(name)
        and name not in _APART
        and (value is None or isinstance(value, bool | int | float | str | np.generic))
    }


def set_scalars(model: BaseEstimator, facts: Fields) -> None:
    """Set fitted attributes that are single values."""
    for name, value in facts.items():
        found = decode(value)
        if not _PUBLIC.fullmatch(name) or not (
            found is None or isinstance(found, bool | int | float | str)
        ):
            raise ModelFileError(f"{name[:40]!r} is not a fitted attribute.")
        setattr(model, name, found)


def number(value: object, what: str) -> float:
    """Return a finite number of a header."""
    found = decode(value)
    if not isinstance(found, int | float) or not np.isfinite(found):
        raise ModelFileError(f"{what} is {str(found)[:40]!r}, not a finite number.")
    return found
