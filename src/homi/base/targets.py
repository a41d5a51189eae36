"""Targets in every form a user has -> an n × l indicator matrix, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from homi.arrays import as_numbers, canonical

#: Who takes unknown labels.
_HINT = ', or take HOMI(missing_labels="ignore"), which fills columns of 0 and 1'

#: A dense Y larger than this, and sparser than that, is worked on as a sparse one.
_LARGE, _SPARSE = 1_000_000, 0.1


@dataclass(frozen=True)
class Encoding:
    """How a target was given, so that predictions can be given back alike.

    ``kind`` is ``"multilabel-indicator"``, ``"binary"`` or ``"multiclass"``; the last
    two come from a 1-D y, which has one column per class (one in all if binary).
    ``dtype`` is the integer type of predicted indicators.
    """

    kind: str
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class Target:
    """A checked target: the indicator matrix and what is needed to undo it.

    Where some entries are unknown, ``known`` says which are not, the others are 0.
    """

    indicator: Any
    names: NDArray[Any]
    classes: NDArray[Any]
    encoding: Encoding
    known: NDArray[np.bool_] | None = None


def check_target(Y: Any, *, unknown: bool = False, compact: bool = True) -> Target:
    """Check a target and turn it into an indicator matrix.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n_samples, n_labels) or (n_samples,)
        0/1 or boolean indicators, a data frame of them (whose column names become
        the names of the labels), or 1-D classes.
    unknown : bool
        Whether NaN or None in a matrix of indicators stands for a label that is not
        known; else it is an error.
    compact : bool
        Whether indicators become float64, sparse where that is much smaller; if not,
        they stay as they came.
    """
    columns = getattr(Y, "columns", None)
    values = _values(Y)
    known = None
    if unknown and values.ndim == 2:
        values, known = _without_unknown(values)
    is_column = known is None and values.ndim == 2 and _is_column_of_classes(values)
    if values.ndim == 1 or is_column:
        return _binarise(values)
    if values.ndim != 2:
        raise ValueError(
            f"Y must be (n_samples, n_labels), got an array of shape {values.shape}; "
            "pass one row per sample and one 0/1 column per label."
        )
    indicator = _check_indicator(values)
    indicator = _compact(indicator) if compact else indicator
    names = _names(columns, values.shape[1])
    # scikit-learn's convention for indicators. Never fewer than two: its scorers take
    # the last class for the positive one and turn scores round where that is the first.
    classes = np.arange(max(2, len(names)))
    # Integers come back in their own type, anything else as plain integers.
    dtype = values.dtype if values.dtype.kind in "iu" else np.dtype(int)
    encoding = Encoding("multilabel-indicator", dtype)
    return Target(indicator, names, classes, encoding, known)


def _values(Y: Any) -> Any:
    """Labels as an array, or as a CSR array in canonical form."""
    if sparse.issparse(Y):
        return sparse.csr_array(canonical(Y))
    return as_numbers(np.asarray(Y))


def _without_unknown(values: Any) -> tuple[Any, NDArray[np.bool_] | None]:
    """Labels with 0 for the unknown ones, and which are known; None if all are."""
    if sparse.issparse(values):
        if values.dtype.kind != "f" or not np.isnan(values.data).any():
            return values, None
        values = values.toarray()
    if values.dtype.kind not in "Of":
        return values, None
    missing = _is_missing(values)
    values = as_numbers(np.where(missing, 0, values))
    return values, ~missing if missing.any() else None


def _is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind == "f":
        return np.isnan(values)
    flat = (_is_nothing(value) for value in values.ravel())
    return np.fromiter(flat, bool, values.size).reshape(values.shape)


def _is_nothing(value: Any) -> bool:
    """None, NaN, and what data frames have for them."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:  # of pandas' NA nobody can tell whether it differs from itself
        return True


def _is_column_of_classes(values: Any) -> bool:
    """A single column that is not an indicator is a 1-D y written upright."""
    if sparse.issparse(values) or values.shape[1] != 1:
        return False
    return values.dtype.kind in "OUS" or not np.isin(values, (0, 1)).all()


def _names(columns: Any, n_labels: int) -> NDArray[Any]:
    if columns is None:
        return np.array([f"y{j}" for j in range(n_labels)], dtype=object)
    return np.array(list(columns), dtype=object)


def _check_indicator(values: Any) -> Any:
    if 0 in values.shape:
        raise ValueError(
            f"Y has shape {values.shape}: there must be at least one sample and one "
            "label."
        )
    stored = values.data if sparse.issparse(values) else values
    if stored.dtype.kind not in "buif":
        if stored.dtype.kind == "O" and (count := _is_missing(stored).sum()):
            raise ValueError(_not_known("NaN or None", count, _HINT))
        raise _not_an_indicator(stored, "; encode names with MultiLabelBinarizer.")
    if stored.dtype.kind == "f":
        _check_finite(stored)
    if not ((stored == 0) | (stored == 1)).all():
        raise _not_an_indicator(stored, "; for -1/+1 labels pass (Y > 0).")
    return values


def _not_an_indicator(stored: NDArray[Any], advice: str) -> ValueError:
    if stored.dtype.kind == "O":
        stored = stored.astype(str)
    found = ", ".join(repr(value) for value in np.unique(stored)[:4].tolist())
    return ValueError(
        f"Y must be an indicator matrix that holds only 0 and 1, got {found}{advice}"
    )


def _check_finite(stored: NDArray[Any]) -> None:
    for what, bad in (("NaN", np.isnan), ("infinity", np.isinf)):
        count = int(np.count_nonzero(bad(stored)))
        if count:
            hint = _HINT if what == "NaN" else ""
            raise ValueError(_not_known(what, count, hint))


def _not_known(what: str, count: Any, hint: str) -> str:
    return (
        f"Input y contains {what} in {count} of its entries; labels must be 0 or 1: "
        f"drop these rows or decide their labels first{hint}."
    )


def _compact(values: Any) -> Any:
    """The indicator in float64, sparse where that is much smaller."""
    if sparse.issparse(values):
        return values.astype(np.float64)
    is_sparse = np.count_nonzero(values) <= _SPARSE * values.size
    if values.size > _LARGE and is_sparse:
        return sparse.csr_array(values).astype(np.float64)
    return values.astype(np.float64)


def _binarise(y: NDArray[Any]) -> Target:
    """One column per class of a 1-D y; a single one where there are two classes."""
    y = y.ravel()
    if y.size == 0:
        raise ValueError("y is empty: there must be at least one sample.")
    if y.dtype.kind == "f":
        _check_finite(y)
    check_classification_targets(y)
    binarizer = LabelBinarizer().fit(y)
    classes = binarizer.classes_
    if len(classes) < 2:
        raise ValueError(
            f"y holds only one class, {classes[0]!r}: a classifier needs at least two; "
            "for a label that is always or never there pass y as a 0/1 column."
        )
    kind = type_of_target(y, input_name="y")
    names = classes[1:] if len(classes) == 2 else classes
    indicator = binarizer.transform(y).astype(np.float64)
    names = np.asarray(names, dtype=object)
    return Target(indicator, names, classes, Encoding(kind, np.dtype(int)))
