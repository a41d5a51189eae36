"""ML-KNN against a literal twin, its own paper, and re-runs on the paper's data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.model_selection import KFold

import contract_checks
from conftest import random_rows
from homi.estimators import MLkNN
from homi.metrics import (
    PAPER_METRICS,
    average_precision,
    coverage,
    evaluate,
    macro_auc,
)


@pytest.mark.filterwarnings("ignore")
@contract_checks.parametrize([MLkNN(n_neighbors=3, smoothing=0.5)])
def test_scikit_learn_contract(estimator, expected):
    contract_checks.check_parameters(estimator, expected)


def literal(X, Y, test, k, s):
    """The formulas of the paper, one row, one label and one count at a time."""
    n, q = Y.shape

    def count(x, j, leave_out=None):
        distance = np.linalg.norm(X - x, axis=1)
        if leave_out is not None:
            distance[leave_out] = np.inf
        return int(Y[np.argsort(distance)[:k], j].sum())

    scores = np.empty((len(test), q))
    for j in range(q):
        prior = (s + Y[:, j].sum()) / (2 * s + n)
        tables = np.zeros((2, k + 1))
        for i in range(n):
            tables[int(Y[i, j]), count(X[i], j, leave_out=i)] += 1
        without, with_label = (
            [(s + table[r]) / (s * (k + 1) + table.sum()) for r in range(k + 1)]
            for table in tables
        )
        for row, x in enumerate(test):
            r = count(x, j)
            yes, no = prior * with_label[r], (1 - prior) * without[r]
            scores[row, j] = yes / (yes + no)
    return scores


@given(
    seed=st.integers(0, 10_000),
    k=st.integers(1, 8),
    s=st.sampled_from([0.1, 1.0, 3.0]),
    kind=st.sampled_from([np.asarray, sparse.csr_array]),
)
@settings(max_examples=15)
def test_probabilities_are_those_of_the_paper(seed, k, s, kind):
    X, Y = random_rows(seed, n=25, m=4, q=3)
    test = np.random.default_rng(seed).normal(size=(6, 4))
    model = MLkNN(k, smoothing=s).fit(kind(X), kind(Y))
    expected = literal(X, Y, test, k, s)
    np.testing.assert_allclose(model.predict_proba(kind(test)), expected)
    np.testing.assert_allclose(model.decision_function(test), expected - 0.5)
    np.testing.assert_array_equal(model.predict(test), expected > 0.5)


def test_copies_of_a_row_do_not_hide_it_from_itself():
    """Each of many equal rows sees the others, and never itself."""
    X = np.repeat(np.eye(3), 6, axis=0)
    Y = np.repeat([[1, 0], [0, 1], [1, 1]], 6, axis=0)
    model = MLkNN(5).fit(X, Y)
    np.testing.assert_array_equal(model.predict(np.eye(3)), [[1, 0], [0, 1], [1, 1]])
    expected = literal(X + 1e-9 * np.arange(18)[:, None], Y, np.eye(3), 5, 1.0)
    np.testing.assert_allclose(model.predict_proba(np.eye(3)), expected)


def test_rows_that_change_after_fit_do_not_change_the_model():
    X, Y = random_rows(0, n=40)
    test, given = X[:9].copy(), X.copy()
    model = MLkNN(3).fit(given, Y)
    expected = model.predict_proba(test)
    given[:] = 0.0
    np.testing.assert_array_equal(model.predict_proba(test), expected)


def test_degenerate_labels():
    X, Y = random_rows(0, n=40)
    Y = np.column_stack([np.zeros(40), np.ones(40), np.eye(40)[0], Y[:, 0], Y[:, 0]])
    model = MLkNN().fit(X, Y)
    probabilities = model.predict_proba(X)
    assert (probabilities > 0).all()
    assert (probabilities < 1).all()
    predicted = model.predict(X)
    assert not predicted[:, 0].any()
    assert predicted[:, 1].all()
    np.testing.assert_array_equal(predicted[:, 3], predicted[:, 4])


def test_fewer_rows_than_neighbors():
    X, Y = random_rows(0, n=6)
    model = MLkNN(10).fit(X, Y)
    assert model.posterior_.shape == (4, 6)
    np.testing.assert_allclose(model.predict_proba(X[:2]), literal(X, Y, X[:2], 5, 1.0))
    with pytest.raises(ValueError, match="at least 2 rows, got n_samples = 1"):
        MLkNN().fit(X[:1], Y[:1])


def test_blocks_make_no_difference(monkeypatch):
    X, Y = random_rows(0, n=60)
    expected = MLkNN().fit(X, Y).posterior_
    monkeypatch.setattr("homi.methods.ml_knn._BLOCK", 9)
    np.testing.assert_array_equal(MLkNN().fit(X, Y).posterior_, expected)


def folds(X, Y, n_splits):
    for train, test in KFold(n_splits, shuffle=True, random_state=0).split(X):
        model = MLkNN().fit(X[train], Y[train])
        yield Y[test], model.decision_function(X[test])


def test_the_original_papers_yeast(data):
    """Ten folds, k = 10: the figures of Zhang and Zhou, within their deviations."""
    X, Y, *_ = data("yeast")
    results = [
        [
            *evaluate(truth, scores, scores > 0).values(),
            coverage(truth, scores),
            average_precision(truth, scores),
        ]
        for truth, scores in folds(X, Y, 10)
    ]
    hamming, ranking, one_error, _, cover, precision = np.mean(results, axis=0)
    assert hamming == pytest.approx(0.194, abs=0.010)
    assert ranking == pytest.approx(0.167, abs=0.016)
    assert one_error == pytest.approx(0.230, abs=0.030)
    assert cover == pytest.approx(6.275, abs=0.24)
    assert precision == pytest.approx(0.765, abs=0.021)


@pytest.mark.parametrize(
    ("name", "means"),
    [
        ("emotions", (0.251, 0.257, 0.364, 0.778)),
        ("yeast", (0.195, 0.168, 0.234, 0.785)),
        ("birds", (0.053, 0.159, 0.833, 0.799)),
        ("CAL500", (0.139, 0.182, 0.116, 0.697)),
        ("enron", (0.052, 0.093, 0.305, 0.844)),
    ],
)
def test_re_run_rows_on_raw_features(name, means, data):
    """Five folds of an independent run; labels without an AUC counted as 0 there."""
    X, Y, *_ = data(name)
    results = [
        [
            *evaluate(truth, scores, scores > 0, PAPER_METRICS[:3]).values(),
            macro_auc(truth, scores, undefined="zero"),
        ]
        for truth, scores in folds(X, Y, 5)
    ]
    deviations = np.std(results, axis=0, ddof=1)
    gaps = np.abs(np.mean(results, axis=0) - means)
    assert (gaps <= 2 * deviations + 0.0005).all(), (np.mean(results, axis=0), means)
