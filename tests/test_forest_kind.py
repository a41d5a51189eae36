"""Forests in model files and in ONNX: the same log-odds, and no trust in files."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from conftest import random_rows
from homi import HOMI, HOMICV
from homi.explorer.facts import facts
from homi.io import export_onnx, load_model, save
from homi.io.errors import ModelFileError
from homi.io.homi_kinds import dump_forest, load_forest
from homi.io.onnx_forest import forest_log_odds
from homi.io.tensors import Out, Source
from homi.model.forest import Forest
from homi.model.kernel_map import distances
from test_forest import HOSTILE, NEW, X, Y


@pytest.fixture(scope="module")
def forest():
    return Forest.fit(X, Y, n_trees=20, seed=3)


def tensors_of(forest):
    tensors = {}
    dump_forest(forest, Out(tensors).under("forest"))
    return tensors


def loaded(tensors, n_features=7, n_labels=5):
    source = Source(tensors)
    found = load_forest(source.under("forest"), n_features, n_labels)
    source.check_all_taken()
    return found


def test_there_and_back(forest):
    again = loaded(tensors_of(forest))
    np.testing.assert_array_equal(again.log_odds(NEW), forest.log_odds(NEW))
    np.testing.assert_array_equal(
        again.contributions(NEW[0]).features, forest.contributions(NEW[0]).features
    )


@pytest.mark.parametrize("sizes", [(6, 5), (8, 5), (7, 4), (7, 6)])
def test_forests_of_another_model(sizes, forest):
    with pytest.raises(ModelFileError, match="of other features or labels"):
        loaded(tensors_of(forest), *sizes)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_tensors(name, forest):
    arrays = {k.removeprefix("forest."): v for k, v in tensors_of(forest).items()}
    HOSTILE[name](arrays)
    with pytest.raises(ModelFileError):
        loaded({f"forest.{k}": v for k, v in arrays.items()})


def exported(forest, rows, dtype=np.float64):
    """Log-odds of rows by onnxruntime."""
    pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    from homi.io.onnx_graph import Graph

    graph = Graph()
    given = "X" if dtype is np.float64 else graph.cast("X", np.float64)
    outputs = {"S": (forest_log_odds(graph, given, forest), float, forest.n_labels)}
    model = graph.model({"X": (dtype, forest.n_features)}, outputs, {})
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    (found,) = session.run(None, {"X": rows.astype(dtype)})
    return found


@pytest.mark.parametrize("n_labels", [1, 5])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_onnx_has_the_same_log_odds(dtype, n_labels):
    labels = Y[:, :n_labels]
    forest = Forest.fit(X, labels, n_trees=50, seed=1, min_samples_leaf=3)
    rows = np.vstack([X, NEW, 1e30 * X, np.zeros((1, 7))]).astype(dtype)
    expected = forest.log_odds(rows.astype(float))
    np.testing.assert_allclose(exported(forest, rows, dtype), expected, atol=1e-9)


def test_onnx_compares_rows_near_thresholds(forest):
    """Rows at a threshold, and its neighbors in double and in single precision."""
    trees = forest.trees
    bound, f = trees.threshold.astype(float), trees.feature[trees.feature >= 0]
    near = [bound, np.nextafter(bound, 9e9), np.nextafter(bound, -9e9)]
    near += [np.nextafter(trees.threshold, np.float32(side)) for side in (-9e9, 9e9)]
    rows = np.tile(X[0], (5 * len(f), 1))
    rows[np.arange(len(rows)), np.tile(f, 5)] = np.concatenate(near)
    found = exported(forest, rows)
    np.testing.assert_allclose(found, forest.log_odds(rows), atol=1e-9)


def test_onnx_of_values_beyond_single_precision():
    forest = Forest.fit(1e60 * X, Y, n_trees=5, seed=0)
    found = exported(forest, 1e60 * NEW)
    np.testing.assert_allclose(found, forest.log_odds(1e60 * NEW), atol=1e-9)


def test_onnx_of_leaves_without_labels():
    thin = Y * (np.arange(len(Y))[:, None] % 10 == 0)
    forest = Forest.fit(X, thin, n_trees=30, seed=0)
    assert (np.diff(forest.trees.leaves.indptr) == 0).any()
    np.testing.assert_allclose(exported(forest, NEW), forest.log_odds(NEW), atol=1e-9)


def test_onnx_of_real_data(data):
    rows, labels, *_ = data("emotions")
    forest = Forest.fit(rows, labels, seed=0)
    found = exported(forest, rows)
    np.testing.assert_allclose(found, forest.log_odds(rows), atol=1e-9)


def test_rows_of_one_label_in_a_model_file():
    rows, labels = random_rows(n=30, m=3, q=1)
    forest = Forest.fit(rows, labels, n_trees=3, seed=0)
    again = loaded(tensors_of(forest), 3, 1)
    np.testing.assert_array_equal(again.log_odds(rows), forest.log_odds(rows))


@pytest.fixture(scope="module")
def blend(all_trees):
    """A HOMICV with trees, and one with trees and both kernels."""
    rng = np.random.default_rng(0)
    rows = rng.uniform(size=(200, 20))
    labels = np.column_stack(
        [(rows[:, 2] > 0.3) & (rows[:, 3] > 0.3), rows[:, 4] > 0.7]
    ).astype(int)
    models = {
        "linear": HOMICV(kernels=(), trees=True).fit(rows, labels),
        "kernel": HOMICV(trees=True).fit(rows, labels),
    }
    for model in models.values():
        assert model.forest_ is not None
    assert models["kernel"].best_params_["kernel"] is not None
    return rows, labels, models


@pytest.mark.parametrize("kind", ["linear", "kernel"])
def test_a_homi_cv_with_trees_is_saved(kind, blend, tmp_path):
    rows, _, models = blend
    model = models[kind]
    save(model, tmp_path / "model.homi")
    again = load_model(tmp_path / "model.homi")
    np.testing.assert_array_equal(
        again.decision_function(rows), model.decision_function(rows)
    )
    assert again.search_report_ == model.search_report_


@pytest.mark.parametrize("kind", ["linear", "kernel"])
def test_a_homi_cv_with_trees_is_exported(kind, blend, tmp_path):
    pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    rows, _, models = blend
    export_onnx(models[kind], tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    scores, *_ = session.run(["scores"], {"X": rows})
    expected = models[kind].decision_function(rows)
    np.testing.assert_allclose(scores, expected, atol=1e-6)


@pytest.mark.parametrize("kind", ["linear", "kernel"])
def test_a_homi_cv_with_trees_is_explained(kind, blend):
    rows, labels, models = blend
    scores = models[kind].decision_function(rows)
    found = facts(models[kind], rows, labels, rows=rows[:3])
    for row, expected in zip(found.rows, scores, strict=False):
        for why in row.why:
            assert why.score == pytest.approx(expected[why.label], abs=1e-9)
            parts = why.start + sum(step.value for step in why.steps)
            assert parts == pytest.approx(why.score, abs=1e-9)


def test_the_mean_of_both_kernels(blend):
    rows, labels, _ = blend
    rates = {"gamma": 0.1, "laplacian_gamma": 0.05}
    options = {"n_components": 30, "standardize": False, "gamma": 0.0}
    model = HOMI(kernel="rbf+laplacian", kernel_params=rates, **options)
    model.fit(rows, labels)
    landmarks = rows[model._kernel_map.indices]
    K = rbf_kernel(rows, landmarks, gamma=0.1)
    K = (K + laplacian_kernel(rows, landmarks, gamma=0.05)) / 2
    np.testing.assert_allclose(model._features(rows), K, atol=1e-12)
    np.testing.assert_allclose(
        model.decision_function(rows), K @ model.coef_.T + model.intercept_
    )
    thin = np.where(rows > 0.9, rows, 0.0)
    found = distances("laplacian", sparse.csr_array(thin), sparse.csr_array(thin[:9]))
    np.testing.assert_allclose(found, distances("laplacian", thin, thin[:9]))
