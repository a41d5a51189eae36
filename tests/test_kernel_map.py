"""HOMI with kernels, against the exact kernel's equations on dense matrices."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.preprocessing import StandardScaler

from homi import HOMI
from homi.datasets import load
from homi.graph import neighbor_laplacian
from homi.metrics import ranking_loss
from homi.model.kernel_map import KernelMap, Triangle

PARAMS = {
    "rbf": {"gamma": 0.2},
    "laplacian": {"gamma": 0.1},
    "polynomial": {"gamma": 0.5, "degree": 2, "coef0": 1.0},
    "cosine": {},
}


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) * np.arange(1, 6) + 3.0
    Y = (np.sin(X) @ rng.normal(size=(5, 4)) + rng.normal(size=(60, 4)) > 0).astype(int)
    return X, Y


def fitted(kernel, rows, **options):
    options = {"tol": 1e-14, "max_iter": 3000, "random_state": 0, **options}
    params = PARAMS[kernel] if isinstance(kernel, str) else None
    return HOMI(kernel=kernel, kernel_params=params, **options).fit(*rows)


def first_scores(model, X):
    """XW + 1zᵀ, with features in the place of X."""
    return model._features(X) @ model.feature_weights_ + model.feature_bias_


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_with_all_landmarks_the_kernel_is_exact(kernel, rows):
    """With F = KA + 1zᵀ: (F - Y) + γLFBBᵀ + λA = 0, and (B, t) as in the paper."""
    X, Y = rows
    lam, beta, gamma, s = 0.5, 1.5, 0.8, 3
    model = fitted(kernel, rows, lam=lam, beta=beta, gamma=gamma, n_neighbors=s)
    scaled = StandardScaler().fit_transform(X)
    K = pairwise_kernels(scaled, metric=kernel, **PARAMS[kernel])
    L = neighbor_laplacian(scaled, s).toarray()
    F, z = first_scores(model, X), model.feature_bias_
    B, t = model.label_correlation_, model.label_bias_
    A = np.linalg.solve(K, F - z)
    graph = gamma * L @ F @ B @ B.T
    np.testing.assert_allclose(F - Y + graph + lam * A, 0, atol=1e-4)
    np.testing.assert_allclose((F - Y).sum(axis=0) + lam * z, 0, atol=1e-6)
    left = (beta * Y.T @ Y + lam * np.eye(4) + gamma * F.T @ L @ F) @ B
    np.testing.assert_allclose(left, beta * Y.T @ (Y - t), atol=1e-6)
    np.testing.assert_allclose(model.decision_function(X), F @ B + t - 0.5, atol=1e-8)


@pytest.mark.parametrize("kernel", PARAMS)
def test_without_a_graph_it_is_kernel_ridge(kernel, rows):
    """A bias that is penalized too is the kernel K + 1."""
    X, Y = rows
    model = fitted(kernel, rows, gamma=0.0, lam=0.5, standardize=False)
    K = pairwise_kernels(X, metric=kernel, **PARAMS[kernel]) + 1.0
    expected = K @ np.linalg.solve(K + 0.5 * np.eye(60), Y)
    # scikit-learn cuts eigenvalues of the kernel matrix at 1e-12.
    np.testing.assert_allclose(first_scores(model, X), expected, atol=1e-5)


def test_a_callable_kernel(rows):
    by_hand = fitted(lambda a, b: float((a @ b) ** 2), rows, gamma=0.0)
    params = {"gamma": 1.0, "degree": 2, "coef0": 0.0}
    named = HOMI(kernel="polynomial", kernel_params=params, gamma=0.0, random_state=0)
    expected = named.fit(*rows).decision_function(rows[0])
    np.testing.assert_allclose(by_hand.decision_function(rows[0]), expected, atol=1e-4)


def test_the_width_is_the_median_distance(rows):
    X, _ = rows
    rng = np.random.RandomState(0)
    found = KernelMap.fit(X, "rbf", 10, {}, standardize=False, rng=rng).params["gamma"]
    apart = ((X[:, None] - X[None]) ** 2).sum(axis=2)[np.triu_indices(60, 1)]
    assert found == pytest.approx(1 / (2 * np.median(apart)))
    found = KernelMap.fit(X, "laplacian", 10, {}, standardize=False, rng=rng)
    apart = np.abs(X[:, None] - X[None]).sum(axis=2)[np.triu_indices(60, 1)]
    assert found.params["gamma"] == pytest.approx(1 / (2 * np.median(apart)))
    same = KernelMap.fit(np.ones((5, 2)), "rbf", 3, {}, standardize=False, rng=rng)
    assert same.params["gamma"] == 1.0


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("n_components", [20, 60])
def test_features_of_landmarks_are_rows_of_the_factor(container, n_components, rows):
    X, rng = container(rows[0]), np.random.RandomState(0)
    made = KernelMap.fit(X, "rbf", n_components, {}, standardize=True, rng=rng)
    for some in (X, X[::-1], X[:5]):
        expected = Triangle(made.triangle).features(made(some))
        np.testing.assert_allclose(made.features(some), expected, atol=1e-8)
    np.testing.assert_array_equal(made.features(X)[made.indices], made.triangle)


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csc_matrix])
def test_sparse_rows(container, rows):
    X, Y = rows
    X = X * (np.random.default_rng(1).random(X.shape) < 0.5)
    expected = fitted("rbf", (X, Y)).decision_function(X)
    found = fitted("rbf", (container(X), Y)).decision_function(container(X))
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_seeds_and_sizes(rows):
    X, Y = rows
    model = HOMI(kernel="rbf", n_components=20, random_state=3)
    one, two = (clone(model).fit(X, Y) for _ in range(2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert one.coef_.shape == (4, 20)
    assert one.n_features_in_ == 5
    assert HOMI(kernel="rbf").fit(X, Y).coef_.shape == (4, 60)
    other = clone(model).set_params(random_state=4).fit(X, Y)
    assert not np.array_equal(one.coef_, other.coef_)
    np.testing.assert_array_equal(one.predict(X), one.decision_function(X) > 0)
    # As many components as features: rows must be mapped all the same.
    five = clone(model).set_params(n_components=5).fit(X, Y)
    np.testing.assert_array_equal(five.predict(X), five.decision_function(X) > 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "rbf", "kernel_params": {"degree": 2}}, "'rbf' takes gamma"),
        ({"kernel": "cosine", "kernel_params": {"gamma": 2}}, "takes no parameters"),
        ({"kernel": "sigmoid"}, "kernel"),
        ({"kernel": "rbf", "n_components": 0}, "n_components"),
    ],
)
def test_mistakes(options, message, rows):
    with pytest.raises(ValueError, match=message):
        HOMI(**options).fit(*rows)


def test_it_bends():
    """On yeast a kernel orders labels better than straight lines do."""
    X, Y, *_ = load("yeast")
    train, test = slice(0, 1800), slice(1800, None)
    losses = []
    for kernel in (None, "rbf"):
        model = HOMI(n_neighbors=2, kernel=kernel, n_components=300, random_state=0)
        scores = model.fit(X[train], Y[train]).decision_function(X[test])
        losses.append(ranking_loss(Y[test], scores))
    assert losses[1] < losses[0] - 0.005
