"""The search for HOMI's hyper-parameters by scores of rows that were left out."""

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

Parameters = dict[str, Any]


class FeatureChoice(NamedTuple):
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
    label_weights: Sequence[float]
    betas: Sequence[float]

    @property
    def kernels_tried(self) -> list[str | None]:
        """None, which is no kernel, first."""
        return [None, *self.kernels] if self.widths else [None]

    @property
    def first_width(self) -> float:
        """The one nearest to 1, where the widths of a kernel are walked from."""
        return min(self.widths, key=lambda w: abs(np.log(w)), default=1.0)


class Candidate(NamedTuple):
    """Parameters, and what they reach of the goal on rows held out."""

    params: Parameters
    value: float
    #: "one row" or "a fold".
    held_out: str = "one row"
    #: Whether each label has a weight of its own.
    weighted: bool = False
    #: Whether the goal was asked about probabilities instead of scores.
    calibrated: bool = False


class Group(NamedTuple):
    """Candidates that share features, and the scores of the best of them."""

    trials: list[Candidate]
    scores: Array
    view: FeatureSpace
    look: FeatureChoice
    unit: float

    @property
    def best(self) -> Candidate:
        return max(self.trials, key=_value)


class _Found(NamedTuple):
    """A candidate by folds: its scores, and what the goal was asked about."""

    trial: Candidate
    scores: Array
    final: Array


def _value(trial: Candidate) -> float:
    """A goal may be NaN, as where no label ever occurs: then it is the worst."""
    return trial.value if trial.value == trial.value else -np.inf


@dataclass
class Search:
    """Candidates that were tried, and the best of them so far.

    In turns: features and λ without a graph; the width of each kernel; then, by folds,
    γ and the number of neighbours for the features that won, with λ and the values next
    to it; and how far scores correct each other, with labels counted alike or by
    weights of their own, which are taken unless the folds speak against them, and with
    more λ as long as that helps. The last are compared by probabilities, if these are
    what the scores are for: more or less penalty for a label moves all of its scores,
    and labels can be compared with each other by probabilities alone then.

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
    calibrate : bool
        Whether scores will be mapped to probabilities, label by label.
    after : callable
        Called after each group of candidates with the best one so far.
    """

    X: Any
    Y: Array
    see: Callable[[FeatureChoice], tuple[FeatureSpace, Parameters, float]]
    goal: Objective
    deadline: float = float("inf")
    n_jobs: int | None = None
    seed: int = 0
    calibrate: bool = False
    after: Callable[[Candidate], None] = lambda trial: None
    tried: list[Candidate] = field(default_factory=list)
    best: Candidate = field(init=False)
    scores: Array = field(init=False)
    view: FeatureSpace = field(init=False)
    look: FeatureChoice = field(init=False)
    unit: float = field(init=False)
    graph: Graph = field(init=False)
    reached: dict[FeatureChoice, float] = field(default_factory=dict)

    def run(self, space: Space) -> None:
        """Try all there is time for."""
        self._try_looks(space)
        self._try_widths(space)
        if len(self.Y) > 1:
            self._try_graphs(space)
            self._try_corrections(space)

    def comparable(self) -> Array:
        """The best scores, with biases for the share of each label in all rows.

        Those of folds have them. Without a row that has a rare label, its share is less
        by just that, and scores that hardly differ would be lowest where they should be
        highest.
        """
        n = len(self.Y)
        if self.best.held_out == "a fold" or n < 2:
            return self.scores
        return self.scores + (self.Y - self.Y.mean(axis=0)) / (n - 1)

    def label_weight(self, weights: Sequence[float]) -> Array | None:
        """Of the best model; None where all labels count alike."""
        if not self.best.weighted:
            return None
        return self._weights(self.best.params, self.graph, weights)

    def _weights(
        self, params: Parameters, graph: Graph, weights: Sequence[float]
    ) -> Array | None:
        """The weight of each label, by all rows, each held out; None without any."""
        if not weights:
            return None
        view = graph.view
        path = weight_path(view.moments, params["lam"], params["gamma"])
        rows = path.of(view.features, view.mean, view.scale)
        return rows.own_weights(self.Y, path.values, weights)

    def _try_looks(self, space: Space) -> None:
        looks = [
            FeatureChoice(scaled, kernel, space.first_width)
            for scaled in space.standardize
            for kernel in space.kernels_tried
        ]
        self._try_ridges(looks, space.lams)

    def _try_widths(self, space: Space) -> None:
        """From each kernel's first width on, as long as the next one is better."""
        for kernel in space.kernels_tried[1:]:
            here = FeatureChoice(self.look.standardize, kernel, space.first_width)
            while not self._out_of_time():
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
        chosen, plain = self.best.params, self.view
        lams = [chosen["lam"], *_next(_scaled(space.lams, self.unit), chosen["lam"])]
        for s in sorted(space.n_neighbors, key=lambda s: abs(np.log(s / 10))):
            if self._out_of_time():
                return
            graph = neighbour_graph(plain, self.X, s, self.seed)
            self._try_graph(graph, chosen | {"n_neighbors": int(s)}, lams, space.gammas)
            if self.best.params["gamma"] == 0:
                return
            # Other numbers of neighbours are tried with the λ of the first.
            lams = [self.best.params["lam"]]

    def _try_graph(
        self,
        graph: Graph,
        named: Parameters,
        lams: Sequence[float],
        gammas: Sequence[float],
    ) -> None:
        """One graph by folds; the first is compared with none, by the same folds."""
        first = self.best.held_out == "one row"
        tried = [0.0, *gammas] if first else list(gammas)
        found = graphs_by_folds(graph.view, self.Y, graph.L, lams, tried, self.seed)
        for (lam, gamma), scores in found.items():
            params = named | {"lam": lam, "gamma": gamma}
            if gamma == 0:
                del params["n_neighbors"]
            self._note_fold(params, scores, graph)
        self.after(self.best)

    def _try_corrections(self, space: Space) -> None:
        """Weights and corrections together: some help only with the others.

        Then with more λ as well, as long as that helps: sigmoids give back the scale
        that it takes from the scores.
        """
        if not (space.label_weights or space.betas) or self._out_of_time():
            return
        params, graph = self.best.params, self.graph
        taken = self._corrected(params, graph, space)
        lams = _scaled(space.lams, self.unit) if self.calibrate else []
        for lam in sorted(lam for lam in lams if lam > params["lam"]):
            if self._out_of_time():
                break
            more = self._corrected(params | {"lam": lam}, graph, space)
            if _value(more.trial) <= _value(taken.trial):
                break
            taken = more
        self.best, self.scores, self.graph = taken.trial, taken.scores, graph
        self.after(self.best)

    def _corrected(self, params: Parameters, graph: Graph, space: Space) -> _Found:
        """The best of all corrections, with labels counted alike or by weights."""
        weight = self._weights(params, graph, space.label_weights)
        given = graph.view, self.Y, graph.L, params, space.betas, self.seed
        found = corrections_by_folds(*given, weight)
        best: dict[bool, _Found] = {}
        for (own, beta), scores in found.items():
            corrected = {"correlation": "held-out", "beta": beta} if beta else {}
            final = self._final(scores)
            value = float(self.goal(self.Y, final))
            trial = Candidate(params | corrected, value, "a fold", own, self.calibrate)
            self.tried.append(trial)
            if own not in best or _value(trial) > _value(best[own].trial):
                best[own] = _Found(trial, scores, final)
        if True in best and not self._is_worse(best[True].final, best[False].final):
            return best[True]
        return best[False]

    def _final(self, scores: Array) -> Array:
        """What the goal is asked about in the end: probabilities, or the scores.

        The sigmoids are those of all rows: two numbers for each label.
        """
        return fit_sigmoids(scores, self.Y)(scores) if self.calibrate else scores

    def _is_worse(self, new: Array, old: Array) -> bool:
        """By more than one standard error of the folds.

        Every label's own error was made less on rows held out, which speaks for the new
        scores: the goal, which is less sure, need only not speak against them.
        """
        parts = held_out_rows(len(self.Y), self.seed)
        gains = [
            self.goal(self.Y[rows], new[rows]) - self.goal(self.Y[rows], old[rows])
            for rows in parts
        ]
        error = np.std(gains, ddof=1) / np.sqrt(len(gains))
        return not np.mean(gains) >= -error

    def _note_fold(self, params: Parameters, scores: Array, graph: Graph) -> None:
        trial = Candidate(params, float(self.goal(self.Y, scores)), "a fold")
        self.tried.append(trial)
        # Scores of folds are not compared with those of rows left out one by one.
        if self.best.held_out == "one row" or _value(trial) > _value(self.best):
            self.best, self.scores, self.graph = trial, scores, graph

    def _try_ridges(
        self, looks: Sequence[FeatureChoice], lams: Sequence[float]
    ) -> None:
        self._absorb(delayed(self._ridges)(look, lams) for look in looks)

    def _ridges(self, look: FeatureChoice, lams: Sequence[float]) -> Group | None:
        """Ridge regressions with every λ: one eigenvalue problem."""
        if self._out_of_time():
            return None
        view, named, unit = self.see(look)
        named = named | {"gamma": 0.0, "correlation": "identity"}
        path = ridge_path(view.moments)
        rows = path.of(view.features, view.mean, view.scale)
        along = (
            (named | {"lam": lam}, 1.0 / (path.values + lam))
            for lam in _scaled(lams, unit)
        )
        return Group(*self._along(rows, along), view, look, unit)

    def _along(
        self, rows: RowsOnPath, candidates: Iterable[tuple[Parameters, Array]]
    ) -> tuple[list[Candidate], Array]:
        """All candidates of a path, and the scores of the best."""
        trials: list[Candidate] = []
        best: Array | None = None
        for params, inverse in candidates:
            if trials and time.monotonic() > self.deadline:
                break
            scores = rows.held_out(self.Y, inverse)
            trial = Candidate(params, float(self.goal(self.Y, scores)))
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
            self.graph = Graph(group.view)

    def _out_of_time(self) -> bool:
        return bool(self.tried) and time.monotonic() > self.deadline


def _scaled(lams: Sequence[float], unit: float) -> list[float]:
    return [float(lam * unit) for lam in lams]


def _next(values: Sequence[float], here: float) -> list[float]:
    """The values just below and just above one of them."""
    ordered = sorted(values)
    place = ordered.index(here)
    return ordered[max(place - 1, 0) : place] + ordered[place + 1 : place + 2]
