"""Checks of what metrics are given."""

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from homi.arrays import as_numbers, check_label_order, dense
from homi.typing import Matrix, MatrixLike
from homi.warn import warn_of_row_order

Values: TypeAlias = NDArray[Any]

#: What to do with lists of tags.
_TAGS = (
    "; encode lists of tags by MultiLabelBinarizer(classes=model.label_names_)"
    ".fit_transform(tags)."
)
#: Entries of a block of rows: 8 MB of scores.
_BLOCK_ENTRIES = 2**20


def check_option(what: str, value: str, allowed: tuple[str, ...]) -> None:
    """Raise ValueError for a value that is not allowed."""
    if value not in allowed:
        raise ValueError(f"unknown {what} {value!r}; choose one of {list(allowed)}.")


def check_labels(Y_true: MatrixLike, Y_pred: MatrixLike) -> tuple[Values, Values]:
    """Return both as bool arrays of the same shape."""
    _check_same_names("Y_pred", Y_true, Y_pred)
    Y, P = as_indicator("Y_true", Y_true), as_indicator("Y_pred", Y_pred)
    _check_same_shape("Y_pred", Y, P)
    return Y, P


def check_scores(Y_true: MatrixLike, scores: MatrixLike) -> tuple[Values, Values]:
    """Return a bool array and a finite float array of the same shape."""
    _check_same_names("scores", Y_true, scores)
    Y, S = as_indicator("Y_true", Y_true), _as_matrix("scores", scores)
    _check_same_shape("scores", Y, S)
    if S.dtype.kind not in "biuf":
        raise ValueError(
            f"scores must be real numbers, got dtype {S.dtype}; "
            "pass scores.astype(float)."
        )
    S = S.astype(float, copy=False)
    if not np.isfinite(S).all():
        raise ValueError(
            f"scores must be finite, got {np.sum(~np.isfinite(S))} NaN or infinite "
            "entries; replace them, or check the classifier."
        )
    return Y, S


def score_blocks(
    Y_true: MatrixLike, scores: MatrixLike
) -> Iterator[tuple[Values, Values]]:
    """Yield what ``check_scores`` returns, a block of rows at a time."""
    _check_same_names("scores", Y_true, scores)
    Y, S = _sliceable("Y_true", Y_true), _sliceable("scores", scores)
    if _has_no_blocks(Y) or Y.shape != S.shape:
        check_scores(Y, S)
    for rows in _blocks(Y.shape):
        yield check_scores(Y[rows], S[rows])


def indicator_blocks(name: str, matrix: MatrixLike) -> Iterator[Values]:
    """Yield bool arrays, a block of rows at a time."""
    Y = _sliceable(name, matrix)
    if _has_no_blocks(Y):
        as_indicator(name, Y)
    for rows in _blocks(Y.shape):
        yield as_indicator(name, Y[rows])


def _sliceable(name: str, matrix: Matrix) -> Matrix:
    return matrix.tocsr() if sparse.issparse(matrix) else _as_array(name, matrix)


def _has_no_blocks(Y: Matrix) -> bool:
    """Return True for shapes that the checks of a whole matrix refuse."""
    return Y.ndim != 2 or 0 in Y.shape


def _blocks(shape: tuple[int, int]) -> Iterator[slice]:
    step = max(1, _BLOCK_ENTRIES // shape[1])
    return (slice(start, start + step) for start in range(0, shape[0], step))


def _as_array(name: str, matrix: MatrixLike) -> Values:
    try:
        return np.asarray(matrix)
    except ValueError as error:
        raise ValueError(f"rows of {name} differ in length{_TAGS}") from error


def _as_matrix(name: str, matrix: MatrixLike) -> Values:
    values: Values = as_numbers(_as_array(name, dense(matrix)))
    if values.ndim != 2:
        raise ValueError(
            f"{name} must be (n_samples, n_labels), got shape {values.shape}; "
            "for a single label y pass y.reshape(-1, 1)."
        )
    if values.size == 0:
        raise ValueError(
            f"{name} must have at least one sample and one label, got shape "
            f"{values.shape}; check why the data are empty."
        )
    return values


def as_indicator(name: str, matrix: MatrixLike) -> Values:
    """Return labels as a bool array."""
    values = _as_matrix(name, matrix)
    if values.dtype.kind in "OUS":
        found = list(dict.fromkeys(map(repr, values.ravel().tolist())))[:4]
        raise ValueError(
            f"{name} must hold only 0 and 1, got {', '.join(found)}; drop rows whose "
            f"labels are missing{_TAGS}"
        )
    positive: Values = values == 1
    other = ~(positive | (values == 0))
    if other.any():
        raise ValueError(
            f"{name} must hold only 0 and 1, got {values[other][:4].tolist()} in it; "
            f"for -1/+1 labels, or for scores, pass {name} > 0."
        )
    return positive


def _check_same_names(name: str, Y_true: MatrixLike, other: MatrixLike) -> None:
    """Check that two data frames have rows and labels in the same order."""
    check_label_order(
        getattr(other, "columns", None), getattr(Y_true, "columns", None), name
    )
    warn_of_row_order(Y_true, other, "Y_true", name)


def _check_same_shape(name: str, Y: Values, other: Values) -> None:
    if Y.shape != other.shape:
        raise ValueError(
            f"Y_true has shape {Y.shape} and {name} has shape {other.shape}; "
            "pass the same samples and labels in both."
        )
