"""The joint model of labels: conditionals against brute force, and what it learns."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit
from scipy.stats import multivariate_normal
from sklearn.linear_model import Ridge

from homi import HOMICV
from homi.io import ModelFileError, export_onnx, load_model, save
from homi.joint import JointModel, fit_joint_model
from homi.joint.fit import GATE_PRIOR, Entries, fit_gates
from homi.joint.gaussian import (
    conditional_covariance,
    conditional_shift,
    covariance,
    leave_one_out_shift,
    scaled_residuals,
)
from homi.joint.label_sets import (
    LabelSets,
    Sharpness,
    leave_one_out_marginals,
    marginals,
    seen_sets,
)
from homi.joint.model import Weights
from homi.metrics import exact_match, example_f1
from homi.model.blend import LogOdds
from homi.thresholds import TunedThresholds, expected_calibration_error
from homi.thresholds.discriminant import fit_discriminant
from homi.thresholds.joint import (
    ROW_OBJECTIVES,
    JointSets,
    OwnSets,
    fit_joint,
    posterior,
    utility,
)
from sample_files import assert_same_responses, opened, put_together


def random_covariance(rng, q):
    A = rng.normal(size=(q, q + 3))
    return A @ A.T / q


def some_known(rng, n, q, share=0.5):
    Y = (rng.random((n, q)) < 0.4).astype(float)
    Y[rng.random((n, q)) >= share] = np.nan
    return Y


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_gaussian_conditionals_are_those_of_the_joint_density(share):
    """The mean of unknown residuals minimizes the quadratic form of the precision."""
    rng = np.random.default_rng(0)
    C, E = random_covariance(rng, 7), rng.normal(size=(30, 7))
    known = rng.random((30, 7)) < share
    found = conditional_shift(C, E, known)
    precision = np.linalg.inv(C)
    for e, k, shift in zip(E, known, found, strict=True):
        assert not shift[k].any()
        whole = np.where(k, e, shift)
        np.testing.assert_allclose((precision @ whole)[~k], 0, atol=1e-9)
        inverse = np.linalg.inv(conditional_covariance(C, k))
        np.testing.assert_allclose(inverse, precision[np.ix_(~k, ~k)], atol=1e-8)


@pytest.mark.parametrize("share", [0.2, 0.7])
def test_labels_that_b_reproduces_are_the_conditional_mean(share):
    """B regresses labels on themselves: ``y_U = y_K B_KU (I - B_UU)⁻¹``."""
    rng = np.random.default_rng(13)
    R = rng.normal(size=(60, 6)) @ rng.normal(size=(6, 6))
    B = Ridge(alpha=3.0, fit_intercept=False).fit(R, R).coef_.T
    C = R.T @ R + 3.0 * np.eye(6)
    precision = np.linalg.inv(C)
    np.testing.assert_allclose(B, np.eye(6) - 3.0 * precision, atol=1e-10)
    alone = -precision / np.diag(precision)
    scaled = alone * (1.0 - np.diag(B))
    off = ~np.eye(6, dtype=bool)
    np.testing.assert_allclose(B[off], scaled[off], atol=1e-10)
    known = rng.random((1, 6)) < share
    found = conditional_shift(C, R[:1], known)
    k = known[0]
    filled = R[0, k] @ B[np.ix_(k, ~k)]
    filled = filled @ np.linalg.inv(np.eye((~k).sum()) - B[np.ix_(~k, ~k)])
    np.testing.assert_allclose(found[0, ~k], filled, atol=1e-8)


def test_each_residual_is_left_out_in_turn():
    rng = np.random.default_rng(1)
    C, E = random_covariance(rng, 6), rng.normal(size=(20, 6))
    known = rng.random((20, 6)) < 0.7
    found = leave_one_out_shift(C, E, known)
    for j in range(6):
        without = known.copy()
        without[:, j] = False
        expected = conditional_shift(C, E, without)[:, j]
        np.testing.assert_allclose(found[:, j], expected, atol=1e-9)


def test_posteriors_are_those_of_an_enumerated_ising_model():
    rng = np.random.default_rng(2)
    q = 4
    J = rng.normal(size=(q, q))
    every = np.array(list(product([0.0, 1.0], repeat=q)))
    pairs = np.einsum("ti,ij,tj->t", every, J, every)
    sets = LabelSets(every, pairs, rng.normal(size=len(every)))
    sharp = Sharpness(1.0, 60.0, 1.0, 0.0)
    S, Y = rng.normal(size=(25, q)), some_known(rng, 25, q)
    found = marginals(sets, sharp, S, Y)
    for s, y, p in zip(S, Y, found, strict=True):
        k = ~np.isnan(y)
        agreeing = every[(every[:, k] == y[k]).all(axis=1)]
        weight = np.exp([t @ s + t @ J @ t for t in agreeing])
        expected = weight @ agreeing / weight.sum()
        np.testing.assert_allclose(p, expected, atol=1e-9)


def test_each_label_is_left_out_of_the_posterior_in_turn():
    rng = np.random.default_rng(3)
    Y = (rng.random((60, 5)) < 0.4).astype(float)
    sets, sharp = seen_sets(Y), Sharpness(0.3, 2.0, 0.2, 0.1)
    S, partly = rng.normal(size=(20, 5)), some_known(rng, 20, 5)
    found = leave_one_out_marginals(sets, sharp, S, partly)
    for j in range(5):
        without = partly.copy()
        without[:, j] = np.nan
        expected = marginals(sets, sharp, S, without)[:, j]
        np.testing.assert_allclose(found[:, j], expected, atol=1e-10)


def test_seen_sets_are_the_most_frequent():
    Y = np.array([[1, 0], [1, 0], [0, 1], [1, 1], [1, 1], [1, 1]], float)
    sets = seen_sets(Y, most=2)
    assert sets.members.tolist() == [[1, 1], [1, 0]]
    twice = seen_sets(np.vstack([Y, Y[2:3]]), most=3)
    weighted = seen_sets(Y, np.array([1, 1, 2, 1, 1, 1.0]), most=3)
    for one, two in zip(sorted_sets(twice), sorted_sets(weighted), strict=True):
        np.testing.assert_allclose(one, two)


def sorted_sets(sets):
    order = np.lexsort(sets.members.T)
    return [part[order] for part in sets]


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(4)
    Y = (rng.random((80, 6)) < 0.4).astype(float)
    C = random_covariance(rng, 6)
    sharp, weights = Sharpness(1.0, 6.0, 0.4, 0.3), Weights(0.3, 0.7, 0.6)
    gates = np.array([1.0, 0.8, 1.2, 1.0, 0.0, 0.9])
    return JointModel(C, seen_sets(Y), sharp, weights, gates)


def test_nothing_known_and_everything_known(model):
    rng = np.random.default_rng(5)
    S = rng.normal(size=(10, 6))
    nothing = np.full((10, 6), np.nan)
    np.testing.assert_array_equal(model.log_odds(S, nothing), S)
    np.testing.assert_array_equal(model.probabilities(S, nothing), expit(S))
    everything = (S > 0).astype(float)
    np.testing.assert_array_equal(model.probabilities(S, everything), everything)


def test_labels_without_anything_in_common_say_nothing():
    """All sets are as frequent as independent labels make them."""
    every = np.array(list(product([0.0, 1.0], repeat=4)))
    sets = LabelSets(every, np.zeros(16), np.zeros(16))
    sharp, weights = Sharpness(1.0, 6.0, 0.3, 0.3), Weights(0.0, 0.9, 0.8)
    alone = JointModel(np.eye(4), sets, sharp, weights, np.ones(4))
    rng = np.random.default_rng(10)
    S, Y = rng.normal(size=(30, 4)), some_known(rng, 30, 4)
    unknown = np.isnan(Y)
    np.testing.assert_allclose(alone.log_odds(S, Y)[unknown], S[unknown], atol=1e-9)


def test_log_odds_become_steeper_with_the_share_of_known_labels():
    sets = LabelSets(np.zeros((1, 4)), np.zeros(1), np.zeros(1))
    sharp, weights = Sharpness(1.0, 6.0, 0.3, 0.3), Weights(0.6, 0.0, 0.0)
    alone = JointModel(np.eye(4), sets, sharp, weights, np.ones(4))
    S = np.random.default_rng(12).normal(size=(5, 4))
    for count in range(4):
        Y = np.where(np.arange(4) < count, 1.0, np.full_like(S, np.nan))
        expected = (1 + 0.6 * count / 4) * S[:, count:]
        np.testing.assert_allclose(alone.log_odds(S, Y)[:, count:], expected)


def test_a_label_with_a_gate_of_zero_is_left_unchanged(model):
    rng = np.random.default_rng(11)
    S, Y = rng.normal(size=(30, 6)), some_known(rng, 30, 6)
    changed = model.log_odds(S, Y) != S
    known, mixed = ~np.isnan(Y), np.isnan(Y).any(axis=1) & ~np.isnan(Y).all(axis=1)
    np.testing.assert_array_equal(changed[:, 4], known[:, 4])
    assert changed[mixed][:, :4].all()


def test_known_labels_come_back_as_given(model):
    rng = np.random.default_rng(6)
    S, Y = rng.normal(size=(40, 6)), some_known(rng, 40, 6)
    P, known = model.probabilities(S, Y), ~np.isnan(Y)
    np.testing.assert_array_equal(P[known], Y[known])
    assert ((P[~known] > 0) & (P[~known] < 1)).all()
    odds = model.log_odds(S, Y)
    np.testing.assert_array_equal(odds[known] > 0, Y[known] == 1)
    assert np.isfinite(odds).all()


def test_the_order_of_labels_and_rows_does_not_matter(model):
    rng = np.random.default_rng(7)
    S, Y = rng.normal(size=(30, 6)), some_known(rng, 30, 6)
    labels, rows = rng.permutation(6), rng.permutation(30)
    sets = model.sets._replace(members=model.sets.members[:, labels])
    C = model.covariance[np.ix_(labels, labels)]
    gates = model.gates[labels]
    other = JointModel(C, sets, model.sharpness, model.weights, gates)
    expected = model.probabilities(S, Y)[rows][:, labels]
    found = other.probabilities(S[rows][:, labels], Y[rows][:, labels])
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_leave_one_out_hides_each_label_in_turn(model):
    rng = np.random.default_rng(8)
    S, Y = rng.normal(size=(20, 6)), some_known(rng, 20, 6, share=0.8)
    found = model.leave_one_out(S, Y)
    for j in range(6):
        without = Y.copy()
        without[:, j] = np.nan
        expected = model.probabilities(S, without)[:, j]
        np.testing.assert_allclose(found[:, j], expected, atol=1e-9)


def test_the_covariance_of_a_row(model):
    rng = np.random.default_rng(9)
    S, Y = rng.normal(size=6), np.array([np.nan, 1, np.nan, np.nan, 0, np.nan])
    found = model.conditional_covariance(S, Y)
    P = model.probabilities(S[None], Y[None])[0]
    np.testing.assert_allclose(np.diag(found), P * (1 - P), atol=1e-12)
    unknown = np.isnan(Y)
    assert (np.linalg.eigvalsh(found[np.ix_(unknown, unknown)]) > 0).all()
    assert not found[~unknown].any()


def correlated(seed, n=1500, q=8, strength=1.5):
    """Log-odds, and labels whose errors share a cause; half of the labels fear it."""
    rng = np.random.default_rng(seed)
    S = rng.normal(size=(n, q)) - 0.5
    signs = np.where(np.arange(q) % 2, 1.0, -1.0)
    cause = strength * rng.normal(size=(n, 1)) * signs
    Y = (rng.random((n, q)) < expit(S + cause)).astype(float)
    # Marginal log-odds, as a calibrated classifier without the cause has them.
    return S / np.sqrt(1 + np.pi * strength**2 / 8), Y


def log_loss(Y, P, hidden):
    P = np.where(Y > 0, P, 1 - P)
    return -np.log(P[hidden]).mean()


@pytest.fixture(scope="module")
def learned():
    return fit_joint_model(*correlated(0))


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
def test_conditionals_are_sharper_and_calibrated(learned, share):
    S, Y = correlated(1, n=4000)
    hidden = np.random.default_rng(1).random(Y.shape) >= share
    P = learned.probabilities(S, np.where(hidden, np.nan, Y))
    assert log_loss(Y, P, hidden) < 0.95 * log_loss(Y, expit(S), hidden)
    assert expected_calibration_error(Y[hidden], P[hidden]) < 0.03


def test_independent_labels_have_no_effect():
    found = fit_joint_model(*correlated(2, strength=0.0))
    assert not found.has_effect
    S, Y = correlated(3, strength=0.0, n=50)
    Y[:, ::2] = np.nan
    unknown = np.isnan(Y)
    np.testing.assert_array_equal(found.probabilities(S, Y)[unknown], expit(S)[unknown])
    covariance = found.conditional_covariance(S[0], Y[0])
    assert not (covariance - np.diag(np.diag(covariance))).any()


def test_labels_that_exclude_each_other():
    """One label in each row: those known to be absent leave the others."""
    rng = np.random.default_rng(4)
    S = rng.normal(size=(800, 5)) - 1.3
    Y = np.eye(5)[(S + rng.gumbel(size=S.shape)).argmax(axis=1)]
    found = fit_joint_model(S[:600], Y[:600])
    known = np.full((1, 5), np.nan)
    known[0, :4] = 0
    assert found.probabilities(S[600:601], known)[0, 4] > 0.8
    known[0, 0] = 1
    assert found.probabilities(S[600:601], known)[0, 4] < 0.05


def test_errors_of_training_rows_teach_nothing():
    """A classifier that has seen its labels makes no errors; others must be given."""
    S, Y = correlated(5)
    in_sample = S + 8 * (2 * Y - 1)
    residuals = scaled_residuals(in_sample, Y)
    assert np.abs(residuals).mean() < 0.05
    hidden = np.random.default_rng(5).random(Y.shape) >= 0.5
    fresh, labels = correlated(6)
    partly = np.where(hidden, np.nan, labels)
    models = fit_joint_model(S, Y), fit_joint_model(in_sample, Y)
    losses = [log_loss(labels, m.probabilities(fresh, partly), hidden) for m in models]
    assert losses[0] < 0.97 * losses[1]


def test_gates_have_the_greatest_likelihood_with_a_prior_at_one():
    """Label 0 follows its shift, label 1 does not, and label 2 is never hidden."""
    rng = np.random.default_rng(9)
    D, S = rng.normal(size=(2, 900, 2)), rng.normal(size=(900, 2))
    weights = np.array([1.5, 0.5])
    shift = np.tensordot(weights, D, 1)
    Y = (rng.random(S.shape) < expit(S + [1, -0.5] * shift)).astype(float)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    found = fit_gates([Entries(D, S, Y, np.arange(2))], weights, 3)

    def loss(gate, j):
        s = S[:, j] + gate * shift[:, j]
        fit = np.nansum(np.logaddexp(0, s) - Y[:, j] * s)
        return fit + GATE_PRIOR / 2 * (gate - 1) ** 2

    best = [minimize_scalar(loss, args=(j,)).x for j in (0, 1)]
    assert best[1] < 0
    np.testing.assert_allclose(found, [best[0], 0.0, 1.0], atol=1e-4)


def test_missing_labels_are_learned_from_all_rows():
    S, Y = correlated(10)
    partly = np.where(np.random.default_rng(0).random(Y.shape) < 0.4, np.nan, Y)
    assert np.isnan(partly).any(axis=1).mean() > 0.8
    found = fit_joint_model(S, partly).covariance
    np.testing.assert_array_equal(found, found.T)
    assert (np.linalg.eigvalsh(found) > 0).all()
    fresh, labels = correlated(11)
    hidden = np.random.default_rng(1).random(labels.shape) >= 0.5
    known = np.where(hidden, np.nan, labels)
    complete = ~np.isnan(partly).any(axis=1)
    losses = [
        log_loss(labels, fit_joint_model(*rows).probabilities(fresh, known), hidden)
        for rows in ((S, Y), (S, partly), (S[complete][:19], Y[complete][:19]))
    ]
    assert losses[1] < losses[0] + 0.005
    assert losses[1] < 0.5 * (losses[0] + losses[2])


def test_the_covariance_of_missing_labels_is_that_of_observed_pairs():
    rng = np.random.default_rng(12)
    E, weights = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 3)), rng.random(200)
    seen = rng.random(E.shape) < 0.6
    found = covariance(np.where(seen, E, 0.0), weights, seen)
    for i, j in product(range(3), repeat=2):
        both = seen[:, i] & seen[:, j]
        expected = np.average((E[:, i] * E[:, j])[both], weights=weights[both])
        np.testing.assert_allclose(found[i, j], expected, atol=1e-10)


def test_a_row_of_weight_two_counts_as_two():
    S, Y = correlated(7, n=200)
    weights = np.ones(200)
    weights[:50] = 2.0
    one = fit_joint_model(S, Y, weights)
    two = fit_joint_model(np.vstack([S, S[:50]]), np.vstack([Y, Y[:50]]))
    strength = np.diag(one.covariance) / np.diag(two.covariance)
    np.testing.assert_allclose(strength, strength[0], rtol=1e-3)
    np.testing.assert_array_equal(one.covariance, one.covariance.T)


@pytest.mark.parametrize("shape", [(5, 3), (100, 1)])
def test_too_little_to_learn_from(shape):
    rng = np.random.default_rng(8)
    S = rng.normal(size=shape)
    assert not fit_joint_model(S, (S > 0).astype(float)).has_effect


# Whole label sets: expected utilities against enumeration, then the strategy.


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
    """Log-ratios of two sets are those of normal densities.

    Means are linear in the labels, plus what rows of the set have on average beyond,
    which counts as much as 20 rows without it.
    """
    rng = np.random.default_rng(5)
    Y = (rng.random((400, 3)) < 0.4).astype(float)
    mixing = rng.normal(size=(3, 3))
    S = Y @ mixing + rng.normal(size=(400, 3)) @ rng.normal(size=(3, 3))
    S[:, 0] += 3 * (Y[:, 1] * Y[:, 2])  # not linear
    sets = seen_sets(Y, most=6)  # rows of two sets have none
    found = fit_discriminant(S, Y, sets, 0.05)
    linear, quadratic = found.features(S[:7])
    A = Ridge(5.0).fit(Y, S)
    residual, means = S - A.predict(Y), A.predict(sets.members)
    for t, members in enumerate(sets.members):
        rows = (members == Y).all(axis=1)
        own = residual[rows].sum(axis=0) / (rows.sum() + 20)
        residual[rows] -= own
        means[t] += own
    R = residual.T @ residual / len(S)
    R += np.diag(0.05 * np.diag(R) + 1e-6)
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
    for name in ("directions", "center", "quadratic"):
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
