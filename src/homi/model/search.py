"""Search for HOMI's hyper-parameters by cross-validation, on a sample of the rows."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np

from homi.model.calibrated_objective import CalibratedObjective
from homi.model.candidate_features import CandidateFeatures, FeatureChoice
from homi.model.features import FeatureSpace
from homi.model.fold_scores import (
    RidgesByFolds,
    corrections_by_folds,
    graphs_by_folds,
)
from homi.model.graphs import Graph, neighbor_graph
from homi.model.grid import Grid
from homi.solver import weight_path
from homi.typing import Array, Fields

Parameters = Fields
T = TypeVar("T")

log = logging.getLogger("homi")

#: Relative difference of objectives up to which scaled and unscaled rows are equal.
_EQUAL = 1e-5


class Candidate(NamedTuple):
    """Parameters and their cross-validated objective."""

    params: Parameters
    value: float
    #: "one row" or "a fold".
    held_out: str = "one row"
    #: Whether each label has a weight of its own.
    weighted: bool = False


class Stage(NamedTuple):
    """A stage of the search, for ``search_report_``."""

    stage: str
    candidates: int
    best_score: float
    seconds: float
    #: Whether time ended it before all of its candidates were tried.
    cut_short: bool
    #: Number of rows that it used.
    rows: int = 0
    #: What it left out, by rule or for want of time.
    note: str = ""

    def __str__(self) -> str:
        """Return a line for ``verbose=1``."""
        rest = ", out of time" if self.cut_short else ""
        count = f"{self.candidates} candidates on " if self.candidates else ""
        return (
            f"{self.stage}: {count}{self.rows:,} rows, best "
            f"score {self.best_score:.4g}, {self.seconds:.1f} s{rest}"
        )


@dataclass
class Search:
    """Candidates that were tried, and the best of them so far.

    The stages: feature map and λ without a graph; the width of each kernel; the mean of
    both kernels; by folds, γ and the number of neighbors, with λ and the values next to
    it; by folds, the strength of the label correction, with equal weights of the labels
    or one for each.

    Parameters
    ----------
    features : CandidateFeatures
        Builds the features of a choice.
    measure : CalibratedObjective
        Function of labels and scores; greater is better.
    given : ndarray of shape (n_labels,) or None
        Label weights to take instead of chosen ones.
    deadline : float
        By ``time.monotonic()``. Every λ of the first features is tried all the same.
    seed : int
        Seed of the folds.
    after : callable
        Called after each group of candidates with this search.
    verbose : bool
        Whether to print a line after each stage.
    """

    features: CandidateFeatures
    measure: CalibratedObjective
    given: Array | None = None
    deadline: float = float("inf")
    seed: int = 0
    after: Callable[[Search], None] = lambda search: None
    verbose: bool = False
    tried: list[Candidate] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)
    best: Candidate = field(init=False)
    choice: FeatureChoice = field(init=False)
    space: FeatureSpace = field(init=False)
    graph: Graph = field(init=False)
    reached: dict[FeatureChoice, float] = field(default_factory=dict)
    was_cut_short: bool = False
    #: What there was no time for.
    left_out: list[str] = field(default_factory=list)

    def run(self, grid: Grid) -> None:
        """Try all candidates there is time for."""
        stages: dict[str, Callable[[Grid], None]] = {
            "features": self._try_choices,
            "widths": self._try_widths,
            "mean of kernels": self._try_mean_of_kernels,
        }
        if len(self.features.Y) > 1:
            stages |= {
                "graph": self._try_graphs,
                "label correction": self._try_corrections,
            }
        for name, stage in stages.items():
            note = grid.note if name == "features" else ""
            self.timed(name, partial(stage, grid), note=note)

    def timed(
        self, name: str, stage: Callable[[], T], rows: int | None = None, note: str = ""
    ) -> T:
        """Run a stage, and add it to the report; rows are those of the search."""
        started, before = time.monotonic(), len(self.tried)
        left = len(self.left_out)
        was_cut_short, self.was_cut_short = self.was_cut_short, False
        best = f", best score {self.best.value:.4g}" if self.tried else ""
        log.info("%s%s", name, best)
        done = stage()
        count, took = len(self.tried) - before, time.monotonic() - started
        if count or done is not None or self.was_cut_short:
            cut, used = (
                self.was_cut_short,
                len(self.features.Y) if rows is None else rows,
            )
            if cut:
                missed = f"no time for {', '.join(self.left_out[left:])}"
                note = f"{note}; {missed}" if note else missed
            row = Stage(name, count, self.best.value, took, cut, used, note)
            self.stages.append(row)
            self._tell(row)
        self.was_cut_short = self.was_cut_short or was_cut_short
        return done

    def leave_out(self, name: str, note: str) -> None:
        """Add a stage to the report that a rule left out."""
        self.stages.append(Stage(name, 0, self.best.value, 0.0, False, 0, note))

    def _tell(self, row: Stage) -> None:
        left = self.deadline - time.monotonic()
        more = f", {max(left, 0.0):.0f} s left" if np.isfinite(left) else ""
        log.info("%s%s", row, more)
        if self.verbose:
            print(f"[HOMICV] {row}{more}")

    def _try_choices(self, grid: Grid) -> None:
        kernels = [(k, (grid.first_width,)) for k in grid.kernels if grid.widths]
        for scaled in grid.standardize:
            for kernel, widths in [(None, ()), *self._distinct(kernels, scaled)]:
                self._try_ridges(FeatureChoice(scaled, kernel, widths), grid)

    def _distinct(
        self, kernels: Sequence[tuple[str, tuple[float, ...]]], scaled: bool
    ) -> Sequence[tuple[str, tuple[float, ...]]]:
        """Return kernels that differ: of rows of 0 and 1, both distances are equal."""
        if len(kernels) > 1 and not scaled and self.features.is_binary():
            return kernels[:1]
        return kernels

    def _try_widths(self, grid: Grid) -> None:
        """Try widths of each kernel from the first on while the next is better."""
        for kernel in grid.kernels:
            here = FeatureChoice(self.choice.standardize, kernel, (grid.first_width,))
            while here in self.reached and not self.out_of_time(f"widths of {kernel}"):
                near = [
                    here._replace(widths=(w,))
                    for w in _next(grid.widths, here.widths[0])
                ]
                for choice in near:
                    if choice not in self.reached:
                        self._try_ridges(choice, grid)
                best = max([here, *near], key=lambda c: self.reached.get(c, -np.inf))
                if best == here:
                    break
                here = best

    def _try_mean_of_kernels(self, grid: Grid) -> None:
        """Try the mean of both kernels, each with its best width."""
        best: dict[str, FeatureChoice] = {}
        for choice in sorted(self.reached, key=lambda c: self.reached[c]):
            if choice.kernel and choice.standardize == self.choice.standardize:
                best[choice.kernel] = choice
        if {"rbf", "laplacian"} <= set(best):
            widths = best["rbf"].widths + best["laplacian"].widths
            both = FeatureChoice(self.choice.standardize, "rbf+laplacian", widths)
            self._try_ridges(both, grid)

    def _try_graphs(self, grid: Grid) -> None:
        if not grid.gammas or not grid.n_neighbors:
            return
        chosen = self.best.params
        lams = [chosen["lam"], *_next(self.lams(grid), chosen["lam"])]
        for s in sorted(grid.n_neighbors, key=lambda s: abs(np.log(s / 10))):
            if self.out_of_time(f"a graph of {s} neighbors"):
                return
            graph = neighbor_graph(self.space, self.features.X, s, self.seed)
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
        Y = self.features.Y
        found = graphs_by_folds(graph.space, Y, graph.L, lams, tried, self.seed)
        for (lam, gamma), scores in found.items():
            params = named | {"lam": lam, "gamma": gamma}
            if gamma == 0:
                del params["n_neighbors"]
            candidate = Candidate(params, self._value(scores), "a fold")
            self.tried.append(candidate)
            # Scores of folds are not compared with leave-one-out scores.
            if self.best.held_out == "one row" or candidate.value > self.best.value:
                self.best, self.graph = candidate, graph
        self.after(self)

    def _try_corrections(self, grid: Grid) -> None:
        """Try label weights and label corrections together."""
        some = grid.label_weights or grid.betas or self.given is not None
        if not some or self.out_of_time("label weights and corrections"):
            return
        params, graph, Y = self.best.params, self.graph, self.features.Y
        weight = self.label_weight(params, graph, Y, grid)
        given = graph.space, Y, graph.L, params, grid.betas, self.seed
        by_folds = corrections_by_folds(*given, weight, self.features.filled)
        found: dict[bool, list[tuple[Candidate, Array]]] = {False: [], True: []}
        for (own, beta), scores in by_folds.items():
            corrected = {"correlation": "held-out", "beta": beta} if beta else {}
            value = self._value(scores)
            candidate = Candidate(params | corrected, value, "a fold", own)
            self.tried.append(candidate)
            found[own].append((candidate, scores))
        best = {own: self._surely_best(tried) for own, tried in found.items() if tried}
        # Each label's weight was chosen to lower its own held-out error. The objective,
        # which is noisier, only has a veto.
        own = True in best and (
            self.given is not None or self._gain(best[True], best[False]) >= -1.0
        )
        self.best = best[own][0]
        self.after(self)

    def _surely_best(
        self, tried: Sequence[tuple[Candidate, Array]]
    ) -> tuple[Candidate, Array]:
        """Return the best one; without a correction, where its gain may be chance.

        B has as many numbers as pairs of labels, and folds of few rows are noisy.
        """
        best = max(tried, key=lambda found: found[0].value)
        return best if self._gain(best, tried[0]) > 1.0 else tried[0]

    def _gain(
        self, new: tuple[Candidate, Array], old: tuple[Candidate, Array]
    ) -> float:
        Y, cells = self.features.Y, self.features.cells
        return self.measure.gain(Y, new[1], old[1], self.seed, cells)

    def label_weight(
        self, params: Parameters, graph: Graph, Y: Array, grid: Grid
    ) -> Array | None:
        """Choose the weight of each label by leave-one-out; None without a choice."""
        if self.given is not None or not grid.label_weights:
            return self.given
        space = graph.space
        if self.features.filled is not None:
            by_folds = RidgesByFolds(space, self.features.filled, self.seed)
            return by_folds.own_weights(params["lam"], grid.label_weights)
        lam, gamma = params["lam"], params["gamma"]
        if gamma == 0:
            every, rows = space.on_path
            path, rows = every.with_lam(lam), rows.with_lam(every.values, lam)
        else:
            path = weight_path(space.moments, lam, gamma)
            rows = path.of(space.features, space.mean, space.scale, space.weights)
        return rows.own_weights(Y, path.values, grid.label_weights)

    def lams(self, grid: Grid, choice: FeatureChoice | None = None) -> list[float]:
        """Return the λ to try with some features; None for the best ones."""
        unit = self.features.unit(choice or self.choice) if grid.in_units else 1.0
        return [float(lam * unit) for lam in grid.lams]

    def _try_ridges(self, choice: FeatureChoice, grid: Grid) -> None:
        """Try ridge regressions with every λ: one eigenvalue problem."""
        if self.out_of_time(str(choice)):
            return
        space = self.features(choice)
        named = self.features.params(choice) | {"gamma": 0.0, "correlation": "identity"}
        held_out = "one row" if self.features.filled is None else "a fold"
        scores = self._ridges(space)

        def value(lam: float) -> float:
            return self._value(scores(lam))

        first = not self.tried
        values = self.lams(grid, choice)
        found = {lam: value(lam) for lam in values} if first else climb(values, value)
        group = [
            Candidate(named | {"lam": lam}, found[lam], held_out)
            for lam in sorted(found)
        ]
        self.tried += group
        best = max(group, key=lambda candidate: candidate.value)
        self.reached[choice] = best.value
        if first or self._beats(best.value, choice):
            self.best, self.choice, self.space = best, choice, space
            self.graph = Graph(space)
        self.after(self)

    def _beats(self, value: float, choice: FeatureChoice) -> bool:
        """Return True if a choice is better than the best, or equal and scaled.

        Sparse rows are tried as they are first, dense ones scaled first, and features
        of variance 1 give both the same model but for rounding.
        """
        equal = np.isclose(value, self.best.value, rtol=_EQUAL, atol=0.0)
        if equal and choice.standardize != self.choice.standardize:
            return choice.standardize
        return value > self.best.value

    def _ridges(self, space: FeatureSpace) -> Callable[[float], Array]:
        """Return a function from λ to held-out scores, by folds if labels are missing.

        Missing labels of other rows were filled in with the labels of the row left out.
        """
        Y, filled = self.features.Y, self.features.filled
        if filled is not None:
            return RidgesByFolds(space, filled, self.seed)
        path, rows = space.on_path
        return lambda lam: self.measure.held_out(rows, Y, 1.0 / (path.values + lam))

    def _value(self, scores: Array) -> float:
        return self.measure(self.features.Y, scores, self.features.cells)

    @property
    def is_late(self) -> bool:
        """Return True after the deadline."""
        return time.monotonic() > self.deadline

    def out_of_time(self, what: str) -> bool:
        """Return True after the deadline, but not before the first features.

        ``what`` is then left out, and the report says so.

        All λ of the first features cost one factorization: no budget ends them, so
        that the model is at least a ridge regression with a chosen penalty.
        """
        late = bool(self.tried) and self.is_late
        self.was_cut_short = self.was_cut_short or late
        self.left_out += [what] if late else []
        return late


def climb(
    values: Sequence[float],
    value: Callable[[float], float],
    start: float | None = None,
) -> dict[float, float]:
    """Return the objective at values, from every third of them on uphill.

    With a ``start``, from there alone.
    """
    ordered = sorted(values)
    coarse: Iterable[int] = range(1, len(ordered), 3) if len(ordered) > 4 else [0]
    if start is not None:
        coarse = [int(np.argmin(np.abs(np.log(np.array(ordered) / start))))]
    found = {ordered[i]: value(ordered[i]) for i in coarse}
    while True:
        best = ordered.index(max(found, key=found.__getitem__))
        near = [i for i in (best - 1, best + 1) if 0 <= i < len(ordered)]
        fresh = [ordered[i] for i in near if ordered[i] not in found]
        if not fresh:
            return found
        found |= {x: value(x) for x in fresh}


def _next(values: Sequence[float], here: float) -> list[float]:
    """Return the values just below and just above one of them."""
    ordered = sorted(values)
    place = ordered.index(here)
    return ordered[max(place - 1, 0) : place] + ordered[place + 1 : place + 2]
