"""The plain sweep and the stopping rule; no algebra."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from homi.solver.nouns import OnSweep, Params, Problem, Solution
from homi.solver.objective import objective, total

Update = Callable[[Problem, Params], Params]


def has_converged(before: float, after: float, tol: float) -> bool:
    """The relative rule: a sweep gains at most a share ``tol`` of the objective."""
    return before - after <= tol * before


def alternate(
    problem: Problem,
    params: Params,
    updates: Iterable[Update],
    *,
    max_iter: int,
    tol: float,
    on_sweep: OnSweep | None = None,
) -> Solution:
    """Apply the updates in turn until a sweep gains too little."""
    updates = tuple(updates)
    history, before = [], total(objective(problem, params))
    for _ in range(max_iter):
        for update in updates:
            params = update(problem, params)
        history.append(objective(problem, params))
        after = total(history[-1])
        stop = on_sweep is not None and on_sweep(history[-1], partial(_itself, params))
        if has_converged(before, after, tol):
            return Solution(params, history, converged=True)
        if stop:
            break
        before = after
    return Solution(params, history, converged=False)


def _itself(params: Params) -> Params:
    return params
