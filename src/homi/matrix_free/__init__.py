"""Rows -> (W, z, B, t) by products with the rows: no array of features × features."""

from homi.matrix_free.compact import Basis, compact, is_wide
from homi.matrix_free.given import Given
from homi.matrix_free.solve import EXACT_LABELS, LEADING, label_rank, solve_rows

__all__ = [
    "EXACT_LABELS",
    "LEADING",
    "Basis",
    "Given",
    "compact",
    "is_wide",
    "label_rank",
    "solve_rows",
]
