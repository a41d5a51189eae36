"""A forest as arrays: scikit-learn's predictions, and no trust in what is read."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, logit
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from conftest import random_rows
from homi import HOMI, HOMICV
from homi.explorer.facts import facts
from homi.io import export_onnx, load_model, save
from homi.io.errors import ModelFileError
from homi.io.homi_kinds import dump_forest, load_forest
from homi.io.onnx_forest import forest_log_odds
from homi.io.tensors import Out, Source
from homi.model.forest import SHRINKAGE, Forest
from homi.model.kernel_map import distances
from homi.model.tree_growth import MAX_DEPTH

X, Y = random_rows(n=150, m=7, q=5)
NEW = random_rows(seed=1, n=40, m=7)[0]
THIN = np.where(np.abs(X) > 1, X, 0.0)


@pytest.fixture(scope="module")
def forest():
    return Forest.fit(X, Y, n_trees=20, seed=3)


def shrunk(forest, p):
    return logit((1 - SHRINKAGE) * p + SHRINKAGE * forest.share)


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize(
    ("splitter", "twin"),
    [("random", ExtraTreesRegressor), ("best", RandomForestRegressor)],
)
def test_it_is_the_forest_of_scikit_learn(form, splitter, twin):
    rows = sparse.csr_array(THIN) if form == "sparse" else X
    forest = Forest.fit(rows, Y, n_trees=60, seed=3, splitter=splitter)
    twin = twin(
        60, bootstrap=True, oob_score=True, max_features="sqrt", random_state=3
    ).fit(rows, Y)
    for new in (rows, NEW, sparse.csr_array(NEW)):
        np.testing.assert_allclose(
            forest.log_odds(new), shrunk(forest, twin.predict(new)), atol=1e-6
        )
    np.testing.assert_allclose(
        forest.oob_log_odds, shrunk(forest, twin.oob_prediction_), atol=1e-6
    )


@pytest.mark.parametrize("share", [0.02, 0.3])
def test_sparse_and_dense_rows_give_equal_forests(share):
    rng = np.random.default_rng(0)
    rows = np.where(rng.random((150, 30)) < share, rng.normal(size=(150, 30)), 0.0)
    labels = (rows[:, :3] + rows[:, 3:6] > 0).astype(float)
    forests = [
        Forest.fit(form(rows), labels, n_trees=10, seed=0)
        for form in (np.asarray, sparse.csr_array, sparse.csc_array)
    ]
    for forest in forests[1:]:
        for name, value in forests[0].arrays().items():
            np.testing.assert_array_equal(forest.arrays()[name], value)
        np.testing.assert_array_equal(forest.oob_log_odds, forests[0].oob_log_odds)


def test_rows_come_in_blocks(forest, monkeypatch):
    whole = forest.log_odds(X)
    monkeypatch.setattr("homi.model.forest._BLOCK", 10_000)
    np.testing.assert_array_equal(forest.log_odds(X), whole)
    np.testing.assert_array_equal(forest.log_odds(X[:1]), whole[:1])


def test_equal_seeds_give_equal_forests(forest):
    again = Forest.fit(X, Y, n_trees=20, seed=3, n_jobs=2)
    for name, value in forest.arrays().items():
        np.testing.assert_array_equal(again.arrays()[name], value)
    np.testing.assert_array_equal(again.oob_log_odds, forest.oob_log_odds)
    other = Forest.fit(X, Y, n_trees=20, seed=4)
    assert (other.oob_log_odds != forest.oob_log_odds).any()


def test_a_row_of_every_tree_has_the_share_of_each_label():
    forest = Forest.fit(X, Y, n_trees=1, seed=0)
    seen = forest.oob_log_odds == logit(forest.share)
    assert 0.5 < seen.all(axis=1).mean() < 0.75


def test_labels_that_are_constant():
    constant = np.column_stack([Y[:, 0], np.zeros(len(Y)), np.ones(len(Y))])
    forest = Forest.fit(X, constant, n_trees=20, seed=0)
    for log_odds in (forest.log_odds(NEW), forest.oob_log_odds):
        assert np.isfinite(log_odds).all()
        assert (log_odds[:, 1] < -5).all()
        assert (log_odds[:, 2] > 5).all()


def test_rows_without_weight_are_not_seen():
    weights = np.where(np.arange(len(X)) < 100, 2.0, 0.0)
    forest = Forest.fit(X, Y, n_trees=20, seed=0, sample_weight=weights)
    without = Forest.fit(X[:100], Y[:100], n_trees=20, seed=0)
    np.testing.assert_allclose(forest.log_odds(NEW), without.log_odds(NEW))
    # No tree has seen them: they are new rows.
    np.testing.assert_array_equal(forest.oob_log_odds[100:], forest.log_odds(X)[100:])


def test_weights_count():
    weights = np.where(Y[:, 0] > 0, 100.0, 1.0)
    options = {"n_trees": 20, "seed": 0, "min_samples_leaf": 20}
    forest = Forest.fit(X, Y, sample_weight=weights, **options)
    plain = Forest.fit(X, Y, **options)
    p, q = expit(forest.log_odds(NEW)[:, 0]), expit(plain.log_odds(NEW)[:, 0])
    assert p.mean() > q.mean() + 0.05


def test_values_beyond_single_precision():
    large = X * 1e60
    forest = Forest.fit(large, Y, n_trees=5, seed=0)
    assert np.isfinite(forest.log_odds(large)).all()
    np.testing.assert_array_equal(forest.log_odds(10 * large), forest.log_odds(large))


def test_thresholds_decide_as_in_double_precision():
    """A threshold between two neighbors of single precision is rounded down."""
    low = np.float32(2.0)
    high = np.nextafter(low, np.float32(3.0))
    rows = np.array([[low], [high]] * 20, dtype=np.float64)
    labels = np.array([[0.0], [1.0]] * 20)
    forest = Forest.fit(rows, labels, n_trees=10, seed=0)
    assert (forest.log_odds(rows[1::2]) > 3).all()
    assert (forest.log_odds(rows[::2]) < -3).all()


def test_arrays_there_and_back(forest):
    again = Forest.from_arrays(forest.arrays())
    np.testing.assert_array_equal(again.log_odds(NEW), forest.log_odds(NEW))
    for name, value in forest.arrays().items():
        assert again.arrays()[name].dtype == value.dtype
        np.testing.assert_array_equal(again.arrays()[name], value)
    assert again.oob_log_odds is None


def put(name, index, value):
    def change(arrays):
        arrays[name] = arrays[name].copy()
        arrays[name][index] = value

    return change


def chain(arrays):
    """One tree in which each node has a leaf and one more node."""
    depth = MAX_DEPTH + 1
    n_leaves = depth + 1
    feature = np.zeros(2 * depth + 1, dtype=np.int32)
    feature[1::2], feature[-1] = -1, -1
    arrays |= {
        "sizes": np.array([1, 7]),
        "feature": feature,
        "threshold": np.zeros(depth, dtype=np.float32),
        "weight": np.ones(n_leaves, dtype=np.float32),
        "end": np.zeros(n_leaves, dtype=np.int64),
        "value": np.zeros(0, dtype=np.float32),
        "label": np.zeros(0, dtype=np.int32),
    }


HOSTILE = {
    "no array": lambda a: a.pop("share"),
    "one too many": lambda a: a.update(more=np.zeros(1)),
    "a pickle": lambda a: a.update(share=np.array([None])),
    "another type": lambda a: a.update(label=a["label"].astype(np.int64)),
    "a table": lambda a: a.update(value=a["value"][None]),
    "no size": lambda a: a.update(sizes=a["sizes"][:1]),
    "no trees": put("sizes", 0, 0),
    "too many trees": put("sizes", 0, 2**62),
    "one more tree": put("sizes", 0, 21),
    "fewer features": put("sizes", 1, 6),
    "an unknown feature": put("feature", 0, 7),
    "a leaf of another kind": put("feature", -1, -2),
    "a leaf with children": put("feature", -1, 0),
    "a node that is its own parent": lambda a: a.update(feature=a["feature"][::-1]),
    "a chain": chain,
    "no threshold": lambda a: a.update(threshold=a["threshold"][1:]),
    "NaN": put("threshold", 0, np.nan),
    "an infinite threshold": put("threshold", 0, np.inf),
    "a share of 0": put("share", 0, 0.0),
    "a share of NaN": put("share", 0, np.nan),
    "no labels": lambda a: a.update(share=np.zeros(0)),
    "fewer labels": lambda a: a.update(share=a["share"][:-1]),
    "an unknown label": put("label", 0, 5),
    "a negative label": put("label", 0, -1),
    "a label twice": lambda a: a.update(label=np.zeros_like(a["label"])),
    "ends that fall": lambda a: a.update(end=a["end"][::-1]),
    "a negative end": put("end", 0, -1),
    "an end beyond": put("end", -1, 2**40),
    "no end": lambda a: a.update(end=a["end"][:-1]),
    "a value too few": lambda a: a.update(value=a["value"][:-1]),
    "a probability of 0": put("value", 0, 0.0),
    "a probability of 2": put("value", 0, 2.0),
    "a probability of NaN": put("value", 0, np.nan),
    "a weight of 0": put("weight", 0, 0.0),
    "an infinite weight": put("weight", 0, np.inf),
    "a weight too few": lambda a: a.update(weight=a["weight"][:-1]),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_arrays_of_no_forest(name, forest):
    arrays = forest.arrays()
    HOSTILE[name](arrays)
    with pytest.raises(ValueError, match=r"the forest (has|compares|is)"):
        Forest.from_arrays(arrays)


def test_flipped_bits(forest):
    """Arrays with a bit flipped are refused, or are those of another forest."""
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(300):
        arrays = {name: value.copy() for name, value in forest.arrays().items()}
        name = rng.choice(list(arrays))
        data = arrays[name].view(np.uint8)
        data[rng.integers(len(data))] ^= 1 << rng.integers(8)
        try:
            other = Forest.from_arrays(arrays)
        except ValueError:
            refused += 1
            continue
        if other.n_features != 7:
            with pytest.raises(ValueError, match="7 features, but the forest has"):
                other.log_odds(NEW)
            with pytest.raises(ValueError, match="7 features, but the forest has"):
                other.contributions(NEW[0])
            continue
        assert np.isfinite(other.log_odds(NEW[:3])).all()
        assert np.isfinite(other.contributions(NEW[0]).features).all()
    assert 50 < refused < 250


def test_no_rows(forest):
    assert forest.log_odds(X[:0]).shape == (0, 5)
    assert forest.log_odds(sparse.csr_array(X[:0])).shape == (0, 5)


def test_a_deep_tree_is_read(forest, monkeypatch):
    arrays = forest.arrays()
    chain(arrays)
    monkeypatch.setattr("homi.model.forest_arrays.MAX_DEPTH", MAX_DEPTH + 1)
    deep = Forest.from_arrays(arrays)
    assert np.isfinite(deep.log_odds(NEW)).all()


def literal_changes(trees, x):
    """Shares at the roots, and changes of shares by feature, node by node."""
    children = trees.n_trees + 2 * np.cumsum(trees.feature >= 0) - 2
    thresholds = iter(trees.threshold)
    bound = [next(thresholds) if f >= 0 else None for f in trees.feature]
    number = np.cumsum(trees.feature < 0) - 1
    values = trees.leaves.toarray()

    def leaves_below(node):
        if trees.feature[node] < 0:
            return [number[node]]
        child = children[node]
        return leaves_below(child) + leaves_below(child + 1)

    def share(node):
        below = leaves_below(node)
        return np.average(values[below], axis=0, weights=trees.weight[below])

    start, features = 0.0, np.zeros((len(x), values.shape[1]))
    for node in range(trees.n_trees):
        start = start + share(node) / trees.n_trees
        while (f := trees.feature[node]) >= 0:
            child = children[node] + (np.float32(x[f]) > bound[node])
            features[f] += (share(child) - share(node)) / trees.n_trees
            node = child
    return start, features


def test_contributions_are_their_definition(forest):
    leaves = forest.trees.apply(NEW[:3].astype(np.float32))
    changes = forest.trees.changes(leaves, 7)
    for x, (root, features) in zip(NEW, changes, strict=False):
        start, expected = literal_changes(forest.trees, x)
        np.testing.assert_allclose(root, start, rtol=1e-12)
        np.testing.assert_allclose(features, expected, rtol=1e-9, atol=1e-13)
        found = forest.contributions(x)
        scale = found.features / features
        assert (scale > 0).all()
        np.testing.assert_allclose(scale, np.tile(scale[0], (7, 1)))
        np.testing.assert_allclose(found.start, forest.as_log_odds(start), rtol=1e-12)


@pytest.mark.parametrize("weights", [None, np.linspace(0.0, 3.0, len(X))])
def test_contributions_sum_to_the_log_odds(weights):
    forest = Forest.fit(X, Y, n_trees=20, seed=0, sample_weight=weights)
    every = forest.contributions_of(NEW)
    for found, log_odds in zip(every, forest.log_odds(NEW), strict=True):
        total = found.start + found.features.sum(axis=0)
        np.testing.assert_allclose(total, log_odds, rtol=1e-9, atol=1e-9)


def test_contributions_where_nothing_changes():
    """Trees of one node, and labels that all rows have."""
    labels = np.column_stack([np.ones(len(X)), Y[:, 0]])
    for options in ({}, {"min_samples_leaf": len(X)}):
        forest = Forest.fit(X, labels, n_trees=5, seed=0, **options)
        found = forest.contributions(NEW[0])
        total = found.start + found.features.sum(axis=0)
        np.testing.assert_allclose(total, forest.log_odds(NEW[:1])[0], rtol=1e-12)
        assert not found.features[:, 0].any()


# Forests in model files and in ONNX: the same log-odds, and no trust in files.


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
    landmarks = rows[model.kernel_map_.indices]
    K = rbf_kernel(rows, landmarks, gamma=0.1)
    K = (K + laplacian_kernel(rows, landmarks, gamma=0.05)) / 2
    np.testing.assert_allclose(model._features(rows), K, atol=1e-12)
    np.testing.assert_allclose(
        model.decision_function(rows), K @ model.coef_.T + model.intercept_
    )
    thin = np.where(rows > 0.9, rows, 0.0)
    found = distances("laplacian", sparse.csr_array(thin), sparse.csr_array(thin[:9]))
    np.testing.assert_allclose(found, distances("laplacian", thin, thin[:9]))
