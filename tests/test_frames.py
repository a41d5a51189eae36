"""Data frames in, data frames out; scikit-learn's machinery takes them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import metrics
from sklearn.base import clone
from sklearn.ensemble import StackingClassifier
from sklearn.inspection import permutation_importance
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from conftest import random_rows
from homi import HOMI
from homi.estimators import BinaryRelevance, MLkNN
from homi.metrics import evaluate, scorers
from homi.thresholds import TunedThresholds

LABELS = ["joy", "anger", "calm", "fear"]
METHODS = ("predict", "predict_proba", "decision_function")
MODELS = {
    "HOMI": HOMI(),
    "MLkNN": MLkNN(),
    "BinaryRelevance": BinaryRelevance(),
    "TunedThresholds": TunedThresholds(HOMI(), random_state=0),
}


@pytest.fixture
def arrays():
    X, Y = random_rows(0, n=60, m=5, q=4)
    return X, Y.astype(int)


@pytest.fixture
def frames(arrays):
    X, Y = arrays
    index = pd.Index(range(100, 160), name="id")
    columns = list("abcde")
    return pd.DataFrame(X, index, columns), pd.DataFrame(Y, index, LABELS)


@pytest.mark.parametrize("name", MODELS)
def test_a_data_frame_gives_a_data_frame_with_names(name, arrays, frames):
    X, Y = arrays
    plain, named = (clone(MODELS[name]) for _ in range(2))
    plain.fit(X, Y), named.fit(*frames)
    for method in METHODS:
        expected, found = getattr(plain, method)(X), getattr(named, method)(frames[0])
        assert isinstance(expected, np.ndarray)
        pd.testing.assert_frame_equal(
            found, pd.DataFrame(expected, frames[0].index, LABELS)
        )
    assert isinstance(named.ranking_scores(frames[0]), np.ndarray)


@pytest.mark.parametrize("name", MODELS)
def test_polars_stays_polars(name, arrays):
    X, Y = arrays
    rows, labels = pl.DataFrame(X), pl.DataFrame(Y, schema=LABELS)
    model = clone(MODELS[name]).fit(rows, labels)
    for method in METHODS:
        found = getattr(model, method)(rows)
        assert isinstance(found, pl.DataFrame)
        assert found.columns == LABELS
        plain = clone(model).fit(X, Y)
        np.testing.assert_allclose(found, getattr(plain, method)(X))


def test_classes_of_a_1_d_y_stay_arrays(frames):
    X, Y = frames
    model = HOMI().fit(X, Y["joy"])
    assert all(isinstance(getattr(model, m)(X), np.ndarray) for m in METHODS)
    scores = cross_val_score(HOMI(), X, Y["joy"], scoring="roc_auc")
    assert (scores > 0.5).all()


SCORERS = ["accuracy", "f1_macro", "roc_auc", "average_precision"]


def test_cross_validation_is_that_of_arrays(arrays, frames):
    folds = KFold(3)
    for method in METHODS:
        found = cross_val_predict(HOMI(), *frames, cv=folds, method=method)
        expected = cross_val_predict(HOMI(), *arrays, cv=folds, method=method)
        np.testing.assert_allclose(found, expected)
    options = {"scoring": SCORERS, "cv": folds}
    found = cross_validate(HOMI(), *frames, **options)
    expected = cross_validate(HOMI(), *arrays, **options)
    for name in SCORERS:
        np.testing.assert_allclose(found[f"test_{name}"], expected[f"test_{name}"])
    ours = scorers(["ranking_loss", "hamming_loss"])
    found = cross_validate(HOMI(), *frames, scoring=ours, cv=folds)
    expected = cross_validate(HOMI(), *arrays, scoring=ours, cv=folds)
    for name in ours:
        np.testing.assert_allclose(found[f"test_{name}"], expected[f"test_{name}"])


def test_searches_and_curves_are_those_of_arrays(arrays, frames):
    grid = {"lam": [1.0, 10.0]}
    found, expected = (
        GridSearchCV(HOMI(), grid, cv=KFold(3), scoring="f1_macro").fit(*data)
        for data in (frames, arrays)
    )
    assert found.best_score_ == expected.best_score_
    assert list(found.predict(frames[0]).columns) == LABELS
    found, expected = (
        learning_curve(HOMI(), *data, cv=KFold(3), train_sizes=[0.5])[2]
        for data in (frames, arrays)
    )
    np.testing.assert_allclose(found, expected)
    options = {"scoring": "f1_macro", "n_repeats": 2, "random_state": 0}
    found, expected = (
        permutation_importance(HOMI().fit(*data), *data, **options)
        for data in (frames, arrays)
    )
    np.testing.assert_allclose(found.importances_mean, expected.importances_mean)


def test_metrics_take_what_predict_returns(arrays, frames):
    model = HOMI().fit(*frames)
    labels, scores = model.predict(frames[0]), model.decision_function(frames[0])
    for truth in (arrays[1], frames[1]):
        for metric in (metrics.accuracy_score, metrics.hamming_loss):
            assert metric(truth, labels) == metric(arrays[1], labels.to_numpy())
        assert "micro avg" in metrics.classification_report(
            truth, labels, zero_division=0
        )
        assert metrics.multilabel_confusion_matrix(truth, labels).shape == (4, 2, 2)
        expected = metrics.roc_auc_score(arrays[1], scores.to_numpy())
        assert metrics.roc_auc_score(truth, scores) == expected
        metrics.label_ranking_loss(truth, scores)
        assert evaluate(truth, scores, labels) == evaluate(
            arrays[1], scores.to_numpy(), labels.to_numpy()
        )


def test_pipelines_keep_frames_if_their_steps_do(frames):
    X, Y = frames
    pipeline = make_pipeline(StandardScaler(), HOMI())
    assert isinstance(pipeline.fit(X, Y).predict(X), np.ndarray)
    pipeline.set_output(transform="pandas")
    assert list(pipeline.fit(X, Y).predict(X).columns) == LABELS
    tuned = TunedThresholds(pipeline, random_state=0).fit(X, Y)
    assert list(tuned.predict(X).columns) == LABELS


def test_stacking_takes_frames(arrays, frames):
    members = [("a", HOMI()), ("b", MLkNN())]
    stack = StackingClassifier(members, HOMI(gamma=0.0), cv=KFold(3))
    expected = clone(stack).fit(*arrays).predict(arrays[0])
    found = stack.fit(frames[0], arrays[1]).predict(frames[0])
    np.testing.assert_allclose(found, expected)
