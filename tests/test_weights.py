"""Weights of rows: a row of weight w is w equal rows, one of weight 0 is not there."""

import warnings

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import homi.row_products
from conftest import random_rows
from homi import HOMI
from homi.graph import neighbor_laplacian
from homi.graph.weighted import MOST
from homi.metrics import scorers
from homi.moments import Moments
from homi.solver import Problem, leave_one_out

NAMES = ("x_mean", "y_mean", "Sxx", "Sxy", "Syy")
KINDS = {"dense": np.asarray, "csr": sparse.csr_array, "csc": sparse.csc_matrix}


def assert_same_moments(actual, expected, tol=1e-10):
    assert actual.n == pytest.approx(expected.n)
    for name in NAMES:
        one, other = getattr(actual, name), getattr(expected, name)
        assert one.dtype == np.float64
        np.testing.assert_allclose(one, other, rtol=0, atol=tol, err_msg=name)


def sparse_rows(seed, n=30, m=40, density=0.03):
    rng = np.random.default_rng(seed)
    X = rng.normal(1.0, 1.0, (n, m)) * (rng.random((n, m)) < density)
    X[:, 0] = rng.normal(1e3, 1.0, n)
    return X, (rng.random((n, 3)) < 0.4).astype(float)


# Moments


@settings(derandomize=True, max_examples=40)
@given(st.integers(0, 10_000), st.sampled_from(list(KINDS)), st.sampled_from([0, 1]))
def test_whole_weights_are_repeated_rows(seed, kind, thin):
    X, Y = sparse_rows(seed)
    weights = np.random.default_rng(seed).integers(0, 4, len(X))
    weights[0] = 1
    convert = KINDS[kind]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(homi.row_products, "THIN", thin)
        found = Moments.from_rows(convert(X), convert(Y), weights)
    rows = np.repeat(np.arange(len(X)), weights)
    expected = Moments.from_rows(X[rows], Y[rows])
    assert_same_moments(found, expected, tol=1e-9)
    np.testing.assert_allclose(found.scale(), expected.scale(), rtol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_any_weights_are_in_the_sums(kind):
    X, Y = random_rows(0)
    w = np.random.default_rng(1).exponential(size=len(X))
    x, y = w @ X / w.sum(), w @ Y / w.sum()
    W = np.diag(w)
    expected = Moments(
        w.sum(),
        x,
        y,
        (X - x).T @ W @ (X - x),
        (X - x).T @ W @ (Y - y),
        (Y - y).T @ W @ (Y - y),
    )
    assert_same_moments(Moments.from_rows(KINDS[kind](X), Y, w), expected, tol=1e-11)


def test_batches_may_have_weights():
    X, Y = random_rows(0)
    w = np.random.default_rng(1).integers(0, 3, len(X)).astype(float)
    w[10:20] = 0
    parts = [slice(i, i + 10) for i in range(0, 40, 10)]
    found = Moments.from_batches((X[p], Y[p], w[p]) for p in parts)
    assert_same_moments(found, Moments.from_rows(X, Y, w))
    with pytest.raises(ValueError, match="no batches"):
        Moments.from_batches([(X, Y, 0 * w)])


def test_weighted_sparse_rows_are_never_written_out(monkeypatch):
    X, Y = sparse_rows(0, n=2000, m=500, density=0.001)
    X = sparse.csr_array(X)
    largest = []
    original = sparse.csr_array.toarray

    def watched(self, *args, **kwargs):
        largest.append(self.shape)
        return original(self, *args, **kwargs)

    monkeypatch.setattr(sparse.csr_array, "toarray", watched)
    Moments.from_rows(X, Y, np.full(2000, 0.5))
    assert X.shape not in largest


BAD = {
    "too few": (lambda w: w[:-1], r"shape \(59,\) for 60 rows; pass one number"),
    "two columns": (lambda w: np.stack([w, w], 1), r"shape \(60, 2\) for 60 rows"),
    "negative": (lambda w: w - 1.5, "60 negative numbers, the smallest -0.5"),
    "NaN": (lambda w: w * np.nan, "contains NaN or infinity"),
    "infinite": (lambda w: w * np.inf, "contains NaN or infinity"),
    "nothing": (lambda w: 0 * w, "are all zero; pass a positive one"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_weights_get_a_clear_error(case):
    X, Y = random_rows(0, n=60)
    spoil, message = BAD[case]
    weights = spoil(np.ones(60))
    with pytest.raises(ValueError, match=message):
        Moments.from_rows(X, Y, weights)
    with pytest.raises(ValueError, match="sample_weight.*" + message):
        HOMI().fit(X, Y, sample_weight=weights)


# The graph


@pytest.mark.filterwarnings("ignore:n_neighbors")
@pytest.mark.parametrize("n_neighbors", [1, 3, 10, 100])
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_the_graph_is_that_of_repeated_rows(n_neighbors, kind):
    rng = np.random.default_rng(n_neighbors)
    X, weights = rng.normal(size=(25, 6)), rng.integers(1, 6, 25)
    rows = np.repeat(np.arange(25), weights)
    L = neighbor_laplacian(X[rows], n_neighbors)
    expected = X[rows].T @ (L @ X[rows])
    L = neighbor_laplacian(KINDS[kind](X), n_neighbors, weights=weights.astype(float))
    np.testing.assert_allclose(X.T @ (L @ X), expected, rtol=1e-10, atol=1e-10)


def literal_ties(X, weights, n_neighbors):
    """One row after the other, one neighbour after the other."""
    R = np.corrcoef(X)
    S = np.zeros_like(R)
    for i in range(len(X)):
        places = n_neighbors - max(weights[i] - 1, 0)
        for j in np.argsort(-R[i]):
            if j != i and places > 0:
                S[i, j] = weights[i] * min(weights[j], places) * max(R[i, j], 0)
                places -= weights[j]
    S = (S + S.T) / 2
    return np.diag(S.sum(axis=1)) - S


def test_weights_of_neighbours_add_up_to_their_number():
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(30, 6)), rng.uniform(0.4, 3.0, 30)
    L = neighbor_laplacian(X, 4, weights=weights).toarray()
    np.testing.assert_allclose(L, literal_ties(X, weights, 4), atol=1e-12)


def test_rows_of_little_weight_are_not_tied_to_all():
    """The graph weighs as the rows do, also where the ties end before s is reached."""
    X = np.random.default_rng(0).normal(size=(300, 20))
    light, lighter = (
        neighbor_laplacian(X, 3, weights=np.full(300, w)) for w in (0.1, 0.02)
    )
    assert light.nnz <= 300 * (2 * MOST * 3 + 1)
    np.testing.assert_allclose(light.toarray(), 5 * lighter.toarray(), atol=1e-12)


def test_weights_that_are_shares_get_a_warning():
    X, Y = random_rows(0, n=60)
    with pytest.warns(UserWarning, match=r"total weight 1: .*rescale the weights"):
        HOMI().fit(X, Y, sample_weight=np.full(60, 1 / 60))


# The model

MODELS = {
    "paper's": {},
    "no graph": {"gamma": 0},
    "as given": {"standardize": False, "gamma": 0.3},
    "four blocks": {"sweep": "paper"},
    "identity": {"correlation": "identity"},
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("options", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_a_fit_with_whole_weights_is_one_of_repeated_rows(options, kind):
    X, Y = random_rows(0, n=60, m=7, q=3)
    weights = np.random.default_rng(1).integers(0, 4, 60)
    rows = np.repeat(np.arange(60), weights)
    expected = HOMI(**options).fit(X[rows], Y[rows])
    model = HOMI(**options).fit(KINDS[kind](X), Y, sample_weight=weights)
    for name in ("coef_", "intercept_", "label_correlation_"):
        one, other = getattr(model, name), getattr(expected, name)
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-10, err_msg=name)
    assert model.history_[-1] == pytest.approx(expected.history_[-1])


@pytest.mark.parametrize(
    "options",
    [{}, {"correlation": "held-out"}, {"kernel": "rbf", "random_state": 0}],
    ids=str,
)
def test_a_row_of_weight_0_is_not_there(options):
    X, Y = random_rows(0, n=60, m=7, q=3)
    weights = np.where(np.arange(60) % 3 == 0, 0.0, 1.5)
    kept = weights > 0
    model = HOMI(**options).fit(X, Y, sample_weight=weights)
    expected = HOMI(**options).fit(X[kept], Y[kept], sample_weight=weights[kept])
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    plain = HOMI(**options).fit(X[kept], Y[kept])
    assert np.abs(plain.coef_ - model.coef_).max() > 1e-4


def test_ones_are_no_weights():
    X, Y = random_rows(0)
    expected = HOMI().fit(X, Y).coef_
    for ones in (1, 1.0, np.ones(40), [1] * 40):
        model = HOMI().fit(X, Y, sample_weight=ones)
        np.testing.assert_array_equal(model.coef_, expected)


def test_a_kernel_of_all_rows_with_weights_is_that_of_repeated_rows():
    X, Y = random_rows(0, n=30, m=4, q=3)
    weights = np.random.default_rng(1).integers(1, 4, 30)
    rows = np.repeat(np.arange(30), weights)
    options = {
        "kernel": "rbf",
        "kernel_params": {"gamma": 0.1},
        "gamma": 0,
        "lam": 1e-2,
    }
    expected = HOMI(**options, random_state=0).fit(X[rows], Y[rows])
    model = HOMI(**options, random_state=0).fit(X, Y, sample_weight=weights)
    found, other = (one.decision_function(X) for one in (model, expected))
    np.testing.assert_allclose(found, other, atol=1e-4)


def test_a_row_is_left_out_with_all_its_weight():
    X, Y = random_rows(0, n=30, m=4, q=3)
    weights = np.random.default_rng(1).uniform(0.2, 3, 30)
    problem = Problem(Moments.from_rows(X, Y, weights), 0.7, gamma=0.0)
    found = leave_one_out(problem, X, Y, np.eye(3), weights=weights)
    with_one = np.hstack([X, np.ones((30, 1))])
    ridge = Ridge(alpha=0.7, fit_intercept=False)
    for i in (0, 7, 29):
        others = np.arange(30) != i
        ridge.fit(with_one[others], Y[others], sample_weight=weights[others])
        np.testing.assert_allclose(found[i], ridge.predict(with_one[[i]])[0])


def test_held_out_corrections_count_rows_by_their_weight():
    """Two halves with other labels: B is that of the half which weighs all."""
    X, Y = random_rows(0, n=80, m=6, q=4)
    Y[40:] = Y[40:, ::-1]
    options = {"correlation": "held-out", "gamma": 0, "standardize": False}
    first = np.where(np.arange(80) < 40, 1.0, 1e-9)
    model = HOMI(**options).fit(X, Y, sample_weight=first)
    expected = HOMI(**options).fit(X[:40], Y[:40])
    np.testing.assert_allclose(
        model.label_correlation_, expected.label_correlation_, atol=1e-6
    )
    both = HOMI(**options).fit(X, Y)
    assert np.abs(both.label_correlation_ - expected.label_correlation_).max() > 1e-2


# Metadata routing


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
def test_weights_are_routed_through_a_pipeline_and_a_search():
    X, Y = random_rows(0, n=60, m=7, q=3)
    weights = np.random.default_rng(0).integers(0, 3, 60)
    rows = np.repeat(np.arange(60), weights)
    model = HOMI(gamma=0).set_fit_request(sample_weight=True, label_weight=True)
    pipeline = make_pipeline(MinMaxScaler(), model)
    pipeline.fit(X, Y, sample_weight=weights, label_weight=[1.0, 2.0, 3.0])
    scaled = MinMaxScaler().fit_transform(X)
    expected = HOMI(gamma=0).fit(scaled[rows], Y[rows], label_weight=[1.0, 2.0, 3.0])
    np.testing.assert_allclose(pipeline[-1].coef_, expected.coef_, atol=1e-8)
    grid = GridSearchCV(
        pipeline,
        {"homi__lam": [0.1, 1.0]},
        scoring=scorers(["macro_auc"])["macro_auc"],
        cv=2,
    ).fit(X, Y, sample_weight=weights, label_weight=[1.0, 2.0, 3.0])
    again = grid.best_estimator_[-1]
    expected = HOMI(gamma=0, lam=again.lam).fit(
        scaled, Y, sample_weight=weights, label_weight=[1.0, 2.0, 3.0]
    )
    np.testing.assert_allclose(again.coef_, expected.coef_, atol=1e-12)


@pytest.mark.usefixtures("routing")
def test_weights_reach_every_fold_of_a_cross_validation():
    X, Y = random_rows(0, n=60, m=7, q=3)
    weights = np.random.default_rng(0).uniform(0.1, 3, 60)
    result = cross_validate(
        HOMI(gamma=0).set_fit_request(sample_weight=True, label_weight=True),
        X,
        Y,
        cv=2,
        scoring=scorers(["macro_auc"])["macro_auc"],
        params={"sample_weight": weights, "label_weight": np.array([1.0, 2.0, 9.0])},
        return_estimator=True,
        return_indices=True,
    )
    for model, train in zip(
        result["estimator"], result["indices"]["train"], strict=True
    ):
        expected = HOMI(gamma=0).fit(
            X[train],
            Y[train],
            sample_weight=weights[train],
            label_weight=[1.0, 2.0, 9.0],
        )
        np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-12)


@pytest.mark.usefixtures("routing")
def test_weights_nobody_asked_for_are_refused():
    X, Y = random_rows(0, n=60, m=7, q=3)
    with pytest.raises(ValueError, match=r"sample_weight.* not explicitly set"):
        make_pipeline(HOMI()).fit(X, Y, sample_weight=np.ones(60))


def test_classes_of_rows_without_weight_are_kept():
    X, _ = random_rows(0, n=60)
    y = np.arange(60) % 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = HOMI(gamma=0.1).fit(X, y, sample_weight=(y != 2).astype(float))
    assert list(model.classes_) == [0, 1, 2]
    assert 2 not in model.predict(X)
