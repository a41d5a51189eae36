"""Search for HOMI's hyper-parameters by cross-validation."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from homi.linear import fit_sigmoids
from homi.model.features import FeatureSpace
from homi.model.fold_scores import (
    corrections_by_folds,
    graphs_by_folds,
    held_out_rows,
)
from homi.model.graphs import Graph, neighbour_graph
from homi.model.scoring import Array, Objective
from homi.solver import RowsOnPath, ridge_path, weight_path
from homi.typing import Fields, Matrix

Parameters = Fields


class FeatureChoice(NamedTuple):
    """Choice of a feature map: scaled or not, linear or a kernel of some width."""

    standardize: bool
    kernel: str | None = None
    width: float = 1.0


@dataclass(frozen=True)
class Grid:
    """Values to try of each parameter."""

    standardize: Sequence[bool]
    kernels: Sequence[str]
    widths: Sequence[float]
    lams: Sequence[float]
    gammas: Sequence[float]
    n_neighbors: Sequence[int]
    label_weights: Sequence[float]
    betas: Sequence[float]

    @property
    def kernels_tried(self) -> list[str | None]:
        """Kernels, with None (linear features) first."""
        return [None, *self.kernels] if self.widths else [None]

    @property
    def first_width(self) -> float:
        """The width nearest to 1, which is tried first."""
        return min(self.widths, key=lambda w: abs(np.log(w)), default=1.0)


class Candidate(NamedTuple):
    """Parameters and their cross-validated objective."""

    params: Parameters
    value: float
    #: "one row" or "a fold".
    held_out: str = "one row"
    #: Whether each label has a weight of its own.
    weighted: bool = False
    #: Whether the objective was computed from probabilities instead of scores.
    calibrated: bool = False


class Group(NamedTuple):
    """Candidates that share a feature map, and the scores of the best of them."""

    candidates: list[Candidate]
    scores: Array
    space: FeatureSpace
    choice: FeatureChoice
    unit: float

    @property
    def best(self) -> Candidate:
        """The candidate with the greatest objective."""
        return max(self.candidates, key=_value)


class _Found(NamedTuple):
    """A candidate by folds, its scores, and what the objective was computed from."""

    candidate: Candidate
    scores: Array
    final: Array


def _value(candidate: Candidate) -> float:
    """Return the objective; NaN, as where no label ever occurs, is the worst."""
    return candidate.value if candidate.value == candidate.value else -np.inf


@dataclass
class Search:
    """Candidates that were tried, and the best of them so far.

    The stages: feature map and λ without a graph; the width of each kernel; by folds,
    γ and the number of neighbors, with λ and the values next to it; by folds, the
    strength of the label correction, with equal weights of the labels or one for each,
    and with larger λ as long as that helps. The last stage compares probabilities if
    scores will be calibrated: a penalty of its own moves all scores of a label, and
    only probabilities can then be compared between labels.

    Parameters
    ----------
    X, Y : array or CSR matrix, and ndarray of 0 and 1
        Rows and their labels.
    build : callable
        Builds the features of a choice; returns them, the parameters that name it, and
        the unit of λ.
    objective : callable
        Function of labels and scores; greater is better.
    deadline : float
        By ``time.monotonic()``. Every λ of the first features is tried all the same.
    n_jobs : int or None
        Number of threads; each holds features of its own.
    seed : int
        Seed of the folds.
    calibrate : bool
        Whether scores will be mapped to probabilities, label by label.
    after : callable
        Called after each group of candidates with the best one so far.
    """

    X: Matrix
    Y: Array
    build: Callable[[FeatureChoice], tuple[FeatureSpace, Parameters, float]]
    objective: Objective
    deadline: float = float("inf")
    n_jobs: int | None = None
    seed: int = 0
    calibrate: bool = False
    after: Callable[[Candidate], None] = lambda candidate: None
    tried: list[Candidate] = field(default_factory=list)
    best: Candidate = field(init=False)
    scores: Array = field(init=False)
    space: FeatureSpace = field(init=False)
    choice: FeatureChoice = field(init=False)
    unit: float = field(init=False)
    graph: Graph = field(init=False)
    reached: dict[FeatureChoice, float] = field(default_factory=dict)
    was_cut_short: bool = False

    def run(self, grid: Grid) -> None:
        """Try all candidates there is time for."""
        self._try_choices(grid)
        self._try_widths(grid)
        if len(self.Y) > 1:
            self._try_graphs(grid)
            self._try_corrections(grid)

    def comparable(self) -> Array:
        """Return the best scores, with intercepts for the share of labels in all rows.

        Scores of folds have them already. Without a row that has a rare label, the
        label's share is smaller by just that row, and scores that hardly differ would
        be lowest where they should be highest.
        """
        n = len(self.Y)
        if self.best.held_out == "a fold" or n < 2:
            return self.scores
        return self.scores + (self.Y - self.Y.mean(axis=0)) / (n - 1)

    def label_weight(self, weights: Sequence[float]) -> Array | None:
        """Return the label weights of the best model; None for equal weights."""
        if not self.best.weighted:
            return None
        return self._weights(self.best.params, self.graph, weights)

    def _weights(
        self, params: Parameters, graph: Graph, weights: Sequence[float]
    ) -> Array | None:
        """Choose the weight of each label by leave-one-out; None without a choice."""
        if not weights:
            return None
        space = graph.space
        path = weight_path(space.moments, params["lam"], params["gamma"])
        rows = path.of(space.features, space.mean, space.scale)
        return rows.own_weights(self.Y, path.values, weights)

    def _try_choices(self, grid: Grid) -> None:
        choices = [
            FeatureChoice(scaled, kernel, grid.first_width)
            for scaled in grid.standardize
            for kernel in grid.kernels_tried
        ]
        self._try_ridges(choices, grid.lams)

    def _try_widths(self, grid: Grid) -> None:
        """Try widths of each kernel from the first on while the next is better."""
        for kernel in grid.kernels_tried[1:]:
            here = FeatureChoice(self.choice.standardize, kernel, grid.first_width)
            while not self._out_of_time():
                near = [here._replace(width=w) for w in _next(grid.widths, here.width)]
                fresh = [choice for choice in near if choice not in self.reached]
                self._try_ridges(fresh, grid.lams)
                known = [here, *(choice for choice in near if choice in self.reached)]
                best = max(known, key=lambda choice: self.reached.get(choice, -np.inf))
                if best == here:
                    break
                here = best

    def _try_graphs(self, grid: Grid) -> None:
        if not grid.gammas or not grid.n_neighbors:
            return
        chosen, plain = self.best.params, self.space
        lams = [chosen["lam"], *_next(_scaled(grid.lams, self.unit), chosen["lam"])]
        for s in sorted(grid.n_neighbors, key=lambda s: abs(np.log(s / 10))):
            if self._out_of_time():
                return
            graph = neighbour_graph(plain, self.X, s, self.seed)
            self._try_graph(graph, chosen | {"n_neighbors": int(s)}, lams, grid.gammas)
            if self.best.params["gamma"] == 0:
                return
            # Other numbers of neighbors are tried with the λ of the first.
            lams = [self.best.params["lam"]]

    def _try_graph(
        self,
        graph: Graph,
        named: Parameters,
        lams: Sequence[float],
        gammas: Sequence[float],
    ) -> None:
        """Try one graph by folds; the first is compared with none by the same folds."""
        first = self.best.held_out == "one row"
        tried = [0.0, *gammas] if first else list(gammas)
        found = graphs_by_folds(graph.space, self.Y, graph.L, lams, tried, self.seed)
        for (lam, gamma), scores in found.items():
            params = named | {"lam": lam, "gamma": gamma}
            if gamma == 0:
                del params["n_neighbors"]
            self._note_fold(params, scores, graph)
        self.after(self.best)

    def _try_corrections(self, grid: Grid) -> None:
        """Try label weights and label corrections together.

        Then try larger λ as long as that helps: sigmoids restore the scale of scores
        that were shrunk.
        """
        if not (grid.label_weights or grid.betas) or self._out_of_time():
            return
        params, graph = self.best.params, self.graph
        taken = self._corrected(params, graph, grid)
        lams = _scaled(grid.lams, self.unit) if self.calibrate else []
        for lam in sorted(lam for lam in lams if lam > params["lam"]):
            if self._out_of_time():
                break
            more = self._corrected(params | {"lam": lam}, graph, grid)
            if _value(more.candidate) <= _value(taken.candidate):
                break
            taken = more
        self.best, self.scores, self.graph = taken.candidate, taken.scores, graph
        self.after(self.best)

    def _corrected(self, params: Parameters, graph: Graph, grid: Grid) -> _Found:
        """Return the best correction, with equal weights of the labels or own ones."""
        weight = self._weights(params, graph, grid.label_weights)
        given = graph.space, self.Y, graph.L, params, grid.betas, self.seed
        found = corrections_by_folds(*given, weight)
        best: dict[bool, _Found] = {}
        for (own, beta), scores in found.items():
            corrected = {"correlation": "held-out", "beta": beta} if beta else {}
            final = self._final(scores)
            value = float(self.objective(self.Y, final))
            named = params | corrected
            candidate = Candidate(named, value, "a fold", own, self.calibrate)
            self.tried.append(candidate)
            if own not in best or _value(candidate) > _value(best[own].candidate):
                best[own] = _Found(candidate, scores, final)
        if True in best and not self._is_worse(best[True].final, best[False].final):
            return best[True]
        return best[False]

    def _final(self, scores: Array) -> Array:
        """Return what the objective is computed from: probabilities, or the scores.

        The sigmoids are fitted to all rows: two numbers for each label.
        """
        return fit_sigmoids(scores, self.Y)(scores) if self.calibrate else scores

    def _is_worse(self, new: Array, old: Array) -> bool:
        """Return True if new scores are worse by more than one standard error.

        Each label's weight was chosen to lower its own held-out error. The objective,
        which is noisier, only has a veto.
        """
        parts = held_out_rows(len(self.Y), self.seed)
        gains = [
            self.objective(self.Y[rows], new[rows])
            - self.objective(self.Y[rows], old[rows])
            for rows in parts
        ]
        error = np.std(gains, ddof=1) / np.sqrt(len(gains))
        return not np.mean(gains) >= -error

    def _note_fold(self, params: Parameters, scores: Array, graph: Graph) -> None:
        candidate = Candidate(params, float(self.objective(self.Y, scores)), "a fold")
        self.tried.append(candidate)
        # Scores of folds are not compared with leave-one-out scores.
        if self.best.held_out == "one row" or _value(candidate) > _value(self.best):
            self.best, self.scores, self.graph = candidate, scores, graph

    def _try_ridges(
        self, choices: Sequence[FeatureChoice], lams: Sequence[float]
    ) -> None:
        self._absorb(delayed(self._ridges)(choice, lams) for choice in choices)

    def _ridges(self, choice: FeatureChoice, lams: Sequence[float]) -> Group | None:
        """Try ridge regressions with every λ: one eigenvalue problem."""
        if self._out_of_time():
            return None
        space, named, unit = self.build(choice)
        named = named | {"gamma": 0.0, "correlation": "identity"}
        path = ridge_path(space.moments)
        rows = path.of(space.features, space.mean, space.scale)
        along = (
            (named | {"lam": lam}, 1.0 / (path.values + lam))
            for lam in _scaled(lams, unit)
        )
        return Group(*self._along(rows, along), space, choice, unit)

    def _along(
        self, rows: RowsOnPath, settings: Iterable[tuple[Parameters, Array]]
    ) -> tuple[list[Candidate], Array]:
        """Score all settings along a path; return them and the scores of the best."""
        candidates: list[Candidate] = []
        best: Array | None = None
        for params, inverse in settings:
            if not self._is_first and self._out_of_time():
                break
            scores = rows.held_out(self.Y, inverse)
            candidate = Candidate(params, float(self.objective(self.Y, scores)))
            if best is None or _value(candidate) > max(map(_value, candidates)):
                best = scores
            candidates.append(candidate)
        assert best is not None
        return candidates, best

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
        self.tried += group.candidates
        self.reached.setdefault(group.choice, _value(group.best))
        if first or _value(group.best) > _value(self.best):
            self.best, self.scores = group.best, group.scores
            self.space, self.choice, self.unit = group.space, group.choice, group.unit
            self.graph = Graph(group.space)

    @property
    def _is_first(self) -> bool:
        """Return True while no candidate has been tried.

        All λ of the first features cost one factorization: no budget ends them, so
        that the model is at least a ridge regression with a chosen penalty.
        """
        return not self.tried

    def _out_of_time(self) -> bool:
        late = not self._is_first and time.monotonic() > self.deadline
        self.was_cut_short = self.was_cut_short or late
        return late


def _scaled(lams: Sequence[float], unit: float) -> list[float]:
    return [float(lam * unit) for lam in lams]


def _next(values: Sequence[float], here: float) -> list[float]:
    """Return the values just below and just above one of them."""
    ordered = sorted(values)
    place = ordered.index(here)
    return ordered[max(place - 1, 0) : place] + ordered[place + 1 : place + 2]
