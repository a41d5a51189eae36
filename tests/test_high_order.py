"""Sets of labels that explain a label: against brute force over subsets of rows."""

from itertools import combinations

import numpy as np
import pytest

from homi.explorer import label_sets


def binary_rows(seed, n=80, q=6):
    """Labels of which the last is nearly the first two together."""
    rng = np.random.default_rng(seed)
    Y = rng.random((n, q)) < 0.45
    Y[:, -1] = (Y[:, 0] & Y[:, 1]) ^ (rng.random(n) < 0.04)
    return Y.astype(float)


def r2_of(Y, label, members):
    """Literally: reconstruct on the rows, compare variances."""
    design = np.column_stack([np.ones(len(Y)), Y[:, list(members)]])
    weights, *_ = np.linalg.lstsq(design, Y[:, label], rcond=None)
    left = Y[:, label] - design @ weights
    return 1 - left.var() / Y[:, label].var(), weights


@pytest.mark.parametrize("seed", range(6))
def test_sets_against_brute_force(seed):
    Y = binary_rows(seed)
    labels = range(Y.shape[1])
    for found in label_sets(Y.T @ Y, len(Y), most=3):
        others = [i for i in labels if i != found.label]
        best_single = max(r2_of(Y, found.label, [i])[0] for i in others)
        if found.members:
            assert found.r2[0] == pytest.approx(best_single, abs=1e-10)
        else:
            assert best_single < 0.01
        chosen = []
        for member, r2 in zip(found.members, found.r2, strict=True):
            rest = [i for i in others if i not in chosen]
            gains = {i: r2_of(Y, found.label, [*chosen, i])[0] for i in rest}
            assert gains[member] == pytest.approx(max(gains.values()), abs=1e-10)
            assert r2 == pytest.approx(gains[member], abs=1e-10)
            chosen.append(member)
            of_size = combinations(others, len(chosen))
            assert r2 <= max(r2_of(Y, found.label, s)[0] for s in of_size) + 1e-10
        assert all(np.diff([0.0, *found.r2]) >= 0.01)
        if len(chosen) < 3:
            rest = [i for i in others if i not in chosen]
            before = r2_of(Y, found.label, chosen)[0]
            after = max(r2_of(Y, found.label, [*chosen, i])[0] for i in rest)
            assert after - before < 0.01
        _, weights = r2_of(Y, found.label, found.members)
        given = [found.intercept, *found.weights]
        np.testing.assert_allclose(given, weights, atol=1e-10)


@pytest.mark.parametrize("seed", range(6))
def test_the_planted_pair_is_the_best_pair(seed):
    Y = binary_rows(seed, n=300)
    found = label_sets(Y.T @ Y, len(Y), most=2)[-1]
    pairs = combinations(range(Y.shape[1] - 1), 2)
    best = max(pairs, key=lambda pair: r2_of(Y, Y.shape[1] - 1, pair)[0])
    assert set(found.members) == set(best) == {0, 1}
    assert found.r2[1] > found.r2[0] + 0.1


def test_sets_of_constant_equal_and_single_labels():
    half = np.array([1.0, 0, 1, 0])
    Y = np.column_stack([half, half, half, np.zeros(4), np.ones(4)])
    *equal, never, always = label_sets(Y.T @ Y, 4)
    assert [s.members for s in equal] == [(1,), (0,), (0,)]
    assert [s.r2 for s in equal] == [pytest.approx((1.0,))] * 3
    assert never.members == always.members == ()
    assert [s.members for s in label_sets(np.array([[3.0]]), 5)] == [()]
