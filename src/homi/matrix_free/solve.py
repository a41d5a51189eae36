"""One door to the iterative solver."""

from __future__ import annotations

from homi.matrix_free.given import Given
from homi.matrix_free.labels import (
    AllDirections,
    LabelGram,
    Labels,
    LeadingDirections,
)
from homi.matrix_free.problem import RowsProblem
from homi.solver.accelerate import MEMORY, descend
from homi.solver.nouns import OnSweep, Solution

#: Up to this many labels the (B, t) step is exact.
EXACT_LABELS = 5_000

#: Above it, in how many directions of the labels B is free.
LEADING = 200


def label_rank(n_labels: int) -> int:
    """In how many directions of the labels B is free: all, where that is affordable."""
    return n_labels if n_labels <= EXACT_LABELS else LEADING


def solve_rows(
    given: Given, *, max_iter: int, tol: float, on_sweep: OnSweep | None = None
) -> Solution:
    """Minimise the objective from zeros; the sweeps of the direct solver."""
    gram = LabelGram(given.Y, given.y_mean, given.beta, given.lam)
    rank = label_rank(gram.n_labels)
    labels: Labels
    if rank == gram.n_labels:
        labels = AllDirections(gram, given.beta, given.lam)
    else:
        labels = LeadingDirections(gram, given.beta, given.lam, rank)
    problem = RowsProblem(given, labels)
    return descend(problem, problem.start(), max_iter, tol, on_sweep, MEMORY)
