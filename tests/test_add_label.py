"""Labels that are added to a fitted model: equal to a fit with them from the start."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Ridge

import contract_checks
from conftest import random_rows
from homi import HOMI, HOMICV
from homi.graph import plan_anchors
from homi.io import load_model, save
from homi.model.partial_fit import add_batch, fit_sums
from homi.thresholds import TunedThresholds

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


def test_trees_know_nothing_of_a_label_that_is_added(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    # Linear models see nothing of the first two labels.
    Y = np.column_stack([X[:, 0] * X[:, 1] > 0, abs(X[:, 2]) > 0.7, X[:, 3] > 0])
    fitted = HOMICV(widths=[], lams=[1.0]).fit(X, Y.astype(int))
    assert (fitted.forest_slope_ > 0.1).all()
    before, trees = fitted.decision_function(X), fitted.forest_.log_odds(X)
    found = fitted.add_label("snow", X[:, 3] > 0.5, X).decision_function(X)
    np.testing.assert_allclose(found[:, :3], before, atol=1e-12)
    np.testing.assert_allclose(fitted.forest_.log_odds(X)[:, :3], trees, atol=1e-12)
    assert fitted.forest_slope_[3] == 0
    assert ((found[:, 3] > 0) == (X[:, 3] > 0.5)).mean() > 0.8
    save(fitted, tmp_path / "m.homi")
    same = load_model(tmp_path / "m.homi")
    np.testing.assert_array_equal(same.decision_function(X), found)


def test_homicv_fits_the_label_as_its_own_fit_would():
    """The same features, penalty and weights: one label alone."""
    settings = {"widths": [], "trees": False, "lams": [3.0], "standardize": True}
    model = HOMICV(**settings).fit(X, Y[:, :3])
    model.add_label("new", NEW, X)
    alone = HOMICV(**settings, betas=()).fit(X, NEW[:, None].astype(int))
    found = model.decision_function(X)[:, 3:]
    np.testing.assert_allclose(found, alone.decision_function(X), atol=1e-6)


def test_tuned_thresholds_of_the_model_do_not_change():
    model = HOMICV(widths=[], trees=False, betas=[], lams=[1.0]).fit(X, Y[:, :3])
    tuned = TunedThresholds(model, cv="own").fit(X, Y[:, :3])
    before = tuned.decision_function(X)
    model.add_label("snow", Y[:, 3], X)
    np.testing.assert_array_equal(tuned.decision_function(X), before)
    assert model.predict(X).shape == Y.shape


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


# Batches one after the other: the same model, and errors that change nothing.


LEARNED = ("feature_weights_", "feature_bias_", "label_correlation_", "label_bias_")


def batches(X, Y, k):
    return zip(np.array_split(X, k), np.array_split(Y, k), strict=True)


def absorbed(parts, plan, **options):
    model, sums = HOMI(graph="anchors", random_state=0, **options), None
    for number, (X, Y) in enumerate(parts, 1):
        sums = add_batch(model, sums, number, X, Y, plan=plan)
    return fit_sums(model, sums, number)


def assert_same_model(one, other, atol=1e-10):
    for name in LEARNED:
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=atol)


def expected_failures(estimator):
    """Anchors are chosen by the rows as they are, however much each of them counts."""
    why = "the anchors of repeated rows are others"
    return {
        f"check_sample_weight_equivalence_on_{kind}_data": why
        for kind in ("dense", "sparse")
    }


@pytest.mark.filterwarnings("ignore")
@contract_checks.parametrize(
    [HOMI(graph="anchors", random_state=0)], expected_failed_checks=expected_failures
)
def test_scikit_learn(estimator, expected):
    contract_checks.check_parameters(estimator, expected)


@pytest.mark.parametrize("options", [{}, {"gamma": 0}, {"correlation": "identity"}])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_batches_give_the_model_of_all_rows(kind, options):
    X, Y = random_rows(0, n=600, m=6, q=3)
    plan = plan_anchors(X, 10, 30)
    whole = absorbed([(X, Y)], plan, **options)
    for k in (2, 7, 60):
        parts = [(kind(x), kind(y)) for x, y in batches(X, Y, k)]
        assert_same_model(absorbed(parts, plan, **options), whole)
    assert whole.graph_ == ("none" if options.get("gamma") == 0 else "anchors")


def test_fit_is_the_first_batch_and_partial_fit_goes_on():
    X, Y = random_rows(1, n=400, m=6, q=3)
    model = HOMI(graph="anchors", random_state=0)
    fitted = clone(model).fit(X[:250], Y[:250])
    partial = clone(model).partial_fit(X[:250], Y[:250])
    assert_same_model(partial, fitted)
    assert_same_model(
        partial.partial_fit(X[250:], Y[250:]), fitted.partial_fit(X[250:], Y[250:])
    )
    whole = absorbed([(X, Y)], fitted._sums.plan)
    assert_same_model(fitted, whole)


def test_every_batch_is_solved_for_and_looking_solves_nothing():
    X, Y = random_rows(2, n=200, m=6, q=3)
    model = HOMI(graph="anchors", random_state=0).partial_fit(X[:100], Y[:100])
    before = vars(model)["coef_"]
    assert model.n_iter_ == len(model.history_)
    model.partial_fit(X[100:], Y[100:])
    assert not np.array_equal(vars(model)["coef_"], before)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    assert not hasattr(HOMI(), "coef_")
    assert not hasattr(model, "other_")


def test_auto_means_anchors_and_other_graphs_need_all_rows():
    X, Y = random_rows(3, n=200, m=6, q=3)
    auto = HOMI(random_state=0).partial_fit(X, Y)
    assert_same_model(auto, HOMI(graph="anchors", random_state=0).fit(X, Y))
    for options in ({"graph": "exact"}, {"kernel": "rbf"}, {"correlation": "held-out"}):
        assert not hasattr(HOMI(**options), "partial_fit")
        with pytest.raises(AttributeError) as error:
            HOMI(**options).partial_fit(X, Y)
        assert "needs all rows at once" in str(error.value.__cause__)
    HOMI(graph="exact", gamma=0).partial_fit(X, Y)


def test_after_an_exact_fit_it_begins_anew_and_says_so():
    X, Y = random_rows(4, n=200, m=6, q=3)
    model = HOMI(random_state=0).fit(X, Y)
    with pytest.warns(UserWarning, match="starts anew"):
        model.partial_fit(X[:150], Y[:150])
    assert_same_model(model, HOMI(random_state=0).partial_fit(X[:150], Y[:150]))


def test_a_small_first_batch_is_warned_of():
    X, Y = random_rows(5, n=50)
    with pytest.warns(UserWarning, match=r"50 rows for n_anchors=64"):
        HOMI(graph="anchors").partial_fit(X, Y)


def test_one_dimensional_classes():
    X, Y = random_rows(6, n=300, m=6, q=3)
    y = np.array(["a", "b", "c"])[Y.argmax(axis=1)]
    model = HOMI(graph="anchors", random_state=0)
    with pytest.raises(ValueError, match="pass those of all batches as classes"):
        model.partial_fit(X, y)
    model.partial_fit(X[:150], y[:150], classes=["a", "b", "c"])
    model.partial_fit(X[150:], y[150:])
    with pytest.raises(ValueError, match=r"batch 3: y is .*'d'.* in row 2"):
        model.partial_fit(X[:3], ["a", "d", "a"])
    assert np.mean(model.predict(X) == y) > 0.6
    two = HOMI(graph="anchors", random_state=0)
    two.partial_fit(X, y == "a", classes=[False, True])
    assert two.decision_function(X).shape == (300,)


def test_names_are_kept_and_compared():
    X, Y = random_rows(7, n=200, m=3, q=2)
    X, Y = pd.DataFrame(X, columns=list("abc")), pd.DataFrame(Y, columns=["p", "q"])
    model = HOMI(graph="anchors", random_state=0).partial_fit(X, Y)
    assert list(model.label_names_) == ["p", "q"]
    with pytest.raises(ValueError, match=r"batch 2: label 1 is named 'q', but 'p'"):
        model.partial_fit(X, Y[["q", "p"]])
    with pytest.raises(ValueError, match="batch 2: The feature names"):
        model.partial_fit(X[["b", "a", "c"]], Y)


def spoilt(A, value, row):
    A = A.copy()
    A[row, 1] = value
    return A


def bad_batches(X, Y):
    """Each kind of batch that cannot be used, and what is said of it."""
    return {
        "other columns": (X[:, :-1], Y, r"batch 2: X has 5 features.*expecting 6"),
        "NaN": (spoilt(X, np.nan, 4), Y, r"batch 2, row 5 of it \(row 105 of all\)"),
        "infinity": (spoilt(X, np.inf, 7), Y, r"batch 2, row 8 of it"),
        "sparse NaN": (
            sparse.csr_array(spoilt(X, np.nan, 4)),
            Y,
            r"batch 2, row 5 of it",
        ),
        "a label of 2": (X, spoilt(Y, 2, 9), r"batch 2, row 10 of it.*only 0 and 1"),
        "a missing label": (X, spoilt(Y, np.nan, 3), r"batch 2, row 4 of it.*NaN"),
        "sparse labels": (
            X,
            sparse.csr_array(spoilt(Y, -1, 6)),
            r"batch 2, row 7 of it",
        ),
        "more labels": (X, np.hstack([Y, Y]), r"batch 2: Y has 6 label.*had 3"),
        "no rows": (X[:0], Y[:0], r"batch 2: Found array with 0 sample"),
        "fewer labels than rows": (X, Y[:-1], r"batch 2: .*inconsistent numbers"),
        "text": (np.full(X.shape, "x"), Y, r"batch 2, row 1 of it"),
        "no labels": (X, None, r"batch 2: .*requires y to be passed"),
    }


@pytest.mark.parametrize("kind", bad_batches(*random_rows(8, n=60, m=6, q=3)))
def test_a_bad_batch_is_named_and_changes_nothing(kind):
    X, Y = random_rows(8, n=160, m=6, q=3)
    model = HOMI(graph="anchors", random_state=0).partial_fit(X[:100], Y[:100])
    before = model.coef_.copy()
    bad_X, bad_Y, message = bad_batches(X[100:], Y[100:])[kind]
    state = dict(vars(model))
    with pytest.raises(ValueError, match=message):
        model.partial_fit(bad_X, bad_Y)
    assert vars(model).keys() == state.keys()
    assert all(vars(model)[key] is state[key] for key in state)
    np.testing.assert_array_equal(model.coef_, before)
    model.partial_fit(X[100:], Y[100:])
    clean = HOMI(graph="anchors", random_state=0).partial_fit(X[:100], Y[:100])
    assert_same_model(model, clean.partial_fit(X[100:], Y[100:]), atol=0)


def test_a_bad_first_batch_leaves_nothing():
    X, Y = random_rows(9, n=100, m=6, q=3)
    model = HOMI(graph="anchors", random_state=0)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=r"batch 1, row 3 of it \(row 3 of all\)"):
        model.partial_fit(spoilt(X, np.nan, 2), Y)
    assert vars(model) == before
    # These rows are good, and would leave their columns behind.
    with pytest.raises(ValueError, match=r"batch 1, row 4 of it"):
        model.partial_fit(pd.DataFrame(X, columns=list("abcdef")), spoilt(Y, 2, 3))
    assert vars(model) == before
    model.partial_fit(X[:, :4], Y)
    assert model.n_features_in_ == 4
