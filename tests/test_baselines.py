"""What a user would pick instead, against scikit-learn called by hand."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, RidgeClassifierCV
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from homi.benchmark.baselines import (
    Logistic,
    NystroemRidge,
    RandomForest,
    Ridge,
    TunedLogistic,
    TunedNystroemRidge,
    TunedRidge,
)
from homi.benchmark.homicv_variants import BestHOMI
from homi.benchmark.methods import BASELINES
from homi.thresholds import TunedThresholds


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6)) * np.arange(1, 7)
    Y = (X @ rng.normal(size=(6, 3)) + rng.normal(size=(150, 3)) > 0).astype(int)
    return X, Y


def test_ridge(rows):
    X, Y = rows
    scaled = StandardScaler().fit_transform(X)
    by_hand = RidgeClassifierCV().fit(scaled, Y)
    model = Ridge().fit(X, Y)
    expected = by_hand.decision_function(scaled)
    np.testing.assert_allclose(model.decision_function(X), expected)
    np.testing.assert_array_equal(model.predict(X), by_hand.predict(scaled))


def test_nystroem(rows):
    X, Y = rows
    scaled = StandardScaler().fit_transform(X)
    features = Nystroem(n_components=150, random_state=3).fit_transform(scaled)
    expected = RidgeClassifierCV().fit(features, Y).decision_function(features)
    model = NystroemRidge(random_state=3).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-6)


def test_logistic(rows):
    X, Y = rows
    scaled = StandardScaler().fit_transform(X)
    model = Logistic().fit(X, Y)
    for j in range(3):
        by_hand = LogisticRegression(max_iter=1000).fit(scaled, Y[:, j])
        expected = by_hand.predict_proba(scaled)[:, 1] - 0.5
        np.testing.assert_allclose(
            model.decision_function(X)[:, j], expected, atol=1e-6
        )


def test_the_regression_forest_is_the_classification_forest(rows):
    """Squared error of 0 and 1 is half their Gini impurity: the same trees."""
    X, Y = rows
    scaled = StandardScaler().fit_transform(X)
    by_hand = RandomForestClassifier(random_state=5).fit(scaled, Y)
    expected = np.column_stack([p[:, 1] for p in by_hand.predict_proba(scaled)]) - 0.5
    model = RandomForest(random_state=5).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=0.02)
    assert np.mean(model.predict(X) == by_hand.predict(scaled)) > 0.99


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.filterwarnings("ignore:Label .* is present in all training examples")
@pytest.mark.filterwarnings("ignore:Label not .* is present in all training examples")
def test_constant_labels_and_sparse_rows(name, rows):
    X, Y = rows
    Y = np.column_stack([Y, np.zeros(150, int), np.ones(150, int)])
    model = BASELINES[name](random_state=0).fit(sparse.csr_array(X), Y)
    assert model.decision_function(sparse.csr_array(X)).shape == (150, 5)
    predicted = model.predict(sparse.csr_array(X))
    assert not predicted[:, 3].any()
    assert predicted[:, 4].all()


def test_tuned_ridge(rows):
    X, Y = rows
    scaled = StandardScaler().fit_transform(X)
    by_hand = RidgeClassifierCV(np.logspace(-3, 4, 15)).fit(scaled, Y)
    expected = by_hand.decision_function(scaled)
    np.testing.assert_allclose(TunedRidge().fit(X, Y).decision_function(X), expected)


def test_tuned_nystroem(rows):
    X, Y = rows
    scaled = StandardScaler().fit_transform(X)
    features = Nystroem(n_components=150, random_state=3).fit_transform(scaled)
    by_hand = RidgeClassifierCV(np.logspace(-3, 4, 15)).fit(features, Y)
    expected = by_hand.decision_function(features)
    model = TunedNystroemRidge(random_state=3).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-6)


def test_tuned_logistic_takes_the_penalty_that_is_best_on_held_out_rows(rows):
    X, Y = rows
    model = TunedLogistic(random_state=1).fit(X, Y)
    learn, new = train_test_split(np.arange(150), test_size=0.25, random_state=1)
    values = {}
    for C in (1e-4, 1e-3, 1e-2, 0.1, 1.0):
        parts = make_pipeline(
            StandardScaler(), OneVsRestClassifier(LogisticRegression(C=C))
        )
        P = parts.fit(X[learn], Y[learn]).predict_proba(X[new])
        values[C] = average_precision_score(Y[new].ravel(), P.ravel())
    assert max(values, key=values.get) == model.C_
    scaled = StandardScaler().fit_transform(X)
    by_hand = LogisticRegression(C=model.C_).fit(scaled, Y[:, 1])
    expected = by_hand.predict_proba(scaled)[:, 1] - 0.5
    np.testing.assert_allclose(model.decision_function(X)[:, 1], expected, atol=1e-5)


def test_homi_at_its_best_keeps_its_scores_for_rankings(rows):
    X, Y = rows
    options = {"kernels": False, "random_state": 0}
    tuned = BestHOMI(**options).fit(X, Y)
    plain = BestHOMI(**options, thresholds=False).fit(X, Y)
    np.testing.assert_array_equal(tuned.ranking_scores(X), plain.decision_function(X))
    assert isinstance(tuned.model_, TunedThresholds)
    assert (
        tuned.model_.held_out_score_["after"] <= tuned.model_.held_out_score_["before"]
    )


@pytest.mark.parametrize(
    ("part", "name", "there"),
    [
        ("kernels", "kernel", {None, "rbf", "laplacian", "rbf+laplacian"}),
        ("graph", "gamma", {0.0, 0.01, 0.03, 0.1, 0.3, 1.0}),
        ("corrections", "correlation", {"identity", "held-out"}),
    ],
)
def test_parts_may_be_left_out(part, name, there, rows):
    X, Y = rows
    for wanted in (True, False):
        options = dict.fromkeys(("kernels", "graph", "corrections"), False)
        model = BestHOMI(**options | {part: wanted}, thresholds=False, random_state=0)
        tried = model.fit(X, Y).model_.cv_results_["params"]
        found = {params[name] for params in tried}
        assert found == there if wanted else len(found) == 1


@pytest.mark.parametrize(
    ("options", "there"),
    [
        ({}, True),
        ({"kernels": False}, False),
        ({"kernels": False, "weights": True}, True),
    ],
)
def test_weights_come_with_all_other_parts(options, there, rows):
    X, Y = rows
    model = BestHOMI(**options, thresholds=False, random_state=0).fit(X[:40], Y[:40])
    assert any(model.model_.cv_results_["weighted"]) == there


def test_trees_come_with_log_odds(rows):
    X, Y = rows
    stages = [
        BestHOMI(kernels=False, thresholds=False, odds=odds, trees=trees)
        .fit(X, Y)
        .model_.search_report_["stage"]
        for odds, trees in ((True, True), (True, False), (False, True))
    ]
    assert ["trees" in stage for stage in stages] == [True, False, False]


@pytest.mark.parametrize("baseline", BASELINES.values(), ids=list(BASELINES))
def test_labels_may_be_sparse(rows, baseline):
    X, Y = rows
    model = baseline(random_state=0).fit(X, sparse.csr_array(Y))
    expected = baseline(random_state=0).fit(X, Y).decision_function(X)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-9)
