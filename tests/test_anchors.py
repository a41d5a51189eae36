"""The graph of anchors against its literal dense twin, and what must hold of it."""

import numpy as np
import pytest
from scipy import sparse

import homi.graph.plan
from homi import HOMI
from homi.arrays import dense
from homi.base.targets import check_target
from homi.graph import AnchorPlan, anchor_moments, neighbor_laplacian, plan_anchors
from homi.graph.anchors import edges
from homi.graph.reservoir import Reservoir, sample_rows
from homi.model.route import choose_route
from homi.model.rows_input import InMemoryRows
from homi.moments import Moments, column_scaling

BOTH = {"dense": np.asarray, "sparse": sparse.csr_array}


def rows(seed=0, n=200, m=8, q=3, density=1.0):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n, m)) + 3 * rng.normal(size=m)) * (
        rng.random((n, m)) < density
    )
    return X, (rng.random((n, q)) < 0.3).astype(float)


def twin(X, plan):
    """Z, S and L written out: correlations by numpy, a loop over rows."""
    U = (X - plan.mean) / plan.scale
    Z = np.zeros((len(X), len(plan.anchors)))
    for i, u in enumerate(U):
        if np.ptp(u) < 1e-12:
            continue
        r = np.corrcoef(np.vstack([u, plan.anchors]))[0, 1:]
        best = np.argsort(-r)[: plan.n_neighbors]
        Z[i, best] = np.maximum(r[best], 0)
    has = Z.sum(axis=1) > 0
    Z[has] /= Z[has].sum(axis=1, keepdims=True)
    mass = Z.sum(axis=0)
    S = (Z[:, mass > 0] / mass[mass > 0]) @ Z[:, mass > 0].T
    return Z, S, plan.weight * (np.diag(S.sum(axis=1)) - S)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("s", [1, 4, 50])
def test_H_equals_the_dense_twin(kind, standardize, s):
    X, Y = rows(density=1.0 if kind == "dense" else 0.4)
    plan = plan_anchors(X, s, 20, standardize=standardize)
    assert len(plan.anchors) == 20
    _, _, L = twin(X, plan)
    H = anchor_moments(BOTH[kind](X), Y, plan).with_graph(plan).H
    np.testing.assert_allclose(H, X.T @ L @ X, atol=1e-10 * np.abs(X.T @ X).max())


def test_Z_equals_the_twin_and_L_is_a_laplacian():
    X, _ = rows()
    plan = plan_anchors(X, 4, 20)
    Z, S, L = twin(X, plan)
    found = np.vstack([part for _, _, part in edges(X, plan)])
    np.testing.assert_allclose(found, Z, atol=1e-12)
    np.testing.assert_allclose(S.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(L @ np.ones(len(X)), 0, atol=1e-12)
    assert np.linalg.eigvalsh(L)[0] > -1e-12


@pytest.mark.parametrize("kind", BOTH)
def test_rows_like_no_anchor_have_no_ties(kind):
    X, Y = rows()
    plan = plan_anchors(X, 4, 20)
    X[3] = plan.mean
    X[77] = plan.mean + 2 * plan.scale
    Z, _, L = twin(X, plan)
    assert not Z[[3, 77]].any()
    total = anchor_moments(BOTH[kind](X), Y, plan)
    assert total.edges.loose is not None
    H = total.with_graph(plan).H
    np.testing.assert_allclose(H, X.T @ L @ X, atol=1e-10 * np.abs(X.T @ X).max())


@pytest.mark.parametrize("kind", BOTH)
def test_parts_in_any_order_sum_to_the_whole(kind):
    X, Y = rows(1, n=500, density=1.0 if kind == "dense" else 0.3)
    plan = plan_anchors(X, 4, 30)
    X[[5, 300]] = plan.mean
    convert, rng = BOTH[kind], np.random.default_rng(0)
    whole = anchor_moments(convert(X), Y, plan).with_graph(plan)
    for _ in range(5):
        ends = np.sort(rng.choice(np.arange(1, 500), 6, replace=False))
        parts = [
            anchor_moments(convert(X[part]), Y[part], plan)
            for part in np.split(rng.permutation(500), ends)
        ]
        total = sum(parts[1:], parts[0]).with_graph(plan)
        for name in ("Sxx", "Sxy", "Syy", "H", "x_mean", "y_mean"):
            want = getattr(whole, name)
            atol = 1e-10 * np.abs(want).max()
            np.testing.assert_allclose(getattr(total, name), want, atol=atol)


def test_parts_with_and_without_a_graph_do_not_add():
    X, Y = rows()
    plan = plan_anchors(X, 4, 20)
    part = anchor_moments(X, Y, plan, graph=False)
    assert part.with_graph(plan).H is None
    with pytest.raises(ValueError, match="one part has edges"):
        part + anchor_moments(X, Y, plan)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_H_is_semi_definite_and_keeps_its_digits(offset):
    X, Y = rows(2, n=400)
    plan = plan_anchors(X + offset, 4, 30)
    H = anchor_moments(X + offset, Y, plan).with_graph(plan).H
    assert np.linalg.eigvalsh(H)[0] > -1e-8 * np.trace(H)
    near = AnchorPlan(
        plan.center - offset,
        plan.mean - offset,
        plan.scale,
        plan.anchors,
        4,
        plan.weight,
    )
    expected = anchor_moments(X, Y, near).with_graph(near).H
    np.testing.assert_allclose(H, expected, atol=1e-7 * np.abs(expected).max())


def test_moments_read_once_are_the_same():
    X, Y = rows(3, n=3000)
    X[:, 2] = 1e5
    for labels in (Y, Y.astype(np.int8), (Y * 0)[:, :1], sparse.csr_array(Y)):
        plain, once = (
            Moments.from_rows(X, labels),
            Moments.from_rows(X, labels, near=X.mean(axis=0)),
        )
        for name in ("x_mean", "y_mean", "Sxx", "Sxy", "Syy"):
            want = getattr(plain, name)
            np.testing.assert_allclose(getattr(once, name), want, rtol=1e-9, atol=1e-8)
        np.testing.assert_allclose(once.scale(), plain.scale(), rtol=1e-9)


@pytest.mark.parametrize("kind", BOTH)
def test_units_are_those_of_moments(kind):
    X, Y = rows(3, n=300, density=0.4)
    X[:, 2], X[:, 3] = 1e5, 0.0
    mean, scale = column_scaling(BOTH[kind](X))
    moments = Moments.from_rows(X, Y)
    np.testing.assert_allclose(mean, moments.x_mean, rtol=1e-12)
    np.testing.assert_allclose(scale, moments.scale(), rtol=1e-12)


@pytest.mark.parametrize("kind", BOTH)
def test_units_of_rows_that_begin_far_off(kind):
    """The first rows say where sums are taken from, and nothing else."""
    X = np.random.default_rng(0).normal(size=(5000, 4))
    X[:100, 0] += 1e6
    X[:, 1] += 1e6
    X[:, 2], X[100:, 3] = 0.1, 0.0
    mean, scale = column_scaling(BOTH[kind](X))
    np.testing.assert_allclose(mean, X.mean(axis=0), rtol=1e-10, atol=1e-15)
    expected = X.std(axis=0)
    expected[2] = 1.0
    np.testing.assert_allclose(scale, expected, rtol=1e-9)


def test_trace_is_that_of_neighbors():
    X, Y = rows(4, n=600)
    plan = plan_anchors(X, 10, 40)
    units = (X - plan.mean) / plan.scale
    L = neighbor_laplacian(X, 10, mean=plan.mean, scale=plan.scale)
    H = anchor_moments(X, Y, plan).with_graph(plan).standardized().H
    assert np.trace(H) == pytest.approx(np.trace(units.T @ (L @ units)))
    again = plan_anchors(sparse.csr_array(X), 10, 40)
    assert again.weight == pytest.approx(plan.weight)


@pytest.mark.parametrize("kind", BOTH)
def test_some_rows_say_what_the_trace_of_all_is(kind, monkeypatch):
    """Also where rows are of very different length."""
    rng = np.random.default_rng(1)
    X = BOTH[kind](rng.normal(size=(2000, 8)) * rng.lognormal(sigma=1, size=(2000, 1)))
    some = plan_anchors(X, 10, 40).weight
    monkeypatch.setattr(homi.graph.plan, "_ASKED", 2000)
    every = plan_anchors(X, 10, 40).weight
    assert some != every
    assert some == pytest.approx(every, rel=0.1)


def test_anchors_are_centers_of_clusters():
    rng = np.random.default_rng(5)
    centers = rng.normal(size=(5, 12))
    X = np.repeat(centers, 80, axis=0) + 0.01 * rng.normal(size=(400, 12))
    plan = plan_anchors(X, 1, 15, standardize=False)
    R = np.corrcoef(plan.anchors, centers)[: len(plan.anchors), -5:]
    np.testing.assert_allclose(R.max(axis=0), 1, atol=1e-3)
    np.testing.assert_allclose(np.linalg.norm(plan.anchors, axis=1), 1)
    np.testing.assert_allclose(plan.anchors.sum(axis=1), 0, atol=1e-12)


def test_few_kinds_of_rows_make_few_anchors():
    X = np.repeat(rows(6, n=3)[0], 50, axis=0)
    assert len(plan_anchors(X, 2, 20).anchors) == 3


@pytest.mark.parametrize(
    "X", [np.ones((40, 5)), np.outer(np.arange(40.0), np.ones(5)), np.zeros((2, 4))]
)
def test_rows_without_variance_make_no_graph(X):
    plan = plan_anchors(X, 3, 10, standardize=False)
    H = anchor_moments(X, np.ones((len(X), 1)), plan).with_graph(plan).H
    np.testing.assert_allclose(H, 0, atol=1e-10)


def test_two_features_say_nothing():
    X, _ = rows(m=2)
    with pytest.warns(UserWarning, match="no graph is used"):
        assert len(plan_anchors(X, 3, 10).anchors) == 0


def test_the_seed_decides_the_anchors():
    X, _ = rows(7, n=2000)
    first, again, other = (plan_anchors(X, 3, 10, seed=s) for s in (0, 0, 1))
    np.testing.assert_array_equal(first.anchors, again.anchors)
    assert not np.array_equal(first.anchors, other.anchors)


# Samples


@pytest.mark.parametrize("kind", BOTH)
def test_a_sample_does_not_depend_on_batches(kind):
    X, _ = rows(8, n=700, density=0.5)
    convert = BOTH[kind]
    whole = Reservoir(8, 3, 50)
    whole.add(convert(X))
    for size in (1, 37, 60, 699):
        parts = Reservoir(8, 3, 50)
        for start in range(0, 700, size):
            parts.add(convert(X[start : start + size]))
        one, other = whole.rows, parts.rows
        if kind == "sparse":
            one, other = one.toarray(), other.toarray()
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "kinds",
    [
        [np.float32, np.asarray, np.asarray],
        [sparse.csr_array, np.asarray, sparse.csr_array],
        [np.asarray, sparse.csr_array, np.asarray],
    ],
    ids=["single first", "sparse first", "dense first"],
)
def test_batches_of_different_kinds_give_the_same_sample(kinds):
    X, _ = rows(8, n=120, density=0.5)
    X[:40] = X[:40].round()  # single precision holds them
    whole, parts = Reservoir(8, 3, 50), Reservoir(8, 3, 50)
    whole.add(X)
    for kind, batch in zip(kinds, np.split(X, 3), strict=True):
        parts.add(kind(batch))
    np.testing.assert_array_equal(dense(parts.rows), whole.rows)


def test_every_row_is_as_likely():
    X = np.arange(60.0)[:, None]
    counts = np.zeros(60)
    for seed in range(500):
        sample = Reservoir(1, seed, 12)
        for start in range(0, 60, 7):
            sample.add(X[start : start + 7])
        drawn = sample.rows.ravel().astype(int)
        assert len(set(drawn)) == 12
        counts[drawn] += 1
    # 100 expected, with a standard deviation of 9.
    assert np.abs(counts - 100).max() < 4.5 * 9


def test_rows_that_fit_are_all_kept_in_order():
    X, _ = rows(9)
    assert sample_rows(X, 0) is X


# The estimator


def test_fit_with_anchors_solves_the_twin():
    from homi.solver import Problem, solve

    X, Y = rows(10, n=300)
    model = HOMI(graph="anchors", random_state=0).fit(X, Y)
    assert model.graph_ == "anchors"
    plan = model._sums.plan
    moments = Moments.from_rows(X, Y).with_graph(X, sparse.csr_array(twin(X, plan)[2]))
    params = solve(Problem(moments.standardized())).params
    W = params.W / X.std(axis=0)[:, None]
    np.testing.assert_allclose(model.feature_weights_, W, atol=1e-8)


@pytest.mark.parametrize("correlation", ["labels", "held-out", "identity"])
@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_everything_goes_with_anchors(kernel, correlation):
    X, Y = rows(11)
    options = {"kernel": kernel, "correlation": correlation, "random_state": 0}
    near = HOMI(graph="anchors", **options).fit(X, Y).decision_function(X)
    exact = HOMI(**options).fit(X, Y).decision_function(X)
    none = HOMI(gamma=0, **options).fit(X, Y).decision_function(X)
    gap = np.abs(exact - none).max()
    assert np.abs(near - none).max() > 0
    assert np.abs(near - exact).max() < gap


def test_a_kernel_ties_rows_and_not_their_features():
    X, Y = rows(12)
    model = HOMI(graph="anchors", kernel="rbf", random_state=0)
    given = InMemoryRows(X, check_target(Y))
    view = given.build(choose_route(model.get_params(), given)).features
    plan = HOMI(graph="anchors", random_state=0).fit(X, Y)._sums.plan
    F = view.features
    expected = F.T @ twin(X, plan)[2] @ F
    np.testing.assert_allclose(view.moments.H, expected, atol=1e-10)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_rows_of_weight_w_are_tied_as_w_rows(kind):
    X, Y = rows(3)
    counts = np.arange(len(X)) % 4
    kept = counts > 0
    plan = plan_anchors(X, 3, 7)
    repeated = np.repeat(np.arange(len(X)), counts)
    whole = anchor_moments(kind(X[repeated]), Y[repeated], plan).with_graph(plan)
    w = counts[kept].astype(float)
    found = anchor_moments(kind(X[kept]), Y[kept], plan, weights=w).with_graph(plan)
    for name in ("n", "x_mean", "Sxx", "Sxy", "Syy", "H"):
        np.testing.assert_allclose(
            getattr(found, name), getattr(whole, name), atol=1e-9
        )


def test_weights_of_rows_that_are_like_no_anchor():
    X, Y = rows(3)
    plan = plan_anchors(X, 3, 7)
    X[:5] = plan.mean
    w = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    total = anchor_moments(X, Y, plan, weights=w)
    assert total.edges.loose is not None
    H = total.with_graph(plan).H
    Z = np.zeros((len(X), len(plan.anchors)))
    for part, _, block in edges(X, plan):
        Z[part] = block
    tied_rows = Z.any(axis=1)
    centered = X - plan.center
    ZtX = Z.T @ (w[:, None] * centered)
    mass = Z.T @ w
    own = (centered * (w * tied_rows)[:, None]).T @ centered
    used = mass > 0
    expected = own - ZtX[used].T @ (ZtX[used] / mass[used, None])
    np.testing.assert_allclose(H, plan.weight * expected, atol=1e-9)


def test_lists_of_rows_take_no_weights():
    X, Y = rows(3)
    model = HOMI(graph="approximate", random_state=0)
    with pytest.raises(ValueError, match="sample_weight cannot be used with graph"):
        model.fit(X, Y, sample_weight=np.full(len(X), 2.0))


@pytest.mark.parametrize("weighted", [False, True])
def test_many_anchors_are_summed_as_few_are(weighted, monkeypatch):
    X, Y = rows(3)
    plan = plan_anchors(X, 3, 7)
    X[:5] = plan.mean
    w = np.random.default_rng(0).uniform(0.5, 2.0, len(X)) if weighted else None
    few = anchor_moments(X, Y, plan, weights=w).edges
    monkeypatch.setattr("homi.graph.anchors._FEW_ANCHORS", 0)
    many = anchor_moments(X, Y, plan, weights=w).edges
    for name in ("ZtX", "mass", "loose"):
        np.testing.assert_allclose(getattr(many, name), getattr(few, name), atol=1e-10)
