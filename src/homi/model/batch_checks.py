"""Checks of one batch among others; errors name the batch and its row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.preprocessing import label_binarize
from sklearn.utils.validation import column_or_1d

from homi.base.tags import tag_rows
from homi.base.targets import Encoding, Target, check_target
from homi.typing import Mask, Matrix, Names


@contextmanager
def all_or_nothing(estimator: object) -> Iterator[None]:
    """Restore the estimator if an error is raised inside."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


@contextmanager
def naming(
    batch: int, rows_before: int, X: Matrix, y: Matrix, *, kind: str = "batch"
) -> Iterator[None]:
    """Prefix errors with the number of the batch and, if one is at fault, the row."""
    try:
        yield
    except (ValueError, TypeError) as error:
        row = _first_bad_row(X, y)
        where = f"{kind} {batch}"
        if row is not None:
            where += f", row {row + 1} of it (row {rows_before + row + 1:,} of all)"
        raise type(error)(f"{where}: {error}") from error


def _first_bad_row(X: Matrix, y: Matrix) -> int | None:
    """Return the first row with a value that is no number or a label not 0 or 1."""
    bad = [row for row in (_first_infinite(X), _first_no_label(y)) if row is not None]
    return min(bad, default=None)


def _first_infinite(X: Matrix) -> int | None:
    try:
        values = X if sparse.issparse(X) else np.atleast_1d(np.asarray(X, dtype=float))
    except (TypeError, ValueError):
        return _first_no_number(X)
    if sparse.issparse(values):
        values = sparse.csr_array(values)
        bad = np.flatnonzero(~np.isfinite(values.data))
        if not len(bad):
            return None
        return int(np.searchsorted(values.indptr, bad[0], side="right")) - 1
    return _first((~np.isfinite(values)).any(axis=tuple(range(1, values.ndim))))


def _first_no_number(X: Matrix) -> int | None:
    """Return the first row of text or of another length."""
    rows = np.asarray(X, dtype=object)
    for i, row in enumerate(rows):
        try:
            if np.shape(np.asarray(row, dtype=np.float64)) != np.shape(rows[0]):
                return i
        except (TypeError, ValueError):
            return i
    return None


def _first_no_label(y: Matrix) -> int | None:
    if sparse.issparse(y):
        y = sparse.csr_array(y)
        bad = np.flatnonzero((y.data != 0) & (y.data != 1))
        if not len(bad):
            return None
        return int(np.searchsorted(y.indptr, bad[0], side="right")) - 1
    try:
        values = np.asarray(y)
    except ValueError:  # rows of different lengths
        return None
    if values.ndim != 2 or values.dtype.kind not in "buif":
        return None
    return _first(((values != 0) & (values != 1)).any(axis=1))


def _first(bad: Mask) -> int | None:
    return int(bad.argmax()) if bad.any() else None


def batch_target(y: Matrix, classes: ArrayLike | None) -> Target:
    """Return the labels of a batch; a 1-D y as columns for all classes."""
    if tag_rows(y) is not None:
        raise ValueError(
            "lists of tags name the labels of this batch only; pass the columns of all "
            "batches: MultiLabelBinarizer(classes=tags).fit_transform(y)."
        )
    if sparse.issparse(y) or _is_indicator(y):
        return check_target(y, compact=False)
    if classes is None:
        raise ValueError(
            "a 1-D y holds the classes of this batch only; pass those of all batches "
            "as classes= in the first call."
        )
    classes, values = np.unique(classes), column_or_1d(y)
    if len(classes) < 2:
        raise ValueError(f"classes={classes!r}: a classifier needs at least two.")
    unknown = ~np.isin(values, classes)
    if unknown.any():
        row = int(unknown.argmax())
        raise ValueError(
            f"y is {values[row]!r} in row {row + 1}, which is none of the classes "
            f"{classes.tolist()[:10]}."
        )
    kind = "binary" if len(classes) == 2 else "multiclass"
    names = np.asarray(classes[1:] if kind == "binary" else classes, dtype=object)
    indicator = label_binarize(values, classes=classes).astype(np.float64)
    return Target(indicator, names, classes, Encoding(kind, np.dtype(int)))


def _is_indicator(y: Matrix) -> bool:
    shape = np.shape(y)
    if len(shape) != 2:
        return len(shape) > 2
    return shape[1] != 1 or bool(np.isin(np.asarray(y), (0, 1)).all())


def check_same(target: Target, names: Names, encoding: Encoding, named: bool) -> None:
    """Raise ValueError if the labels are not those of the batches before."""
    if len(target.names) != len(names) or target.encoding.kind != encoding.kind:
        raise ValueError(
            f"Y has {len(target.names)} label(s) ({target.encoding.kind}), but the "
            f"batches before had {len(names)} ({encoding.kind})."
        )
    if named and list(target.names) != list(names):
        pairs = zip(target.names, names, strict=True)
        j, (new, old) = next((j, p) for j, p in enumerate(pairs) if p[0] != p[1])
        raise ValueError(
            f"label {j + 1} is named {new!r}, but {old!r} in the batches before; give "
            "the columns in the same order."
        )
