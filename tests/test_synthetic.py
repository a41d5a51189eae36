"""Made data: the known parameters are in it, and can be found again."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import comb

from homi import HOMI
from homi.datasets.synthetic import (
    _draw_pairs,
    make_correlated,
    make_correlated_batches,
)


def explained(y, *columns):
    """The share of the variance of y that least squares on the columns explains."""
    A = np.column_stack([np.ones(len(y)), *columns])
    residual = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
    return 1 - residual.var() / y.var()


def cosine(a, b):
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)


def test_shapes_types_and_names():
    data, true = make_correlated(50, 7, 5, random_state=3, return_parameters=True)
    assert data.X.shape == (50, 7)
    assert data.X.dtype == np.float64
    assert data.Y.shape == (50, 5)
    assert data.Y.dtype == np.int8
    assert set(np.unique(data.Y)) == {0, 1}
    assert data.feature_names == [f"feature {i}" for i in range(7)]
    assert data.label_names[:3] == ["label 0", "label 1", "label 2"]
    for j, (a, b) in zip((3, 4), true.parents, strict=True):
        assert data.label_names[j] == f"label {j} = label {a} & label {b}"


def test_parameters_say_what_was_made():
    data, true = make_correlated(
        400, 10, 9, n_high_order=3, noise=0, random_state=1, return_parameters=True
    )
    base = np.arange(6)
    scores = data.X @ true.W + true.z
    np.testing.assert_array_equal(scores[:, base] > 0.5, data.Y[:, base])
    # B and t give back every label, and no label that is high-order is used for it.
    np.testing.assert_array_equal(data.Y @ true.B + true.t > 0.5, data.Y)
    assert not true.B[6:].any()
    assert not true.W[:, 6:].any()
    for j, parents in enumerate(true.parents, start=6):
        assert sorted(np.flatnonzero(true.B[:, j])) == sorted(parents)
        assert (true.B[parents, j] == 0.5).all()
        assert true.t[j] == -0.25
        both = data.Y[:, parents].all(axis=1)
        np.testing.assert_array_equal(data.Y[:, j], both)


@pytest.mark.parametrize("seed", range(5))
def test_a_high_order_label_needs_both_parents(seed):
    """Of independent parents of density p, one explains p / (1 + p), two twice that."""
    density = 0.4
    data, true = make_correlated(
        20_000, random_state=seed, density=density, return_parameters=True
    )
    Y = data.Y.astype(float)
    for j, parents in enumerate(true.parents, start=6):
        both = explained(Y[:, j], *Y[:, parents].T)
        single = [explained(Y[:, j], Y[:, i]) for i in range(6)]
        assert both == pytest.approx(2 * density / (1 + density), abs=0.03)
        assert max(single) == pytest.approx(density / (1 + density), abs=0.03)
        assert both > 1.8 * max(single)
        # No single label gives the right answer everywhere; the two parents do.
        assert all((Y[:, j] != Y[:, i]).any() for i in range(6))


@pytest.mark.parametrize("sparse_rows", [False, True])
def test_least_squares_finds_the_directions_of_W(sparse_rows):
    """For Gaussian rows the regression of a thresholded score points along its W."""
    data, true = make_correlated(
        20_000, sparse=sparse_rows, random_state=0, return_parameters=True
    )
    X = data.X.toarray() if sparse_rows else data.X
    weights = np.linalg.lstsq(X, data.Y - data.Y.mean(axis=0), rcond=None)[0]
    for j in range(6):
        assert cosine(weights[:, j], true.W[:, j]) > 0.99


@pytest.mark.parametrize("gamma", [0, 1])
@pytest.mark.parametrize("seed", range(3))
def test_homi_finds_the_parents(seed, gamma):
    data, true = make_correlated(1000, random_state=seed, return_parameters=True)
    B = HOMI(gamma=gamma).fit(data.X, data.Y).label_correlation_.copy()
    np.fill_diagonal(B, 0)
    for j, parents in enumerate(true.parents, start=6):
        strongest = np.argsort(-np.abs(B[:, j]))[:2]
        assert sorted(strongest) == sorted(parents)


def test_homi_finds_that_parents_speak_for_the_label():
    """Without the graph the entries are positive, as they are in the true B."""
    data, true = make_correlated(1000, random_state=0, return_parameters=True)
    B = HOMI(gamma=0, lam=100).fit(data.X, data.Y).label_correlation_
    for j, parents in enumerate(true.parents, start=6):
        assert (B[parents, j] > 0.05).all()


def test_homi_predicts_what_was_made():
    data = make_correlated(3000, noise=0, random_state=0)
    model = HOMI(gamma=0).fit(data.X[:2000], data.Y[:2000])
    right = (model.predict(data.X[2000:]) == data.Y[2000:]).mean(axis=0)
    assert (right[:6] > 0.93).all()
    assert (right[6:] > 0.85).all()


@pytest.mark.parametrize("density", [0.1, 0.4, 0.7])
@pytest.mark.parametrize("noise", [0, 2.0])
@pytest.mark.parametrize("sparse_rows", [False, True])
def test_base_labels_have_the_density_asked_for(density, noise, sparse_rows):
    data = make_correlated(
        20_000, density=density, noise=noise, sparse=sparse_rows, random_state=5
    )
    found = data.Y.mean(axis=0)
    np.testing.assert_allclose(found[:6], density, atol=0.03)
    np.testing.assert_allclose(found[6:], density**2, atol=0.03)


def test_noise_hides_the_labels_from_the_features():
    def agreement(noise):
        data, true = make_correlated(
            5000, noise=noise, random_state=2, return_parameters=True
        )
        scores = data.X @ true.W + true.z
        return ((scores > 0.5) == data.Y)[:, :6].mean()

    assert agreement(0) == 1
    assert agreement(0.3) > agreement(3) > 0.5


@pytest.mark.parametrize("sparse_rows", [False, True])
def test_features_have_mean_0_and_variance_1(sparse_rows):
    X = make_correlated(20_000, 30, sparse=sparse_rows, random_state=0).X
    if sparse_rows:
        assert isinstance(X, sparse.csr_array)
        assert X.nnz / X.shape[0] == pytest.approx(10, abs=0.2)
        assert X.has_canonical_format
        X = X.toarray()
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=0.05)
    np.testing.assert_allclose(X.var(axis=0), 1, atol=0.1)


def test_directions_are_orthogonal_where_there_is_room():
    _, true = make_correlated(2, 8, 10, random_state=0, return_parameters=True)
    np.testing.assert_allclose(true.W[:, :8].T @ true.W[:, :8], np.eye(8), atol=1e-12)
    _, true = make_correlated(2, 3, 10, random_state=0, return_parameters=True)
    np.testing.assert_allclose(np.linalg.norm(true.W[:, :8], axis=0), 1)


@pytest.mark.parametrize("sparse_rows", [False, True])
def test_a_seed_makes_the_same_data(sparse_rows):
    def made(seed):
        data = make_correlated(40, sparse=sparse_rows, random_state=seed)
        return data.X.toarray() if sparse_rows else data.X, data.Y

    for new in (
        lambda: 7,
        lambda: np.random.RandomState(7),
        lambda: np.random.default_rng(7),
    ):
        first, second = made(new()), made(new())
        np.testing.assert_array_equal(first[0], second[0])
        np.testing.assert_array_equal(first[1], second[1])
    assert not np.array_equal(made(7)[0], made(8)[0])
    assert not np.array_equal(made(None)[0], made(None)[0])


def test_a_seed_means_the_same_data_tomorrow():
    """Golden: if these numbers move, so do the results of everybody's seeds."""
    data, true = make_correlated(
        3, 2, 3, n_high_order=1, random_state=0, return_parameters=True
    )
    W = [[0.890917044, -0.454166072, 0], [0.454166072, 0.890917044, 0]]
    X = [
        [0.805089472, -1.912059217],
        [-3.496649248, 0.933779691],
        [1.293634307, -0.347950664],
    ]
    np.testing.assert_allclose(true.W, W, atol=1e-8)
    np.testing.assert_allclose(data.X, X, atol=1e-8)
    np.testing.assert_array_equal(data.Y, [[0, 0, 0], [0, 1, 0], [1, 0, 0]])


def test_rows_do_not_depend_on_how_much_is_drawn_at_once(monkeypatch):
    """Without noise, dense rows are one stream of numbers."""
    whole = make_correlated(100, noise=0, random_state=0)
    monkeypatch.setattr("homi.datasets.synthetic._BLOCK", 600)
    parts = make_correlated(100, noise=0, random_state=0)
    np.testing.assert_array_equal(whole.X, parts.X)
    np.testing.assert_array_equal(whole.Y, parts.Y)
    sparse_parts = make_correlated(100, sparse=True, random_state=0)
    assert sparse_parts.X.shape == (100, 20)


@pytest.mark.parametrize("sparse_rows", [False, True])
def test_batches_share_their_parameters(sparse_rows):
    data, true = make_correlated(
        50, sparse=sparse_rows, noise=0, random_state=4, return_parameters=True
    )
    batches = list(
        make_correlated_batches(6, 50, sparse=sparse_rows, noise=0, random_state=4)
    )
    assert len(batches) == 6
    for X, Y in batches:
        assert X.shape == (50, 20)
        np.testing.assert_array_equal((X @ true.W + true.z > 0.5)[:, :6], Y[:, :6])
        np.testing.assert_array_equal(Y @ true.B + true.t > 0.5, Y)
    np.testing.assert_array_equal(batches[0][1], data.Y)
    assert not np.array_equal(batches[0][1], batches[1][1])
    again = list(
        make_correlated_batches(2, 50, sparse=sparse_rows, noise=0, random_state=4)
    )
    np.testing.assert_array_equal(batches[1][1], again[1][1])


def test_batches_are_made_one_at_a_time():
    batches = make_correlated_batches(10**9, 10, random_state=0)
    X, Y = next(batches)
    assert X.shape == (10, 20)
    assert Y.shape == (10, 8)


@given(st.integers(0, 40), st.data())
@settings(max_examples=50)
def test_pairs_are_distinct_and_in_order(n, data):
    most = int(comb(n, 2))
    n_pairs = data.draw(st.integers(0, most))
    pairs = _draw_pairs(np.random.default_rng(0), n, n_pairs)
    assert pairs.shape == (n_pairs, 2)
    assert len({tuple(pair) for pair in pairs.tolist()}) == n_pairs
    assert all(0 <= a < b < n for a, b in pairs.tolist())


def test_every_pair_can_be_a_parent():
    _, true = make_correlated(
        1, 4, 10, n_high_order=6, random_state=0, return_parameters=True
    )
    pairs = sorted(map(tuple, true.parents.tolist()))
    assert pairs == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


@pytest.mark.parametrize("n_labels", [1, 2, 3])
def test_without_high_order_labels(n_labels):
    data, true = make_correlated(
        20, 1, n_labels, n_high_order=0, random_state=0, return_parameters=True
    )
    assert data.Y.shape == (20, n_labels)
    assert true.parents.shape == (0, 2)
    np.testing.assert_array_equal(true.B, np.eye(n_labels))


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"n_samples": 0}, "n_samples must be an integer of at least 1, got 0"),
        ({"n_samples": 10.0}, r"n_samples must be .* got 10\.0"),
        ({"n_samples": True}, "got True"),
        ({"n_features": 0}, "n_features"),
        ({"n_labels": 0, "n_high_order": 0}, "n_labels"),
        ({"n_high_order": -1}, "n_high_order must be an integer of at least 0"),
        ({"n_labels": 3, "n_high_order": 2}, "leaves 1 base labels, .* 0 pairs"),
        ({"n_labels": 8, "n_high_order": 6}, "leaves 2 base labels, .* 1 pairs"),
        ({"n_labels": 2, "n_high_order": 5}, "leaves -3 base labels"),
        ({"density": 0}, "density must lie between 0 and 1, got 0"),
        ({"density": 1.0}, "density"),
        ({"density": float("nan")}, "density"),
        ({"density": "0.4"}, "density"),
        ({"noise": -0.1}, "noise must be a finite number"),
        ({"noise": float("inf")}, "noise"),
        ({"noise": None}, "noise"),
        ({"random_state": -1}, "random_state must be None, an integer"),
        ({"random_state": "seed"}, "got 'seed'"),
        ({"random_state": 1.5}, r"got 1\.5"),
    ],
)
def test_bad_arguments_are_told(arguments, match):
    with pytest.raises(ValueError, match=match):
        make_correlated(**arguments)
    if "n_samples" in arguments:
        arguments = {"batch_size": arguments["n_samples"]}
        match = match.replace("n_samples", "batch_size")
    # At the call, not at the first batch.
    with pytest.raises(ValueError, match=match):
        make_correlated_batches(**{"n_batches": 1, "batch_size": 5, **arguments})


def test_a_bad_number_of_batches_is_told():
    with pytest.raises(ValueError, match="n_batches must be an integer"):
        make_correlated_batches(0, 10)


@pytest.mark.slow
@pytest.mark.parametrize("sparse_rows", [False, True])
def test_a_million_rows(sparse_rows):
    data = make_correlated(10**6, 120, 20, sparse=sparse_rows, random_state=0)
    assert data.X.shape == (10**6, 120)
    # Sums of about ten values are only nearly Gaussian.
    atol = 0.02 if sparse_rows else 0.003
    np.testing.assert_allclose(data.Y.mean(axis=0)[:18], 0.4, atol=atol)
