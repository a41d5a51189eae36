"""One door to the solver: which sweep, accelerated or plain, on how many threads."""

from __future__ import annotations

from homi import threads
from homi.solver.accelerate import accelerate as accelerate_joint
from homi.solver.alternate import alternate
from homi.solver.nouns import OnSweep, Params, Problem, Solution, zero_params
from homi.solver.updates import SWEEPS


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
    """Minimise the objective of ``problem``.

    ``sweep`` is ``"joint"`` (two blocks, accelerated unless told otherwise) or
    ``"paper"`` (the four blocks of the paper, always plain). The start is zeros
    unless given; W is the first block solved for, so its start has no effect. Weights
    of labels need the accelerated joint sweep.
    """
    if problem.label_weight is not None and not (sweep == "joint" and accelerate):
        raise ValueError(
            "label_weight needs the accelerated sweep: without equal weights the "
            'blocks of the plain sweeps have no closed form; take sweep="joint".'
        )
    start = zero_params(problem) if start is None else start
    if sweep == "joint" and accelerate:
        return accelerate_joint(
            problem, start, max_iter=max_iter, tol=tol, on_sweep=on_sweep
        )
    size = max(problem.n_features, problem.n_labels)
    with threads.for_product(size, size, size):
        return alternate(
            problem,
            start,
            SWEEPS[sweep],
            max_iter=max_iter,
            tol=tol,
            on_sweep=on_sweep,
        )
