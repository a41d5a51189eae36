"""How well a linear model predicts held-out rows from some features."""

from __future__ import annotations

from typing import Any

import numpy as np

from homi.estimators import HOMICV
from homi.tables.features import TableParts
from homi.typing import Matrix

#: Most rows that features are compared on, as in the search of HOMICV.
_MOST_ROWS = 2_000


def sample_of(parts: TableParts, y: Any) -> tuple[TableParts, Any]:
    """Return at most 2,000 rows, and their labels."""
    n = parts.n_rows
    if n <= _MOST_ROWS:
        return parts, y
    rows = np.sort(np.random.default_rng(0).permutation(n)[:_MOST_ROWS])
    if hasattr(y, "iloc"):
        return parts.rows(rows), y.iloc[rows]
    is_list = isinstance(y, list | tuple)
    return parts.rows(rows), [y[i] for i in rows] if is_list else y[rows]


def held_out_score(X: Matrix, y: Any) -> float:
    """Return the cross-validated log-likelihood of a linear HOMICV."""
    return float(HOMICV(kernels=(), trees=False, logistic=False).fit(X, y).best_score_)
