"""Rows in every form a user has -> finite floats, dense or canonical sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from homi.arrays import canonical

_ROWS = {"accept_sparse": ("csr", "csc"), "dtype": (np.float64, np.float32)}

#: Largest magnitude of a feature: its sixth power is still a number.
LARGEST = 1e50
#: Rows all of whose features are smaller have squares that round to 0.
SMALLEST = 1e-100
#: Rows in single precision with larger features are worked on in double precision.
_LARGEST_SINGLE = 1e9


def check_rows(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Check rows with scikit-learn, then their range; the caller's X is not changed.

    ``reset`` is True in ``fit``, which keeps the number and names of the features.
    """
    X = validate_data(estimator, X, reset=reset, **_ROWS)
    return _in_range(X, getattr(estimator, "feature_names_in_", None), fit=reset)


def check_block(X: Any, names: Any = None) -> Any:
    """Check rows of a collection whose columns have been checked before."""
    return _in_range(check_array(X, **_ROWS), names, fit=False)


def _in_range(X: Any, names: Any, *, fit: bool) -> Any:
    X = canonical(X) if sparse.issparse(X) else X
    values = X.data if sparse.issparse(X) else X
    largest = float(max(-values.min(), values.max())) if values.size else 0.0
    if largest > LARGEST:
        raise ValueError(_too_large(X, names))
    if fit and 0 < largest < SMALLEST:
        raise ValueError(
            f"the largest magnitude in X is {largest:.3g}, below {SMALLEST:g}: squares "
            "of such values round to 0. Multiply X by a constant, or use a "
            "StandardScaler, in fit and in predict."
        )
    if X.dtype == np.float32 and largest > _LARGEST_SINGLE:
        return X.astype(np.float64)
    return X


def _too_large(X: Any, names: Any) -> str:
    peaks = np.maximum(_ends(X.max(axis=0)), -_ends(X.min(axis=0)))
    j = int(peaks.argmax())
    name = f"{j}" if names is None else f"{j} ({names[j]!r})"
    others = int(np.count_nonzero(peaks > LARGEST)) - 1
    more = f" and {others} more" if others else ""
    return (
        f"column {name} of X{more} is out of range: magnitude {peaks[j]:.3g}, at most "
        f"{LARGEST:g} is possible. Rescale it, for example divide it by a constant "
        "in fit and in predict."
    )


def _ends(row: Any) -> Any:
    return row.toarray().ravel() if sparse.issparse(row) else row
