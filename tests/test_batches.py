"""Fits of HOMICV to more rows than its sample: chosen on some, fitted to all."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.special import expit

from homi import HOMICV
from homi.io import load_model, save
from homi.model import batches, block_features, block_scores, final_features
from homi.model.batches import RowsInMemory
from homi.model.blend import fit_log_odds
from homi.model.block_features import KernelFeatures, mapped_moments
from homi.model.block_scores import ScoreTable
from homi.model.features import RangeBasis
from homi.model.kernel_map import KernelMap, Triangle
from homi.model.scoring import negative_log_loss
from homi.moments import Moments
from homi.solver import ridge_path

QUICK = {"trees": False, "n_components": 40, "widths": [1.0], "lams": [0.1, 1.0, 10.0]}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(900, 2))
    X = Z @ rng.normal(size=(2, 25)) + 0.1 * rng.normal(size=(900, 25))
    S = np.cos(2 * Z @ rng.normal(size=(2, 5))) + 0.3 * rng.normal(size=(900, 5))
    return X, (S > 0.5).astype(int)


@pytest.fixture
def small_sample(monkeypatch):
    monkeypatch.setattr(batches, "SAMPLE_ROWS", 300)


@pytest.fixture(params=["rbf", "laplacian", None])
def model(request):
    kernels = [request.param] if request.param else []
    return HOMICV(kernels=kernels, standardize=True, calibration=None, **QUICK)


def features_of(model, X, w):
    """Features of the final model."""
    fitted = model.best_estimator_
    if fitted.kernel_map_ is None:
        gap = X - np.average(X, axis=0, weights=w)
        return gap / np.sqrt(np.average(gap**2, axis=0, weights=w))
    return Triangle(fitted.kernel_map_.triangle).features(fitted.kernel_map_(X))


def without_row(F, Y, w, i, lam, label_weight):
    """Scores of row i by ridge regressions fitted to all other rows."""
    others = np.arange(len(F)) != i
    F_rest, Y_rest, w = F[others], Y[others], w[others]
    f_mean, y_mean = (np.average(A, axis=0, weights=w) for A in (F_rest, Y_rest))
    C, R = F_rest - f_mean, Y_rest - y_mean
    scores = []
    for j, omega in enumerate(label_weight):
        G = C.T @ (w[:, None] * C) + lam / omega * np.eye(F.shape[1])
        coef = np.linalg.solve(G, C.T @ (w * R[:, j]))
        scores.append((F[i] - f_mean) @ coef + y_mean[j])
    return np.array(scores)


@pytest.mark.parametrize("weighted", [False, True])
def test_each_row_is_scored_by_the_model_of_all_other_rows(
    data, small_sample, model, weighted
):
    X, Y = data
    w = np.random.default_rng(0).integers(1, 4, len(X)).astype(float)
    w = w if weighted else np.ones(len(X))
    given = w if weighted else None
    scores = model.set_params(betas=[]).fit_held_out(X, Y, given)
    assert model.best_params_["kernel"] == (model.kernels[0] if model.kernels else None)
    F, lam = features_of(model, X, w), model.best_params_["lam"]
    omega = model.label_weight_
    omega = np.ones(Y.shape[1]) if omega is None else omega
    for i in (0, 1, 450, 899):
        expected = without_row(F, Y, w, i, lam, omega) - 0.5
        np.testing.assert_allclose(scores[i], expected, atol=1e-8)


def test_fit_and_fit_held_out_give_the_same_model(data, small_sample):
    X, Y = data
    model, other = HOMICV(**QUICK).fit(X, Y), HOMICV(**QUICK)
    scores = other.fit_held_out(X, Y)
    assert scores.shape == Y.shape
    new = X + 0.1
    assert np.array_equal(model.decision_function(new), other.decision_function(new))


def test_the_size_of_blocks_does_not_matter(data, small_sample, model, monkeypatch):
    X, Y = data
    model.set_params(calibration="sigmoid")
    scores = model.fit(X, Y).decision_function(X)
    monkeypatch.setattr(batches, "_BLOCK", 2_000)
    np.testing.assert_allclose(model.fit(X, Y).decision_function(X), scores, atol=1e-8)


def test_a_sample_chooses_nearly_as_well_as_all_rows(data, monkeypatch):
    X, Y = data
    model = HOMICV(kernels=["rbf"], **QUICK)
    whole = negative_log_loss(Y, expit(model.fit_held_out(X, Y)))
    monkeypatch.setattr(batches, "SAMPLE_ROWS", 450)
    half = negative_log_loss(Y, expit(model.fit_held_out(X, Y)))
    assert half > 1.05 * whole


def test_sparse_rows(data, small_sample):
    X, Y = data
    X = np.where(X > 0.5, X, 0.0)
    settings = {**QUICK, "standardize": False}
    dense = HOMICV(**settings).fit(X, Y)
    thin = HOMICV(**settings).fit(sparse.csr_array(X), sparse.csr_array(Y))
    np.testing.assert_allclose(
        thin.decision_function(sparse.csr_array(X)),
        dense.decision_function(X),
        atol=1e-6,
    )


def test_wide_rows_are_fitted_in_their_leading_directions(small_sample, monkeypatch):
    monkeypatch.setattr(final_features, "_MOST_FEATURES", 30)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 60)) * 0.8 ** np.arange(60)
    Y = (X[:, :4] + 0.1 * rng.normal(size=(700, 4)) > 0.3).astype(int)
    settings = QUICK | {"kernels": [], "standardize": False}
    model = HOMICV(**settings)
    scores = model.fit_held_out(X, Y)
    assert np.mean((scores > 0) == Y) > 0.9
    assert model.best_estimator_.coef_.shape == (4, 60)
    monkeypatch.setattr(final_features, "_MOST_FEATURES", 100)
    full = HOMICV(**settings).fit_held_out(X, Y)
    np.testing.assert_allclose(expit(scores), expit(full), atol=0.02)


def test_a_range_basis_is_that_of_a_singular_value_decomposition():
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.normal(size=(200, 50)) * 0.5 ** np.arange(50))
    scale = rng.random(50) + 0.5
    Q = RangeBasis(X, scale, 20, seed=0).written_out()
    np.testing.assert_allclose(Q.T @ Q, np.eye(20), atol=1e-12)
    leading = np.linalg.svd(X.toarray() / scale)[2][:8]
    np.testing.assert_allclose(np.linalg.norm(leading @ Q, axis=1), 1.0, atol=1e-6)


def test_the_report_has_the_rows_of_each_stage(data, small_sample):
    report = HOMICV(**QUICK).fit(*data).search_report_
    rows = dict(zip(report["stage"], report["rows"], strict=True))
    assert rows["features"] == 300
    assert rows["moments"] == rows["held-out scores"] == 900
    assert rows["penalty"] == 300
    assert report["note"][0] == (
        "laplacian is not tried: it would double the time of the fit"
    )


def test_few_features_keep_the_laplacian(data, small_sample):
    X, Y = data
    model = HOMICV(**QUICK).fit(X[:, :10], Y)
    kernels = {params["kernel"] for params in model.cv_results_["params"]}
    assert "laplacian" in kernels
    assert set(model.search_report_["note"]) == {""}


def test_a_graph_takes_all_rows(data, small_sample):
    model = HOMICV(gammas=[0.1], n_neighbors=5, kernels=[], **QUICK).fit(*data)
    assert "fit" in model.search_report_["stage"]
    assert 900 in model.search_report_["rows"]


def test_trees_of_the_sample_hold_out_its_rows(data, small_sample):
    X, Y = data
    model = HOMICV(**{**QUICK, "trees": "auto", "kernels": []})
    held_out = model.fit_held_out(X, Y)
    assert model.forest_ is not None
    inside = np.isin(np.arange(900), batches.sample_places(900, model._seed(), 300))
    hits = (held_out > 0) == Y
    assert abs(hits[inside].mean() - hits[~inside].mean()) < 0.03
    # Trees have seen the labels of their rows, and answer with them.
    fitted = (model.decision_function(X) > 0) == Y
    assert fitted[inside].mean() > hits[inside].mean() + 0.05


def test_trees_can_be_grown_of_all_rows(data, small_sample):
    X, Y = data
    model = HOMICV(**{**QUICK, "trees": True, "kernels": []})
    scores = model.fit_held_out(X, Y)
    assert "trees" in model.search_report_["stage"]
    assert scores.shape == Y.shape


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("even", [1e-9, 0.5])
def test_moments_of_blocks_are_those_of_all_features(data, monkeypatch, weighted, even):
    X, Y = data
    monkeypatch.setattr(batches, "_BLOCK", 2_000)
    w = np.random.default_rng(0).random(len(X)) if weighted else None
    rng = np.random.RandomState(0)
    kernel_map = KernelMap.fit(X, "rbf", 50, {}, standardize=True, rng=rng)
    monkeypatch.setattr(block_features, "_EVEN", even)
    features = KernelFeatures(kernel_map)
    assert (len(features._ends) > 2) == (even == 0.5)
    near = features(X[:9]).mean(axis=0)
    found = mapped_moments(X, Y, w, 0, features=features, near=near)
    found = features.from_blocks(found)
    Q = Triangle(kernel_map.triangle).written_out()
    expected = Moments.from_rows(kernel_map(X) @ Q, Y, w)
    for name in ("n", "x_mean", "y_mean", "Sxx", "Sxy", "Syy"):
        np.testing.assert_allclose(
            getattr(found, name), getattr(expected, name), atol=1e-9
        )


def test_log_odds_of_a_table_are_those_of_all_scores():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(50_000, 3)) * [0.1, 0.2, 1.0]
    Y = (rng.random(scores.shape) < expit([20, 5, 2] * scores - [3, 1, 6])).astype(
        float
    )
    table = ScoreTable.empty(scores[:2_000])
    for start in range(0, 50_000, 7_001):
        rows = slice(start, start + 7_001)
        table.add(scores[rows], Y[rows], None, start)
    exact, found = fit_log_odds(scores, Y), fit_log_odds(*table.points())
    gap = expit(found(scores)) - expit(exact(scores))
    assert np.abs(gap).max() < 1e-4


def test_a_table_keeps_weights_means_and_halves():
    rng = np.random.default_rng(0)
    scores, w = rng.random((101, 2)), rng.random(101)
    Y = (rng.random((101, 2)) < 0.3).astype(float)
    table = ScoreTable.empty(scores)
    table.add(scores[:50], Y[:50], w[:50], 0)
    table.add(scores[50:], Y[50:], w[50:], 50)
    points, labels, weights = table.points()
    for parity in (0, 1):
        for label in (0, 1):
            rows = (np.arange(101) % 2 == parity)[:, None] & (label == Y)
            cells = weights[parity::2] * (labels[parity::2] == label)
            np.testing.assert_allclose(cells.sum(0), (w[:, None] * rows).sum(0))
            np.testing.assert_allclose(
                (cells * points[parity::2]).sum(0), (w[:, None] * rows * scores).sum(0)
            )


def test_random_projections_estimate_leverages(data, monkeypatch):
    F = np.random.default_rng(0).normal(size=(900, 30)) @ np.diag(np.arange(1.0, 31.0))
    F -= F.mean(axis=0)
    path = ridge_path(Moments.from_rows(F, data[1]))
    lams = np.array([10.0, 1e4])
    kept = 1.0 / (path.values[:, None] + lams)
    expected = [
        np.einsum("ij,ij->i", F @ np.linalg.inv(F.T @ F + lam * np.eye(30)), F)
        for lam in lams
    ]
    V, D = block_scores._leverage_factor(path, kept, 0)
    np.testing.assert_allclose((F @ V) ** 2 @ D, np.transpose(expected))
    monkeypatch.setattr(block_scores, "COLUMNS", 20)
    monkeypatch.setattr(block_scores, "MANY_ROWS", 20)
    total = np.zeros((900, 2))
    for seed in range(200):
        V, D = block_scores._leverage_factor(path, kept, seed)
        assert V.shape == (30, 20)
        total += (F @ V) ** 2 @ D
    np.testing.assert_allclose(total / 200, np.transpose(expected), rtol=0.2)


def test_the_sample_of_rows_is_that_of_a_stream(data):
    X, Y = data
    rows = RowsInMemory(X, Y, None, 0, 100).sample.rows
    assert len(set(rows)) == 100
    assert np.array_equal(RowsInMemory(X, Y, None, 0, 900).sample.rows, np.arange(900))


def test_kernel_values_of_all_rows_are_never_held(data, monkeypatch):
    X, Y = data
    model = HOMICV(kernels=["rbf"], **QUICK).fit(X, Y)
    scores, labels = model.decision_function(X), model.best_estimator_.predict(X)
    sizes = []
    values = KernelMap.__call__
    monkeypatch.setattr(
        KernelMap, "__call__", lambda self, X: sizes.append(len(X)) or values(self, X)
    )
    monkeypatch.setattr(batches, "_BLOCK", 4_000)
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-10)
    assert np.array_equal(model.best_estimator_.predict(X), labels)
    assert max(sizes) == 100


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kernel_values_of_a_block(data, standardize, dtype):
    X = 5.0 + data[0].astype(dtype)
    rng = np.random.RandomState(0)
    kernel_map = KernelMap.fit(X, "rbf", 50, {}, standardize=standardize, rng=rng)
    values = kernel_map.of_block(X)
    assert values.dtype == np.float64
    exact = cdist(*(A.astype(float) for A in scaled(kernel_map, X)), "sqeuclidean")
    expected = np.exp(-kernel_map.params["gamma"] * exact)
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)


def scaled(kernel_map, X):
    return kernel_map._scaled(X), kernel_map.landmarks


def test_a_model_of_many_rows_is_saved(data, small_sample, tmp_path):
    X, Y = data
    model = HOMICV(kernels=["rbf"], **QUICK).fit(X, Y)
    save(model, tmp_path / "model.homi")
    loaded = load_model(tmp_path / "model.homi")
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.search_report_ == model.search_report_
