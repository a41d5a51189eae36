"""Entry points of the solver: moments or rows in, W, z, B and t out."""

from __future__ import annotations

from contextlib import AbstractContextManager

import numpy as np

from homi import threads
from homi.linalg import Array
from homi.solver import subspace
from homi.solver.descend import descend
from homi.solver.label_blocks import AllDirections, LabelGram, label_block
from homi.solver.label_weights import WeightedMomentsForm, solve_weighted_identity
from homi.solver.moments_form import MomentsForm
from homi.solver.problem import (
    OnSweep,
    Params,
    Problem,
    Solution,
    objective,
    zero_params,
)
from homi.solver.rows_form import RowsForm
from homi.solver.rows_problem import RowsProblem
from homi.solver.sweeps import SWEEPS, Update, alternate, update_Bt, update_Wz


def solve(
    problem: Problem,
    *,
    sweep: str = "joint",
    accelerate: bool = True,
    start: Params | None = None,
    max_iter: int = 100,
    tol: float = 1e-6,
    on_sweep: OnSweep | None = None,
) -> Solution:
    """Minimize the objective of ``problem``, from moments.

    Parameters
    ----------
    problem : Problem
        Moments and hyper-parameters. Label weights need the accelerated joint sweep.
    sweep : {"joint", "paper"}
        Two blocks, or the four blocks of the paper, which are never accelerated.
    accelerate : bool
        Whether joint sweeps are steps of L-BFGS.
    start : Params or None
        None for zeros. W is the first block updated, so its start has no effect.
    max_iter : int
        Most sweeps.
    tol : float
        The solver stops after a sweep that gains at most this share of the objective.
    on_sweep : callable or None
        Called after each sweep; see ``OnSweep``.
    """
    start = zero_params(problem) if start is None else start
    if sweep == "joint" and accelerate:
        return _accelerated(problem, start.B, max_iter, tol, on_sweep)
    if problem.label_weight is not None:
        raise ValueError(
            "label_weight needs the accelerated sweep: without equal weights the "
            'blocks of the plain sweeps have no closed form; take sweep="joint".'
        )
    with _threads(problem):
        return alternate(
            problem,
            start,
            SWEEPS[sweep],
            max_iter=max_iter,
            tol=tol,
            on_sweep=on_sweep,
        )


def _accelerated(
    problem: Problem, B: Array, max_iter: int, tol: float, on_sweep: OnSweep | None
) -> Solution:
    m, q = problem.n_features, problem.n_labels
    with _threads(problem):
        form: MomentsForm | WeightedMomentsForm
        if problem.label_weight is None:
            form = MomentsForm(problem)
        else:
            form = WeightedMomentsForm(problem, problem.label_weight)
        omega = form.start(B)
    with threads.for_product(m, q, min(m, q)):
        return descend(form, omega, max_iter=max_iter, tol=tol, on_sweep=on_sweep)


def _threads(problem: Problem) -> AbstractContextManager[object]:
    size = max(problem.n_features, problem.n_labels)
    return threads.for_product(size, size, size)


def solve_rows(
    given: RowsProblem,
    *,
    max_iter: int,
    tol: float,
    on_sweep: OnSweep | None = None,
    factored: bool = False,
) -> Solution:
    """Minimize the same objective from zeros, by products with rows.

    With ``factored``, one matrix of features × features is factored, too, which is for
    rows in their own space.
    """
    gram = LabelGram(given.Y, given.y_mean, given.beta, given.lam)
    labels = label_block(gram, given.beta, given.lam)
    form = RowsForm(given, labels, factored=factored)
    few, sweep = given.Y.shape[1] <= subspace.MOST_LABELS, None
    if few and isinstance(labels, AllDirections):
        sweep = subspace.SubspaceSweep(form, labels)
    return descend(
        form,
        form.start(),
        max_iter=max_iter,
        tol=tol,
        on_sweep=on_sweep,
        sweep=sweep,
    )


def solve_identity(problem: Problem) -> Solution:
    """Hold B = I and t = 0: one ridge regression with the graph for each label."""
    if problem.label_weight is not None:
        return solve_weighted_identity(problem, problem.label_weight)
    identity = zero_params(problem)._replace(B=np.eye(problem.n_labels))
    return _updated(problem, identity, update_Wz)


def solve_stepwise(problem: Problem) -> Solution:
    """Fit (B, t) to the labels alone, then (W, z) with them held: no joint learning.

    The graph term is zero while W is zero, so the first step is the plain regression
    of the labels on each other. Both steps have a closed form.
    """
    return _updated(problem, zero_params(problem), update_Bt, update_Wz)


def _updated(problem: Problem, params: Params, *updates: Update) -> Solution:
    """Apply each update once."""
    with _threads(problem):
        for update in updates:
            params = update(problem, params)
        return Solution(params, [objective(problem, params)], converged=True)
