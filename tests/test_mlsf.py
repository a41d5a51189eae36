"""MLSF: its Lasso, its groups, and the chain that it is where there is one group."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Lasso
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from conftest import five_folds, random_rows
from homi.methods.mlsf import MLSF, lasso_by_splitting


def grouped_rows(n=300, seed=0):
    """Two groups of labels: each needs its own features, and copies within it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    first, second = X[:, 0] + X[:, 1] > 0, X[:, 2] - X[:, 3] > 0.8
    flips = rng.random((n, 6)) < 0.05
    Y = np.column_stack([first] * 3 + [second] * 3) ^ flips
    return X, Y.astype(float)


@pytest.mark.parametrize("gamma", [0.5, 5.0, 50.0])
def test_splitting_finds_the_lasso(gamma):
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(80, 7)), rng.normal(size=(80, 3))
    Z += X[:, :1] * [1, 2, 0]
    found = lasso_by_splitting(X.T @ X, X.T @ Z, gamma, 10.0, max_iter=5000)
    peer = Lasso(gamma / 80, fit_intercept=False, tol=1e-12, max_iter=10**5)
    expected = peer.fit(X, Z).coef_.T
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, atol=0.05 * scale + 1e-9)


def test_splitting_by_the_letter():
    """Each step as the note prints it, with the matrix inverted."""
    rng = np.random.default_rng(1)
    X, Z, gamma, rho = rng.normal(size=(30, 4)), rng.normal(size=(30, 2)), 2.0, 1.0
    V = G = np.zeros((4, 2))
    for steps in range(1, 6):
        q = X.T @ Z + rho * (V - G)
        W = np.linalg.inv(X.T @ X + rho * np.eye(4)) @ q
        V = np.sign(W + G) * np.maximum(np.abs(W + G) - gamma / rho, 0)
        G = G + W - V
        found = lasso_by_splitting(X.T @ X, X.T @ Z, gamma, rho, max_iter=steps)
        np.testing.assert_allclose(found, V, atol=1e-12)


def test_groups_have_their_own_features_and_do_not_see_each_other():
    X, Y = grouped_rows()
    model = MLSF(group_size=3, gamma=40.0, rho=300.0, random_state=0).fit(X, Y)
    pairs = zip(model.groups_, model.selected_, strict=True)
    groups = {tuple(group.tolist()): set(f.tolist()) for group, f in pairs}
    assert set(groups) == {(0, 1, 2), (3, 4, 5)}
    assert groups[0, 1, 2] == {0, 1}
    assert groups[3, 4, 5] == {2, 3}
    weights, coef = model.chain_.weights, model.chain_.linear.coef
    assert not weights[:3, 3:].any()
    assert not weights[3:, :3].any()
    assert weights.any()
    assert not coef[2:, :3].any()
    assert not coef[[0, 1, 4, 5], 3:].any()
    assert np.mean(model.predict(X) == Y) > 0.9


def test_one_group_and_all_features_is_a_classifier_chain():
    """Margins of scikit-learn's machines, one after the other, on [X, earlier]."""
    X, Y = random_rows(2, n=80, m=5, q=4)
    model = MLSF(gamma=0.0, tol=1e-7, random_state=3).fit(X, Y)
    assert [len(group) for group in model.groups_] == [4]
    rows = StandardScaler().fit_transform(X)
    margins, decided = np.zeros((80, 4)), np.zeros((80, 0))
    true = np.zeros((80, 0))
    for label in model.chain_.order:
        machine = LinearSVC(tol=1e-9, intercept_scaling=100, max_iter=10**6)
        machine.fit(np.hstack([rows, true]), Y[:, label])
        margins[:, label] = machine.decision_function(np.hstack([rows, decided]))
        true = np.column_stack([true, Y[:, label]])
        decided = np.column_stack([decided, margins[:, label] > 0])
    np.testing.assert_allclose(model.chain_.walk(X), margins, atol=0.02)
    np.testing.assert_array_equal(model.chain_.walk(X) > 0, margins > 0)


def test_no_feature_left_means_all_features():
    X, Y = random_rows(0)
    model = MLSF(gamma=1e9, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(model.selected_[0], np.arange(8))


def test_labels_follow_probabilities():
    X, Y = random_rows(1, n=100)
    model = MLSF(random_state=0).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X) > 0.5)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_many_labels_make_many_groups(kind):
    X, Y = random_rows(0, n=120, m=6, q=25)
    model = MLSF(random_state=0).fit(kind(X), kind(Y))
    assert len(model.groups_) == 3
    np.testing.assert_array_equal(np.sort(np.concatenate(model.groups_)), range(25))


def test_scores_are_probabilities_around_one_half():
    X, Y = random_rows(n=60, m=6, q=4)
    model = MLSF(random_state=0).fit(X, Y)
    expected = model.chain_.probabilities(X) - 0.5
    np.testing.assert_allclose(model.decision_function(X), expected)
    np.testing.assert_allclose(model.predict_proba(X) - 0.5, expected, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "means"),
    [
        ("emotions", (0.224, 0.181, 0.319, 0.816)),
        pytest.param("yeast", (0.210, 0.201, 0.261, 0.631), marks=pytest.mark.slow),
        pytest.param("scene", (0.128, 0.122, 0.345, 0.892), marks=pytest.mark.slow),
        pytest.param("birds", (0.050, 0.107, 0.701, None), marks=pytest.mark.slow),
        pytest.param("CAL500", (0.138, None, 0.128, None), marks=pytest.mark.slow),
    ],
)
def test_printed_rows(name, means, data):
    """Within two deviations of the HOMI paper's MLSF.

    CAL500's ranking loss is lower than printed (departures.md), and the AUC of CAL500
    and birds depends on how labels without one count.
    """
    five_folds(MLSF(random_state=0), data(name)).agree_with(means)
