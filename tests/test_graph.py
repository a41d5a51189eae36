"""Graphs of neighbors, exact and approximate, against loops over all pairs."""

import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import homi.graph.exact
import reference
from conftest import random_rows as rows_and_labels
from homi import HOMI
from homi.graph import Neighbors, laplacian, nearest, neighbor_laplacian
from homi.graph.approximate import TARGET_RECALL, ApproximateSearch
from homi.graph.block_pairs import found_among
from homi.graph.top_scores import TopScores
from homi.model.graphs import choose_graph

repeatable = settings(derandomize=True, max_examples=60)

FORMATS = {
    "dense": np.asarray,
    "fortran": np.asfortranarray,
    "csr_array": sparse.csr_array,
    "csc_array": sparse.csc_array,
    "csr_matrix": sparse.csr_matrix,
    "coo_array": sparse.coo_array,
}
BOTH = ["dense", "csr_array"]


def random_rows(seed, shape=(60, 8), density=1.0):
    rng = np.random.default_rng(seed)
    return rng.normal(0.5, 1.0, shape) * (rng.random(shape) < density)


def with_copies_and_flat_rows(seed):
    """Rows that occur several times, empty rows, and rows of one value only."""
    X = random_rows(seed, (60, 8), density=0.6)
    X[10:30] = X[0]
    X[30:34] = X[1]
    X[40:45], X[45:48], X[48] = 0.0, 0.1, -7.3
    return X


DEGENERATE = {
    "copies and flat rows": with_copies_and_flat_rows(0),
    "all rows the same": np.tile(random_rows(1, (1, 8)), (40, 1)),
    "all rows empty": np.zeros((40, 8)),
    "all rows flat": np.outer(np.arange(40.0) - 20, np.ones(8)),
    "two kinds of rows": np.repeat(random_rows(2, (2, 8)), 20, axis=0),
    "mostly empty": random_rows(3, (40, 8), density=0.03),
}


@st.composite
def rows(draw):
    """Rows of few or many values: with copies, flat and empty rows, or none."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = draw(st.integers(2, 25)), draw(st.integers(3, 6))
    if draw(st.booleans()):
        return rng.normal(size=shape)
    return rng.integers(0, draw(st.integers(1, 3)), shape, endpoint=True) / 3.0


def correlations(X):
    """Pearson correlations of rows, 0 with a row that has no variance."""
    with np.errstate(invalid="ignore", divide="ignore"):
        R = np.corrcoef(X)
    flat = np.ptp(X, axis=1) == 0
    R[flat], R[:, flat] = 0.0, 0.0
    return R


def assert_nearest(neighbors, X, s):
    """s other rows each, their correlations, and none that is left out is larger."""
    n, R = len(X), correlations(X)
    assert neighbors.indices.shape == neighbors.correlations.shape == (n, s)
    assert neighbors.correlations.dtype == np.float64
    assert neighbors.indices.min() >= 0
    assert neighbors.indices.max() < n
    for i, found in enumerate(neighbors.indices):
        assert i not in found
        assert len(set(found)) == s
    expected = np.take_along_axis(R, neighbors.indices, axis=1)
    np.testing.assert_allclose(neighbors.correlations, expected, rtol=0, atol=1e-12)
    np.fill_diagonal(R, -np.inf)
    best = -np.sort(-R, axis=1)[:, :s]
    found = -np.sort(-neighbors.correlations, axis=1)
    # Candidates are compared in float32: rows that it cannot tell apart may swap.
    np.testing.assert_allclose(found, best, rtol=0, atol=1e-6)


def assert_laplacian(L, tol=1e-10):
    L = L.toarray()
    np.testing.assert_array_equal(L, L.T)
    np.testing.assert_allclose(L.sum(axis=1), 0, atol=1e-12)
    assert (L - np.diag(np.diag(L)) <= 0).all()
    assert np.linalg.eigvalsh(L)[0] >= -tol


# Neighbors


@repeatable
@given(rows(), st.sampled_from(list(FORMATS)), st.data())
def test_nearest_equals_brute_force(X, format_, data):
    s = data.draw(st.integers(1, len(X) - 1))
    assert_nearest(nearest(FORMATS[format_](X), s), X, s)


@pytest.mark.parametrize("format_", BOTH)
@pytest.mark.parametrize("shape", [(300, 40), (50, 500), (200, 3)])
def test_nearest_of_more_rows(format_, shape):
    X = random_rows(4, shape, density=0.3 if shape[1] > 3 else 1.0)
    assert_nearest(nearest(FORMATS[format_](X), 10), X, 10)


@pytest.mark.parametrize("s", [1, 10, 39])
@pytest.mark.parametrize("format_", BOTH)
@pytest.mark.parametrize("kind", DEGENERATE)
def test_copies_and_flat_rows(kind, format_, s):
    X = DEGENERATE[kind]
    convert = FORMATS[format_]
    assert_nearest(nearest(convert(X), s), X, s)
    assert_laplacian(neighbor_laplacian(convert(X), s), tol=1e-9)


@pytest.mark.parametrize("format_", BOTH)
def test_flat_rows_correlate_with_none(format_):
    X = with_copies_and_flat_rows(5)
    found = nearest(FORMATS[format_](X), 10)
    flat = np.flatnonzero(np.ptp(X, axis=1) == 0)
    assert len(flat) == 9
    assert (found.correlations[flat] == 0).all()
    assert (found.correlations[np.isin(found.indices, flat)] == 0).all()
    L = neighbor_laplacian(FORMATS[format_](X), 10).toarray()
    assert not L[flat].any()


def test_copies_are_neighbors_at_1():
    X = random_rows(6)
    X[30:] = X[:30]
    found = nearest(X, 1)
    np.testing.assert_array_equal(found.indices[:, 0], (np.arange(60) + 30) % 60)
    np.testing.assert_allclose(found.correlations, 1.0, rtol=1e-12)


def test_a_row_does_not_see_its_own_scale_and_level():
    X = random_rows(7)
    rng = np.random.default_rng(0)
    moved = X * rng.uniform(0.1, 10, (60, 1)) + rng.normal(0, 3, (60, 1))
    one, other = nearest(X, 5), nearest(moved, 5)
    np.testing.assert_array_equal(one.indices, other.indices)
    np.testing.assert_allclose(one.correlations, other.correlations, atol=1e-12)


# One result for dense and sparse rows, any dtype, any block


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("density", [0.2, 1.0])
def test_formats_are_equal(format_, density):
    X = random_rows(8, (80, 40), density)
    one, other = nearest(X, 7), nearest(FORMATS[format_](X), 7)
    np.testing.assert_array_equal(one.indices, other.indices)
    np.testing.assert_allclose(one.correlations, other.correlations, atol=1e-12)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int64, np.float32])
@pytest.mark.parametrize("format_", BOTH)
def test_dtypes_are_equal(format_, dtype):
    values = np.random.default_rng(9).integers(0, 128, (50, 30))
    X = (values // 64 if dtype is bool else values).astype(dtype)
    assert_nearest(nearest(FORMATS[format_](X), 5), X.astype(float), 5)
    assert_laplacian(neighbor_laplacian(FORMATS[format_](X), 5))


@pytest.mark.parametrize("format_", ["dense", "csr_array", "csc_array"])
def test_arguments_are_not_changed(format_):
    X = random_rows(10, density=0.5)
    mean, scale, X_in = X.mean(axis=0), X.std(axis=0), FORMATS[format_](X)
    for array in (mean, scale, X_in.data if sparse.issparse(X_in) else X_in):
        array.flags.writeable = False
    assert_nearest(nearest(X_in, 4), X, 4)
    assert_nearest(nearest(X_in, 4, mean=mean, scale=scale), (X - mean) / scale, 4)


@pytest.mark.parametrize("format_", BOTH)
@pytest.mark.parametrize("density", [0.3, 1.0])
@pytest.mark.parametrize("block", [1, 7, 60])
def test_block_size_has_no_effect(monkeypatch, format_, density, block):
    X = random_rows(11, (60, 30), density)
    mean, scale = X.mean(axis=0), X.std(axis=0)
    whole = nearest(X, 6, mean=mean, scale=scale)
    monkeypatch.setattr(homi.graph.exact, "_BLOCK", block)
    blocked = nearest(FORMATS[format_](X), 6, mean=mean, scale=scale)
    np.testing.assert_array_equal(blocked.indices, whole.indices)
    np.testing.assert_allclose(blocked.correlations, whole.correlations, atol=1e-12)


@pytest.mark.parametrize("kind", ["random", *DEGENERATE])
@pytest.mark.parametrize("block", [7, 1024])
def test_products_of_thin_rows_find_the_same(monkeypatch, kind, block):
    X = random_rows(12, (60, 30), 0.2) if kind == "random" else DEGENERATE[kind]
    mean, scale = X.mean(axis=0), X.std(axis=0)
    scale[scale == 0] = 1.0
    monkeypatch.setattr(homi.graph.exact, "_BLOCK", block)
    monkeypatch.setattr(homi.graph.exact, "_THIN", 1.0)
    for units in ({}, {"mean": mean, "scale": scale}):
        seen = (X - mean) / scale if units else X
        assert_nearest(nearest(sparse.csr_array(X), 4, **units), seen, 4)


@pytest.mark.parametrize("thin", [0.0, 1.0])
@pytest.mark.parametrize("block", [7, 1024])
def test_some_rows_among_others(monkeypatch, thin, block):
    X, other = random_rows(13, (20, 30), 0.2), random_rows(14, (50, 30), 0.2)
    monkeypatch.setattr(homi.graph.exact, "_BLOCK", block)
    monkeypatch.setattr(homi.graph.exact, "_THIN", thin)
    expected = np.corrcoef(np.vstack([X, other]))[:20, 20:]
    best = np.argsort(-expected, axis=1)[:, :4]
    units = np.zeros(30), np.ones(30)
    for kind in (np.asarray, sparse.csr_array):
        found = found_among(kind(X), kind(other), 4, units, 100)
        np.testing.assert_array_equal(found.indices, best + 100)
        np.testing.assert_allclose(
            found.correlations, np.take_along_axis(expected, best, axis=1), atol=1e-12
        )


@pytest.mark.parametrize("format_", BOTH)
@pytest.mark.parametrize("kind", DEGENERATE)
def test_copies_in_other_blocks(monkeypatch, kind, format_):
    monkeypatch.setattr(homi.graph.exact, "_BLOCK", 7)
    X = DEGENERATE[kind]
    assert_nearest(nearest(FORMATS[format_](X), 10), X, 10)


def test_more_rows_than_one_block():
    X = random_rows(12, (homi.graph.exact._BLOCK + 200, 12), density=0.4)
    for format_ in BOTH:
        assert_nearest(nearest(FORMATS[format_](X), 5), X, 5)


# Standardized rows


@pytest.mark.parametrize("given_", ["mean", "scale", "mean and scale"])
@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("density", [0.2, 1.0])
def test_mean_and_scale_standardize_first(format_, density, given_):
    X = random_rows(13, (60, 20), density) * np.geomspace(0.01, 100, 20)
    mean = X.mean(axis=0) if "mean" in given_ else None
    scale = X.std(axis=0) if "scale" in given_ else None
    Z = X - (0 if mean is None else mean)
    Z = Z / (1 if scale is None else scale)
    found = nearest(FORMATS[format_](X), 5, mean=mean, scale=scale)
    assert_nearest(found, Z, 5)
    np.testing.assert_array_equal(found.indices, nearest(Z, 5).indices)
    L = neighbor_laplacian(FORMATS[format_](X), 5, mean=mean, scale=scale)
    expected = neighbor_laplacian(Z, 5).toarray()
    np.testing.assert_allclose(L.toarray(), expected, atol=1e-12)


@pytest.mark.parametrize("format_", ["dense", "csr_array"])
def test_rows_equal_to_the_mean_correlate_with_none(format_):
    for seed in range(5):
        X = np.tile(random_rows(seed, (1, 50)), (12, 1))
        found = nearest(FORMATS[format_](X), 3, mean=X[0], scale=np.ones(50))
        assert not found.correlations.any()


# The Laplacian


@repeatable
@given(rows(), st.sampled_from(list(FORMATS)), st.data())
def test_laplacian_of_rows_is_one(X, format_, data):
    s = data.draw(st.integers(1, len(X) - 1))
    L = neighbor_laplacian(FORMATS[format_](X), s)
    assert isinstance(L, sparse.csr_array)
    assert L.shape == (len(X), len(X))
    assert_laplacian(L)


@repeatable
@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.data())
def test_laplacian_of_any_neighbors_is_one(seed, n, data):
    rng, s = np.random.default_rng(seed), data.draw(st.integers(1, n - 1))
    others = (
        np.arange(n)[:, None]
        + rng.permuted(np.tile(np.arange(1, n), (n, 1)), axis=1)[:, :s]
    ) % n
    weights = rng.uniform(-1, 1, (n, s))
    S = np.zeros((n, n))
    np.put_along_axis(S, others, np.maximum(weights, 0), axis=1)
    L = laplacian(Neighbors(others, weights))
    assert_laplacian(L)
    np.testing.assert_allclose(L.toarray(), reference.laplacian(S), atol=1e-14)


@pytest.mark.parametrize("s", [1, 5, 59])
@pytest.mark.parametrize("format_", BOTH)
def test_laplacian_equals_the_literal_one(format_, s):
    X = random_rows(14)
    S = np.maximum(reference.similarity(X, s), 0)
    L = neighbor_laplacian(FORMATS[format_](X), s).toarray()
    np.testing.assert_allclose(L, reference.laplacian(S), atol=1e-12)


def test_nothing_is_clipped_where_correlations_are_positive():
    X = random_rows(15) + np.linspace(0, 20, 8)
    S = reference.similarity(X, 10)
    assert S.min() == 0
    L = neighbor_laplacian(X, 10).toarray()
    np.testing.assert_allclose(L, reference.laplacian(S), atol=1e-12)


@pytest.mark.parametrize("format_", BOTH)
def test_negative_correlations_are_clipped(format_):
    """Rows in two opposite camps, each tied to all others: two separate graphs."""
    base = np.linspace(-1, 1, 8)
    X = np.vstack([base, base, base, -base, -base]) + 0.01 * random_rows(16, (5, 8))
    assert (nearest(X, 4).correlations < 0).any()
    L = neighbor_laplacian(FORMATS[format_](X), 4).toarray()
    assert not L[:3, 3:].any()
    expected = np.maximum(correlations(X), 0)
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(L, np.diag(expected.sum(axis=1)) - expected, atol=1e-12)


@pytest.mark.parametrize("format_", BOTH)
def test_two_opposite_rows_are_not_tied(format_):
    X = FORMATS[format_](np.array([[1.0, 2.0, 4.0], [4.0, 3.0, 1.0]]))
    assert not neighbor_laplacian(X, 1).toarray().any()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("format_", BOTH)
def test_laplacian_follows_a_permutation_of_the_rows(format_, seed):
    X, convert = random_rows(seed, (70, 9)), FORMATS[format_]
    order = np.random.default_rng(seed).permutation(70)
    L = neighbor_laplacian(convert(X), 6).toarray()
    permuted = neighbor_laplacian(convert(X[order]), 6).toarray()
    np.testing.assert_allclose(permuted, L[np.ix_(order, order)], atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_printed_laplacian_is_none(seed):
    """The paper's order of steps: indefinite, not zero on constants. Ours is not so."""
    X, one = random_rows(seed), np.ones(60)
    S = np.maximum(reference.similarity(X, 5), 0)
    printed = reference.printed_laplacian(S)
    assert np.linalg.eigvalsh(printed)[0] < -0.05
    assert np.abs(printed @ one).max() > 0.1
    L = neighbor_laplacian(X, 5)
    assert_laplacian(L)
    np.testing.assert_allclose(L @ one, 0, atol=1e-12)


# Too few rows or features


@pytest.mark.parametrize("format_", BOTH)
@pytest.mark.parametrize("n_neighbors", [8, 10, 1000])
def test_too_many_neighbors_mean_all_others(format_, n_neighbors):
    X = FORMATS[format_](random_rows(17, (8, 5)) + np.linspace(0, 20, 5))
    L = neighbor_laplacian(X, n_neighbors)
    assert L.nnz == 8 * 8
    np.testing.assert_array_equal(L.toarray(), neighbor_laplacian(X, 7).toarray())


@pytest.mark.parametrize("format_", BOTH)
@pytest.mark.parametrize("n", [0, 1])
def test_too_few_rows_are_refused(format_, n):
    X = FORMATS[format_](np.ones((n, 5)))
    message = rf"at least 2 rows, got n_samples = {n}; pass more rows, or gamma=0"
    with pytest.raises(ValueError, match=message):
        neighbor_laplacian(X, 3)


@pytest.mark.parametrize("format_", BOTH)
@pytest.mark.parametrize("m", [1, 2])
def test_too_few_features_make_no_graph(format_, m):
    X = FORMATS[format_](random_rows(18, (9, m)))
    with pytest.warns(UserWarning, match=rf"rows of {m} feature.*no graph is used"):
        L = neighbor_laplacian(X, 3)
    assert isinstance(L, sparse.csr_array)
    assert L.shape == (9, 9)
    assert L.nnz == 0


@pytest.mark.parametrize("format_", BOTH)
def test_two_rows_are_enough(format_):
    X = np.array([[1.0, 2.0, 4.0], [0.0, 1.0, 1.0]])
    weight = np.corrcoef(X)[0, 1]
    L = neighbor_laplacian(FORMATS[format_](X), 1).toarray()
    np.testing.assert_allclose(L, weight * np.array([[1, -1], [-1, 1]]), atol=1e-12)


@pytest.mark.parametrize("n_neighbors", [0, 10, 11])
def test_a_search_for_too_few_or_too_many_is_refused(n_neighbors):
    X = np.random.default_rng(0).normal(size=(10, 4))
    with pytest.raises(ValueError, match="between 1 and 9 for 10 rows"):
        nearest(X, n_neighbors)


# The k largest scores of each row, ties included, against a sort of all scores.


def best_of_all(scores, k):
    ids = np.arange(scores.shape[1])
    order = [np.lexsort((ids, -row))[:k] for row in scores]
    return np.array(order), np.take_along_axis(scores, np.array(order), axis=1)


def collected(scores, k, height, width):
    best = TopScores(len(scores), k)
    for column in range(0, scores.shape[1], width):
        for row in range(0, len(scores), height):
            best.add(scores[row : row + height, column : column + width], row, column)
    return best


@pytest.mark.parametrize("values", [3, 40, 10**6])
@pytest.mark.parametrize(("height", "width"), [(60, 300), (7, 11), (64, 64), (20, 3)])
@pytest.mark.parametrize("k", [1, 5, 30])
def test_the_best_are_those_of_a_sort(values, height, width, k):
    rng = np.random.default_rng(values)
    scores = rng.integers(-values, values + 1, size=(60, 300)).astype(np.float32)
    scores /= np.float32(values)
    best = collected(scores, k, height, width)
    indices, expected = best_of_all(scores, k)
    np.testing.assert_array_equal(best.indices(), indices)
    np.testing.assert_array_equal(best.scores(), expected)


def test_negative_zero_is_zero():
    best = collected(np.array([[-0.0, 0.0, -1.0]], dtype=np.float32), 2, 1, 3)
    assert best.indices().tolist() == [[0, 1]]


def test_a_row_with_fewer_candidates_than_places():
    best = collected(np.array([[1.0, 2.0]], dtype=np.float32), 3, 1, 2)
    assert best.indices().tolist() == [[1, 0, -1]]


# The approximate graph against the exact one, and what "auto" chooses.


UNITS = {"mean": None, "scale": None}


def clustered(n=4000, m=20, seed=0):
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(40, m))
    return centers[rng.integers(40, size=n)] + 0.5 * rng.normal(size=(n, m))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_recall_is_what_it_says(kind):
    X = np.random.default_rng(0).normal(size=(4000, 20))
    search = ApproximateSearch(0)
    found, exact = search(kind(X), 10, **UNITS), nearest(X, 10)
    pairs = zip(found.indices, exact.indices, strict=True)
    recall = np.mean([len(set(a) & set(b)) / 10 for a, b in pairs])
    assert search.recall >= TARGET_RECALL
    # Measured on 200 rows, with the row itself among them.
    assert recall == pytest.approx(search.recall, abs=0.03)
    assert recall < 1
    rows = np.arange(len(X))[:, None]
    assert (found.indices != rows).all()
    R = np.corrcoef(X)
    expected = np.take_along_axis(R, found.indices, axis=1)
    np.testing.assert_allclose(found.correlations, expected, atol=1e-5)


def test_units_are_those_of_the_exact_search():
    X = clustered(seed=1) * np.geomspace(1, 100, 20)
    units = {"mean": X.mean(axis=0), "scale": X.std(axis=0)}
    L = neighbor_laplacian(X, 10, **units, search=ApproximateSearch(0)).toarray()
    exact = neighbor_laplacian(X, 10, **units).toarray()
    assert np.trace(L) == pytest.approx(np.trace(exact), rel=0.02)
    np.testing.assert_allclose(L.sum(axis=1), 0, atol=1e-10)


def test_few_and_flat_rows():
    X = rows_and_labels(0, n=30, m=6)[0]
    X[:5] = 1.0
    search = ApproximateSearch(0)
    found, exact = search(X, 4, **UNITS), nearest(X, 4)
    assert search.recall == 1
    np.testing.assert_allclose(
        np.maximum(found.correlations, 0), np.maximum(exact.correlations, 0), atol=1e-6
    )


def test_the_estimator_keeps_its_recall():
    X, Y = clustered(2000), (clustered(2000) > 1)[:, :4].astype(int)
    near = HOMI(graph="approximate", random_state=0).fit(X, Y)
    exact = HOMI(graph="exact").fit(X, Y)
    assert near.graph_ == "approximate"
    assert TARGET_RECALL <= near.graph_recall_ <= 1
    assert not hasattr(exact, "graph_recall_")
    gap = np.abs(near.decision_function(X) - exact.decision_function(X)).max()
    assert 0 < gap < 0.02


class Rows:
    """As much of rows as the choice looks at."""

    def __init__(self, n, m):
        self.shape = (n, m)


@pytest.mark.parametrize(
    ("n", "m", "gigabytes", "expected"),
    [
        (43_907, 120, 0.001, "exact"),
        (50_000, 5_000, 16, "exact"),
        (100_000, 120, 16, "exact"),
        (100_000, 1_000, 16, "approximate"),
        (1_000_000, 120, 16, "approximate"),
        (1_000_000, 120, 0.9, "anchors"),
        (1_000_000, 100_000, 16, "anchors"),
        (20_000_000, 10, 16, "anchors"),
    ],
)
def test_auto_looks_at_rows_and_memory(n, m, gigabytes, expected):
    chosen, why = choose_graph(Rows(n, m), free=gigabytes * 1e9)
    assert chosen == expected
    assert f"{n:,} rows" in why


def test_auto_looks_at_sparsity():
    thin = sparse.random_array(
        (90_000, 2_000),
        density=0.001,
        format="csr",
        random_state=np.random.default_rng(0),
    )
    assert choose_graph(thin, free=1e6)[0] == "exact"
    assert choose_graph(Rows(90_000, 2_000), free=1e6)[0] == "anchors"


def test_auto_says_what_it_chose(monkeypatch, caplog):
    X, Y = rows_and_labels(1, n=300, m=6)
    with caplog.at_level(logging.INFO, "homi"):
        assert HOMI().fit(X, Y).graph_ == "exact"
    assert "graph='auto' is 'exact': all pairs of 300 rows" in caplog.text
    monkeypatch.setattr("homi.model.graphs._ALWAYS", 200)
    monkeypatch.setattr("homi.model.graphs._MOST", 200)
    assert HOMI(random_state=0).fit(X, Y).graph_ == "approximate"
    monkeypatch.setattr("homi.memory.available", lambda: 10_000)
    assert HOMI(random_state=0).fit(X, Y).graph_ == "anchors"
    assert HOMI(gamma=0).fit(X, Y).graph_ == "none"
