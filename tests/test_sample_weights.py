"""Weights of rows in the compared methods: repeated rows, absent rows, clear errors."""

import re
from pathlib import Path

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.validation import has_fit_parameter

from conftest import random_rows
from homi.base.weights import WEIGHTED
from homi.estimators import all_estimators
from homi.thresholds import TunedThresholds

CLASSES = dict(all_estimators())
PAGE = Path(__file__).parents[1] / "docs" / "known_labels.md"

#: Without inner folds and samples, in which copies of a row would be apart.
OPTIONS = {
    "BinaryRelevance": {"loss": "log"},
    "CalibratedLabelRanking": {"votes": "soft"},
    "ClassifierChain": {"loss": "log"},
    "EnsembleOfChains": {"loss": "log", "sample": "all", "n_chains": 2},
    "GLOCAL": {"n_clusters": 1, "max_iter": 30},
    "LEML": {"rank": 2},
    "LFLC": {},
    "MLLRC": {},
    "MLSF": {},
    "RAKEL": {},
    "WRAP": {},
}

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
every = pytest.mark.parametrize("name", OPTIONS)


def make(name, **options):
    model = CLASSES[name](**OPTIONS[name] | options)
    return model.set_params(tol=1e-9) if "tol" in model.get_params() else model


def scores(model, X):
    """Scores without the sigmoids of inner folds."""
    return (
        model.chain_.margins(X)
        if hasattr(model, "chain_")
        else (model.decision_function(X))
    )


@pytest.fixture
def rows():
    X, Y = random_rows(0, n=50, m=5, q=4)
    w = np.random.default_rng(1).integers(0, 4, 50)
    # Features that are not centered, and a label that is constant where it counts.
    return X + 1, np.column_stack([Y, w == 0]), w


def test_these_take_weights():
    found = {
        name for name in CLASSES if has_fit_parameter(CLASSES[name], "sample_weight")
    }
    assert found == set(WEIGHTED)
    assert set(OPTIONS) == found - {"HOMI", "HOMICV"}


@every
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_row_of_weight_w_is_w_rows(name, kind, rows):
    X, Y, w = rows
    times = np.repeat(np.arange(50), w)
    model = make(name).fit(kind(X), Y, w)
    expected = make(name).fit(kind(X[times]), Y[times])
    found = scores(model, X)
    np.testing.assert_allclose(found, scores(expected, X), rtol=2e-4, atol=2e-5)
    np.testing.assert_array_equal(model.predict(X)[:, 4], 0)
    plain = make(name).fit(kind(X[w > 0]), Y[w > 0])
    assert np.abs(scores(plain, X) - found).max() > 1e-3


@every
def test_a_row_of_weight_0_is_absent_and_ones_change_nothing(name, rows):
    X, Y, w = rows
    k = w > 0
    defaults = {key: CLASSES[name]().get_params()[key] for key in OPTIONS[name]}
    model = make(name, **defaults).fit(X, Y, w * 0.7)
    expected = make(name, **defaults).fit(X[k], Y[k], w[k] * 0.7)
    np.testing.assert_array_equal(
        model.decision_function(X), expected.decision_function(X)
    )
    ones, plain = make(name).fit(X, Y, np.ones(50)), make(name).fit(X, Y)
    np.testing.assert_array_equal(ones.predict_proba(X), plain.predict_proba(X))


@pytest.mark.parametrize("name", sorted(set(CLASSES) - set(WEIGHTED)))
def test_others_say_why_they_take_none(name, rows):
    X, Y, w = rows
    with pytest.raises(ValueError, match=rf"{name} takes no sample_weight: i.*HOMICV"):
        CLASSES[name]().fit(X, Y, sample_weight=w)
    CLASSES[name]().fit(X, Y, sample_weight=None)
    with pytest.raises(TypeError, match="other"):
        CLASSES[name]().fit(X, Y, other=w)


@pytest.mark.parametrize("name", sorted(set(CLASSES) - {"HOMI", "HOMICV"}))
def test_compared_methods_say_that_they_take_no_weights_of_labels(name, rows):
    X, Y, _ = rows
    weight = np.ones(Y.shape[1])
    with pytest.raises(ValueError, match=rf"{name} takes no label_weight: its losses"):
        CLASSES[name]().fit(X, Y, label_weight=weight)
    with pytest.raises(TypeError, match=rf"{name}.fit\(\) got an unexpected.*'other'"):
        CLASSES[name]().fit(X, Y, other=weight)


def test_classifiers_inside_say_if_they_take_none(rows):
    X, Y, w = rows
    for name in ("BinaryRelevance", "ClassifierChain", "EnsembleOfChains"):
        model = CLASSES[name](LogisticRegression())
        with pytest.raises(ValueError, match="got estimator=LogisticRegression"):
            model.fit(X, Y, w)
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight"):
        CLASSES["RAKEL"](KNeighborsClassifier()).fit(X, Y, w)
    with pytest.raises(ValueError, match="pass a number as threshold"):
        CLASSES["EnsembleOfChains"](threshold="pcut").fit(X, Y, w)


def test_weights_are_routed(rows):
    X, Y, w = rows
    expected = make("WRAP").fit(MinMaxScaler().fit_transform(X), Y, w)
    with sklearn.config_context(enable_metadata_routing=True):
        model = make("WRAP").set_fit_request(sample_weight=True)
        found = make_pipeline(MinMaxScaler(), model).fit(X, Y, sample_weight=w)
    np.testing.assert_allclose(found[-1].coef_, expected.coef_)


def test_the_guide_says_who_takes_what():
    text = PAGE.read_text("utf-8")
    table = dict(re.findall(r"^\| (`[^|]+) \| ([^|]+) \|", text, flags=re.M))
    table = {name: cell for names, cell in table.items() for name in names.split(", ")}
    found = {name.strip("` "): "yes" in cell for name, cell in table.items()}
    expected = {name: name in WEIGHTED for name in CLASSES}
    assert found == expected | {TunedThresholds.__name__: True}
