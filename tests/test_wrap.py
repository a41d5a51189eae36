"""WRAP against its objective written out row by row, and against earlier runs."""

import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

import contract_checks
from conftest import random_rows
from homi.methods import wrap, wrap_solver
from homi.methods.label_graph import cosine_similarity, laplacian
from homi.methods.proximal import Quadratic, descend, soft_threshold
from homi.methods.wrap import WRAP
from homi.metrics import PAPER_METRICS, evaluate, macro_auc
from homi.moments import Moments


def fit(X, Y, *args, **kwargs):
    """A fit that may end at max_iter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return WRAP(*args, **kwargs).fit(X, Y)


@pytest.mark.filterwarnings("ignore")
@contract_checks.parametrize([WRAP(0.1, 0.1, standardize=False)])
def test_scikit_learn_contract(estimator, expected):
    contract_checks.check_parameters(estimator, expected)


def test_defaults_and_grid():
    model = WRAP()
    assert (model.lam1, model.lam2, model.lam3, model.alpha) == (5, 5, 0.1, 0.9)
    grid = {"lam1": list(range(1, 11)), "lam2": list(range(1, 11))}
    assert WRAP.paper_grid == grid
    assert WRAP.reconstruction


def similarity(Y, p, q):
    lengths = np.linalg.norm(Y[:, p]) * np.linalg.norm(Y[:, q])
    return Y[:, p] @ Y[:, q] / lengths if lengths > 0 else 0.0


def literal_terms(X, Y, U, V, b, lam):
    """The terms of the objective from rows and pairs of labels."""
    residual = Y - X @ U @ V - np.ones((len(X), 1)) @ b[None]
    pairs = sum(
        similarity(Y, p, q) * np.sum((V[:, p] - V[:, q]) ** 2)
        for p, q in combinations(range(Y.shape[1]), 2)
    )
    return {
        "loss": 0.5 * np.sum(residual**2),
        "specific": lam[0] * np.abs(V).sum(),
        "correlation": lam[1] / 2 * pairs,
        "ridge": lam[2] / 2 * np.sum(U**2),
    }


def standardized(X):
    scale = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0)


def parts(model, X, *, standardize=True):
    """U, V and b of the features that the method saw."""
    scale = X.std(axis=0) if standardize else np.ones(X.shape[1])
    shift = X.mean(axis=0) if standardize else np.zeros(X.shape[1])
    U = model.embedding_ * scale[:, None]
    b = model.intercept_ + 0.5 + model.coef_ @ shift
    return U, model.label_weights_, b


PROBLEMS = {
    "plain": {},
    "wide": {"n": 12, "m": 20, "q": 5},
    "many labels": {"m": 4, "q": 9},
    "one label": {"q": 1},
}


@pytest.mark.parametrize("shape", PROBLEMS)
@pytest.mark.parametrize("standardize", [True, False])
def test_history_is_the_objective_and_falls(shape, standardize):
    X, Y = random_rows(1, **PROBLEMS[shape])
    lam = (0.3, 0.7, 0.2)
    model = fit(X, Y, *lam, standardize=standardize, max_iter=30, tol=0)
    U, V, b = parts(model, X, standardize=standardize)
    rows = standardized(X) if standardize else X
    expected = literal_terms(rows, Y, U, V, b, lam)
    assert model.history_[-1].keys() == expected.keys()
    for name, value in expected.items():
        assert model.history_[-1][name] == pytest.approx(value, rel=1e-8, abs=1e-9)
    totals = np.array([sum(terms.values()) for terms in model.history_])
    assert (np.diff(totals) <= 1e-12 * totals[0]).all()
    assert totals[-1] < totals[0]
    assert len(totals) == model.n_iter_
    np.testing.assert_allclose(model.embedding_ @ V, model.coef_.T, atol=1e-12)


def make_problem(X, Y, lam):
    """The problem in its own basis, and E, of rows that are centered."""
    moments = Moments.from_rows(X - X.mean(axis=0), Y - Y.mean(axis=0))
    return wrap_solver.WRAPProblem.of(
        moments, laplacian(cosine_similarity(Y.T @ Y)), *lam
    )


@pytest.fixture(params=["plain", "wide", "many labels"])
def setting(request):
    X, Y = random_rows(3, **PROBLEMS[request.param])
    lam = (0.4, 1.5, 0.3)
    problem, E = make_problem(X, Y, lam)
    U, V = wrap_solver.start(problem, 3)
    return X, Y, lam, problem, E, U, V


def test_the_start_is_the_cut_ridge_solution(setting):
    X, Y, lam, _, E, U, V = setting
    Xc, Yc = X - X.mean(axis=0), Y - Y.mean(axis=0)
    ridge = np.linalg.solve(Xc.T @ Xc + lam[2] * np.eye(X.shape[1]), Xc.T @ Yc)
    P, sigma, Qt = np.linalg.svd(ridge)
    cut = P[:, :3] @ np.diag(sigma[:3]) @ Qt[:3]
    np.testing.assert_allclose(E @ U @ V, cut, atol=1e-10)
    np.testing.assert_allclose(U.T @ U, np.diag(sigma[:3]), atol=1e-10)
    np.testing.assert_allclose(V @ V.T, np.diag(sigma[:3]), atol=1e-10)


def literal_U(X, Y, V, lam3):
    """``GU(VVᵀ) + λ₃U = CVᵀ`` as one system of all entries of U."""
    Xc, Yc = X - X.mean(axis=0), Y - Y.mean(axis=0)
    G, C, (m, d) = Xc.T @ Xc, Xc.T @ Yc, (X.shape[1], len(V))
    system = np.kron(G, V @ V.T) + lam3 * np.eye(m * d)
    return np.linalg.solve(system, (C @ V.T).ravel()).reshape(m, d)


def test_U_solves_its_equation(setting):
    X, Y, lam, problem, E, _, V = setting
    U = E @ wrap_solver.update_U(problem, V)
    np.testing.assert_allclose(U, literal_U(X, Y, V, lam[2]), atol=1e-9)


def smooth_gradient(X, Y, U, V, lam, block, step=1e-5):
    """Central differences of all terms but the absolute values, with the best b."""

    def value(U, V):
        b = (Y - X @ U @ V).mean(axis=0)
        terms = literal_terms(X, Y, U, V, b, lam)
        return sum(terms.values()) - terms["specific"]

    gradient = np.empty_like({"U": U, "V": V}[block])
    for index in np.ndindex(gradient.shape):
        e = np.zeros_like(gradient)
        e[index] = step
        up, down = (
            value(*((U + s * e, V) if block == "U" else (U, V + s * e)))
            for s in (1, -1)
        )
        gradient[index] = (up - down) / (2 * step)
    return gradient


def assert_stationary_in_V(V, gradient, lam1, tol):
    used = V != 0
    assert used.any()
    np.testing.assert_allclose(gradient[used], -lam1 * np.sign(V[used]), atol=tol)
    assert (np.abs(gradient[~used]) <= lam1 + tol).all()


def test_many_steps_in_V_reach_the_minimum(setting, monkeypatch):
    X, Y, lam, problem, E, U, V = setting
    monkeypatch.setattr(wrap_solver, "_INNER", 3000)
    spread = lam[1] * np.linalg.norm(problem.L, 2)
    V = wrap_solver.update_V(problem, U, V, spread)
    gradient = smooth_gradient(X, Y, E @ U, V, lam, "V")
    assert_stationary_in_V(V, gradient, lam[0], 1e-6)


def test_many_sweeps_end_where_nothing_can_be_gained():
    X, Y = random_rows(5)
    lam = (0.5, 1.0, 0.3)
    model = fit(X, Y, *lam, max_iter=3000, tol=0)
    U, V, b = parts(model, X)
    Z = standardized(X)
    assert_stationary_in_V(V, smooth_gradient(Z, Y, U, V, lam, "V"), lam[0], 1e-3)
    np.testing.assert_allclose(smooth_gradient(Z, Y, U, V, lam, "U"), 0, atol=1e-3)
    np.testing.assert_allclose(b, Y.mean(axis=0), atol=1e-12)


def literal_fit(X, Y, lam, d, n_sweeps):
    """The sweeps in the features themselves, unused coordinates kept."""
    Xc, Yc = X - X.mean(axis=0), Y - Y.mean(axis=0)
    G, C, q = Xc.T @ Xc, Xc.T @ Yc, Y.shape[1]
    S = np.array([[similarity(Y, p, r) for r in range(q)] for p in range(q)])
    L = np.diag(S.sum(axis=1)) - S
    P, sigma, Qt = np.linalg.svd(np.linalg.solve(G + lam[2] * np.eye(len(G)), C))
    U, V = P[:, :d] * np.sqrt(sigma[:d]), np.sqrt(sigma[:d])[:, None] * Qt[:d]
    for _ in range(n_sweeps):
        A, R = U.T @ G @ U, U.T @ C
        curvature = np.linalg.norm(A, 2) + lam[1] * np.linalg.norm(L, 2)
        V = descend(
            Quadratic(lambda V, A=A: A @ V + lam[1] * V @ L, R, 0.0, curvature),
            lambda V, s: soft_threshold(V, s * lam[0]),
            lambda V: {"specific": lam[0] * np.abs(V).sum()},
            V,
            max_iter=20,
            tol=0.0,
        ).x
        U = literal_U(X, Y, V, lam[2])
    return U, V


@given(
    seed=st.integers(0, 10_000),
    lam1=st.sampled_from([0.1, 1.0, 4.0]),
    kind=st.sampled_from([np.asarray, sparse.csr_array]),
)
@settings(max_examples=15)
def test_five_sweeps_equal_the_literal_equations(seed, lam1, kind):
    X, Y = random_rows(seed, m=6, q=5)
    Z, lam = standardized(X), (lam1, 2.0, 0.1)
    model = fit(kind(X), kind(Y), *lam, max_iter=5, tol=0)
    U, V = literal_fit(Z, Y, lam, 5, 5)
    coef = (U @ V / X.std(axis=0)[:, None]).T
    # The last digit of the objective may decide whether a step keeps its momentum.
    np.testing.assert_allclose(model.coef_, coef, atol=2e-6)
    scores = Z @ U @ V + Y.mean(axis=0)
    np.testing.assert_allclose(
        model.decision_function(kind(X)), scores - 0.5, atol=1e-5
    )


def test_unused_coordinates_are_left_out():
    X, Y = random_rows(0, n=100, m=12, q=8)
    lam = (6.0, 1.0, 0.1)
    model = fit(X, Y, *lam, max_iter=5, tol=0)
    U, V = literal_fit(standardized(X), Y, lam, 8, 5)
    used = V.any(axis=1)
    assert 0 < used.sum() < 8
    assert not U[:, ~used].any()
    assert model.embedding_.shape == (12, used.sum())
    np.testing.assert_allclose(np.abs(model.label_weights_), np.abs(V[used]), atol=1e-6)


@pytest.mark.parametrize(
    ("alpha", "m", "q", "d"),
    [
        (0.9, 30, 10, 9),
        (0.9, 4, 10, 4),
        (0.5, 30, 5, 3),
        (0.01, 30, 5, 1),
        (1, 9, 5, 5),
    ],
)
def test_the_embedding_has_the_papers_dimension(alpha, m, q, d):
    X, Y = random_rows(0, n=80, m=m, q=q)
    model = fit(X, Y, 0.0, 1.0, alpha=alpha, max_iter=3)
    assert model.embedding_.shape == (m, d)
    assert model.label_weights_.shape == (d, q)
    assert np.linalg.matrix_rank(model.coef_, tol=1e-10) <= d


def test_a_large_sparsity_weight_leaves_the_means():
    X, Y = random_rows(0)
    model = WRAP(1e6).fit(X, Y)
    assert model.embedding_.shape == (8, 0)
    assert not model.coef_.any()
    np.testing.assert_allclose(model.predict_proba(X), np.tile(Y.mean(axis=0), (40, 1)))


def test_similar_labels_are_drawn_together():
    X, Y = random_rows(0)
    gaps = []
    for lam2 in (0.0, 1.0, 10.0, 100.0):
        V = fit(X, Y, 0.1, lam2, max_iter=200).label_weights_
        gaps.append(
            np.linalg.norm(V - V.mean(axis=1, keepdims=True)) / np.linalg.norm(V)
        )
    assert sorted(gaps, reverse=True) == gaps
    assert gaps[-1] < 0.5 * gaps[0]


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_similarity_is_that_of_the_labels_as_given(fit_intercept, monkeypatch):
    """Not that of the centered labels, with which the rest is computed."""
    X, Y = random_rows(0)
    seen = []
    monkeypatch.setattr(wrap, "cosine_similarity", lambda YtY: seen.append(YtY) or YtY)
    fit(X, Y, fit_intercept=fit_intercept, max_iter=1)
    np.testing.assert_allclose(seen[0], Y.T @ Y)


def test_units_of_the_features_make_no_difference():
    X, Y = random_rows(0)
    rng = np.random.default_rng(0)
    other = X * rng.uniform(0.1, 10, size=8) + rng.normal(size=8)
    expected = fit(X, Y).decision_function(X)
    actual = fit(other, Y).decision_function(other)
    np.testing.assert_allclose(actual, expected, atol=1e-8)


def test_without_intercept_scores_pass_through_the_origin():
    X, Y = random_rows(0)
    model = fit(X, Y, 0.1, fit_intercept=False, standardize=False)
    np.testing.assert_allclose(model.decision_function(np.zeros((1, 8))), -0.5)
    centered = fit(X, Y, 0.1, fit_intercept=False)
    means = centered.decision_function(X.mean(axis=0)[None])
    np.testing.assert_allclose(means, -0.5, atol=1e-12)


def test_degenerate_labels():
    X, Y = random_rows(0, n=40)
    Y = np.column_stack([np.zeros(40), np.ones(40), np.eye(40)[0], Y[:, 0], Y[:, 0]])
    model = fit(X, Y, 0.1, 0.1)
    assert np.isfinite(model.coef_).all()
    predicted = model.predict(X)
    assert not predicted[:, 0].any()
    assert predicted[:, 1].all()
    np.testing.assert_allclose(model.coef_[3], model.coef_[4], atol=1e-9)


@pytest.mark.parametrize(
    "X",
    [np.ones((6, 3)), np.zeros((6, 3)), np.column_stack([np.ones(6), np.arange(6)])],
    ids=["ones", "zeros", "one of two"],
)
@pytest.mark.parametrize("standardize", [True, False])
def test_constant_features(X, standardize):
    Y = np.array([[1, 0], [1, 0], [1, 1], [0, 1], [1, 1], [1, 0]])
    model = fit(X, Y, standardize=standardize, max_iter=500)
    assert not model.coef_[:, X.std(axis=0) == 0].any()
    if not X.std():
        assert (model.predict(X) == [1, 0]).all()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_rows(n):
    X, Y = random_rows(0, n=n, m=5, q=2)
    assert np.isfinite(fit(X, Y).decision_function(X)).all()


def test_a_warning_says_that_sweeps_ran_out():
    X, Y = random_rows(0)
    with pytest.warns(ConvergenceWarning, match="tol=0 .*max_iter=1 "):
        WRAP(0.1, 0.1, max_iter=1, tol=0).fit(X, Y)


def test_loose_tolerance_ends_early():
    X, Y = random_rows(0)
    loose = WRAP(0.1, 0.1, tol=0.05, max_iter=1000).fit(X, Y)
    tight = WRAP(0.1, 0.1, tol=1e-6, max_iter=1000).fit(X, Y)
    assert loose.n_iter_ < tight.n_iter_
    before, after = (sum(terms.values()) for terms in tight.history_[-2:])
    assert before - after <= 1e-6 * before
    before, after = (sum(terms.values()) for terms in tight.history_[-3:-1])
    assert before - after > 1e-6 * before


@pytest.mark.parametrize(
    ("name", "lam", "means"),
    [
        ("emotions", (10, 10, 0.1), (0.207, 0.168, 0.287, 0.826)),
        ("yeast", (10, 10, 0.1), (0.201, 0.172, 0.225, 0.684)),
        ("birds", (10, 10, 0.1), (0.055, 0.125, 0.693, 0.742)),
        ("birds", (1, 1, 1), (0.061, 0.109, 0.687, 0.732)),
        ("CAL500", (10, 10, 0.1), (0.143, 0.209, 0.207, 0.526)),
    ],
)
def test_re_run_rows(name, lam, means, data):
    """Five folds of an independent run; labels without an AUC counted as 0 there."""
    X, Y, *_ = data(name)
    results = []
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        model = fit(X[train], Y[train], *lam)
        scores, truth = model.decision_function(X[test]), Y[test]
        results.append(
            [
                *evaluate(truth, scores, scores > 0, PAPER_METRICS[:3]).values(),
                macro_auc(truth, scores, undefined="zero"),
            ]
        )
    deviations = np.std(results, axis=0, ddof=1)
    gaps = np.abs(np.mean(results, axis=0) - means)
    assert (gaps <= 2 * deviations + 0.0005).all(), (np.mean(results, axis=0), means)
