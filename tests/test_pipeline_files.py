"""Pipelines of scikit-learn's steps are saved, loaded, and predict the same bytes."""

import copy
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import (
    CountVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    StandardScaler,
)

from conftest import random_rows
from homi import HOMI
from homi.io import ModelFileError, load_model, save
from homi.thresholds import TunedThresholds
from sample_files import assert_same_responses, opened, put_together

X, Y = random_rows(0, n=40, m=5, q=3)
GAPS = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
TEXTS = [f"word{i % 3} wörd{i % 5} more{i % 7}" for i in range(40)]
CODES = np.random.default_rng(1).integers(0, 3, size=(40, 5)).astype(float)
FRAME = pd.DataFrame(
    {
        "size": GAPS[:, 0],
        "age": X[:, 1],
        "city": np.array(["Rome", "Oslo", "Bonn"])[np.arange(40) % 3],
        "text": TEXTS,
        "code": np.arange(40) % 4,
    }
)
MODEL = HOMI(gamma=0.0)


def columns(**options):
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    names = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())
    return ColumnTransformer(
        [
            ("numbers", numbers, ["size", "age"]),
            ("city", names, ["city"]),
            ("code", OneHotEncoder(drop="first"), ["code"]),
            ("text", TfidfVectorizer(), "text"),
        ],
        **options,
    )


PIPELINES = {
    "StandardScaler": (make_pipeline(StandardScaler(), MODEL), X),
    "no mean": (make_pipeline(StandardScaler(with_mean=False), MODEL), X),
    "no scale": (make_pipeline(StandardScaler(with_std=False), MODEL), X),
    "gaps in a scaler": (
        make_pipeline(StandardScaler(), SimpleImputer(strategy="median"), MODEL),
        GAPS,
    ),
    "MinMaxScaler": (make_pipeline(MinMaxScaler(), MODEL), X),
    "MaxAbsScaler": (make_pipeline(MaxAbsScaler(), MODEL), X),
    "Normalizer": (make_pipeline(Normalizer(), MODEL), X),
    "SimpleImputer": (make_pipeline(SimpleImputer(), MODEL), GAPS),
    "constant": (
        make_pipeline(SimpleImputer(strategy="constant", fill_value=7.0), MODEL),
        GAPS,
    ),
    "OneHotEncoder": (make_pipeline(OneHotEncoder(), MODEL), CODES),
    "texts as categories": (
        make_pipeline(OneHotEncoder(handle_unknown="ignore"), MODEL),
        FRAME[["city", "code"]],
    ),
    "TruncatedSVD": (
        make_pipeline(TfidfVectorizer(), TruncatedSVD(3, random_state=0), MODEL),
        TEXTS,
    ),
    "counts": (make_pipeline(CountVectorizer(), TfidfTransformer(), MODEL), TEXTS),
    "union": (
        make_pipeline(
            make_union(TfidfVectorizer(), TfidfVectorizer(analyzer="char_wb")), MODEL
        ),
        TEXTS,
    ),
    "passthrough": (Pipeline([("none", "passthrough"), ("model", MODEL)]), X),
    "ColumnTransformer": (make_pipeline(columns(), MODEL), FRAME),
    "dense columns": (make_pipeline(columns(sparse_threshold=0.0), MODEL), FRAME),
    "array": (
        make_pipeline(
            ColumnTransformer(
                [("a", StandardScaler(), [0, 1]), ("b", "drop", [2])],
                remainder="passthrough",
            ),
            MODEL,
        ),
        X,
    ),
    "tuned": (
        TunedThresholds(make_pipeline(columns(), MODEL), cv=2, random_state=0),
        FRAME,
    ),
    "named output": (
        make_pipeline(StandardScaler().set_output(transform="pandas"), MODEL),
        FRAME[["age", "code"]],
    ),
}


def back(model, directory):
    save(model, directory / "model.homi")
    return load_model(directory / "model.homi")


@pytest.mark.parametrize("name", PIPELINES)
def test_a_loaded_pipeline_predicts_the_same_bytes(name, tmp_path):
    model, rows = PIPELINES[name]
    model.fit(rows, Y)
    loaded = back(model, tmp_path)
    assert_same_responses(model, loaded, rows)
    assert type(loaded.predict(rows)) is type(model.predict(rows))
    if isinstance(model, Pipeline) and name != "passthrough":
        names = model[:-1].get_feature_names_out()
        assert loaded[:-1].get_feature_names_out().tolist() == names.tolist()
        again = loaded[:-1].fit_transform(rows)  # its steps can be fitted again
        assert again.shape == model[:-1].transform(rows).shape


def test_columns_chosen_by_a_function_are_saved_by_name(tmp_path):
    chosen = ColumnTransformer(
        [("numbers", StandardScaler(), make_column_selector(dtype_include="number"))]
    )
    rows = FRAME[["age", "code", "city"]]
    model = make_pipeline(chosen, MODEL).fit(rows, Y)
    loaded = back(model, tmp_path)
    assert_same_responses(model, loaded, rows)
    assert loaded[0].transformers[0][2] == ["age", "code"]


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (FunctionTransformer(np.log1p), "a FunctionTransformer cannot.*StandardScaler"),
        (SimpleImputer(add_indicator=True), "add_indicator=True cannot"),
        (OneHotEncoder(min_frequency=2), "min_frequency cannot"),
        (ColumnTransformer([("a", StandardScaler(), slice(0, 2))]), "slice.*name them"),
        (FeatureUnion([("a", StandardScaler())], n_jobs=1), "n_jobs=None"),
        (
            ColumnTransformer([("a", "drop", [0])], remainder=StandardScaler()),
            "remainder of ColumnTransformer",
        ),
    ],
    ids=["function", "indicator", "rare", "slice", "jobs", "remainder"],
)
@pytest.mark.filterwarnings("ignore")
def test_what_cannot_be_saved_says_why(step, reason, tmp_path):
    model = make_pipeline(step, MODEL).fit(np.abs(CODES), Y)
    with pytest.raises(ModelFileError, match=reason):
        save(model, tmp_path / "model.homi")
    assert not list(tmp_path.iterdir())


@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_scaler_of_columns_without_values_is_refused_when_saved(tmp_path):
    rows = GAPS.copy()
    rows[:, 0] = np.nan
    imputer = SimpleImputer(keep_empty_features=True)
    model = make_pipeline(StandardScaler(), imputer, MODEL).fit(rows, Y)
    with pytest.raises(ModelFileError, match="mean_ holds NaN"):
        save(model, tmp_path / "model.homi")


def paths(node, path=()):
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in items:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from paths(value, (*path, key))


@pytest.mark.parametrize("name", ["ColumnTransformer", "TruncatedSVD", "MinMaxScaler"])
def test_hostile_headers_are_refused_or_harmless(name, tmp_path):
    model, rows = PIPELINES[name]
    save(model.fit(rows, Y), tmp_path / "model.homi")
    header, tensors = opened(tmp_path / "model.homi")
    before = header["model"]["steps"][:-1]
    chosen = [path for path in paths(before) if "params" not in path]
    for path, bad in product(chosen[::3], (None, -1, "x")):
        changed = copy.deepcopy(header)
        place = changed["model"]["steps"]
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = bad
        put_together(tmp_path / "bad.homi", changed, tensors)
        try:
            loaded = load_model(tmp_path / "bad.homi")
        except ModelFileError:
            continue
        assert isinstance(loaded, Pipeline)


def test_classifiers_and_files_are_refused_as_steps(tmp_path):
    model = make_pipeline(CountVectorizer(), MODEL).fit(TEXTS, Y)
    save(model, tmp_path / "model.homi")
    header, tensors = opened(tmp_path / "model.homi")
    steps = header["model"]["steps"]
    steps[0][1]["params"]["input"] = "filename"
    put_together(tmp_path / "bad.homi", header, tensors)
    with pytest.raises(ModelFileError, match="reads files"):
        load_model(tmp_path / "bad.homi")
    steps[0][1] = {"kind": "HOMI", "params": steps[1][1]["params"]}
    put_together(tmp_path / "bad.homi", header, tensors)
    with pytest.raises(ModelFileError, match="transforms nothing"):
        load_model(tmp_path / "bad.homi")


@pytest.mark.parametrize("bad", [np.zeros(5), np.full(5, np.nan), np.ones(4)])
def test_hostile_scales_are_refused(bad, tmp_path):
    save(make_pipeline(StandardScaler(), MODEL).fit(X, Y), tmp_path / "model.homi")
    header, tensors = opened(tmp_path / "model.homi")
    (name,) = [key for key in tensors if key.endswith("scale_")]
    put_together(tmp_path / "bad.homi", header, {**tensors, name: bad})
    with pytest.raises(ModelFileError):
        load_model(tmp_path / "bad.homi")
