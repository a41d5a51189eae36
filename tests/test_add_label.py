"""Labels that are added to a fitted model: equal to a fit with them from the start."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Ridge

from homi import HOMI, HOMICV
from homi.io import load_model, save

NAMES = ["sun", "sea", "sand"]


def rows(n=90, m=6):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, m)) + 2.0
    Y = (X[:, :4] + rng.normal(size=(n, 4)) > 2.3).astype(int)
    return X, Y


X, Y = rows()
NEW = X[:, 3] > 2.0
WEIGHTS = np.random.default_rng(1).integers(0, 3, len(X)).astype(float)

MODELS = {
    "graph": HOMI(correlation="identity"),
    "no graph": HOMI(correlation="identity", gamma=0.0),
    "no penalty": HOMI(correlation="identity", gamma=0.0, lam=0.0),
    "free intercepts": HOMI(correlation="identity", penalize_bias=False),
    "not scaled": HOMI(correlation="identity", standardize=False),
    "anchors": HOMI(correlation="identity", graph="anchors", n_anchors=8),
    "kernel": HOMI(correlation="identity", kernel="rbf", n_components=40),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_an_added_label_is_that_of_a_full_fit(model):
    expected = clone(model).fit(X, Y)
    found = clone(model).fit(X, Y[:, :3]).add_label("y3", Y[:, 3], X)
    np.testing.assert_array_equal(found.label_names_, expected.label_names_)
    np.testing.assert_array_equal(found.classes_, expected.classes_)
    scores = found.decision_function(X), expected.decision_function(X)
    np.testing.assert_allclose(*scores, atol=1e-8, rtol=0)
    for name in ("feature_weights_", "coef_", "intercept_", "label_correlation_"):
        np.testing.assert_allclose(
            getattr(found, name), getattr(expected, name), atol=1e-8, rtol=1e-8
        )


def test_it_is_the_ridge_regression_of_scikit_learn():
    settings = {"correlation": "identity", "gamma": 0.0, "standardize": False}
    model = HOMI(lam=3.0, penalize_bias=False, **settings).fit(X, Y[:, :2])
    model.add_label("new", NEW, X)
    ridge = Ridge(alpha=3.0).fit(X, NEW)
    np.testing.assert_allclose(model.coef_[-1], ridge.coef_, atol=1e-10)
    expected = ridge.predict(X) - 0.5
    np.testing.assert_allclose(model.decision_function(X)[:, -1], expected, atol=1e-10)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_weights_order_of_rows_and_containers(container):
    given = container(X)
    model = HOMI(correlation="identity", gamma=0.0)
    expected = clone(model).fit(given, Y, WEIGHTS)
    found = clone(model).fit(given, Y[:, :3], WEIGHTS)
    order = np.random.default_rng(2).permutation(len(X))
    shuffled = given.iloc[order] if container is pd.DataFrame else given[order]
    found.add_label("y3", list(Y[order, 3]), shuffled, WEIGHTS[order])
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-8)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, atol=1e-8)


@pytest.mark.parametrize("kernel", [None, "laplacian"])
def test_a_file_keeps_it_and_takes_more(kernel, tmp_path):
    """The factorization is not in a file: it is computed again."""
    pytest.importorskip("safetensors")
    model = HOMI(correlation="identity", kernel=kernel).fit(X, Y[:, :2])
    model.add_label("y2", Y[:, 2], X)
    save(model, tmp_path / "m.homi")
    loaded = load_model(tmp_path / "m.homi")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    loaded.add_label("y3", Y[:, 3], X)
    expected = clone(model).fit(X, Y)
    scores = loaded.decision_function(X), expected.decision_function(X)
    np.testing.assert_allclose(*scores, atol=1e-8, rtol=0)
    assert list(loaded.label_names_) == ["y0", "y1", "y2", "y3"]


def test_wide_rows_and_label_weights_are_fitted_alone():
    """What was not kept is computed again."""
    rng = np.random.default_rng(3)
    wide = rng.normal(size=(40, 1200))
    model = HOMI(correlation="identity", gamma=0.0)
    expected = clone(model).fit(wide, Y[:40])
    found = clone(model).fit(wide, Y[:40, :3]).add_label("y3", Y[:40, 3], wide)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-8)
    weighted = clone(model).fit(X, Y[:, :2], label_weight=[2.0, 0.5])
    weighted.add_label("y2", Y[:, 2], X)
    expected = clone(model).fit(X, Y[:, :3], label_weight=[2.0, 0.5, 1.0])
    np.testing.assert_allclose(weighted.coef_, expected.coef_, atol=1e-8)


def test_the_name_is_known_everywhere():
    frame = pd.DataFrame(Y[:, :3], columns=NAMES)
    model = HOMI(correlation="identity").fit(pd.DataFrame(X).rename(columns=str), frame)
    model.add_label("snow", NEW, pd.DataFrame(X).rename(columns=str))
    found = model.predict(pd.DataFrame(X).rename(columns=str))
    assert list(found.columns) == [*NAMES, "snow"]
    assert (found["snow"] == NEW).mean() > 0.8


CV = {
    "linear": HOMICV(widths=[], trees=False, lams=[1.0, 10.0]),
    "kernel": HOMICV(kernels=["rbf"], widths=[1.0], trees=False, lams=[0.1]),
    "trees": HOMICV(widths=[], trees=True, lams=[1.0]),
    "scores": HOMICV(widths=[], calibration=None, trees=False, lams=[1.0]),
}


@pytest.mark.parametrize("model", CV.values(), ids=CV)
def test_homicv_takes_a_label_and_leaves_the_others(model, tmp_path):
    pytest.importorskip("safetensors")
    fitted = clone(model).fit(X, pd.DataFrame(Y[:, :3], columns=NAMES))
    before = fitted.decision_function(X)
    found = fitted.add_label("snow", NEW, X).decision_function(X)
    np.testing.assert_allclose(found[:, :3], before, atol=1e-12)
    assert (fitted.predict(X)[:, 3] == NEW).mean() > 0.8
    assert fitted.label_names_[-1] == "snow"
    assert fitted.held_out_labels_["label"][-1] == "snow"
    assert fitted.held_out_labels_["auc"][-1] > 0.8
    save(fitted, tmp_path / "m.homi")
    loaded = load_model(tmp_path / "m.homi")
    np.testing.assert_array_equal(loaded.decision_function(X), found)
    again = loaded.add_label("fog", Y[:, 3], X).predict_proba(X)
    assert again.shape == (len(X), 5)
    np.testing.assert_allclose(again[:, :4], fitted.predict_proba(X), atol=1e-12)


def test_homicv_fits_the_label_as_its_own_fit_would():
    """The same features, penalty and weights: one label alone."""
    settings = {"widths": [], "trees": False, "lams": [3.0], "standardize": True}
    model = HOMICV(**settings).fit(X, Y[:, :3])
    model.add_label("new", NEW, X)
    alone = HOMICV(**settings, betas=()).fit(X, NEW[:, None].astype(int))
    found = model.decision_function(X)[:, 3:]
    np.testing.assert_allclose(found, alone.decision_function(X), atol=1e-6)


def test_known_labels_and_an_added_one_say_nothing_about_each_other():
    model = HOMICV(widths=[], trees=False, lams=[1.0]).fit(X, Y[:, :3])
    known = np.full((len(X), 4), np.nan)
    known[:, 0] = Y[:, 0]
    others = model.predict_proba(X, known=known[:, :3])
    model.add_label("new", NEW, X)
    found = model.predict_proba(X, known=known)
    plain = model.predict_proba(X)
    np.testing.assert_allclose(found[:, 3], plain[:, 3], atol=1e-12)
    if not model.joint_model_.has_effect:
        np.testing.assert_allclose(found[:, :3], others)
    known[:, 3] = NEW
    np.testing.assert_array_equal(model.predict_proba(X, known=known)[:, 3], NEW)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("y1", NEW, X), "a label 'y1' already"),
        (("new", NEW[:5], X), "inconsistent numbers of samples"),
        (("new", NEW, X[:, :3]), "3 features"),
        (("new", NEW * 2.0, X), "only 0 and 1, got 0.0, 2.0"),
        (("new", np.where(NEW, 1.0, np.nan), X), "NaN"),
        (("new", Y[:, :2], X), "one 0 or 1 per row, got shape (90, 2)"),
        (("new", NEW, X + 1.0), "not those that the model was fitted to"),
        (("new", NEW[1:], X[1:]), "not those that the model was fitted to"),
        (("new", NEW, X, WEIGHTS), "not those that the model was fitted to"),
    ],
    ids=range(9),
)
def test_bad_input_leaves_the_model_as_it_was(given, message):
    model = HOMI(correlation="identity").fit(X, Y[:, :3])
    before = model.decision_function(X)
    with pytest.raises(ValueError, match=re.escape(message)):
        model.add_label(*given)
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_models_that_take_no_label_say_why():
    with pytest.raises(ValueError, match="a new label changes all others"):
        HOMI().fit(X, Y).add_label("new", NEW, X)
    with pytest.raises(ValueError, match="fitted to a 1-D y"):
        HOMI(correlation="identity").fit(X, Y[:, 0]).add_label("new", NEW, X)
    with pytest.raises(TypeError, match="must be a string, got 7"):
        HOMI(correlation="identity").fit(X, Y).add_label(7, NEW, X)
    graph = HOMICV(widths=[], trees=False, lams=[1.0]).fit(X, Y)
    graph.best_estimator_.gamma = 0.1
    with pytest.raises(ValueError, match="without a graph"):
        graph.add_label("new", NEW, X)
