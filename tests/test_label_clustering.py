"""Groups of labels and their codes against loops."""

import numpy as np
import pytest
from scipy import sparse

from homi.methods.label_clustering import affinity, combination_code, group_labels
from homi.moments import Moments


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
