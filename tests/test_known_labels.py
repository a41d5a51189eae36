"""Predictions given known labels: HOMICV, HOMI, any classifier, data frames, files."""

import re
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import contract_checks
import homi.model.calibration
import homi.model.cross_validated_fit
from homi import HOMI, HOMICV
from homi.dependence import LabelDependence
from homi.estimators import BinaryRelevance
from homi.io import ModelFileError, load_model, save
from homi.joint import fit_joint_model
from homi.model.blend import fit_log_odds
from homi.thresholds import TunedThresholds
from sample_files import opened, put_together

NAMES = ["sun", "sea", "sand", "snow"]
QUICK = {"widths": [], "lams": [1.0, 10.0], "trees": False}


def rows(seed, n=300):
    """Labels of a hidden cause, which features say little about."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    cause = 2 * rng.normal(size=(n, 1)) * [1, 1, 1, -1]
    Y = rng.random((n, 4)) < expit(X[:, :4] + cause)
    return X, Y.astype(int)


X, Y = rows(0)
NEW, TRUE = rows(1, n=400)


def half(seed=0):
    """The labels of new rows, about half of them unknown."""
    hidden = np.random.default_rng(seed).random(TRUE.shape) < 0.5
    return np.where(hidden, np.nan, TRUE)


@pytest.fixture(scope="module")
def model():
    return HOMICV(**QUICK).fit(X, pd.DataFrame(Y, columns=NAMES))


CLASSIFIERS = [
    HOMICV(**QUICK),
    HOMI(calibration="sigmoid"),
    LabelDependence(HOMICV(**QUICK), cv="own"),
    LabelDependence(HOMI()),
    LabelDependence(make_pipeline(StandardScaler(), BinaryRelevance())),
    LabelDependence(RandomForestClassifier(20, max_depth=5, random_state=0)),
]


@cache
def fitted_once(classifier):
    """The classifier, fitted to all labels; tests leave it as it is."""
    return classifier.fit(X, Y)


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda c: str(c)[:40])
def test_known_labels_help_to_predict_the_others(classifier):
    fitted = fitted_once(classifier)
    known = half()
    unknown = np.isnan(known)
    plain, given = fitted.predict_proba(NEW), fitted.predict_proba(NEW, known=known)
    errors = [np.mean((P - TRUE)[unknown] ** 2) for P in (plain, given)]
    assert errors[1] < 0.93 * errors[0]
    np.testing.assert_array_equal(given[~unknown], known[~unknown])
    labels = fitted.predict(NEW, known=known)
    assert labels.dtype == Y.dtype
    np.testing.assert_array_equal(labels, given > 0.5)
    odds = fitted.decision_function(NEW, known=known)
    np.testing.assert_array_equal(odds > 0, labels)
    np.testing.assert_allclose(expit(odds), given, atol=1e-12)


@pytest.mark.parametrize("classifier", CLASSIFIERS[:4], ids=lambda c: str(c)[:40])
def test_nothing_known_is_the_plain_prediction_and_all_known_is_as_given(classifier):
    fitted = fitted_once(classifier)
    nothing = np.full(TRUE.shape, np.nan)
    for method in ("predict_proba", "decision_function", "predict"):
        call = getattr(fitted, method)
        np.testing.assert_array_equal(call(NEW, known=nothing), call(NEW))
    np.testing.assert_array_equal(fitted.predict_proba(NEW, known=TRUE), TRUE)
    np.testing.assert_array_equal(fitted.predict(NEW, known=TRUE), TRUE)


def test_held_out_scores_are_learned_from():
    """1-NN knows its training rows by heart: its in-sample errors are all 0."""
    fitted = LabelDependence(KNeighborsClassifier(1)).fit(X, Y)
    assert fitted.estimator_.score(X, Y) == 1.0
    assert max(fitted.joint_model_.weights[1:]) > 0.3
    in_sample = fit_joint_model(20.0 * Y - 10.0, Y.astype(float))
    assert max(in_sample.weights[1:]) < 1e-3


def test_homicv_learns_from_its_held_out_scores(monkeypatch):
    given = []

    def spied(scores, *rest, **options):
        given.append(scores)
        return fit_joint_model(scores, *rest, **options)

    monkeypatch.setattr(homi.model.cross_validated_fit, "fit_joint_model", spied)
    fitted = HOMICV(**QUICK)
    held_out = fitted.fit_held_out(X, Y)
    np.testing.assert_array_equal(given[0], held_out)
    assert np.abs(held_out - fitted.decision_function(X)).max() > 1e-3


def test_calibrated_homi_is_what_the_wrapper_makes_of_it():
    """The same folds and sigmoids; scores of training rows would have no errors."""
    wide = np.hstack([X, np.random.default_rng(0).normal(size=(300, 290))])
    own = HOMI(calibration="sigmoid", lam=0.01).fit(wide, Y)
    wrapped = LabelDependence(HOMI(lam=0.01)).fit(wide, Y)
    for name in ("odds_slope_", "odds_offset_"):
        np.testing.assert_allclose(getattr(own, name), getattr(wrapped, name))
    C = own.joint_model_.covariance
    np.testing.assert_allclose(C, wrapped.joint_model_.covariance)
    in_sample = fit_log_odds(HOMI(lam=0.01).fit(wide, Y).decision_function(wide), Y)
    assert (in_sample.slope > 5 * own.odds_slope_).all()


def test_calibration_leaves_the_solution_and_plain_scores_as_they_are():
    own, plain = HOMI(calibration="sigmoid").fit(X, Y), HOMI().fit(X, Y)
    np.testing.assert_array_equal(own.coef_, plain.coef_)
    odds = plain.decision_function(NEW) * own.odds_slope_ + own.odds_offset_
    np.testing.assert_allclose(own.decision_function(NEW), odds, atol=1e-12)
    np.testing.assert_allclose(own.predict_proba(NEW), expit(odds), atol=1e-12)
    np.testing.assert_array_equal(own.predict(NEW), odds > 0)
    assert plain.odds_slope_ is plain.joint_model_ is None


def test_homi_without_calibration_forgets_that_of_an_earlier_fit():
    fitted = HOMI(calibration="sigmoid", graph="anchors").fit(X, Y)
    fitted.set_params(calibration=None).partial_fit(X, Y)
    expected = HOMI(graph="anchors").fit(X, Y).partial_fit(X, Y)
    for method in ("decision_function", "predict", "predict_proba"):
        call = getattr(fitted, method)
        np.testing.assert_array_equal(call(NEW), getattr(expected, method)(NEW))
    with pytest.raises(ValueError, match="fitted without calibration"):
        fitted.predict(NEW, known=half())


@pytest.mark.parametrize(
    "options",
    [
        {"kernel": "rbf", "n_components": 50},
        {"solver": "iterative"},
        {"correlation": "held-out"},
        {"missing_labels": "ignore"},
    ],
    ids=str,
)
def test_every_route_of_homi_takes_known_labels(options):
    labels = Y.astype(float)
    if "missing_labels" in options:
        labels[np.random.default_rng(0).random(Y.shape) < 0.2] = np.nan
    fitted = HOMI(calibration="sigmoid", **options).fit(X, labels)
    known = half()
    unknown = np.isnan(known)
    given, plain = fitted.predict_proba(NEW, known=known), fitted.predict_proba(NEW)
    errors = [np.mean((P - TRUE)[unknown] ** 2) for P in (plain, given)]
    assert errors[1] < 0.95 * errors[0]


def test_calibrated_homi_and_weights_of_rows():
    """A row of weight 0 is no row."""
    weights = np.ones(300)
    weights[200:] = 0.0
    found = HOMI(calibration="sigmoid").fit(X, Y, weights)
    expected = HOMI(calibration="sigmoid").fit(X[:200], Y[:200])
    given, few = (m.predict_proba(NEW, known=half()) for m in (found, expected))
    np.testing.assert_allclose(given, few, atol=1e-8)


def test_sigmoids_of_homi_have_the_weights_of_known_labels(monkeypatch):
    given = []

    def spied(scores, labels, weights):
        given.append(weights)
        return fit_log_odds(scores, labels, weights)

    monkeypatch.setattr(homi.model.calibration, "fit_log_odds", spied)
    weights = np.arange(300) % 3
    labels = np.where(np.arange(1200).reshape(300, 4) % 7 == 0, np.nan, Y)
    fitted = HOMI(calibration="sigmoid", missing_labels="ignore")
    fitted.fit(X, labels, weights)
    expected = weights[:, None] * ~np.isnan(labels)
    np.testing.assert_array_equal(given[0], expected[weights > 0])


def test_calibration_of_homi_needs_all_rows_and_two_of_them():
    model = HOMI(calibration="sigmoid")
    with pytest.raises(AttributeError) as refusal:
        model.partial_fit(X, Y)
    assert "calibration='sigmoid', which needs all rows" in str(refusal.value.__cause__)
    with pytest.raises(ValueError, match="pass at least 2 rows, or calibration=None"):
        model.set_params(gamma=0.0).fit(X[:1], Y[:1])


def test_calibrated_homi_of_one_dimensional_classes():
    y = np.arange(300) % 3
    fitted = HOMI(calibration="sigmoid").fit(X + y[:, None], y)
    assert fitted.score(X + y[:, None], y) > 0.5
    with pytest.raises(ValueError, match="on a 1-D y"):
        fitted.predict(NEW, known=half())


def test_calibrated_homi_takes_a_label_later():
    options = {"correlation": "identity", "calibration": "sigmoid"}
    fitted = HOMI(**options).fit(X, Y[:, :3])
    fitted.add_label("y3", Y[:, 3], X)
    full = HOMI(**options).fit(X, Y)
    np.testing.assert_allclose(fitted.coef_, full.coef_, atol=1e-8)
    odds = fitted.decision_function(NEW)
    np.testing.assert_allclose(odds, full.decision_function(NEW), atol=0.2)
    known = half()
    given = fitted.decision_function(NEW, known=known)
    unknown = np.isnan(known[:, 3])
    np.testing.assert_array_equal(given[unknown, 3], odds[unknown, 3])
    assert (given[~unknown, 3] > 0).tolist() == (known[~unknown, 3] > 0).tolist()


@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_with_calibration():
    why = "copies of a row can be in different folds; a weighted row is in one"
    kinds = ("dense", "sparse")
    names = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in kinds]
    contract_checks.check_parameters(
        HOMI(calibration="sigmoid"), dict.fromkeys(names, why)
    )


@pytest.mark.parametrize("strategy", ["per_label", "global", "top_k"])
def test_tuned_thresholds_of_conditional_probabilities(strategy):
    inner = make_pipeline(StandardScaler(), HOMICV(**QUICK))
    options = {"strategy": strategy, "objective": "macro_f1", "cv": 3}
    tuned = TunedThresholds(inner, **options).fit(X, pd.DataFrame(Y, columns=NAMES))
    known = half()
    unknown = np.isnan(known)
    frame = pd.DataFrame(known, columns=NAMES)
    labels = tuned.predict(NEW, known=frame[NAMES[::-1]])
    assert list(labels.columns) == NAMES
    labels = labels.to_numpy()
    np.testing.assert_array_equal(labels[~unknown], known[~unknown])
    decisions = tuned.decision_function(NEW, known=known)
    np.testing.assert_array_equal(decisions > 0, labels)
    rows = tuned.estimator_[:-1].transform(NEW)
    odds = tuned.estimator_[-1].decision_function(rows, known=known)
    if strategy != "top_k":
        expected = (odds > tuned.thresholds_)[unknown]
        np.testing.assert_array_equal(labels[unknown], expected)
        plain, truth = tuned.predict(NEW)[unknown], TRUE[unknown]
        assert np.mean(labels[unknown] != truth) < np.mean(plain != truth)
    P = tuned.predict_proba(NEW, known=known)
    np.testing.assert_allclose(P, expit(odds), atol=1e-12)
    nothing = np.full(TRUE.shape, np.nan)
    np.testing.assert_array_equal(tuned.predict(NEW, nothing), tuned.predict(NEW))


def test_tuned_thresholds_that_take_no_known_labels_say_so():
    tuned = TunedThresholds(HOMICV(**QUICK), strategy="joint", cv="own").fit(X, Y)
    with pytest.raises(ValueError, match="another strategy than 'cardinality' and"):
        tuned.predict(NEW, known=half())
    tuned = TunedThresholds(BinaryRelevance(), cv=2).fit(X, Y)
    with pytest.raises(TypeError, match="BinaryRelevance takes no known labels"):
        tuned.predict_proba(NEW, known=half())


def test_columns_of_a_data_frame_are_matched_by_name(model):
    known = half()
    every = model.predict_proba(NEW, known=known)
    frame = pd.DataFrame(known, columns=NAMES, index=np.arange(400) + 7)
    found = model.predict_proba(NEW, known=frame[NAMES[::-1]])
    assert list(found.columns) == NAMES
    assert found.index.equals(frame.index)
    np.testing.assert_array_equal(found.to_numpy(), every)
    some = np.where([False, True, False, True], known, np.nan)
    expected = model.predict(NEW, known=some)
    labels = model.predict(NEW, known=frame[["snow", "sea"]])
    np.testing.assert_array_equal(labels.to_numpy(), expected)
    nullable = frame[["snow", "sea"]].astype("Int8")
    np.testing.assert_array_equal(model.predict(NEW, known=nullable), expected)


def test_polars_in_polars_out(model):
    known = half()
    frame = pl.DataFrame(known, schema=NAMES).fill_nan(None).cast(pl.Int8)
    found = model.predict_proba(NEW, known=frame.select("snow", "sea", "sun", "sand"))
    assert isinstance(found, pl.DataFrame)
    assert found.columns == NAMES
    expected = model.predict_proba(NEW, known=known)
    np.testing.assert_array_equal(found.to_numpy(), expected)


def test_sparse_rows_and_callers_arrays(model):
    known = half()
    before = known.copy()
    found = model.predict_proba(sparse.csr_array(NEW), known=known)
    expected = model.predict_proba(NEW, known=known)
    np.testing.assert_allclose(found, expected, atol=1e-10)
    np.testing.assert_array_equal(known, before)
    objects = np.where(np.isnan(known), None, known)
    np.testing.assert_array_equal(model.predict_proba(NEW, objects), expected)


FRAME = pd.DataFrame(np.ones((400, 2)), columns=["sea", "ski"])


@pytest.mark.parametrize(
    ("known", "error", "message"),
    [
        (np.full((400, 4), 0.5), ValueError, "only 0, 1 and NaN, got 0.5"),
        (np.full((400, 4), -1), ValueError, "only 0, 1 and NaN, got -1"),
        (np.full((400, 4), "yes"), ValueError, "only 0, 1 and NaN, got yes"),
        (np.full((400, 4), np.inf), ValueError, "only 0, 1 and NaN, got inf"),
        (TRUE[:10], ValueError, r"shape (10, 4), expected (400, 4)"),
        (TRUE[:, :3], ValueError, r"shape (400, 3), expected (400, 4)"),
        (TRUE[:, 0], ValueError, r"shape (400,), expected (400, 4)"),
        (FRAME, ValueError, "a column 'ski' that is not a label; the labels are 'sun'"),
        (FRAME[["sea", "sea"]], ValueError, "'sea' more than once"),
        (FRAME[["sea"]][:9], ValueError, "shape (9, 1)"),
        (sparse.csr_array(TRUE), TypeError, "zeros could be unknown"),
    ],
    ids=range(11),
)
def test_malformed_known_labels(model, known, error, message):
    for method in ("predict_proba", "predict", "decision_function"):
        with pytest.raises(error, match=re.escape(message)):
            getattr(model, method)(NEW, known=known)


def test_rows_in_another_order_are_refused(model):
    """Rows go by position; the same index in another order is a mistake."""
    new, known = pd.DataFrame(NEW), pd.DataFrame(half(), columns=NAMES)
    tuned = TunedThresholds(HOMICV(**QUICK), cv="own").fit(X, Y)
    for fitted, shuffled in (
        (model, known[::-1]),
        (tuned, known.set_axis(tuned.label_names_, axis=1)[::-1]),
    ):
        with pytest.raises(ValueError, match=r"pass known\.loc\[X\.index\]"):
            fitted.predict(new, known=shuffled)
        fitted.predict(new, known=shuffled.loc[new.index])
        fitted.predict(new, known=shuffled.set_axis(range(1, 401), axis=0))


def test_rows_that_contradict_each_other_are_refused(model):
    first = pd.DataFrame(TRUE[:5], columns=NAMES, index=list("abcde"), dtype=float)
    second = first.copy()
    second.loc["c", "sea"] = 1 - second.loc["c", "sea"]
    known, new = pd.concat([first, second]), pd.DataFrame(NEW[:10])
    with pytest.raises(ValueError, match="has the row 'c' more than once, with differ"):
        model.predict(new, known=known)
    second.loc["c", "sea"] = np.nan
    model.predict(new, known=pd.concat([first, second]))
    # Rows of two files that were put together are no copies of each other.
    model.predict(new.set_axis(known.index, axis=0), known=known)


def test_models_without_a_joint_model_say_so():
    for fitted in (
        HOMI().fit(X, Y),
        HOMICV(**QUICK).fit(X, Y[:, 0]),
        HOMICV(**QUICK, calibration=None).fit(X, Y),
        LabelDependence(HOMI()).fit(X, Y[:, 0]),
    ):
        with pytest.raises(ValueError, match="cannot use known labels: it has no"):
            fitted.predict(NEW, known=half())
    with pytest.raises(ValueError, match=r"fit HOMI\(calibration='sigmoid'\) on a 0/1"):
        HOMI().fit(X, Y).predict_proba(NEW, known=half())
    with pytest.raises(ValueError, match="pass a 0/1 column for each label"):
        LabelDependence(HOMI()).fit(X, np.arange(300) % 3)


@pytest.mark.filterwarnings("ignore")
def test_scikit_learn():
    contract_checks.check(LabelDependence(HOMI(gamma=0.0), cv=2), {})


@pytest.mark.parametrize("classifier", CLASSIFIERS[:3], ids=lambda c: str(c)[:40])
def test_a_file_keeps_it(classifier, tmp_path):
    pytest.importorskip("safetensors")
    fitted = fitted_once(classifier)
    save(fitted, tmp_path / "m.homi")
    loaded = load_model(tmp_path / "m.homi")
    for known in (half(), None):
        found = loaded.predict_proba(NEW, known=known)
        np.testing.assert_array_equal(found, fitted.predict_proba(NEW, known=known))


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("n_sets", 0),
        ("n_sets", 10**9),
        ("n_sets", "4"),
        ("weights", [1.0, 2.0]),
        ("weights", [1.0, 2.0, {"float": "inf"}]),
        ("sharpness", "sharp"),
        ("covariance", -1.0),
        ("covariance", np.nan),
        ("gates", np.nan),
        ("gates", -1.0),
        ("frequency", np.inf),
    ],
)
def test_a_malformed_file_is_refused(model, tmp_path, part, value):
    pytest.importorskip("safetensors")
    path = tmp_path / "bad.homi"
    save(model, path)
    header, tensors = opened(path)
    if part in ("covariance", "frequency", "gates"):
        tensors[f"joint.{part}"] = np.full_like(tensors[f"joint.{part}"], value)
    else:
        header["model"]["fitted"]["joint"][part] = value
    put_together(path, header, tensors)
    with pytest.raises(ModelFileError, match=r"bad\.homi is refused"):
        load_model(path)


def test_a_file_of_an_earlier_version_predicts_without_known_labels(model, tmp_path):
    pytest.importorskip("safetensors")
    path = tmp_path / "old.homi"
    save(model, path)
    header, tensors = opened(path)
    del header["model"]["fitted"]["joint"]
    kept = {k: v for k, v in tensors.items() if not k.startswith("joint.")}
    put_together(path, header, kept)
    old = load_model(path)
    np.testing.assert_array_equal(old.predict(NEW), model.predict(NEW))
    with pytest.raises(ValueError, match="saved by an earlier version; fit it again"):
        old.predict(NEW, known=half())


def test_a_joint_model_of_an_earlier_version_is_read(model, tmp_path):
    """Sharpness had fewer numbers, and there were no gates."""
    pytest.importorskip("safetensors")
    path = tmp_path / "old.homi"
    save(model, path)
    header, tensors = opened(path)
    joint = header["model"]["fitted"]["joint"]
    del joint["gates"], tensors["joint.gates"]
    joint["sharpness"] = [1.0, 6.0]
    put_together(path, header, tensors)
    found = load_model(path).joint_model_
    assert found.weights == model.joint_model_.weights
    assert found.sharpness == (1.0, 6.0, 0.3, 0.3)
    np.testing.assert_array_equal(found.gates, np.ones(4))


@pytest.mark.parametrize("trees", [False, True])
def test_a_linear_model_holds_no_label_set_of_a_few_rows(trees):
    """`homi fit --linear` promises that no training row is in the model file."""
    rng = np.random.default_rng(0)
    labels = (rng.random((120, 6)) < 0.3).astype(int)
    model = HOMICV(widths=[], lams=[1.0], trees=trees)
    model.fit(rng.normal(size=(120, 3)), labels)
    members = model.joint_model_.sets.members
    counts = [(labels == members_of).all(axis=1).sum() for members_of in members]
    assert len(counts) > 3
    assert (min(counts) >= 5) == (not trees)


def test_no_label_set_is_left():
    model = HOMICV(**QUICK).fit(
        X[:100], np.random.default_rng(0).random((100, 40)) < 0.3
    )
    assert not model.joint_model_.sets.members.any()
    known = np.full((5, 40), np.nan)
    known[:, :20] = 1
    assert np.isfinite(model.decision_function(X[:5], known=known)).all()
