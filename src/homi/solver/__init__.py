"""Moments -> (W, z, B, t). Never sees a row."""

from homi.solver.direct import Correction, correct, solve_identity
from homi.solver.held_out import leave_one_out
from homi.solver.label_weights import shares
from homi.solver.nouns import (
    OnSweep,
    Params,
    Problem,
    Solution,
    random_params,
    zero_params,
)
from homi.solver.objective import objective, total
from homi.solver.paths import Path, RowsOnPath, graph_path, ridge_path, weight_path
from homi.solver.solve import solve
from homi.solver.stepwise import solve_stepwise

__all__ = [
    "Correction",
    "OnSweep",
    "Params",
    "Path",
    "Problem",
    "RowsOnPath",
    "Solution",
    "correct",
    "graph_path",
    "leave_one_out",
    "objective",
    "random_params",
    "ridge_path",
    "shares",
    "solve",
    "solve_identity",
    "solve_stepwise",
    "total",
    "weight_path",
    "zero_params",
]
