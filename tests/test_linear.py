"""Margins are optimal, whatever the rows look like; sigmoids are Platt's."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.svm import LinearSVC

from conftest import make_problem, random_rows
from homi.graph import neighbor_laplacian
from homi.linear import (
    LinearMargins,
    SideBySide,
    Sigmoids,
    fit_margins,
    fit_sigmoids,
    held_out_margins,
)
from homi.moments import Moments
from homi.solver import Problem, solve, zero_params
from homi.solver.held_out import leave_one_out
from homi.solver.sweeps import update_Wz

LOSSES = {
    "squared_hinge": lambda t: np.maximum(0.0, 1.0 - t) ** 2,
    "log": lambda t: np.logaddexp(0.0, -t),
}

both_losses = pytest.mark.parametrize("loss", LOSSES)


def objective(X, Y, margins, C, loss):
    """½‖w_j‖² + C Σ_i ℓ(ỹ_ij (x_i·w_j + b_j)) of each label, to the letter."""
    t = (2.0 * Y - 1.0) * (X @ margins.coef + margins.intercept)
    return 0.5 * np.sum(margins.coef**2, axis=0) + C * LOSSES[loss](t).sum(axis=0)


def slopes(X, Y, margins, C, loss, allowed):
    """Central differences of the objective, in coefficients that may move and in b."""

    def difference(**change):
        up = {k: getattr(margins, k) + v for k, v in change.items()}
        down = {k: getattr(margins, k) - v for k, v in change.items()}
        ends = (objective(X, Y, margins._replace(**p), C, loss) for p in (up, down))
        return np.subtract(*ends) / (2 * step)

    step = 1e-5
    rows = [
        difference(coef=step * np.eye(X.shape[1])[:, [k]]) * allowed[k]
        for k in range(X.shape[1])
    ]
    return np.array([*rows, difference(intercept=step)])


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(4, 60),
    m=st.integers(1, 30),
    C=st.sampled_from([0.01, 1.0, 30.0]),
    loss=st.sampled_from(list(LOSSES)),
    kind=st.sampled_from([np.asarray, sparse.csr_array]),
    masked=st.booleans(),
)
@settings(max_examples=60)
def test_no_coordinate_lowers_the_objective(seed, n, m, C, loss, kind, masked):
    X, Y = random_rows(seed, n=n, m=m, q=3)
    allowed = np.random.default_rng(seed).random((m, 3)) < (0.6 if masked else 1.0)
    options = {"C": C, "loss": loss, "allowed": allowed if masked else None}
    margins = fit_margins(kind(X), kind(Y), tol=1e-7, **options)
    assert margins.unfinished == 0
    assert not margins.coef[~allowed].any()
    flat = LinearMargins(np.zeros((m, 3)), np.zeros(3))
    size = 1.0 + np.abs(slopes(X, Y, flat, C, loss, allowed)).max()
    varied = (Y.min(axis=0) == 0) & (Y.max(axis=0) == 1)
    found = slopes(X, Y, margins, C, loss, allowed)[:, varied]
    assert np.abs(found).max(initial=0.0) < 1e-5 * size


@pytest.fixture(scope="module")
def rows():
    return random_rows(0, n=200, m=8, q=4)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_equals_liblinear(rows, C):
    X, Y = rows
    margins = fit_margins(X, Y, C=C, tol=1e-7)
    for j, y in enumerate(Y.T):
        # The intercept is penalized there, but hardly so when it is scaled.
        model = LinearSVC(C=C, dual=False, tol=1e-9, intercept_scaling=1e3).fit(X, y)
        np.testing.assert_allclose(margins.coef[:, j], model.coef_[0], atol=1e-4)
        np.testing.assert_allclose(margins.intercept[j], model.intercept_[0], atol=1e-4)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_equals_logistic_regression(rows, C):
    X, Y = rows
    margins = fit_margins(X, Y, C=C, loss="log", tol=1e-7)
    for j, y in enumerate(Y.T):
        model = LogisticRegression(C=C, tol=1e-10, solver="newton-cholesky").fit(X, y)
        np.testing.assert_allclose(margins.coef[:, j], model.coef_[0], atol=1e-5)
        np.testing.assert_allclose(margins.intercept[j], model.intercept_[0], atol=1e-5)


@both_losses
def test_a_mask_is_a_fit_to_fewer_features(rows, loss):
    X, Y = rows
    allowed = np.random.default_rng(1).random((8, 4)) < 0.5
    margins = fit_margins(X, Y, loss=loss, allowed=allowed, tol=1e-7)
    for j in range(4):
        kept = allowed[:, j]
        alone = fit_margins(X[:, kept], Y[:, [j]], loss=loss, tol=1e-7)
        np.testing.assert_allclose(margins.coef[kept, j], alone.coef[:, 0], atol=1e-5)
        assert not margins.coef[~kept, j].any()


@both_losses
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_that_are_not_known_do_not_count(rows, loss, kind, weighted):
    X, Y = rows
    rng = np.random.default_rng(4)
    known = rng.random(Y.shape) < [0.9, 0.5, 0.3, 0.1]
    weight = rng.uniform(0.5, 2.0, size=len(X)) if weighted else None
    options = {"loss": loss, "tol": 1e-7}
    found = fit_margins(kind(X), kind(Y), known=known, weight=weight, **options)
    assert found.unfinished == 0
    for j in range(4):
        those = known[:, j]
        counts = None if weight is None else weight[those]
        alone = fit_margins(X[those], Y[those][:, [j]], weight=counts, **options)
        np.testing.assert_allclose(found.coef[:, j], alone.coef[:, 0], atol=1e-5)
        np.testing.assert_allclose(found.intercept[j], alone.intercept[0], atol=1e-5)


@both_losses
def test_a_label_that_is_constant_where_it_is_known(rows, loss):
    X, Y = rows
    known = Y[:, :2] == [0.0, 1.0]
    found = fit_margins(X, Y[:, :2], known=known, loss=loss)
    assert not found.coef.any()
    np.testing.assert_array_equal(found.intercept, [-1.0, 1.0])


HARD = {
    "separable": (12, 30, 1.0, 5.0),
    "heavy": (40, 6, 1e4, 5.0),
    "light": (40, 6, 1e-6, 0.0),
    "one feature": (30, 1, 1.0, 2.0),
}


@pytest.mark.parametrize("case", HARD)
def test_hard_logistic_regressions_have_no_gradient_left(case):
    n, m, C, strength = HARD[case]
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, m)) + 3
    y = strength * (X[:, 0] - 3) + rng.normal(size=n) > 0
    assert_no_gradient(X, y, C)


def test_a_logistic_regression_with_a_row_far_out():
    """Plain Newton steps would end at the wrong place."""
    X = np.array([[1.0, -1], [0, 2], [3, -45], [0, -2], [-5, 5]])
    assert_no_gradient(X, np.array([True, True, False, False, False]), 1e3)


def assert_no_gradient(X, y, C):
    margins = fit_margins(X, y[:, None], C=C, loss="log", tol=1e-7)
    assert margins.unfinished == 0
    signs, f = np.where(y, 1.0, -1.0), margins(X)[:, 0]
    slope = -C * signs / (1 + np.exp(signs * f))
    size = C * (np.abs(X).sum() + len(X))
    np.testing.assert_allclose(margins.coef[:, 0] + X.T @ slope, 0, atol=1e-6 * size)
    np.testing.assert_allclose(slope.sum(), 0, atol=1e-6 * size)


@both_losses
def test_sparse_equals_dense(rows, loss):
    X, Y = rows
    dense = fit_margins(X, Y, loss=loss, tol=1e-7)
    thin = fit_margins(sparse.csr_array(X), sparse.csr_array(Y), loss=loss, tol=1e-7)
    np.testing.assert_allclose(thin.coef, dense.coef, atol=1e-5)
    np.testing.assert_allclose(dense(sparse.csr_array(X)), thin(X), atol=1e-4)


@both_losses
def test_both_preconditioners_lead_to_the_same_optimum(rows, loss, monkeypatch):
    X, Y = rows
    expected = fit_margins(X, Y, loss=loss, tol=1e-7)
    monkeypatch.setattr("homi.linear.preconditioner._MANY_ROWS", np.inf)
    found = fit_margins(X, Y, loss=loss, tol=1e-7)
    assert not np.array_equal(found.coef, expected.coef)
    np.testing.assert_allclose(found.coef, expected.coef, atol=1e-5)


@both_losses
@pytest.mark.parametrize(
    ("many", "kind"),
    [(0, np.asarray), (np.inf, np.asarray), (np.inf, sparse.csr_array)],
    ids=["spectrum", "diagonal", "sparse"],
)
def test_a_row_of_weight_two_is_two_rows(rows, loss, many, kind, monkeypatch):
    X, Y = rows
    monkeypatch.setattr("homi.linear.preconditioner._MANY_ROWS", many)
    times = np.random.default_rng(2).integers(1, 5, size=len(X))
    repeated = np.repeat(np.arange(len(X)), times)
    expected = fit_margins(kind(X[repeated]), kind(Y[repeated]), loss=loss)
    found = fit_margins(kind(X), kind(Y), loss=loss, weight=times.astype(float))
    # Not the optimum alone is the same, but every step on the way to it.
    np.testing.assert_allclose(found.coef, expected.coef, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.intercept, expected.intercept, rtol=1e-6)
    plain = fit_margins(kind(X), kind(Y), loss=loss)
    assert np.abs(plain.coef - expected.coef).max() > 1e-2


@both_losses
@pytest.mark.parametrize("weighted", [False, True])
def test_parts_side_by_side_are_one_matrix(rows, loss, weighted, monkeypatch):
    X, Y = rows
    # Where a part is sparse, steps are by the diagonal.
    monkeypatch.setattr("homi.linear.preconditioner._MANY_ROWS", np.inf)
    rng = np.random.default_rng(3)
    thin = sparse.random_array((len(X), 6), density=0.2, random_state=rng, format="csr")
    weight = rng.uniform(0.5, 2.0, size=len(X)) if weighted else None
    whole = np.hstack([X, thin.toarray()])
    expected = fit_margins(whole, Y, loss=loss, weight=weight)
    parts = SideBySide((X, thin))
    found = fit_margins(parts, Y, loss=loss, weight=weight)
    assert parts.shape == whole.shape
    np.testing.assert_allclose(found.coef, expected.coef, rtol=1e-6, atol=1e-9)
    some = np.array([5, 3, 5])
    np.testing.assert_allclose(found(parts[some]), expected(whole[some]), atol=1e-8)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_blocks_and_threads_make_no_difference(n_jobs, monkeypatch):
    X, Y = random_rows(0, n=60, m=5, q=12)
    expected = fit_margins(X, Y)
    monkeypatch.setattr("homi.linear.fit._BLOCK", 60 * 5)
    found = fit_margins(X, Y, n_jobs=n_jobs)
    np.testing.assert_allclose(found.coef, expected.coef, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.intercept, expected.intercept, rtol=1e-9)


def test_where_it_starts_makes_no_difference(rows):
    X, Y = rows
    expected = fit_margins(X, Y, tol=1e-7)
    wild = LinearMargins(100.0 * np.ones((8, 4)), -30.0 * np.ones(4))
    for start in (expected, wild):
        found = fit_margins(X, Y, tol=1e-7, start=start)
        np.testing.assert_allclose(found.coef, expected.coef, atol=1e-5)
    assert fit_margins(X, Y, start=expected, max_iter=1).unfinished == 0
    assert fit_margins(X, Y, start=wild, max_iter=1).unfinished == 4


@both_losses
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_shift_of_the_features_moves_only_the_intercept(rows, loss, kind):
    X, Y = rows
    expected = fit_margins(X, Y, loss=loss, tol=1e-7)
    found = fit_margins(kind(X + 1e4), Y, loss=loss, tol=1e-7)
    np.testing.assert_allclose(found.coef, expected.coef, atol=1e-4)
    np.testing.assert_allclose(found(X + 1e4), expected(X), atol=1e-3)


@both_losses
def test_degenerate_labels(loss):
    X, Y = random_rows(0, n=40)
    X[3] += 5.0
    Y = np.column_stack([np.zeros(40), np.ones(40), np.eye(40)[3], Y[:, 0], Y[:, 0]])
    margins = fit_margins(X, Y, loss=loss, C=10.0)
    np.testing.assert_array_equal(margins.coef[:, :2], 0.0)
    np.testing.assert_array_equal(margins.intercept[:2], [-1.0, 1.0])
    assert margins(X)[:, 2].argmax() == 3
    np.testing.assert_array_equal(margins.coef[:, 3], margins.coef[:, 4])


@both_losses
def test_only_constant_labels(loss):
    X, _ = random_rows(0, n=10)
    margins = fit_margins(X, np.zeros((10, 2)), loss=loss)
    np.testing.assert_array_equal(margins(X), -1.0)


def degenerate_features():
    X, _ = random_rows(0, n=50, m=6)
    yield pytest.param(np.hstack([X, X, X]), id="copies")
    yield pytest.param(np.column_stack([X, np.full(50, 7.0), np.zeros(50)]), id="flat")
    yield pytest.param(np.ones((50, 3)), id="only-flat")
    yield pytest.param(X * 10.0 ** np.arange(-3, 3), id="scales")
    yield pytest.param(X.astype(np.float32), id="float32")
    yield pytest.param(np.random.default_rng(0).normal(size=(50, 90)), id="wide")


@both_losses
@pytest.mark.parametrize("X", list(degenerate_features()))
def test_degenerate_features(X, loss):
    _, Y = random_rows(0, n=50, m=6)
    margins = fit_margins(X, Y, loss=loss, tol=1e-6)
    found = objective(X.astype(float), Y, margins, 1.0, loss)
    again = fit_margins(X.astype(float), Y, loss=loss, tol=1e-9, max_iter=10_000)
    best = objective(X.astype(float), Y, again, 1.0, loss)
    assert margins.unfinished == 0
    np.testing.assert_allclose(found, best, rtol=1e-6)


@both_losses
def test_separable_labels_and_a_large_weight_stay_finite(loss):
    X = np.arange(-5.0, 5.0)[:, None]
    Y = X >= 0
    margins = fit_margins(X, Y, C=1e8, loss=loss)
    assert np.isfinite(margins(X)).all()
    np.testing.assert_array_equal(margins(X) > 0, Y)


def test_the_hard_margin_between_two_rows():
    """x = ±1 with opposite labels: w = 1 as C grows, and b = 0."""
    margins = fit_margins(np.array([[-1.0], [1.0]]), np.array([[0], [1]]), C=1e6)
    assert margins.coef[0, 0] == pytest.approx(1.0, abs=1e-4)
    assert margins.intercept[0] == pytest.approx(0.0, abs=1e-6)


@pytest.fixture(scope="module")
def scored():
    """Scores of rows and labels that follow them, with noise."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(300, 3)) * [1.0, 5.0, 0.1] + [0.0, 2.0, -0.3]
    centered = (scores - scores.mean(axis=0)) / scores.std(axis=0)
    return scores, (centered + rng.normal(size=(300, 3)) > [0.0, 1.0, -1.0]).astype(int)


def identity(scores, y):
    """A fitted classifier whose decision values are its only feature."""
    model = LogisticRegression().fit(scores, y)
    model.coef_[:], model.intercept_[:] = 1.0, 0.0
    return FrozenEstimator(model)


def test_sigmoids_are_those_of_scikit_learn(scored):
    scores, Y = scored
    sigmoids = fit_sigmoids(scores, Y)
    for j, y in enumerate(Y.T):
        given = identity(scores[:, [j]], y)
        model = CalibratedClassifierCV(given, method="sigmoid").fit(scores[:, [j]], y)
        (fitted,) = model.calibrated_classifiers_[0].calibrators
        assert sigmoids.slope[j] == pytest.approx(fitted.a_, rel=1e-5)
        assert sigmoids.offset[j] == pytest.approx(fitted.b_, rel=1e-4, abs=1e-5)


def test_sigmoids_have_the_least_cross_entropy(scored):
    scores, Y = scored
    sigmoids = fit_sigmoids(scores, sparse.csr_array(Y))
    for j, y in enumerate(Y.T):
        counts = {1: y.sum(), 0: len(y) - y.sum()}
        target = np.where(y, (counts[1] + 1) / (counts[1] + 2), 1 / (counts[0] + 2))

        def loss(line, f=scores[:, j], t=target):
            p = 1 / (1 + np.exp(line[0] * f + line[1]))
            return -np.sum(t * np.log(p) + (1 - t) * np.log(1 - p))

        best = minimize(loss, [0.0, 0.0]).fun
        assert loss([sigmoids.slope[j], sigmoids.offset[j]]) <= best + 1e-8


def test_sigmoids_of_heavy_tails():
    """The likelihood's equations hold, also where full Newton steps would diverge."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(60, 400)) * np.exp(3.0 * rng.normal(size=(60, 400)))
    ranks = scores.argsort(axis=0).argsort(axis=0)
    Y = ranks >= rng.integers(3, 58, size=400)
    Y ^= rng.random(Y.shape) < 0.02
    sigmoids = fit_sigmoids(scores, Y)
    positives, negatives = Y.sum(axis=0), (~Y).sum(axis=0)
    targets = np.where(Y, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    error = targets - sigmoids(scores)
    np.testing.assert_allclose(error.sum(axis=0), 0.0, atol=1e-3)
    falling = sigmoids.slope * scores.std(axis=0) < -1e-5
    assert falling.mean() > 0.9
    products = (error * scores).sum(axis=0) / np.abs(scores).max(axis=0)
    np.testing.assert_allclose(products[falling], 0.0, atol=1e-3)


def test_sigmoids_of_separated_and_of_constant_labels():
    scores = np.column_stack([np.linspace(-1, 1, 20)] * 4)
    Y = np.column_stack([scores[:, 0] > 0, np.zeros(20), np.ones(20), np.eye(20)[19]])
    sigmoids = fit_sigmoids(scores, Y)
    P = sigmoids(scores)
    assert np.isfinite(sigmoids.slope).all()
    # Platt's target for each of ten positives is 11/12.
    assert 0.8 < P[10:, 0].mean() < 11 / 12
    np.testing.assert_allclose(P[:, 1], 1 / 22)
    np.testing.assert_allclose(P[:, 2], 21 / 22)
    assert P[:, 3].argmax() == 19


def test_probabilities_never_fall_with_the_score():
    """Scores that are worse than chance: next to constant, but in their order."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(200, 2)) * [1.0, 1e6]
    Y = -scores + rng.normal(size=(200, 2)) * [1.0, 1e6] > 0
    P = fit_sigmoids(scores, Y)(scores)
    np.testing.assert_allclose(P, np.broadcast_to(Y.mean(axis=0), P.shape), atol=0.01)
    np.testing.assert_array_equal(np.argsort(P, axis=0), np.argsort(scores, axis=0))


def test_constant_scores_have_a_constant_probability():
    sigmoids = fit_sigmoids(np.full((30, 1), 5.0), np.arange(30)[:, None] < 10)
    assert sigmoids.slope[0] == 0.0
    # Mean of Platt's targets, 10 of 11/12 and 20 of 1/22.
    assert sigmoids(np.array([[9.0]])) == pytest.approx((10 * 11 / 12 + 20 / 22) / 30)


def test_probabilities_stay_inside():
    P = Sigmoids(np.array([-1.0]), np.array([0.0]))(np.array([[-1e6], [1e6]]))
    assert 0.0 < P[0, 0] < 1e-300
    assert 1.0 - 1e-15 < P[1, 0] < 1.0


def test_blocks_of_sigmoids_make_no_difference(scored, monkeypatch):
    expected = fit_sigmoids(*scored)
    monkeypatch.setattr("homi.linear.platt._BLOCK", 300)
    found = fit_sigmoids(*scored)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_no_row_is_scored_by_a_fit_that_saw_it(kind):
    X = np.arange(20.0)[:, None]
    seen = []

    def fit(rows):
        known = set(rows)
        seen.append(len(known))

        def score(rows):
            own = np.asarray(rows.sum(axis=1)).ravel()
            assert not known & set(own)
            return np.column_stack([own, -own])

        return score

    rng = np.random.RandomState(0)
    margins = held_out_margins(kind(X), 2, fit, n_splits=3, rng=rng)
    np.testing.assert_array_equal(margins, np.hstack([X, -X]))
    assert sorted(seen) == [13, 13, 14]


def test_held_out_margins_of_few_rows():
    X, Y = random_rows(0, n=2, m=3)
    rng = np.random.default_rng(0)
    margins = held_out_margins(
        X, Y.shape[1], lambda rows: fit_margins(X[rows], Y[rows]), rng=rng
    )
    # Each is scored by a fit to the other, which only knows constant labels.
    np.testing.assert_array_equal(margins, 2 * Y[::-1] - 1)
    np.testing.assert_array_equal(held_out_margins(X[:1], 2, None, rng=rng), 0.0)


# Leave-one-out scores in closed form, against refits without each row.


def refitted(problem, X, Y, B):
    """Every row by a (W, z) fitted without it; graph and B stay."""
    scores = np.empty(Y.shape)
    for i in range(len(X)):
        others = np.arange(len(X)) != i
        moments = Moments.from_rows(X[others], Y[others])
        without = replace(problem, moments=replace(moments, H=problem.moments.H))
        start = zero_params(without)._replace(B=B)
        found = update_Wz(without, start)
        scores[i] = X[i] @ found.W + found.z
    return scores


@pytest.mark.parametrize("lam", [0.01, 1.0, 50.0])
@pytest.mark.parametrize("gamma", [0.0, 0.7])
@pytest.mark.parametrize("penalize_bias", [True, False])
def test_it_equals_refits(lam, gamma, penalize_bias):
    X, Y = random_rows(n=30, m=6, q=4)
    hyper = {"lam": lam, "gamma": gamma, "penalize_bias": penalize_bias}
    problem = make_problem(X, Y, **hyper)
    B = solve(problem).params.B
    found = leave_one_out(problem, X, Y, B)
    np.testing.assert_allclose(found, refitted(problem, X, Y, B), atol=1e-8)


def test_more_features_than_rows():
    X, Y = random_rows(n=12, m=25, q=3)
    problem = make_problem(X, Y, 3, lam=0.5)
    B = solve(problem).params.B
    found = leave_one_out(problem, X, Y, B)
    np.testing.assert_allclose(found, refitted(problem, X, Y, B), atol=1e-8)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_rows_in_units_of_their_own(container):
    """Standardized moments and unscaled rows, sparse or not."""
    X, Y = random_rows(n=30, m=6, q=4)
    X = X * (np.abs(X) > 0.5) * 3
    moments = Moments.from_rows(X, Y)
    mean, scale = moments.x_mean, moments.scale()
    scaled = (X - mean) / scale
    L = neighbor_laplacian(scaled, 4)
    problem = Problem(Moments.from_rows(scaled, Y).with_graph(scaled, L), lam=2.0)
    B = solve(problem).params.B
    given = {"mean": mean, "scale": scale}
    found = leave_one_out(problem, container(X), container(Y), B, **given)
    np.testing.assert_allclose(found, refitted(problem, scaled, Y, B), atol=1e-8)


def test_blocks_change_nothing(monkeypatch):
    X, Y = random_rows(n=30, m=6, q=4)
    problem = make_problem(X, Y)
    whole = leave_one_out(problem, X, Y, np.eye(4))
    monkeypatch.setattr("homi.solver.held_out._BLOCK", 6 * 7)
    np.testing.assert_allclose(leave_one_out(problem, X, Y, np.eye(4)), whole)


@pytest.mark.parametrize("penalize_bias", [True, False])
def test_without_graph_it_is_that_of_ridge(penalize_bias):
    """RidgeCV keeps the errors of leave-one-out; a column of ones has a penalty."""
    X, Y = random_rows(n=40, m=5, q=3)
    ridge = RidgeCV([0.8], fit_intercept=not penalize_bias, store_cv_results=True)
    ridge.fit(np.column_stack([X, np.ones(40)]) if penalize_bias else X, Y)
    problem = make_problem(X, Y, lam=0.8, gamma=0.0, penalize_bias=penalize_bias)
    found = leave_one_out(problem, X, Y, np.eye(3))
    np.testing.assert_allclose((found - Y) ** 2, ridge.cv_results_[:, :, 0], atol=1e-9)


def test_a_row_that_stands_alone():
    """At λ = 0 a row that alone has a feature decides its own score."""
    X = np.zeros((6, 2))
    X[0, 1] = 1.0
    X[1:, 0] = np.arange(5.0)
    Y = np.eye(6, 2)
    problem = Problem(Moments.from_rows(X, Y), lam=0.0, gamma=0.0)
    found = leave_one_out(problem, X, Y, np.eye(2))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found[0], Y.mean(axis=0))
