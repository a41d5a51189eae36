"""LIFT against a literal loop, scikit-learn's models, and re-runs on real data."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from conftest import random_rows
from homi.linear import fit_margins
from homi.methods import prototype_classifier, prototypes
from homi.methods.lift import LIFT
from homi.methods.prototypes import (
    cells,
    clusters_per_cell,
    distances,
    find_members,
    means,
)
from homi.metrics import evaluate


def literal_centers(X, Y, k, seed):
    """k-means in each cell of rows with equal labels; cells count up in binary."""
    state = np.random.RandomState(seed)
    code = Y @ 2 ** np.arange(Y.shape[1])
    centers = []
    for value in np.unique(code):
        rows = X[code == value]
        if k == 1 or len(rows) <= k:
            found = np.arange(len(rows)) if k > 1 else np.zeros(len(rows))
        else:
            search = KMeans(k, init="random", n_init=1, max_iter=100)
            found = search.set_params(random_state=state).fit(rows).labels_
        centers += [rows[found == c].mean(axis=0) for c in np.unique(found)]
    return np.array(centers)


def literal_probabilities(X, Y, test, k, seed, C=1.0, standardize_distances=True):
    """P(y = 1) of the test rows for every label of Y, which all share the centers."""
    mean, scale = X.mean(axis=0), X.std(axis=0)
    X, test = (X - mean) / scale, (test - mean) / scale
    centers = literal_centers(X, Y, k, seed)
    F, F_test = cdist(X, centers), cdist(test, centers)
    if standardize_distances:
        mean, scale = F.mean(axis=0), F.std(axis=0)
        F, F_test = (F - mean) / scale, (F_test - mean) / scale
    model = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-10)
    return np.column_stack([model.fit(F, y).predict_proba(F_test)[:, 1] for y in Y.T])


def solve_exactly(monkeypatch):
    """Let linear models end very near to their optimum."""
    exact = partial(fit_margins, tol=1e-9)
    monkeypatch.setattr(prototype_classifier, "fit_margins", exact)


def task_seeds(random_state, n_tasks):
    rng = np.random.RandomState(random_state)
    return rng.randint(np.iinfo(np.int32).max, size=n_tasks)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize(
    ("ratio", "C", "standardize_distances"),
    [(0.1, 1.0, True), (0.4, 0.2, False), (0.02, 5.0, True)],
)
def test_probabilities_are_those_of_a_literal_loop(
    form, ratio, C, standardize_distances, monkeypatch
):
    solve_exactly(monkeypatch)
    X, Y = random_rows(1, n=90, m=5, q=3)
    test = np.random.default_rng(0).normal(size=(20, 5))
    options = {"C": C, "standardize_distances": standardize_distances}
    model = LIFT(ratio, **options, random_state=7).fit(form(X), form(Y))
    for j, seed in enumerate(task_seeds(7, 3)):
        n_positive = int(Y[:, j].sum())
        k = int(np.ceil(ratio * min(n_positive, 90 - n_positive)))
        expected = literal_probabilities(X, Y[:, [j]], test, k, seed, **options)
        found = model.predict_proba(form(test))[:, j]
        np.testing.assert_allclose(found, expected[:, 0], atol=1e-6)
        assert model.n_prototypes_[j] == 2 * k


def test_rows_may_change_their_form_between_fit_and_predict():
    X, Y = random_rows(0)
    X[np.abs(X) < 0.5] = 0.0
    expected = LIFT(0.3, random_state=0).fit(X, Y).decision_function(X)
    for fitted, tested in [(X, sparse.csr_array(X)), (sparse.csr_array(X), X)]:
        model = LIFT(0.3, random_state=0).fit(fitted, Y)
        np.testing.assert_allclose(model.decision_function(tested), expected, atol=1e-5)


def test_stacks_by_hand():
    stacks = prototype_classifier._stacks([4, 4, 1, 9, 2, 20, 1], 9)
    assert [(s.start, s.stop) for s in stacks] == [
        (0, 3),
        (3, 4),
        (4, 5),
        (5, 6),
        (6, 7),
    ]
    assert list(prototype_classifier._stacks([], 9)) == []


def test_blocks_and_threads_make_no_difference(monkeypatch):
    X, Y = random_rows(0, n=60)
    expected = LIFT(0.3, random_state=0).fit(X, Y).decision_function(X)
    monkeypatch.setattr(prototype_classifier, "_STACK", 12)
    monkeypatch.setattr(prototype_classifier, "_BLOCK_ENTRIES", 200)
    model = LIFT(0.3, random_state=0, n_jobs=2).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-5)


def test_neither_shift_nor_scale_of_a_feature_matters():
    X, Y = random_rows(0)
    scale = np.geomspace(1e-3, 1e3, X.shape[1])
    expected = LIFT(0.3, random_state=0).fit(X, Y).decision_function(X)
    moved = X * scale + 1e6 * scale
    found = LIFT(0.3, random_state=0).fit(moved, Y).decision_function(moved)
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_labels_that_live_in_two_places():
    """Exclusive or: no function that is linear in the features does better than ½."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    Y = (X[:, :1] * X[:, 1:] > 0).astype(int)
    model = LIFT(random_state=0).fit(X[:300], Y[:300])
    assert model.score(X[300:], Y[300:]) > 0.9


def test_limits_on_prototypes():
    X, Y = random_rows(0, n=80)
    assert (LIFT(0.5, max_prototypes=3).fit(X, Y).n_prototypes_ == 6).all()
    # Every row of the rarer kind is one, and as many of the others.
    model = LIFT(1.0, random_state=0).fit(X, Y)
    rarer = np.minimum(Y.sum(axis=0), 80 - Y.sum(axis=0))
    np.testing.assert_array_equal(model.n_prototypes_, 2 * rarer)


def test_degenerate_labels():
    X, Y = random_rows(0)
    X[:, 0] = 3.0
    Y = np.column_stack([np.zeros(40), np.ones(40), np.eye(40)[0], Y[:, 0], Y[:, 0]])
    model = LIFT(random_state=0).fit(X, Y)
    np.testing.assert_array_equal(model.n_prototypes_[:3], [0, 0, 2])
    probabilities = model.predict_proba(X)
    assert ((probabilities > 0) & (probabilities < 1)).all()
    assert not model.predict(X)[:, 0].any()
    assert model.predict(X)[:, 1].all()
    assert np.ptp(model.decision_function(X)[:, :2], axis=0).max() == 0


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_hardly_any_rows(n, form):
    X, Y = random_rows(0, n=5, m=9)
    model = LIFT(random_state=0).fit(form(X[:n]), Y[:n])
    assert np.isfinite(model.decision_function(X)).all()


def test_equal_rows_raise_no_warning():
    X, Y = np.repeat(np.eye(3), 20, axis=0), np.tile([[0, 1], [1, 1], [1, 0]], (20, 1))
    model = LIFT(0.5, random_state=0).fit(X, Y)
    assert (model.n_prototypes_ <= 6).all()
    np.testing.assert_allclose(model.predict_proba(np.eye(3)), 2 / 3, atol=0.05)


@pytest.mark.parametrize(
    ("name", "means"),
    [
        ("emotions", (0.179, 0.140, 0.221, 0.858)),
        pytest.param("yeast", (0.197, 0.166, 0.228, 0.709), marks=pytest.mark.slow),
        pytest.param("scene", (0.083, 0.064, 0.201, 0.945), marks=pytest.mark.slow),
    ],
)
def test_re_run_rows(name, means, data):
    """Five folds of a loop of scikit-learn's KMeans and LogisticRegression."""
    X, Y, *_ = data(name)
    results = []
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        scores = LIFT(random_state=0).fit(X[train], Y[train]).decision_function(X[test])
        results.append(list(evaluate(Y[test], scores, scores > 0).values()))
    gaps = np.abs(np.mean(results, axis=0) - means)
    deviations = np.std(results, axis=0, ddof=1)
    assert (gaps <= 2 * deviations + 0.0005).all(), (np.mean(results, axis=0), means)


# Prototypes against scikit-learn's k-means and distances written out.


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
