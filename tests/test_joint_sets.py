"""Whole label sets: expected utilities against enumeration, then the strategy."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.linear_model import Ridge

from homi import HOMICV
from homi.io import ModelFileError, export_onnx, load_model, save
from homi.joint.label_sets import seen_sets
from homi.metrics import exact_match, example_f1
from homi.model.blend import LogOdds
from homi.thresholds import TunedThresholds
from homi.thresholds.discriminant import fit_discriminant
from homi.thresholds.joint import (
    ROW_OBJECTIVES,
    JointSets,
    OwnSets,
    fit_joint,
    posterior,
    utility,
)
from model_files import assert_same_responses, opened, put_together

EVERY = np.array(list(product([False, True], repeat=4)))


def rule_of(objective, Y, weights=(0.8, 0.6, 0.3)):
    odds = LogOdds(np.full(Y.shape[1], 1.3), np.full(Y.shape[1], -0.2))
    sets = seen_sets(Y.astype(float))
    return JointSets(objective, "sets", odds, sets, np.array(weights))


@pytest.mark.parametrize("objective", ROW_OBJECTIVES)
def test_no_set_has_a_greater_expected_utility(objective):
    rng = np.random.default_rng(0)
    Y = np.vstack([EVERY, EVERY[rng.integers(0, 16, 30)]])
    rule, S = rule_of(objective, Y), rng.normal(size=(25, 4))
    found = rule.predict(S)
    shares = posterior(rule, rule.log_odds(S))
    truths = rule.sets.members > 0
    table = np.array([utility(objective, truths, np.tile(s, (16, 1))) for s in EVERY])
    best = (table @ shares.T).max(axis=0)
    reached = [
        utility(objective, truths, np.tile(s, (16, 1))) @ share
        for s, share in zip(found, shares, strict=True)
    ]
    np.testing.assert_allclose(reached, best, atol=1e-12)
    decisions = rule(S)
    np.testing.assert_array_equal(decisions > 0, found)
    assert np.isfinite(decisions).all()


def test_posteriors_are_those_of_the_definition():
    rng = np.random.default_rng(1)
    Y = rng.random((60, 4)) < 0.4
    rule, S = rule_of("hamming", Y), rng.normal(size=(5, 4))
    odds, sets = rule.log_odds(S), rule.sets
    share = (Y.sum(axis=0) + 0.5) / (len(Y) + 1)
    for row, found in zip(odds, posterior(rule, odds), strict=True):
        weights = [
            0.8 * row[t > 0].sum()
            + 0.6 * np.log(np.mean((t == Y).all(axis=1)))
            - 0.3 * np.log(np.where(t > 0, share, 1 - share)).sum()
            for t in sets.members
        ]
        expected = np.exp(weights) / np.exp(weights).sum()
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_row_is_judged_without_its_own_label_set():
    rng = np.random.default_rng(2)
    Y = np.vstack([rng.random((30, 4)) < 0.4, EVERY[[15, 15]], EVERY[[13]]])
    rule = rule_of("hamming", Y, weights=(0.8, 0.6, 0.0))
    S = rng.normal(size=(1, 4))
    for row in (0, 31, 32):
        place = np.flatnonzero((rule.sets.members == Y[row]).all(axis=1))
        count = (Y[row] == Y).all(axis=1).sum()
        with np.errstate(divide="ignore"):
            own = OwnSets(np.array([0]), place, np.log1p([-1.0 / count]))
        found = posterior(rule, rule.log_odds(S), own)[0]
        rest = rule_of("hamming", np.delete(Y, row, axis=0), weights=(0.8, 0.6, 0.0))
        expected = posterior(rest, rest.log_odds(S))[0]
        for t, p in zip(rule.sets.members, found, strict=True):
            same = (rest.sets.members == t).all(axis=1)
            assert p == pytest.approx(expected[same].sum(), abs=1e-12)


def test_the_discriminant_is_the_density_of_a_normal_distribution():
    """Log-ratios of two sets are those of normal densities with linear means."""
    rng = np.random.default_rng(5)
    Y = (rng.random((400, 3)) < 0.4).astype(float)
    mixing = rng.normal(size=(3, 3))
    S = Y @ mixing + rng.normal(size=(400, 3)) @ rng.normal(size=(3, 3))
    sets = seen_sets(Y)
    found = fit_discriminant(S, Y, sets, 0.05)
    linear, quadratic = found.features(S[:7], sets.members)
    A = Ridge(5.0).fit(Y, S)
    residual = S - A.predict(Y)
    R = residual.T @ residual / len(S)
    R += np.diag(0.05 * np.diag(R) + 1e-6)
    means = A.predict(sets.members)
    expected = np.column_stack([multivariate_normal(m, R).logpdf(S[:7]) for m in means])
    total = linear + quadratic
    np.testing.assert_allclose(
        total - total[:, :1], expected - expected[:, :1], atol=1e-8
    )


def test_sets_that_scores_explain_only_together():
    """Scores of labels 0 and 1 are swapped: each one speaks about the other label."""
    rng = np.random.default_rng(6)
    Y = rng.random((900, 3)) < 0.4
    S = 3.0 * Y[:, [1, 0, 2]] - 1.5 + rng.normal(size=Y.shape)
    rule = fit_joint(S[:600], Y[:600], "subset_accuracy")
    assert rule.source == "sets"
    assert exact_match(Y[600:], rule.predict(S[600:])) > 0.7


def exclusive(seed, n=400):
    """One label a row; each alone is hard to tell."""
    rng = np.random.default_rng(seed)
    S = rng.normal(size=(n, 4)) - 1
    Y = np.eye(4, dtype=bool)[(2 * S + rng.gumbel(size=S.shape)).argmax(axis=1)]
    return S, Y


def test_sets_are_taken_where_they_repeat():
    S, Y = exclusive(0)
    new, truth = exclusive(1)
    rule = fit_joint(S, Y, "subset_accuracy")
    assert rule.source == "sets"
    found = rule.predict(new)
    assert (found.sum(axis=1) == 1).all()
    assert exact_match(truth, found) > exact_match(truth, rule.log_odds(new) > 0) + 0.1


def test_thresholds_stay_where_sets_say_nothing():
    rng = np.random.default_rng(3)
    S = 3 * rng.normal(size=(300, 5))
    Y = rng.random(S.shape) < 1 / (1 + np.exp(-S))
    for objective in ("hamming", "subset_accuracy"):
        rule = fit_joint(S, Y, objective)
        assert rule.source == "zero"
        np.testing.assert_array_equal(rule.predict(S), S > 0)


def test_f1_of_rows_with_unique_sets():
    """No label set repeats: labels are taken as independent."""
    rng = np.random.default_rng(4)
    S = rng.normal(size=(200, 30)) - 1.5
    Y = rng.random(S.shape) < 1 / (1 + np.exp(-S))
    rule = fit_joint(S, Y, "example_f1")
    assert rule.source == "independent"
    assert example_f1(Y, rule.predict(S)) > example_f1(Y, S > 0) + 0.1


@pytest.fixture(scope="module")
def tuned():
    X, Y = exclusive(0, n=200)
    inner = HOMICV(widths=[], lams=[1.0], trees=False)
    model = TunedThresholds(
        inner, cv="own", strategy="joint", objective="subset_accuracy"
    )
    return model.fit(X, Y.astype(int))


def test_the_strategy_of_tuned_thresholds(tuned):
    X, Y = exclusive(1)
    assert tuned.strategy_ == "joint"
    found = tuned.predict(X)
    assert exact_match(Y, found) > exact_match(Y, tuned.estimator_.predict(X)) + 0.05
    np.testing.assert_array_equal(found, tuned.decision_function(X) > 0)
    with pytest.raises(
        ValueError, match="not a mean over rows; pass one of subset_acc"
    ):
        tuned.set_params(objective="macro_f1").fit(X, Y)
    tuned.set_params(objective="subset_accuracy")


def test_a_file_keeps_it(tuned, tmp_path):
    pytest.importorskip("safetensors")
    path = tmp_path / "bad.homi"
    save(tuned, path)
    assert_same_responses(tuned, load_model(path), exclusive(1)[0])
    header, tensors = opened(path)
    for name, value in {"objective": "micro_f1", "source": "moon", "n_sets": 0}.items():
        about = header["model"]["fitted"]["rule"]
        before = about[name]
        about[name] = value
        put_together(path, header, tensors)
        with pytest.raises(ModelFileError, match=r"bad\.homi is refused"):
            load_model(path)
        about[name] = before
    del header["model"]["fitted"]["rule"]["discriminant"]
    for name in ("matrix", "center", "quadratic"):
        del tensors[f"rule.{name}"]
    tensors["rule.weights"] = tensors["rule.weights"][:3]
    put_together(path, header, tensors)
    earlier = load_model(path)  # a file of an earlier version
    assert earlier._rule.rule.discriminant is None
    assert earlier.predict(exclusive(1)[0]).any(axis=1).all()


def test_onnx_refuses_it(tuned, tmp_path):
    pytest.importorskip("onnx")
    with pytest.raises(ModelFileError, match="strategy='joint' have no ONNX form"):
        export_onnx(tuned, tmp_path / "m.onnx")
