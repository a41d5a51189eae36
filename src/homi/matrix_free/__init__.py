"""Rows -> (W, z, B, t) by products with the rows: no array of features × features."""

from homi.matrix_free.compact import (
    Basis,
    compact_rows,
    compacted,
    is_wide,
    saves_products,
)
from homi.matrix_free.given import Given
from homi.matrix_free.rows import Rows
from homi.matrix_free.solve import EXACT_LABELS, LEADING, label_rank, solve_rows

__all__ = [
    "EXACT_LABELS",
    "LEADING",
    "Basis",
    "Given",
    "Rows",
    "compact_rows",
    "compacted",
    "is_wide",
    "label_rank",
    "saves_products",
    "solve_rows",
]
