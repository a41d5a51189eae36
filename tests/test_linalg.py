"""Factored systems: plug the answer back in, the residual is zero."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Lasso

from homi.linalg import (
    factor_pencil,
    inner,
    largest_eigenvalue,
    positive_eigenpairs,
    solve_psd,
    solve_two_sided,
)
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

repeatable = settings(derandomize=True, max_examples=40)

SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.integers(1, 12)


def with_eigenvalues(rng, values):
    """A symmetric matrix with these eigenvalues, and its eigenvectors."""
    Q, _ = np.linalg.qr(rng.normal(size=(len(values),) * 2))
    A = (Q * values) @ Q.T
    return (A + A.T) / 2, Q


def random_psd(rng, n, rank=None, scale=1.0):
    """A positive semi-definite matrix, well conditioned on its range of this rank."""
    values = np.zeros(n)
    values[: n if rank is None else rank] = scale * rng.uniform(0.5, 5.0)
    values *= rng.uniform(0.2, 1.0, n)
    return with_eigenvalues(rng, values)[0]


def random_pair(rng, n, rank):
    """A of this rank, H that vanishes where A does, and the projector on A's range."""
    Q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    basis = Q[:, :rank]
    A = basis @ random_psd(rng, rank) @ basis.T
    H = basis @ random_psd(rng, rank, rank // 2) @ basis.T
    return (A + A.T) / 2, (H + H.T) / 2, basis @ basis.T


def assert_zero(residual, size, tol=1e-10):
    assert np.abs(residual).max(initial=0.0) <= tol * max(1.0, np.abs(size).max())


# The pencil


@repeatable
@given(SEEDS, SIZES, st.data())
def test_pencil_diagonalises_both(seed, n, data):
    rng = np.random.default_rng(seed)
    A, H = random_psd(rng, n), random_psd(rng, n, data.draw(st.integers(0, n)))
    mu, V = factor_pencil(A, H)
    assert V.shape == (n, n)
    assert mu.shape == (n,)
    assert (mu >= 0).all()
    assert_zero(V.T @ A @ V - np.eye(n), 1)
    assert_zero(V.T @ H @ V - np.diag(mu), mu)


@repeatable
@given(SEEDS, SIZES)
def test_pencil_without_H(seed, n):
    A = random_psd(np.random.default_rng(seed), n)
    mu, V = factor_pencil(A, None)
    assert mu.shape == (n,)
    assert not mu.any()
    assert_zero(V.T @ A @ V - np.eye(n), 1)


@repeatable
@given(SEEDS, SIZES, st.booleans(), st.data())
def test_pencil_of_a_singular_A_spans_its_range(seed, n, graph, data):
    rank = data.draw(st.integers(0, n - 1))
    A, H, range_of_A = random_pair(np.random.default_rng(seed), n, rank)
    mu, V = factor_pencil(A, H if graph else None)
    assert V.shape == (n, rank)
    assert mu.shape == (rank,)
    assert (mu >= 0).all()
    assert_zero(range_of_A @ V - V, V if rank else 0)
    assert_zero(V.T @ A @ V - np.eye(rank), 1)
    assert_zero(V.T @ (H if graph else 0 * H) @ V - np.diag(mu), 1)


def test_mu_is_not_negative_where_H_is_so_by_rounding():
    rng = np.random.default_rng(0)
    A = random_psd(rng, 8)
    H, _ = with_eigenvalues(rng, np.array([5.0, 2, 1, 0, 0, 0, -1e-15, -1e-14]))
    mu, _ = factor_pencil(A, H)
    assert mu.min() == 0


@pytest.mark.parametrize("H_too", [True, False])
def test_pencil_of_products_with_a_column_that_repeats(H_too):
    """A Gram matrix as fit makes it without a ridge: a copied and an empty feature."""
    X = np.random.default_rng(1).normal(size=(50, 6))
    X[:, 3], X[:, 5] = X[:, 0], 0.0
    difference = np.diff(X, axis=0)
    A, H = X.T @ X, difference.T @ difference if H_too else None
    mu, V = factor_pencil(A, H)
    assert V.shape == (6, 4)
    assert_zero(V.T @ A @ V - np.eye(4), 1)
    if H_too:
        assert_zero(V.T @ H @ V - np.diag(mu), mu)
    # Least norm: copies share, and what is empty gets nothing.
    np.testing.assert_allclose(V[3], V[0], atol=1e-12)
    np.testing.assert_allclose(V[5], 0, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_pencil_does_not_see_the_unit(scale):
    rng = np.random.default_rng(2)
    A, H = random_psd(rng, 7, scale=scale), random_psd(rng, 7, scale=scale)
    mu, V = factor_pencil(A, H)
    assert V.shape == (7, 7)
    assert_zero(V.T @ A @ V - np.eye(7), 1)
    assert_zero(V.T @ H @ V - np.diag(mu), mu)


# Two-sided systems


@repeatable
@given(SEEDS, SIZES, SIZES, st.data())
def test_two_sided_solution_solves(seed, n, q, data):
    rng = np.random.default_rng(seed)
    A, H = random_psd(rng, n), random_psd(rng, n, data.draw(st.integers(0, n)))
    M = random_psd(rng, q, data.draw(st.integers(0, q)))
    R = rng.normal(size=(n, q))
    X = solve_two_sided(factor_pencil(A, H), M, R)
    assert X.shape == (n, q)
    assert_zero(A @ X + H @ X @ M - R, R)


@repeatable
@given(SEEDS, SIZES, SIZES)
def test_two_sided_solution_without_H_is_that_of_A(seed, n, q):
    rng = np.random.default_rng(seed)
    A, M, R = random_psd(rng, n), random_psd(rng, q), rng.normal(size=(n, q))
    X = solve_two_sided(factor_pencil(A, None), M, R)
    np.testing.assert_allclose(X, np.linalg.solve(A, R), rtol=1e-9, atol=1e-9)


@repeatable
@given(SEEDS, SIZES, SIZES, st.data())
def test_two_sided_solution_of_a_singular_system_has_least_norm(seed, n, q, data):
    rng, rank = np.random.default_rng(seed), data.draw(st.integers(0, n - 1))
    A, H, range_of_A = random_pair(rng, n, rank)
    M, R = random_psd(rng, q), range_of_A @ rng.normal(size=(n, q))
    X = solve_two_sided(factor_pencil(A, H), M, R)
    assert_zero(A @ X + H @ X @ M - R, R)
    system = np.kron(A, np.eye(q)) + np.kron(H, M)
    least = np.linalg.pinv(system, rcond=1e-10) @ R.ravel()
    np.testing.assert_allclose(X, least.reshape(n, q), atol=1e-8)


def test_one_pencil_serves_many_systems():
    rng = np.random.default_rng(3)
    A, H = random_psd(rng, 9), random_psd(rng, 9, 5)
    pencil = factor_pencil(A, H)
    for q in (1, 4, 20):
        M, R = random_psd(rng, q), rng.normal(size=(9, q))
        X = solve_two_sided(pencil, M, R)
        assert_zero(A @ X + H @ X @ M - R, R)


def test_M_negative_by_rounding_counts_as_0():
    rng = np.random.default_rng(4)
    A, R = random_psd(rng, 5), rng.normal(size=(5, 3))
    M = np.diag([1.0, 0.0, -1e-16])
    X = solve_two_sided(factor_pencil(A, 0.9e16 * A), M, R)
    np.testing.assert_allclose(X[:, 1:], np.linalg.solve(A, R)[:, 1:], rtol=1e-9)
    np.testing.assert_allclose(X[:, 0], 0, atol=1e-12)


# One-sided systems


@repeatable
@given(SEEDS, SIZES, SIZES)
def test_psd_solution_equals_numpy(seed, n, q):
    rng = np.random.default_rng(seed)
    A, R = random_psd(rng, n), rng.normal(size=(n, q))
    X = solve_psd(A, R)
    assert_zero(A @ X - R, R)
    np.testing.assert_allclose(X, np.linalg.solve(A, R), rtol=1e-9, atol=1e-9)


@repeatable
@given(SEEDS, SIZES, SIZES, st.data())
def test_psd_solution_of_a_singular_system_equals_pinv(seed, n, q, data):
    rng = np.random.default_rng(seed)
    A = random_psd(rng, n, data.draw(st.integers(0, n - 1)))
    R = rng.normal(size=(n, q))
    expected = np.linalg.pinv(A, hermitian=True, rcond=1e-10) @ R
    np.testing.assert_allclose(solve_psd(A, R), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("n", [3, 8, 30])
def test_singular_matrices_are_known_as_such(n):
    """Also those few of which Cholesky's pivots are all far from 0."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        A, R = random_psd(rng, n, n - 1), rng.normal(size=(n, 1))
        assert factor_pencil(A, None).V.shape == (n, n - 1)
        assert np.abs(solve_psd(A, R)).max() < 100


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("rank", [3, 6])
def test_psd_solution_does_not_see_the_unit(scale, rank):
    rng = np.random.default_rng(5)
    A, R = random_psd(rng, 6, rank), rng.normal(size=(6, 2))
    np.testing.assert_allclose(
        scale * solve_psd(scale * A, R), solve_psd(A, R), rtol=1e-9, atol=1e-9
    )


def test_an_ill_conditioned_matrix_is_no_singular_one():
    rng = np.random.default_rng(6)
    A, Q = with_eigenvalues(rng, np.geomspace(1e-9, 1, 6))
    X = Q @ rng.normal(size=(6, 2))
    np.testing.assert_allclose(solve_psd(A, A @ X), X, rtol=0, atol=1e-5)
    assert factor_pencil(A, None).V.shape == (6, 6)


def test_arguments_are_not_changed():
    rng = np.random.default_rng(7)
    R, M = rng.normal(size=(5, 3)), random_psd(rng, 3)
    for rank in (3, 5):
        A, H, _ = random_pair(rng, 5, rank)
        for array in (A, H, R, M):
            array.flags.writeable = False
        before = [array.copy() for array in (A, H, R, M)]
        solve_psd(A, R)
        solve_two_sided(factor_pencil(A, H), M, R)
        factor_pencil(A, None)
        positive_eigenpairs(A)
        for array, copy in zip((A, H, R, M), before, strict=True):
            np.testing.assert_array_equal(array, copy)


# Eigenpairs and the inner product


@repeatable
@given(SEEDS, SIZES, st.data())
def test_positive_eigenpairs_give_the_matrix_back(seed, n, data):
    rank = data.draw(st.integers(0, n))
    A = random_psd(np.random.default_rng(seed), n, rank)
    values, vectors = positive_eigenpairs(A)
    assert values.shape == (rank,)
    assert vectors.shape == (n, rank)
    assert (values > 0).all()
    assert (np.diff(values) >= 0).all()
    assert_zero(vectors.T @ vectors - np.eye(rank), 1)
    assert_zero((vectors * values) @ vectors.T - A, A)


def test_only_positive_eigenvalues_are_kept():
    A, Q = with_eigenvalues(
        np.random.default_rng(8), np.array([-2.0, -1e-18, 3.0, 1.0])
    )
    values, vectors = positive_eigenpairs(A)
    np.testing.assert_allclose(values, [1, 3])
    np.testing.assert_allclose(np.abs(Q.T @ vectors), np.eye(4)[:, [3, 2]], atol=1e-12)


@pytest.mark.parametrize("A", [np.zeros((3, 3)), -np.eye(3)], ids=["zero", "negative"])
def test_no_positive_eigenvalues(A):
    values, vectors = positive_eigenpairs(A)
    assert values.shape == (0,)
    assert vectors.shape == (3, 0)


def test_zero_matrices_have_zero_solutions():
    A, R = np.zeros((3, 3)), np.ones((3, 2))
    assert not solve_psd(A, R).any()
    assert not solve_two_sided(factor_pencil(A, A), np.eye(2), R).any()


@repeatable
@given(SEEDS, SIZES, SIZES)
def test_inner_is_the_trace(seed, n, q):
    A, B = np.random.default_rng(seed).normal(size=(2, n, q))
    assert inner(A, B) == pytest.approx(np.trace(A.T @ B))
    assert type(inner(A, np.asfortranarray(B))) is float
    assert inner(A, np.asfortranarray(B)) == pytest.approx(np.trace(A.T @ B))


@given(seed=SEEDS, n=SIZES)
@repeatable
def test_largest_eigenvalue(seed, n):
    values = np.random.default_rng(seed).normal(size=n)
    A, _ = with_eigenvalues(np.random.default_rng(seed + 1), values)
    assert largest_eigenvalue(A) == pytest.approx(values.max(), abs=1e-10)
    assert largest_eigenvalue(np.zeros((0, 0))) == 0.0


# Proximal steps minimise what they say, and descent finds known minima.


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
