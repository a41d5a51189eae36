"""Check parameters and rows: any container -> finite floats, dense or sparse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from homi.arrays import canonical, dense
from homi.base._compat import fit_context, with_callbacks
from homi.typing import Array, Fields, Matrix, MatrixLike

P = ParamSpec("P")
R = TypeVar("R")

_ROWS: Fields = {
    "accept_sparse": ("csr", "csc"),
    "dtype": (np.float64, np.float32),
}

#: Largest magnitude of a feature: its sixth power is still finite.
LARGEST = 1e50
#: Smallest magnitude of the largest feature: squares of smaller ones round to 0.
SMALLEST = 1e-100
#: Rows in single precision with larger features are converted to double precision.
_LARGEST_SINGLE = 1e9


def checks_parameters(fit: Callable[P, R]) -> Callable[P, R]:
    """Make a fit method check the parameters by ``_parameter_constraints`` first."""
    return fit_context(prefer_skip_nested_validation=False)(fit)


def reports_to_callbacks(fit: Callable[P, R]) -> Callable[P, R]:
    """Make a fit method report to scikit-learn's callbacks, where there are any."""
    return with_callbacks(fit)


def check_rows(estimator: BaseEstimator, X: MatrixLike, *, reset: bool) -> Matrix:
    """Check rows with scikit-learn, then their range; do not change the caller's X.

    ``reset`` is True in ``fit``, which keeps the number and names of the features.
    """
    X = validate_data(estimator, X, reset=reset, **_ROWS)
    return _in_range(X, getattr(estimator, "feature_names_in_", None), fit=reset)


def check_block(X: MatrixLike, names: Sequence[str] | None = None) -> Matrix:
    """Check a block of rows of a collection whose columns have been checked."""
    return _in_range(check_array(X, **_ROWS), names, fit=False)


def _in_range(X: Matrix, names: Sequence[str] | None, *, fit: bool) -> Matrix:
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


def _too_large(X: Matrix, names: Sequence[str] | None) -> str:
    peaks = np.maximum(_ends(X.max(axis=0)), -_ends(X.min(axis=0)))
    j = int(peaks.argmax())
    name = f"{j}" if names is None else f"{j} ({names[j]!r})"
    others = int(np.count_nonzero(peaks > LARGEST)) - 1
    more = f" and {others} more" if others else ""
    return (
        f"column {name} of X{more} is out of range: its magnitude is {peaks[j]:.3g}, "
        f"the largest allowed is {LARGEST:g}. Rescale it, for example "
        "divide it by a constant in fit and in predict."
    )


def _ends(row: Matrix) -> Array:
    return dense(row).ravel()
