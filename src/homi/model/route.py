"""Choose the graph, the solver and the space of a fit, once."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from homi import memory
from homi.arrays import dense
from homi.graph import neighbor_laplacian
from homi.graph.approximate import ApproximateSearch
from homi.linalg import Array
from homi.model.add_label import LabelRegression
from homi.model.features import is_compacted
from homi.model.fitted_attributes import Scaling
from homi.model.graphs import Sums
from homi.model.kernel_map import KernelMap
from homi.model.requires import check, unmet
from homi.model.rows_input import Built, InMemoryRows, RowsInput
from homi.moments import column_scaling
from homi.solver import (
    EXACT_LABELS,
    OnSweep,
    Problem,
    RowsProblem,
    Solution,
    compacted,
    correct,
    costs,
    is_wide,
    label_rank,
    leave_one_out,
    memory_needs,
    random_params,
    solve,
    solve_identity,
    solve_rows,
)
from homi.typing import Fields, Matrix

#: Up to this many features (and EXACT_LABELS labels) the direct solver is taken, unless
#: rows are few.
FEW_FEATURES = 2_000

#: The direct solver is not chosen where it needs more bytes than this.
DIRECT_BYTES = 4 * 2**30

log = logging.getLogger("homi")

#: Scaling and kernel map of the features -> what is called after each sweep, if any.
MakeHook = Callable[[Scaling, KernelMap | None], OnSweep | None]


class Fitted(NamedTuple):
    """Result of a fit: a solution, its scaling, and facts about the route."""

    solution: Solution
    scaling: Scaling
    graph: str
    solver: str
    label_rank: int
    kernel_map: KernelMap | None = None
    sums: Sums | None = None
    recall: float | None = None
    filled: Array | None = None
    #: What a label that is added later is solved from.
    label_regression: LabelRegression | None = None


@dataclass(frozen=True)
class Route:
    """Graph, solver and space of a fit, with the parameters it was chosen for."""

    settings: SimpleNamespace
    graph: str
    solver: str
    #: Whether to work in the space of the rows instead of that of the features.
    compact: bool = False
    #: Whether the iterative solver factors a Gram matrix.
    factored: bool = False

    def fit(self, rows: RowsInput, make_hook: MakeHook) -> Fitted:
        """Fit to rows; ``make_hook`` gives what is called after each sweep."""
        held = rows.in_memory if self.solver == "iterative" else None
        try:
            if held is None:
                fitted = self._fit_moments(rows, make_hook)
            else:
                fitted = self._fit_rows(held, make_hook)
        except np.linalg.LinAlgError as error:
            raise ValueError(self._not_finite()) from error
        params = fitted.solution.params
        if not (np.isfinite(params.W).all() and np.isfinite(params.B).all()):
            raise ValueError(self._not_finite())
        return fitted

    def _not_finite(self) -> str:
        settings = self.settings
        return (
            f"the solution is not finite with lam={settings.lam:g}, beta="
            f"{settings.beta:g} and gamma={settings.gamma:g}: they are too far apart "
            "for double precision; use values nearer to 1."
        )

    def rng(self) -> np.random.RandomState:
        """Return a generator from the parameter ``random_state``."""
        return check_random_state(self.settings.random_state)

    def seed(self) -> int:
        """Return a number from the parameter ``random_state``."""
        return int(self.rng().randint(2**31 - 1))

    def _fit_moments(self, rows: RowsInput, make_hook: MakeHook) -> Fitted:
        settings, label_weight = self.settings, rows.given["label_weight"]
        built = rows.build(self)
        features = built.features
        problem = Problem(
            features.moments,
            settings.lam,
            settings.beta,
            settings.gamma,
            settings.penalize_bias,
            label_weight,
        )
        if settings.correlation == "labels":
            solution = self._solve(
                problem, make_hook(features.scaling, features.kernel_map)
            )
        else:
            solution = self._solve_closed_form(problem, built)
        return Fitted(
            solution,
            features.scaling,
            self.graph,
            self.solver,
            rows.n_labels,
            features.kernel_map,
            # Weights of labels are not in the sums.
            built.sums if label_weight is None else None,
            built.recall,
            built.filled,
            LabelRegression.of(problem, features)
            if settings.correlation == "identity"
            else None,
        )

    def _solve(self, problem: Problem, on_sweep: OnSweep | None) -> Solution:
        start = None
        if self.settings.init == "random":
            start = random_params(problem, self.rng())
        return solve(
            problem,
            sweep=self.settings.sweep,
            start=start,
            max_iter=self.settings.max_iter,
            tol=self.settings.tol,
            on_sweep=on_sweep,
        )

    def _solve_closed_form(self, problem: Problem, built: Built) -> Solution:
        """B = I, and then, if asked for, a correction from leave-one-out scores."""
        solution = solve_identity(problem)
        if self.settings.correlation == "identity":
            return solution
        features, Y = built.features, built.labels
        P = leave_one_out(
            problem,
            features.features,
            Y,
            solution.params.B,
            mean=features.mean,
            scale=features.scale,
            weights=features.weights,
        )
        params = correct(
            solution.params,
            P,
            dense(Y),
            self.settings.beta,
            features.weights,
            problem.label_weight,
        )
        return replace(solution, params=params)

    def _fit_rows(self, rows: InMemoryRows, make_hook: MakeHook) -> Fitted:
        settings = self.settings
        center, scale = column_scaling(rows.X)
        mean = center
        if not settings.standardize:
            mean, scale = np.zeros_like(center), np.ones_like(scale)
        L, recall = self._laplacian(rows.X, mean, scale)
        given = RowsProblem.of(
            rows.X,
            rows.target.indicator,
            mean=center,
            scale=scale,
            standardize=settings.standardize,
            L=L,
            lam=settings.lam,
            beta=settings.beta,
            gamma=settings.gamma,
        )
        scaling = Scaling(mean, scale)
        if self.compact:
            given, basis = compacted(given)
            scaling = Scaling(mean, scale, basis)
        solution = solve_rows(
            given,
            factored=self.factored,
            max_iter=settings.max_iter,
            tol=settings.tol,
            on_sweep=make_hook(scaling, None),
        )
        rank = label_rank(rows.n_labels)
        return Fitted(solution, scaling, self.graph, self.solver, rank, recall=recall)

    def _laplacian(self, X: Matrix, mean: Array, scale: Array) -> tuple[Matrix, Matrix]:
        """L of the rows, and its recall where it is approximate."""
        if self.graph == "none":
            return None, None
        laplacian = partial(
            neighbor_laplacian, X, self.settings.n_neighbors, mean=mean, scale=scale
        )
        if self.graph == "exact":
            return laplacian(), None
        search = ApproximateSearch(self.seed())
        return laplacian(search=search), search.recall


def choose_route(params: Fields, rows: RowsInput) -> Route:
    """Choose graph and solver for the parameters of HOMI and its rows.

    | route | taken where |
    | --- | --- |
    | direct | few features, or a parameter that only this solver takes |
    | direct, compact | the same, but fewer rows than features |
    | iterative, factored | a Gram matrix costs less than many products with rows |
    | iterative, compact | the same, but fewer rows than features |
    | iterative | everything else: products with the rows as they are |

    The reason is logged. Raise ValueError for parameters that do not go together, and
    MemoryError for what does not fit.
    """
    settings = SimpleNamespace(**params)
    given = params | rows.given
    if rows.way:
        check(rows.way, given)
    for name in ("sample_weight", "label_weight"):
        if given[name] is not None:
            check(name, given)
    if settings.solver == "iterative":
        check('solver="iterative"', given)
    graph = rows.graph(settings.graph) if settings.gamma > 0 else "none"
    if given["sample_weight"] is not None:
        check("sample_weight", given | {"graph": graph})
    held = rows.in_memory
    if held is None:
        return _direct(settings, rows, graph, why="")
    if why := unmet('solver="iterative"', given):
        return _direct(settings, rows, graph, why)
    solver, why = settings.solver, "it was requested."
    if solver == "auto":
        solver, why = choose_solver(*held.shape, held.n_labels, held.n_stored)
    return (_direct if solver == "direct" else _iterative)(settings, held, graph, why)


def _direct(settings: SimpleNamespace, rows: RowsInput, graph: str, why: str) -> Route:
    n, m = rows.shape
    # Without a penalty nothing keeps W in the space of the rows, and no batch can be
    # added to sums in that space.
    compact = (
        rows.in_memory is not None
        and settings.kernel is None
        and settings.lam > 0
        and graph != "anchors"
        and is_compacted(n, m)
    )
    size = 0 if settings.kernel else n + 1 if compact else m
    check_direct(size)
    least = partial(memory_needs.bytes_least_direct, size)
    memory.check_labels(least, rows.n_labels, "HOMI")
    return _logged(Route(settings, graph, "direct", compact), why)


def _iterative(
    settings: SimpleNamespace, rows: InMemoryRows, graph: str, why: str
) -> Route:
    (n, m), stored = rows.shape, rows.n_stored
    factored = is_factored(rows)
    compact = factored and is_wide(n, m)
    memory.check_labels(
        lambda count: memory_needs.bytes_iterative(
            n, m, count, stored, factored=factored, compact=compact
        ),
        rows.n_labels,
        "HOMI",
    )
    # It takes a sparse graph; where anchors would suit it better, an approximate one.
    graph = "approximate" if graph == "anchors" else graph
    return _logged(Route(settings, graph, "iterative", compact, factored), why)


def _logged(route: Route, why: str) -> Route:
    if why:
        space = " in the space of the rows" if route.compact else ""
        log.info("the solver is %r%s: %s", route.solver, space, why)
    return route


def choose_solver(n: int, m: int, n_labels: int, nnz: int) -> tuple[str, str]:
    """Return "direct" where m × m and l × l arrays fit and cost least, and the reason.

    n rows of m features have ``nnz`` stored values; otherwise it is "iterative".
    """
    if n_labels > EXACT_LABELS:
        return "iterative", f"{n_labels:,} labels are too many for l × l arrays."
    if memory_needs.bytes_direct(m, n_labels) > DIRECT_BYTES:
        return "iterative", f"{m:,} features are too many for m × m arrays."
    if is_compacted(n, m) or (n < m and m > FEW_FEATURES):
        return "iterative", f"the {n:,} rows are fewer than the {m:,} features."
    if m <= FEW_FEATURES:
        return "direct", f"m × m arrays of {m:,} features are small."
    iterative = min(
        costs.work_products(n, m, n_labels, nnz),
        costs.work_factored(n, m, n_labels, nnz),
    )
    if costs.work_direct(n, m, n_labels, nnz) > iterative:
        return "iterative", f"products with {nnz:,} stored values are cheaper."
    return "direct", f"an eigenvalue problem of {m:,} features is cheaper."


def is_factored(rows: InMemoryRows) -> bool:
    """Return whether a Gram matrix costs less than products with the rows alone."""
    sizes = *rows.shape, rows.n_labels, rows.n_stored
    if min(rows.shape) > costs.MOST_ROWS:
        return False
    products = costs.work_products(*sizes, costs.inequality(rows.X))
    return costs.work_factored(*sizes) <= products


def check_direct(m: int) -> None:
    """Raise MemoryError for m features whose moments do not fit."""
    # Two arrays of this size are the least: G and H.
    memory.check(16 * m * m, "the direct solver")
