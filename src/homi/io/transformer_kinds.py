"""scikit-learn's scalers, imputers, encoders and SVD in a model file."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    StandardScaler,
)

from homi.io.errors import ModelFileError
from homi.io.fitted import features_of, number, rebuilt, set_features
from homi.io.tensors import Out, Source
from homi.io.values import decode, encode
from homi.typing import Array, Fields

#: Classes whose state is arrays, with their shapes: p features, k components.
_ARRAYS: dict[type, dict[str, str]] = {
    StandardScaler: {"mean_": "p", "var_": "p", "scale_": "p"},
    MinMaxScaler: dict.fromkeys(
        ("min_", "scale_", "data_min_", "data_max_", "data_range_"), "p"
    ),
    MaxAbsScaler: {"scale_": "p", "max_abs_": "p"},
    Normalizer: {},
    TfidfTransformer: {"idf_": "p"},
    TruncatedSVD: {
        "components_": "kp",
        **dict.fromkeys(
            ("explained_variance_", "explained_variance_ratio_", "singular_values_"),
            "k",
        ),
    },
}
CLASSES: dict[str, type] = {
    cls.__name__: cls for cls in (*_ARRAYS, SimpleImputer, OneHotEncoder)
}


def check_transformer(model: BaseEstimator) -> None:
    """Refuse parameters whose effect a file does not hold."""
    reason = None
    if isinstance(model, SimpleImputer) and model.add_indicator:
        reason = "add_indicator=True"
    if isinstance(model, OneHotEncoder):
        limits = ("min_frequency", "max_categories")
        given = [name for name in limits if getattr(model, name) is not None]
        reason = given[0] if given else None
    if reason is not None:
        raise ModelFileError(
            f"{type(model).__name__} with {reason} cannot be held by a model file; "
            "fit it without."
        )


def dump_transformer(model: BaseEstimator, out: Out) -> Fields:
    """Return the fitted part of a header, and put the tensors into `out`."""
    fitted: Fields = features_of(model)
    if isinstance(model, SimpleImputer):
        return {**fitted, "statistics": encode(model.statistics_, "statistics_")}
    if isinstance(model, OneHotEncoder):
        return {**fitted, "categories": encode(list(model.categories_), "categories_")}
    shapes = _ARRAYS[type(model)]
    # What is not learned is None, or no attribute.
    present = [name for name in shapes if getattr(model, name, None) is not None]
    for name in present:
        _put(name, getattr(model, name), fitted, out)
    if isinstance(model, TruncatedSVD):
        fitted["k"] = len(model.components_)
    seen = getattr(model, "n_samples_seen_", None)
    return {**fitted, "present": present, "n_samples_seen_": encode(seen, "n_rows")}


def _put(name: str, value: Array, fitted: Fields, out: Out) -> None:
    if not np.isfinite(value).all():
        raise ModelFileError(
            f"{name} holds NaN or infinity, so the model cannot be saved; leave out "
            "columns without any value, and fit again."
        )
    if value.ndim == 2:
        fitted[name] = out.put_matrix(name, value)
    else:
        out.put(name, value)


def load_transformer(
    kind: str, params: object, fitted: Fields | None, source: Source
) -> BaseEstimator:
    """Return the transformer of a header."""
    model: BaseEstimator = rebuilt(CLASSES[kind], params)
    check_transformer(model)
    if fitted is None:
        return model
    if isinstance(model, SimpleImputer):
        return _load_imputer(model, fitted)
    if isinstance(model, OneHotEncoder):
        return _load_encoder(model, fitted)
    lengths = {"p": set_features(model, fitted)}
    if isinstance(model, TruncatedSVD):
        lengths["k"] = int(number(fitted["k"], "the number of components"))
    for name, letters in _ARRAYS[type(model)].items():
        shape = tuple(lengths[letter] for letter in letters)
        if name in fitted["present"]:
            setattr(model, name, _take(name, shape, fitted, source))
        elif isinstance(model, StandardScaler):
            setattr(model, name, None)
    _set_seen(model, fitted)
    _check_complete(model, fitted["present"])
    return model


def _take(name: str, shape: tuple[int, ...], fitted: Fields, source: Source) -> Array:
    found = (
        source.matrix(name, (shape[0], shape[1]), fitted[name])
        if len(shape) == 2
        else source.floats(name, shape)
    )
    if name == "scale_" and not (found > 0).all():
        raise ModelFileError("a feature has a scale that is not positive.")
    return found


def _set_seen(model: BaseEstimator, fitted: Fields) -> None:
    """Set the number of rows, one for all features or for each, if it was counted."""
    seen = decode(fitted["n_samples_seen_"])
    if seen is None:
        return
    if not isinstance(seen, int | float | np.ndarray) or np.asarray(seen).dtype == "O":
        raise ModelFileError("the number of rows is no number.")
    model.n_samples_seen_ = seen


def _check_complete(model: BaseEstimator, present: list[str]) -> None:
    """Refuse a transformer without an array that its parameters ask for."""
    needed = set(_ARRAYS[type(model)])
    if isinstance(model, StandardScaler):
        needed = {"scale_"} if model.with_std else set()
        needed |= {"mean_"} if model.with_mean else set()
    if isinstance(model, TfidfTransformer) and not model.use_idf:
        needed = set()
    if not needed <= set(present):
        raise ModelFileError(f"{type(model).__name__} lacks {sorted(needed)[0]}.")


def _load_imputer(model: SimpleImputer, fitted: Fields) -> SimpleImputer:
    """Return an imputer: fitted to a row of the imputed values, it imputes these."""
    values = decode(fitted["statistics"])
    is_array = isinstance(values, np.ndarray) and values.ndim == 1
    if not is_array or values.dtype.kind not in "fiuO":
        raise ModelFileError("the imputed values are not an array.")
    plain = (str, int, float, type(None))
    if values.dtype == object and not all(isinstance(v, plain) for v in values):
        raise ModelFileError("an imputed value is neither a text nor a number.")
    model.fit(values[None, :])
    model.statistics_ = values
    if set_features(model, fitted) != len(values):
        raise ModelFileError("the imputed values are not as many as the features.")
    return model


def _load_encoder(model: OneHotEncoder, fitted: Fields) -> OneHotEncoder:
    """Return an encoder: fitted to a row with its categories as parameter."""
    found = decode(fitted["categories"])
    for values in found:
        if not isinstance(values, np.ndarray) or values.ndim != 1 or not len(values):
            raise ModelFileError("the categories of a feature are not a list.")
    given, row = model.categories, np.empty((1, len(found)), dtype=object)
    row[0] = [values[0] for values in found]
    model.categories = [values.astype(object) for values in found]
    model.fit(row)
    model.categories, model.categories_ = given, found
    if set_features(model, fitted) != len(found):
        raise ModelFileError("the categories are of other features.")
    return model
