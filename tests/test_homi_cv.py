"""HOMI that chooses its own hyper-parameters, against choices made by hand."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.metrics import average_precision_score
from sklearn.model_selection import KFold

from conftest import Callback, needs_callbacks, random_rows
from homi import HOMI, HOMICV, memory
from homi.datasets import load
from homi.linear import choose_strength, fit_pooled_sigmoids, log_loss
from homi.metrics import hamming_loss, ranking_loss
from homi.model import candidate_features, final_features, final_odds
from homi.model.blend import fit_blend, fit_log_odds
from homi.model.features import linear_features, with_exact_graph
from homi.model.fold_scores import (
    corrections_by_folds,
    graphs_by_folds,
)
from homi.model.graphs import neighbor_graph
from homi.model.scoring import OBJECTIVES, check_missing, objective
from homi.solver import (
    Params,
    Problem,
    correct,
    graph_path,
    leave_one_out,
    ridge_path,
    shares,
    solve_identity,
    weight_path,
)

SMALL = {"lams": [0.1, 1.0, 10.0], "widths": [1.0], "random_state": 0}
EMPTY = Params(*[np.zeros(0)] * 4)


def share_gap(Y, others):
    """What each label's share in all rows is above that in some of them."""
    return Y.mean(axis=0) - Y[others].mean(axis=0)


def test_corrections_are_measured_on_rows_that_they_have_not_seen():
    """Each fold by a model, leave-one-out scores and a B that know the others only."""
    X, Y = random_rows(n=41, m=6, q=4)
    params = {"lam": 0.7, "gamma": 0.0}
    space = linear_features(X, Y, standardize=True)
    found = corrections_by_folds(space, Y, None, params, [0.5, 5.0], seed=3)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    for others, rows in KFold(5, shuffle=True, random_state=3).split(Y):
        ridge = Ridge(alpha=0.7).fit(scaled[others], Y[others])
        plain, gap = ridge.predict(scaled[rows]), share_gap(Y, others)
        np.testing.assert_allclose(found[False, 0.0][rows], plain + gap, atol=1e-9)
        seen = np.array(
            [
                Ridge(alpha=0.7)
                .fit(scaled[others[others != i]], Y[others[others != i]])
                .predict(scaled[[i]])[0]
                for i in others
            ]
        )
        for beta in (0.5, 5.0):
            learnt = correct(EMPTY, seen, Y[others], beta)
            expected = plain @ learnt.B + learnt.t + gap
            np.testing.assert_allclose(found[False, beta][rows], expected, atol=1e-8)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_graphs_are_measured_on_rows_that_are_not_in_them(container):
    """Ties to rows held out are gone; what is left is scaled to the trace of all."""
    X, Y = random_rows(n=40, m=6, q=4)
    graph = neighbor_graph(linear_features(container(X), Y, standardize=True), X, 5, 0)
    found = graphs_by_folds(graph.space, Y, graph.L, [0.7, 2.0], [0.0, 0.4], seed=0)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    whole = graph.L.toarray()
    trace = np.trace(scaled.T @ whole @ scaled)
    for others, rows in KFold(5, shuffle=True, random_state=0).split(Y):
        S = -whole[np.ix_(others, others)]
        np.fill_diagonal(S, 0.0)
        H = scaled[others].T @ (np.diag(S.sum(axis=1)) - S) @ scaled[others]
        H *= trace * len(others) / 40 / np.trace(H)
        mean, y = scaled[others].mean(axis=0), Y[others].mean(axis=0)
        centred = scaled[others] - mean
        for (lam, gamma), scores in found.items():
            A = centred.T @ centred + lam * np.eye(6) + gamma * H
            W = np.linalg.solve(A, centred.T @ (Y[others] - y))
            expected = (scaled[rows] - mean) @ W + Y.mean(axis=0)
            np.testing.assert_allclose(scores[rows], expected, atol=1e-9)


def test_corrections_of_a_model_with_a_graph():
    X, Y = random_rows(n=40, m=6, q=4)
    graph = neighbor_graph(linear_features(X, Y, standardize=True), X, 5, 0)
    params = {"lam": 0.7, "gamma": 0.4}
    plain = graphs_by_folds(graph.space, Y, graph.L, [0.7], [0.4], seed=0)
    found = corrections_by_folds(graph.space, Y, graph.L, params, [1.0], seed=0)
    np.testing.assert_allclose(found[False, 0.0], plain[0.7, 0.4], atol=1e-9)
    assert np.abs(found[False, 1.0] - found[False, 0.0]).max() > 1e-3


def chosen_by_hand(scaled, Y, lam, weights):
    """Each label's weight by rows left out one by one: a ridge of λ/ω each time."""
    everyone, chosen = np.arange(len(Y)), np.ones(Y.shape[1])
    scores = np.empty(Y.shape)
    for j in range(Y.shape[1]):
        least = np.inf
        for weight in (1.0, *weights):
            ridge = Ridge(alpha=lam / weight)
            left_out = [
                ridge.fit(scaled[everyone != i], Y[everyone != i, j]).predict(
                    scaled[[i]]
                )[0]
                for i in everyone
            ]
            error = np.sum((left_out - Y[:, j]) ** 2)
            if error < least:
                least, chosen[j], scores[:, j] = error, weight, left_out
    return chosen, scores


def test_each_label_has_the_weight_that_suits_it():
    X, Y = random_rows(n=30, m=6, q=4)
    weights = [0.02, 0.3, 5.0]
    space = linear_features(X, Y, standardize=True)
    path = weight_path(space.moments, 3.0, 0.0)
    rows = path.of(space.features, space.mean, space.scale)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    expected, scores = chosen_by_hand(scaled, Y, 3.0, weights)
    chosen = rows.own_weights(Y, path.values, weights)
    np.testing.assert_array_equal(chosen, expected)
    assert len(set(chosen)) > 1
    found = rows.weighted(Y, path.values, chosen)
    np.testing.assert_allclose(found, scores, atol=1e-9)


def test_weights_are_measured_on_rows_held_out():
    X, Y = random_rows(n=30, m=6, q=4)
    weight, params = np.array([0.1, 1.0, 5.0, 0.1]), {"lam": 3.0, "gamma": 0.0}
    space = linear_features(X, Y, standardize=True)
    found = corrections_by_folds(space, Y, None, params, [2.0], 1, weight)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    for others, rows in KFold(5, shuffle=True, random_state=1).split(Y):
        alike = Ridge(alpha=3.0).fit(scaled[others], Y[others]).predict(scaled[rows])
        gap = share_gap(Y, others)
        np.testing.assert_allclose(found[False, 0.0][rows], alike + gap, atol=1e-9)
        ridge = Ridge(alpha=3.0 / weight).fit(scaled[others], Y[others])
        expected = ridge.predict(scaled[rows])
        np.testing.assert_allclose(found[True, 0.0][rows], expected + gap, atol=1e-9)
        seen = np.array(
            [
                clone(ridge)
                .fit(scaled[others[others != i]], Y[others[others != i]])
                .predict(scaled[[i]])[0]
                for i in others
            ]
        )
        learnt = correct(EMPTY, seen, Y[others], 2.0, label_weight=weight)
        expected = expected @ learnt.B + learnt.t + gap
        np.testing.assert_allclose(found[True, 2.0][rows], expected, atol=1e-8)


@pytest.mark.parametrize(("loss", "taken"), [(0.01, True), (0.5, False)])
def test_weights_are_taken_unless_they_are_worse(loss, taken):
    """An objective that likes them less, by one standard error or by far more."""
    X, Y = random_rows(n=60, m=6, q=4)
    n_called = []

    def score(labels, scores):
        # All rows at first; then, fold by fold, new scores and old ones.
        n_called.append(len(labels))
        new = len(labels) < 60 and n_called.count(len(labels)) % 2 == 1
        return -(loss + 0.1 * (labels[0, 0] - 0.5)) * new

    options = {"gammas": [], "betas": [], "widths": [], "random_state": 0}
    model = HOMICV(score, lams=[1.0], **options).fit(X, Y)
    assert (model.label_weight_ is not None) == taken


@pytest.mark.parametrize("gamma", [0.0, 0.3])
def test_a_path_of_weights_is_that_of_the_solver(gamma):
    """What the search expects of weights is what HOMI makes of them."""
    X, Y = random_rows(n=30, m=6, q=4)
    space = with_exact_graph(linear_features(X, Y, standardize=True), X, 4)
    weights = np.array([0.1, 1.0, 3.0, 20.0])
    path = weight_path(space.moments, 0.6, gamma)
    W = path.weights(shares(path.values, weights))
    problem = Problem(space.moments, 0.6, 2.0, gamma, False, weights)
    solution = solve_identity(problem)
    np.testing.assert_allclose(W, solution.params.W, atol=1e-9)


def test_weights_of_labels_that_are_noise():
    """Rare labels that nothing explains count less, those that are clear count more."""
    X, Y = random_rows(n=150, m=8, q=4)
    rng = np.random.default_rng(0)
    Y[:, 0] = rng.random(150) < 0.05
    Y[:, 1] = X[:, 0] > 0
    options = {"gammas": [], "betas": [], "widths": [], "random_state": 0}
    options |= {"calibration": None}
    model = HOMICV("neg_mean_squared_error", **options).fit(X, Y)
    assert model.label_weight_[0] < model.label_weight_[1]
    assert any(model.cv_results_["weighted"])
    alike = HOMICV("neg_mean_squared_error", **options, label_weights=[]).fit(X, Y)
    assert alike.label_weight_ is None
    assert not any(alike.cv_results_["weighted"])


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("gamma", [0.0, 0.3, 2.0])
def test_one_factorisation_serves_many_candidates(gamma, container):
    X, Y = random_rows(n=30, m=6, q=4)
    space = with_exact_graph(linear_features(container(X), Y, standardize=True), X, 4)
    units = space.mean, space.scale
    problem = Problem(space.moments, lam=0.6, gamma=gamma, penalize_bias=False)
    given = {"mean": space.mean, "scale": space.scale}
    expected = leave_one_out(problem, X, Y, np.eye(4), **given)
    if gamma > 0:
        path = graph_path(space.moments, 0.6)
        inverse = 1.0 / (1.0 + gamma * path.values)
    else:
        path = ridge_path(space.moments)
        inverse = 1.0 / (0.6 + path.values)
    found = path.of(space.features, *units).held_out(Y, inverse)
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_it_chooses_as_ridge_does(seed):
    """With nothing but λ to choose, the choice is that of RidgeCV, exactly."""
    X, Y = random_rows(seed, n=40, m=15, q=3)
    alphas = np.logspace(-3, 3, 13)
    ridge = RidgeCV(alphas).fit(X, Y)
    model = HOMICV(
        "neg_mean_squared_error",
        lams=alphas,
        gammas=[],
        label_weights=[],
        betas=[],
        widths=[],
        standardize=False,
        trees=False,
        calibration=None,
    ).fit(X, Y)
    assert model.best_params_["lam"] == ridge.alpha_
    assert model.best_score_ == pytest.approx(ridge.best_score_)
    assert len(model.cv_results_["score"]) == 13
    np.testing.assert_allclose(
        model.decision_function(X) + 0.5, ridge.predict(X), atol=1e-8
    )
    # Log-odds are another scale of the same model.
    model.set_params(calibration="sigmoid").fit(X, Y)
    assert model.best_params_["lam"] == ridge.alpha_
    np.testing.assert_array_equal(
        np.argsort(model.decision_function(X), axis=0),
        np.argsort(ridge.predict(X), axis=0),
    )


@pytest.mark.parametrize("gammas", [(), None])
def test_the_best_is_a_homi_with_its_parameters(gammas):
    X, Y = random_rows(n=60, m=6, q=4)
    model = HOMICV(**SMALL, gammas=gammas, trees=False, n_components=40).fit(X, Y)
    best = model.best_estimator_
    assert isinstance(best, HOMI)
    again = clone(best).fit(X, Y, label_weight=model.label_weight_)
    assert again.get_params() | model.best_params_ == again.get_params()
    np.testing.assert_allclose(
        again.decision_function(X), best.decision_function(X), atol=1e-7
    )
    assert again.history_[-1] == pytest.approx(best.history_[-1], rel=1e-6)
    log_odds = model.odds_slope_ * best.decision_function(X) + model.odds_offset_
    np.testing.assert_allclose(log_odds, model.decision_function(X))
    # Weights may be taken although they reach a little less.
    alike = [
        score
        for score, weighted, held_out in zip(
            *(model.cv_results_[k] for k in ("score", "weighted", "held_out")),
            strict=True,
        )
        if weighted == (model.label_weight_ is not None) and held_out == "a fold"
    ]
    assert model.best_score_ == max(alike)


def test_every_part_is_tried():
    X, Y = random_rows(n=60, m=6, q=4)
    model = HOMICV(lams=[0.1, 1.0, 10.0], gammas=None).fit(X, Y)
    tried = model.cv_results_["params"]
    for name, values in {
        "standardize": {True, False},
        "kernel": {None, "rbf", "laplacian", "rbf+laplacian"},
        "lam": {0.1, 1.0, 10.0},
        "correlation": {"identity", "held-out"},
        "gamma": {0.0, 0.01, 0.03, 0.1, 0.3, 1.0},
    }.items():
        assert {params.get(name) for params in tried} == values
    assert set(model.cv_results_["held_out"]) == {"one row", "a fold"}
    by_folds = model.cv_results_["held_out"].count("a fold")
    # None and five γ for two or three λ, none and five β; more if the graph helped.
    assert by_folds >= 2 * 6 + 6
    stages = ["features", "widths", "mean of kernels", "graph", "label correction"]
    assert model.search_report_["stage"] == [*stages, "fit", "trees"]
    assert sum(model.search_report_["candidates"]) == len(tried)
    assert not any(model.search_report_["cut_short"])


def test_kernels_of_zeros_and_ones_are_tried_once():
    """Squared and city-block distances are the same."""
    X, Y = random_rows(n=60, m=8, q=3)
    model = HOMICV(standardize=False, trees=False).fit((X > 0).astype(float), Y)
    kernels = {params["kernel"] for params in model.cv_results_["params"]}
    assert kernels == {None, "rbf"}


def test_widths_are_walked_while_they_help():
    """On labels that change often, a narrow kernel is best."""
    X = np.random.default_rng(0).uniform(size=(120, 1))
    Y = np.column_stack([np.sin(40 * X) > 0, np.sin(40 * X) < 0.5])
    model = HOMICV(
        kernels=["rbf"], gammas=[], betas=[], standardize=True, random_state=0
    ).fit(X, Y.astype(int))
    widths = {
        params["kernel_params"]["gamma"]
        for params in model.cv_results_["params"]
        if params["kernel"] == "rbf"
    }
    chosen = model.best_params_["kernel_params"]["gamma"]
    assert chosen == max(widths)
    assert len(widths) >= 4


def test_neighbours_are_tried_if_the_graph_helps():
    X, Y = random_rows(n=60, m=6, q=4)
    options = {"widths": [], "label_weights": [], "betas": [], "n_neighbors": [3, 9]}
    options |= {"standardize": True}
    model = HOMICV(lams=[0.001], gammas=[0.5], **options).fit(X, Y)
    tried = [params.get("n_neighbors") for params in model.cv_results_["params"]]
    _, none, nine, *_ = model.cv_results_["score"]
    assert tried == ([None, None, 9, 3] if nine > none else [None, None, 9])
    one = HOMICV(lams=[0.001], gammas=[0.5], **options | {"n_neighbors": 4}).fit(X, Y)
    assert one.cv_results_["params"][2]["n_neighbors"] == 4


def test_penalties_follow_the_units_of_raw_features():
    X, Y = random_rows(n=60, m=6, q=4)
    options = {"widths": [], "gammas": [], "betas": [], "standardize": False}
    options |= {"random_state": 0}
    one = HOMICV(**options).fit(X, Y)
    other = HOMICV(**options).fit(1000 * X, Y)
    assert other.best_params_["lam"] == pytest.approx(1e6 * one.best_params_["lam"])
    assert other.best_score_ == pytest.approx(one.best_score_)


def test_scores_of_rows_left_out():
    X, Y = random_rows(n=40, m=6, q=3)
    options = {"widths": [], "gammas": [], "betas": [], "standardize": False}
    options |= {"label_weights": [], "calibration": None}
    model = HOMICV(lams=[1.0], **options)
    scores = model.fit_held_out(X, Y)
    for i in (0, 17, 39):
        others = np.arange(40) != i
        without = clone(model).fit(X[others], Y[others])
        expected = without.decision_function(X[[i]])[0]
        np.testing.assert_allclose(scores[i], expected, atol=1e-9)


def test_scores_become_log_odds():
    """By sigmoids of scores held out, each with the share of the label in all rows."""
    X, Y = random_rows(n=80, m=6, q=3)
    options = {"lams": [1.0], "widths": [], "betas": [], "label_weights": []}
    options |= {"standardize": True}
    plain = HOMICV(calibration=None, **options)
    held_out, raw = plain.fit_held_out(X, Y), plain.decision_function(X)
    for i in range(80):
        held_out[i] += share_gap(Y, np.arange(80) != i)
    model = HOMICV(trees=False, **options)
    found = model.fit_held_out(X, Y)
    strength = choose_strength(held_out, Y)
    sigmoids = fit_pooled_sigmoids(held_out, Y, strength=strength)
    np.testing.assert_allclose(model.predict_proba(X), sigmoids(raw), atol=1e-6)
    np.testing.assert_allclose(expit(found), sigmoids(held_out), atol=1e-6)
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X) > 0.5)
    for fitted in (plain, model):
        assert fitted.forest_ is None
    assert plain.odds_slope_ is None
    assert plain.odds_offset_ is None


@pytest.mark.parametrize("calibration", ["sigmoid", None])
def test_candidates_are_compared_by_what_the_model_returns(calibration):
    X, Y = random_rows(n=60, m=6, q=4)
    inside = []

    def score(labels, scores):
        inside.append(bool(((scores > 0) & (scores < 1)).all()))
        return float(np.sum(labels * scores))

    HOMICV(score, calibration=calibration, **SMALL).fit(X, Y)
    assert all(inside) == (calibration is not None)


def test_weights_of_rows_are_copies():
    """A row of weight w is left out with all its weight."""
    X, Y = random_rows(n=40, m=6, q=3)
    weights = np.random.default_rng(0).integers(0, 3, 40)
    options = {"lams": [1.0], "widths": [], "betas": [], "label_weights": []}
    options |= {"standardize": True, "trees": False}
    model = HOMICV(**options).fit(X, Y, sample_weight=weights)
    copied = np.repeat(np.arange(40), weights)
    copies = HOMICV(**options).fit(X[copied], Y[copied])
    np.testing.assert_allclose(
        model.best_estimator_.coef_, copies.best_estimator_.coef_, atol=1e-9
    )
    some = weights > 0
    without = HOMICV().fit(X[some], Y[some], sample_weight=weights[some])
    with_all = HOMICV().fit(X, Y, sample_weight=weights)
    assert with_all.best_score_ == pytest.approx(without.best_score_)
    ones = HOMICV().fit(X, Y, sample_weight=np.ones(40))
    np.testing.assert_allclose(
        ones.decision_function(X), HOMICV().fit(X, Y).decision_function(X), atol=1e-7
    )


def test_leave_one_out_with_weights():
    X, Y = random_rows(n=25, m=4, q=3)
    w = np.random.default_rng(0).integers(1, 4, 25).astype(float)
    space = linear_features(X, Y, standardize=False, weights=w)
    path = ridge_path(space.moments)
    rows = path.of(space.features, space.mean, space.scale, w)
    found = rows.held_out(Y, 1.0 / (path.values + 0.5))
    for i in (0, 11, 24):
        others = np.arange(25) != i
        ridge = Ridge(alpha=0.5).fit(X[others], Y[others], w[others])
        np.testing.assert_allclose(found[i], ridge.predict(X[[i]])[0], atol=1e-9)


def test_label_weights_may_be_given():
    X, Y = random_rows(n=60, m=6, q=4)
    weight = [0.1, 1.0, 2.0, 5.0]
    model = HOMICV(**SMALL).fit(X, Y, label_weight=weight)
    np.testing.assert_array_equal(model.label_weight_, weight)


def test_trees_are_averaged_with_the_rest():
    """The log-odds are linear in both."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(250, 30))
    Y = np.column_stack([(X[:, 2] > 0.3) & (X[:, 3] > 0.3), X[:, 4] > 0.7]).astype(int)
    model = HOMICV(trees=True)
    held_out = model.fit_held_out(X, Y)
    assert model.forest_ is not None
    expected = (
        model.best_estimator_.decision_function(X) * model.odds_slope_
        + model.forest_.log_odds(X) * model.forest_slope_
        + model.odds_offset_
    )
    np.testing.assert_allclose(model.decision_function(X), expected)
    without = HOMICV(trees=False)
    assert log_loss(Y, expit(held_out)) < log_loss(Y, expit(without.fit_held_out(X, Y)))
    assert without.forest_ is None


@pytest.mark.parametrize("noise", [1.0, 100.0])
def test_a_mean_of_log_odds_has_the_share_that_helps(noise):
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(500, 4), scale=2.0)
    Y = (rng.random(truth.shape) < expit(truth)).astype(float)
    ours, trees = (truth + rng.normal(size=truth.shape, scale=s) for s in (1.0, noise))
    members = [ours, 3 * trees + 1]
    alone, both = fit_log_odds(ours, Y), fit_blend(members, Y)
    if noise == 100.0:
        assert both.slopes[1] is None
        np.testing.assert_allclose(both(members), alone(ours))
    else:
        losses = [
            log_loss(Y, expit(odds))
            for odds in (
                both(members),
                alone(ours),
                fit_log_odds(trees, Y)(trees),
            )
        ]
        assert losses[0] < min(losses[1:]) - 0.01
        # Both say the same, on scales of their own.
        np.testing.assert_allclose(both.slopes[1] * 3, both.slopes[0], rtol=0.3)


def test_trees_need_log_odds():
    X, Y = random_rows()
    with pytest.raises(ValueError, match="trees=True needs calibration='sigmoid'"):
        HOMICV(trees=True, calibration=None).fit(X, Y)


def test_more_rows_than_the_search_takes(monkeypatch):
    """Chosen on a sample, fitted to all rows."""
    monkeypatch.setattr(candidate_features, "SEARCH_ROWS", 50)
    X, Y = random_rows(n=120, m=6, q=4)
    Y = (np.abs(X[:, :4]) > 0.7).astype(int)
    model = HOMICV(trees=False)
    assert model.fit_held_out(X, Y).shape == Y.shape
    assert model.best_params_["kernel"] is not None
    assert len(model.best_estimator_.kernel_map_.indices) == 120


def test_stages_are_printed(capsys):
    X, Y = random_rows(n=40, m=6, q=3)
    HOMICV(verbose=1, **SMALL).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("[HOMICV] features: ")
    assert lines[-1].startswith("[HOMICV] trees: ")


def test_rare_labels_are_ranked_by_their_odds():
    """Ridge scores of a rare label are noise around its share: too high in most rows.

    Of labels that are as sure, the frequent one must come first in the rows that have
    neither.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 30))
    share = np.array([0.3, 0.3, 0.02, 0.02, 0.02, 0.02])
    cuts = np.quantile(X[:, :6] + 0.7 * rng.normal(size=(400, 6)), 1 - share, axis=0)
    Y = (X[:, :6] + 0.7 * rng.normal(size=(400, 6)) > np.diag(cuts)).astype(int)
    options = {"lams": [1.0], "widths": [], "gammas": [], "betas": []}
    options |= {"label_weights": [], "random_state": 0}
    train, test = slice(200), slice(200, None)
    losses = [
        ranking_loss(Y[test], fitted.decision_function(X[test]))
        for kind in ("sigmoid", None)
        for fitted in [HOMICV(calibration=kind, **options).fit(X[train], Y[train])]
    ]
    assert losses[0] < losses[1]


def test_a_label_that_never_occurs_has_no_odds():
    X, Y = random_rows(n=60, m=6, q=4)
    Y[:, 2] = 0
    model = HOMICV(**SMALL).fit(X, Y)
    assert np.isfinite(model.decision_function(X)).all()
    assert not model.predict(X)[:, 2].any()


def test_threads_change_nothing():
    X, Y = random_rows(n=60, m=6, q=4)
    one = HOMICV(**SMALL).fit(X, Y)
    two = HOMICV(n_jobs=2, **SMALL).fit(X, Y)
    assert one.cv_results_["params"] == two.cv_results_["params"]
    np.testing.assert_allclose(one.cv_results_["score"], two.cv_results_["score"])


@needs_callbacks
def test_callbacks_hear_of_every_group():
    class Heard(Callback):
        def __init__(self):
            self.best = []

        def on_fit_task_end(self, estimator, context, *, metadata):
            if context.task_name == "candidates":
                self.best.append(metadata["best_score"])

    heard = Heard()
    X, Y = random_rows(n=60, m=6, q=4)
    model = HOMICV(**SMALL)
    model.set_callbacks(heard).fit(X, Y)
    assert len(heard.best) > 3
    assert heard.best[:2] == sorted(heard.best[:2])
    assert heard.best[-1] == model.best_score_


def test_labels_of_other_rows_are_never_seen():
    """What is chosen and learnt depends on the rows of fit alone."""
    X, Y = random_rows(n=90, m=6, q=4)
    permuted = Y.copy()
    permuted[60:] = permuted[60:][np.random.default_rng(0).permutation(30)]
    fits = [HOMICV(**SMALL).fit(X[:60], labels[:60]) for labels in (Y, permuted)]
    assert fits[0].cv_results_ == fits[1].cv_results_
    for model in fits:
        found = model.decision_function(X[60:])
        np.testing.assert_array_equal(found, fits[0].decision_function(X[60:]))


def test_seeds_and_containers():
    X, Y = random_rows(n=60, m=6, q=4)
    one = HOMICV(**SMALL).fit(X, Y)
    two = clone(one).fit(sparse.csr_array(X), sparse.csr_array(Y))
    assert one.best_params_["lam"] == two.best_params_["lam"]
    np.testing.assert_allclose(
        one.decision_function(X), two.decision_function(X), atol=1e-6
    )


@pytest.mark.parametrize("scoring", OBJECTIVES)
def test_every_goal(scoring):
    X, Y = random_rows(n=40, m=5, q=3)
    model = HOMICV(scoring, **SMALL).fit(X, Y)
    assert np.isfinite(model.best_score_)


@given(
    st.integers(0, 10_000), st.sampled_from([0.02, 0.5, 1.0]), st.sampled_from([3, 100])
)
def test_average_precision_is_that_of_scikit_learn(seed, share, levels):
    """With few levels, scores of ones and zeros are tied."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((30, 4)) < share).astype(float)
    scores = rng.integers(levels, size=Y.shape) / levels
    found = objective("average_precision")(Y, scores)
    if Y.any():
        expected = average_precision_score(Y.ravel(), scores.ravel())
        assert found == pytest.approx(expected, rel=1e-12)
    else:
        assert found == 0.0


def test_goals_are_signed_and_cut_at_one_half():
    Y = np.array([[1, 0], [0, 1]])
    scores = np.array([[0.6, 0.4], [0.7, 0.8]])
    assert objective("hamming_loss")(Y, scores) == -hamming_loss(Y, scores > 0.5)
    assert objective("ranking_loss")(Y, scores) == -ranking_loss(Y, scores)
    assert objective(lambda Y, S: 7.0)(Y, scores) == 7.0
    assert objective("average_precision")(np.zeros((2, 2)), scores) == 0.0


def test_objectives_of_known_labels_are_those_of_a_loop():
    rng = np.random.default_rng(0)
    Y, P = (rng.random((30, 4)) < 0.4) * 1.0, rng.random((30, 4)).round(1)
    W = rng.integers(0, 3, Y.shape) * 1.0
    clipped = np.clip(P, 1e-6, 1 - 1e-6)
    cells = [(W[i], Y[i], P[i], clipped[i]) for i in np.ndindex(Y.shape) if W[i] > 0]
    w, y, p, c = map(np.array, zip(*cells, strict=True))
    likelihood = np.average(np.log(np.where(y > 0, c, 1 - c)), weights=w)
    assert objective("neg_log_loss")(Y, P, W) == pytest.approx(likelihood)
    error = np.average((y - p) ** 2, weights=w)
    assert objective("neg_mean_squared_error")(Y, P, W) == pytest.approx(-error)
    expected = average_precision_score(y, p)
    assert objective("average_precision")(Y, P, W) == pytest.approx(expected)
    for scoring in ("ranking_loss", ranking_loss):
        with pytest.raises(ValueError, match="pass one of 'neg_log_loss'"):
            check_missing(scoring)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_budget_leaves_a_ridge_regression_with_a_chosen_penalty(kind):
    X, Y = random_rows(n=60, m=6, q=4)
    with pytest.warns(UserWarning, match=r"time_budget=1e-09 .* 15 .*ions, trees"):
        model = HOMICV(time_budget=1e-9).fit(kind(X), Y)
    report = model.search_report_
    notes = dict(zip(report["stage"], report["note"], strict=True))
    assert "rbf (standardized rows)" in notes["features"]
    assert notes["label correction"] == "no time for label weights and corrections"
    assert (notes["fit"], notes["trees"]) == ("", "no time for trees")
    assert dict(zip(report["stage"], report["cut_short"], strict=True))["trees"]
    assert model.forest_ is None
    first = {"kernel": None, "standardize": kind is np.asarray}
    for params in model.cv_results_["params"]:
        assert {name: params[name] for name in first} == first
    ridges = HOMICV(
        kernels=(),
        standardize=first["standardize"],
        gammas=(),
        betas=(),
        label_weights=(),
    ).fit(kind(X), Y)
    assert model.best_params_["lam"] == ridges.best_params_["lam"]
    np.testing.assert_allclose(model.predict_proba(X), ridges.predict_proba(X))


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        ("_MOST_VALUES", "the labels in their leaves are many"),
        ("_MOST_TRIED", "rows and features are many"),
    ],
)
def test_the_report_says_why_there_are_no_trees(monkeypatch, limit, reason):
    X, Y = random_rows()
    monkeypatch.setattr(final_odds, limit, 10)
    report = HOMICV(**SMALL).fit(X, Y).search_report_
    notes = dict(zip(report["stage"], report["note"], strict=True))
    assert notes["trees"] == f"not grown: {reason}"
    report = HOMICV(**SMALL, trees=True).fit(X, Y).search_report_
    assert report["note"][report["stage"].index("trees")] == ""


def test_no_budget_takes_directions_of_wide_rows_away(monkeypatch):
    """Dense rows have theirs fitted; sparse rows have a logistic regression."""
    X, Y = random_rows(n=150, m=60, q=4)
    few = HOMICV(time_budget=1e-9, n_components=20)
    with pytest.warns(UserWarning, match="time_budget"):
        every = clone(few).fit(X, Y)
    monkeypatch.setattr(final_features, "_MOST_FEATURES", 30)
    with pytest.warns(UserWarning, match="time_budget"):
        np.testing.assert_array_equal(clone(few).fit(X, Y).predict(X), every.predict(X))
    monkeypatch.setattr(final_features, "_MOST_ALONE", 30)
    with pytest.warns(UserWarning, match="time_budget"):
        assert (clone(few).fit(X, Y).predict(X) != every.predict(X)).any()
    thin = sparse.csr_array(np.where(X > 2.0, X, 0.0))
    with pytest.warns(UserWarning, match="trees"):
        model = clone(few).fit(thin, Y)
    assert "logistic regression" in model.search_report_["stage"]
    notes = dict(zip(*map(model.search_report_.get, ("stage", "note")), strict=True))
    assert notes["logistic regression"] == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lams": []}, "lams must be positive"),
        ({"lams": [0.0, 1.0]}, "lams must be positive"),
        ({"betas": [-1.0]}, "betas must be positive"),
        ({"widths": [np.inf]}, "widths must be positive"),
        ({"gammas": [-1.0]}, "gammas must be positive"),
        ({"scoring": "accuracy_of_all"}, "scoring"),
        ({"kernels": ["cosine"]}, "kernels must be a list of some of rbf, laplacian"),
        ({"n_neighbors": [0]}, "n_neighbors must be positive"),
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


def test_only_what_the_user_set_is_warned_of():
    X, Y = random_rows(0, n=6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        HOMICV().fit(X, Y)
        HOMICV().fit(X[:, :2], Y)
    with pytest.warns(UserWarning, match="n_neighbors=8 with 6 rows"):
        HOMICV(n_neighbors=[2, 8]).fit(X, Y)


def test_kernel_features_that_do_not_fit_are_refused_before_the_search(monkeypatch):
    X, Y = random_rows(0, n=60)
    monkeypatch.setattr(memory, "available", lambda: 8 * 60 * 3 * 20)
    HOMICV(n_components=20, widths=[1.0]).fit(X, Y)
    with pytest.raises(MemoryError, match=r"60 rows and 21 kernel .* n_components"):
        HOMICV(n_components=21).fit(X, Y)
