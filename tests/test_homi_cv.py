"""HOMI that chooses its own hyper-parameters, against choices made by hand."""

import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import RidgeCV

from conftest import make_problem, random_rows
from homi import HOMI, HOMICV
from homi.datasets import load
from homi.estimators.goals import GOALS, goal
from homi.linalg import Pencil
from homi.metrics import hamming_loss, ranking_loss
from homi.solver import correct, corrected_without_own, leave_one_out, zero_params

SMALL = {"lams": [0.1, 1.0, 10.0], "widths": [1.0], "random_state": 0}


def test_corrections_without_own_labels():
    """Each row by a B and t that were learnt from all others."""
    X, Y = random_rows(n=30, m=6, q=4)
    problem = make_problem(X, Y)
    P = leave_one_out(problem, X, Y, np.eye(4))
    beta = 2.0
    size = np.sum((P - P.mean(axis=0)) ** 2)
    found = corrected_without_own(P, Y, beta)
    for i in range(30):
        others = np.arange(30) != i
        rest = P[others]
        # The penalty keeps its size: that of all rows.
        same = beta * np.sum((rest - rest.mean(axis=0)) ** 2) / size
        learnt = correct(zero_params(problem), rest, Y[others], same)
        np.testing.assert_allclose(found[i], P[i] @ learnt.B + learnt.t, atol=1e-9)


@pytest.mark.parametrize("gamma", [0.0, 0.3, 2.0])
def test_one_factorisation_serves_every_gamma(gamma):
    X, Y = random_rows(n=30, m=6, q=4)
    mu, V = make_problem(X, Y, gamma=1.0).joint_pencil
    problem = make_problem(X, Y, gamma=gamma)
    expected = leave_one_out(problem, X, Y, np.eye(4))
    pencil = Pencil(gamma * mu, V)
    found = leave_one_out(problem, X, Y, np.eye(4), pencil=pencil)
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_it_chooses_as_ridge_does(seed):
    """With nothing but λ to choose, the choice is that of RidgeCV, exactly."""
    X, Y = random_rows(seed, n=40, m=15, q=3)
    alphas = np.logspace(-3, 3, 13)
    ridge = RidgeCV(alphas, fit_intercept=False)
    ridge.fit(np.column_stack([X, np.ones(40)]), Y)
    model = HOMICV(
        "neg_mean_squared_error",
        lams=alphas,
        gammas=[],
        betas=[],
        widths=[],
        standardize=False,
    ).fit(X, Y)
    assert model.best_params_["lam"] == ridge.alpha_
    assert model.best_score_ == pytest.approx(ridge.best_score_)
    assert len(model.cv_results_["score"]) == 13


def test_the_best_is_refitted():
    X, Y = random_rows(n=60, m=6, q=4)
    model = HOMICV(**SMALL).fit(X, Y)
    scores = model.cv_results_["score"]
    assert model.best_score_ == max(scores)
    best = model.cv_results_["params"][int(np.argmax(scores))]
    assert model.best_params_ == best
    seed = model.best_estimator_.random_state
    again = HOMI(**best, random_state=seed).fit(X, Y)
    np.testing.assert_allclose(again.decision_function(X), model.decision_function(X))
    assert isinstance(model.best_estimator_, HOMI)
    # Two views by three λ, graphs around the best, corrections of the best.
    assert len(scores) in (6 + 10 + 5, 6 + 15 + 5)


def test_seeds_and_containers():
    X, Y = random_rows(n=60, m=6, q=4)
    one = HOMICV(**SMALL).fit(X, Y)
    two = clone(one).fit(sparse.csr_array(X), sparse.csr_array(Y))
    assert one.best_params_["lam"] == two.best_params_["lam"]
    np.testing.assert_allclose(
        one.decision_function(X), two.decision_function(X), atol=1e-6
    )


@pytest.mark.parametrize("scoring", GOALS)
def test_every_goal(scoring):
    X, Y = random_rows(n=40, m=5, q=3)
    model = HOMICV(scoring, **SMALL).fit(X, Y)
    assert np.isfinite(model.best_score_)


def test_goals_are_signed_and_cut_at_one_half():
    Y = np.array([[1, 0], [0, 1]])
    scores = np.array([[0.6, 0.4], [0.7, 0.8]])
    assert goal("hamming_loss")(Y, scores) == -hamming_loss(Y, scores > 0.5)
    assert goal("ranking_loss")(Y, scores) == -ranking_loss(Y, scores)
    assert goal(lambda Y, S: 7.0)(Y, scores) == 7.0
    assert goal("average_precision")(np.zeros((2, 2)), scores) == 0.0


def test_a_budget_is_kept():
    X, Y = random_rows(n=60, m=6, q=4)
    started = time.monotonic()
    model = HOMICV(lams=np.logspace(-3, 3, 2000), time_budget=0.2).fit(X, Y)
    assert time.monotonic() - started < 30
    assert 0 < len(model.cv_results_["score"]) < 2000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lams": []}, "lams must be positive"),
        ({"lams": [0.0, 1.0]}, "lams must be positive"),
        ({"betas": [-1.0]}, "betas must be positive"),
        ({"widths": [np.inf]}, "widths must be positive"),
        ({"gammas": [-1.0]}, "gammas must be positive"),
        ({"scoring": "accuracy_of_all"}, "scoring"),
    ],
)
def test_mistakes(options, message):
    X, Y = random_rows()
    with pytest.raises(ValueError, match=message):
        HOMICV(**options).fit(X, Y)


def test_it_is_better_than_the_settings_of_the_paper():
    X, Y, *_ = load("yeast")
    train, test = slice(0, 1800), slice(1800, None)
    losses = []
    for model in (HOMI(n_neighbors=2), HOMICV(n_components=200, random_state=0)):
        model.fit(X[train], Y[train])
        losses.append(ranking_loss(Y[test], model.decision_function(X[test])))
    assert losses[1] < losses[0] - 0.005
