"""Moments or rows -> W, z, B, t."""

from homi.solver.held_out import leave_one_out
from homi.solver.label_blocks import EXACT_LABELS, LEADING, label_rank
from homi.solver.label_correction import Correction, correct
from homi.solver.label_weights import shares
from homi.solver.paths import (
    Path,
    RowsOnPath,
    graph_path,
    ridge_path,
    weight_path,
    with_shares,
)
from homi.solver.problem import (
    OnSweep,
    Params,
    Problem,
    Solution,
    mean_share,
    objective,
    random_params,
    total,
    zero_params,
)
from homi.solver.row_space import Basis, compact_rows, compacted, is_wide
from homi.solver.rows_problem import RowsProblem
from homi.solver.scaled_rows import ScaledRows
from homi.solver.solve import (
    solve,
    solve_identity,
    solve_rows,
    solve_stepwise,
)

__all__ = [
    "EXACT_LABELS",
    "LEADING",
    "Basis",
    "Correction",
    "OnSweep",
    "Params",
    "Path",
    "Problem",
    "RowsOnPath",
    "RowsProblem",
    "ScaledRows",
    "Solution",
    "compact_rows",
    "compacted",
    "correct",
    "graph_path",
    "is_wide",
    "label_rank",
    "leave_one_out",
    "mean_share",
    "objective",
    "random_params",
    "ridge_path",
    "shares",
    "solve",
    "solve_identity",
    "solve_rows",
    "solve_stepwise",
    "total",
    "weight_path",
    "with_shares",
    "zero_params",
]
