"""Proximal steps minimise what they say, and descent finds known minima."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Lasso

from homi.methods.proximal import (
    Quadratic,
    descend,
    nuclear_norm,
    row_lengths,
    shrink_rows,
    shrink_singular_values,
    soft_threshold,
    split,
)

STEPS = {
    "absolute": (soft_threshold, lambda A: np.abs(A).sum()),
    "rows": (shrink_rows, lambda A: row_lengths(A).sum()),
    "singular": (shrink_singular_values, nuclear_norm),
}


@given(
    name=st.sampled_from(sorted(STEPS)),
    shape=st.tuples(st.integers(1, 6), st.integers(1, 6)),
    seed=st.integers(0, 10_000),
    tau=st.sampled_from([0.0, 0.1, 1.0, 3.0]),
)
def test_a_step_minimises_half_the_distance_plus_the_penalty(name, shape, seed, tau):
    step, penalty = STEPS[name]
    rng = np.random.default_rng(seed)
    A = rng.normal(size=shape)
    best = step(A, tau)

    def objective(x):
        return 0.5 * np.sum((x - A) ** 2) + tau * penalty(x)

    lowest = objective(best)
    for size in (1e-3, 1e-1, 1.0):
        for _ in range(10):
            other = best + size * rng.normal(size=shape)
            # Strong convexity: the gap grows with the square of the distance.
            gap = 0.5 * np.sum((other - best) ** 2)
            assert objective(other) >= lowest + gap - 1e-9


@pytest.mark.parametrize("name", sorted(STEPS))
def test_a_large_step_gives_zero_and_zero_stays(name):
    step, _ = STEPS[name]
    A = np.random.default_rng(0).normal(size=(4, 3))
    assert not step(A, 100.0).any()
    assert not step(np.zeros((4, 3)), 1.0).any()
    np.testing.assert_allclose(step(A, 0.0), A)


@pytest.mark.parametrize("shape", [(30, 4), (4, 30), (5, 5)])
def test_singular_values_fall_by_the_step(shape):
    A = np.random.default_rng(0).normal(size=shape)
    before = np.linalg.svd(A, compute_uv=False)
    after = np.linalg.svd(shrink_singular_values(A, 1.5), compute_uv=False)
    np.testing.assert_allclose(after, np.maximum(before - 1.5, 0), atol=1e-7)
    assert nuclear_norm(A) == pytest.approx(before.sum())


def test_rows_of_a_stack_are_shrunk_one_by_one():
    A = np.random.default_rng(0).normal(size=(2, 5, 3))
    expected = [shrink_rows(part, 0.7) for part in A]
    np.testing.assert_allclose(shrink_rows(A, 0.7), expected)


def lasso(seed=0, n=50, m=8, q=3):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n, m)) * np.arange(1, m + 1), rng.normal(size=(n, q))
    G, C = X.T @ X, X.T @ Y
    smooth = Quadratic(
        lambda W: G @ W, C, 0.5 * float(np.vdot(Y, Y)), float(np.linalg.eigvalsh(G)[-1])
    )
    return X, Y, smooth


def run(smooth, tau, **options):
    start = np.zeros_like(smooth.c)
    return descend(
        smooth,
        lambda A, s: soft_threshold(A, s * tau),
        lambda W: {"size": tau * float(np.abs(W).sum())},
        start,
        **{"max_iter": 20_000, "tol": 1e-10} | options,
    )


def test_descent_finds_the_lasso():
    X, Y, smooth = lasso()
    found = run(smooth, 20.0)
    assert found.converged
    peer = Lasso(alpha=20.0 / len(X), fit_intercept=False, tol=1e-12, max_iter=10**6)
    np.testing.assert_allclose(found.x, peer.fit(X, Y).coef_.T, atol=1e-7)
    assert (found.x == 0).any()


def test_history_holds_the_terms_and_never_rises():
    X, Y, smooth = lasso()
    found = run(smooth, 20.0)
    totals = [sum(terms.values()) for terms in found.history]
    assert (np.diff(totals) <= 1e-9 * totals[0]).all()
    expected = 0.5 * np.sum((Y - X @ found.x) ** 2)
    assert found.history[-1]["loss"] == pytest.approx(expected)
    assert found.history[-1]["size"] == pytest.approx(20.0 * np.abs(found.x).sum())


def test_momentum_pays():
    """Far fewer steps than plain proximal gradient needs for the same objective."""
    _, _, smooth = lasso()
    found = run(smooth, 20.0)
    goal = sum(found.history[-1].values()) * (1 + 1e-9)
    x, plain = np.zeros_like(smooth.c), 0
    while smooth.value(x, smooth.apply(x)) + 20.0 * np.abs(x).sum() > goal:
        gradient = smooth.apply(x) - smooth.c
        x = soft_threshold(x - gradient / smooth.curvature, 20.0 / smooth.curvature)
        plain += 1
    reached = sum(sum(terms.values()) > goal for terms in found.history)
    assert reached < plain / 2


def test_a_limit_ends_the_descent():
    _, _, smooth = lasso()
    found = run(smooth, 20.0, max_iter=3)
    assert len(found.history) == 3
    assert not found.converged


def test_no_curvature_and_nothing_to_explain():
    smooth = Quadratic(np.zeros_like, np.zeros((3, 2)), 0.0, 0.0)
    found = run(smooth, 1.0)
    assert found.converged
    assert not found.x.any()


def test_splitting_finds_the_lasso_too():
    X, _, smooth = lasso()
    G, rho = X.T @ X, 100.0
    inverse = np.linalg.inv(G + rho * np.eye(len(G)))

    def objective(W):
        size = 20.0 * float(np.abs(W).sum())
        return {"loss": smooth.value(W, G @ W), "size": size}

    found = split(
        lambda A: inverse @ (smooth.c + rho * A),
        lambda A, s: soft_threshold(A, 20.0 * s),
        objective,
        np.zeros_like(smooth.c),
        rho,
        least=1e-12,
        max_iter=10_000,
        tol=1e-10,
    )
    assert found.converged
    np.testing.assert_allclose(found.x, run(smooth, 20.0).x, atol=1e-7)
    assert found.history[-1] == pytest.approx(run(smooth, 20.0).history[-1])
