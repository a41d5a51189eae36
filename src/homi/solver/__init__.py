"""Moments -> (W, z, B, t). Never sees a row."""

from homi.solver.direct import correct, corrected_without_own, solve_identity
from homi.solver.held_out import leave_one_out
from homi.solver.nouns import (
    OnSweep,
    Params,
    Problem,
    Solution,
    random_params,
    zero_params,
)
from homi.solver.objective import objective, total
from homi.solver.solve import solve
from homi.solver.stepwise import solve_stepwise

__all__ = [
    "OnSweep",
    "Params",
    "Problem",
    "Solution",
    "correct",
    "corrected_without_own",
    "leave_one_out",
    "objective",
    "random_params",
    "solve",
    "solve_identity",
    "solve_stepwise",
    "total",
    "zero_params",
]
