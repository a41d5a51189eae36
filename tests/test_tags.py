"""Tags: lists of names as targets, and answers by name."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import metrics
from sklearn.base import clone
from sklearn.ensemble import StackingClassifier
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer, StandardScaler

import homi
from conftest import random_rows
from homi import HOMI
from homi.base.tags import tag_rows
from homi.base.targets import check_target
from homi.estimators import BinaryRelevance, MLkNN
from homi.metrics import evaluate, scorers
from homi.thresholds import TunedThresholds

NAMES = np.array(["calm", "joy", "sad", "wild"])


@pytest.fixture
def rows():
    X, Y = random_rows(0, n=60, m=5, q=4)
    Y[:5] = 0
    return X, Y


def tags_of(Y, kind=list):
    return [kind(NAMES[row > 0].tolist()) for row in Y]


def column(tags):
    found = np.empty(len(tags), dtype=object)
    found[:] = tags
    return found


FORMS = {
    "lists": lambda Y: tags_of(Y),
    "tuples": lambda Y: tuple(tags_of(Y, tuple)),
    "sets": lambda Y: tags_of(Y, set),
    "arrays": lambda Y: tags_of(Y, np.array),
    "objects": lambda Y: column(tags_of(Y)),
    "Series": lambda Y: pd.Series(tags_of(Y, frozenset)),
    "column": lambda Y: pd.DataFrame({"tags": tags_of(Y)}),
    "polars": lambda Y: pl.Series(tags_of(Y)),
    "polars column": lambda Y: pl.DataFrame({"tags": tags_of(Y)}),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_tags_is_the_same_target(form, rows):
    _, Y = rows
    target = check_target(FORMS[form](Y))
    binarizer = MultiLabelBinarizer()
    np.testing.assert_array_equal(target.indicator, binarizer.fit_transform(tags_of(Y)))
    assert target.names.tolist() == binarizer.classes_.tolist() == NAMES.tolist()
    assert target.encoding.kind == "multilabel-indicator"


@pytest.mark.parametrize(
    "model", [HOMI(), BinaryRelevance(), MLkNN(), TunedThresholds(HOMI())], ids=str
)
def test_a_fit_to_tags_is_a_fit_to_their_indicator(model, rows):
    X, Y = rows
    expected = model.fit(X, Y.astype(int)).decision_function(X)
    found = model.fit(X, tags_of(Y))
    np.testing.assert_array_equal(found.decision_function(X), expected)
    assert found.label_names_.tolist() == NAMES.tolist()


def test_rows_of_equal_length_and_single_tags_are_tags():
    assert check_target([["a", "b"], ["b", "c"]]).names.tolist() == ["a", "b", "c"]
    assert check_target([["a"], ["b"]]).indicator.tolist() == [[1, 0], [0, 1]]


def test_strings_are_classes_as_before():
    for y in (
        ["a", "b", "a"],
        np.array(["a", "b", "a"])[:, None],
        pd.Series(list("aba")),
    ):
        assert check_target(y).encoding.kind == "binary"
    assert check_target([[1, 0], [0, 1]]).names.tolist() == ["y0", "y1"]
    with pytest.raises(ValueError, match="pass tags as a list for each row"):
        check_target(np.array([["a", "b"], ["b", "a"]]))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([["a"], None, ["b"]], r"row 1 of y is None.*\[\] for a row without tags"),
        ([["a"], "b"], r"row 1 of y is 'b'"),
        ([["a"], ["b", 3]], r"row 1 of y holds the tag 3"),
        ([{1, 2}, {2}], r"row 0 of y holds the tag 1"),
        ([[1, 2], [2]], r"rows of y have 1 to 2 values.*str\(tag\)"),
        ([["a", "b"], [""]], r"row 1 of y holds the tag ''"),
        ([["0", "1"], ["1", "1"]], r"strings '0' and '1' only.*astype\(int\)"),
    ],
)
def test_what_is_wrong_with_tags_is_said(y, message):
    with pytest.raises(ValueError, match=message):
        check_target(y)


def test_tags_joined_in_one_string_are_noticed_where_it_is_certain():
    with pytest.warns(UserWarning, match=r"row\.split\(';'\) for row in y") as caught:
        HOMI(gamma=0.0).fit(np.eye(4), ["numpy;python", "python", "numpy", "scipy"])
    assert {warning.filename for warning in caught} == {__file__}
    for joined in (["a, b", "b, c", "c, a"], ["a,b", "b", "a"], ["a; b", "b", "a"]):
        with pytest.warns(UserWarning, match=r"row\.split\('(, |,|; )'\) for row"):
            check_target(joined)
    for y in (
        ["sport|ball", "sport|ski", "art"],
        ["a;b", "c"],
        ["Rome, Italy", "Pisa, Italy", "Oslo"],
        [0, 1],
    ):
        assert check_target(y).encoding.kind in ("binary", "multiclass")


def test_batches_refuse_tags(rows):
    X, Y = rows
    with pytest.raises(ValueError, match=r"MultiLabelBinarizer\(classes=tags\)"):
        HOMI(graph="anchors").partial_fit(X, tags_of(Y))


def test_the_score_takes_tags(rows):
    X, Y = rows
    model = HOMI().fit(X, tags_of(Y))
    expected = np.mean((model.predict(X) == Y).all(axis=1))
    assert model.score(X, tags_of(Y)) == model.score(X, Y) == pytest.approx(expected)
    unseen = [[*tags, "unseen"] for tags in tags_of(Y)]
    assert model.score(X, unseen) == 0


def test_metrics_say_how_to_encode_tags(rows):
    X, Y = rows
    model = HOMI().fit(X, tags_of(Y))
    scores = model.ranking_scores(X)
    for tags in (tags_of(Y), [["joy", "sad"]] * len(Y)):
        with pytest.raises(ValueError, match=r"MultiLabelBinarizer\(classes=model\."):
            evaluate(tags, scores, model.predict(X))


def test_folds_and_grids_take_tags(rows):
    X, Y = rows
    folds = KFold(3)
    found = cross_val_score(HOMI(), X, tags_of(Y), cv=folds)
    np.testing.assert_array_equal(found, cross_val_score(HOMI(), X, Y, cv=folds))
    search = GridSearchCV(HOMI(), {"lam": [1.0, 10.0]}, cv=folds).fit(X, tags_of(Y))
    assert search.best_estimator_.label_names_.tolist() == NAMES.tolist()


def test_a_large_target_stays_sparse():
    tags = [[f"t{i % 400}"] for i in range(4000)]
    target = check_target(tags)
    assert target.indicator.nnz == 4000
    assert target.indicator.shape == (4000, 400)
    assert len(tag_rows(tags)) == 4000


@pytest.mark.parametrize("model", [HOMI(), TunedThresholds(HOMI())], ids=str)
def test_answers_are_by_name(model, rows):
    X, Y = rows
    model.fit(X, tags_of(Y))
    assert model.predict_tags(X) == tags_of(model.predict(X))
    assert [] in model.predict_tags(X)
    P = model.predict_proba(X)
    for p, found in zip(P, model.top_k(X, 2), strict=True):
        assert [value for _, value in found] == sorted(p, reverse=True)[:2]
        assert all(p[NAMES.tolist().index(name)] == value for name, value in found)
    assert len(model.top_k(X[:1])[0]) == 4
    for k in (0, 1.5, True):
        with pytest.raises(ValueError, match="positive integer"):
            model.top_k(X, k)


def test_answers_to_classes_are_classes(rows):
    X, Y = rows
    for y in (NAMES[Y[:, 0].astype(int)], NAMES[(Y[:, 0] + Y[:, 1]).astype(int)]):
        model = HOMI().fit(X, y)
        assert model.predict_tags(X) == [[name] for name in model.predict(X)]
        top = [best[0][0] for best in model.top_k(X, k=1)]
        assert top == model.predict(X).tolist()
        assert sum(p for _, p in model.top_k(X[:1])[0]) == pytest.approx(1)


def test_equal_probabilities_are_in_the_order_of_the_labels(rows):
    X, Y = rows
    tied = HOMI(lam=1e12, gamma=0.0).fit(X, np.repeat(Y[:, :1], 4, axis=1))
    P = tied.predict_proba(X)
    assert (P[:, :1] == P).all()
    assert [name for name, _ in tied.top_k(X, 3)[0]] == ["y0", "y1", "y2"]


def test_pipelines_and_searches_answer_by_name(rows):
    X, Y = rows
    pipeline = make_pipeline(StandardScaler(), HOMI())
    search = GridSearchCV(pipeline, {"homi__lam": [1.0]}, cv=KFold(2))
    for model in (pipeline, search):
        model.fit(X, tags_of(Y))
        assert homi.predict_tags(model, X) == tags_of(model.predict(X))
        expected = pipeline[-1].top_k(pipeline[:-1].transform(X), 2)
        assert homi.top_k(model, X, 2) == expected
    with pytest.raises(TypeError, match="Ridge has no label_names_"):
        homi.predict_tags(Ridge().fit(X, Y), X)


# Data frames in, data frames out; scikit-learn's machinery takes them.


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
