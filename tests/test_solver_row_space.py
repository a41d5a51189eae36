"""Few rows of many features: the problem in the row space."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from conftest import Watch, needs_callbacks, random_rows
from homi import HOMI, HOMICV, memory
from homi.base.targets import check_target
from homi.graph import neighbor_laplacian
from homi.model.features import is_compacted
from homi.model.route import choose_route, choose_solver, is_factored
from homi.model.rows_input import InMemoryRows
from homi.moments import column_scaling
from homi.solver import (
    RowsProblem,
    compacted,
    is_wide,
    memory_needs,
    solve_rows,
    total,
)


def thinned(X):
    keep = np.random.default_rng(0).random(X.shape) < 0.3
    # A column that is stored in every row is centered as it is.
    keep[:, 0] = True
    return sparse.csr_array(X * keep)


def given_of(X, Y, standardize, n_neighbors=None):
    mean, scale = column_scaling(X)
    L = n_neighbors and neighbor_laplacian(X, n_neighbors, mean=mean, scale=scale)
    if not standardize:
        scale = np.ones_like(scale)
    units = {"mean": mean, "scale": scale, "standardize": standardize}
    return RowsProblem.of(X, Y, **units, L=L, lam=0.3)


def written_out(given, X, standardize):
    """Rows as the regression sees them, and below them the share of their mean."""
    X = X.toarray() if sparse.issparse(X) else X
    n, lam = len(X), given.lam
    mean, scale = X.mean(axis=0), X.std(axis=0) if standardize else 1.0
    share = np.zeros_like(mean) if standardize else mean
    return np.vstack([(X - mean) / scale, np.sqrt(n * lam / (n + lam)) * share])


@pytest.fixture(params=[np.asarray, thinned], ids=["dense", "sparse"])
def kind(request):
    return request.param


@pytest.mark.parametrize("standardize", [True, False])
def test_products_of_rows_are_those_of_rows_written_out(kind, standardize, monkeypatch):
    monkeypatch.setattr("homi.solver.scaled_rows._GRAM_ROWS", 7)
    X, Y = random_rows(1, n=30, m=90)
    X = kind(X)
    given = given_of(X, Y, standardize)
    rows = written_out(given, X, standardize)
    np.testing.assert_allclose(given.rows.gram(), rows @ rows.T, atol=1e-10)


@pytest.mark.parametrize("standardize", [True, False])
def test_the_basis_leads_from_the_space_of_the_rows_to_features(kind, standardize):
    X, Y = random_rows(1, n=30, m=90)
    X = kind(X)
    given = given_of(X, Y, standardize)
    inside, basis = compacted(given)
    rank = inside.rows.shape[1]
    # Centering takes a dimension away; the share of the mean brings one back.
    assert rank == (29 if standardize else 30)
    Q = basis.written_out()
    np.testing.assert_allclose(Q.T @ Q, np.eye(rank), atol=1e-10)
    rows = np.vstack([inside.rows.X, inside.rows.mean_row]) @ Q.T
    np.testing.assert_allclose(rows, written_out(given, X, standardize), atol=1e-10)
    np.testing.assert_allclose(inside.x_mean @ Q.T, given.x_mean, atol=1e-10)


def test_weights_can_be_written_transposed_and_in_blocks(kind, monkeypatch):
    X, Y = random_rows(1, n=30, m=90)
    inside, basis = compacted(given_of(kind(X), Y, True))
    W = np.random.default_rng(0).normal(size=(inside.rows.shape[1], 300))
    plain = basis.widen(W, np.empty((90, 300)))
    monkeypatch.setattr("homi.solver.scaled_rows._CACHE", 1)
    across = np.empty((300, 90))
    basis.widen(W, across.T)
    np.testing.assert_allclose(across.T, plain, rtol=1e-12, atol=1e-14)


def nearly_equal_rows(X):
    X[1] = X[0]
    X[2] = X[0] + 1e-9 * X[3]
    X[5:9] = X[4]
    return X


def few_directions(X):
    return X[:, :5] @ np.random.default_rng(0).normal(size=(5, X.shape[1]))


def one_row_again_and_again(X):
    X[:] = X[0]
    return X


ODD = {
    "rows that are nearly equal": nearly_equal_rows,
    "few directions": few_directions,
    "one row again and again": one_row_again_and_again,
    "large values": lambda X: 1e5 * X,
    "a mean far off": lambda X: X + 1e4,
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_odd_rows_have_the_direct_solvers_answer(odd, standardize):
    X, Y = random_rows(2, n=30, m=90, q=3)
    X = odd(X)
    parameters = {"standardize": standardize, "tol": 1e-15, "max_iter": 1000}
    assert is_factored(InMemoryRows(X, check_target(Y)))
    direct, inside = (
        HOMI(solver=solver, gamma=0.1, **parameters).fit(X, Y)
        for solver in ("direct", "iterative")
    )
    expected = total(direct.history_[-1])
    assert total(inside.history_[-1]) == pytest.approx(expected, rel=1e-6)
    scores = direct.decision_function(X)
    np.testing.assert_allclose(inside.decision_function(X), scores, atol=2e-5)


@pytest.mark.parametrize("name", ["feature_weights_", "coef_", "intercept_"])
def test_what_is_learned_is_in_the_features_as_given(kind, name):
    X, Y = random_rows(4, n=40, m=150, q=4)
    X = kind(X)
    direct, inside = (
        HOMI(solver=solver, tol=1e-15, max_iter=1000).fit(X, Y)
        for solver in ("direct", "iterative")
    )
    found, expected = getattr(inside, name), getattr(direct, name)
    assert found.flags.c_contiguous
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())
    # B is applied before the features are: the same product in another order.
    whole = inside.feature_weights_ @ inside.label_correlation_
    np.testing.assert_allclose(inside.coef_, whole.T, atol=1e-10)


@pytest.mark.parametrize("factored", [False, True])
def test_the_minimum_is_that_of_rows_as_they_are(kind, factored):
    X, Y = random_rows(4, n=30, m=90)
    given = given_of(kind(X), Y, True, n_neighbors=5)
    inside, _ = compacted(given)
    plain = solve_rows(given, max_iter=500, tol=1e-13)
    small = solve_rows(inside, max_iter=500, tol=1e-13, factored=factored)
    expected = total(plain.history[-1])
    assert total(small.history[-1]) == pytest.approx(expected, rel=1e-9)


def test_auto_is_iterative_for_few_rows_of_many_features_only():
    for shape in ((100, 1_000, 5, 100_000), (500, 5_000, 50, 2_500_000)):
        assert choose_solver(*shape)[0] == "iterative"
    for shape in ((100, 999, 5, 99_900), (1_000, 1_000, 5, 10**6)):
        assert choose_solver(*shape)[0] == "direct"
    # Fewer rows than features: no matrix of features, however many values are stored.
    assert choose_solver(2_000, 3_298, 40, 10**6)[0] == "iterative"
    # More rows than the factor is worth.
    assert not is_wide(20_000, 100_000)


def text(n, m, words, seed=0):
    """Rows of so many words each, and two labels."""
    rng = np.random.default_rng(seed)
    columns = np.concatenate([rng.choice(m, size) for size in words])
    places = np.repeat(np.arange(n), words), columns
    X = sparse.csr_array((np.ones(len(columns)), places), shape=(n, m))
    return InMemoryRows(X, check_target((rng.random((n, 2)) > 0.5).astype(int)))


def test_rows_are_factored_where_products_cost_more():
    few, many = np.full(3_000, 10), np.full(300, 100)
    assert not is_factored(text(3_000, 4_000, few))
    assert is_factored(text(300, 4_000, many))
    # One long text makes products with rows converge slowly.
    rows = np.full(1_000, 30)
    assert not is_factored(text(1_000, 4_000, rows))
    rows[0] = 3_000
    assert is_factored(text(1_000, 4_000, rows))


def test_memory_is_that_of_the_model_and_not_of_the_descent():
    n, m, n_labels = 60, 20_000, 200
    rng = np.random.default_rng(0)
    X = sparse.random_array((n, m), density=0.05, format="csr", random_state=rng)
    Y = (rng.random((n, n_labels)) < 0.2).astype(float)
    W = 8 * m * n_labels
    tracemalloc.start()
    model = HOMI(max_iter=3, tol=0.1).fit(X, Y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.solver_ == "iterative"
    # W alone and times B, and blocks of them.
    assert peak < 3.2 * W
    needed = memory_needs.bytes_iterative(
        n, m, n_labels, X.nnz, factored=True, compact=True
    )
    assert peak < needed + W
    assert needed < 4 * W


@needs_callbacks
def test_the_models_of_single_sweeps_have_the_features_as_given(kind):
    X, Y = random_rows(5, n=30, m=90)
    X, watch = kind(X), Watch()
    model = HOMI(solver="iterative").set_callbacks(watch).fit(X, Y)
    last = watch.models[-1]
    assert last.coef_.shape == (4, 90)
    np.testing.assert_allclose(last.coef_, model.coef_)


@pytest.fixture
def few_rows(kind, monkeypatch):
    """Rows that are compacted; the threshold is lowered so that fits are quick."""
    monkeypatch.setattr("homi.model.features.MANY_FEATURES", 100)
    X, Y = random_rows(6, n=50, m=200)
    assert is_compacted(*X.shape)
    return kind(X), Y


def without_row_space(monkeypatch):
    """From here on no rows are compacted."""
    monkeypatch.setattr("homi.model.features.MANY_FEATURES", 10**9)


VARIANTS = {
    "labels": {},
    "identity": {"correlation": "identity"},
    "held-out": {"correlation": "held-out", "penalize_bias": False},
    "without a graph": {"gamma": 0.0, "correlation": "identity"},
    "the sweep of the paper": {"sweep": "paper", "max_iter": 8, "tol": 0.0},
    "approximate": {"graph": "approximate", "random_state": 0},
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_the_direct_solver_has_one_answer(few_rows, variant, standardize, monkeypatch):
    X, Y = few_rows
    parameters = {"solver": "direct", "standardize": standardize, "tol": 1e-13}
    inside = HOMI(**parameters | variant).fit(X, Y)
    without_row_space(monkeypatch)
    plain = HOMI(**parameters | variant).fit(X, Y)
    for name in ("coef_", "intercept_", "feature_bias_", "label_correlation_"):
        found, expected = getattr(inside, name), getattr(plain, name)
        size = np.abs(expected).max()
        np.testing.assert_allclose(found, expected, atol=1e-6 * size, err_msg=name)


@pytest.mark.parametrize("standardize", [True, False])
def test_weights_of_rows_and_labels_have_one_answer(few_rows, standardize, monkeypatch):
    (X, Y), rng = few_rows, np.random.default_rng(0)
    weights = {
        "sample_weight": rng.integers(0, 4, size=50),
        "label_weight": rng.random(4) + 0.5,
    }
    model = HOMI(standardize=standardize, tol=1e-13, max_iter=500)
    inside = model.fit(X, Y, **weights).decision_function(X)
    assert model.solver_ == "direct"
    without_row_space(monkeypatch)
    np.testing.assert_allclose(
        inside, model.fit(X, Y, **weights).decision_function(X), atol=1e-6
    )


@pytest.mark.parametrize("standardize", [True, False])
def test_labels_that_are_not_known_are_filled_in_alike(
    few_rows, standardize, monkeypatch
):
    (X, Y), rng = few_rows, np.random.default_rng(0)
    Y[rng.random(Y.shape) < 0.3] = np.nan
    # Rows of weight 0 are not in the space, but have labels to be filled in.
    weights = (rng.random(50) < 0.8).astype(float)
    model = HOMI(missing_labels="ignore", standardize=standardize, tol=1e-13)
    inside = model.fit(X, Y, sample_weight=weights)
    filled, scores = inside.filled_labels_, inside.decision_function(X)
    without_row_space(monkeypatch)
    model.fit(X, Y, sample_weight=weights)
    np.testing.assert_allclose(filled, model.filled_labels_, atol=1e-6)
    np.testing.assert_allclose(scores, model.decision_function(X), atol=1e-6)


def test_homi_cv_chooses_the_same(few_rows, monkeypatch):
    X, Y = few_rows
    settings = {"random_state": 0, "kernels": [], "gammas": [1.0], "n_neighbors": [5]}
    inside = HOMICV(**settings).fit(X, Y)
    without_row_space(monkeypatch)
    plain = HOMICV(**settings).fit(X, Y)
    assert inside.best_params_ == pytest.approx(plain.best_params_)
    np.testing.assert_allclose(
        inside.cv_results_["score"], plain.cv_results_["score"], atol=1e-6
    )
    np.testing.assert_allclose(
        inside.decision_function(X), plain.decision_function(X), atol=1e-4
    )


NOT_COMPACTED = {
    "no penalty": {"lam": 0.0},
    "anchors": {"graph": "anchors"},
    "a kernel": {"kernel": "rbf"},
}


@pytest.mark.parametrize("name", NOT_COMPACTED)
def test_what_needs_the_features_themselves_gets_them(name):
    X, Y = random_rows(8, n=50, m=1000)
    rows = InMemoryRows(X, check_target(Y))
    direct = {"solver": "direct"}
    assert choose_route((HOMI().get_params() | direct), rows).compact
    given = HOMI(**NOT_COMPACTED[name]).get_params() | direct
    assert not choose_route(given, rows).compact


def test_anchors_are_left_to_the_direct_solver():
    X, Y = random_rows(8, n=60, m=1000)
    model = HOMI(graph="anchors", random_state=0).fit(X, Y)
    assert (model.solver_, model.graph_) == ("direct", "anchors")
    with pytest.raises(ValueError, match=r"cannot be used with graph='anchors'"):
        HOMI(graph="anchors", solver="iterative").fit(X, Y)


def test_homi_cv_refuses_what_does_not_fit(monkeypatch):
    X, Y = random_rows(8, n=60, m=100)
    monkeypatch.setattr(memory, "available", lambda: 16 * 100**2 - 1)
    with pytest.raises(MemoryError, match="needs about 160,000 bytes"):
        HOMICV(kernels=[]).fit(X, Y)
