"""The formulas of docs/mathematics.md, written out as there, against the code.

Everything here is dense, explicit and slow: inverses, vectors of ones, n × n matrices.
"""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg

from conftest import random_rows
from homi import HOMI
from homi.graph import neighbor_laplacian
from homi.moments import Moments
from homi.solver import (
    Correction,
    Problem,
    graph_path,
    leave_one_out,
    objective,
    ridge_path,
    solve,
    total,
    weight_path,
)
from homi.solver.moments_form import MomentsForm
from homi.solver.sweeps import update_Bt, update_Wz

LAM, BETA, GAMMA, S = 0.7, 1.6, 0.9, 3


class Page:
    """X, Y, L and all that the page derives from them, by its own formulas."""

    def __init__(self, n=30, m=6, q=4):
        self.X, self.Y = random_rows(3, n=n, m=m, q=q)
        self.n, self.one = n, np.ones(n)
        self.L = self.laplacian()
        self.G, self.C = self.X.T @ self.X, self.X.T @ self.Y
        self.YtY, self.H = self.Y.T @ self.Y, self.X.T @ self.L @ self.X
        self.a, self.b = self.X.T @ self.one, self.Y.T @ self.one
        moments = Moments.from_rows(self.X, self.Y)
        moments = moments.with_graph(self.X, neighbor_laplacian(self.X, S))
        self.problem = Problem(moments, LAM, BETA, GAMMA)

    def laplacian(self):
        r = np.corrcoef(self.X)
        np.fill_diagonal(r, -np.inf)
        N = np.zeros_like(r)
        for i, row in enumerate(r):
            nearest = np.argsort(-row)[:S]
            N[i, nearest] = np.maximum(row[nearest], 0)
        ties = (N + N.T) / 2
        return np.diag(ties @ self.one) - ties

    def F(self, W, z, B, t):
        X, Y, one = self.X, self.Y, self.one
        K = (X @ W + np.outer(one, z)) @ B + np.outer(one, t)
        return (
            np.sum((Y - X @ W - np.outer(one, z)) ** 2)
            + BETA * np.sum((Y - Y @ B - np.outer(one, t)) ** 2)
            + GAMMA * np.trace(K.T @ self.L @ K)
            + LAM * sum(np.sum(block**2) for block in (W, z, B, t))
        )

    def A(self):
        outer = np.outer(self.a, self.a) / (self.n + LAM)
        return self.G - outer + LAM * np.eye(len(self.a))

    def C_tilde(self):
        return self.C - np.outer(self.a, self.b) / (self.n + LAM)

    def Y_tilde(self):
        return self.YtY - BETA * np.outer(self.b, self.b) / (BETA * self.n + LAM)


@pytest.fixture(scope="module")
def page():
    return Page()


@pytest.fixture(scope="module")
def fitted(page):
    """The minimum, to the last digits."""
    return solve(page.problem, max_iter=5000, tol=1e-15).params


@pytest.fixture
def anywhere(page):
    rng = np.random.default_rng(0)
    m, q = page.C.shape
    return rng.normal(size=(m, q)), *rng.normal(size=(2, q)), rng.normal(size=(q, q))


def test_the_graph(page):
    L = neighbor_laplacian(page.X, S).toarray()
    np.testing.assert_allclose(L, page.L, atol=1e-6)
    assert np.linalg.eigvalsh(page.L).min() > -1e-10
    K = page.Y @ np.random.default_rng(1).normal(size=(4, 4))
    ties = np.diag(np.diag(page.L)) - page.L
    pairs = ((K[:, None] - K[None]) ** 2).sum(axis=2)
    expected = 0.5 * np.sum(ties * pairs)
    np.testing.assert_allclose(np.trace(K.T @ page.L @ K), expected)


def test_the_objective_anywhere(page, anywhere):
    W, z, t, B = anywhere
    params = solve(page.problem, max_iter=1).params._replace(W=W, z=z, B=B, t=t)
    found = total(objective(page.problem, params))
    np.testing.assert_allclose(found, page.F(W, z, B, t), rtol=1e-6)


def test_the_four_equations_hold_where_the_solver_ends(page, fitted):
    W, z, B, t = fitted
    I_m, I_q = np.eye(len(W)), np.eye(len(B))
    left = (page.G + LAM * I_m) @ W + GAMMA * page.H @ W @ B @ B.T
    np.testing.assert_allclose(left, page.C - np.outer(page.a, z), atol=1e-4)
    np.testing.assert_allclose(z, (page.b - W.T @ page.a) / (page.n + LAM), atol=1e-8)
    left = (BETA * page.YtY + LAM * I_q + GAMMA * W.T @ page.H @ W) @ B
    right = BETA * (page.YtY - np.outer(page.b, t))
    np.testing.assert_allclose(left, right, atol=1e-4)
    wanted = BETA * (page.b - B.T @ page.b) / (BETA * page.n + LAM)
    np.testing.assert_allclose(t, wanted, atol=1e-8)


def test_the_minimum_is_one_of_the_objective(page, fitted):
    """Finite differences of F as the page writes it."""
    rng = np.random.default_rng(2)
    for _ in range(10):
        move = [1e-4 * rng.normal(size=block.shape) for block in fitted]
        up = page.F(*(block + step for block, step in zip(fitted, move, strict=True)))
        down = page.F(*(block - step for block, step in zip(fitted, move, strict=True)))
        size = np.sqrt(sum(np.sum(step**2) for step in move))
        assert abs(up - down) / (2 * size) < 1e-3


def test_the_two_blocks(page, anywhere):
    W, z, t, B = anywhere
    moments, n = page.problem.moments, page.n
    kappa = n * LAM / (n + LAM)
    centered = moments.Sxx + kappa * np.outer(moments.x_mean, moments.x_mean)
    np.testing.assert_allclose(page.A(), centered + LAM * np.eye(len(W)))
    centered = moments.Sxy + kappa * np.outer(moments.x_mean, moments.y_mean)
    np.testing.assert_allclose(page.C_tilde(), centered)
    np.testing.assert_allclose(page.C_tilde(), page.problem.joint_C)
    np.testing.assert_allclose(page.Y_tilde(), page.problem.joint_YtY)

    start = solve(page.problem, max_iter=1).params._replace(W=W, z=z, B=B, t=t)
    new = update_Wz(page.problem, start)
    left = page.A() @ new.W + GAMMA * page.H @ new.W @ B @ B.T
    np.testing.assert_allclose(left, page.C_tilde(), atol=1e-5)
    new = update_Bt(page.problem, start)
    M = BETA * page.Y_tilde() + LAM * np.eye(len(B)) + GAMMA * W.T @ page.H @ W
    np.testing.assert_allclose(M @ new.B, BETA * page.Y_tilde(), atol=1e-4)


def test_the_closed_form_of_the_W_step(page, anywhere):
    *_, B = anywhere
    mu, V = scipy.linalg.eigh(GAMMA * page.H, page.A())
    theta, Q = np.linalg.eigh(B @ B.T)
    W = V @ ((V.T @ page.C_tilde() @ Q) / (1 + np.outer(mu, theta))) @ Q.T
    start = solve(page.problem, max_iter=1).params._replace(B=B)
    np.testing.assert_allclose(update_Wz(page.problem, start).W, W, atol=1e-6)


def test_b_eliminated(page, anywhere):
    """φ is the minimum of F over z, B and t, and its gradient is as written."""
    W, z, t, B = anywhere
    reduced = MomentsForm(page.problem)
    _, V = page.problem.joint_pencil
    np.testing.assert_allclose(page.problem.joint_YtY, page.Y_tilde(), atol=1e-10)
    # Of the same numbers: the signs of eigenvectors hang on the last digit.
    _, U = scipy.linalg.eigh(page.problem.joint_YtY)
    point = reduced.evaluate(np.linalg.solve(V, W) @ U)
    params = reduced.params(point)
    np.testing.assert_allclose(params.W, W, atol=1e-8)
    np.testing.assert_allclose(point.value, page.F(*params), rtol=1e-6)
    start = params._replace(z=z, B=B, t=t)
    best = update_Bt(page.problem, update_z_only(page, start))
    np.testing.assert_allclose(point.value, page.F(*best), rtol=1e-6)
    move = np.random.default_rng(4).normal(size=point.omega.shape)
    up, down = (reduced.evaluate(point.omega + s * move).value for s in (1e-5, -1e-5))
    slope = 2 * np.sum(point.gradient * move)
    np.testing.assert_allclose((up - down) / 2e-5, slope, rtol=1e-5)


def update_z_only(page, params):
    z = (page.b - params.W.T @ page.a) / (page.n + LAM)
    return params._replace(z=z)


def test_a_row_left_out(page, anywhere):
    """The closed form against models that were fitted without the row."""
    *_, B = anywhere
    theta, Q = np.linalg.eigh(B @ B.T)
    x = page.X - page.a / (page.n + LAM)
    inverses = [np.linalg.inv(page.A() + GAMMA * th * page.H) for th in theta]
    W = np.column_stack(
        [M @ page.C_tilde() @ q for M, q in zip(inverses, Q.T, strict=True)]
    )
    f, y = x @ W + page.b @ Q / (page.n + LAM), page.Y @ Q
    h = np.column_stack([np.einsum("ij,jk,ik->i", x, M, x) for M in inverses])
    h += 1 / (page.n + LAM)
    scores = (f - h * y) / (1 - h) @ Q.T
    np.testing.assert_allclose(
        leave_one_out(page.problem, page.X, page.Y, B), scores, atol=1e-6
    )
    for i in (0, 7):
        rest = np.arange(page.n) != i
        moments = Moments.from_rows(page.X[rest], page.Y[rest])
        others = Problem(replace(moments, H=page.H), LAM, BETA, GAMMA)
        start = solve(others, max_iter=1).params._replace(B=B)
        model = update_Wz(others, start)
        np.testing.assert_allclose(page.X[i] @ model.W + model.z, scores[i], atol=1e-5)


def test_paths(page):
    """One eigenvalue problem for all λ, one for all γ: biases free, B = I."""
    moments = page.problem.moments
    x = page.X - page.X.mean(axis=0)
    free = {"penalize_bias": False}
    for lam in (0.1, 5.0):
        M = np.linalg.inv(moments.Sxx + lam * np.eye(x.shape[1]))
        h = 1 / page.n + np.einsum("ij,jk,ik->i", x, M, x)
        f = x @ M @ moments.Sxy + moments.y_mean
        scores = (f - h[:, None] * page.Y) / (1 - h[:, None])
        path = ridge_path(moments)
        found = path.of(page.X).held_out(page.Y, 1 / (path.values + lam))
        np.testing.assert_allclose(found, scores)
    path = graph_path(moments, LAM)
    for gamma in (0.0, 2.0):
        problem = Problem(moments, LAM, BETA, gamma, **free)
        wanted = leave_one_out(problem, page.X, page.Y, np.eye(4))
        found = path.of(page.X).held_out(page.Y, 1 / (1 + gamma * path.values))
        np.testing.assert_allclose(found, wanted, atol=1e-8)


def test_a_path_of_weights(page):
    """One eigenvalue problem for all weights of a label: λ/ω and γ/ω for λ and γ."""
    moments = page.problem.moments
    path = weight_path(moments, LAM, GAMMA)
    assert path.values.min() >= 0
    assert path.values.max() <= 1 + 1e-12
    for omega in (0.05, 4.0):
        problem = Problem(moments, LAM / omega, BETA, GAMMA / omega, False)
        wanted = leave_one_out(problem, page.X, page.Y, np.eye(4))
        inverse = 1 / (1 - path.values + path.values / omega)
        found = path.of(page.X).held_out(page.Y, inverse)
        np.testing.assert_allclose(found, wanted, atol=1e-8)


def test_b_from_held_out_scores(page):
    P = page.Y + np.random.default_rng(5).normal(size=page.Y.shape)
    B, t = Correction(P, page.Y)(BETA)
    Pc, Yc = P - P.mean(axis=0), page.Y - page.Y.mean(axis=0)
    rho = np.sum(Pc**2) / (BETA * 4)
    wanted = np.eye(4) + np.linalg.inv(Pc.T @ Pc + rho * np.eye(4)) @ Pc.T @ (Yc - Pc)
    np.testing.assert_allclose(B, wanted)
    np.testing.assert_allclose(t, page.Y.mean(axis=0) - B.T @ P.mean(axis=0))


def test_scores_are_folded():
    X, Y = random_rows(6)
    model = HOMI(n_neighbors=3).fit(X, Y)
    W, z = model.feature_weights_, model.feature_bias_
    B, t = model.label_correlation_, model.label_bias_
    g = (X @ W + z) @ B + t
    np.testing.assert_allclose(model.decision_function(X), g - 0.5)
    np.testing.assert_allclose(model.coef_, (W @ B).T)
    np.testing.assert_allclose(model.intercept_, B.T @ z + t - 0.5)
