"""The search for HOMI's hyper-parameters by scores of rows that were left out."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from homi.estimators.goals import Array, Goal
from homi.estimators.view import View, tied
from homi.linalg import Pencil
from homi.solver import Problem, corrected_without_own, leave_one_out

Parameters = dict[str, Any]

#: A view, and the parameters that name it.
Named = tuple[Parameters, View]


@dataclass(frozen=True)
class Grid:
    """What is tried of each parameter."""

    lams: Sequence[float]
    gammas: Sequence[float]
    betas: Sequence[float]


@dataclass
class Search:
    """Candidates that were tried, and the best of them so far.

    In turns: a view and λ without a graph; γ, with λ and its two neighbours, in the
    view that won; then how far scores correct each other.
    """

    Y: Array
    goal: Goal
    deadline: float = float("inf")

    def __post_init__(self) -> None:
        self.tried: list[tuple[Parameters, float]] = []
        self.best: tuple[Parameters, float] = {}, -np.inf
        self.scores: Array = self.Y
        self.view: View | None = None

    def run(self, X: Any, views: Iterable[Named], n_neighbors: int, grid: Grid) -> None:
        """Try all; rows X are what the graph is of."""
        for named, view in views:
            for lam in grid.lams:
                if self._late():
                    return
                self._try_alone(named, view, lam)
        self._try_graphs(X, n_neighbors, grid)
        self._try_corrections(grid.betas)

    def _late(self) -> bool:
        return bool(self.tried) and time.monotonic() > self.deadline

    def _try_alone(self, named: Parameters, view: View, lam: float) -> None:
        """A ridge regression of each label."""
        scores = _held_out(view, self.Y, Problem(view.moments, lam, gamma=0.0))
        params = {**named, "lam": lam, "gamma": 0.0, "correlation": "identity"}
        self._note(params, scores, view)

    def _try_graphs(self, X: Any, n_neighbors: int, grid: Grid) -> None:
        assert self.view is not None
        chosen, _ = self.best
        if not any(gamma > 0 for gamma in grid.gammas):
            return
        view = tied(self.view, X, n_neighbors)
        for lam in _around(grid.lams, chosen["lam"]):
            # One factorisation serves every γ: only the eigenvalues are scaled.
            mu, V = Problem(view.moments, lam, gamma=1.0).joint_pencil
            for gamma in grid.gammas:
                if self._late():
                    return
                problem = Problem(view.moments, lam, gamma=gamma)
                pencil = Pencil(gamma * mu, V)
                scores = _held_out(view, self.Y, problem, pencil)
                params = {**chosen, "lam": lam, "gamma": float(gamma)}
                self._note(params, scores, view)

    def _try_corrections(self, betas: Sequence[float]) -> None:
        assert self.view is not None
        (chosen, _), held_out, view = self.best, self.scores, self.view
        for beta in betas:
            if self._late():
                return
            scores = corrected_without_own(held_out, self.Y, beta)
            params = {**chosen, "correlation": "held-out", "beta": float(beta)}
            self._note(params, scores, view)

    def _note(self, params: Parameters, scores: Array, view: View) -> None:
        value = float(self.goal(self.Y, scores))
        self.tried.append((params, value))
        # A goal may be NaN for all, as where no label ever occurs.
        if self.view is None or value > self.best[1]:
            self.best, self.scores, self.view = (params, value), scores, view


def _held_out(
    view: View, Y: Array, problem: Problem, pencil: Pencil | None = None
) -> Array:
    return leave_one_out(
        problem,
        view.features,
        Y,
        np.eye(Y.shape[1]),
        mean=view.mean,
        scale=view.scale,
        pencil=pencil,
    )


def _around(lams: Sequence[float], chosen: float) -> Iterator[float]:
    """The chosen value, and the next ones below and above."""
    ordered = sorted(lams)
    place = ordered.index(chosen)
    yield from ordered[max(place - 1, 0) : place + 2]
