"""Label powerset against a literal twin that adds up one label set at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from conftest import random_rows
from homi.estimators import RAKEL, BinaryRelevance, LabelPowerset
from homi.methods.label_powerset import _DEFAULT
from homi.metrics import exact_match

pytestmark = pytest.mark.filterwarnings("ignore:The number of unique classes")


def literal(X, Y, test, base):
    """Return the most probable set of every test row, and its label probabilities."""
    names = ["".join(str(int(v)) for v in row) for row in Y]
    model = clone(base).fit(X, names)
    predicted, probabilities = [], []
    for row in test[:, None]:
        if hasattr(model, "predict_proba"):
            chances = dict(
                zip(model.classes_, model.predict_proba(row)[0], strict=True)
            )
        else:
            chances = {model.predict(row)[0]: 1.0}
        best = max(chances, key=chances.get)
        predicted.append([int(bit) for bit in best])
        probabilities.append(
            [
                sum(p for name, p in chances.items() if name[j] == "1")
                for j in range(Y.shape[1])
            ]
        )
    return np.array(predicted), np.array(probabilities)


@given(
    seed=st.integers(0, 1000),
    base=st.sampled_from([None, RidgeClassifier(), KNeighborsClassifier(4)]),
    kind=st.sampled_from([np.asarray, sparse.csr_array]),
)
@settings(max_examples=15)
def test_sets_and_sums_are_those_of_the_twin(seed, base, kind):
    X, Y = random_rows(seed, n=50, m=5, q=4)
    test = np.random.default_rng(seed).normal(size=(8, 5))
    model = LabelPowerset(base).fit(X, kind(Y))
    mean, scale = X.mean(axis=0), X.std(axis=0)
    predicted, probabilities = literal(
        (X - mean) / scale, Y, (test - mean) / scale, _DEFAULT if base is None else base
    )
    np.testing.assert_array_equal(model.predict(test), predicted)
    found = model.predict_proba(test)
    agree = (probabilities > 0.5) == predicted
    np.testing.assert_allclose(found[agree], probabilities[agree], atol=1e-6)
    np.testing.assert_allclose(found[~agree], 0.5, atol=1e-5)


def test_only_sets_that_occur_are_predicted():
    X, Y = random_rows(0, n=100, q=5)
    model = LabelPowerset().fit(X, Y)
    seen = {tuple(row) for row in Y}
    assert {tuple(row) for row in model.predict(3 * X)} <= seen
    assert {tuple(row) for row in model.label_sets_} == seen


def test_rare_sets_are_left_out_with_their_rows():
    X, Y = random_rows(0, n=100, q=4)
    sets, counts = np.unique(Y, axis=0, return_counts=True)
    assert (counts < 6).any()
    model = LabelPowerset(min_rows=6).fit(X, Y)
    np.testing.assert_array_equal(model.label_sets_, sets[counts >= 6])
    often = (Y[:, None] == sets[counts >= 6]).all(axis=2).any(axis=1)
    same = LabelPowerset().fit(X[often], Y[often])
    np.testing.assert_array_equal(model.predict_proba(X), same.predict_proba(X))
    every = LabelPowerset(min_rows=99).fit(X, Y)
    np.testing.assert_array_equal(every.label_sets_, sets[counts == counts.max()])


def test_probabilities_are_those_of_one_large_label_set():
    """RAKEL with all labels in one set has the same sums, and thresholds them."""
    X, Y = random_rows(0, n=60)
    base = KNeighborsClassifier(5)
    ours = LabelPowerset(base).fit(X, Y)
    theirs = RAKEL(base, labelset_size=4).fit(X, Y).predict_proba(X)
    agree = ours.predict(X) == (theirs > 0.5)
    np.testing.assert_allclose(ours.predict_proba(X)[agree], theirs[agree])


def test_the_classifier_gets_seeds_and_stays_as_it_is():
    X, Y = random_rows(0, n=60)
    tree = DecisionTreeClassifier(max_features=1)
    model = LabelPowerset(tree, random_state=1).fit(X, Y)
    assert isinstance(model.estimator_.random_state, int)
    assert tree.random_state is None
    assert not hasattr(tree, "tree_")
    with pytest.raises(TypeError, match="estimator"):
        LabelPowerset("tree").fit(X, Y)


def test_sparse_rows_are_taken_if_the_classifier_takes_them():
    assert LabelPowerset().__sklearn_tags__().input_tags.sparse
    assert not LabelPowerset(GaussianNB()).__sklearn_tags__().input_tags.sparse


def test_whole_sets_are_right_more_often_than_by_binary_relevance(data):
    X, Y, *_ = data("emotions")
    whole, single = (
        exact_match(Y[400:], model.fit(X[:400], Y[:400]).predict(X[400:]))
        for model in (LabelPowerset(), BinaryRelevance())
    )
    assert whole > single + 0.03
