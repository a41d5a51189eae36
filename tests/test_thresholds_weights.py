"""Weights and missing labels in thresholds: repeated rows, dropped cells, loops."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from conftest import random_rows
from homi import HOMI, HOMICV
from homi.linear import fit_sigmoids
from homi.thresholds import TunedThresholds, expected_calibration_error
from homi.thresholds.calibrate import fit_maps
from homi.thresholds.objectives import OBJECTIVES
from homi.thresholds.rules import FITS, fit_rule
from homi.thresholds.search import best_global, best_k, best_per_label

every_objective = pytest.mark.parametrize("objective", OBJECTIVES)


def draw(seed, n=12, q=3):
    """Scores with ties, labels, weights of rows and a mask of known labels."""
    rng = np.random.default_rng(seed)
    S, Y = rng.integers(-4, 5, (n, q)) / 2, rng.random((n, q)) < 0.4
    return S, Y, rng.integers(0, 4, n), rng.random((n, q)) < 0.7


def by_row(w, Y):
    return np.repeat(w[:, None] * 1.0, Y.shape[1], axis=1)


@every_objective
@settings(max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_a_row_of_weight_w_is_w_rows(objective, seed):
    S, Y, w, _ = draw(seed)
    w[0] = 1
    cells, times = by_row(w, Y), [np.repeat(A, w, axis=0) for A in (S, Y)]
    criterion = OBJECTIVES[objective]
    predicted = S > 0.5
    expected = criterion.metric(times[1], times[0] > 0.5)
    assert criterion.score(Y, predicted, cells) == pytest.approx(expected)
    assert best_k(S, Y, objective, cells) == best_k(*times, objective)
    assert best_global(S, Y, objective, cells) == best_global(*times, objective)
    found = best_per_label(S, Y, objective, cells=cells)
    np.testing.assert_array_equal(found, best_per_label(*times, objective))


@every_objective
@settings(max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_thresholds_are_the_best_for_known_labels(objective, seed):
    """One threshold for all: tried at every place. Then no single one is better."""
    S, Y, w, known = draw(seed)
    cells = np.where(known, w[:, None], 0.0)
    if not cells.any():
        return
    criterion = OBJECTIVES[objective]
    sign = 1 if criterion.metric.greater_is_better else -1

    def value(thresholds):
        return sign * criterion.score(Y, thresholds < S, cells)

    places = np.concatenate([[-np.inf], np.unique(S) + 0.25, [np.inf]])
    best = max(value(np.full(3, t)) for t in places)
    assert value(np.full(3, best_global(S, Y, objective, cells))) == pytest.approx(best)
    found = best_per_label(S, Y, objective, cells=cells)
    assert value(found) >= best - 1e-12
    for j in range(3):
        others = [np.where(np.arange(3) == j, t, found) for t in places]
        assert max(map(value, others)) <= value(found) + 1e-12
    tops = np.argsort(np.argsort(-S, axis=1, kind="stable"), axis=1)
    scores = [sign * criterion.score(Y, tops < k, cells) for k in range(4)]
    assert scores[best_k(S, Y, objective, cells)] == pytest.approx(max(scores))


def test_a_label_has_the_threshold_of_the_rows_where_it_is_known():
    S, Y, _, known = draw(3, n=60)
    cells = np.where(known, 1.0, 0.0)
    for objective in ("hamming", "macro_f1"):
        found = best_per_label(S, Y, objective, cells=cells)
        for j, k in enumerate(known.T):
            alone = best_per_label(S[k, j : j + 1], Y[k, j : j + 1], objective)
            assert found[j] == alone[0]


@pytest.mark.parametrize("strategy", sorted(set(FITS) - {"joint"}))
def test_rules_of_weighted_rows_are_those_of_repeated_ones(strategy):
    S, Y, w, _ = draw(5, n=60)
    S = S + np.random.default_rng(0).normal(size=S.shape)
    rule = fit_rule(S, Y, "macro_f1", strategy, by_row(w, Y))
    times = [np.repeat(A, w, axis=0) for A in (S, Y)]
    expected = fit_rule(*times, "macro_f1", strategy)
    np.testing.assert_allclose(rule(S), expected(S), atol=1e-10)


def test_joint_sets_refuse_weights():
    S, Y, w, _ = draw(5, n=60)
    fit_rule(S, Y, "jaccard", "joint", np.ones(Y.shape))
    with pytest.raises(ValueError, match="rows of equal weight; pass strategy="):
        fit_rule(S, Y, "jaccard", "joint", by_row(w, Y))


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_maps_of_weighted_rows_are_those_of_repeated_ones(method):
    S, Y, w, known = draw(5, n=80)
    S = S + np.random.default_rng(0).normal(size=S.shape)
    times = [np.repeat(A, w, axis=0) for A in (S, Y)]
    maps, expected = (
        fit_maps(S, Y, method, 3.0, by_row(w, Y)),
        fit_maps(*times, method, 3.0),
    )
    np.testing.assert_allclose(maps(S), expected(S), atol=1e-7)
    errors = (
        expected_calibration_error(Y, expected(S), sample_weight=weight)
        for weight in (w, by_row(w, Y))
    )
    repeated = expected_calibration_error(times[1], expected(times[0]))
    np.testing.assert_allclose(list(errors), repeated)
    # A label that is missing does not count, whatever its score.
    cells = np.where(known, 1.0, 0.0)
    one, other = (
        fit_maps(s, Y, method, 3.0, cells) for s in (S, np.where(known, S, 9.0))
    )
    np.testing.assert_allclose(one(S), other(S), atol=1e-7)


def test_sigmoids_of_a_label_without_weight_are_finite():
    S, Y, _, _ = draw(1, n=40)
    W = np.ones(S.shape)
    W[:, 1] = 0
    found = fit_sigmoids(S, Y, W)
    assert np.isfinite(found.slope).all()
    assert np.isfinite(found.offset).all()
    np.testing.assert_allclose(found.slope[[0, 2]], fit_sigmoids(S, Y).slope[[0, 2]])


def test_weights_of_calibration_errors_are_checked():
    with pytest.raises(ValueError, match=r"sample_weight has shape \(3,\) for Y"):
        expected_calibration_error([[0], [1]], [[0.1], [0.2]], sample_weight=[1, 1, 1])


# TunedThresholds


@pytest.fixture
def rows():
    X, Y = random_rows(0, n=90, m=6, q=4)
    return X, Y, np.random.default_rng(1).integers(0, 3, 90) * 1.0


@pytest.mark.parametrize("cv", [3, "own"])
def test_a_row_of_weight_0_is_absent(rows, cv):
    X, Y, w = rows
    inner = HOMI() if cv == 3 else HOMICV(kernels=(), lams=[1.0], trees=False)
    found = TunedThresholds(inner, objective="macro_f1", cv=cv).fit(X, Y, w)
    k = w > 0
    expected = TunedThresholds(inner, objective="macro_f1", cv=cv)
    expected.fit(pd.DataFrame(X[k]).to_numpy(), Y[k], w[k])
    np.testing.assert_allclose(found.thresholds_, expected.thresholds_)
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X))
    assert found.held_out_score_ == pytest.approx(expected.held_out_score_)
    plain = TunedThresholds(inner, objective="macro_f1", cv=cv).fit(X, Y)
    assert (plain.thresholds_ != found.thresholds_).any()


def test_weights_reach_the_classifier_of_each_fold(rows):
    X, Y, w = rows
    cv = KFold(3)
    model = TunedThresholds(HOMI(), cv=cv).fit(X, Y, w + 1)
    np.testing.assert_allclose(model.estimator_.coef_, HOMI().fit(X, Y, w + 1).coef_)
    S = np.vstack(
        [
            HOMI().fit(X[a], Y[a], w[a] + 1).decision_function(X[b])
            for a, b in cv.split(X)
        ]
    )
    cells = by_row(w + 1, Y)
    rule = fit_rule(S, Y > 0, "hamming", "per_label", cells)
    np.testing.assert_allclose(model.thresholds_, rule.rule.values)
    wrong = cells[(S > 0) != (Y > 0)].sum() / cells.sum()
    assert model.held_out_score_["before"] == pytest.approx(wrong)


def test_weights_pass_through_pipelines_and_searches(rows):
    X, Y, w = rows
    w = w + 1
    expected = TunedThresholds(make_pipeline(StandardScaler(), HOMI()), cv=3)
    expected.fit(X, Y, w)
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        inner = make_pipeline(scaler, HOMI().set_fit_request(sample_weight=True))
        tuned = TunedThresholds(inner, cv=3).set_fit_request(sample_weight=True)
        outer = make_pipeline("passthrough", tuned).fit(X, Y, sample_weight=w)
        found = outer[-1]
        np.testing.assert_allclose(found.thresholds_, expected.thresholds_)
        np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X))
        grid = {"objective": ["hamming", "macro_f1"]}
        search = GridSearchCV(tuned.set_score_request(sample_weight=True), grid, cv=2)
        search.fit(X, Y, sample_weight=w)
        best = TunedThresholds(inner, cv=3, **search.best_params_).fit(X, Y, w)
        found = search.best_estimator_
        np.testing.assert_allclose(found.thresholds_, best.thresholds_)


def test_data_frames_and_a_1d_y_take_weights(rows):
    X, Y, w = rows
    names = [f"x{j}" for j in range(6)]
    frame = TunedThresholds(HOMI(), cv=3).fit(
        pd.DataFrame(X, columns=names),
        pd.DataFrame(Y, columns=list("abcd")).astype(int),
        pd.Series(w),
    )
    expected = TunedThresholds(HOMI(), cv=3).fit(X, Y, w)
    np.testing.assert_allclose(frame.thresholds_, expected.thresholds_)
    assert list(frame.label_names_) == list("abcd")
    y = np.where(Y[:, 0] > 0, "yes", "no")
    model = TunedThresholds(HOMI(), cv=3).fit(X, y, w)
    assert set(model.predict(X)) <= {"yes", "no"}


@pytest.mark.parametrize("cv", [3, "own"])
def test_missing_labels_of_a_classifier_that_ignores_them(rows, cv):
    X, Y, w = rows
    known = np.random.default_rng(2).random(Y.shape) > 0.3
    hidden = np.where(known, Y, np.nan)
    options = {"kernels": (), "lams": [1.0], "betas": [], "label_weights": []}
    inner = HOMICV(missing_labels="ignore", trees=False, **options)
    model = TunedThresholds(inner, objective="macro_f1", cv=cv).fit(X, hidden)
    if cv == "own":
        S = inner.fit_held_out(X, hidden)
        rule = fit_rule(S, Y > 0, "macro_f1", "per_label", known * 1.0)
        np.testing.assert_array_equal(model.thresholds_, rule.rule.values)
        score = OBJECTIVES["macro_f1"].score(Y > 0, rule(S) > 0, known * 1.0)
        assert model.held_out_score_["after"] == pytest.approx(score)
    assert np.isfinite(model.calibration_error_["after"])
    assert np.mean(model.predict(X) == Y) > 0.7
    # A pipeline is asked, too.
    TunedThresholds(make_pipeline(StandardScaler(), inner), cv=3).fit(X, hidden, w)


@pytest.mark.parametrize("cv", ["own", 3])
def test_weights_of_labels_reach_the_classifier(rows, cv):
    X, Y, _ = rows
    weight = np.geomspace(0.01, 100, 4)
    model = HOMICV(kernels=(), betas=(), trees=False)
    fitted = TunedThresholds(model, cv=cv).fit(X, Y, label_weight=weight)
    inner = HOMICV(**model.get_params()).fit(X, Y, label_weight=weight)
    scores = inner.decision_function(X)
    np.testing.assert_allclose(fitted.estimator_.decision_function(X), scores)
    again = TunedThresholds(model.fit(X, Y), cv=cv).fit(X, Y, label_weight=weight)
    np.testing.assert_allclose(again.decision_function(X), fitted.decision_function(X))
    plain = TunedThresholds(model, cv=cv).fit(X, Y)
    assert np.abs(plain.decision_function(X) - fitted.decision_function(X)).max() > 1e-3
    with pytest.raises(TypeError, match="takes no label_weight"):
        TunedThresholds(KNeighborsClassifier()).fit(X, Y, label_weight=weight)


def test_what_cannot_be_done_is_said(rows):
    X, Y, w = rows
    hidden = np.where(np.arange(360).reshape(90, 4) % 5, Y, np.nan)
    with pytest.raises(ValueError, match="contains NaN"):
        TunedThresholds(HOMI()).fit(X, hidden)
    ignoring = HOMI(missing_labels="ignore")
    with pytest.raises(ValueError, match=r"cardinality.*some labels are missing"):
        TunedThresholds(ignoring, strategy="cardinality").fit(X, hidden)
    with pytest.raises(ValueError, match="sample_weight"):
        TunedThresholds(HOMI()).fit(X, Y, w[:5])
    with pytest.raises(TypeError, match="KNeighborsClassifier takes no sample_weight"):
        TunedThresholds(KNeighborsClassifier()).fit(X, Y, w)
