"""Probabilities: maps against scikit-learn's, and errors against a literal loop."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import approx_fprime
from scipy.special import expit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import KFold

from conftest import random_rows
from homi import HOMI
from homi.datasets import load
from homi.linear import fit_pooled_sigmoids, fit_sigmoids, log_loss
from homi.linear.pooled_platt import choose_strength
from homi.thresholds import (
    TunedThresholds,
    expected_calibration_error,
    fit_maps,
    reliability_curve,
)
from homi.thresholds.calibrate import held_out_maps

every_method = pytest.mark.parametrize("method", ["sigmoid", "isotonic"])


def scores_and_labels(n=300, q=3, seed=0):
    rng = np.random.default_rng(seed)
    S = rng.normal(size=(n, q)) * np.linspace(0.5, 2.0, q)
    return S, rng.random((n, q)) < 1 / (1 + np.exp(2.0 - 3.0 * S))


@every_method
def test_one_label_is_calibrated_as_by_scikit_learn(method):
    X, Y = random_rows(0, n=300)
    y = Y[:, 0].astype(int)
    inner = FrozenEstimator(LogisticRegression().fit(X[:100], y[:100]))
    twin = CalibratedClassifierCV(inner, method=method).fit(X[100:], y[100:])
    S = inner.decision_function(X[100:])[:, None]
    maps = fit_maps(S, y[100:, None] > 0, method, 0.0)
    grid = np.linspace(-6, 6, 50)[:, None]
    expected = twin.calibrated_classifiers_[0].calibrators[0].predict(grid.ravel())
    margin = 1 / 202 if method == "isotonic" else 0.0
    expected = np.clip(expected, margin, 1 - margin)
    np.testing.assert_allclose(maps(grid).ravel(), expected, atol=1e-4)


@every_method
def test_shrinkage_goes_from_own_maps_to_the_pooled_one(method):
    S, Y = scores_and_labels()
    Y[:, 0] &= np.arange(300) < 30
    own, pooled = fit_maps(S, Y, method, 0.0), fit_maps(S, Y, method, np.inf)
    alone = [fit_maps(S[:, [j]], Y[:, [j]], method, 0.0)(S[:, [j]]) for j in range(3)]
    np.testing.assert_allclose(own(S), np.hstack(alone), atol=1e-9)
    whole = fit_maps(S.reshape(-1, 1), Y.reshape(-1, 1), method, 0.0)
    np.testing.assert_allclose(pooled(S), whole(S.reshape(-1, 1)).reshape(S.shape))
    weight = Y.sum(axis=0) / (Y.sum(axis=0) + 20.0)
    mixed = weight * own(S) + (1 - weight) * pooled(S)
    np.testing.assert_allclose(fit_maps(S, Y, method, 20.0)(S), mixed, atol=1e-12)


@every_method
@pytest.mark.parametrize("shrinkage", [0.0, 5.0, np.inf])
def test_probabilities_are_inside_and_grow_with_the_score(method, shrinkage):
    S, Y = scores_and_labels()
    Y[:, 0], Y[:, 1] = False, True
    S[:, 2] = np.round(S[:, 2])
    maps = fit_maps(S, Y, method, shrinkage)
    grid = np.tile(np.r_[-1e6, np.linspace(-5, 5, 99), 1e6][:, None], 3)
    P = maps(grid)
    assert ((P > 0) & (P < 1)).all()
    assert (np.diff(P, axis=0) >= -1e-12).all()


def test_isotonic_maps_end_where_the_targets_of_platt_do():
    S = np.arange(8.0)[:, None]
    P = fit_maps(S, S > 3, "isotonic", 0.0)(S)
    np.testing.assert_allclose(P[[0, 7], 0], [1 / 10, 9 / 10])


@every_method
def test_maps_are_measured_on_rows_that_they_were_not_fitted_to(method):
    S, Y = scores_and_labels(n=60)
    folds = KFold(5, shuffle=True, random_state=0)
    P = held_out_maps(S, Y, method, 3.0, folds)
    for _, rows in folds.split(S):
        flipped = Y.copy()
        flipped[rows] = ~flipped[rows]
        again = held_out_maps(S, flipped, method, 3.0, folds)
        np.testing.assert_array_equal(again[rows], P[rows])


def literal_error(Y, P, n_bins):
    total = 0.0
    for b in range(n_bins):
        inside = [
            (y, p)
            for y, p in zip(Y.ravel(), P.ravel(), strict=True)
            if b <= p * n_bins < b + 1 or (b == n_bins - 1 and p == 1)
        ]
        if inside:
            gap = np.mean([y for y, _ in inside]) - np.mean([p for _, p in inside])
            total += len(inside) / P.size * abs(gap)
    return total


@pytest.mark.parametrize("n_bins", [1, 4, 15])
def test_the_error_is_that_of_a_literal_loop(n_bins):
    rng = np.random.default_rng(0)
    P = np.round(rng.random((40, 3)), 2)
    P[0] = [0.0, 1.0, 0.25]
    Y = rng.random((40, 3)) < P**2
    found = expected_calibration_error(Y, P, n_bins)
    assert found == pytest.approx(literal_error(Y, P, n_bins))
    assert expected_calibration_error(sparse.csr_array(Y), P, n_bins) == found


def test_the_last_bin_holds_one():
    curve = reliability_curve([1, 0, 1], [1.0, 0.95, 0.0], 10)
    np.testing.assert_array_equal(curve.size, [1, 2])
    np.testing.assert_allclose(curve.probability, [0.0, 0.975])


def test_quantile_bins_hold_about_equally_many():
    rng = np.random.default_rng(0)
    P = rng.random(1000) ** 4
    curve = reliability_curve(rng.random(1000) < P, P, 10, "quantile")
    np.testing.assert_array_equal(curve.size, 100)
    tied = reliability_curve([0, 1, 1, 0], [0.3, 0.3, 0.3, 0.9], 4, "quantile")
    np.testing.assert_array_equal(tied.size, [3, 1])
    np.testing.assert_allclose(tied.frequency, [2 / 3, 0])


def test_the_truth_is_calibrated():
    rng = np.random.default_rng(0)
    P = rng.random((5000, 4))
    Y = rng.random(P.shape) < P
    for strategy in ("uniform", "quantile"):
        assert expected_calibration_error(Y, P, strategy=strategy) < 0.015
        assert expected_calibration_error(Y, P**2, strategy=strategy) > 0.1


@pytest.mark.parametrize(
    ("Y", "P", "message"),
    [
        ([0, 1], [0.5], "same samples and labels"),
        ([], [], "at least one"),
        ([0, 2], [0.5, 0.5], "pass Y > 0"),
        ([0, 1], [0.5, 1.5], "from 0.5 to 1.5"),
    ],
)
def test_bad_input_is_named(Y, P, message):
    with pytest.raises(ValueError, match=message):
        expected_calibration_error(Y, P)


def test_labels_and_probabilities_are_in_the_same_order():
    Y = pd.DataFrame({"a": [0, 1, 1, 0], "b": [0, 0, 1, 0]})
    P = pd.DataFrame({"a": [0.2, 0.7, 0.9, 0.1], "b": [0.1, 0.4, 0.8, 0.3]})
    assert expected_calibration_error(Y, P) == expected_calibration_error(
        Y.to_numpy(), P.to_numpy()
    )
    with pytest.raises(ValueError, match="P has its labels in another order"):
        expected_calibration_error(Y[["b", "a"]], P)
    with pytest.warns(UserWarning, match="P has the index of Y in another order"):
        expected_calibration_error(Y[::-1], P)


def test_what_is_reported_is_honest_on_noise():
    """Maps fitted and measured on the same rows would look far better than this."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(120, 4)), rng.random((120, 3)) < 0.3
    model = TunedThresholds(
        HOMI(), calibration="isotonic", shrinkage=0.0, random_state=0
    ).fit(X, Y)
    fresh = rng.normal(size=(4000, 4)), rng.random((4000, 3)) < 0.3
    expected = expected_calibration_error(fresh[1], model.predict_proba(fresh[0]))
    assert model.calibration_error_["after"] > 0.5 * expected


def test_without_probabilities_there_is_nothing_before():
    X, Y = random_rows(0, n=60)
    model = TunedThresholds(RidgeClassifier(), random_state=0).fit(X, Y)
    assert np.isnan(model.calibration_error_["before"])
    assert model.calibration_error_["after"] < 0.2


@every_method
def test_yeast_is_calibrated_on_new_rows(method):
    X, Y, *_ = load("yeast")
    train, test = next(KFold(3, shuffle=True, random_state=0).split(X))
    model = TunedThresholds(HOMI(), calibration=method, random_state=0)
    model.fit(X[train], Y[train])
    own = expected_calibration_error(Y[test], model.estimator_.predict_proba(X[test]))
    after = expected_calibration_error(Y[test], model.predict_proba(X[test]))
    assert after < own / 2
    found = model.calibration_error_
    assert found["after"] < found["before"] / 2
    assert found["before"] == pytest.approx(own, abs=0.015)
    assert found["after"] == pytest.approx(after, abs=0.015)


# Sigmoids of all labels together, against Platt's and against finite differences.


@pytest.fixture
def scores():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(300, 5)) * [0.1, 1.0, 5.0, 1.0, 1.0] + [0, 1, -3, 0, 0]
    slope = np.array([8.0, 1.5, 0.3, 1.0, 1.0])
    offset = np.array([0.0, -1.0, 0.5, -4.0, -5.0])
    return Z, (rng.random(Z.shape) < expit(slope * (Z - Z.mean(0)) + offset)) * 1.0


def test_without_a_prior_they_are_those_of_platt(scores):
    S, Y = scores
    S, Y = S[:, :3], Y[:, :3]
    found, own = fit_pooled_sigmoids(S, Y, strength=1e-9), fit_sigmoids(S, Y)
    np.testing.assert_allclose(found.slope, own.slope, rtol=1e-3)
    np.testing.assert_allclose(found.offset, own.offset, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("strength", [0.3, 3.0, 30.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_no_step_lowers_the_objective(scores, strength, weighted):
    """The gradient vanishes, with the mean of the log-slopes as it is found."""
    S, Y = scores
    w = np.random.default_rng(1).integers(1, 4, len(Y)).astype(float)
    w = w if weighted else np.ones(len(Y))
    found = fit_pooled_sigmoids(
        S, Y, strength=strength, weights=w if weighted else None, tol=1e-10
    )
    total, positives = w.sum(), w @ Y
    mean = w @ S / total
    deviation = np.sqrt(w @ (S - mean) ** 2 / total)
    Z = (S - mean) / deviation
    t = np.where(Y > 0, (positives + 1) / (positives + 2), 1 / (total - positives + 2))
    a = np.log(-found.slope * deviation)
    b = -(found.offset + found.slope * mean)
    # What each label says of its log-slope: the curvature with the offset free.
    u = np.exp(a) * Z
    p = expit(u + b)
    curvature = w[:, None] * p * (1 - p)
    said = (curvature * u * u).sum(0) - (curvature * u).sum(0) ** 2 / curvature.sum(0)
    middle = np.average(a, weights=said / (said + strength))

    def objective(line, j):
        v = np.exp(line[0]) * Z[:, j] + line[1]
        loss = np.logaddexp(0, v) - t[:, j] * v
        return w @ loss + strength / 2 * (line[0] - middle) ** 2

    for j in range(5):
        gradient = approx_fprime(np.array([a[j], b[j]]), objective, 1e-6, j)
        np.testing.assert_allclose(gradient, 0, atol=2e-3)


def test_a_rare_label_has_nearly_the_slope_of_the_others():
    rng = np.random.default_rng(0)
    S = rng.normal(size=(400, 20))
    Y = (rng.random(S.shape) < expit(2 * S - 1)) * 1.0
    Y[:, 0] = 0
    Y[np.argsort(-S[:, 0])[150], 0] = 1
    found = fit_pooled_sigmoids(S, Y)
    others = -found.slope[1:] * S[:, 1:].std(0)
    mine = -found.slope[0] * S[:, 0].std()
    assert 0.5 * others.mean() < mine < others.mean()
    assert -fit_sigmoids(S, Y).slope[0] * S[:, 0].std() < 0.5 * mine


def test_constant_scores_and_starts(scores):
    S, Y = scores
    S = S.copy()
    S[:, 1] = 0.25
    found = fit_pooled_sigmoids(S, Y)
    assert found.slope[1] == 0
    assert found(S)[0, 1] == pytest.approx(Y[:, 1].mean(), abs=0.01)
    again = fit_pooled_sigmoids(S, Y, start=found)
    np.testing.assert_allclose(again(S), found(S), atol=1e-6)


def test_the_strength_is_chosen_by_rows_held_out():
    rng = np.random.default_rng(0)
    S = rng.normal(size=(200, 60))
    rare = expit(1.5 * S - 4)
    alike = (rng.random(S.shape) < rare) * 1.0
    assert choose_strength(S, alike) == 30.0
    slopes = np.exp(rng.normal(0, 1.5, 60))
    different = (rng.random(S.shape) < expit(slopes * S)) * 1.0
    assert choose_strength(S, different) == 0.3
    assert choose_strength(S, np.zeros_like(S)) == 3.0


def test_log_loss():
    Y, P = np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[0.8, 0.4], [0.1, 0.5]])
    rows = [-np.log([0.8, 0.6]).mean(), -np.log([0.9, 0.5]).mean()]
    assert log_loss(Y, P) == pytest.approx(np.mean(rows))
    expected = (3 * rows[0] + rows[1]) / 4
    assert log_loss(Y, P, np.array([3.0, 1.0])) == pytest.approx(expected)


def columns(S, Y, weights, **options):
    """Sigmoids of all labels with cell weights, as (slope, offset)."""
    found = fit_pooled_sigmoids(S, Y, weights=weights, tol=1e-10, **options)
    return np.array([found.slope, found.offset])


def test_a_cell_without_weight_does_not_count(scores):
    """Labels on rows of their own: as if each had been fitted on these rows alone."""
    S, Y = scores
    W = np.repeat((np.arange(300) % 3 > 0)[:, None], 5, axis=1) * 2.0
    kept = W[:, 0] > 0
    expected = columns(S[kept], Y[kept], np.full(kept.sum(), 2.0))
    np.testing.assert_allclose(columns(S, Y, W), expected, rtol=1e-9)
    changed = np.where(W > 0, Y, 1 - Y)
    np.testing.assert_allclose(columns(S + 9 * (W == 0), changed, W), expected)
    assert choose_strength(S, Y, W) == choose_strength(S, changed, W)


def test_without_a_prior_each_label_has_rows_of_its_own(scores):
    S, Y = scores
    W = (np.random.default_rng(1).random(Y.shape) < 0.6) * 1.0
    found = columns(S, Y, W, strength=1e-9)
    for j in range(3):
        on = W[:, j] > 0
        own = fit_sigmoids(S[on, j : j + 1], Y[on, j : j + 1])
        expected = np.ravel([own.slope, own.offset])
        np.testing.assert_allclose(found[:, j], expected, rtol=1e-3, atol=1e-3)


def test_row_weights_are_those_of_all_their_cells(scores):
    S, Y = scores
    w = np.random.default_rng(1).random(len(Y))
    W = np.repeat(w[:, None], 5, axis=1)
    np.testing.assert_allclose(columns(S, Y, W), columns(S, Y, w), rtol=1e-9)
    assert choose_strength(S, Y, W) == choose_strength(S, Y, w)
    P = expit(S)
    assert log_loss(Y, P, W) == pytest.approx(log_loss(Y, P, w), rel=1e-12)
    assert log_loss(Y, P, 0 * W) == 0


def test_a_label_without_weight_breaks_nothing(scores):
    S, Y = scores
    W = np.ones_like(Y)
    W[:, 2] = 0
    found = columns(S, Y, W)
    assert found[0, 2] == 0
    assert np.isfinite(found).all()
    others = [0, 1, 3, 4]
    expected = columns(S[:, others], Y[:, others], None)
    np.testing.assert_allclose(found[:, others], expected, rtol=1e-6)


def test_a_table_of_bins_stands_for_the_rows():
    """Scores of few values: K bins with the weight of their positives and negatives."""
    rng = np.random.default_rng(0)
    points = np.sort(rng.normal(size=(7, 3)), axis=0)
    place = rng.integers(0, 7, size=(200, 3))
    S = np.take_along_axis(points, place, axis=0)
    Y, w = (rng.random(S.shape) < expit(2 * S - 1)) * 1.0, rng.random(200)
    bins = place == np.arange(7)[:, None, None]
    ones, all_ = ((bins * (w[:, None] * A)).sum(axis=1) for A in (Y, np.ones_like(Y)))
    table = np.vstack([points, points]), np.repeat([[1.0], [0.0]], [7, 7], axis=0)
    labels = np.broadcast_to(table[1], table[0].shape)
    found = columns(table[0], labels, np.vstack([ones, all_ - ones]))
    np.testing.assert_allclose(found, columns(S, Y, w), rtol=1e-8)
