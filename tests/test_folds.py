"""Folds: partitions, balance, seeds, scikit-learn's tools, and files of folds."""

import copy
import json
import os
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_validate

from homi import HOMI
from homi.datasets.fixed_folds import FixedFolds, load_folds, save_folds
from homi.datasets.folds import IterativeStratifiedKFold
from sample_files import messy, messy_labels, parts


def labels(seed=0, n=200, density=(0.5, 0.2, 0.1, 0.05, 0.02)):
    rng = np.random.default_rng(seed)
    return (rng.random((n, len(density))) < density).astype(int)


def fold_tests(splitter, X, y=None):
    return [test for _, test in splitter.split(X, y)]


def imbalance(folds, Y):
    """How far the positives of each label are from an even spread, on average."""
    share = np.array([Y[test].sum(axis=0) for test in folds]) / Y.sum(axis=0)
    return np.abs(share - 1 / len(folds)).mean()


def assert_same(first, second):
    assert len(first) == len(second)
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)


def assert_different(first, second):
    assert any(not np.array_equal(a, b) for a, b in zip(first, second, strict=True))


# Iterative stratification.


@given(
    st.tuples(st.integers(2, 25), st.integers(1, 5)).flatmap(
        lambda shape: arrays(np.int8, shape, elements=st.integers(0, 1))
    ),
    st.integers(2, 6),
    st.sampled_from([1, 2]),
    st.booleans(),
    st.sampled_from([None, 0, 17]),
)
def test_every_row_is_tested_once(Y, n_splits, order, shuffle, seed):
    splitter = IterativeStratifiedKFold(
        n_splits, order=order, shuffle=shuffle, random_state=seed
    )
    X = np.zeros((len(Y), 2))
    if n_splits > len(Y):
        with pytest.raises(ValueError, match="lower n_splits"):
            list(splitter.split(X, Y))
        return
    splits = list(splitter.split(X, Y))
    assert len(splits) == splitter.get_n_splits(X, Y) == n_splits
    for train, test in splits:
        assert len(test) > 0
        np.testing.assert_array_equal(
            np.sort(np.concatenate([train, test])), np.arange(len(Y))
        )
        assert (np.diff(test) > 0).all()
        assert (np.diff(train) > 0).all()
    everything = np.concatenate([test for _, test in splits])
    np.testing.assert_array_equal(np.sort(everything), np.arange(len(Y)))


@pytest.mark.parametrize("order", [1, 2])
def test_labels_are_spread_more_evenly_than_by_chance(order):
    X = np.zeros((200, 1))
    stratified, random = [], []
    for seed in range(10):
        Y = labels(seed)
        ours = IterativeStratifiedKFold(5, order=order, random_state=seed)
        theirs = KFold(5, shuffle=True, random_state=seed)
        stratified.append(imbalance(fold_tests(ours, X, Y), Y))
        random.append(imbalance(fold_tests(theirs, X), Y))
    assert np.mean(stratified) < 0.5 * np.mean(random)
    assert np.mean(np.array(stratified) <= random) >= 0.9


@pytest.mark.parametrize("order", [1, 2])
def test_every_fold_has_a_label_with_as_many_rows_as_folds(order):
    Y = np.zeros((100, 3), dtype=int)
    Y[:5, 0] = 1
    Y[:50, 1] = 1
    for seed in range(5):
        splitter = IterativeStratifiedKFold(5, order=order, random_state=seed)
        folds = fold_tests(splitter, Y, Y)
        assert [Y[test, 0].sum() for test in folds] == [1] * 5
        assert [Y[test, 1].sum() for test in folds] == [10] * 5


def test_real_labels_are_spread(data):
    yeast = data("yeast")
    folds = fold_tests(IterativeStratifiedKFold(5, random_state=0), yeast.X, yeast.Y)
    chance = fold_tests(KFold(5, shuffle=True, random_state=0), yeast.X)
    assert imbalance(folds, yeast.Y) < 0.3 * imbalance(chance, yeast.Y)
    sizes = [len(test) for test in folds]
    assert max(sizes) - min(sizes) < 0.05 * len(yeast.Y)


@pytest.mark.parametrize("shuffle", [True, False])
def test_a_seed_gives_the_same_folds(shuffle):
    Y = labels()

    def folds(seed):
        return fold_tests(
            IterativeStratifiedKFold(5, shuffle=shuffle, random_state=seed), Y, Y
        )

    assert_same(folds(3), folds(3))
    assert_same(folds(np.random.RandomState(3)), folds(np.random.RandomState(3)))
    assert_different(folds(3), folds(4))


def test_one_splitter_with_a_seed_gives_the_same_folds_again():
    Y = labels()
    splitter = IterativeStratifiedKFold(5, random_state=0)
    assert_same(fold_tests(splitter, Y, Y), fold_tests(splitter, Y, Y))


def test_without_shuffling_or_seed_folds_do_not_move():
    """The wrapped class would draw from numpy's global state here."""
    Y = labels()
    splitter = IterativeStratifiedKFold(5, shuffle=False)
    np.random.seed(0)  # noqa: NPY002
    first = fold_tests(splitter, Y, Y)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    second = fold_tests(splitter, Y, Y)
    assert_same(first, second)
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002


def test_shuffling_without_a_seed_differs_from_call_to_call():
    Y = labels()
    splitter = IterativeStratifiedKFold(5)
    assert_different(fold_tests(splitter, Y, Y), fold_tests(splitter, Y, Y))


def test_folds_of_a_seed_stay_as_they_are():
    """Golden: results of a seed can be compared only while its folds stay."""
    Y = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0], [1, 0, 1]])
    folds = fold_tests(IterativeStratifiedKFold(3, random_state=0), Y, Y)
    assert [test.tolist() for test in folds] == [[1, 3], [0, 2], [4, 5]]


@pytest.mark.parametrize(
    "convert",
    [
        sparse.csr_array,
        sparse.csc_matrix,
        sparse.coo_array,
        lambda Y: Y.astype(bool),
        lambda Y: Y.astype(float),
        lambda Y: Y.tolist(),
        lambda Y: pd.DataFrame(Y, columns=list("abcde")),
        lambda Y: pd.DataFrame(Y).astype({0: bool, 1: float}),
        lambda Y: pl.DataFrame(Y),
    ],
)
def test_labels_in_every_form_give_the_same_folds(convert):
    Y = labels()
    splitter = IterativeStratifiedKFold(4, random_state=1)
    assert_same(fold_tests(splitter, Y, convert(Y)), fold_tests(splitter, Y, Y))


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_any_sparse_form_of_labels_gives_the_same_folds(kind):
    X, Y = messy(), messy_labels().asformat(kind)
    before, splitter = parts(Y), IterativeStratifiedKFold(2, random_state=1)
    found = fold_tests(splitter, X, Y)
    assert_same(found, fold_tests(splitter, X.toarray(), Y.toarray()))
    for part, as_given in zip(parts(Y), before, strict=True):
        np.testing.assert_array_equal(part, as_given)


@pytest.mark.parametrize(
    "convert", [sparse.csr_array, sparse.coo_array, pd.DataFrame, pl.DataFrame, list]
)
def test_rows_in_every_form_give_the_same_folds(convert):
    Y = labels()
    X = np.random.default_rng(0).random((len(Y), 3))
    splitter = IterativeStratifiedKFold(4, random_state=1)
    assert_same(fold_tests(splitter, convert(X), Y), fold_tests(splitter, X, Y))


@pytest.mark.parametrize(
    "y",
    [
        np.repeat([0, 1], [80, 20]),
        np.repeat(["a", "b", "c"], [60, 30, 10]),
        pd.Series(["x"] * 60 + ["y"] * 40),
        np.repeat([[0], [1]], [80, 20], axis=0),
        sparse.csr_array(np.repeat([[0], [1]], [80, 20], axis=0)),
    ],
)
def test_classes_and_single_labels_are_stratified(y):
    X = np.zeros((100, 1))
    folds = fold_tests(IterativeStratifiedKFold(5, random_state=0), X, y)
    values = y.toarray().ravel() if sparse.issparse(y) else np.asarray(y).ravel()
    for value, count in zip(*np.unique(values, return_counts=True), strict=True):
        assert {int((values[test] == value).sum()) for test in folds} == {count // 5}


@pytest.mark.parametrize(
    "y",
    [
        np.zeros((20, 3)),
        np.ones((20, 3)),
        np.zeros((20, 1)),
        np.zeros(20, dtype=int),
        np.eye(20, 3),
    ],
)
def test_labels_without_positives_or_negatives_do_no_harm(y):
    X = np.zeros((20, 1))
    folds = fold_tests(IterativeStratifiedKFold(5, random_state=0), X, y)
    assert [len(test) for test in folds] == [4] * 5


@pytest.mark.parametrize(
    ("y", "match"),
    [
        (None, "stratification needs the labels"),
        (np.array([[1, 2], [0, 1]]), "only 0 and 1.* got 2;"),
        (np.array([[1, -1], [0, 1]]), "for -1/\\+1 labels pass y > 0"),
        (np.array([[1, np.nan], [0, 1]]), "got nan"),
        (np.array([["a", "b"], ["c", "d"]]), "got 'a', 'b', 'c', 'd'"),
        (np.array([[1, None], [0, 1]], dtype=object), "only 0 and 1"),
        (np.zeros((2, 2, 2)), r"got shape \(2, 2, 2\)"),
        (np.zeros((2, 0)), r"got shape \(2, 0\)"),
        (np.array([0.5, 1.7]), "must hold classes, got continuous"),
        (np.zeros((3, 2)), "inconsistent numbers of samples"),
    ],
)
def test_bad_labels_are_told(y, match):
    with pytest.raises(ValueError, match=match):
        list(IterativeStratifiedKFold(2).split(np.zeros((2, 1)), y))


@pytest.mark.parametrize("n_splits", [1, 0, -3, 2.0, "5", None, True])
def test_a_bad_number_of_folds_is_told(n_splits):
    with pytest.raises(ValueError, match="n_splits must be an integer of at least 2"):
        IterativeStratifiedKFold(n_splits)


def test_other_bad_arguments_are_told():
    for order in (0, 3, None, "2", True):
        with pytest.raises(ValueError, match=r"order must be 1 .labels. or 2"):
            IterativeStratifiedKFold(order=order)
    with pytest.raises(
        ValueError, match=r"groups must be 1-D, .* got shape \(200, 2\)"
    ):
        list(IterativeStratifiedKFold().split(labels(), labels(), np.zeros((200, 2))))
    with pytest.raises(ValueError, match="more than the 3 groups"):
        list(IterativeStratifiedKFold(4).split(labels(), labels(), np.arange(200) % 3))
    with pytest.raises(ValueError, match="shuffle must be True or False, got 'yes'"):
        IterativeStratifiedKFold(shuffle="yes")
    with pytest.raises(ValueError, match="cannot be used to seed"):
        list(IterativeStratifiedKFold(random_state="x").split(labels(), labels()))


@given(
    st.tuples(st.integers(6, 40), st.integers(2, 6)).flatmap(
        lambda shape: arrays(np.bool_, shape)
    ),
    st.integers(2, 6),
    st.booleans(),
    st.integers(0, 99),
)
@settings(max_examples=40)
def test_folds_are_those_of_the_package_that_made_stored_results(
    Y, n_splits, shuffle, seed
):
    package = pytest.importorskip("iterstrat.ml_stratifiers")
    theirs = package.MultilabelStratifiedKFold(n_splits, shuffle=shuffle)
    theirs.random_state = seed
    ours = IterativeStratifiedKFold(n_splits, shuffle=shuffle, random_state=seed)
    assert_same(fold_tests(ours, Y, Y), fold_tests(theirs, Y, Y))


# scikit-learn's tools.


@pytest.mark.parametrize("fixed", [False, True])
def test_the_splitters_work_in_scikit_learn(fixed):
    Y = labels(n=60, density=(0.5, 0.3))
    X = np.random.default_rng(0).normal(size=(60, 4)) + Y[:, :1]
    splitter = IterativeStratifiedKFold(3, random_state=0)
    if fixed:
        splitter = FixedFolds(list(splitter.split(X, Y)))
    scores = cross_validate(HOMI(), X, Y, cv=splitter, return_indices=True)
    assert_same(scores["indices"]["test"], fold_tests(splitter, X, Y))
    search = GridSearchCV(HOMI(), {"lam": [1, 10]}, cv=splitter).fit(X, Y)
    assert search.n_splits_ == 3
    again = clone(search).fit(X, Y)
    np.testing.assert_array_equal(
        search.cv_results_["mean_test_score"], again.cv_results_["mean_test_score"]
    )
    with config_context(enable_metadata_routing=True):
        cross_validate(HOMI(), X, Y, cv=splitter)


def test_splitters_have_a_readable_form_and_can_be_copied():
    splitter = IterativeStratifiedKFold(3, random_state=0)
    assert (
        repr(splitter)
        == "IterativeStratifiedKFold(n_splits=3, order=1, random_state=0, shuffle=True)"
    )
    assert repr(FixedFolds("a.json")) == "FixedFolds(folds='a.json')"
    Y = labels()
    for same in (copy.deepcopy(splitter), pickle.loads(pickle.dumps(splitter))):
        assert_same(fold_tests(same, Y, Y), fold_tests(splitter, Y, Y))


def test_predefined_folds_ignore_groups_aloud():
    splitter = FixedFolds([[0, 1], [2, 3]])
    with pytest.warns(UserWarning, match=r"ignores groups; .*IterativeStratifiedKFold"):
        list(splitter.split(np.zeros((4, 1)), np.eye(4, 2), groups=[0, 0, 1, 1]))


# Files of folds.


@given(st.integers(2, 30), st.integers(2, 6), st.integers(0, 2**32 - 1))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_folds_survive_the_file(tmp_path, n_samples, n_splits, seed):
    n_splits = min(n_splits, n_samples)
    splitter = KFold(n_splits, shuffle=True, random_state=seed)
    X = np.zeros((n_samples, 1))
    path = tmp_path / "folds.json"
    save_folds(splitter.split(X), path)
    loaded = load_folds(path, n_samples)
    assert all(test.dtype == np.intp for test in loaded)
    assert_same(loaded, fold_tests(splitter, X))
    replayed, original = FixedFolds(path).split(X), splitter.split(X)
    for pair, same in zip(replayed, original, strict=True):
        assert_same(pair, same)


def test_test_sets_alone_are_folds_too(tmp_path):
    path = tmp_path / "folds.json"
    mixed = [np.array([0, 2]), range(1, 4, 2)]
    for folds in ([[0, 2], [1, 3]], [(0, 2), (1, 3)], mixed):
        save_folds(folds, path)
        assert [test.tolist() for test in load_folds(path, 4)] == [[0, 2], [1, 3]]


def test_the_file_is_small_and_plain(tmp_path):
    path = tmp_path / "folds.json"
    save_folds([[0, 2], [1]], path)
    assert json.loads(path.read_text()) == {
        "format": "homi folds",
        "version": 1,
        "n_samples": 3,
        "folds": [[0, 2], [1]],
    }
    save_folds(KFold(5).split(np.zeros(10_000)), path)
    assert path.stat().st_size < 60_000


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "folds.json"
    save_folds([[0, 2], [1]], path)
    before = path.read_bytes()

    def fail(*args, **kwargs):
        raise OSError("disk full")

    for owner, name in ((os, "fsync"), (os, "replace")):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, fail)
            with pytest.raises(OSError, match="disk full"):
                save_folds([[0], [1]], path)
    with pytest.raises(ValueError, match="fold 1"):
        save_folds([[0], ["x"]], path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["folds.json"]
    save_folds([[0], [1]], path)
    assert [test.tolist() for test in load_folds(path, 2)] == [[0], [1]]
    assert [file.name for file in tmp_path.iterdir()] == ["folds.json"]


def test_a_missing_directory_or_file_is_told(tmp_path):
    with pytest.raises(
        FileNotFoundError, match=r"directory .*nowhere.* does not exist"
    ):
        save_folds([[0], [1]], tmp_path / "nowhere" / "folds.json")
    with pytest.raises(FileNotFoundError):
        load_folds(tmp_path / "none.json", 2)


GOOD = {"format": "homi folds", "version": 1, "n_samples": 3, "folds": [[0, 2], [1]]}


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"format": "other"}, 'lacks "format"'),
        ({"format": None}, 'lacks "format"'),
        ({"version": 2}, "has version 2, expected 1"),
        ({"version": None}, "has version None"),
        ({"n_samples": 4}, "is for 4 samples, but the data have 3"),
        ({"n_samples": "3"}, "n_samples must be a positive integer, got '3'"),
        ({"n_samples": True}, "n_samples must be a positive integer"),
        ({"n_samples": -1}, "n_samples must be a positive integer"),
        ({"folds": None}, "folds must be a list of lists"),
        ({"folds": {"0": [1]}}, "folds must be a list of lists"),
        ({"folds": [0, 1, 2]}, "folds must be a list of lists"),
        ({"folds": [[0, 2], [1.0]]}, "folds must be a list of lists"),
        ({"folds": [[0, 2], [True]]}, "folds must be a list of lists"),
        ({"folds": [[0, 2], ["1"]]}, "folds must be a list of lists"),
        ({"folds": [[0, 2], [[1]]]}, "folds must be a list of lists"),
        ({"folds": [[0, 2], [float("nan")]]}, "folds must be a list of lists"),
        ({"folds": []}, "at least 2 folds, got 0"),
        ({"folds": [[0, 1, 2]]}, "at least 2 folds, got 1"),
        ({"folds": [[0, 1, 2], []]}, "fold 1 is empty"),
        ({"folds": [[0, 2], [3]]}, "1 of them outside 0 to 2, such as 3"),
        ({"folds": [[0, 2], [-1]]}, "1 of them outside 0 to 2, such as -1"),
        ({"folds": [[0, 2], [2]]}, "row 2 occurs 2 times and row 1 never"),
        ({"folds": [[0], [2]]}, "got 2 indices"),
        ({"folds": [[0, 2], [1, 1]]}, "got 4 indices"),
        ({"folds": [[0, 2], [2**63]]}, "is not a row number"),
        ({"folds": [[0, 2], [10**30]]}, "must be a 1-D list of row numbers"),
        ({"folds": [[0, 2], [-(10**30)]]}, "must be a 1-D list of row numbers"),
        ({"folds": [[0, 2], [2**63, -1]]}, "row number"),
    ],
)
def test_a_bad_file_is_told(tmp_path, change, match):
    path = tmp_path / "folds.json"
    path.write_text(json.dumps({**GOOD, **change}))
    with pytest.raises(ValueError, match=match) as caught:
        load_folds(path, 3)
    assert str(path) in str(caught.value)
    with pytest.raises(ValueError, match="folds"):
        list(FixedFolds(path).split(np.zeros((3, 1))))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"3",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'{"format": ' + b"9" * 10_000 + b"}",
        json.dumps(GOOD).encode()[:-5],
    ],
)
def test_a_file_of_something_else_is_told(tmp_path, content):
    path = tmp_path / "folds.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is not a file of folds"):
        load_folds(path, 3)


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_file_is_read_right_or_refused(tmp_path, data):
    """Every outcome is the same folds, other folds that are whole, or a ValueError."""
    content = bytearray(json.dumps(GOOD).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place : place + data.draw(st.integers(0, 2))] = data.draw(
            st.binary(max_size=2)
        )
    path = tmp_path / "folds.json"
    path.write_bytes(content)
    try:
        rows = np.concatenate(load_folds(path, 3)).tolist()
    except ValueError as error:
        rows, reason = [0, 1, 2], str(error)
    else:
        reason = str(path)
    assert sorted(rows) == [0, 1, 2]
    assert str(path) in reason


def test_fixed_folds_are_checked():
    X = np.zeros((4, 1))
    with pytest.raises(ValueError, match="got 3 indices"):
        list(FixedFolds([[0, 1], [2]]).split(X))
    with pytest.raises(ValueError, match="boolean mask pass"):
        list(FixedFolds(np.eye(4, dtype=bool)).split(X))
    with pytest.raises(ValueError, match="fold 0 must be a 1-D list"):
        list(FixedFolds([[[0], [1]], [2, 3]]).split(X))
    with pytest.raises(ValueError, match="fold 0: not a list of row numbers"):
        list(FixedFolds([[[0], [1, 2]], [2, 3]]).split(X))
    with pytest.raises(ValueError, match="fold 1: the training set is not all rows"):
        list(FixedFolds([([2, 3], [0, 1]), ([0], [2, 3])]).split(X))
    with pytest.raises(ValueError, match="inconsistent"):
        list(FixedFolds([[0, 1], [2, 3]]).split(X, np.zeros((3, 2))))


def test_fixed_folds_of_an_iterator_can_be_used_twice():
    X = np.zeros((4, 1))
    fixed = FixedFolds(KFold(2).split(X))
    assert fixed.get_n_splits() == 2
    assert_same(fold_tests(fixed, X), fold_tests(fixed, X))


def test_fixed_folds_count_the_folds_of_a_file(tmp_path):
    save_folds(KFold(4).split(np.zeros(9)), tmp_path / "folds.json")
    assert FixedFolds(str(tmp_path / "folds.json")).get_n_splits() == 4
