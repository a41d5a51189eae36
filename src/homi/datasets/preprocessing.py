"""Imputers and one-hot encoders of columns, for data sets and for models of files.

scikit-learn is imported by the functions: most files need neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import OneHotEncoder

Nominal: TypeAlias = Literal["codes", "onehot"]
Missing: TypeAlias = Literal["error", "mean", "median", "most_frequent", "zero"]


def imputer(missing: Missing) -> SimpleImputer:
    """Return an imputer of missing numbers; a column without any becomes zeros."""
    from sklearn.impute import SimpleImputer

    strategy = "constant" if missing == "zero" else missing
    fill = 0.0 if missing == "zero" else None
    return SimpleImputer(strategy=strategy, fill_value=fill, keep_empty_features=True)


def one_hot(sizes: Sequence[int], *, is_sparse: bool) -> OneHotEncoder:
    """Return an encoder of positions in lists of words; others become zeros."""
    from sklearn.preprocessing import OneHotEncoder

    positions = [np.arange(float(size)) for size in sizes]
    return OneHotEncoder(
        categories=positions, handle_unknown="ignore", sparse_output=is_sparse
    )
