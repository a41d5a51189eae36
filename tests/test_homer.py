"""HOMER against literal twins: the clusters, and a walk down the tree row by row."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from conftest import random_rows
from homi.estimators import HOMER, BinaryRelevance, LabelPowerset, MLkNN
from homi.methods.homer import Node, balanced_clusters
from homi.methods.label_clustering import affinity, combination_code, group_labels
from homi.moments import Moments


def literal_clusters(Y, k, rng, iterations):
    """Balanced k-means of the paper, with the columns of Y and sorted lists."""
    q = Y.shape[1]
    k = min(k, q)
    centers = [Y[:, label].astype(float) for label in rng.permutation(q)[:k]]
    limit = int(np.ceil(q / k))
    for _ in range(iterations):
        clusters = [[] for _ in range(k)]
        for label in range(q):
            d = [np.sum((Y[:, label] - center) ** 2) for center in centers]
            who = (label, list(d), list(d))
            while True:
                j = int(np.argmin(who[2]))
                clusters[j].append(who)
                clusters[j].sort(key=lambda member, j=j: round(member[1][j], 9))
                if len(clusters[j]) <= limit:
                    break
                who = clusters[j].pop()
                who[2][j] = np.inf
        centers = [
            np.mean([Y[:, m[0]] for m in c], axis=0) if c else np.zeros(len(Y))
            for c in clusters
        ]
    return [sorted(m[0] for m in cluster) for cluster in clusters if cluster]


@given(st.integers(0, 1000), st.integers(2, 11), st.integers(2, 5))
@settings(max_examples=40)
def test_clusters_are_those_of_the_paper(seed, q, k):
    # Lengths that differ: no two labels are equally far from a center.
    Y = np.random.default_rng(seed).normal(size=(15, q))
    found = balanced_clusters(Y.T @ Y, k, np.random.RandomState(seed))
    expected = literal_clusters(Y, k, np.random.RandomState(seed), 10)
    assert [part.tolist() for part in found] == expected
    assert max(map(len, found)) <= -(-q // min(k, q))
    assert sorted(np.concatenate(found)) == list(range(q))


def test_similar_labels_are_in_one_cluster():
    rng = np.random.default_rng(0)
    topics = rng.random((200, 2)) < 0.4
    Y = np.repeat(topics, 3, axis=1) ^ (rng.random((200, 6)) < 0.05)
    parts = balanced_clusters((Y.T @ Y.astype(float)), 2, np.random.RandomState(0))
    assert sorted(part.tolist() for part in parts) == [[0, 1, 2], [3, 4, 5]]


def labels_of(child):
    return child.labels if isinstance(child, Node) else child


def literal(node, X, Y, row, base, product=1.0, reached=True, root=True):
    """Return probability and prediction of each label of one row, by a new fit."""
    rows = [i for i in range(len(X)) if root or Y[i, node.labels].any()]
    rows = rows if len(rows) > 1 else list(range(len(X)))
    meta = [[int(Y[i, labels_of(c)].any()) for c in node.children] for i in rows]
    model = clone(base).fit(X[rows], np.array(meta))
    found = {}
    for child, p in zip(node.children, model.predict_proba(row[None])[0], strict=True):
        path = product * p, reached and p > 0.5
        if isinstance(child, Node):
            found |= literal(child, X, Y, row, base, *path, root=False)
        else:
            found[int(child[0])] = path
    return found


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("base", [LabelPowerset(), MLkNN(5)])
def test_rows_walk_down_the_tree(base, kind):
    X, Y = random_rows(3, n=50, m=5, q=7)
    model = HOMER(base, n_children=2).fit(X, kind(Y))
    assert isinstance(model.root_.children[0], Node)
    test = X[:4] + 0.3
    for row, labels, p in zip(
        test, model.predict(test), model.predict_proba(test), strict=True
    ):
        found = literal(model.root_, X, Y, row, base)
        assert [found[j][1] for j in range(7)] == labels.astype(bool).tolist()
        product = np.array([found[j][0] for j in range(7)])
        agree = (product > 0.5) == labels
        np.testing.assert_allclose(p[agree], product[agree], atol=1e-9)
        np.testing.assert_allclose(p[~agree], 0.5, atol=1e-5)


def leaves(child):
    if not isinstance(child, Node):
        return [int(child[0])]
    below = [label for c in child.children for label in leaves(c)]
    assert sorted(below) == child.labels.tolist()
    assert 2 <= len(child.children) <= 3
    return below


def test_every_label_is_a_leaf_once():
    X, Y = random_rows(0, n=80, q=11)
    assert sorted(leaves(HOMER().fit(X, Y).root_)) == list(range(11))


def test_as_many_children_as_labels_are_the_classifier_alone():
    X, Y = random_rows(0, n=60, q=4)
    base = BinaryRelevance(loss="log")
    order = np.concatenate(
        (model := HOMER(base, n_children=9).fit(X, Y)).root_.children
    )
    expected = base.fit(X, Y[:, order]).predict_proba(X)
    np.testing.assert_allclose(model.predict_proba(X)[:, order], expected, atol=1e-9)


def test_labels_that_nobody_has_are_never_predicted():
    X, Y = random_rows(0, n=60, q=6)
    Y[:, [1, 4, 5]] = 0
    for seed in range(3):
        predicted = HOMER(n_children=2, random_state=seed).fit(X, Y).predict(X)
        assert not predicted[:, [1, 4, 5]].any()
        assert predicted[:, [0, 2, 3]].any(axis=0).all()


# Groups of labels and their codes against loops.


def test_affinity_by_a_loop():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 3)), (rng.random((40, 5)) < 0.3).astype(float)
    Y[:, 4] = 0
    found = affinity(Moments.from_rows(X, Y), 0.8, 0.05)
    for p in range(5):
        for q in range(5):
            rows_p, rows_q = Y[:, p] == 1, Y[:, q] == 1
            either = (rows_p | rows_q).sum()
            value = 0.8 * (rows_p & rows_q).sum() / either if either else 0.0
            if rows_p.any() and rows_q.any():
                apart = np.linalg.norm(X[rows_p].mean(axis=0) - X[rows_q].mean(axis=0))
                value += 0.2 * np.exp(-apart)
            expected = 0.0 if p == q or value < 0.05 else value
            assert found[p, q] == pytest.approx(expected)


def test_blocks_of_an_affinity_are_found():
    A = np.zeros((9, 9))
    for block in ([0, 3, 6], [1, 4, 7], [2, 5, 8]):
        A[np.ix_(block, block)] = 0.5
    np.fill_diagonal(A, 0.0)
    groups = {tuple(group) for group in group_labels(A, 3, seed=0)}
    assert groups == {(0, 3, 6), (1, 4, 7), (2, 5, 8)}
    assert [group.tolist() for group in group_labels(A, 1, seed=0)] == [list(range(9))]


def test_every_label_is_in_one_group():
    """Also where labels have no affinity at all."""
    A = np.zeros((25, 25))
    A[:5, :5] = 0.3
    np.fill_diagonal(A, 0.0)
    groups = group_labels(A, 3, seed=0)
    np.testing.assert_array_equal(np.sort(np.concatenate(groups)), np.arange(25))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_codes_rank_binary_numbers_with_the_first_label_last(kind):
    Y = kind(np.array([[0, 0, 9], [1, 0, 9], [0, 1, 9], [1, 1, 9], [0, 1, 9]]) % 9)
    code = combination_code(Y, np.array([0, 1]))
    np.testing.assert_allclose(code, [0, 1 / 3, 2 / 3, 1, 2 / 3])
    only_some = combination_code(Y[2:], np.array([0, 1]))
    np.testing.assert_allclose(only_some, [0, 1, 0])
    np.testing.assert_array_equal(combination_code(Y, np.array([1])), [0, 0, 1, 1, 1])
    np.testing.assert_array_equal(combination_code(Y, np.array([2])), np.zeros(5))


def test_codes_of_many_labels():
    """More labels than an integer has bits."""
    Y = np.eye(80)
    code = combination_code(Y, np.arange(80))
    np.testing.assert_allclose(code, np.arange(80) / 79)
