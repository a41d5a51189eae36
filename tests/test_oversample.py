"""Synthetic rows for rare labels against a literal twin, and imbalance by hand."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from homi.datasets import imbalance_ratios, oversample, summarize


def rare(seed=0, n=120, m=3):
    """Rows in clusters, with two rare labels that prefer some of them."""
    rng = np.random.default_rng(seed)
    cluster = rng.integers(4, size=n)
    X = rng.normal(size=(n, m)) + 3 * cluster[:, None]
    shares = np.array([[0.9, 0.4, 0.2, 0.0], [0.8, 0.5, 0.0, 0.2]])[cluster % 2]
    return X, (rng.random((n, 4)) < shares).astype(int)


def literal(X, Y, k):
    """Yield the row, its nearest rows and the labels of each new row, by loops."""
    counts = Y.sum(axis=0)
    ratios = [counts.max() / count if count else np.inf for count in counts]
    mean = np.mean([ratio for ratio in ratios if ratio < np.inf])
    for j, ratio in enumerate(ratios):
        bag = [i for i in range(len(X)) if Y[i, j]]
        if not (mean < ratio < np.inf) or len(bag) < 2:
            continue
        for i in bag:
            far = {other: np.sum((X[i] - X[other]) ** 2) for other in bag if other != i}
            near = sorted(far, key=far.get)[:k]
            votes = Y[[i, *near]].sum(axis=0)
            yield i, near, (votes > (len(near) + 1) / 2).astype(int)


@given(st.integers(0, 1000), st.integers(1, 7), st.booleans())
@settings(max_examples=25)
def test_new_rows_lie_between_neighbors_and_have_their_labels(seed, k, is_sparse):
    X, Y = rare(seed)
    kind = sparse.csr_array if is_sparse else np.asarray
    found = oversample(kind(X), kind(Y), n_neighbors=k, random_state=seed)
    X_more, Y_more = (A.toarray() if is_sparse else A for A in found)
    np.testing.assert_array_equal(X_more[: len(X)], X)
    np.testing.assert_array_equal(Y_more[: len(Y)], Y)
    expected = list(literal(X, Y, k))
    assert len(X_more) - len(X) == len(expected)
    new = zip(X_more[len(X) :], Y_more[len(X) :], expected, strict=True)
    for row, labels, (i, near, wanted) in new:
        np.testing.assert_array_equal(labels, wanted)
        low, high = np.minimum(X[i], X[near]), np.maximum(X[i], X[near])
        inside = (row >= low - 1e-9) & (row <= high + 1e-9)
        assert inside.all(axis=1).any()
        assert (row != X[i]).all()


def test_new_rows_are_spread_over_neighbors_and_between():
    X, Y = rare(0, n=600, m=1)
    new = oversample(X, Y)[0][len(X) :]
    share, used = [], set()
    for row, (i, near, _) in zip(new, literal(X, Y, 5), strict=True):
        position = (row - X[i]) / (X[near] - X[i])
        fitting = np.flatnonzero((position >= 0) & (position <= 1))
        used |= set(fitting.tolist())
        share += position[fitting].ravel().tolist()
    assert used == set(range(5))
    assert 0.35 < np.mean(share) < 0.65


def test_rare_labels_become_less_rare():
    for seed in range(5):
        X, Y = rare(seed)
        _, more = oversample(X, Y)
        assert np.mean(imbalance_ratios(more)) < 0.9 * np.mean(imbalance_ratios(Y))


def test_ratios_are_those_of_the_summary(data):
    emotions = data("emotions")
    ratios = imbalance_ratios(emotions.Y)
    facts = summarize(emotions)
    assert ratios.mean() == pytest.approx(facts.imbalance_mean)
    assert ratios.max() == pytest.approx(facts.imbalance_max)
    Y = np.array([[1, 0, 1], [1, 0, 0], [1, 0, 0], [1, 0, 1]])
    assert imbalance_ratios(Y).tolist() == [1, np.inf, 2]


def test_a_seed_gives_the_same_rows_and_nothing_given_changes():
    X, Y = rare()
    before = X.copy(), Y.copy()
    X.flags.writeable = Y.flags.writeable = False
    first, same, other = (oversample(X, Y, random_state=s)[0] for s in (1, 1, 2))
    np.testing.assert_array_equal(first, same)
    assert (first != other).any()
    first[:] = 0
    for array, kept in zip((X, Y), before, strict=True):
        np.testing.assert_array_equal(array, kept)


@pytest.mark.parametrize(
    "Y", [np.zeros((5, 2), int), np.ones((5, 2), int), np.eye(5, 2, dtype=int)]
)
def test_labels_without_a_rare_one_give_no_rows(Y):
    X = np.arange(10.0).reshape(5, 2)
    found = oversample(X, Y)
    np.testing.assert_array_equal(found[0], X)
    np.testing.assert_array_equal(found[1], Y)
    assert found[0] is not X


def test_containers_and_types():
    X, Y = rare()
    expected = oversample(X, Y)
    frames = oversample(pd.DataFrame(X), pd.DataFrame(Y).astype(bool))
    for a, b in zip(frames, expected, strict=True):
        np.testing.assert_array_equal(a, b)
    assert frames[1].dtype == bool
    mixed = oversample(sparse.coo_array(X), Y)
    assert sparse.issparse(mixed[0])
    np.testing.assert_array_equal(mixed[1], expected[1])


def test_bad_input_is_told():
    X, Y = rare()
    with pytest.raises(ValueError, match="n_neighbors must be at least 1, got 0"):
        oversample(X, Y, n_neighbors=0)
    with pytest.raises(ValueError, match=r"only 0 and 1, got .*pass Y > 0"):
        oversample(X, 2 * Y - 1)
    with pytest.raises(ValueError, match=r"got shape \(120,\)"):
        oversample(X, Y[:, 0])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        oversample(X[1:], Y)
    with pytest.raises(ValueError, match="NaN"):
        oversample(X * np.nan, Y)
