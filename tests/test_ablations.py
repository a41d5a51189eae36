"""HOMI with a part taken out, against the equations written out."""

import numpy as np
import pytest

from homi import HOMI
from homi.benchmark.ablations import StepWise, WithoutLabels
from homi.graph import neighbor_laplacian


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 7)) * np.arange(1, 8) + 2.0
    Y = (X @ rng.normal(size=(7, 4)) + rng.normal(size=(80, 4)) > 0).astype(int)
    return X, Y


def test_without_B_the_first_model_predicts(rows):
    X, Y = rows
    full, part = HOMI().fit(X, Y), WithoutLabels().fit(X, Y)
    expected = X @ full.feature_weights_ + full.feature_bias_ - 0.5
    np.testing.assert_allclose(part.decision_function(X), expected, atol=1e-10)
    np.testing.assert_array_equal(part.predict(X), expected > 0)
    np.testing.assert_allclose(part.label_correlation_, full.label_correlation_)


def test_step_by_step_learns_labels_alone_first(rows):
    """(B, t) is ridge regression of Y on Y and 1, every coefficient penalized."""
    X, Y = rows
    lam, beta = 0.7, 1.3
    model = StepWise(lam=lam, beta=beta).fit(X, Y)
    with_ones = np.column_stack([Y, np.ones(len(Y))])
    gram = beta * with_ones.T @ with_ones + lam * np.eye(5)
    expected = np.linalg.solve(gram, beta * with_ones.T @ Y)
    np.testing.assert_allclose(model.label_correlation_, expected[:-1], atol=1e-9)
    np.testing.assert_allclose(model.label_bias_, expected[-1], atol=1e-9)


def test_step_by_step_learns_features_second(rows):
    """The gradient of the objective by W and z vanishes, B and t held."""
    X, Y = rows
    lam, gamma = 0.7, 0.9
    model = StepWise(lam=lam, gamma=gamma, n_neighbors=3, standardize=False).fit(X, Y)
    W, z, B = model.feature_weights_, model.feature_bias_, model.label_correlation_
    L = neighbor_laplacian(X, 3, mean=np.zeros(7), scale=np.ones(7))
    error = X @ W + z - Y
    by_W = X.T @ error + lam * W + gamma * X.T @ (L @ (X @ W @ B)) @ B.T
    np.testing.assert_allclose(by_W, 0, atol=1e-7)
    np.testing.assert_allclose(error.sum(axis=0) + lam * z, 0, atol=1e-8)


def test_joint_learning_is_never_worse_by_the_objective(rows):
    joint, steps = HOMI(tol=1e-10).fit(*rows), StepWise().fit(*rows)
    assert sum(joint.history_[-1].values()) < sum(steps.history_[-1].values())
    assert steps.n_iter_ == 1
