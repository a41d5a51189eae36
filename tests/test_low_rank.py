"""Covariance of low rank plus diagonal, for thousands of labels."""

import numpy as np
import pytest
from scipy.special import expit

import homi.joint.gaussian
from homi import HOMI
from homi.io import ModelFileError, load_model, save
from homi.joint import fit_joint_model
from homi.joint.gaussian import (
    conditional_covariance,
    conditional_shift,
    covariance,
    leave_one_out_shift,
    shrunk,
)
from homi.joint.low_rank import LowRank
from sample_files import opened, put_together

Q = 12


@pytest.fixture
def few_are_many(monkeypatch):
    """Twelve labels count as many."""
    monkeypatch.setattr(homi.joint.gaussian, "MANY_LABELS", 3)


def residuals(n=60, missing=0.0):
    rng = np.random.default_rng(0)
    E = rng.normal(size=(n, 3)) @ rng.normal(size=(3, Q)) + rng.normal(size=(n, Q))
    seen = rng.random((n, Q)) >= missing
    return np.where(seen, E, 0.0), seen


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.9])
def test_full_rank_is_the_dense_answer(share, few_are_many, monkeypatch):
    E, _ = residuals()
    weights = 0.5 + np.arange(60) % 2
    low = shrunk(covariance(E, weights), 0.2)
    monkeypatch.undo()
    C = shrunk(covariance(E, weights), 0.2)
    assert isinstance(low, LowRank)
    assert isinstance(C, np.ndarray)
    np.testing.assert_allclose(np.asarray(low), C, atol=1e-12)
    known = np.random.default_rng(1).random(E.shape) < share
    for function in (conditional_shift, leave_one_out_shift):
        found = function(low, E, known)
        np.testing.assert_allclose(found, function(C, E, known), atol=1e-9)
    for k in known[:5]:
        found, expected = (conditional_covariance(M, k) for M in (low, C))
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_variances_are_exact_at_any_rank():
    E, _ = residuals(n=5)
    for rank in (1, 3, 5):
        low = LowRank.of(E, (E**2).sum(axis=0), rank)
        assert low.factors.shape == (Q, rank)
        assert (low.variances >= 0).all()
        np.testing.assert_allclose(low.diagonal(), (E**2).sum(axis=0), atol=1e-12)


def test_the_leading_directions_are_kept():
    """The errors of three causes need three factors."""
    rng = np.random.default_rng(2)
    E = rng.normal(size=(400, 3)) @ rng.normal(size=(3, Q)) / 20
    low = LowRank.of(E, (E**2).sum(axis=0), 3)
    np.testing.assert_allclose(np.asarray(low), E.T @ E, atol=1e-10)


def test_missing_labels_leave_the_variance_of_the_others(few_are_many):
    E, seen = residuals(n=4000, missing=0.4)
    low, whole = covariance(E, None, seen), covariance(residuals(n=4000)[0])
    np.testing.assert_allclose(low.diagonal(), whole.diagonal(), rtol=0.1)
    w = np.where(seen[:, :1], 3.0, 1.0)
    weighted = covariance(E, w.ravel(), seen).diagonal()
    expected = (w * E**2).sum(axis=0) / (w * seen).sum(axis=0)
    np.testing.assert_allclose(weighted, expected)
    # Pairs are fewer than the rows of either label: off the diagonal it is smaller.
    off = ~np.eye(Q, dtype=bool)
    shares = np.asarray(low)[off] / np.asarray(whole)[off]
    np.testing.assert_allclose(np.median(shares), 0.6, atol=0.05)


def rows(seed, n=400):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    cause = 2 * rng.normal(size=(n, 1)) * np.where(np.arange(Q) % 2, 1, -1)
    Y = rng.random((n, Q)) < expit(np.tile(X, 3)[:, :Q] + cause)
    return X, Y.astype(int)


def half(Y):
    return np.where(np.random.default_rng(0).random(Y.shape) < 0.5, np.nan, Y)


def refuse(*_, **__):
    raise AssertionError("an array of labels × labels was made")


def test_it_is_learned_without_arrays_of_labels_times_labels(few_are_many, monkeypatch):
    rng = np.random.default_rng(3)
    S, (_, Y) = rng.normal(size=(400, Q)) / 3, rows(0)
    with monkeypatch.context() as patched:
        patched.setattr(LowRank, "__array__", refuse)
        found = fit_joint_model(S, Y.astype(float))
        given = found.probabilities(S, half(Y))
        alone = found.leave_one_out(S, Y.astype(float))
    monkeypatch.undo()
    dense = fit_joint_model(S, Y.astype(float))
    assert found.weights == pytest.approx(dense.weights)
    expected = dense.probabilities(S, half(Y))
    np.testing.assert_allclose(given, expected, atol=1e-6)
    expected = dense.leave_one_out(S, Y.astype(float))
    np.testing.assert_allclose(alone, expected, atol=1e-6)


@pytest.fixture
def model(few_are_many):
    fitted = HOMI(calibration="sigmoid", correlation="identity").fit(*rows(0))
    assert isinstance(fitted.joint_model_.covariance, LowRank)
    return fitted


def test_a_file_keeps_it(model, tmp_path):
    pytest.importorskip("safetensors")
    save(model, tmp_path / "m.homi")
    X, Y = rows(1)
    loaded, known = load_model(tmp_path / "m.homi"), half(Y)
    found = loaded.predict_proba(X, known=known)
    np.testing.assert_array_equal(found, model.predict_proba(X, known=known))
    assert np.mean((found - Y)[np.isnan(known)] ** 2) < 0.18
    _, tensors = opened(tmp_path / "m.homi")
    assert "joint.covariance" not in tensors


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("rank", 0),
        ("rank", "3"),
        ("rank", 10**9),
        ("variances", 0.0),
        ("factors", 1e999),
    ],
)
def test_a_malformed_file_is_refused(model, tmp_path, part, value):
    pytest.importorskip("safetensors")
    path = tmp_path / "bad.homi"
    save(model, path)
    header, tensors = opened(path)
    if part == "rank":
        header["model"]["fitted"]["joint"][part] = value
    else:
        tensors[f"joint.{part}"] = np.full_like(tensors[f"joint.{part}"], value)
    put_together(path, header, tensors)
    with pytest.raises(ModelFileError, match=r"bad\.homi is refused"):
        load_model(path)


def test_an_added_label_is_independent(model):
    X, Y = rows(0)
    C = np.asarray(model.joint_model_.covariance)
    model.add_label("new", Y[:, 0], X)
    found = np.asarray(model.joint_model_.covariance)
    np.testing.assert_allclose(found[:Q, :Q], C, atol=1e-12)
    assert found[Q].tolist() == [0.0] * Q + [1.0]
    known = np.column_stack([half(Y), Y[:, 0]])
    assert np.isfinite(model.decision_function(X, known=known)).all()


def test_questions_and_reasons(model):
    """They need the whole covariance, and get it."""
    pytest.importorskip("pandas")
    from homi.dependence import ask, audit

    X, Y = rows(1)
    assert len(ask(model, X[:2], half(Y)[:2], k=2)[0]) == 2
    found = audit(model, X, Y, held_out=False)
    assert found["reason"].str.len().min() > 0
