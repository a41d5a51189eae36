"""Prototypes against scikit-learn's k-means and distances written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from homi.methods import prototypes
from homi.methods.prototypes import (
    cells,
    clusters_per_cell,
    distances,
    find_members,
    means,
)

FORMS = [np.asarray, sparse.csr_array]


def test_number_of_clusters_by_hand():
    sizes = np.array([[70, 200], [3, 0], [0, 11], [1, 1], [5000, 9000]])
    np.testing.assert_array_equal(clusters_per_cell(sizes, 0.1, 50), [7, 1, 2, 1, 50])
    np.testing.assert_array_equal(clusters_per_cell(sizes, 1.0, 90), [70, 3, 11, 1, 90])
    # In floating point, 0.07 * 100 is 7.000000000000001.
    np.testing.assert_array_equal(clusters_per_cell(np.array([[100]]), 0.07, 90), [7])


def test_cells_are_the_rows_with_each_combination():
    Y = np.array([[1, 1], [0, 1], [1, 1], [0, 0], [0, 1]])
    found = cells(Y.astype(float))
    assert [rows.tolist() for rows in found] == [[3], [1, 4], [0, 2]]
    for rows in found:
        assert (Y[rows] == Y[rows[0]]).all()


@pytest.mark.parametrize("form", FORMS)
def test_clusters_are_those_of_scikit_learn(form):
    rng = np.random.default_rng(0)
    X, split = rng.normal(size=(60, 5)), np.split(rng.permutation(60), [25])
    members = find_members(form(X), split, 6, 3).toarray()
    state = np.random.RandomState(3)
    expected = []
    for rows in split:
        search = KMeans(6, init="random", n_init=1, max_iter=100, random_state=state)
        found = search.fit(X[rows]).labels_
        expected += [np.isin(np.arange(60), rows[found == c]) for c in range(6)]
    np.testing.assert_array_equal(members, expected)


@given(
    seed=st.integers(0, 10_000),
    k=st.integers(1, 12),
    bounds=st.lists(st.integers(1, 29), min_size=1, max_size=3, unique=True),
    form=st.sampled_from(FORMS),
)
@settings(max_examples=20)
def test_clusters_split_every_cell(seed, k, bounds, form):
    rng = np.random.default_rng(seed)
    X, split = rng.normal(size=(30, 3)), np.split(np.arange(30), sorted(bounds))
    members = find_members(form(X), split, k, seed)
    assert members.dtype == bool
    dense = members.toarray()
    np.testing.assert_array_equal(dense.sum(axis=0), 1)
    for cell in split:
        inside = dense[:, cell].sum(axis=1)
        assert np.count_nonzero(inside) == min(k, len(cell))
        np.testing.assert_array_equal(inside[inside > 0], dense.sum(axis=1)[inside > 0])


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_copies_of_a_row_are_one_prototype():
    X = np.repeat([[0.0, 1.0], [5.0, 5.0]], 10, axis=0)
    members = find_members(X, [np.arange(20)], 5, 0)
    np.testing.assert_allclose(np.sort(means(X, members), axis=0), [[0, 1], [5, 5]])


def test_a_large_cell_is_clustered_by_a_sample(monkeypatch):
    X = np.random.default_rng(0).normal(size=(300, 2))
    monkeypatch.setattr(prototypes, "_SAMPLE", 50)
    for k, expected in [(1, 50), (4, 50), (8, 80)]:
        members = find_members(X, [np.arange(300)], k, 0).toarray()
        assert members.sum() == expected
        assert members.sum(axis=0).max() == 1
        assert len(members) == k


@given(seed=st.integers(0, 10_000), form=st.sampled_from(FORMS))
@settings(max_examples=20)
def test_means_and_distances(seed, form):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 4)) * rng.integers(0, 2, size=(20, 4))
    groups = np.split(rng.permutation(20)[:15], [1, 4, 9])
    members = np.array([np.isin(np.arange(20), rows) for rows in groups])
    centers = means(form(X), sparse.csr_array(members))
    np.testing.assert_allclose(centers, [X[rows].mean(axis=0) for rows in groups])
    test = rng.normal(size=(7, 4))
    np.testing.assert_allclose(distances(form(test), centers), cdist(test, centers))


@pytest.mark.parametrize("form", FORMS)
def test_a_row_is_not_away_from_itself(form):
    X = np.random.default_rng(0).normal(size=(50, 30)) * 1e3
    diagonal = np.diag(distances(form(X), X))
    assert (diagonal >= 0).all()
    assert diagonal.max() < 1e-3
