"""Labels first, features second: what is left of HOMI without joint learning."""

from __future__ import annotations

from homi import threads
from homi.solver.nouns import Problem, Solution, zero_params
from homi.solver.objective import objective
from homi.solver.updates import update_Bt, update_Wz


def solve_stepwise(problem: Problem) -> Solution:
    """Learn (B, t) from the labels alone, then (W, z) with them held.

    Where W is zero, so is the graph's term: the first step is the plain regression of
    the labels on each other. Each step has a closed form, so that nothing is iterated.
    """
    size = max(problem.n_features, problem.n_labels)
    with threads.for_product(size, size, size):
        labels = update_Bt(problem, zero_params(problem))
        both = update_Wz(problem, labels)
        terms = objective(problem, both)
    return Solution(both, [terms], converged=True)
