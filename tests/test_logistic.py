"""Logistic regressions that HOMICV averages its log-odds of sparse rows with."""

from functools import partial

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from homi import HOMICV
from homi.explorer.facts import facts
from homi.io import export_onnx, load_model, save
from homi.linear import fit_margins, log_loss
from homi.model.batches import RowsInMemory
from homi.model.logistic import wants_logistic

QUICK = {"kernels": (), "trees": False}


@pytest.fixture(scope="module")
def words():
    """Counts of words, some of them large, that move log-odds in proportion."""
    rng = np.random.default_rng(0)
    counts = rng.lognormal(sigma=1.5, size=(400, 60))
    X = sparse.csr_array(np.where(rng.random((400, 60)) < 0.15, counts, 0.0))
    odds = X @ rng.normal(size=(60, 4), scale=2.0)
    return X, (rng.random(odds.shape) < expit(odds)).astype(int)


@pytest.fixture(scope="module")
def fitted(words):
    model = HOMICV(**QUICK)
    return model, model.fit_held_out(*words)


def test_log_odds_are_added(words, fitted):
    X, _ = words
    model, _ = fitted
    linear = model.best_estimator_.decision_function(X) * model.odds_slope_
    expected = linear + model.odds_offset_ + X @ model.logistic_coef_
    np.testing.assert_allclose(model.decision_function(X), expected)
    np.testing.assert_allclose(model.decision_function(X.toarray()), expected)


def test_held_out_likelihood_gains(words, fitted):
    X, Y = words
    _, held_out = fitted
    alone = HOMICV(**QUICK, logistic=False)
    without = alone.fit_held_out(X, Y)
    assert alone.logistic_coef_ is None
    assert log_loss(Y, expit(held_out)) < log_loss(Y, expit(without))


def test_rows_are_held_out(words):
    """Labels that no feature tells: margins of the training rows would know them."""
    X, Y = words
    Y = np.random.default_rng(1).permutation(Y)
    held_out = HOMICV(**QUICK, logistic=True).fit_held_out(X, Y)
    base = np.broadcast_to(Y.mean(axis=0), Y.shape)
    assert log_loss(Y, expit(held_out)) > 0.98 * log_loss(Y, base)


def test_they_are_those_of_scikit_learn(words, monkeypatch):
    X, Y = words
    variance = X.toarray().var(axis=0).sum()
    monkeypatch.setattr("homi.model.logistic._STRENGTHS", (0.5 * variance,))
    exact = partial(fit_margins, loss="log", tol=1e-8)
    monkeypatch.setattr("homi.model.logistic._fit", exact)
    model = HOMICV(**QUICK, lams=[1e6]).fit(X, Y)
    found = X @ model.logistic_coef_
    for y, margins in zip(Y.T, found.T, strict=True):
        twin = LogisticRegression(C=0.5, max_iter=1000).fit(X, y)
        assert np.corrcoef(margins, twin.decision_function(X))[0, 1] > 0.9999


def test_auto_is_for_sparse_rows_and_few_products(words, monkeypatch):
    X, Y = words
    rows = RowsInMemory(X, Y, None, 0, 1000)
    assert wants_logistic(rows, "auto")
    assert not wants_logistic(rows, False)
    assert wants_logistic(RowsInMemory(X.toarray(), Y, None, 0, 1000), "auto")
    assert not wants_logistic(RowsInMemory(X.toarray() + 1, Y, None, 0, 1000), "auto")
    assert not wants_logistic(RowsInMemory(X, Y, None, 0, 100), "auto")
    monkeypatch.setattr("homi.model.logistic._MOST_PRODUCTS", 1e3)
    assert not wants_logistic(rows, "auto")
    assert wants_logistic(rows, True)


def test_weights_and_missing_labels(words):
    X, Y = words
    w = np.ones(len(Y))
    w[:100] = 0
    model = HOMICV(**QUICK).fit(X, Y, w)
    again = HOMICV(**QUICK).fit(X[100:], Y[100:])
    np.testing.assert_allclose(model.logistic_coef_, again.logistic_coef_)
    partial = Y.astype(float)
    partial[np.random.default_rng(0).random(Y.shape) < 0.3] = np.nan
    model = HOMICV(**QUICK, missing_labels="ignore").fit(X, partial)
    assert model.logistic_coef_ is not None
    assert log_loss(Y, expit(model.decision_function(X))) < 0.5


def test_it_needs_log_odds(words):
    with pytest.raises(ValueError, match="logistic=True needs calibration='sigmoid'"):
        HOMICV(logistic=True, calibration=None).fit(*words)


@pytest.mark.parametrize("kernels", [(), ["rbf"]])
def test_saved_exported_and_explained(words, kernels, tmp_path):
    X, Y = words
    model = HOMICV(kernels=kernels, widths=[1.0], trees=False, betas=()).fit(X, Y)
    assert model.logistic_coef_ is not None
    save(model, tmp_path / "model.homi")
    again = load_model(tmp_path / "model.homi")
    expected = model.decision_function(X)
    np.testing.assert_array_equal(again.decision_function(X), expected)
    why = model.why(X[:1], list(model.label_names_))
    for label, score in zip(model.label_names_, expected[0], strict=True):
        terms = [t.contribution for t in why.terms if t.label == label]
        assert sum(terms) == pytest.approx(score, abs=1e-9)
    for row, scores in zip(facts(model, X, rows=X[:3]).rows, expected, strict=False):
        for why in row.why:
            total = why.start + sum(step.value for step in why.steps)
            assert total == pytest.approx(scores[why.label], abs=1e-9)
    onnxruntime = pytest.importorskip("onnxruntime")
    export_onnx(model, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    scores, *_ = session.run(["scores"], {"X": X.toarray()})
    np.testing.assert_allclose(scores, expected, atol=1e-6)


def test_a_label_is_added(words):
    X, Y = words
    model = HOMICV(**QUICK).fit(X, Y[:, :3])
    before = model.decision_function(X)
    model.add_label("new", Y[:, 3], X)
    after = model.decision_function(X)
    np.testing.assert_array_equal(after[:, :3], before)
    assert log_loss(Y[:, 3:], expit(after[:, 3:])) < 0.6


def test_more_rows_than_the_sample(words, monkeypatch):
    """Asked for, all rows are fitted, and all are held out."""
    X, Y = words
    monkeypatch.setattr("homi.model.batches.SAMPLE_ROWS", 300)
    model = HOMICV(**QUICK, logistic=True)
    held_out = model.fit_held_out(X, Y)
    assert held_out.shape == Y.shape
    assert model.logistic_coef_ is not None
    assert HOMICV(**QUICK).fit(X, Y).logistic_coef_ is None


@pytest.mark.parametrize("logistic", ["auto", True])
def test_a_single_row_has_none(logistic):
    model = HOMICV(logistic=logistic).fit([[0.0, 0.0, 2.0, 0.0, 0.0]], [[1, 0]])
    assert model.logistic_coef_ is None
    assert model.predict(np.zeros((2, 5))).tolist() == [[1, 0], [1, 0]]
