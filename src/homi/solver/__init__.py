"""Moments -> (W, z, B, t). Never sees a row."""

from homi.solver.nouns import Params, Problem, Solution, random_params, zero_params
from homi.solver.objective import objective, total
from homi.solver.solve import solve

__all__ = [
    "Params",
    "Problem",
    "Solution",
    "objective",
    "random_params",
    "solve",
    "total",
    "zero_params",
]
