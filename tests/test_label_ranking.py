"""Calibrated label ranking against a twin that compares and counts one by one."""

from functools import partial
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

import contract_checks
from conftest import random_rows
from homi.linear import fit_margins
from homi.methods.label_ranking import CalibratedLabelRanking
from homi.methods.ml_knn import MLkNN
from homi.metrics import hamming_loss, ranking_loss


@pytest.mark.filterwarnings("ignore")
@contract_checks.parametrize(
    [
        CalibratedLabelRanking(1.0, votes="soft", standardize=False),
    ]
)
def test_scikit_learn_contract(estimator, expected):
    contract_checks.check_parameters(estimator, expected)


def standardized(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def winner(X, y, C):
    """Probability of y = 1 for a row, by scikit-learn; constant if y is."""
    if len(y) == 0:
        return lambda x: 0.5
    if y.min() == y.max():
        return lambda x: float(y[0])
    model = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-12).fit(X, y)
    return lambda x: model.predict_proba(x[None])[0, 1]


def literal(X, Y, test, C, votes):
    """Every comparison of every row, counted one at a time."""
    n, q = Y.shape
    own = [winner(X, Y[:, j], C) for j in range(q)]
    pairs = {}
    for j, k in combinations(range(q), 2):
        rows = [i for i in range(n) if Y[i, j] != Y[i, k]]
        pairs[j, k] = winner(X[rows], Y[rows, j], C)
    scores = np.empty((len(test), q))
    for i, x in enumerate(test):
        count, virtual = np.zeros(q), 0.0
        for j in range(q):
            p = own[j](x)
            p = p if votes == "soft" else float(p > 0.5)
            count[j] += p
            virtual += 1 - p
        for (j, k), win in pairs.items():
            p = win(x)
            if votes == "hard" and p != 0.5:
                p = float(p > 0.5)
            count[j] += p
            count[k] += 1 - p
        scores[i] = count - virtual
    return scores


@given(
    seed=st.integers(0, 10_000),
    C=st.sampled_from([0.03, 1.0, 30.0]),
    votes=st.sampled_from(["hard", "soft"]),
    kind=st.sampled_from([np.asarray, sparse.csr_array]),
)
@settings(max_examples=15)
def test_scores_are_counted_votes(seed, C, votes, kind):
    X, Y = random_rows(seed, n=40, m=4, q=4)
    Y = np.column_stack([Y, Y[:, 1], np.zeros(40), np.ones(40)])
    test = np.random.default_rng(seed).normal(size=(6, 4))
    model = CalibratedLabelRanking(C, votes=votes).fit(kind(X), kind(Y))
    scaled = (test - X.mean(axis=0)) / X.std(axis=0)
    expected = literal(standardized(X), Y, scaled, C, votes)
    scores = model.decision_function(kind(test))
    # The logistic regressions stop at a tolerance.
    np.testing.assert_allclose(scores, expected, atol=2e-4)
    np.testing.assert_array_equal(model.predict(test), scores > 0)
    np.testing.assert_allclose(
        model.predict_proba(test), 0.5 + expected / 14, atol=2e-5
    )


@pytest.mark.parametrize("votes", ["hard", "soft"])
def test_votes_given_are_votes_received(votes):
    """l(l + 1)/2 comparisons, so the scores of a row sum to that less (l + 1)v₀."""
    X, Y = random_rows(0, q=5)
    model = CalibratedLabelRanking(votes=votes).fit(X, Y)
    own = X @ model.coef_.T + model.intercept_
    lost = 1 / (1 + np.exp(own)) if votes == "soft" else own < 0
    expected = 15 - 6 * lost.sum(axis=1)
    np.testing.assert_allclose(model.decision_function(X).sum(axis=1), expected)


def test_attributes_are_for_the_features_as_given():
    X, Y = random_rows(0)
    model = CalibratedLabelRanking(0.5).fit(X, Y)
    assert model.pairs_.tolist() == [list(pair) for pair in combinations(range(4), 2)]
    reference = CalibratedLabelRanking(0.5, standardize=False).fit(standardized(X), Y)
    for coef, intercept in (("coef_", "intercept_"), ("pair_coef_", "pair_intercept_")):
        W, b = getattr(model, coef), getattr(model, intercept)
        V, c = getattr(reference, coef), getattr(reference, intercept)
        np.testing.assert_allclose(W * X.std(axis=0), V, atol=1e-7)
        np.testing.assert_allclose(b + W @ X.mean(axis=0), c, atol=1e-7)


def test_comparisons_that_need_no_classifier():
    X, Y = random_rows(0, n=40)
    Y = np.column_stack([Y[:, 0], Y[:, 0], np.zeros(40), np.ones(40)])
    model = CalibratedLabelRanking().fit(X, Y)
    names = dict(zip(map(tuple, model.pairs_.tolist()), range(6), strict=True))
    bare = [names[pair] for pair in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]]
    assert not model.pair_coef_[bare].any()
    expected = [0, np.inf, -np.inf, np.inf, -np.inf, -np.inf]
    np.testing.assert_array_equal(model.pair_intercept_[bare], expected)
    np.testing.assert_array_equal(model.intercept_[2:], [-np.inf, np.inf])
    predicted = model.predict(X)
    assert not predicted[:, 2].any()
    assert predicted[:, 3].all()
    np.testing.assert_array_equal(predicted[:, 0], predicted[:, 1])


def test_one_label_is_logistic_regression():
    X, Y = random_rows(0, q=1)
    model = CalibratedLabelRanking(votes="soft").fit(X, Y)
    Z = standardized(X)
    expected = LogisticRegression(C=0.03, tol=1e-10).fit(Z, Y.ravel()).predict_proba(Z)
    assert model.pairs_.shape == (0, 2)
    np.testing.assert_allclose(model.predict_proba(X), expected[:, 1:], atol=1e-6)
    hard = CalibratedLabelRanking().fit(X, Y)
    np.testing.assert_array_equal(hard.decision_function(X) > 0, expected[:, 1:] > 0.5)


def test_sparse_rows_give_what_dense_ones_do():
    X, Y = random_rows(0, n=80, m=10)
    X[np.random.default_rng(0).random(X.shape) < 0.7] = 0
    X[:, 3] = 2.0
    stored = sparse.csr_array(np.ones_like(Y))
    stored.data = Y.ravel().copy()
    dense = CalibratedLabelRanking(votes="soft").fit(X, Y)
    thin = CalibratedLabelRanking(votes="soft").fit(sparse.csc_array(X), stored)
    for model in (dense, thin):
        for kind in (np.asarray, sparse.csr_array, sparse.csc_matrix):
            scores = model.decision_function(kind(X))
            np.testing.assert_allclose(scores, dense.decision_function(X), atol=1e-5)


def test_jobs_make_no_difference():
    X, Y = random_rows(0, q=5)
    expected = CalibratedLabelRanking().fit(X, Y).pair_coef_
    with parallel_config("threading"):
        actual = CalibratedLabelRanking(n_jobs=2).fit(X, Y).pair_coef_
    np.testing.assert_allclose(actual, expected)


def test_blocks_make_no_difference(monkeypatch):
    X, Y = random_rows(0, q=5)
    model = CalibratedLabelRanking(votes="soft").fit(X, Y)
    expected = model.decision_function(X)
    monkeypatch.setattr("homi.methods.label_ranking._BLOCK", 35)
    np.testing.assert_allclose(model.decision_function(X), expected)


def test_comparisons_that_did_not_converge_are_reported(monkeypatch):
    X, Y = random_rows(0)
    hasty = partial(fit_margins, max_iter=1)
    monkeypatch.setattr("homi.methods.label_ranking.fit_margins", hasty)
    with pytest.warns(ConvergenceWarning, match="10 of 10 comparisons did not"):
        CalibratedLabelRanking(1.0).fit(X, Y)


def test_too_many_labels_are_an_error_that_says_what_to_do():
    X, Y = random_rows(0, q=5)
    with pytest.raises(
        ValueError, match=r"5 labels need 10 comparisons, .*max_labels=4 .*increase"
    ):
        CalibratedLabelRanking(max_labels=4).fit(X, Y)
    assert CalibratedLabelRanking().max_labels == 200


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_rows_and_constant_features(n):
    X, Y = random_rows(0, n=n, m=5, q=3)
    X[:, 0] = 7.0
    model = CalibratedLabelRanking().fit(X, Y)
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize(
    ("name", "margin"),
    [("emotions", 0.02), pytest.param("yeast", -0.015, marks=pytest.mark.slow)],
)
def test_as_good_as_neighbors(name, margin, data):
    """Better than ML-KNN where that is weak, close where it is strong."""
    X, Y, *_ = data(name)
    gains = []
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        losses = [
            hamming_loss(Y[test], model.fit(X[train], Y[train]).predict(X[test]))
            for model in (MLkNN(), CalibratedLabelRanking())
        ]
        gains.append(losses[0] - losses[1])
    assert np.mean(gains) > margin


def test_soft_votes_rank_better(data):
    """They tie less, and a tie is an error of the ranking."""
    X, Y, *_ = data("emotions")
    model = CalibratedLabelRanking().fit(X[::2], Y[::2])
    hard = ranking_loss(Y[1::2], model.decision_function(X[1::2]))
    soft = model.set_params(votes="soft").decision_function(X[1::2])
    assert ranking_loss(Y[1::2], soft) < hard
