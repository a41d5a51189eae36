"""CLML against its objective written out row by row, and re-runs on real data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.preprocessing import normalize

import contract_checks
from conftest import random_rows
from homi.methods.clml import CLML
from homi.methods.clml_solver import CLMLProblem
from homi.metrics import PAPER_METRICS, evaluate, macro_auc

WEIGHTS = {"alpha": 0.3, "beta": 0.4, "lam1": 0.2, "lam2": 0.5}
EXACT = {"tol": 1e-10, "max_iter": 100_000}


@pytest.mark.filterwarnings("ignore")
@contract_checks.parametrize(
    [
        CLML(1.0, 0.5, 0.0, 0.1, threshold=0.5, standardize=False),
        CLML(threshold=0.3, fit_intercept=False, n_neighbors=3),
    ]
)
def test_scikit_learn_contract(estimator, expected):
    contract_checks.check_parameters(estimator, expected)


class Literal:
    """The objective with explicit ones, n × n graphs and loops over pairs."""

    def __init__(self, X, Y, model):
        self.scale = X.std(axis=0) if model.standardize else np.ones(X.shape[1])
        center = model.standardize or model.fit_intercept
        self.X = (X - X.mean(axis=0) * center) / self.scale
        self.offset = Y.mean(axis=0) * model.fit_intercept
        self.Y = Y - np.ones((len(X), 1)) @ self.offset[None]
        self.L1 = self.laplacian(self.cosines(Y))
        S = self.nearest(self.X, model.n_neighbors)
        self.L2 = self.laplacian((S + S.T) / 2)
        self.model = model

    @staticmethod
    def laplacian(S):
        return np.diag(S @ np.ones(len(S))) - S

    @staticmethod
    def cosines(Y):
        C = np.zeros((Y.shape[1],) * 2)
        for p, q in np.ndindex(C.shape):
            lengths = np.linalg.norm(Y[:, p]) * np.linalg.norm(Y[:, q])
            C[p, q] = Y[:, p] @ Y[:, q] / lengths if lengths else 0.0
        return C

    @staticmethod
    def nearest(X, k):
        """A row is the first of its own k nearest rows."""
        S = np.zeros((len(X),) * 2)
        for i, x in enumerate(X):
            distance = np.linalg.norm(X - x, axis=1)
            distance[i] = -1.0
            S[i, np.argsort(distance, kind="stable")[:k]] = 1.0
        return S

    def terms(self, W):
        F, model = self.X @ W, self.model
        return {
            "loss": 0.5 * np.sum((F - self.Y) ** 2),
            "labels": 0.5 * model.alpha * np.trace(F @ self.L1 @ F.T),
            "rows": 0.5 * model.lam1 * np.trace(F.T @ self.L2 @ F),
            "common": model.lam2 * sum(np.sqrt(np.sum(w**2)) for w in W),
            "specific": model.beta * np.sum(np.abs(W)),
        }

    def smooth(self, W):
        return sum(self.terms(W)[name] for name in ("loss", "labels", "rows"))

    def total(self, W):
        return sum(self.terms(W).values())

    def gradient(self, W):
        F, model = self.X @ W, self.model
        pull = F - self.Y + model.alpha * F @ self.L1 + model.lam1 * self.L2 @ F
        return self.X.T @ pull

    def step(self, W, s):
        """Soft threshold, then shrink every row."""
        W = np.sign(W) * np.maximum(np.abs(W) - s * self.model.beta, 0.0)
        for w in W:
            length = np.linalg.norm(w)
            w *= max(0.0, 1.0 - s * self.model.lam2 / length) if length else 0.0
        return W

    def coefficients(self):
        """W as the method sees it."""
        return self.model.coef_.T * self.scale[:, None]


def fitted(**parameters):
    X, Y = random_rows(0)
    model = CLML(**{**WEIGHTS, **EXACT, **parameters}).fit(X, Y)
    return model, Literal(X, Y, model)


VARIANTS = [
    {},
    {"fit_intercept": False},
    {"standardize": False},
    {"standardize": False, "fit_intercept": False},
    {"n_neighbors": 3, "lam1": 5.0},
    {"alpha": 4.0, "beta": 0.0},
    {"lam2": 0.0},
]


@pytest.mark.parametrize("parameters", VARIANTS)
def test_history_ends_with_the_literal_objective(parameters):
    model, literal = fitted(**parameters)
    expected = literal.terms(literal.coefficients())
    assert list(model.history_[-1]) == list(expected)
    for name, value in model.history_[-1].items():
        assert value == pytest.approx(expected[name], rel=1e-9, abs=1e-12)
    assert model.n_iter_ == len(model.history_)


@pytest.mark.parametrize("parameters", VARIANTS)
def test_the_end_is_the_minimum(parameters):
    """A proximal gradient step of the literal objective leaves it where it is."""
    _, literal = fitted(**parameters)
    W = literal.coefficients()
    s = 1e-3
    moved = literal.step(W - s * literal.gradient(W), s)
    np.testing.assert_allclose(moved, W, atol=1e-9)
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-1):
        other = W + size * rng.normal(size=W.shape) * (rng.random(W.shape) < 0.5)
        assert literal.total(other) > literal.total(W)


def test_gradient_of_the_twin():
    _, literal = fitted()
    W = np.random.default_rng(1).normal(size=(8, 4))
    for index in np.ndindex(W.shape):
        e = np.zeros_like(W)
        e[index] = 1e-5
        slope = (literal.smooth(W + e) - literal.smooth(W - e)) / 2e-5
        assert slope == pytest.approx(literal.gradient(W)[index], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_step_minimises_distance_and_both_penalties(seed):
    rng = np.random.default_rng(seed)
    a, beta, lam2 = rng.normal(size=3), *rng.uniform(0.0, 1.0, size=2)
    nothing = np.zeros((1, 1))
    problem = CLMLProblem(nothing, nothing, 0.0, nothing, nothing, lam2, beta)

    def value(x):
        lengths = beta * np.abs(x).sum() + lam2 * np.linalg.norm(x)
        return 0.5 * np.sum((x - a) ** 2) + lengths

    x = problem.step(a[None], 1.0)[0]
    options = {"xatol": 1e-9, "fatol": 1e-12, "maxiter": 5000}
    best = optimize.minimize(value, x, method="Nelder-Mead", options=options)
    assert value(x) <= best.fun + 1e-12


def test_default_stop_is_near_the_minimum():
    X, Y = random_rows(3, n=60, m=12)
    for weights in ({}, WEIGHTS, {"alpha": 16.0, "beta": 4.0, "lam2": 16.0}):
        model = CLML(**weights).fit(X, Y)
        exact = CLML(**weights, **EXACT).fit(X, Y)
        lowest = sum(exact.history_[-1].values())
        assert sum(model.history_[-1].values()) <= lowest * (1 + 1e-4)
        assert model.n_iter_ < exact.n_iter_


def test_no_penalties_give_least_squares():
    X, Y = random_rows(0)
    model = CLML(0, 0, 0, 0, threshold=0.0, **EXACT).fit(X, Y)
    design = np.column_stack([X, np.ones(len(X))])
    expected = np.linalg.lstsq(design, Y)[0]
    np.testing.assert_allclose(model.coef_, expected[:-1].T, atol=1e-7)
    np.testing.assert_allclose(model.intercept_, expected[-1], atol=1e-7)


def test_what_each_weight_does():
    X, Y = random_rows(1, n=80, m=10)

    def fit(**weights):
        return CLML(**{**WEIGHTS, **weights}).fit(X, Y)

    empty = fit(beta=1e3)
    assert not empty.coef_.any()
    assert empty.n_iter_ < 100
    common = fit(lam2=15.0, beta=0.0).coef_
    assert 0 < (common == 0).all(axis=0).sum() < 10
    np.testing.assert_array_equal((common == 0).all(axis=0), (common == 0).any(axis=0))
    specific = fit(lam2=0.0, beta=5.0).coef_
    assert ((specific == 0).any(axis=0) & (specific != 0).any(axis=0)).any()
    for weight, term in (("alpha", "labels"), ("lam1", "rows")):
        weak, strong = fit(**{weight: 0.1}), fit(**{weight: 10.0})
        share = [model.history_[-1][term] for model in (weak, strong)]
        assert share[1] / 10.0 < share[0] / 0.1


def test_a_row_counts_among_its_neighbors():
    """Two neighbors are a row and one other; one neighbor is no graph at all."""
    assert np.all(Literal.nearest(np.arange(6.0)[:, None], 2).sum(axis=1) == 2)
    model, literal = fitted(n_neighbors=2, lam1=3.0)
    assert model.history_[-1]["rows"] == pytest.approx(
        literal.terms(literal.coefficients())["rows"]
    )
    alone, _ = fitted(n_neighbors=1, lam1=3.0)
    without, _ = fitted(lam1=0.0)
    np.testing.assert_array_equal(alone.coef_, without.coef_)
    assert alone.history_[-1]["rows"] == 0.0


def test_rows_far_from_zero_keep_their_neighbors():
    X, Y = random_rows(0, n=80, m=20)
    near, far = (CLML(**WEIGHTS, **EXACT).fit(rows, Y) for rows in (X, X + 1e7))
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-6)


def best_threshold(scores, Y):
    """The paper's loop; a row without labels that gets none is right."""
    best, chosen = -1.0, 0.0
    for threshold in np.linspace(0.0, max(scores.max(), 0.0), 51):
        predicted, accuracy = scores > threshold, 0.0
        for row, truth in zip(predicted, Y > 0, strict=True):
            either = np.sum(row | truth)
            accuracy += np.sum(row & truth) / either if either else 1.0
        if accuracy > best + 1e-9:
            best, chosen = accuracy, threshold
    return chosen


@given(seed=st.integers(0, 10_000), share=st.sampled_from([0.2, 0.6, 1.0]))
@settings(max_examples=15)
def test_threshold_is_the_most_accurate(seed, share):
    X, Y = random_rows(seed, n=30)
    Y *= np.random.default_rng(seed).random(Y.shape) < share
    model = CLML().fit(X, Y)
    scores = model.decision_function(X) + model.threshold_
    assert model.threshold_ == pytest.approx(best_threshold(scores, Y))
    np.testing.assert_array_equal(model.predict(X), scores > model.threshold_)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_blocks_make_no_difference(monkeypatch, kind):
    X, Y = random_rows(0, n=300)
    expected = CLML().fit(X, Y).threshold_
    monkeypatch.setattr("homi.methods.clml._BLOCK", 51 * 7)
    assert CLML().fit(kind(X), kind(Y)).threshold_ == pytest.approx(expected)


def test_fixed_threshold():
    X, Y = random_rows(0)
    chosen, fixed = CLML().fit(X, Y), CLML(threshold=0.5).fit(X, Y)
    assert fixed.threshold_ == 0.5
    np.testing.assert_allclose(
        chosen.decision_function(X) + chosen.threshold_,
        fixed.decision_function(X) + 0.5,
    )


@pytest.mark.parametrize(
    "kind", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix]
)
@pytest.mark.parametrize("parameters", VARIANTS[:4])
def test_sparse_is_dense(kind, parameters):
    X, Y = random_rows(2, n=60)
    X *= np.random.default_rng(2).random(X.shape) < 0.4
    dense, thin = (
        CLML(**{**WEIGHTS, **parameters}).fit(rows, labels)
        for rows, labels in ((X, Y), (kind(X), sparse.csr_array(Y)))
    )
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-10)
    np.testing.assert_allclose(thin.intercept_, dense.intercept_, atol=1e-10)
    np.testing.assert_array_equal(thin.predict(kind(X)), dense.predict(X))


def test_degenerate_labels():
    X, Y = random_rows(0, n=40)
    Y = np.column_stack([np.zeros(40), np.ones(40), np.eye(40)[0], Y[:, 0], Y[:, 0]])
    model = CLML().fit(X, Y)
    assert np.isfinite(model.coef_).all()
    predicted = model.predict(X)
    assert not predicted[:, 0].any()
    assert predicted[:, 1].all()
    np.testing.assert_allclose(model.coef_[3], model.coef_[4], atol=1e-12)


@pytest.mark.parametrize(
    ("n", "m", "q"), [(2, 8, 4), (1, 3, 2), (6, 3, 2), (12, 50, 3), (30, 5, 1)]
)
def test_small_shapes(n, m, q):
    X, Y = random_rows(0, n=n, m=m, q=q)
    model = CLML().fit(X, Y)
    assert model.predict(X).shape == (n, q)
    assert np.isfinite(model.decision_function(X)).all()


def test_constant_features_and_labels():
    X, Y = random_rows(0)
    X[:, 0] = 3.0
    assert not CLML().fit(X, Y).coef_[:, 0].any()
    flat = CLML().fit(np.ones((10, 3)), Y[:10])
    assert not flat.coef_.any()
    for labels in (np.zeros((40, 2)), np.ones((40, 2))):
        model = CLML().fit(X, labels)
        np.testing.assert_array_equal(model.predict(X), labels)


def test_equal_rows_have_neighbors():
    X = np.repeat(np.eye(4), 12, axis=0)
    Y = np.repeat([[1, 0], [0, 1], [1, 1], [0, 0]], 12, axis=0)
    model = CLML().fit(X, Y)
    assert model.history_[-1]["rows"] == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_array_equal(model.predict(X), Y)


def test_warns_when_iterations_end():
    X, Y = random_rows(0)
    with pytest.warns(ConvergenceWarning, match="CLML did not converge .* max_iter=1 "):
        model = CLML(max_iter=1).fit(X, Y)
    assert model.n_iter_ == 1


def test_grid_is_the_papers():
    powers = [2.0**power for power in (-10, -8, -6, -4, -2, 0, 2, 4, 6, 8, 10)]
    names = ["alpha", "beta", "lam1", "lam2"]
    assert CLML.paper_grid == dict.fromkeys(names, powers)


def five_folds(X, Y, model):
    results = []
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        scores = model.fit(X[train], Y[train]).decision_function(X[test])
        first = evaluate(Y[test], scores, scores > 0, PAPER_METRICS[:3]).values()
        results.append([*first, macro_auc(Y[test], scores, undefined="zero")])
    return np.mean(results, axis=0), np.std(results, axis=0, ddof=1)


@pytest.mark.parametrize(
    ("name", "threshold", "means"),
    [
        ("emotions", "accuracy", (0.226, 0.184, 0.302, 0.817)),
        ("yeast", "accuracy", (0.316, 0.355, 0.365, 0.676)),
        ("birds", 0.5, (0.060, 0.124, 0.688, 0.730)),
    ],
)
def test_re_run_rows_of_the_authors_algorithm(name, threshold, means, data):
    """Five folds of a port of the authors' code, which has no intercept."""
    X, Y, *_ = data(name)
    model = CLML(threshold=threshold, fit_intercept=False)
    found, deviations = five_folds(X, Y, model)
    assert (np.abs(found - means) <= 2 * deviations + 0.0005).all(), (found, means)


def test_rows_of_unit_length(data):
    """The demo's scaling, without intercept; the port ran for 300 iterations."""
    X, Y, *_ = data("emotions")
    model = CLML(threshold=0.5, fit_intercept=False, standardize=False)
    found, deviations = five_folds(normalize(X), Y, model)
    means = (0.280, 0.252, 0.420, 0.756)
    assert (found <= (*means[:3], 1.0) + 2 * deviations).all(), found
    assert found[3] >= means[3] - 2 * deviations[3], found


def test_the_intercept_tells_how_frequent_labels_are(data):
    X, Y, *_ = data("yeast")
    (_, without, *_), _ = five_folds(X, Y, CLML(fit_intercept=False))
    (_, ranking, *_), _ = five_folds(X, Y, CLML())
    assert ranking < 0.19 < 0.32 < without
