"""Thresholds: the search against brute force, then the meta-estimator's contract."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import contract_checks
from conftest import POLARS, random_rows
from homi import HOMI, HOMICV
from homi.datasets import load
from homi.estimators import BinaryRelevance, MLkNN
from homi.metrics import METRICS, scorers
from homi.thresholds import TunedThresholds
from homi.thresholds.choose import choose_strategy
from homi.thresholds.objectives import OBJECTIVES
from homi.thresholds.rules import RARE, cut_rows, fit_rule
from homi.thresholds.scores import held_out_responses, label_probabilities
from homi.thresholds.search import best_global, best_k, best_per_label

STRATEGIES = ("global", "per_label", "cardinality", "top_k")
EXACT_PER_LABEL = ("hamming", "micro_f1", "macro_f1")
SPARSITY = ("dense", "sparse")
NAMES = {"hamming": "hamming_loss", "subset_accuracy": "exact_match"}

every_objective = pytest.mark.parametrize("objective", sorted(OBJECTIVES))
every_strategy = pytest.mark.parametrize("strategy", STRATEGIES)


def quality(objective, Y, P):
    """The objective by its definition, greater is better."""
    if objective == "jaccard":
        Y, P = (np.asarray(each, dtype=int) for each in (Y, P))
        union = (Y | P).sum(axis=1)
        return np.mean((Y & P).sum(axis=1) / np.maximum(union, 1))
    metric = METRICS[NAMES.get(objective, objective)]
    return metric(Y, P) if metric.greater_is_better else -metric(Y, P)


def cuts(scores):
    """Every threshold that matters."""
    values = np.unique(scores)
    return [-np.inf, *(values[:-1] + values[1:]) / 2, np.inf]


@st.composite
def problems(draw):
    """Few scores, many of them tied, and labels of any density."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    S = np.round(rng.normal(size=shape), draw(st.integers(0, 2)))
    return S, rng.random(shape) < draw(st.sampled_from([0.0, 0.2, 0.5, 0.8, 1.0]))


@every_objective
@settings(max_examples=60)
@given(problem=problems())
def test_no_global_threshold_is_better(objective, problem):
    S, Y = problem
    found = quality(objective, Y, best_global(S, Y, objective) < S)
    best = max(quality(objective, Y, t < S) for t in cuts(S))
    assert found == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("objective", EXACT_PER_LABEL)
@settings(max_examples=40)
@given(problem=problems())
def test_no_thresholds_per_label_are_better(objective, problem):
    S, Y = problem
    found = quality(objective, Y, best_per_label(S, Y, objective) < S)
    choices = itertools.product(*(cuts(column) for column in S.T))
    best = max(quality(objective, Y, np.array(t) < S) for t in choices)
    assert found == pytest.approx(best, abs=1e-12)


@every_objective
@pytest.mark.parametrize("seed", range(6))
def test_no_threshold_alone_improves_the_others(objective, seed):
    rng = np.random.default_rng(seed)
    S = np.round(rng.normal(size=(40, 6)), 1)
    Y = S + 2 * rng.normal(size=S.shape) > rng.normal(size=6)
    t = best_per_label(S, Y, objective)
    found = quality(objective, Y, t < S)
    assert found >= quality(objective, Y, best_global(S, Y, objective) < S) - 1e-12
    for j, column in enumerate(S.T):
        for other in cuts(column):
            moved = np.where(np.arange(len(t)) == j, other, t)
            assert quality(objective, Y, moved < S) <= found + 1e-12


@every_objective
@settings(max_examples=60)
@given(problem=problems())
def test_no_other_number_of_labels_is_better(objective, problem):
    S, Y = problem
    ranks = np.argsort(np.argsort(-S, axis=1, kind="stable"), axis=1)
    values = [quality(objective, Y, ranks < k) for k in range(S.shape[1] + 1)]
    k = best_k(S, Y, objective)
    assert values[k] == pytest.approx(max(values), abs=1e-12)
    assert all(value < values[k] - 1e-13 for value in values[:k])


@every_objective
@settings(max_examples=40)
@given(problem=problems())
def test_no_other_rounding_of_the_cardinality_is_better(objective, problem):
    S, Y = problem
    rule = fit_rule(S, Y, objective, "cardinality")
    if not rule.seen.any():
        assert not (rule(S) > 0).any()
        return
    S, Y = S[:, rule.seen], Y[:, rule.seen]
    expected = rule.rule.regression.predict(np.sort(S, axis=1))
    ranks = np.argsort(np.argsort(-S, axis=1, kind="stable"), axis=1)
    surplus = expected[:, None] - 1 - ranks
    # Sums of floats that should be equal may differ by rounding.
    close = [t for t in cuts(surplus) if np.abs(surplus - t).min() > 1e-9]
    best = max(quality(objective, Y, surplus > t) for t in close)
    assert quality(objective, Y, rule.rule(S) > 0) >= best - 1e-12


@pytest.mark.parametrize("objective", EXACT_PER_LABEL)
def test_labels_that_are_not_free_keep_the_global_threshold(objective):
    rng = np.random.default_rng(0)
    for _ in range(20):
        S, Y = np.round(rng.normal(size=(6, 3)), 1), rng.random((6, 3)) < 0.4
        t = best_per_label(S, Y, objective, np.array([True, False, True]))
        assert t[1] == best_global(S, Y, objective)
        best = max(
            quality(objective, Y, np.array([a, t[1], b]) < S)
            for a, b in itertools.product(cuts(S[:, 0]), cuts(S[:, 2]))
        )
        assert quality(objective, Y, t < S) == pytest.approx(best, abs=1e-12)


def test_a_threshold_is_halfway_between_scores():
    S, Y = np.array([[0.1], [0.4], [0.9]]), np.array([[False], [False], [True]])
    assert best_global(S, Y, "hamming") == pytest.approx(0.65)
    assert best_per_label(S, Y, "macro_f1")[0] == pytest.approx(0.65)
    assert best_global(S, ~Y & False, "hamming") == np.inf
    assert best_global(S, Y | True, "hamming") == -np.inf


def test_of_equally_good_thresholds_the_highest_is_taken():
    S, Y = np.array([[3.0], [2.0], [1.0]]), np.array([[True], [False], [True]])
    assert best_global(S, Y, "hamming") == 2.5
    assert best_per_label(S, Y, "hamming")[0] == 2.5


def test_neighbouring_floats_are_told_apart():
    S = np.array([[1.0], [np.nextafter(1.0, 2.0)]])
    t = best_global(S, np.array([[False], [True]]), "hamming")
    np.testing.assert_array_equal(t < S, [[False], [True]])


def test_rows_are_cut_after_as_many_labels_as_asked_for():
    rng = np.random.default_rng(0)
    S = np.round(rng.normal(size=(200, 5)), 1)
    S[0] = 0.3
    counts = rng.integers(0, 6, size=200)
    decisions = cut_rows(S, counts)
    ranks = np.argsort(np.argsort(-S, axis=1, kind="stable"), axis=1)
    np.testing.assert_array_equal(decisions > 0, ranks < counts[:, None])
    np.testing.assert_allclose(
        cut_rows(np.array([[4.0, 1.0, 2.0]]), np.array([2])), [[2.5, -0.5, 0.5]]
    )
    gaps = np.diff(np.sort(decisions, axis=1), axis=1)
    np.testing.assert_allclose(gaps, np.diff(np.sort(S, axis=1), axis=1), atol=1e-12)


@every_objective
@every_strategy
def test_a_label_that_never_occurs_is_never_predicted(objective, strategy):
    rng = np.random.default_rng(0)
    S = rng.normal(size=(50, 4))
    Y = S + rng.normal(size=S.shape) > 0.5
    Y[:, 2] = False
    rule = fit_rule(S, Y, objective, strategy)
    new = np.vstack([S, S + 100.0, S - 100.0])
    decisions = rule(new)
    assert np.isfinite(decisions).all()
    assert not (decisions[:, 2] > 0).any()
    assert (decisions[:, [0, 1, 3]] > 0).any()
    without = fit_rule(S[:, [0, 1, 3]], Y[:, [0, 1, 3]], objective, strategy)
    np.testing.assert_array_equal(decisions[:, [0, 1, 3]], without(new[:, [0, 1, 3]]))


def test_a_rare_label_keeps_the_global_threshold():
    rng = np.random.default_rng(0)
    S, Y = rng.normal(size=(60, 3)), rng.random((60, 3)) < 0.4
    for positives, same in ((RARE - 1, True), (RARE, False)):
        Y[:, 1] = np.arange(60) < positives
        rule = fit_rule(S, Y, "macro_f1", "per_label").rule
        assert (rule.values[1] == best_global(S, Y, "macro_f1")) == same


def test_decisions_are_finite_and_ordered_where_thresholds_are_not():
    S, Y = np.arange(-4.0, 4.0)[:, None], np.ones((8, 1), dtype=bool)
    rule = fit_rule(S, Y, "hamming", "per_label")
    assert rule.rule.values[0] == -np.inf
    decisions = rule(np.vstack([S, [[-1e300]], [[1e300]]]))
    assert np.isfinite(decisions).all()
    assert (decisions > 0).all()
    assert (np.diff(decisions[:8, 0]) > 0).all()


# The meta-estimator.


def ours(**options):
    return TunedThresholds(HOMI(), random_state=0, **options)


def expected_failures(model):
    """Checks that cannot pass, and why."""
    # Before 1.7, the check does not keep repeated rows in one fold.
    version = tuple(map(int, sklearn.__version__.split(".")[:2]))
    if isinstance(model.estimator, HOMI) and version >= (1, 7):
        return {}
    kinds = [f"check_sample_weight_equivalence_on_{x}_data" for x in SPARSITY]
    found = dict.fromkeys(kinds, "repeated rows are in several folds")
    if model.strategy != "cardinality":
        return found
    why = "labels follow a number for each row, not probabilities above 1/2"
    found["check_classifier_multioutput"] = why
    why = "OneVsRestClassifier takes weights only with metadata routing"
    rest = ("sample_weights_list", "sample_weights_not_overwritten")
    names = [*rest, "classifiers_one_label_sample_weights"]
    return found | {f"check_{name}": why for name in names}


#: Options of HOMICV: linear models only, and no search but for λ.
LINEAR = {"widths": [], "trees": False, "betas": [], "label_weights": []}


@pytest.mark.filterwarnings("ignore")
@contract_checks.parametrize(
    [
        TunedThresholds(HOMI(), cv=2),
        TunedThresholds(HOMICV(lams=[1.0], **LINEAR), cv="own", strategy="auto"),
        TunedThresholds(
            OneVsRestClassifier(LogisticRegression()),
            strategy="cardinality",
            calibration="isotonic",
            cv=2,
        ),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn(estimator, expected):
    if isinstance(estimator.estimator, HOMI):
        contract_checks.check(estimator, expected)
    else:
        contract_checks.check_parameters(estimator, expected)


@pytest.fixture
def rows():
    return random_rows(0, n=90, m=5, q=4)


FOREIGN = {
    "one_vs_rest": OneVsRestClassifier(LogisticRegression()),
    "network": MLPClassifier((8,), solver="lbfgs", max_iter=50, random_state=0),
    "forest": RandomForestClassifier(10, random_state=0),
    "neighbours": KNeighborsClassifier(),
    "ridge": RidgeClassifier(),
    "one_vs_rest_bayes": OneVsRestClassifier(GaussianNB()),
    "pipeline": make_pipeline(StandardScaler(), HOMI()),
    "pipeline_forest": make_pipeline(
        StandardScaler(), RandomForestClassifier(10, random_state=0)
    ),
    "search": GridSearchCV(HOMI(), {"lam": [1.0, 10.0]}, cv=2),
    "margins": BinaryRelevance(random_state=0),
    "ml_knn": MLkNN(),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("name", "strategy"), [*zip(FOREIGN, itertools.cycle(STRATEGIES), strict=False)]
)
def test_any_classifier_will_do(name, strategy):
    X, Y = random_rows(0, n=400, m=5, q=4)
    model = TunedThresholds(FOREIGN[name], strategy=strategy, cv=3, random_state=0)
    model.fit(X[:120], Y[:120])
    scores, labels = model.decision_function(X), model.predict(X)
    np.testing.assert_array_equal(labels, scores > 0)
    P = model.predict_proba(X)
    assert P.shape == Y.shape
    assert ((P > 0) & (P < 1)).all()
    assert np.mean(labels[120:] == Y[120:]) > 0.65
    assert model.n_features_in_ == 5
    known = hasattr(model.estimator_, "predict_proba")
    assert np.isnan(model.calibration_error_["before"]) != known


@every_strategy
def test_held_out_scores_are_those_of_a_literal_loop(strategy, rows):
    X, Y = rows
    folds = KFold(3)
    S, own = np.empty_like(Y), np.empty_like(Y)
    for train, test in folds.split(X):
        fitted = HOMI().fit(X[train], Y[train])
        S[test], own[test] = fitted.ranking_scores(X[test]), fitted.predict(X[test])
    whole = HOMI().fit(X, Y).ranking_scores(X)
    for objective in OBJECTIVES:
        model = TunedThresholds(
            HOMI(), objective=objective, strategy=strategy, cv=folds, random_state=0
        ).fit(X, Y)
        metric = OBJECTIVES[objective].metric
        assert model.held_out_score_["before"] == metric(Y, own)
        labels = fit_rule(S, Y > 0, objective, strategy)(S) > 0
        assert model.held_out_score_["after"] == metric(Y, labels)
        np.testing.assert_array_equal(model.ranking_scores(X), whole)


def test_thresholds_do_not_change_metrics_of_rankings(rows):
    X, Y = rows
    names = ["ranking_loss", "one_error", "macro_auc"]
    inner = BinaryRelevance(random_state=0)
    model = TunedThresholds(inner, objective="macro_f1", random_state=0).fit(X, Y)
    plain = clone(inner).fit(X, Y)
    for scorer in scorers(names).values():
        assert scorer(model, X, Y) == scorer(plain, X, Y)


@pytest.mark.parametrize("objective", ["hamming", "macro_f1"])
def test_auto_is_the_best_on_unseen_rows_or_no_tuning(objective, rows):
    X, Y = rows
    found = TunedThresholds(
        HOMI(), objective=objective, strategy="auto", random_state=0
    ).fit(X, Y)
    unseen = {}
    for strategy in ("global", "per_label"):
        options = {"objective": objective, "strategy": strategy, "random_state": 0}
        other = TunedThresholds(HOMI(), **options).fit(X, Y)
        unseen[strategy] = other.held_out_score_["unseen"]
    unseen["zero"] = found.held_out_score_["before"]
    best = min if objective == "hamming" else max
    assert found.held_out_score_["unseen"] == unseen[found.strategy_]
    assert unseen[found.strategy_] in (unseen["zero"], best(unseen.values()))
    assert found.thresholds_.shape == (Y.shape[1],)


@pytest.mark.parametrize(("right", "chosen"), [(0.9, "b"), (0.51, "a")])
def test_a_strategy_must_be_clearly_better_than_no_tuning(right, chosen):
    rng = np.random.default_rng(0)
    Y = rng.random((200, 3)) < 0.5
    unseen = {
        "a": Y ^ (rng.random(Y.shape) < 0.5),
        "b": Y ^ (rng.random(Y.shape) > right),
    }
    folds = np.array_split(np.arange(200), 5)
    hamming = OBJECTIVES["hamming"]
    assert hamming.score(Y, unseen["b"]) < hamming.score(Y, unseen["a"])
    for cells in (None, np.ones(Y.shape)):
        assert choose_strategy(unseen, Y, hamming, folds, cells) == chosen


def test_a_classifier_with_held_out_scores_is_fitted_once(rows):
    X, Y = rows
    inner = HOMICV(lams=[1.0, 10.0], widths=[], random_state=0)
    found = TunedThresholds(inner, cv="own", strategy="global").fit(X, Y)
    scores = clone(inner).fit_held_out(X, Y)
    t = found.thresholds_[0]
    errors = [np.mean((scores > other) != Y) for other in [t, 0.0, t - 0.02, t + 0.02]]
    assert errors[0] == min(errors)
    assert found.held_out_score_["before"] == pytest.approx(errors[1])
    np.testing.assert_array_equal(
        found.ranking_scores(X), clone(inner).fit(X, Y).decision_function(X)
    )
    with pytest.raises(TypeError, match="HOMI has no method fit_held_out"):
        TunedThresholds(HOMI(), cv="own").fit(X, Y)


def test_rows_pass_through_a_whole_pipeline(rows):
    X, Y = rows
    model = TunedThresholds(FOREIGN["pipeline"], random_state=0).fit(X, Y)
    expected = clone(FOREIGN["pipeline"]).fit(X, Y).decision_function(X)
    np.testing.assert_array_equal(model.ranking_scores(X), expected)


def test_probabilities_come_in_every_form():
    X, Y = random_rows(0, n=40, q=3)
    Y[:, 1], Y[:, 2] = 0, 1
    forest = RandomForestClassifier(5, random_state=0).fit(X, Y)
    P = label_probabilities(forest, X, 3)
    np.testing.assert_array_equal(P[:, 0], forest.predict_proba(X)[0][:, 1])
    np.testing.assert_array_equal(P[:, 1:], np.tile([0.0, 1.0], (40, 1)))


@every_strategy
def test_the_labels_of_other_rows_change_nothing(strategy, rows):
    X, Y = rows
    model = ours(strategy=strategy).fit(X[:60], Y[:60])
    before = model.decision_function(X[60:]), model.predict_proba(X[60:])
    shuffled = Y.copy()
    shuffled[60:] = np.random.default_rng(0).permutation(shuffled[60:])
    again = ours(strategy=strategy).fit(X[:60], shuffled[:60])
    assert again.held_out_score_ == model.held_out_score_
    after = again.decision_function(X[60:]), again.predict_proba(X[60:])
    np.testing.assert_array_equal(before, after)


def test_what_to_expect_of_new_rows_is_honest_on_noise():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(80, 3)), rng.random((80, 6)) < 0.5
    found = ours().fit(X, Y).held_out_score_
    assert found["after"] < 0.45 < found["unseen"]


def test_no_row_is_scored_by_a_model_that_saw_it():
    """One nearest neighbour knows the labels of the rows it saw, and of no others."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(200, 3)), rng.random((200, 2)) < 0.5
    nearest = KNeighborsClassifier(1)
    S, own, P = held_out_responses(nearest, X, Y, KFold(5), None)
    assert 0.35 < np.mean(own == Y) < 0.65
    np.testing.assert_array_equal(S, P)
    model = TunedThresholds(nearest, random_state=0).fit(X, Y)
    assert model.held_out_score_["unseen"] > 0.35


@pytest.mark.parametrize(
    "kind", [sparse.csr_array, sparse.csc_matrix, np.ndarray.tolist]
)
def test_any_container_gives_the_same_model(kind, rows):
    X, Y = rows
    X = np.where(X > 0, np.round(X, 2), 0.0)
    expected = ours().fit(X, Y).decision_function(X)
    found = ours().fit(kind(X), kind(Y)).decision_function(kind(X))
    np.testing.assert_allclose(found, expected, atol=2e-3)


def test_sparse_rows_stay_sparse(rows):
    class OnlySparse(HOMI):
        def fit(self, X, y):
            assert sparse.issparse(X)
            return super().fit(X, y)

    X, Y = rows
    TunedThresholds(OnlySparse(), random_state=0).fit(sparse.csr_array(X), Y)


@pytest.mark.parametrize("frame", [pd.DataFrame, POLARS])
def test_names_of_a_data_frame_are_kept(frame, rows):
    X, Y = rows
    columns, labels = list("abcde"), ["joy", "anger", "calm", "fear"]
    X = frame(dict(zip(columns, X.T, strict=True)))
    Y = frame(dict(zip(labels, Y.T.astype(int), strict=True)))
    model = ours().fit(X, Y)
    assert list(model.feature_names_in_) == columns
    assert list(model.label_names_) == labels
    with pytest.raises(ValueError, match=r"feature names"):
        model.predict(X[columns[::-1]])


def test_the_seed_and_nothing_else_decides_the_folds(rows):
    X, Y = rows
    first = ours().fit(X, Y)
    copy = pickle.loads(pickle.dumps(first))
    for model in (copy, clone(first).fit(X, Y), ours(n_jobs=2).fit(X, Y)):
        assert model.held_out_score_ == first.held_out_score_
        np.testing.assert_array_equal(model.thresholds_, first.thresholds_)
        np.testing.assert_array_equal(model.predict_proba(X), first.predict_proba(X))
    other = TunedThresholds(HOMI(), random_state=1).fit(X, Y)
    assert (other.thresholds_ != first.thresholds_).any()


def test_another_fit_leaves_nothing_of_the_one_before(rows):
    X, Y = rows
    again = ours(strategy="per_label").fit(X, Y)
    for changed in (
        {"strategy": "top_k"},
        {"strategy": "cardinality", "calibration": None},
    ):
        again.set_params(**changed).fit(X, Y)
        assert set(vars(again)) == set(vars(clone(again).fit(X, Y)))


def test_two_classes_in_one_dimension(rows):
    X, Y = rows
    y = np.where(Y[:, 0] > 0, "yes", "no")
    forest = RandomForestClassifier(10, random_state=0)
    for inner in (HOMI(), LogisticRegression(), forest):
        model = TunedThresholds(inner, random_state=0).fit(X, y)
        assert list(model.classes_) == ["no", "yes"]
        assert (
            model.decision_function(X).shape == model.ranking_scores(X).shape == (90,)
        )
        assert model.predict_proba(X).shape == (90, 2)
        assert np.mean(model.predict(X) == y) > 0.7
        column = TunedThresholds(inner, random_state=0).fit(X, Y[:, :1])
        np.testing.assert_array_equal(
            column.predict(X).ravel(), model.predict(X) == "yes"
        )


@pytest.mark.parametrize(
    ("objective", "strategy"),
    [*zip(sorted(OBJECTIVES), itertools.cycle(STRATEGIES), strict=False)],
)
def test_degenerate_labels(objective, strategy, rows):
    X, Y = rows
    n = len(X)
    Y = np.column_stack([np.zeros(n), np.ones(n), np.eye(n)[0], Y[:, 0], Y[:, 0]])
    model = ours(objective=objective, strategy=strategy).fit(X, Y)
    labels = model.predict(X)
    assert not labels[:, 0].any()
    assert not hasattr(model.estimator, "coef_")
    if strategy in ("global", "per_label"):
        assert model.thresholds_[0] == np.inf
        above = model.ranking_scores(X) > model.thresholds_
        np.testing.assert_array_equal(labels, above)
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(model.predict_proba(X)).all()


@every_strategy
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_only_constant_labels(strategy, value, rows):
    X, _ = rows
    for q in (1, 3):
        Y = np.full((90, q), value)
        np.testing.assert_array_equal(ours(strategy=strategy).fit(X, Y).predict(X), Y)


@every_strategy
@pytest.mark.parametrize("n", [2, 3, 6])
def test_few_rows(strategy, n):
    X, Y = random_rows(0, n=n)
    for calibration in ("sigmoid", "isotonic", None):
        model = TunedThresholds(
            HOMI(gamma=0.0), strategy=strategy, calibration=calibration, random_state=0
        ).fit(X, Y)
        assert np.isfinite(model.decision_function(X)).all()


def test_a_search_over_its_parameters(rows):
    X, Y = rows
    grid = {"strategy": ["global", "top_k"], "estimator__lam": [1.0, 10.0]}
    search = GridSearchCV(ours(), grid, scoring=scorers(["micro_f1"])["micro_f1"], cv=2)
    assert 0.5 < search.fit(X, Y).best_score_ < 1.0


def test_probabilities_of_the_classifier_itself(rows):
    X, Y = rows
    model = ours(calibration=None).fit(X, Y)
    np.testing.assert_array_equal(
        model.predict_proba(X), HOMI().fit(X, Y).predict_proba(X)
    )
    assert model.calibration_error_["before"] == model.calibration_error_["after"]
    ridge = TunedThresholds(RidgeClassifier(), calibration=None).fit(X, Y)
    assert not hasattr(ridge, "predict_proba")


@pytest.mark.parametrize(
    ("options", "change", "message"),
    [
        ({}, lambda X, Y: (X, np.arange(90) % 3), "pass a 0/1 column for each label"),
        ({}, lambda X, Y: (X, None), "requires y to be passed"),
        ({}, lambda X, Y: (X, Y - 1), r"pass \(Y > 0\)"),
        ({}, lambda X, Y: (X, Y[:-1]), "inconsistent numbers of samples"),
        ({}, lambda X, Y: (X[:1], Y[:1]), "n_samples = 1; pass at least 2 rows"),
        ({"cv": 1}, lambda X, Y: (X, Y), "cv"),
        ({"cv": ShuffleSplit(2)}, lambda X, Y: (X, Y), "partitions"),
        ({"objective": "f1"}, lambda X, Y: (X, Y), "objective"),
        ({"strategy": "best"}, lambda X, Y: (X, Y), "strategy"),
        ({"shrinkage": -1.0}, lambda X, Y: (X, Y), "shrinkage"),
    ],
)
def test_bad_input_is_named(options, change, message, rows):
    with pytest.raises(ValueError, match=message):
        ours(**options).fit(*change(*rows))


class Silent(RidgeClassifier):
    """A classifier without scores."""

    @property
    def decision_function(self):
        raise AttributeError


class Broken(RidgeClassifier):
    """A classifier whose scores are no numbers."""

    def decision_function(self, X):
        return super().decision_function(X) * np.nan


class Wide(RidgeClassifier):
    """A classifier with scores of other labels."""

    def decision_function(self, X):
        return np.repeat(super().decision_function(X), 2, axis=1)


@pytest.mark.parametrize(
    ("inner", "error", "message"),
    [
        (Silent(), TypeError, "Silent has no scores.*wrap a classifier that has one"),
        (Broken(), ValueError, "decision_function of Broken returned .* NaN"),
        (
            Wide(),
            ValueError,
            r"returned shape \(18, 8\) for 4 labels, expected \(18, 4\)",
        ),
    ],
)
def test_a_classifier_that_will_not_do_is_named(inner, error, message, rows):
    with pytest.raises(error, match=message):
        TunedThresholds(inner).fit(*rows)


@pytest.fixture(scope="module")
def yeast():
    """Rows to train and to test, and HOMI with held-out scores of the former."""
    X, Y, *_ = load("yeast")
    train, test = next(KFold(3, shuffle=True, random_state=0).split(X))
    fitted = HOMI().fit(X[train], Y[train])
    scores, _, _ = held_out_responses(HOMI(), X[train], Y[train] > 0, KFold(5), None)

    class Fitted(HOMI):
        def fit_held_out(self, X, y):
            vars(self).update(vars(fitted))
            return scores

    return Fitted(), X[train], Y[train], X[test], Y[test]


@every_objective
@every_strategy
def test_yeast_is_predicted_better_than_by_one_half(objective, strategy, yeast):
    fitted, X, Y, X_test, Y_test = yeast
    model = TunedThresholds(
        fitted, cv="own", objective=objective, strategy=strategy, random_state=0
    ).fit(X, Y)
    tuned = quality(objective, Y_test, model.predict(X_test))
    plain = quality(objective, Y_test, model.estimator_.predict(X_test))
    assert tuned > plain
    assert abs(tuned) == pytest.approx(model.held_out_score_["unseen"], abs=0.05)


@pytest.mark.parametrize("form", ["array", "sparse", "frame", "weights"])
def test_a_fitted_homicv_is_not_fitted_again(form, monkeypatch):
    X, Y = random_rows(0, n=60, m=4, q=3)
    X, Y = X.round(3), Y.astype(int)
    weight = np.arange(1.0, 61.0) if form == "weights" else None
    if form == "sparse":
        X = sparse.csr_array(np.where(X > 0, X, 0))
    if form == "frame":
        X = pd.DataFrame(X, columns=list("abcd"))
    model = HOMICV(kernels=(), trees=False)
    expected = TunedThresholds(model, cv="own", objective="macro_f1")
    expected.fit(X, Y, sample_weight=weight)
    model.fit(X, Y, sample_weight=weight)
    scores = model.decision_function(X)
    calls = []
    fit = HOMICV._fit_rows
    monkeypatch.setattr(
        HOMICV, "_fit_rows", lambda *a, **k: calls.append(1) or fit(*a, **k)
    )
    tuned = TunedThresholds(model, cv="own", objective="macro_f1")
    tuned.fit(X, Y, sample_weight=weight)
    assert not calls
    np.testing.assert_array_equal(tuned.thresholds_, expected.thresholds_)
    np.testing.assert_array_equal(tuned.predict(X), expected.predict(X))
    np.testing.assert_array_equal(model.decision_function(X), scores)
    for change in (
        lambda: Y.__setitem__(0, 1 - Y[0]),
        lambda: model.set_params(lams=[1]),
    ):
        change()
        TunedThresholds(model, cv="own").fit(X, Y, sample_weight=weight)
        assert calls.pop()
