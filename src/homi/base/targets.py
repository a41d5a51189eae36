"""Check targets: any container or classes -> an n × l indicator matrix, and back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from homi.arrays import as_numbers, canonical, dense
from homi.base.tags import Tags, binarize_tags, tag_rows, warn_of_joined_tags
from homi.typing import Mask, Matrix, MatrixLike, Names, Values

#: Estimators that accept missing labels.
_HINT = (
    ', or use HOMI(missing_labels="ignore") or HOMICV(missing_labels="ignore"), which '
    "impute columns of 0 and 1"
)

#: A dense Y with more entries, and a smaller share of ones, is converted to sparse.
_LARGE, _SPARSE = 1_000_000, 0.1


@dataclass(frozen=True)
class Encoding:
    """Form of a target, so that predictions have the same form.

    ``kind`` is ``"multilabel-indicator"``, ``"binary"`` or ``"multiclass"``. The last
    two come from a 1-D y, which has one column per class, or a single one if binary.
    ``dtype`` is the integer type of predicted indicators.
    """

    kind: str
    dtype: np.dtype[np.generic]


@dataclass(frozen=True)
class Target:
    """A checked target: the indicator matrix and what is needed to invert it.

    If some labels are missing, ``known`` marks the others; missing ones are 0.
    """

    indicator: Matrix
    names: Names
    classes: NDArray[Any]
    encoding: Encoding
    known: Mask | None = None


def check_target(
    Y: MatrixLike, *, unknown: bool = False, compact: bool = True
) -> Target:
    """Check a target and turn it into an indicator matrix.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n_samples, n_labels) or (n_samples,)
        0/1 or boolean indicators, 1-D classes, or a list of tags for each row. Column
        names of a data frame, or the sorted tags, become the names of the labels.
    unknown : bool
        Whether NaN or None in an indicator matrix stands for a missing label;
        otherwise it is an error.
    compact : bool
        Whether to convert indicators to float64, sparse where that is much smaller.
    """
    if (tags := tag_rows(Y)) is not None:
        return _tags_target(tags)
    columns = getattr(Y, "columns", None)
    values = _values(Y)
    known = None
    if unknown and values.ndim == 2:
        values, known = _without_unknown(values)
    is_column = known is None and values.ndim == 2 and _is_column_of_classes(values)
    if values.ndim == 1 or is_column:
        return _binarize(values)
    if values.ndim != 2:
        raise ValueError(
            f"Y must be (n_samples, n_labels), got an array of shape {values.shape}; "
            "pass one row per sample and one 0/1 column per label."
        )
    indicator = _check_indicator(values)
    indicator = _compact(indicator) if compact else indicator
    # Integers keep their type, anything else becomes plain integers.
    dtype = values.dtype if values.dtype.kind in "iu" else np.dtype(int)
    return _multilabel(indicator, _names(columns, values.shape[1]), dtype, known)


def _multilabel(
    indicator: Matrix, names: Names, dtype: np.dtype[np.generic], known: Mask | None
) -> Target:
    # scikit-learn's convention for indicators. There are at least two: its scorers take
    # the last class as the positive one and negate scores where that is the first.
    classes = np.arange(max(2, len(names)))
    encoding = Encoding("multilabel-indicator", dtype)
    return Target(indicator, names, classes, encoding, known)


def _tags_target(tags: list[Tags]) -> Target:
    """Return one column for each tag, in the order of their names."""
    indicator, names = binarize_tags(tags)
    if np.prod(indicator.shape) <= _LARGE:
        indicator = dense(indicator)
    return _multilabel(_compact(indicator), names, np.dtype(int), None)


def _values(Y: MatrixLike) -> Matrix:
    """Return labels as an array, or as a CSR array in canonical form."""
    if sparse.issparse(Y):
        return sparse.csr_array(canonical(Y))
    return as_numbers(np.asarray(Y))


def _without_unknown(values: Matrix) -> tuple[Matrix, Mask | None]:
    """Return labels with 0 for missing ones, and which are known, or None for all."""
    if sparse.issparse(values):
        if values.dtype.kind != "f" or not np.isnan(values.data).any():
            return values, None
        values = dense(values)
    if values.dtype.kind not in "Of":
        return values, None
    missing = is_missing(values)
    values = as_numbers(np.where(missing, 0, values))
    return values, ~missing if missing.any() else None


def is_missing(values: NDArray[Any]) -> Mask:
    """Return True for NaN, None, and the missing values of data frames."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    flat = (_is_nothing(value) for value in values.ravel())
    return np.fromiter(flat, bool, values.size).reshape(values.shape)


def _is_nothing(value: object) -> bool:
    """Return True for None, NaN, and the missing values of data frames."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:  # comparing pandas' NA gives NA, which has no truth value
        return True


def _is_column_of_classes(values: Matrix) -> bool:
    """Return True for a single column of classes, which is a 1-D y."""
    if sparse.issparse(values) or values.shape[1] != 1:
        return False
    return values.dtype.kind in "OUS" or not np.isin(values, (0, 1)).all()


def _names(columns: Iterable[object] | None, n_labels: int) -> Names:
    if columns is None:
        return np.array([f"y{j}" for j in range(n_labels)], dtype=object)
    names = list(columns)
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"two labels are named {twice!r}; rename one of them.")
    return np.array(names, dtype=object)


def _check_indicator(values: Matrix) -> Matrix:
    if 0 in values.shape:
        raise ValueError(
            f"Y has shape {values.shape}: it must have at least one sample and one "
            "label."
        )
    stored = values.data if sparse.issparse(values) else values
    if stored.dtype.kind not in "buif":
        if stored.dtype.kind == "O" and (count := is_missing(stored).sum()):
            raise ValueError(_not_known("NaN or None", count, _HINT))
        raise _not_an_indicator(stored, "; pass tags as a list for each row.")
    if stored.dtype.kind == "f":
        _check_finite(stored)
    if not ((stored == 0) | (stored == 1)).all():
        raise _not_an_indicator(stored, "; for -1/+1 labels pass (Y > 0).")
    return values


def _not_an_indicator(stored: Values, advice: str) -> ValueError:
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


def _not_known(what: str, count: int, hint: str) -> str:
    return (
        f"Input y contains {what} in {count} of its entries; labels must be 0 or 1: "
        f"drop these rows or fill in their labels first{hint}."
    )


def _compact(values: Matrix) -> Matrix:
    """Return the indicator in float64, sparse where that is much smaller."""
    if sparse.issparse(values):
        return values.astype(np.float64)
    is_sparse = np.count_nonzero(values) <= _SPARSE * values.size
    if values.size > _LARGE and is_sparse:
        return sparse.csr_array(values).astype(np.float64)
    return values.astype(np.float64)


def _binarize(y: NDArray[Any]) -> Target:
    """Return one column per class of a 1-D y; a single one for two classes."""
    y = y.ravel()
    if y.size == 0:
        raise ValueError("y is empty: it must have at least one sample.")
    if y.dtype.kind == "f":
        _check_finite(y)
    check_classification_targets(y)
    binarizer = LabelBinarizer().fit(y)
    classes = binarizer.classes_
    if len(classes) < 2:
        raise ValueError(
            f"y holds only one class, {classes[0]!r}: a classifier needs at least two; "
            "for a label that is constant, pass y as a 0/1 column."
        )
    warn_of_joined_tags(classes)
    kind = type_of_target(y, input_name="y")
    names = classes[1:] if len(classes) == 2 else classes
    indicator = binarizer.transform(y).astype(np.float64)
    names = np.asarray(names, dtype=object)
    return Target(indicator, names, classes, Encoding(kind, np.dtype(int)))
