"""Leave-one-out scores in closed form, against refits without each row."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import RidgeCV

from conftest import make_problem, random_rows
from homi.graph import neighbor_laplacian
from homi.moments import Moments
from homi.solver import Problem, solve, zero_params
from homi.solver.held_out import leave_one_out
from homi.solver.sweeps import update_Wz


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
