"""The solver on rows: the same solution as from moments, without their arrays."""

import subprocess
import sys
import tracemalloc
import warnings

import numpy as np
import pytest
from scipy import sparse

from conftest import random_rows
from homi import HOMI, memory
from homi.base.targets import check_target
from homi.graph import neighbor_laplacian
from homi.model.route import choose_route, choose_solver
from homi.model.rows_input import InMemoryRows
from homi.moments import Moments, column_scaling
from homi.paper.data_tables import printed_tables
from homi.solver import (
    Problem,
    RowsProblem,
    ScaledRows,
    label_blocks,
    memory_needs,
    objective,
    preconditioners,
    solve_rows,
    total,
)
from homi.solver.conjugate_gradients import solve_ridge
from homi.solver.label_blocks import AllDirections, LabelGram, LeadingDirections
from homi.solver.preconditioners import Diagonal, Factored
from homi.solver.rows_form import RowsForm
from homi.solver.subspace import SubspaceSweep


def odd_labels(Y):
    """A duplicated label, one that no row has and one that all have."""
    n = len(Y)
    return np.hstack([Y, Y[:, :1], np.zeros((n, 1)), np.ones((n, 1))])


def thinned(X):
    keep = np.random.default_rng(0).random(X.shape) < 0.3
    return sparse.csr_array(X * keep)


def problems(X, Y, n_neighbors=5, *, standardize=False, gamma=1.0, **hyper):
    """One problem twice: through moments and through rows."""
    mean, scale = column_scaling(X)
    units = {"mean": mean, "scale": scale} if standardize else {}
    L = neighbor_laplacian(X, n_neighbors, **units)
    moments = Moments.from_rows(X, Y).with_graph(X, L)
    if standardize:
        moments = moments.standardized()
    else:
        scale = np.ones_like(scale)
    given = RowsProblem.of(
        X,
        Y,
        mean=mean,
        scale=scale,
        standardize=standardize,
        L=L,
        gamma=gamma,
        **hyper,
    )
    return Problem(moments, gamma=gamma, **hyper), given


@pytest.fixture(params=["standardized", "raw"])
def both(request):
    X, Y = random_rows(3, n=40, m=12, q=5)
    standardize = request.param == "standardized"
    hyper = {"lam": 0.7, "beta": 1.5, "gamma": 0.9}
    return problems(thinned(X), Y, standardize=standardize, **hyper)


@pytest.fixture(params=[False, True], ids=["diagonal", "factored"])
def factored(request, monkeypatch):
    """Both preconditioners."""
    monkeypatch.setattr("homi.model.route.is_factored", lambda rows: request.param)
    return request.param


@pytest.fixture(params=["subspace", "lines"])
def sweeps(request, monkeypatch):
    """Both kinds of sweeps: for few labels, and for many."""
    if request.param == "lines":
        monkeypatch.setattr("homi.solver.subspace.MOST_LABELS", 0)


SHAPES = {
    "tall": (60, 12, 5),
    "wide": (60, 100, 4),
    "so wide that the rows are compacted": (40, 100, 4),
    "few features": (15, 3, 2),
    "many labels": (80, 10, 15),
}


def assert_one_answer(X, Y, **parameters):
    """Objective, term by term, and scores, both to 1e-6."""
    parameters = {"tol": 1e-15, "max_iter": 1000, "n_neighbors": 5} | parameters
    direct, iterative = (
        HOMI(solver=solver, **parameters).fit(X, Y)
        for solver in ("direct", "iterative")
    )
    assert (direct.solver_, iterative.solver_) == ("direct", "iterative")
    expected = total(direct.history_[-1])
    for name, value in iterative.history_[-1].items():
        assert abs(value - direct.history_[-1][name]) <= 1e-6 * expected
    scores = direct.decision_function(X)
    gap = np.abs(iterative.decision_function(X) - scores).max()
    assert gap <= 1e-6 * np.abs(scores).max()


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, thinned])
@pytest.mark.parametrize("gamma", [0.0, 1.0])
def test_both_solvers_give_one_answer(
    shape, standardize, kind, gamma, factored, sweeps
):
    X, Y = random_rows(1, *shape)
    assert_one_answer(kind(X), Y, standardize=standardize, gamma=gamma)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("gamma", [0.0, 0.1])
def test_both_solvers_give_one_answer_for_odd_labels(
    shape, standardize, gamma, factored, sweeps
):
    """With a stronger graph, combinations of labels that never vary sit on a saddle.

    Rounding errors then say when and where a solver leaves it.
    """
    X, Y = random_rows(1, *shape)
    X, Y = thinned(X), odd_labels(Y)
    assert_one_answer(X, Y, standardize=standardize, gamma=gamma)


def test_all_solvers_start_from_ridge_regression(factored):
    X, Y = random_rows(2, n=80, m=15, q=6)
    direct, iterative = (HOMI(solver=s).fit(X, Y) for s in ("direct", "iterative"))
    start = total(iterative.history_[0])
    assert start == pytest.approx(total(direct.history_[0]), rel=1e-2)
    assert direct.n_iter_ > 5
    assert 1 < iterative.n_iter_ <= direct.n_iter_


@pytest.mark.slow
def test_both_solvers_give_one_answer_on_bibtex(data, factored):
    X, Y, *_ = data("bibtex")
    assert_one_answer(X, Y[:, :20], n_neighbors=10, standardize=False)


@pytest.mark.slow
def test_the_iterative_solver_ends_no_higher_on_enron(data, factored):
    """Which has several minima: products with its rows lead to a lower one."""
    X, Y, *_ = data("enron")
    direct, iterative = (
        HOMI(solver=solver, standardize=False, tol=1e-12, max_iter=1000)
        .fit(X, Y[:, :20])
        .history_[-1]
        for solver in ("direct", "iterative")
    )
    assert total(iterative) <= total(direct) * (1 + 1e-6)


@pytest.mark.parametrize("leading", [None, 2])
def test_the_history_is_the_objective_of_what_is_returned(
    both, leading, factored, monkeypatch
):
    problem, given = both
    if leading:
        monkeypatch.setattr(label_blocks, "EXACT_LABELS", 1)
        monkeypatch.setattr(label_blocks, "LEADING", leading)
    solution = solve_rows(given, factored=factored, max_iter=20, tol=0.0)
    expected = objective(problem, solution.params)
    for name, value in solution.history[-1].items():
        assert value == pytest.approx(expected[name], rel=1e-8)
    values = np.array([total(terms) for terms in solution.history])
    assert len(values) > 3
    assert (np.diff(values) <= 1e-11 * values[0]).all()


def make_labels(given, rank):
    gram = LabelGram(given.Y, given.y_mean, given.beta, given.lam)
    if rank is None:
        return AllDirections(gram.dense(), given.beta, given.lam)
    return LeadingDirections(gram, given.beta, given.lam, rank)


@pytest.fixture(params=[None, 2, 5])
def started(request, both):
    """Return a problem of rows, and two of its weights."""
    _, given = both
    form = RowsForm(given, make_labels(given, request.param))
    return form, *np.random.default_rng(0).normal(size=(2, *form.start().shape))


def test_the_gradient_is_that_of_finite_differences(started):
    form, W, direction = started
    step = 1e-6
    sides = [form.evaluate(W + s * step * direction).value for s in (1, -1)]
    slope = (sides[0] - sides[1]) / (2 * step)
    point = form.evaluate(W)
    assert 2 * np.vdot(point.gradient, direction) == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("size", [0.0, 0.3, -2.0])
def test_a_line_is_the_objective_along_it(started, size):
    form, W, direction = started
    line = form.line(form.evaluate(W), direction)
    expected = form.evaluate(W + size * direction)
    assert line.value(size) == pytest.approx(expected.value, rel=1e-10)
    found = line.point(size)
    assert found.value == pytest.approx(expected.value, rel=1e-10)
    np.testing.assert_allclose(found.omega, expected.omega, rtol=1e-10)
    largest = np.abs(expected.gradient).max()
    np.testing.assert_allclose(found.gradient, expected.gradient, atol=1e-10 * largest)


def test_a_sweep_is_the_minimum_of_its_subspace(both):
    """No combination of weights, preconditioned gradient and last step is lower."""
    _, given = both
    labels = make_labels(given, None)
    form = RowsForm(given, labels)
    sweep, point = SubspaceSweep(form, labels), form.evaluate(form.start())
    for _ in range(2):
        direction = form.precondition(point, point.gradient.copy())
        before, point = point, sweep(point)
        assert point.value < before.value
        slopes = [np.abs(direction.T @ end.gradient).max() for end in (before, point)]
        assert slopes[1] < 0.1 * slopes[0]


@pytest.mark.parametrize("kind", [np.asarray, thinned])
@pytest.mark.parametrize("standardize", [True, False])
def test_the_factored_curvature_has_degrees_for_the_graph(kind, standardize):
    X, Y = random_rows(5, n=50, m=20, q=4)
    _, given = problems(kind(X), Y, gamma=0.6, standardize=standardize)
    R = np.random.default_rng(1).normal(size=(20, 4))
    found = Factored(given.rows, given.lam).divide_ridge(R)
    E = 1.0 + preconditioners._THETA * given.rows.degrees()
    X = given.rows.times(np.eye(20))
    A = X.T @ (E[:, None] * X) + given.lam * np.eye(20)
    np.testing.assert_allclose(A @ found, R, atol=1e-8)


@pytest.mark.parametrize("kind", [np.asarray, thinned])
def test_products_are_those_of_rows_written_out(kind):
    X, _ = random_rows(6, n=30, m=7)
    X[:, 1] += 100.0
    X = kind(X)
    dense = X.toarray() if sparse.issparse(X) else X
    mean, scale = column_scaling(X)
    rng = np.random.default_rng(2)
    last, V, E = rng.normal(size=7), rng.normal(size=(7, 3)), rng.normal(size=(31, 3))
    L = neighbor_laplacian(X, 3)
    rows = ScaledRows.of(X, mean, scale, last, L)
    expected = np.vstack([(dense - mean) / scale, last])
    np.testing.assert_allclose(rows.times(V), expected @ V, atol=1e-10)
    np.testing.assert_allclose(rows.transposed_times(E), expected.T @ E, atol=1e-10)
    np.testing.assert_allclose(rows.squares(), (expected**2).sum(axis=0))
    weights = rng.random(31)
    np.testing.assert_allclose(rows.squares(weights), weights @ expected**2)
    np.testing.assert_allclose(rows.graph_times(E)[:-1], L @ E[:-1], atol=1e-12)


def test_ridge_regression_is_solved(factored):
    X, Y = random_rows(5, n=50, m=20, q=4)
    problem, given = problems(thinned(X), Y, gamma=0.6)
    R = np.random.default_rng(1).normal(size=(20, 7))
    R[:, 3] = 0.0
    divide = (Factored if factored else Diagonal)(given.rows, given.lam).divide_ridge
    found = solve_ridge(given.rows, R, given.lam, 1e-12, divide)
    x = problem.moments.x_mean
    kept = problem.moments.n * given.lam / (problem.moments.n + given.lam)
    A = problem.moments.Sxx + kept * np.outer(x, x) + given.lam * np.eye(20)
    np.testing.assert_allclose(found, np.linalg.solve(A, R), rtol=1e-8, atol=1e-10)


def test_all_leading_directions_leave_nothing_out(both, factored, monkeypatch):
    _, given = both
    exact = solve_rows(given, factored=factored, max_iter=500, tol=1e-15)
    monkeypatch.setattr(label_blocks, "EXACT_LABELS", 1)
    monkeypatch.setattr(label_blocks, "LEADING", 5)
    free = solve_rows(given, factored=factored, max_iter=500, tol=1e-15)
    for one, two in zip(exact.params, free.params, strict=True):
        np.testing.assert_allclose(two, one, atol=1e-6 * np.abs(one).max())


def test_fewer_directions_cost_more_and_stay_diagonal_besides(both, monkeypatch):
    _, given = both
    best = total(solve_rows(given, max_iter=500, tol=1e-13).history[-1])
    monkeypatch.setattr(label_blocks, "EXACT_LABELS", 1)
    values = []
    for rank in (1, 2, 4):
        monkeypatch.setattr(label_blocks, "LEADING", rank)
        solution = solve_rows(given, max_iter=500, tol=1e-13)
        values.append(total(solution.history[-1]))
        B = solution.params.B
        U = LabelGram(given.Y, given.y_mean, 1.5, 0.7).leading(rank)
        across = np.linalg.svd(U, full_matrices=True)[0][:, rank:]
        # What the leading directions do not hold is d, the same on both sides.
        rest = across.T @ B @ across
        np.testing.assert_allclose(rest, rest.T, atol=1e-10)
        assert np.linalg.matrix_rank(B) == 5
    assert values[0] > values[1] > values[2] > best


def test_leading_directions_are_those_of_the_gram_matrix():
    _, Y = random_rows(7, n=90, m=5, q=20)
    gram = LabelGram(sparse.csr_array(Y), Y.mean(axis=0), 2.0, 1.0)
    moments = Moments.from_rows(np.ones((90, 1)), Y)
    full = Problem(moments, beta=2.0).joint_YtY
    np.testing.assert_allclose(gram.dense(), full, atol=1e-10)
    np.testing.assert_allclose(gram.diagonal(), np.diag(full), atol=1e-10)
    U = gram.leading(6)
    np.testing.assert_allclose(U.T @ U, np.eye(6), atol=1e-12)
    best = np.linalg.eigvalsh(full)[-6:].sum()
    assert 0.97 * best < np.trace(U.T @ full @ U) <= best


@pytest.mark.parametrize("kind", [np.asarray, thinned, sparse.csc_array])
def test_the_units_are_those_of_the_moments(kind):
    X, Y = random_rows(8, n=30, m=6)
    X[:, 2] = 1e6 + 1e-3 * X[:, 2]
    X[:, 3] = 7.0
    X = kind(X)
    moments = Moments.from_rows(X, Y)
    mean, scale = column_scaling(X)
    np.testing.assert_allclose(mean, moments.x_mean, rtol=1e-12)
    np.testing.assert_allclose(scale, moments.scale(), rtol=1e-6)


REFUSED = {
    "sweep": {"sweep": "paper"},
    "init": {"init": "random"},
    "correlation": {"correlation": "identity"},
    "kernel": {"kernel": "rbf"},
    "lam": {"lam": 0.0},
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_iterative_solver_cannot_do_is_said(name):
    X, Y = random_rows()
    with pytest.raises(
        ValueError, match=f'solver="iterative" cannot be used with {name}='
    ):
        HOMI(solver="iterative", **REFUSED[name]).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert HOMI(solver="auto", **REFUSED[name]).fit(X, Y).solver_ == "direct"


def test_no_array_of_features_by_features_is_ever_there():
    n, m = 200, 3000
    rng = np.random.default_rng(0)
    X = sparse.random_array((n, m), density=0.005, format="csr", random_state=rng)
    Y = (X[:, :3].toarray() > 0).astype(float)
    Y[:, 0] = rng.random(n) > 0.5
    tracemalloc.start()
    HOMI(max_iter=3, tol=0.1, solver="iterative").fit(X, Y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * m * m / 3


def test_auto_is_direct_for_all_sets_of_the_paper_and_iterative_for_text():
    for entry in printed_tables():
        n, m, n_labels = (int(entry["table_2"][name]) for name in "nml")
        # One word a row is the least that keeps m features from being too many.
        assert choose_solver(n, m, n_labels, n)[0] == "direct"
    assert choose_solver(10**5, 10**5, 10, 10**7)[0] == "iterative"
    assert choose_solver(10**5, 1_000, 10_000, 10**7)[0] == "iterative"
    # 17 words a row, of 3,125: an eigenvalue problem takes ten times as long.
    assert choose_solver(3_782, 3_125, 20, 63_867)[0] == "iterative"


def test_auto_takes_the_iterative_solver_where_there_are_many_features():
    rng = np.random.default_rng(0)
    X = sparse.random_array((60, 2_500), density=0.002, format="csr", random_state=rng)
    Y = (rng.random((60, 2)) > 0.5).astype(int)
    model = HOMI(max_iter=2, tol=0.5).fit(X, Y)
    assert (model.solver_, model.label_rank_) == ("iterative", 2)
    assert model.predict(X).shape == (60, 2)


def test_what_does_not_fit_is_refused_with_the_bytes_it_needs(monkeypatch):
    X, Y = random_rows()
    route = choose_route(
        HOMI(solver="iterative").get_params(), InMemoryRows(X, check_target(Y))
    )
    needed = memory_needs.bytes_iterative(40, 8, 4, 320, factored=route.factored)
    monkeypatch.setattr(memory, "available", lambda: needed - 1)
    with pytest.raises(MemoryError, match=f"needs about {needed:,} bytes"):
        HOMI(solver="iterative").fit(X, Y)
    monkeypatch.setattr(memory, "available", lambda: needed)
    HOMI(solver="iterative").fit(X, Y)


LARGE = """
import resource, numpy as np
from scipy import sparse
from homi import HOMI
rng = np.random.default_rng(0)
X = sparse.random_array((20_000, 50_000), density=0.002, format="csr", random_state=rng)
Y = sparse.random_array((20_000, 5), density=0.1, format="csr", random_state=rng) > 0
model = HOMI(max_iter=3, tol=1e-3).fit(X, Y)
assert model.solver_ == "iterative"
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


@pytest.mark.slow
def test_fifty_thousand_features_need_no_twenty_gigabytes():
    done = subprocess.run(
        [sys.executable, "-c", LARGE], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 2e9
