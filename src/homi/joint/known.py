"""Check known labels: any container -> 0, 1 and NaN, one column per label, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from homi.base.named_predictions import like_frame
from homi.base.targets import is_missing
from homi.typing import Array, MatrixLike


def check_known(known: MatrixLike, names: NDArray[Any], n_samples: int) -> Array:
    """Return known labels as 0 and 1, and unknown ones as NaN.

    Parameters
    ----------
    known : array-like of shape (n_samples, n_labels) or data frame
        0 or 1 where a label is known; NaN, None or a missing value where not. Columns
        of a data frame are matched by name: any labels in any order; the others are
        unknown.
    names : ndarray of shape (n_labels,)
        Names of the labels.
    n_samples : int
        Number of rows.
    """
    if sparse.issparse(known):
        raise TypeError(
            "known is a sparse matrix, whose zeros could be unknown or known to be "
            "absent; pass a dense array or a data frame with NaN for unknown labels."
        )
    columns = getattr(known, "columns", None)
    places = None if columns is None else _places(list(columns), names)
    values = np.asarray(known)
    q = len(names) if places is None else len(places)
    if values.shape != (n_samples, q):
        raise ValueError(
            f"known has shape {values.shape}, expected ({n_samples}, {len(names)}): a "
            "row for each row of X and a column for each label, with NaN where a "
            "label is unknown. A data frame may have only some of the labels."
        )
    found = _numbers(values)
    if places is None:
        return found
    every = np.full((n_samples, len(names)), np.nan)
    every[:, places] = found
    return every


def check_order(X: object, known: object) -> None:
    """Raise ValueError if a data frame is not one row for each row of X, in order.

    Rows go by position. An error is the index of X in another order, and an index that
    has a row twice, with 0 and with 1 for a label, where X has no such index.
    """
    index: Any = getattr(X, "index", None)
    other: Any = getattr(known, "index", None)
    if not hasattr(index, "equals") or not hasattr(other, "equals"):
        return
    if not index.equals(other) and set(index) == set(other):
        raise ValueError(
            "known has the rows of X in another order; pass known.loc[X.index]."
        )
    if not index.equals(other) and other.has_duplicates:
        _check_contradictions(known)


def _check_contradictions(known: Any) -> None:
    index = known.index
    twice = known[index.duplicated(keep=False)]
    differ = (twice.groupby(level=[*range(index.nlevels)]).nunique() > 1).any(axis=1)
    if differ.any():
        raise ValueError(
            f"known has the row {differ.index[differ][0]!r} more than once, with "
            "different values of a label; keep one row for each row of X."
        )


def like_known(
    known: MatrixLike, X: MatrixLike, values: NDArray[Any], names: NDArray[Any]
) -> Any:
    """Return values as a data frame if the known labels, or else the rows, are one."""
    return like_frame(known if hasattr(known, "columns") else X, values, names)


def _places(columns: Sequence[Any], names: NDArray[Any]) -> list[int]:
    place = {name: j for j, name in enumerate(names.tolist())}
    strange = [name for name in columns if name not in place]
    if strange:
        raise ValueError(
            f"known has a column {strange[0]!r} that is not a label"
            + (f", and {len(strange) - 1} more" if len(strange) > 1 else "")
            + f"; the labels are {_some(names)}."
        )
    if len(set(columns)) < len(columns):
        twice = next(name for name in columns if columns.count(name) > 1)
        raise ValueError(f"known has the column {twice!r} more than once; drop one.")
    return [place[name] for name in columns]


def _some(names: NDArray[Any]) -> str:
    shown = ", ".join(repr(name) for name in names[:5].tolist())
    return shown + (f", … ({len(names)} in all)" if len(names) > 5 else "")


def _numbers(values: NDArray[Any]) -> Array:
    missing = is_missing(values) if values.dtype.kind in "fO" else None
    filled = values if missing is None else np.where(missing, 0, values)
    right = (filled == 0) | (filled == 1)
    if not np.all(right):
        found = np.unique(filled[~right].astype(str))[:4]
        raise ValueError(
            f"known must hold only 0, 1 and NaN, got {', '.join(found)}; pass 1 for a "
            "label that the row has, 0 for one that it lacks, NaN for unknown."
        )
    numbers = filled.astype(np.float64)
    return numbers if missing is None else np.where(missing, np.nan, numbers)
