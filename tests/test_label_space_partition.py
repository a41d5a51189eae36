"""Communities against networkx and every partition; one classifier per part."""

from itertools import chain

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.tree import DecisionTreeClassifier

from conftest import random_rows
from homi.estimators import LabelPowerset, LabelSpacePartition, MLkNN
from homi.methods.label_graph import cosine_similarity, jaccard_similarity, laplacian
from homi.methods.label_space_partition import communities


def random_graph(seed, q=9):
    rng = np.random.default_rng(seed)
    weights = rng.random((q, q)) * (rng.random((q, q)) < 0.4)
    weights = np.triu(weights, 1)
    return weights + weights.T


def modularity(weights, parts, resolution):
    """The sum over pairs of labels of one part, as Newman defines it."""
    total, degree = weights.sum(), weights.sum(axis=0)
    return sum(
        weights[i, j] / total - resolution * degree[i] * degree[j] / total**2
        for part in parts
        for i in part
        for j in part
    )


@given(st.integers(0, 1000), st.sampled_from([0.5, 1.0, 2.0]))
@settings(max_examples=30)
def test_communities_are_those_of_networkx(seed, resolution):
    weights = random_graph(seed)
    found = {frozenset(part.tolist()) for part in communities(weights, resolution)}
    graph = nx.from_numpy_array(weights)
    expected = nx.community.greedy_modularity_communities(
        graph, weight="weight", resolution=resolution
    )
    assert found == {frozenset(part) for part in expected}


@given(st.integers(0, 1000), st.sampled_from([0.5, 1.0, 2.0]))
@settings(max_examples=30)
def test_no_two_communities_should_be_joined(seed, resolution):
    weights = random_graph(seed)
    parts = [part.tolist() for part in communities(weights, resolution)]
    assert sorted(chain(*parts)) == list(range(9))
    best = modularity(weights, parts, resolution)
    assert best >= modularity(weights, [[i] for i in range(9)], resolution)
    for c in range(len(parts)):
        for d in range(c):
            rest = [part for i, part in enumerate(parts) if i not in (c, d)]
            joined = modularity(weights, [*rest, parts[c] + parts[d]], resolution)
            assert joined <= best + 1e-12


def test_labels_that_never_meet_are_parts():
    Y = np.array([[1, 1, 0, 0, 0], [1, 1, 0, 0, 0], [0, 0, 1, 1, 0], [0, 0, 1, 1, 0]])
    X = np.arange(8.0).reshape(4, 2)
    model = LabelSpacePartition(MLkNN(1)).fit(X, Y)
    assert [part.tolist() for part in model.label_parts_] == [[0, 1], [2, 3], [4]]
    assert len(communities(np.zeros((3, 3)), 1.0)) == 3


@pytest.mark.parametrize(
    "base",
    [
        None,
        LabelPowerset(DecisionTreeClassifier(max_depth=2, random_state=0)),
        MLkNN(5),
    ],
)
def test_each_part_is_predicted_by_its_own_classifier(base):
    X, Y = random_rows(0, n=80, q=6)
    model = LabelSpacePartition(base, resolution=1.2).fit(X, Y)
    assert 1 < len(model.label_parts_) < 6
    for part, own in zip(model.label_parts_, model.estimators_, strict=True):
        again = clone(own).fit(X, Y[:, part])
        np.testing.assert_allclose(
            model.predict_proba(X)[:, part], again.predict_proba(X), atol=1e-12
        )
        np.testing.assert_array_equal(model.predict(X)[:, part], again.predict(X))


def test_classifiers_of_scikit_learn_can_be_used():
    X, Y = random_rows(0, n=60, q=5)
    base = OneVsRestClassifier(LogisticRegression())
    for resolution in (0.0, 9.0):
        model = LabelSpacePartition(base, resolution=resolution).fit(X, Y)
        assert len(model.label_parts_) == (1 if resolution == 0 else 5)
        expected = base.fit(X, Y).predict_proba(X)
        np.testing.assert_allclose(model.predict_proba(X), expected)
    with pytest.raises(TypeError, match="one column per label; pass a multi-label"):
        LabelSpacePartition(DecisionTreeClassifier(), resolution=0.0).fit(X, Y).predict(
            X
        )


# Label similarities and their Laplacian against loops over pairs of labels.


@pytest.fixture
def Y():
    Y = (np.random.default_rng(0).random((30, 6)) < 0.4).astype(float)
    Y[:, 2], Y[:, 3], Y[:, 4] = 0, 1, Y[:, 0]
    return Y


def test_cosine(Y):
    S = cosine_similarity(Y.T @ Y)
    for p in range(6):
        for q in range(6):
            length = np.linalg.norm(Y[:, p]) * np.linalg.norm(Y[:, q])
            expected = Y[:, p] @ Y[:, q] / length if length else 0.0
            assert S[p, q] == pytest.approx(expected)
    assert S[0, 4] == pytest.approx(1.0)


def test_jaccard(Y):
    S = jaccard_similarity(Y.T @ Y)
    for p in range(6):
        for q in range(6):
            both, either = (Y[:, p] * Y[:, q]).sum(), np.maximum(Y[:, p], Y[:, q]).sum()
            assert S[p, q] == pytest.approx(both / either if either else 0.0)
    assert S[2, 2] == 0.0


def test_laplacian_measures_differences(Y):
    S = cosine_similarity(Y.T @ Y)
    L = laplacian(S)
    V = np.random.default_rng(1).normal(size=(4, 6))
    expected = 0.5 * sum(
        S[p, q] * np.sum((V[:, p] - V[:, q]) ** 2) for p in range(6) for q in range(6)
    )
    assert np.trace(V @ L @ V.T) == pytest.approx(expected)
    np.testing.assert_allclose(L.sum(axis=1), 0, atol=1e-12)
