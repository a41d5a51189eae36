"""Columns of a file -> features: as `read` has them, and again from a model file."""

import copy

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from homi import HOMI
from homi.arrays import dense
from homi.cli.loaded_model import load_for_rows
from homi.cli.opened_file import open_file
from homi.datasets import read
from homi.io import ModelFileError, load_file, save
from homi.tables.columns import Columns
from sample_files import opened, put_together

DENSE = """@relation r
@attribute a real
@attribute color {red,green,blue}
@attribute b real
@attribute size {small,large}
@attribute flag {0,1}
@attribute y {0,1}
@data
1.5,green,?,small,1,1
?,?,2.0,large,0,0
0.5,green,4.0,?,1,1
0.0,red,7.0,large,?,0
"""
SPARSE = DENSE[: DENSE.index("@data")] + (
    "@data\n{0 1.5,1 green,2 ?,5 1}\n{0 ?,2 2.0,3 large}\n{1 ?,2 4.0,4 1,5 1}\n{3 ?}\n"
)
FILES = {"dense": DENSE, "sparse": SPARSE}


def table(tmp_path, form, text=None):
    path = tmp_path / f"{form}.arff"
    path.write_text(FILES[form] if text is None else text)
    return open_file(path).take([0, 1, 2, 3, 4]), path


@pytest.mark.parametrize("form", FILES)
@pytest.mark.parametrize("nominal", ["onehot", "codes"])
@pytest.mark.parametrize("missing", ["mean", "median", "most_frequent"])
def test_features_are_those_of_read(form, nominal, missing, tmp_path):
    given, path = table(tmp_path, form)
    columns = Columns.fit(given, nominal, missing)
    found = columns.transform(given)
    # read takes every nominal column for words, the command takes {0,1} for numbers.
    parts = [
        read(path, "last 1", nominal=n, missing=missing) for n in (nominal, "codes")
    ]
    assert sparse.issparse(found) is (form == "sparse")
    by_name = {
        name: dense(part.X)[:, j]
        for part in parts
        for j, name in enumerate(part.feature_names)
    }
    names = [name for name in columns.feature_names if name != "flag"]
    assert len(names) == (7 if nominal == "onehot" else 4)
    for j, name in enumerate(columns.feature_names):
        if name in names:
            np.testing.assert_array_equal(dense(found)[:, j], by_name[name], name)


def test_zero_is_for_numbers(tmp_path):
    given, _ = table(tmp_path, "dense")
    columns = Columns.fit(given, "onehot", "zero")
    found = dict(zip(columns.feature_names, columns.transform(given).T, strict=True))
    np.testing.assert_array_equal(found["a"], [1.5, 0, 0.5, 0])
    np.testing.assert_array_equal(found["color=green"], [1, 1, 1, 0])


def test_features_keep_the_order_of_the_columns(tmp_path):
    columns = Columns.fit(table(tmp_path, "dense")[0], "onehot", "mean")
    colors = ["color=red", "color=green", "color=blue"]
    sizes = ["size=small", "size=large"]
    assert columns.feature_names == ["a", *colors, "b", *sizes, "flag"]


def saved(tmp_path, columns, X):
    Y = np.array([[0, 1], [1, 0], [1, 1], [0, 0]])
    path = tmp_path / "model.homi"
    model = HOMI(gamma=0.0).fit(X, Y)
    kept = columns.to_dict() | {"dropped": []}
    save(model, path, preprocessing=kept, transformer=columns.transformer)
    return path


@pytest.mark.parametrize("form", FILES)
@pytest.mark.parametrize("nominal", ["onehot", "codes"])
@pytest.mark.parametrize("missing", ["mean", "median", "most_frequent", "zero"])
def test_a_model_file_keeps_it(form, nominal, missing, tmp_path):
    given, _ = table(tmp_path, form)
    columns = Columns.fit(given, nominal, missing)
    expected = columns.transform(given)
    file = saved(tmp_path, columns, expected)
    assert opened(file)[0]["format"] == 2
    loaded = load_for_rows(file)
    np.testing.assert_array_equal(
        dense(loaded.columns.transform(given)), dense(expected)
    )
    assert loaded.columns.to_dict() == columns.to_dict()
    # The model takes files of the other kind as well.
    other, _ = table(tmp_path, "sparse" if form == "dense" else "dense")
    one, two = (dense(found.transform(other)) for found in (columns, loaded.columns))
    np.testing.assert_array_equal(one, two)


def test_sparse_rows_stay_sparse(tmp_path):
    """Also where every imputed value differs from 0."""
    given = table(tmp_path, "sparse")[0].take([0, 2])
    columns = Columns.fit(given, "onehot", "mean")
    expected = columns.transform(given)
    assert sparse.issparse(expected)
    assert columns.transformer.named_transformers_["numbers"].statistics_.all()
    file = saved(tmp_path, columns, expected)
    found = load_for_rows(file).columns.transform(given)
    assert sparse.issparse(found)
    old = columns.to_dict() | {"columns": [["a", None, 0.5], ["b", None, 2.0]]}
    restored = Columns.restore_format_1(old, is_sparse=True)
    assert sparse.issparse(restored.transform(given))
    np.testing.assert_array_equal(dense(restored.transform(given)), dense(expected))


def test_without_words_and_gaps_nothing_is_transformed(tmp_path):
    given = table(tmp_path, "dense")[0].take([4])
    given.values[np.isnan(given.values)] = 1.0
    columns = Columns.fit(given, "onehot", "error")
    assert columns.transformer is None
    file = saved(tmp_path, columns, columns.transform(given))
    assert opened(file)[0]["format"] == 1
    assert load_for_rows(file).columns == columns


def test_python_gets_the_transformer(tmp_path):
    given, _ = table(tmp_path, "dense")
    columns = Columns.fit(given, "onehot", "mean")
    file = saved(tmp_path, columns, columns.transform(given))
    found = load_file(file).transformer
    assert isinstance(found, ColumnTransformer)
    numbers = columns.transformer.transform(np.zeros((2, 5)))
    np.testing.assert_array_equal(found.transform(np.zeros((2, 5))), numbers)


X = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0]])
ENCODER = OneHotEncoder(categories=[[0.0, 1.0]] * 2, handle_unknown="ignore")
IMPUTER = SimpleImputer(keep_empty_features=True)


@pytest.mark.parametrize(
    "steps",
    [
        [("a", IMPUTER, ["x", "y"])],
        [("a", IMPUTER, slice(0, 2))],
        [("a", IMPUTER, lambda X: [0, 1])],
        [("a", IMPUTER, [0])],
        [("a", IMPUTER, [0, 1]), ("b", IMPUTER, [1])],
        [("a", StandardScaler(), [0, 1])],
        [("a", SimpleImputer(), [0, 1])],
        [("a", SimpleImputer(missing_values=-1, keep_empty_features=True), [0, 1])],
        [("a", make_pipeline(ENCODER, IMPUTER), [0, 1])],
        [("a", make_pipeline(make_pipeline(IMPUTER)), [0, 1])],
        [("a", make_pipeline("passthrough", IMPUTER), [0, 1])],
        [("a", SimpleImputer(strategy=np.max, keep_empty_features=True), [0, 1])],
        [("a", OneHotEncoder(), [0, 1])],
        [("a", FunctionTransformer(np.exp), [0, 1])],
        [("a", make_pipeline(IMPUTER, FunctionTransformer(np.exp)), [0, 1])],
    ],
)
def test_other_transformers_are_not_saved(steps, tmp_path):
    model = HOMI(gamma=0.0).fit(X, X)
    rows = pd.DataFrame(X, columns=["x", "y"]) if "'x'" in str(steps) else X
    transformer = ColumnTransformer(steps).fit(rows)
    with pytest.raises(ModelFileError, match=r"ColumnTransformer|model file"):
        save(model, tmp_path / "m.homi", transformer=transformer)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "options", [{"remainder": "passthrough"}, {"transformer_weights": {"a": 2}}]
)
def test_other_options_are_not_saved(options, tmp_path):
    transformer = ColumnTransformer([("a", IMPUTER, [0, 1])], **options).fit(X)
    with pytest.raises(ModelFileError, match="remainder or weights"):
        save(HOMI(gamma=0.0).fit(X, X), tmp_path / "m.homi", transformer=transformer)


def test_a_transformer_of_python_is_saved(tmp_path):
    """One that the command would not make: several encoders, and a column dropped."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 3, (30, 5)).astype(float)
    rows[rng.random(rows.shape) < 0.2] = np.nan
    categories = [np.arange(3.0)] * 2
    encoder = OneHotEncoder(
        categories=categories, handle_unknown="ignore", dtype=np.float32
    )
    imputer = SimpleImputer(strategy="median", keep_empty_features=True)
    transformer = ColumnTransformer(
        [("e", encoder, [3, 0]), ("i", imputer, [4, 1]), ("d", "drop", [2])],
        verbose_feature_names_out=False,
    ).fit(rows)
    path = tmp_path / "m.homi"
    save(HOMI(gamma=0.0).fit(X, X), path, transformer=transformer)
    found = load_file(path).transformer
    expected = dense(transformer.transform(rows))
    np.testing.assert_array_equal(dense(found.transform(rows)), expected)


STEPS = ("transformer", "steps")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("transformer",), None),
        (("transformer",), {"kind": "os.system"}),
        (("transformer", "params"), None),
        (("transformer", "params", "remainder"), "passthrough"),
        (("transformer", "params", "n_jobs"), -1),
        (STEPS, []),
        ((*STEPS, 0, 0), 7),
        ((*STEPS, 0, 1), "eval"),
        ((*STEPS, 0, 1, "kind"), "StandardScaler"),
        ((*STEPS, 0, 1, "params", "strategy"), "code"),
        ((*STEPS, 0, 1, "params", "add_indicator"), True),
        ((*STEPS, 0, 2), [0, 0, 2, 4]),
        ((*STEPS, 0, 2), [0, 2, 10**12]),
        ((*STEPS, 0, 2), "abc"),
        ((*STEPS, 1, 1, "steps", 0, 1, "func"), "eval"),
        ((*STEPS, 1, 1, "steps", 2, 1, "params", "categories"), "auto"),
        ((*STEPS, 1, 1, "steps", 2, 1, "params", "categories"), [[0.0]]),
        ((*STEPS, 1, 1, "steps", 2, 1, "params", "drop"), "first"),
        (
            (*STEPS, 1, 1, "steps", 0, 1),
            {"kind": "Pipeline", "steps": [["a", {"kind": "Pipeline", "steps": []}]]},
        ),
        (("preprocessing", "dict", "columns", 0), ["a", ["r", "g"]]),
        (("preprocessing", "dict", "columns", 0), ["a"]),
        (("preprocessing", "dict", "nominal"), "codes"),
        (("preprocessing", "dict", "missing"), "guess"),
    ],
)
def test_a_strange_file_is_refused(path, value, tmp_path):
    given, _ = table(tmp_path, "dense")
    columns = Columns.fit(given, "onehot", "mean")
    header, tensors = opened(saved(tmp_path, columns, columns.transform(given)))
    header = copy.deepcopy(header)
    place = header
    for step in path[:-1]:
        place = place[step]
    assert isinstance(place, list) or path[-1] in place or "params" in path
    place[path[-1]] = value
    put_together(tmp_path / "bad.homi", header, tensors)
    with pytest.raises(ModelFileError, match=r"bad\.homi"):
        load_for_rows(tmp_path / "bad.homi")
