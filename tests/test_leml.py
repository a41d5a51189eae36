"""LEML against reference updates, its gradient, and a solver of the nuclear norm."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from conftest import random_rows
from homi.estimators import LEML
from homi.metrics import hamming_loss


def problem(seed=0, n=60, m=5, q=4):
    """Centered rows and labels, for which the intercept is 0."""
    X, Y = random_rows(seed, n=n, m=m, q=q)
    return StandardScaler().fit_transform(X), Y - Y.mean(axis=0), Y


def literal_objective(X, Y, W, H, lam):
    loss = 0.5 * np.sum((X @ W @ H.T - Y) ** 2)
    return loss + 0.5 * lam * (np.sum(W**2) + np.sum(H**2))


def literal_sweep(X, Y, W, lam):
    """Solve for the factors of one label after the other, then for all of W at once."""
    (m, k), q = W.shape, Y.shape[1]
    A = X @ W
    H = np.array(
        [np.linalg.inv(A.T @ A + lam * np.eye(k)) @ A.T @ Y[:, j] for j in range(q)]
    )
    system = np.kron(H.T @ H, X.T @ X) + lam * np.eye(m * k)
    w = np.linalg.solve(system, (X.T @ Y @ H).ravel(order="F"))
    return w.reshape((m, k), order="F"), H


@given(st.integers(0, 1000), st.integers(1, 6), st.sampled_from([0.3, 3.0, 30.0]))
@settings(max_examples=15)
def test_five_iterations_are_those_of_the_equations(seed, rank, lam):
    X, centered, Y = problem(seed)
    ridge = np.linalg.solve(X.T @ X + lam * np.eye(5), X.T @ centered)
    U, s, _ = np.linalg.svd(ridge, full_matrices=False)
    W = U[:, :rank] * np.sqrt(s[:rank])
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        model = LEML(rank, lam, max_iter=5, tol=0).fit(X, Y)
    for terms in model.history_:
        W, H = literal_sweep(X, centered, W, lam)
        value = literal_objective(X, centered, W, H, lam)
        assert sum(terms.values()) == pytest.approx(value, rel=1e-9)
    np.testing.assert_allclose(model.coef_, H @ W.T, atol=1e-8)
    found = model.label_factors_ @ model.feature_factors_.T
    np.testing.assert_allclose(found, H @ W.T, atol=1e-8)


def test_the_gradient_vanishes_and_the_objective_never_rises():
    X, centered, Y = problem(1)
    model = LEML(2, 5.0, tol=1e-14, max_iter=5000).fit(X, Y)
    W, H = model.feature_factors_, model.label_factors_
    values = [sum(terms.values()) for terms in model.history_]
    assert (np.diff(values) <= 1e-9).all()
    for block in (W, H):
        for index in np.ndindex(block.shape):
            kept, ends = block[index], []
            for step in (1e-5, -1e-5):
                block[index] = kept + step
                ends.append(literal_objective(X, centered, W, H, 5.0))
            block[index] = kept
            assert abs(ends[0] - ends[1]) / 2e-5 < 1e-3


def test_full_rank_minimizes_the_nuclear_norm():
    """Proximal gradient steps on the convex problem find the same minimum."""
    X, Y, labels = problem(2)
    lam, step = 4.0, 1.0 / np.linalg.eigvalsh(X.T @ X)[-1]
    Z = np.zeros((5, 4))
    for _ in range(3000):
        U, s, Vt = np.linalg.svd(Z - step * X.T @ (X @ Z - Y), full_matrices=False)
        Z = (U * np.maximum(s - step * lam, 0)) @ Vt
    model = LEML(4, lam, tol=1e-13, max_iter=5000).fit(X, labels)
    np.testing.assert_allclose(model.coef_, Z.T, atol=1e-4)
    lowest = 0.5 * np.sum((X @ Z - Y) ** 2) + lam * np.linalg.norm(Z, "nuc")
    assert sum(model.history_[-1].values()) == pytest.approx(lowest, rel=1e-7)


def test_full_rank_and_a_small_penalty_are_least_squares():
    X, Y = random_rows(0, n=80)
    model = LEML(9, 1e-7).fit(X, Y)
    expected = Ridge(1e-9).fit(X, Y)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-5)
    np.testing.assert_allclose(model.intercept_ + 0.5, expected.intercept_, atol=1e-4)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_coefficients_have_the_rank(rank):
    X, Y = random_rows(0, n=80, q=6)
    model = LEML(rank, 1.0).fit(sparse.csr_array(X), sparse.csr_array(Y))
    assert np.linalg.matrix_rank(model.coef_) == rank
    assert model.label_factors_.shape == (6, rank)


def test_without_intercept_and_scaling_rows_are_used_as_they_are():
    X, Y = random_rows(0, n=80)
    model = LEML(3, 2.0, fit_intercept=False, standardize=False, tol=1e-10).fit(X, Y)
    np.testing.assert_array_equal(model.intercept_, -0.5)
    W, H = model.feature_factors_, model.label_factors_
    value = literal_objective(X, Y, W, H, 2.0)
    assert sum(model.history_[-1].values()) == pytest.approx(value)


def test_few_factors_are_enough_for_yeast(data):
    X, Y, *_ = data("yeast")
    few, many = (
        hamming_loss(Y[1500:], LEML(rank).fit(X[:1500], Y[:1500]).predict(X[1500:]))
        for rank in (5, 14)
    )
    assert few < many + 0.005 < 0.22
