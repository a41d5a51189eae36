"""The search for HOMI's hyper-parameters by scores of rows that were left out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from homi.estimators.corrections import corrected_by_folds
from homi.estimators.goals import Array, Goal
from homi.estimators.view import View, tied
from homi.solver import Path, graph_path, ridge_path

Parameters = dict[str, Any]


class Look(NamedTuple):
    """A way to see rows: scaled or not, as they are or through a kernel."""

    standardize: bool
    kernel: str | None = None
    width: float = 1.0


@dataclass(frozen=True)
class Space:
    """What is tried of each parameter."""

    standardize: Sequence[bool]
    kernels: Sequence[str]
    widths: Sequence[float]
    lams: Sequence[float]
    gammas: Sequence[float]
    n_neighbors: Sequence[int]
    betas: Sequence[float]

    @property
    def kernels_tried(self) -> list[str | None]:
        """None, which is no kernel, first."""
        return [None, *self.kernels] if self.widths else [None]

    @property
    def first_width(self) -> float:
        """The one nearest to 1, where the widths of a kernel are walked from."""
        return min(self.widths, key=lambda w: abs(np.log(w)), default=1.0)


class Trial(NamedTuple):
    """Parameters, and what they reach of the goal on rows held out."""

    params: Parameters
    value: float
    #: "one row" or "a fold".
    held_out: str = "one row"


class Group(NamedTuple):
    """Candidates that share features, and the scores of the best of them."""

    trials: list[Trial]
    scores: Array
    view: View
    look: Look
    unit: float

    @property
    def best(self) -> Trial:
        return max(self.trials, key=_value)


def _value(trial: Trial) -> float:
    """A goal may be NaN, as where no label ever occurs: then it is the worst."""
    return trial.value if trial.value == trial.value else -np.inf


@dataclass
class Search:
    """Candidates that were tried, and the best of them so far.

    In turns: features and λ without a graph; the width of each kernel; γ and the
    number of neighbours for the features that won, with λ and the values next to it;
    then, by folds, how far scores correct each other.

    Parameters
    ----------
    X, Y : array or CSR matrix, and ndarray of 0 and 1
        Rows and their labels.
    see : callable
        Makes the view of a look, the parameters that name it, and the unit of λ.
    goal : callable
        Of labels and scores; the greater the better.
    deadline : float
        By ``time.monotonic()``. One candidate is tried in any case.
    n_jobs : int or None
        Threads; each holds features of its own.
    seed : int
        Of the folds.
    after : callable
        Called after each group of candidates with the best one so far.
    """

    X: Any
    Y: Array
    see: Callable[[Look], tuple[View, Parameters, float]]
    goal: Goal
    deadline: float = float("inf")
    n_jobs: int | None = None
    seed: int = 0
    after: Callable[[Trial], None] = lambda trial: None
    tried: list[Trial] = field(default_factory=list)
    best: Trial = field(init=False)
    scores: Array = field(init=False)
    view: View = field(init=False)
    look: Look = field(init=False)
    unit: float = field(init=False)
    reached: dict[Look, float] = field(default_factory=dict)

    def run(self, space: Space) -> None:
        """Try all there is time for."""
        self._try_looks(space)
        self._try_widths(space)
        self._try_graphs(space)
        self._try_corrections(space.betas)

    def _try_looks(self, space: Space) -> None:
        looks = [
            Look(scaled, kernel, space.first_width)
            for scaled in space.standardize
            for kernel in space.kernels_tried
        ]
        self._try_ridges(looks, space.lams)

    def _try_widths(self, space: Space) -> None:
        """From each kernel's first width on, as long as the next one is better."""
        for kernel in space.kernels_tried[1:]:
            here = Look(self.look.standardize, kernel, space.first_width)
            while not self._late():
                near = [here._replace(width=w) for w in _next(space.widths, here.width)]
                fresh = [look for look in near if look not in self.reached]
                self._try_ridges(fresh, space.lams)
                known = [here, *(look for look in near if look in self.reached)]
                best = max(known, key=lambda look: self.reached.get(look, -np.inf))
                if best == here:
                    break
                here = best

    def _try_graphs(self, space: Space) -> None:
        if not space.gammas or not space.n_neighbors:
            return
        view, look, chosen = self.view, self.look, self.best.params
        lams = [chosen["lam"], *_next(_scaled(space.lams, self.unit), chosen["lam"])]
        for s in sorted(space.n_neighbors, key=lambda s: abs(np.log(s / 10))):
            if self._late():
                return
            graph = tied(view, self.X, s)
            named = chosen | {"n_neighbors": int(s)}
            self._absorb(
                delayed(self._graphs)(graph, look, named | {"lam": lam}, space.gammas)
                for lam in lams
            )
            if self.best.params["gamma"] == 0:
                return
            # Other numbers of neighbours are tried with the λ of the first.
            lams = [self.best.params["lam"]]

    def _try_corrections(self, betas: Sequence[float]) -> None:
        if not betas or self._late():
            return
        best = self.best
        folds = corrected_by_folds(self.view, self.Y, best.params, betas, self.seed)
        for beta, scores in folds:
            corrected = {"correlation": "held-out", "beta": beta} if beta else {}
            value = float(self.goal(self.Y, scores))
            trial = Trial(best.params | corrected, value, "a fold")
            self.tried.append(trial)
            # The first is the best so far without a correction.
            if not beta or value > self.best.value:
                self.best, self.scores = trial, scores
            self.after(self.best)

    def _try_ridges(self, looks: Sequence[Look], lams: Sequence[float]) -> None:
        self._absorb(delayed(self._ridges)(look, lams) for look in looks)

    def _ridges(self, look: Look, lams: Sequence[float]) -> Group | None:
        """Ridge regressions with every λ: one eigenvalue problem."""
        if self._late():
            return None
        view, named, unit = self.see(look)
        named = named | {"gamma": 0.0, "correlation": "identity"}
        path = ridge_path(view.moments, view.features, view.mean, view.scale)
        along = (
            (named | {"lam": lam}, 1.0 / (path.values + lam))
            for lam in _scaled(lams, unit)
        )
        return Group(*self._along(path, along), view, look, unit)

    def _graphs(
        self, view: View, look: Look, named: Parameters, gammas: Sequence[float]
    ) -> Group | None:
        """The graph with every γ: one generalised eigenvalue problem."""
        if self._late():
            return None
        units = view.mean, view.scale
        path = graph_path(view.moments, view.features, named["lam"], *units)
        along = ((named | {"gamma": g}, 1.0 / (1.0 + g * path.values)) for g in gammas)
        return Group(*self._along(path, along), view, look, self.unit)

    def _along(
        self, path: Path, candidates: Iterable[tuple[Parameters, Array]]
    ) -> tuple[list[Trial], Array]:
        """All candidates of a path, and the scores of the best."""
        trials: list[Trial] = []
        best: Array | None = None
        for params, inverse in candidates:
            if trials and time.monotonic() > self.deadline:
                break
            scores = path.held_out(self.Y, inverse)
            trial = Trial(params, float(self.goal(self.Y, scores)))
            if best is None or _value(trial) > max(map(_value, trials)):
                best = scores
            trials.append(trial)
        assert best is not None
        return trials, best

    def _absorb(self, tasks: Iterable[Any]) -> None:
        several = self.n_jobs not in (None, 1)
        threads = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")
        with threadpool_limits(1 if several else None):
            for group in threads(tasks):
                if group is not None:
                    self._note(group)
                    self.after(self.best)

    def _note(self, group: Group) -> None:
        first = not self.tried
        self.tried += group.trials
        self.reached.setdefault(group.look, _value(group.best))
        if first or _value(group.best) > _value(self.best):
            self.best, self.scores = group.best, group.scores
            self.view, self.look, self.unit = group.view, group.look, group.unit

    def _late(self) -> bool:
        return bool(self.tried) and time.monotonic() > self.deadline


def _scaled(lams: Sequence[float], unit: float) -> list[float]:
    return [float(lam * unit) for lam in lams]


def _next(values: Sequence[float], here: float) -> list[float]:
    """The values just below and just above one of them."""
    ordered = sorted(values)
    place = ordered.index(here)
    return ordered[max(place - 1, 0) : place] + ordered[place + 1 : place + 2]
