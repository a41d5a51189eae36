"""Weights of labels against the objective written out and minimized by scipy."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import Ridge

from conftest import random_rows
from homi import HOMI
from homi.graph import neighbor_laplacian
from homi.moments import Moments
from homi.solver import Problem, leave_one_out, solve, total
from homi.solver.label_weights import WeightedMomentsForm
from homi.thresholds import TunedThresholds

HYPER = {"lam": 0.7, "beta": 1.5, "gamma": 0.4}
WEIGHTS = np.array([0.3, 1.0, 4.0])


@pytest.fixture
def rows():
    return random_rows(3, n=40, m=4, q=3)


def literal_objective(flat, X, Y, L, weights, rows=1.0, free=False, *, B=None):
    """The objective, literal; B may be held, with t = 0; biases may be free."""
    (_, m), q = X.shape, Y.shape[1]
    W, z = flat[: m * q].reshape(m, q), flat[m * q : (m + 1) * q]
    t = np.zeros(q)
    if B is None:
        rest = flat[(m + 1) * q :]
        B, t = rest[: q * q].reshape(q, q), rest[q * q :]
    F = X @ W + z
    K = F @ B + t
    errors = (Y - F) ** 2 + HYPER["beta"] * (Y - Y @ B - t) ** 2
    ridge = sum((A**2).sum() for A in ((W, B) if free else (W, z, B, t)))
    return (
        (rows * (errors @ weights)).sum()
        + HYPER["gamma"] * np.trace(K.T @ L @ K)
        + HYPER["lam"] * ridge
    )


def fitted(X, Y, **options):
    model = HOMI(**HYPER, n_neighbors=5, standardize=False, tol=1e-13, max_iter=5000)
    return model.set_params(**options)


def flat_of(model, *, with_labels=True):
    names = ["feature_weights_", "feature_bias_"]
    names += ["label_correlation_", "label_bias_"] if with_labels else []
    return np.concatenate([getattr(model, name).ravel() for name in names])


@pytest.mark.parametrize("free", [False, True])
def test_the_joint_model_is_the_minimum_of_the_literal_objective(rows, free):
    X, Y = rows
    L = neighbor_laplacian(X, 5).toarray()
    model = fitted(X, Y, penalize_bias=not free).fit(X, Y, label_weight=WEIGHTS)
    found = flat_of(model)
    given = (X, Y, L, WEIGHTS, 1.0, free)
    value = literal_objective(found, *given)
    assert total(model.history_[-1]) == pytest.approx(value, rel=1e-10)
    start = np.zeros_like(found)
    best = minimize(literal_objective, start, given, tol=1e-12)
    assert value <= best.fun * (1 + 1e-7)
    np.testing.assert_allclose(found, best.x, atol=2e-4)
    plain = flat_of(fitted(X, Y).fit(X, Y))
    assert np.abs(plain - found).max() > 0.01


def test_weights_of_rows_and_of_labels_together(rows):
    X, Y = rows
    counts = np.random.default_rng(0).uniform(0.2, 2.0, len(X))
    L = neighbor_laplacian(X, 5, weights=counts).toarray()
    model = fitted(X, Y).fit(X, Y, sample_weight=counts, label_weight=WEIGHTS)
    found = flat_of(model)
    given = (X, Y, L, WEIGHTS, counts)
    best = minimize(literal_objective, found, given, tol=1e-12)
    np.testing.assert_allclose(found, best.x, atol=2e-4)


@pytest.mark.parametrize("graph", [True, False])
def test_without_B_it_is_the_minimum_too(rows, graph, monkeypatch):
    X, Y = rows
    monkeypatch.setitem(HYPER, "gamma", 0.4 if graph else 0.0)
    L = neighbor_laplacian(X, 5).toarray()
    model = fitted(X, Y, correlation="identity").fit(X, Y, label_weight=WEIGHTS)
    found = flat_of(model, with_labels=False)

    def value(flat):
        return literal_objective(flat, X, Y, L, WEIGHTS, B=np.eye(3))

    best = minimize(value, np.zeros_like(found), tol=1e-12)
    np.testing.assert_allclose(found, best.x, atol=2e-5)
    assert total(model.history_[-1]) == pytest.approx(value(found))


def test_a_label_of_more_weight_is_shrunk_less(rows):
    X, Y = rows
    norms = []
    for weight in (0.1, 1.0, 10.0):
        model = fitted(X, Y, correlation="identity", gamma=0.0)
        model.fit(X, Y, label_weight=[1.0, weight, 1.0])
        ridge = Ridge(HYPER["lam"] / weight, fit_intercept=False)
        ridge.fit(np.column_stack([X, np.ones(len(X))]), Y[:, 1])
        np.testing.assert_allclose(model.feature_weights_[:, 1], ridge.coef_[:-1])
        norms.append(np.linalg.norm(model.feature_weights_[:, 1]))
    assert norms == sorted(norms)


def test_the_gradient_is_that_of_the_objective(rows):
    X, Y = rows
    moments = Moments.from_rows(X, Y).with_graph(X, neighbor_laplacian(X, 5))
    reduced = WeightedMomentsForm(Problem(moments, **HYPER), WEIGHTS)
    rng = np.random.default_rng(0)
    omega = rng.normal(size=reduced.start(np.zeros((3, 3))).shape)
    point = reduced.evaluate(omega)
    for _ in range(5):
        step = rng.normal(size=omega.shape)
        up, down = (
            reduced.evaluate(omega + sign * 1e-5 * step).value for sign in (1, -1)
        )
        slope = 2 * np.vdot(point.gradient, step)
        assert (up - down) / 2e-5 == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize(
    "options", [{}, {"gamma": 0.0}, {"standardize": True}], ids=str
)
def test_equal_weights_divide_ridge_and_graph(rows, options):
    """Weight 4 for all is λ/4 and γ/4."""
    X, Y = rows
    model = fitted(X, Y, **options).fit(X, Y, label_weight=[4.0] * 3)
    quarter = fitted(X, Y, **options)
    quarter.set_params(lam=quarter.lam / 4, gamma=quarter.gamma / 4).fit(X, Y)
    np.testing.assert_allclose(model.coef_, quarter.coef_, atol=1e-5)


@pytest.mark.parametrize("lam", [0.0, 1e-9])
def test_no_ridge_is_no_obstacle(rows, lam):
    X, Y = rows
    X = np.column_stack([X, X[:, 0], np.ones(len(X))])
    for correlation in ("labels", "identity", "held-out"):
        model = fitted(X, Y, lam=lam, correlation=correlation, max_iter=200, tol=1e-6)
        scores = model.fit(X, Y, label_weight=WEIGHTS).decision_function(X)
        assert np.abs(scores).max() < 10


@pytest.mark.parametrize("counts", [False, True])
def test_rows_left_out_with_weights_of_labels(rows, counts):
    X, Y = rows
    weights = np.random.default_rng(0).uniform(0.3, 2, len(X)) if counts else None
    mean, scale = X.mean(axis=0), X.std(axis=0)
    moments = Moments.from_rows((X - mean) / scale, Y, weights)
    problem = Problem(moments, 0.7, gamma=0.0, label_weight=WEIGHTS)
    found = leave_one_out(
        problem, X, Y, np.eye(3), mean=mean, scale=scale, weights=weights
    )
    with_one = np.column_stack([(X - mean) / scale, np.ones(len(X))])
    for i in (0, 11, 39):
        others = np.arange(40) != i
        for j, weight in enumerate(WEIGHTS):
            ridge = Ridge(0.7 / weight, fit_intercept=False)
            known = None if weights is None else weights[others]
            ridge.fit(with_one[others], Y[others, j], sample_weight=known)
            expected = ridge.predict(with_one[[i]])[0]
            assert found[i, j] == pytest.approx(expected)


def test_held_out_corrections_of_light_labels_are_small(rows):
    X, Y = rows
    light = fitted(X, Y, correlation="held-out").fit(
        X, Y, label_weight=[1e-6, 1.0, 1.0]
    )
    B = light.label_correlation_
    np.testing.assert_allclose(B[:, 0], [1, 0, 0], atol=1e-4)
    assert np.abs(B[:, 1] - [0, 1, 0]).max() > 1e-2


def test_the_objective_never_rises(rows):
    X, Y = rows
    model = fitted(X, Y).fit(X, Y, label_weight=WEIGHTS)
    assert (np.diff([total(terms) for terms in model.history_]) <= 0).all()


def test_ones_are_no_weights(rows):
    X, Y = rows
    expected = HOMI().fit(X, Y).coef_
    np.testing.assert_array_equal(
        HOMI().fit(X, Y, label_weight=[1, 1, 1]).coef_, expected
    )


def test_plain_sweeps_have_no_weights_of_labels(rows):
    X, Y = rows
    with pytest.raises(ValueError, match=r'label_weight cannot .*use sweep="joint"'):
        HOMI(sweep="paper").fit(X, Y, label_weight=WEIGHTS)
    problem = Problem(Moments.from_rows(X, Y), label_weight=WEIGHTS)
    with pytest.raises(ValueError, match="label_weight needs"):
        solve(problem, accelerate=False)


def test_a_series_of_weights_has_the_order_of_the_labels(rows):
    X, Y = rows
    frame = pd.DataFrame(Y, columns=["a", "b", "c"])
    weights = pd.Series(WEIGHTS, index=frame.columns)
    found = HOMI().fit(X, frame, label_weight=weights)
    expected = HOMI().fit(X, Y, label_weight=WEIGHTS)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    for model in (HOMI(), TunedThresholds(HOMI(), cv=2)):
        with pytest.raises(ValueError, match="label_weight has its labels in another"):
            model.fit(X, frame, label_weight=weights[::-1])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0], r"shape \(2,\) for 3 labels"),
        ([[1.0, 2.0, 3.0]], r"shape \(1, 3\) for 3 labels"),
        ([1.0, 0.0, 3.0], "got 0 for the label 'y1'"),
        ([1.0, 2.0, -3.0], "got -3 for the label 'y2'"),
        ([np.nan, 2.0, 3.0], "got nan for the label 'y0'"),
        ([np.inf, 2.0, 3.0], "got inf for the label 'y0'"),
    ],
)
def test_bad_weights_get_a_clear_error(rows, weights, message):
    with pytest.raises(ValueError, match=f"label_weight.*{message}"):
        HOMI().fit(*rows, label_weight=weights)
