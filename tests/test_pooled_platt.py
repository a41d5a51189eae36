"""Sigmoids of all labels together, against Platt's and against finite differences."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import expit

from homi.linear import fit_pooled_sigmoids, fit_sigmoids, log_loss
from homi.linear.pooled_platt import choose_strength


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
    found = fit_pooled_sigmoids(S, Y, tol=1e-9)
    assert found.slope[1] == 0
    assert found(S)[0, 1] == pytest.approx(Y[:, 1].mean(), abs=0.01)
    again = fit_pooled_sigmoids(S, Y, start=found, tol=1e-9)
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
