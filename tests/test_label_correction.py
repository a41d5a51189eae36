"""Where B comes from: the identity, and held-out scores, against refits by hand."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge

import contract_checks
from conftest import random_rows
from homi import HOMI
from homi.datasets import load
from homi.graph import neighbor_laplacian
from homi.metrics import ranking_loss


def expected_failures(model):
    """A row is left out with all its weight; of equal rows the others would stay."""
    if model.correlation != "held-out":
        return {}
    checks = (
        f"check_sample_weight_equivalence_on_{k}_data" for k in ("dense", "sparse")
    )
    return dict.fromkeys(checks, expected_failures.__doc__)


@contract_checks.parametrize(
    [HOMI(correlation="held-out"), HOMI(correlation="identity")],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn(estimator, expected):
    contract_checks.check(estimator, expected)


def ridge_scores(X, Y, lam, new):
    """Ridge regression with a bias that is penalized too."""
    with_ones = np.column_stack([X, np.ones(len(X))])
    model = Ridge(lam, fit_intercept=False).fit(with_ones, Y)
    return model.predict(np.column_stack([new, np.ones(len(new))]))


def test_the_identity_without_a_graph_is_ridge():
    X, Y = random_rows(n=40, m=6, q=4)
    model = HOMI(lam=0.7, gamma=0.0, correlation="identity", standardize=False)
    expected = ridge_scores(X, Y, 0.7, X) - 0.5
    np.testing.assert_allclose(model.fit(X, Y).decision_function(X), expected)
    np.testing.assert_array_equal(model.label_correlation_, np.eye(4))
    np.testing.assert_array_equal(model.label_bias_, 0)


def test_the_identity_with_a_graph():
    """(G + λI + γH) W = Xᵀ(Y - 1zᵀ)."""
    X, Y = random_rows(n=40, m=6, q=4)
    given = {"lam": 0.7, "gamma": 0.4, "n_neighbors": 3, "standardize": False}
    model = HOMI(**given, correlation="identity").fit(X, Y)
    L = neighbor_laplacian(X, 3).toarray()
    W, z = model.feature_weights_, model.feature_bias_
    left = (X.T @ X + 0.7 * np.eye(6) + 0.4 * X.T @ L @ X) @ W
    np.testing.assert_allclose(left, X.T @ (Y - z), atol=1e-9)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_held_out_scores_are_corrected(container):
    """B and t by gradient: none of them can be improved alone."""
    X, Y = random_rows(n=50, m=6, q=4)
    lam, beta = 0.7, 3.0
    given = {"lam": lam, "beta": beta, "gamma": 0.0, "standardize": False}
    model = HOMI(**given, correlation="held-out")
    model.fit(container(X), container(Y))
    P = np.vstack(
        [
            ridge_scores(np.delete(X, i, 0), np.delete(Y, i, 0), lam, X[i : i + 1])
            for i in range(50)
        ]
    )
    B, t = model.label_correlation_, model.label_bias_
    weight = beta * 4 / np.sum((P - P.mean(axis=0)) ** 2)
    error = P @ B + t - Y
    np.testing.assert_allclose(error.sum(axis=0), 0, atol=1e-8)
    gradient = weight * P.T @ error + B - np.eye(4)
    np.testing.assert_allclose(gradient, 0, atol=1e-8)
    expected = ridge_scores(X, Y, lam, X) @ B + t - 0.5
    np.testing.assert_allclose(model.decision_function(container(X)), expected)


def test_little_trust_is_no_correction():
    X, Y = random_rows(n=50, m=6, q=4)
    model = HOMI(correlation="held-out", beta=1e-12).fit(X, Y)
    np.testing.assert_allclose(model.label_correlation_, np.eye(4), atol=1e-9)


def test_labels_that_never_vary():
    X, Y = random_rows(n=20, m=4, q=3)
    Y[:] = [0, 1, 0]
    model = HOMI(correlation="held-out").fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), Y)


def test_kernels_and_corrections():
    """On yeast held-out scores of a kernel gain by being corrected by each other."""
    X, Y, *_ = load("yeast")
    train, test = slice(0, 1800), slice(1800, None)
    losses = {}
    for correlation in ("identity", "held-out"):
        model = HOMI(
            0.1,
            gamma=0.0,
            correlation=correlation,
            kernel="rbf",
            n_components=300,
            random_state=0,
        ).fit(X[train], Y[train])
        losses[correlation] = ranking_loss(Y[test], model.decision_function(X[test]))
    assert losses["held-out"] < losses["identity"]
