"""RAKEL against a twin that votes row by row, with the same sets and classifiers."""

import math
import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from scipy import sparse
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import contract_checks
from conftest import random_rows
from homi.methods.ml_knn import MLkNN
from homi.methods.rakel import _DEFAULT, RAKEL
from homi.metrics import hamming_loss


@pytest.mark.filterwarnings("ignore")
@contract_checks.parametrize(
    [RAKEL(KNeighborsClassifier(3), overlap=False, labelset_size=2, random_state=0)],
    contract_checks.without_weights,
)
def test_scikit_learn_contract(estimator, expected):
    contract_checks.check_parameters(estimator, expected)


def standardized(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def literal(X, Y, test, labelsets, base):
    """For every label and row, the mean over sets of what their classifiers say."""
    scores = np.empty((len(test), Y.shape[1]))
    for j in range(Y.shape[1]):
        said = []
        for labels in labelsets:
            if j not in labels:
                continue
            names = ["".join(str(int(v)) for v in row) for row in Y[:, labels]]
            place = list(labels).index(j)
            if len(set(names)) == 1:
                said.append([float(names[0][place])] * len(test))
                continue
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "The number of unique classes")
                model = clone(base).fit(X, names)
            if hasattr(model, "predict_proba"):
                classes = [name[place] == "1" for name in model.classes_]
                said.append(model.predict_proba(test)[:, classes].sum(axis=1))
            else:
                said.append([float(name[place]) for name in model.predict(test)])
        scores[:, j] = np.mean(said, axis=0)
    return scores


def test_many_combinations_in_few_rows_are_no_regression():
    """scikit-learn warns of more classes than half of the rows; here they are right."""
    X, Y = random_rows(903, n=50, m=5, q=5)
    model = RAKEL(labelset_size=5, random_state=0).fit(X, Y)
    assert 25 < len(model.combinations_[0]) <= 32


@given(
    seed=st.integers(0, 10_000),
    size=st.integers(1, 5),
    overlap=st.booleans(),
    base=st.sampled_from([None, RidgeClassifier(), KNeighborsClassifier(4)]),
    kind=st.sampled_from([np.asarray, sparse.csr_array]),
)
@example(seed=903, size=5, overlap=False, base=None, kind=np.asarray)
@settings(max_examples=15)
def test_scores_are_means_over_the_sets(seed, size, overlap, base, kind):
    X, Y = random_rows(seed, n=50, m=5, q=5)
    model = RAKEL(base, labelset_size=size, overlap=overlap, random_state=seed)
    model.fit(X, kind(Y))
    Z = standardized(X)
    test = np.random.default_rng(seed).normal(size=(8, 5))
    scaled = (test - X.mean(axis=0)) / X.std(axis=0)
    expected = literal(
        Z, Y, scaled, model.labelsets_, _DEFAULT if base is None else base
    )
    scores = model.decision_function(test)
    np.testing.assert_allclose(scores, expected - 0.5, atol=1e-5)
    clear = np.abs(expected - 0.5) > 1e-5
    predicted = model.predict(test)
    np.testing.assert_array_equal(predicted[clear], (expected > 0.5)[clear])
    np.testing.assert_array_equal(predicted, scores > 0)
    np.testing.assert_allclose(model.predict_proba(test), expected, atol=1e-5)


@given(
    q=st.integers(1, 12),
    size=st.integers(1, 6),
    number=st.one_of(st.none(), st.integers(1, 300)),
    seed=st.integers(0, 1000),
)
@settings(max_examples=200)
def test_sets_are_distinct_and_hold_every_label(q, size, number, seed):
    model = RAKEL(labelset_size=size, n_labelsets=number, random_state=seed)
    k, rng = min(size, q), np.random.RandomState(seed)
    fewest = math.ceil(q / k)
    if number is not None and number < fewest:
        with pytest.raises(ValueError, match=f"{number} sets of .* at least {fewest}"):
            model._draw(q, rng)
        return
    sets = [tuple(labels) for labels in model._draw(q, rng)]
    expected = min(2 * q if number is None else number, math.comb(q, k))
    assert len(set(sets)) == len(sets) == expected
    assert set().union(*sets) == set(range(q))
    assert all(len(set(labels)) == k for labels in sets)
    assert all(list(labels) == sorted(labels) for labels in sets)


def test_all_sets_where_as_many_are_asked_for():
    sets = RAKEL(n_labelsets=99)._draw(6, np.random.RandomState(0))
    assert {tuple(labels) for labels in sets} == set(combinations(range(6), 3))


def test_every_set_is_as_likely_as_any_other():
    rng = np.random.RandomState(0)
    model = RAKEL(labelset_size=2, n_labelsets=4)
    drawn = np.zeros((7, 7))
    for _ in range(2000):
        for first, second in model._draw(7, rng):
            drawn[first, second] += 1
    counts = drawn[np.triu_indices(7, 1)]
    mean = 2000 * 4 / 21
    assert (np.abs(counts - mean) < 5 * np.sqrt(mean)).all()
    assert counts.sum() == 8000


@pytest.mark.parametrize(("q", "size", "lengths"), [(7, 3, [3, 3, 1]), (6, 2, [2] * 3)])
def test_disjoint_sets_are_a_partition(q, size, lengths):
    model = RAKEL(labelset_size=size, overlap=False)
    sets = model._draw(q, np.random.RandomState(0))
    assert [len(labels) for labels in sets] == lengths
    assert sorted(np.concatenate(sets)) == list(range(q))
    model.set_params(n_labelsets=len(lengths) + 1)
    with pytest.raises(
        ValueError, match=f"make {len(lengths)} sets of .* got n_labelsets="
    ):
        model._draw(q, np.random.RandomState(0))


def test_seeds_make_it_repeatable():
    X, Y = random_rows(0, n=60, q=6)
    tree = DecisionTreeClassifier(max_features=1)
    one, same, other = (
        RAKEL(tree, random_state=seed).fit(X, Y).decision_function(X + 0.1)
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


def test_classifiers_have_different_seeds_also_in_pipelines():
    X, Y = random_rows(0, n=60, q=6)
    base = make_pipeline(DecisionTreeClassifier(max_features=1))
    model = RAKEL(base, random_state=0).fit(X, Y)
    seeds = {est[-1].random_state for est in model.estimators_}
    assert len(seeds) == len(model.estimators_) == 12
    assert base[-1].random_state is None


@pytest.mark.parametrize(
    "backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)]
)
def test_jobs_make_no_difference(backend):
    X, Y = random_rows(0, n=60, q=6)
    expected = RAKEL(random_state=0).fit(X, Y).decision_function(X)
    with parallel_config(backend):
        model = RAKEL(random_state=0, n_jobs=2).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-12)


def test_one_label_a_set_is_binary_relevance():
    X, Y = random_rows(0, n=60)
    model = RAKEL(labelset_size=1, random_state=0).fit(X, Y)
    assert len(model.labelsets_) == 4
    Z = standardized(X)
    for j in range(4):
        own = clone(_DEFAULT).fit(Z, Y[:, j]).predict_proba(Z)[:, 1]
        np.testing.assert_allclose(model.predict_proba(X)[:, j], own, atol=1e-6)


def test_all_labels_in_one_set_is_label_powerset():
    X, Y = random_rows(0, n=60)
    model = RAKEL(labelset_size=9, random_state=0).fit(X, Y)
    assert [list(labels) for labels in model.labelsets_] == [[0, 1, 2, 3]]
    assert len(model.combinations_[0]) == len(np.unique(Y, axis=0))
    hard = RAKEL(RidgeClassifier(), labelset_size=9, random_state=0).fit(X, Y)
    seen = {tuple(row) for row in Y}
    assert {tuple(row) for row in hard.predict(X)} <= seen


def test_sparse_rows_give_what_dense_ones_do():
    X, Y = random_rows(0, n=80, m=10)
    X[np.random.default_rng(0).random(X.shape) < 0.7] = 0
    X[:, 3] = 2.0
    dense = RAKEL(random_state=0).fit(X, Y)
    thin = RAKEL(random_state=0).fit(sparse.csc_array(X), sparse.csr_array(Y))
    assert all(est.coef_.shape[1] == 10 for est in thin.estimators_)
    expected = dense.decision_function(X)
    for model in (dense, thin):
        for kind in (np.asarray, sparse.csr_array, sparse.csc_matrix):
            scores = model.decision_function(kind(X))
            np.testing.assert_allclose(scores, expected, atol=1e-4)


def test_without_standardizing_the_rows_are_used_as_they_are():
    X, Y = random_rows(0, n=60)
    base = KNeighborsClassifier(5)
    model = RAKEL(base, standardize=False, random_state=0).fit(X, Y)
    expected = literal(X, Y, X, model.labelsets_, base)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-5)


def test_degenerate_labels():
    X, Y = random_rows(0, n=40)
    Y = np.column_stack([np.zeros(40), np.ones(40), np.eye(40)[0], Y[:, 0], Y[:, 0]])
    model = RAKEL(random_state=0).fit(X, Y)
    predicted = model.predict(X)
    assert not predicted[:, 0].any()
    assert predicted[:, 1].all()
    together = [{3, 4} <= set(labels.tolist()) for labels in model.labelsets_]
    assert any(together)
    constant = RAKEL(labelset_size=1).fit(X, np.tile([0, 1], (40, 1)))
    assert constant.estimators_ == [None, None]
    np.testing.assert_array_equal(constant.predict(X), np.tile([0, 1], (40, 1)))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_rows_and_constant_features(n):
    X, Y = random_rows(0, n=n, m=5, q=3)
    X[:, 0] = 7.0
    assert np.isfinite(RAKEL(random_state=0).fit(X, Y).decision_function(X)).all()


def test_votes_of_nobody_still_are_probabilities():
    """Ten classes, no set of which claims a row: each is as likely as the others."""
    y = np.repeat(np.arange(10), 3)
    X = np.arange(30.0)[:, None]
    base = DummyClassifier(strategy="most_frequent")
    probabilities = RAKEL(base, random_state=0).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(probabilities, 0.1)


def test_what_is_no_classifier_is_refused():
    X, Y = random_rows(0)
    with pytest.raises(TypeError, match="estimator"):
        RAKEL("tree").fit(X, Y)


@pytest.mark.parametrize(
    ("name", "margin"),
    [("emotions", 0.02), pytest.param("yeast", -0.01, marks=pytest.mark.slow)],
)
def test_as_good_as_neighbors(name, margin, data):
    """Better than ML-KNN where that is weak, and close to it where it is strong."""
    X, Y, *_ = data(name)
    gains = []
    for train, test in list(KFold(5, shuffle=True, random_state=0).split(X))[:2]:
        losses = [
            hamming_loss(Y[test], model.fit(X[train], Y[train]).predict(X[test]))
            for model in (MLkNN(), RAKEL(random_state=0))
        ]
        gains.append(losses[0] - losses[1])
    assert np.mean(gains) > margin
