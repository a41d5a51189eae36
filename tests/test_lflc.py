"""LFLC against the objective written out, the lasso, and re-runs on real data."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, MultiTaskLasso
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

import contract_checks
from conftest import random_rows
from homi.methods.lflc import LFLC
from homi.metrics import PAPER_METRICS, evaluate, macro_auc

EXACT = {"tol": 1e-10, "max_iter": 100_000}


@pytest.mark.filterwarnings("ignore")
@contract_checks.parametrize(
    [
        LFLC(0.1, eta=0.1, balance=1.0, standardize=False),
        LFLC(1.0, balance=0.0),
    ]
)
def test_scikit_learn_contract(estimator, expected):
    contract_checks.check_parameters(estimator, expected)


class Literal:
    """The objective with explicit ones and loops over pairs of labels."""

    def __init__(self, X, Y, model):
        self.scale = X.std(axis=0) if model.standardize else np.ones(X.shape[1])
        center = model.standardize or model.fit_intercept
        self.X = (X - X.mean(axis=0) * center) / self.scale
        offset = Y.mean(axis=0) * model.fit_intercept
        self.Y = Y - np.ones((len(X), 1)) @ offset[None]
        S = self.cosines(Y)
        self.L = np.diag(S @ np.ones(len(S))) - S
        root = np.sqrt(Y.shape[1])
        self.coarse = model.lam * (1 + model.balance * (root - 1))
        self.model = model

    @staticmethod
    def cosines(Y):
        C = np.zeros((Y.shape[1],) * 2)
        for p, q in np.ndindex(C.shape):
            lengths = np.linalg.norm(Y[:, p]) * np.linalg.norm(Y[:, q])
            C[p, q] = Y[:, p] @ Y[:, q] / lengths if lengths else 0.0
        return C

    def terms(self, W, V):
        F = self.X @ W
        return {
            "loss": 0.5 * np.sum((self.Y - self.X @ (W + V)) ** 2),
            "coarse": self.coarse * sum(np.sqrt(np.sum(w**2)) for w in W),
            "fine": self.model.lam * np.sum(np.abs(V)),
            "similarity": 0.5 * self.model.eta * np.trace(F @ self.L @ F.T),
        }

    def total(self, W, V):
        return sum(self.terms(W, V).values())

    def gradients(self, W, V):
        G, C = self.X.T @ self.X, self.X.T @ self.Y
        R = G @ (W + V) - C
        return R + self.model.eta * G @ W @ self.L, R

    def steps(self, W, V, s):
        """One proximal gradient step of the pair."""
        for_W, for_V = self.gradients(W, V)
        W, V = W - s * for_W, V - s * for_V
        for w in W:
            length = np.linalg.norm(w)
            w *= max(0.0, 1.0 - s * self.coarse / length) if length else 0.0
        return W, np.sign(V) * np.maximum(np.abs(V) - s * self.model.lam, 0.0)

    def minimum(self, n_iter=5000):
        """Accelerated proximal gradient from zero, as long as it takes."""
        size = np.linalg.norm(self.X.T @ self.X, 2)
        s = 1.0 / (2 * size + self.model.eta * size * np.linalg.norm(self.L, 2))
        old = pair = np.zeros((2, self.X.shape[1], self.Y.shape[1]))
        t = 1.0
        for _ in range(n_iter):
            t, before = (1 + np.sqrt(1 + 4 * t * t)) / 2, t
            ahead = pair + (before - 1) / t * (pair - old)
            old, pair = pair, np.stack(self.steps(*ahead, s))
        return self.total(*pair)

    def pair(self):
        """W and V as the method sees them."""
        model, scale = self.model, self.scale[:, None]
        return model.coarse_coef_.T * scale, model.fine_coef_.T * scale


def fitted(**parameters):
    X, Y = random_rows(0)
    model = LFLC(**{"lam": 2.0, "eta": 0.1, **EXACT, **parameters}).fit(X, Y)
    return model, Literal(X, Y, model)


VARIANTS = [
    {},
    {"eta": 1e-6, "lam": 0.3},
    {"eta": 3.0, "balance": 0.1},
    {"fit_intercept": False, "balance": 0.2},
    {"standardize": False},
    {"standardize": False, "fit_intercept": False},
]


@pytest.mark.parametrize("parameters", VARIANTS)
def test_history_ends_with_the_literal_objective(parameters):
    model, literal = fitted(**parameters)
    expected = literal.terms(*literal.pair())
    assert list(model.history_[-1]) == list(expected)
    for name, value in model.history_[-1].items():
        assert value == pytest.approx(expected[name], rel=1e-9, abs=1e-12)
    assert model.n_iter_ == len(model.history_)
    np.testing.assert_allclose(model.coarse_coef_ + model.fine_coef_, model.coef_)


@pytest.mark.parametrize("parameters", VARIANTS)
def test_the_end_is_the_minimum(parameters):
    """A literal proximal gradient step leaves it; thousands from zero end there."""
    _, literal = fitted(**parameters)
    pair = literal.pair()
    for moved, part in zip(literal.steps(*pair, 1e-3), pair, strict=True):
        np.testing.assert_allclose(moved, part, atol=1e-8)
    assert literal.total(*pair) == pytest.approx(literal.minimum(), rel=1e-8)


def test_gradients_of_the_twin():
    _, literal = fitted()
    rng = np.random.default_rng(1)
    pair = rng.normal(size=(2, 8, 4))

    def smooth(pair):
        terms = literal.terms(*pair)
        return terms["loss"] + terms["similarity"]

    gradient = np.stack(literal.gradients(*pair))
    for index in np.ndindex(pair.shape):
        e = np.zeros_like(pair)
        e[index] = 1e-5
        slope = (smooth(pair + e) - smooth(pair - e)) / 2e-5
        assert slope == pytest.approx(gradient[index], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("eta", [0.0, 1e-6, 0.5])
def test_balance_of_one_is_a_lasso_for_each_label(eta):
    """Nothing is gained by the coarse part, whatever η."""
    X, Y = random_rows(0, n=60, m=12)
    model = LFLC(3.0, eta=eta, balance=1.0, tol=1e-7, max_iter=10_000).fit(X, Y)
    scaler = StandardScaler().fit(X)
    lasso = Lasso(3.0 / 60, tol=1e-12, max_iter=100_000).fit(scaler.transform(X), Y)
    np.testing.assert_allclose(model.coef_ * scaler.scale_, lasso.coef_, atol=1e-5)
    nothing = np.zeros_like(lasso.coef_.T)
    lowest = Literal(X, Y, model).total(nothing, lasso.coef_.T)
    assert sum(model.history_[-1].values()) == pytest.approx(lowest, rel=1e-7)
    scores = lasso.predict(scaler.transform(X)) - 0.5
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-5)


def test_balance_of_zero_is_a_lasso_of_all_labels():
    X, Y = random_rows(0, n=60, m=12)
    model = LFLC(6.0, eta=0.0, balance=0.0, **EXACT).fit(X, Y)
    scaler = StandardScaler().fit(X)
    lasso = MultiTaskLasso(6.0 / 60, tol=1e-12, max_iter=100_000)
    lasso.fit(scaler.transform(X), Y)
    np.testing.assert_allclose(model.coef_ * scaler.scale_, lasso.coef_, atol=1e-6)
    np.testing.assert_allclose(model.fine_coef_, 0.0, atol=1e-6)


def test_both_parts_are_used_between():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12))
    Y = X[:, :2].sum(axis=1, keepdims=True) + X[:, 2:6] > 0
    model = LFLC(5.0).fit(X, Y.astype(int))
    coarse, fine = np.abs(model.coarse_coef_), np.abs(model.fine_coef_)
    assert coarse[:, :2].min() > 5 * coarse[:, 2:].max()
    assert not fine[:, :2].any()
    own = np.diag(fine[:, 2:6])
    assert (own > 5 * (fine[:, 2:].sum(axis=1) - own)).all()


def test_ties_pull_the_coarse_part_together():
    weak, _ = fitted(eta=0.01, balance=0.2)
    strong, _ = fitted(eta=10.0, balance=0.2)
    shares = [model.history_[-1]["similarity"] for model in (weak, strong)]
    assert shares[1] / 10.0 < shares[0] / 0.01


def test_large_penalty_leaves_the_frequencies():
    X, Y = random_rows(0)
    model = LFLC(1e4).fit(X, Y)
    assert not model.coef_.any()
    assert model.n_iter_ < 100
    np.testing.assert_allclose(model.intercept_, Y.mean(axis=0) - 0.5)


def test_default_stop_is_near_the_minimum():
    X, Y = random_rows(3, n=60, m=12)
    for lam in (1.0, 5.0, 11.0):
        model, exact = LFLC(lam).fit(X, Y), LFLC(lam, **EXACT).fit(X, Y)
        lowest = sum(exact.history_[-1].values())
        assert sum(model.history_[-1].values()) <= lowest * (1 + 1e-4)
        assert model.n_iter_ < exact.n_iter_


@pytest.mark.parametrize(
    "kind", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix]
)
@pytest.mark.parametrize("parameters", VARIANTS[2:])
def test_sparse_is_dense(kind, parameters):
    X, Y = random_rows(2, n=60)
    X *= np.random.default_rng(2).random(X.shape) < 0.4
    dense, thin = (
        LFLC(**{"lam": 1.0, **parameters}).fit(rows, labels)
        for rows, labels in ((X, Y), (kind(X), sparse.csr_array(Y)))
    )
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-10)
    np.testing.assert_allclose(thin.intercept_, dense.intercept_, atol=1e-10)
    np.testing.assert_array_equal(thin.predict(kind(X)), dense.predict(X))


def test_degenerate_labels():
    X, Y = random_rows(0, n=40)
    Y = np.column_stack([np.zeros(40), np.ones(40), np.eye(40)[0], Y[:, 0], Y[:, 0]])
    model = LFLC().fit(X, Y)
    assert np.isfinite(model.coef_).all()
    predicted = model.predict(X)
    assert not predicted[:, 0].any()
    assert predicted[:, 1].all()
    np.testing.assert_allclose(model.coef_[3], model.coef_[4], atol=1e-12)


@pytest.mark.parametrize(
    ("n", "m", "q"), [(2, 8, 4), (1, 3, 2), (6, 3, 2), (12, 50, 3), (30, 5, 1)]
)
@pytest.mark.parametrize("lam", [0.1, 5.0])
def test_small_shapes(n, m, q, lam):
    X, Y = random_rows(0, n=n, m=m, q=q)
    model = LFLC(lam).fit(X, Y)
    assert model.predict(X).shape == (n, q)
    assert np.isfinite(model.decision_function(X)).all()


def test_constant_features_and_labels():
    X, Y = random_rows(0)
    X[:, 0] = 3.0
    assert not LFLC(0.1).fit(X, Y).coef_[:, 0].any()
    assert not LFLC().fit(np.ones((10, 3)), Y[:10]).coef_.any()
    for labels in (np.zeros((40, 2)), np.ones((40, 2))):
        np.testing.assert_array_equal(LFLC().fit(X, labels).predict(X), labels)


def test_warns_when_iterations_end():
    X, Y = random_rows(0)
    with pytest.warns(ConvergenceWarning, match="LFLC did not converge .* max_iter=1 "):
        model = LFLC(max_iter=1).fit(X, Y)
    assert model.n_iter_ == 1


def test_grid_and_reconstruction():
    assert LFLC.paper_grid["lam"] == [1, 3, 5, 7, 9, 11, 13, 15, 17, 19]
    expected = [1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5]
    np.testing.assert_allclose(LFLC.paper_grid["eta"], expected, rtol=1e-12)
    assert LFLC.reconstruction


@pytest.mark.parametrize(
    ("name", "lam", "means", "balance"),
    [
        ("emotions", 5.0, (0.203, 0.166, 0.280, 0.832), 1.0),
        ("emotions", 5.0, (0.203, 0.166, 0.280, 0.832), 0.5),
        ("yeast", 5.0, (0.198, 0.169, 0.226, 0.689), 0.5),
        ("birds", 5.0, (0.047, 0.085, 0.676, 0.786), 1.0),
        ("birds", 11.0, (0.047, 0.094, 0.678, 0.816), 0.5),
        ("CAL500", 5.0, (0.138, 0.184, 0.151, 0.562), 0.5),
        ("CAL500", 11.0, (0.137, 0.178, 0.126), 1.0),
    ],
)
def test_re_run_rows(name, lam, means, balance, data):
    """Five folds of an independent run with balance 1; no AUC was noted for one."""
    X, Y, *_ = data(name)
    results = []
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        model = LFLC(lam, balance=balance).fit(X[train], Y[train])
        scores = model.decision_function(X[test])
        first = evaluate(Y[test], scores, scores > 0, PAPER_METRICS[:3]).values()
        results.append([*first, macro_auc(Y[test], scores, undefined="zero")])
    found = np.mean(results, axis=0)[: len(means)]
    deviations = np.std(results, axis=0, ddof=1)[: len(means)]
    assert (np.abs(found - means) <= 2 * deviations + 0.0005).all(), (found, means)
