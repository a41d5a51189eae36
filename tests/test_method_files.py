"""Every public classifier is saved and loaded, and predicts the same bytes."""

import copy
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from conftest import random_rows
from homi.estimators import all_estimators
from homi.io import ModelFileError, load_model, save
from homi.thresholds import TunedThresholds
from sample_files import assert_same_responses, opened, put_together

X, Y = random_rows(0, n=50, m=5, q=4)
CLASSES = dict(all_estimators())
SMALL = {
    "EnsembleOfChains": {"n_chains": 3},
    "HOMICV": {"lams": [1.0, 10.0], "widths": [1.0]},
}
OTHERS = sorted(set(CLASSES) - {"HOMI", "HOMICV"})

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def make(name, **params):
    return CLASSES[name](**SMALL.get(name, {}), **params)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Return a fitted classifier with its header and tensors, fitted only once."""
    directory = tmp_path_factory.mktemp("saved")

    @cache
    def of(name):
        model = make(name).fit(X, Y)
        save(model, directory / f"{name}.homi")
        return model, *opened(directory / f"{name}.homi")

    return of


def back(model, directory):
    save(model, directory / "model.homi")
    return load_model(directory / "model.homi")


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_a_loaded_classifier_predicts_the_same_bytes(name, tmp_path):
    model = make(name).fit(X[:40], Y[:40])
    loaded = back(model, tmp_path)
    assert type(loaded) is type(model)
    assert loaded.get_params() == model.get_params()
    assert_same_responses(model, loaded, X)
    np.testing.assert_array_equal(loaded.ranking_scores(X), model.ranking_scores(X))
    public = {key for key in vars(model) if key.endswith("_") and key[0] != "_"}
    assert public - {"filled_labels_"} <= set(vars(loaded))


@pytest.mark.parametrize("name", OTHERS)
def test_sparse_rows_classes_and_names_survive(name, tmp_path):
    rows = sparse.csr_array(np.where(X > 0, X, 0))
    y = np.array(["no", "yes"])[Y[:, 0].astype(int)]
    model = make(name).fit(rows, y)
    loaded = back(model, tmp_path)
    assert_same_responses(model, loaded, rows)
    assert loaded.classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize("name", ["MLkNN", "LIFT", "BinaryRelevance"])
def test_tuned_thresholds_around_any_classifier(name, tmp_path):
    model = TunedThresholds(make(name), cv=2, random_state=0).fit(X, Y)
    assert_same_responses(model, back(model, tmp_path), X)


@pytest.mark.parametrize("name", OTHERS)
def test_constant_labels_and_unscaled_features_survive(name, tmp_path):
    params = {"standardize": False} if "standardize" in make(name).get_params() else {}
    labels = np.column_stack([Y[:, :2], np.zeros(50), np.ones(50)])
    model = make(name, **params).fit(X, labels)
    assert_same_responses(model, back(model, tmp_path), X)


@pytest.mark.parametrize(
    "name", ["BinaryRelevance", "ClassifierChain", "EnsembleOfChains", "RAKEL"]
)
def test_classifiers_of_others_are_refused_with_the_reason(name, tmp_path):
    model = make(name, estimator=LogisticRegression()).fit(X, Y)
    with pytest.raises(ModelFileError, match=r"estimator=Log.*fit it with"):
        save(model, tmp_path / "model.homi")
    assert not list(tmp_path.iterdir())


def spoiled(tensors):
    """Each tensor spoiled in several ways, by name."""
    for name, value in tensors.items():
        others = {"shape": value.ravel()[:-1], "type": value.astype(str) == "1"}
        if value.dtype.kind == "f":
            others["NaN"] = np.full_like(value, np.nan)
        if value.dtype.kind == "i":
            others["large"] = np.full_like(value, 10**6)
            others["negative"] = np.full_like(value, -1)
        if value.dtype == bool:
            del others["type"]
        for how, other in others.items():
            if other.size:
                yield name, how, other


@pytest.mark.parametrize("name", OTHERS)
def test_hostile_tensors_are_refused(name, saved, tmp_path):
    _, header, tensors = saved(name)
    some = dict(list(tensors.items())[:9])
    for key, how, other in spoiled(some):
        put_together(tmp_path / "bad.homi", header, {**tensors, key: other})
        with pytest.raises(ModelFileError):
            pytest.fail(f"{key}, {how}: {load_model(tmp_path / 'bad.homi')}")
    for key in some:
        rest = {name: value for name, value in tensors.items() if name != key}
        put_together(tmp_path / "bad.homi", header, rest)
        with pytest.raises(ModelFileError):
            load_model(tmp_path / "bad.homi")


def values(node, path=()):
    """Yield the path of every value of a header's state."""
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in items:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from values(value, (*path, key))


@pytest.mark.parametrize("name", OTHERS)
def test_hostile_headers_are_refused(name, saved, tmp_path):
    model, header, tensors = saved(name)
    state = header["model"]["fitted"]["state"] or {}
    for path, bad in product(list(values(state))[:8], (None, -1, "x")):
        changed = copy.deepcopy(header)
        place = changed["model"]["fitted"]["state"]
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = bad
        put_together(tmp_path / "bad.homi", changed, tensors)
        try:
            loaded = load_model(tmp_path / "bad.homi")
        except ModelFileError:
            continue
        # What is not refused does no harm: the order of a matrix in memory, or a flag.
        assert_same_responses(model, loaded, X)
