"""Stratified folds and splits: pairs of labels, sizes, groups, containers."""

from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn import config_context
from sklearn.model_selection import KFold, cross_validate
from sklearn.model_selection import train_test_split as random_split
from sklearn.preprocessing import MultiLabelBinarizer

from homi import HOMI
from homi.arrays import dense
from homi.datasets import (
    IterativeStratifiedKFold,
    imbalance_ratios,
    oversample,
    summarize,
    train_test_split,
)
from homi.datasets.stratify import _labels_and_pairs, assign_folds


def correlated(seed, n=300):
    """Labels that depend on each other: three topics with their own labels."""
    rng = np.random.default_rng(seed)
    shares = rng.random((3, 6)) ** 2
    return rng.random((n, 6)) < shares[rng.integers(3, size=n)]


def with_pairs(Y):
    first, second = np.triu_indices(Y.shape[1], 1)
    return np.column_stack([Y, Y[:, first] & Y[:, second]])


def deviation(Y, folds):
    """Label deviation of Sechidis et al.: odds of a label in a fold and in all rows."""
    total, n = Y.sum(axis=0), len(Y)
    odds = total / (n - total)
    found = [Y[test].sum(axis=0) / (len(test) - Y[test].sum(axis=0)) for test in folds]
    return np.abs(found - odds).mean()


def folds_of(splitter, Y, groups=None):
    return [test for _, test in splitter.split(Y, Y, groups)]


def literal(Y, n_splits):
    """Assign one row at a time; try every fold and keep the smallest sum of squares."""
    n, q = Y.shape
    sets = [(), *((i,) for i in range(q)), *combinations(range(q), 2)]
    having = [{r for r in range(n) if all(Y[r, list(s)])} for s in sets]
    having = having[: q + 1] + [rows for rows in having[q + 1 :] if len(rows) > 1]
    folds, left = [set() for _ in range(n_splits)], set(range(n))
    capacity = [len(test) for _, test in KFold(n_splits).split(Y)]

    def distance(row, fold):
        value = 0.0
        for f, rows in enumerate(folds):
            present = rows | {row} if f == fold else rows
            for all_rows in filter(None, having):
                desired = capacity[f] / n * len(all_rows)
                value += (desired - len(present & all_rows)) ** 2 / desired
        return round(value, 9)

    while left:
        counts = [len(rows & left) or np.inf for rows in having[1:]]
        rarest = having[1 + np.argmin(counts)] if min(counts) < np.inf else left
        for row in sorted(rarest & left):
            room = [
                size - len(rows) for size, rows in zip(capacity, folds, strict=True)
            ]
            costs = [distance(row, f) if room[f] else np.inf for f in range(n_splits)]
            fold = np.argmin(costs) if Y[row].any() else np.argmax(room)
            folds[fold].add(row)
            left.discard(row)
    return folds


class _First:
    """Draws the first of equal values, as ``max`` and ``min`` do."""

    def randint(self, n):
        return 0


@pytest.mark.parametrize("seed", range(5))
def test_pairs_are_balanced_as_loops_do_it(seed):
    Y = correlated(seed, n=40)[:, :4]
    expected = literal(Y, 3)
    capacity = [len(test) for _, test in KFold(3).split(Y)]
    fold = assign_folds(Y, capacity, order=2, rng=_First(), shuffle=False)
    assert [set(np.flatnonzero(fold == f)) for f in range(3)] == expected


@given(arrays(np.bool_, st.tuples(st.integers(1, 12), st.integers(2, 5))))
def test_evidence_is_each_label_and_each_pair_of_two_rows(Y):
    E = _labels_and_pairs(Y).toarray()
    expected = with_pairs(Y).astype(int)
    pairs = expected[:, Y.shape[1] :]
    expected = np.column_stack([Y, pairs[:, pairs.sum(axis=0) > 1]])
    assert sorted(map(tuple, E.T)) == sorted(map(tuple, expected.T.astype(int)))


def test_pairs_and_labels_are_more_even_than_by_chance_and_by_labels_alone():
    found = {"random": [], 1: [], 2: []}
    for seed in range(5):
        Y = correlated(seed)
        pairs = with_pairs(Y)[:, 6:]
        Z = np.column_stack([Y, pairs[:, pairs.sum(axis=0) > 4]])
        random = KFold(5, shuffle=True, random_state=seed)
        found["random"] += [deviation(Z, folds_of(random, Z))]
        for order in (1, 2):
            ours = IterativeStratifiedKFold(5, order=order, random_state=seed)
            found[order] += [deviation(Z, folds_of(ours, Y))]
    means = {key: np.mean(values) for key, values in found.items()}
    assert means[2] < 0.7 * means[1] < 0.7 * means["random"]


def test_yeast_is_split_better_than_by_the_paper(data):
    """Label deviation was .054, that of scikit-multilearn .032."""
    Y = np.asarray(data("yeast").Y, dtype=bool)
    first, second = (
        deviation(Y, folds_of(IterativeStratifiedKFold(order=k, random_state=0), Y))
        for k in (1, 2)
    )
    assert first == pytest.approx(0.0542, abs=1e-4)
    assert second < 0.01


@given(
    arrays(np.bool_, st.tuples(st.integers(4, 40), st.integers(2, 5))),
    st.integers(2, 4),
    st.integers(0, 99),
)
def test_fold_sizes_are_those_of_kfold(Y, n_splits, seed):
    folds = folds_of(IterativeStratifiedKFold(n_splits, order=2, random_state=seed), Y)
    expected = [len(test) for _, test in KFold(n_splits).split(Y)]
    assert [len(test) for test in folds] == expected


# Groups.


@given(
    arrays(np.bool_, st.tuples(st.integers(6, 40), st.integers(2, 4))),
    st.integers(3, 9),
    st.sampled_from([1, 2]),
    st.integers(0, 99),
)
def test_rows_of_a_group_stay_together(Y, n_groups, order, seed):
    groups = np.random.default_rng(seed).permutation(np.arange(len(Y)) % n_groups)
    splitter = IterativeStratifiedKFold(3, order=order, random_state=seed)
    folds = folds_of(splitter, Y, groups)
    assert sorted(np.concatenate(folds)) == list(range(len(Y)))
    assert all(len(test) for test in folds)
    homes = [{i for i, t in enumerate(folds) if g in groups[t]} for g in set(groups)]
    assert all(len(home) == 1 for home in homes)


def test_groups_of_one_row_are_rows():
    Y = correlated(0)
    for order in (1, 2):
        splitter = IterativeStratifiedKFold(4, order=order, random_state=1)
        plain, grouped = (folds_of(splitter, Y, g) for g in (None, np.arange(len(Y))))
        for a, b in zip(plain, grouped, strict=True):
            np.testing.assert_array_equal(a, b)


def test_groups_are_spread_more_evenly_than_by_chance():
    ours, random = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        Y, groups = correlated(seed), rng.integers(60, size=300)
        splitter = IterativeStratifiedKFold(5, order=2, random_state=seed)
        folds = folds_of(splitter, Y, groups)
        ours.append(deviation(Y, folds))
        assert max(map(len, folds)) - min(map(len, folds)) < 20
        home = rng.permutation(np.arange(60) % 5)[groups]
        random.append(deviation(Y, [np.flatnonzero(home == f) for f in range(5)]))
    assert np.mean(ours) < 0.75 * np.mean(random)


def test_groups_pass_through_scikit_learn():
    Y, groups = correlated(0, n=60)[:, :2], np.repeat(np.arange(12), 5)
    X = np.random.default_rng(0).normal(size=(60, 3))
    splitter = IterativeStratifiedKFold(3, order=2, random_state=0)
    expected = folds_of(splitter, Y, groups)
    found = cross_validate(
        HOMI(), X, Y, cv=splitter, groups=groups, return_indices=True
    )
    with config_context(enable_metadata_routing=True):
        routed = cross_validate(
            HOMI(), X, Y, cv=splitter, params={"groups": groups}, return_indices=True
        )
    for scores in (found, routed):
        for a, b in zip(scores["indices"]["test"], expected, strict=True):
            np.testing.assert_array_equal(a, b)


# train_test_split.


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("test_size", [0.25, 0.1, 80])
def test_a_split_is_more_even_than_a_random_one(order, test_size):
    ours, random = [], []
    for seed in range(8):
        Y = correlated(seed)
        for split, found in ((train_test_split, ours), (random_split, random)):
            options = {"order": order} if split is train_test_split else {}
            _, _, train, test = split(
                Y, Y, test_size=test_size, random_state=seed, **options
            )
            found.append(np.abs(train.mean(axis=0) - test.mean(axis=0)).mean())
            if order == 2:
                assert len(test) == (test_size if test_size > 1 else 300 * test_size)
    assert np.mean(ours) < 0.4 * np.mean(random)


FORMS = {
    "array": np.asarray,
    "list": lambda A: A.tolist(),
    "csr": sparse.csr_array,
    "coo": sparse.coo_matrix,
    "pandas": lambda A: pd.DataFrame(A).set_axis(range(7, 7 + len(A))),
    "polars": lambda A: pl.DataFrame(A, schema=[f"c{i}" for i in range(A.shape[1])]),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_container_is_split_alike(form):
    Y = correlated(0, n=30).astype(int)
    X = np.arange(60.0).reshape(30, 2)
    weight = np.arange(30)
    expected = train_test_split(X, Y, weight)
    given_X, given_Y = FORMS[form](X), FORMS[form](Y)
    found = train_test_split(given_X, given_Y, pd.Series(weight))
    for part, wanted in zip(found, expected, strict=True):
        values = part.toarray() if sparse.issparse(part) else np.asarray(part)
        np.testing.assert_array_equal(values, wanted)
    for part in found[:2]:
        assert type(part) is type(given_X) or sparse.issparse(part)
    np.testing.assert_array_equal(np.sort(np.concatenate(found[4:])), weight)


def test_groups_and_classes_are_split():
    Y, groups = correlated(0), np.arange(300) // 3
    *_, train, test = train_test_split(Y, Y, groups, groups=groups, test_size=0.2)
    assert not set(train) & set(test)
    assert len(test) == pytest.approx(60, abs=4)
    classes = np.repeat(["a", "b", "c"], [20, 12, 8])
    *_, test = train_test_split(np.zeros((40, 1)), classes)
    assert sorted(test) == ["a"] * 5 + ["b"] * 3 + ["c"] * 2


def test_a_seed_gives_the_same_split():
    Y = correlated(0)
    rows = np.arange(len(Y))
    first, same, other = (
        train_test_split(rows, Y, random_state=seed)[1] for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, same)
    assert set(first) != set(other)


@pytest.mark.parametrize("test_size", [0, 1.0, 1.5, -1, 4, "a", None, True, 0.99])
def test_a_bad_test_size_is_told(test_size):
    with pytest.raises(ValueError, match=r"test_size must be a share .* got "):
        train_test_split(np.eye(4), np.eye(4, 2), test_size=test_size)


@pytest.mark.parametrize("tags", [[["a"], ["a", "b"]] * 4, [["a", "b"]] * 8])
def test_tags_are_split_beside_their_columns(tags):
    X = np.arange(16.0).reshape(8, 2)
    with pytest.raises(ValueError, match="lists of tags pass MultiLabelBinarizer"):
        train_test_split(X, tags)
    columns = MultiLabelBinarizer().fit_transform(tags)
    *_, train, test = train_test_split(X, columns, tags)
    assert sorted(train + test) == sorted(tags)


def test_other_bad_input_of_a_split_is_told():
    X, Y = np.eye(4), np.eye(4, 2)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        train_test_split(X, Y[:3])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        train_test_split(X, Y, groups=[1, 2])
    with pytest.raises(ValueError, match="order must be 1"):
        train_test_split(X, Y, order=3)
    with pytest.raises(ValueError, match="one of the sets is empty"):
        train_test_split(X, Y, groups=[0, 0, 0, 0])


@settings(max_examples=20)
@given(arrays(np.bool_, st.tuples(st.integers(2, 20), st.integers(1, 4))))
def test_any_labels_can_be_split(Y):
    rows = np.arange(len(Y))
    train, test = train_test_split(rows, Y)[:2]
    np.testing.assert_array_equal(np.sort(np.r_[train, test]), rows)
    assert len(test) == int(np.ceil(0.25 * len(Y)))


# Synthetic rows for rare labels against a literal_pairs twin, and imbalance by hand.


def rare(seed=0, n=120, m=3):
    """Rows in clusters, with two rare labels that prefer some of them."""
    rng = np.random.default_rng(seed)
    cluster = rng.integers(4, size=n)
    X = rng.normal(size=(n, m)) + 3 * cluster[:, None]
    shares = np.array([[0.9, 0.4, 0.2, 0.0], [0.8, 0.5, 0.0, 0.2]])[cluster % 2]
    return X, (rng.random((n, 4)) < shares).astype(int)


def literal_pairs(X, Y, k):
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
    expected = list(literal_pairs(X, Y, k))
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
    for row, (i, near, _) in zip(new, literal_pairs(X, Y, 5), strict=True):
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


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", ["uint8", "int64", "bool"])
def test_whole_numbers_give_the_rows_of_real_ones(dtype, kind):
    X, Y = rare()
    X = (100 * np.abs(X)).astype(dtype)
    found, expected = oversample(kind(X), Y)[0], oversample(kind(X.astype(float)), Y)[0]
    np.testing.assert_array_equal(dense(found), dense(expected))


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
