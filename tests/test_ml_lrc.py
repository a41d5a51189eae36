"""ML-LRC against its objective, row by row, and the figures of independent runs."""

import numpy as np
import pytest
import scipy.optimize
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso
from sklearn.preprocessing import StandardScaler

from conftest import five_folds, random_rows
from homi.estimators import MLLRC


def literal_objective(X, Y, W, b, alpha, beta):
    """The objective as printed, with singular values of the n × l predictions."""
    residual = X @ W + b - Y
    rank = np.linalg.svd(X @ W, compute_uv=False).sum()
    return 0.5 * np.sum(residual**2) + alpha * rank + beta * np.abs(W).sum()


def fitted(X, Y, **options):
    options = {"tol": 1e-10, "max_iter": 20_000} | options
    model = MLLRC(**options).fit(X, Y)
    return model, model.coef_.T, model.intercept_ + model.threshold


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (3.0, 0.2), (0.0, 2.0)])
def test_nothing_near_is_lower(alpha, beta, fit_intercept):
    X, Y = random_rows(3, n=60, m=5, q=4)
    X = StandardScaler().fit_transform(X)
    options = {"standardize": False, "fit_intercept": fit_intercept}
    model, W, b = fitted(X, Y, alpha=alpha, beta=beta, **options)
    lowest = literal_objective(X, Y, W, b, alpha, beta)
    assert sum(model.history_[-1].values()) == pytest.approx(lowest)
    rng = np.random.default_rng(0)
    for size in (1e-4, 1e-2, 1.0):
        for _ in range(50):
            other = W + size * rng.normal(size=W.shape)
            shift = size * rng.normal(size=len(b)) if fit_intercept else 0.0
            value = literal_objective(X, Y, other, b + shift, alpha, beta)
            assert value >= lowest - 1e-7
    if not fit_intercept:
        np.testing.assert_allclose(b, 0, atol=1e-12)


def test_the_minimum_of_a_smooth_solver():
    """A general optimiser on a slightly rounded objective finds no lower value."""
    X, Y = random_rows(5, n=40, m=4, q=3)
    X = StandardScaler().fit_transform(X)
    _, W, b = fitted(X, Y, standardize=False, alpha=2.0, beta=1.0)

    def smooth(w):
        W = w.reshape(4, 3)
        squares = np.linalg.eigvalsh(W.T @ X.T @ X @ W)
        residual = X @ W + b - Y
        return (
            0.5 * np.sum(residual**2)
            + 2.0 * np.sqrt(np.maximum(squares, 0) + 1e-10).sum()
            + np.sqrt(W**2 + 1e-10).sum()
        )

    peer = scipy.optimize.minimize(smooth, np.zeros(12) + 0.01, method="BFGS").x
    found = literal_objective(X, Y, W, b, 2.0, 1.0)
    assert found <= literal_objective(X, Y, peer.reshape(4, 3), b, 2.0, 1.0) + 1e-6


@pytest.mark.parametrize("alpha", [2.0**-10, 1.0, 2.0**10])
@pytest.mark.parametrize("beta", [2.0**-10, 1.0, 2.0**10])
def test_it_converges_on_all_of_the_papers_grid(alpha, beta):
    X, Y = random_rows(2, n=150, m=40, q=8)
    # Features that nearly repeat each other, as real ones do.
    X = X @ np.random.default_rng(0).normal(size=(40, 40)) ** 3 + 20 * X[:, :1]
    model = MLLRC(alpha, beta).fit(X, Y)
    exact = MLLRC(alpha, beta, max_iter=50_000, tol=1e-9).fit(X, Y)
    found, lowest = (sum(m.history_[-1].values()) for m in (model, exact))
    assert model.n_iter_ < model.max_iter
    assert lowest - 1e-9 * abs(lowest) <= found <= 1.001 * lowest


def test_without_the_nuclear_norm_it_is_the_lasso():
    X, Y = random_rows(1, n=80, m=6)
    model, _, _ = fitted(X, Y, alpha=0.0, beta=4.0, standardize=False)
    peer = Lasso(alpha=4.0 / 80, tol=1e-12, max_iter=10**6).fit(X, Y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-6)
    np.testing.assert_allclose(model.intercept_ + 0.5, peer.intercept_, atol=1e-6)


def test_a_large_alpha_leaves_few_directions():
    X, Y = random_rows(2, n=100, m=10, q=6)
    _, W, _ = fitted(X, Y, alpha=5.0, beta=0.0)
    values = np.linalg.svd((X - X.mean(axis=0)) @ W, compute_uv=False)
    assert 0 < np.sum(values > 1e-4) < 6
    assert not fitted(X, Y, alpha=1e4)[0].coef_.any()


def test_standardizing_inside_is_standardizing_outside():
    X, Y = random_rows(4)
    inside, _, _ = fitted(X * np.arange(1, 9), Y)
    outside, _, _ = fitted(StandardScaler().fit_transform(X), Y, standardize=False)
    np.testing.assert_allclose(
        inside.decision_function(X * np.arange(1, 9)),
        outside.decision_function(StandardScaler().fit_transform(X)),
        atol=1e-6,
    )


def test_sparse_rows_give_the_same_model():
    X, Y = random_rows(6)
    X = np.where(X > 0.5, X, 0.0)
    dense, _, _ = fitted(X, Y)
    thin, _, _ = fitted(sparse.csr_array(X), sparse.csr_array(Y))
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-7)


def test_an_early_end_is_told():
    X, Y = random_rows(0)
    with pytest.warns(
        ConvergenceWarning, match="did not converge .* max_iter=2 iterations"
    ):
        model = MLLRC(max_iter=2).fit(X, Y)
    assert model.n_iter_ == len(model.history_) == 2


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("name", "options", "means"),
    [
        ("emotions", {}, (0.201, 0.164, 0.278, 0.834)),
        ("yeast", {}, (0.200, 0.170, 0.227, 0.690)),
        ("birds", {}, (0.048, 0.095, 0.679, 0.769)),
        ("CAL500", {"alpha": 4.0, "beta": 4.0}, (0.136, 0.175, 0.116, 0.601)),
        ("yeast", {"fit_intercept": False}, (0.299, 0.353, 0.351, None)),
        ("emotions", {"fit_intercept": False}, (0.287, 0.172, 0.293, None)),
    ],
)
def test_re_run_rows(name, options, means, data):
    five_folds(MLLRC(**options), data(name)).agree_with(means)
