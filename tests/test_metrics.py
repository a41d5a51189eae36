"""The metrics against hand-worked cases, slow loops and scikit-learn."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from homi import HOMI, metrics
from homi.metrics import METRICS, PAPER_METRICS, checks, evaluate, pairs, scorers

# Row 0 has a tie between a positive and a negative, row 1 no label, row 2 all.
# Label 0 ties samples 0 (positive) and 1 (negative); each label has both classes.
Y = np.array([[1, 0, 0], [0, 0, 0], [1, 1, 1]])
S = np.array([[0.5, 0.5, 0.9], [0.5, 0.2, 0.1], [0.3, 0.7, 0.8]])
P = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 1]])

BY_HAND = {
    "hamming_loss": 2 / 9,
    "ranking_loss": (1 + 0 + 0) / 3,  # 2 of the 2 pairs of row 0, the tie being one
    "one_error": 2 / 3,  # row 0 puts label 2 first; row 1 has no label to find
    "macro_auc": (1 / 2 + 1 + 1 / 2) / 3,
    "example_f1": (2 / 3 + 0 + 4 / 5) / 3,
    "micro_f1": 2 * 3 / (4 + 4),
    "macro_f1": (2 / 3 + 1 + 2 / 3) / 3,
    "average_precision": (1 / 3 + 1 + 1) / 3,
    "coverage": (2 + 0 + 2) / 3,
    "exact_match": 1 / 3,
}
TAKES_SCORES = [name for name in METRICS if METRICS[name].response != "predict"]
TAKES_LABELS = [name for name in METRICS if METRICS[name].response == "predict"]


def second_argument(name):
    return P if name in TAKES_LABELS else S


repeatable = settings(derandomize=True, max_examples=60)

# Few distinct scores, so that ties are the rule; every row and label pattern.
SHAPES = st.tuples(st.integers(1, 7), st.integers(1, 9))


@st.composite
def problems(draw):
    shape = draw(SHAPES)
    labels = draw(hnp.arrays(np.int64, shape, elements=st.integers(0, 1)))
    scores = draw(hnp.arrays(np.int64, shape, elements=st.integers(-2, 2)))
    return labels, scores


def random_problem(seed, shape=(40, 7), density=0.4, n_values=None):
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal(shape)
    if n_values:
        scores = rng.integers(n_values, size=shape) / 4
    return (rng.random(shape) < density).astype(int), scores


def slow_ranking_loss(labels, scores):
    losses = []
    for y, s in zip(labels, scores, strict=True):
        pairs = [a <= b for a in s[y == 1] for b in s[y == 0]]
        losses.append(sum(pairs) / len(pairs) if pairs else 0.0)
    return sum(losses) / len(losses)


def slow_one_error(labels, scores):
    errors = 0
    for y, s in zip(labels, scores, strict=True):
        top = next(j for j in range(len(s)) if s[j] == max(s))
        errors += y[top] == 0
    return errors / len(labels)


def slow_macro_auc(labels, scores, tie_value, undefined):
    areas = []
    for y, s in zip(labels.T, scores.T, strict=True):
        gaps = [a - b for a in s[y == 1] for b in s[y == 0]]
        right = [1 if gap > 0 else tie_value if gap == 0 else 0 for gap in gaps]
        if gaps:
            areas.append(sum(right) / len(right))
        elif undefined == "zero":
            areas.append(0.0)
    return sum(areas) / len(areas) if areas else np.nan


# By hand


def test_every_metric_is_worked_by_hand():
    assert set(BY_HAND) == set(METRICS)


@pytest.mark.parametrize("name", METRICS)
def test_hand_worked_value(name):
    value = METRICS[name](Y, second_argument(name))
    assert type(value) is float
    assert value == pytest.approx(BY_HAND[name], rel=1e-12)


def test_macro_auc_options_by_hand():
    assert metrics.macro_auc(Y, S, ties="half") == pytest.approx(
        (1 / 4 + 1 + 1 / 2) / 3
    )
    full = np.column_stack([Y, np.ones(3), np.zeros(3)])
    wide = np.column_stack([S, S[:, :2]])
    assert metrics.macro_auc(full, wide) == pytest.approx(2 / 3)
    assert metrics.macro_auc(full, wide, undefined="zero") == pytest.approx(2 / 5)


def test_macro_auc_without_any_defined_label():
    assert np.isnan(metrics.macro_auc(np.ones((3, 2)), S[:, :2]))
    assert metrics.macro_auc(np.ones((3, 2)), S[:, :2], undefined="zero") == 0


def test_constant_scores():
    labels, flat = np.array([[1, 0], [0, 1]]), np.zeros((2, 2))
    assert metrics.ranking_loss(labels, flat) == 1
    assert metrics.one_error(labels, flat) == 1 / 2
    assert metrics.macro_auc(labels, flat) == 1
    assert metrics.macro_auc(labels, flat, ties="half") == 1 / 2


def test_perfect_and_reversed_rankings():
    labels, _ = random_problem(0)
    labels[:, :2] = [1, 0]  # every row has both classes
    assert metrics.ranking_loss(labels, labels) == 0
    assert metrics.ranking_loss(labels, -labels) == 1
    assert metrics.macro_auc(labels[:, 2:], labels[:, 2:]) == 1
    assert metrics.macro_auc(labels[:, 2:], -labels[:, 2:]) == 0


# Against slow loops


@repeatable
@given(problems())
def test_ranking_loss_equals_its_loop(problem):
    assert metrics.ranking_loss(*problem) == pytest.approx(slow_ranking_loss(*problem))


@repeatable
@given(problems())
def test_one_error_equals_its_loop(problem):
    assert metrics.one_error(*problem) == slow_one_error(*problem)


@repeatable
@given(
    problems(),
    st.sampled_from([("correct", 1), ("half", 0.5)]),
    st.sampled_from(["skip", "zero"]),
)
def test_macro_auc_equals_its_loop(problem, ties, undefined):
    fast = metrics.macro_auc(*problem, ties=ties[0], undefined=undefined)
    slow = slow_macro_auc(*problem, ties[1], undefined)
    assert fast == pytest.approx(slow, nan_ok=True)


@repeatable
@given(problems(), st.sampled_from([1, 3, 10]))
def test_block_size_changes_nothing(problem, block_entries):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "_BLOCK_ENTRIES", block_entries)
        blocked = [METRICS[n](*problem) for n in ("ranking_loss", "macro_auc")]
    whole = [METRICS[n](*problem) for n in ("ranking_loss", "macro_auc")]
    np.testing.assert_array_equal(blocked, whole)


@pytest.mark.parametrize("density", [0.02, 0.5, 0.95])
@pytest.mark.parametrize("n_labels", [1, 2, 31, 32, 33, 200])
def test_pairs_of_long_rows(density, n_labels):
    labels, scores = random_problem(3, (50, n_labels), density, n_values=60)
    assert metrics.ranking_loss(labels, scores) == pytest.approx(
        slow_ranking_loss(labels, scores), rel=1e-12
    )
    assert metrics.macro_auc(labels, scores) == pytest.approx(
        slow_macro_auc(labels, scores, 1, "skip"), nan_ok=True
    )


def test_more_entries_than_one_block():
    labels, scores = random_problem(4, (1500, 101), n_values=50)
    assert labels.size > pairs._BLOCK_ENTRIES
    expected = sklearn.metrics.label_ranking_loss(labels, scores)
    assert metrics.ranking_loss(labels, scores) == pytest.approx(expected, rel=1e-12)


def test_extreme_scores_and_signed_zeros():
    big, tiny = np.finfo(float).max, 5e-324
    labels = np.array([[1, 0, 0, 1], [1, 0, 1, 1]])
    scores = np.array([[big, -big, 0.0, -0.0], [-0.0, 0.0, tiny, big]])
    assert metrics.ranking_loss(labels, scores) == (1 / 4 + 1 / 3) / 2


# Against scikit-learn


def f1_score(average):
    def f1(labels, predictions):
        return sklearn.metrics.f1_score(
            labels, predictions, average=average, zero_division=0
        )

    return f1


SCIKIT_LEARN = {
    "hamming_loss": sklearn.metrics.hamming_loss,
    "ranking_loss": sklearn.metrics.label_ranking_loss,
    "example_f1": f1_score("samples"),
    "micro_f1": f1_score("micro"),
    "macro_f1": f1_score("macro"),
    "average_precision": sklearn.metrics.label_ranking_average_precision_score,
    "exact_match": sklearn.metrics.accuracy_score,
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", SCIKIT_LEARN)
def test_agrees_with_scikit_learn(name, seed):
    labels, scores = random_problem(seed, n_values=5)
    labels[0], labels[1], labels[:, 0] = 0, 1, 0
    output = scores
    if name in TAKES_LABELS:
        output = (scores > 0.6).astype(int)
        output[0], output[2], output[:, 0] = 0, labels[2], 0
    expected = SCIKIT_LEARN[name](labels, output)
    assert METRICS[name](labels, output) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n_values", [None, 5])
def test_half_ties_agree_with_scikit_learn_auc(n_values):
    labels, scores = random_problem(5, n_values=n_values)
    expected = sklearn.metrics.roc_auc_score(labels, scores, average="macro")
    assert metrics.macro_auc(labels, scores, ties="half") == pytest.approx(expected)


def test_coverage_is_scikit_learn_minus_one_where_all_have_labels():
    labels, scores = random_problem(6, n_values=5)
    labels[:, 3] = 1
    expected = sklearn.metrics.coverage_error(labels, scores) - 1
    assert metrics.coverage(labels, scores) == pytest.approx(expected)


@pytest.mark.parametrize("name", METRICS)
def test_one_label_is_a_multi_label_problem_too(name):
    labels, output = np.array([[1], [1], [0]]), np.array([[1], [0], [0]])
    by_hand = {"micro_f1": 2 / 3, "macro_f1": 2 / 3, "macro_auc": 1.0}
    by_hand |= {"hamming_loss": 1 / 3, "exact_match": 2 / 3, "example_f1": 1 / 3}
    by_hand |= {"one_error": 1 / 3, "ranking_loss": 0.0, "coverage": 0.0}
    by_hand |= {"average_precision": 1.0}
    assert METRICS[name](labels, output) == pytest.approx(by_hand[name])


# What is accepted


class Frame:
    """What a data frame is to numpy."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


CONTAINERS = {
    "bool": lambda values: values.astype(bool),
    "uint8": lambda values: values.astype(np.uint8),
    "float": lambda values: values.astype(float),
    "object": lambda values: values.astype(object),
    "list": lambda values: values.tolist(),
    "fortran": np.asfortranarray,
    "frame": Frame,
    "csr_matrix": scipy.sparse.csr_matrix,
    "csc_array": scipy.sparse.csc_array,
    "coo_array": scipy.sparse.coo_array,
}


@pytest.mark.parametrize("name", METRICS)
def test_containers_of_labels_are_equal(name):
    given = second_argument(name)
    for container, convert in CONTAINERS.items():
        output = convert(given) if name in TAKES_LABELS else given
        value = METRICS[name](convert(Y), output)
        assert value == pytest.approx(BY_HAND[name]), container


@pytest.mark.parametrize("container", ["list", "fortran", "frame", "csr_matrix"])
@pytest.mark.parametrize("name", TAKES_SCORES)
def test_containers_of_scores_are_equal(name, container):
    value = METRICS[name](Y, CONTAINERS[container](S))
    assert value == pytest.approx(BY_HAND[name])


@pytest.mark.parametrize("name", METRICS)
def test_data_frames_in_another_order_are_not_silent(name):
    names = [f"label {j}" for j in range(Y.shape[1])]
    truth = pd.DataFrame(Y, columns=names)
    output = pd.DataFrame(second_argument(name), columns=names)
    assert METRICS[name](truth, output) == pytest.approx(BY_HAND[name])
    with pytest.raises(ValueError, match="has its labels in another order"):
        METRICS[name](truth, output[names[::-1]])
    with pytest.warns(UserWarning, match="has the index of Y_true in another order"):
        METRICS[name](truth, output[::-1])


@pytest.mark.parametrize("name", TAKES_SCORES)
@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16, np.float32])
def test_dtypes_of_scores_are_equal(name, dtype):
    narrow = (10 * S).astype(dtype)
    assert METRICS[name](Y, narrow) == METRICS[name](Y, narrow.astype(float))


@pytest.mark.parametrize("name", METRICS)
def test_arguments_are_not_changed(name):
    labels, output = Y.copy(), second_argument(name).copy()
    for array in (labels, output):
        array.flags.writeable = False
    METRICS[name](labels, output)


# What is refused


@pytest.mark.parametrize("name", METRICS)
def test_one_dimensional_labels_are_refused(name):
    message = r"Y_true must be .*got shape \(3,\).*y\.reshape\(-1, 1\)"
    with pytest.raises(ValueError, match=message):
        METRICS[name](Y[:, 0], second_argument(name)[:, 0])


@pytest.mark.parametrize("name", METRICS)
def test_one_dimensional_output_is_refused(name):
    what = "Y_pred" if name in TAKES_LABELS else "scores"
    with pytest.raises(ValueError, match=rf"{what} must be .*got shape \(3,\)"):
        METRICS[name](Y, second_argument(name)[:, 0])


@pytest.mark.parametrize("name", METRICS)
def test_other_shape_is_refused(name):
    with pytest.raises(ValueError, match=r"\(3, 3\) .* \(3, 2\); pass the same"):
        METRICS[name](Y, second_argument(name)[:, :2])


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_nothing_is_refused(name, shape):
    with pytest.raises(ValueError, match="at least one sample and one label, got"):
        METRICS[name](np.zeros(shape), np.zeros(shape))


@pytest.mark.parametrize("name", METRICS)
def test_labels_other_than_0_and_1_are_refused(name):
    for entry in (2, -1, 0.5, np.nan):
        labels = Y.astype(float)
        labels[1, 2] = entry
        message = rf"Y_true must hold only 0 and 1, got \[{entry}.*pass Y_true > 0"
        with pytest.raises(ValueError, match=message):
            METRICS[name](labels, second_argument(name))


def test_labels_that_are_words_are_refused():
    with pytest.raises(ValueError, match="only 0 and 1, got 'yes', 'no';"):
        metrics.hamming_loss([["yes", "no"]], [[1, 0]])


@pytest.mark.parametrize("name", TAKES_LABELS)
def test_scores_as_predictions_are_refused(name):
    with pytest.raises(ValueError, match=r"Y_pred must hold only.*pass Y_pred > 0"):
        METRICS[name](Y, S)


@pytest.mark.parametrize("name", TAKES_SCORES)
@pytest.mark.parametrize("entry", [np.nan, np.inf, -np.inf])
def test_scores_that_are_not_finite_are_refused(name, entry):
    scores = S.copy()
    scores[0, 1] = entry
    with pytest.raises(ValueError, match=r"scores must be finite, got 1 NaN or inf"):
        METRICS[name](Y, scores)


@pytest.mark.parametrize("name", TAKES_SCORES)
@pytest.mark.parametrize("dtype", [complex, str])
def test_scores_that_are_not_real_are_refused(name, dtype):
    with pytest.raises(ValueError, match=r"real numbers, got dtype .*astype\(float\)"):
        METRICS[name](Y, S.astype(dtype))
    assert METRICS[name](Y, S.astype(object)) == METRICS[name](Y, S)


@pytest.mark.parametrize("name", METRICS)
def test_labels_that_are_missing_are_refused(name):
    with pytest.raises(ValueError, match=r"Y_true must hold only 0 and 1, got .*None"):
        METRICS[name](np.where(Y > 0, None, 0), S > 0)


@pytest.mark.parametrize("option", ["ties", "undefined"])
def test_unknown_options_are_refused(option):
    with pytest.raises(ValueError, match=rf"unknown {option} 'drop'; choose one of"):
        metrics.macro_auc(Y, S, **{option: "drop"})


@pytest.mark.parametrize(
    "call",
    [scorers, lambda names: evaluate(Y, S, P, names)],
    ids=["scorers", "evaluate"],
)
def test_unknown_metrics_are_refused(call):
    with pytest.raises(ValueError, match=r"unknown metric 'auc'; .*'macro_auc'"):
        call(["auc"])


# The k highest labels


def slow_top(s, k):
    return sorted(range(len(s)), key=lambda j: (-s[j], j))[:k]


def slow_precision_at_k(labels, scores, k):
    rows = zip(labels, scores, strict=True)
    found = [sum(y[j] for j in slow_top(s, k)) / k for y, s in rows]
    return sum(found) / len(found)


def slow_ndcg_at_k(labels, scores, k):
    values = []
    for y, s in zip(labels, scores, strict=True):
        gains = [1 / np.log2(rank + 2) for rank in range(k)]
        ranked = [y[j] for j in slow_top(s, k)]
        gain = sum(g * hit for g, hit in zip(gains, ranked, strict=False))
        best = sum(gains[: sum(y)])
        values.append(gain / best if best else 0.0)
    return sum(values) / len(values)


def slow_propensities(labels, a, b):
    n = len(labels)
    C = (np.log(n) - 1) * (b + 1) ** a
    return [1 / (1 + C * np.exp(-a * np.log(sum(y) + b))) for y in labels.T]


def slow_propensity_scored(labels, scores, propensities, k):
    found = best = 0.0
    for y, s in zip(labels, scores, strict=True):
        found += sum(y[j] / propensities[j] for j in slow_top(s, k))
        weights = [1 / p for p, there in zip(propensities, y, strict=True) if there]
        best += sum(sorted(weights, reverse=True)[:k])
    return found / best if best else np.nan


@repeatable
@given(problems(), st.integers(1, 10))
def test_precision_and_ndcg_at_k_equal_their_loops(problem, k):
    """With ties, rows without labels, fewer positives than k and fewer labels."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        precision = metrics.precision_at_k(*problem, k)
        ndcg = metrics.ndcg_at_k(*problem, k)
    assert precision == pytest.approx(slow_precision_at_k(*problem, k), rel=1e-12)
    assert ndcg == pytest.approx(slow_ndcg_at_k(*problem, k), rel=1e-12)


@repeatable
@given(problems(), st.integers(1, 10), st.integers(0, 5))
def test_propensity_scored_precision_equals_its_loop(problem, k, seed):
    train, _ = random_problem(seed, (30, problem[0].shape[1]), density=0.2)
    propensities = metrics.label_propensities(train)
    np.testing.assert_allclose(propensities, slow_propensities(train, 0.55, 1.5))
    value = metrics.propensity_scored_precision_at_k(*problem, propensities, k)
    expected = slow_propensity_scored(*problem, propensities, k)
    assert value == pytest.approx(expected, rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("k", [1, 3, 5, 7, 20])
def test_at_k_equals_scikit_learn(k):
    labels, scores = random_problem(3, (50, 7), density=0.3)
    expected = sklearn.metrics.ndcg_score(labels, scores, k=k)
    assert metrics.ndcg_at_k(labels, scores, k) == pytest.approx(expected, rel=1e-12)
    rows = np.flatnonzero(labels.sum(axis=1) == 1)  # one class each, as it takes
    classes, few = labels[rows].argmax(axis=1), scores[rows]
    if k >= 7:  # all labels are among the highest
        hits = 1.0
    else:
        hits = sklearn.metrics.top_k_accuracy_score(classes, few, k=k, labels=range(7))
    precision = metrics.precision_at_k(labels[rows], few, k)
    assert precision == pytest.approx(hits / k, rel=1e-12)


def test_precision_at_1_is_one_minus_one_error():
    labels, scores = random_problem(4, n_values=3)
    expected = 1 - metrics.one_error(labels, scores)
    assert metrics.precision_at_k(labels, scores, 1) == pytest.approx(expected)


def test_the_best_ranking_has_propensity_scored_precision_1():
    labels, _ = random_problem(5, (30, 9), density=0.3)
    propensities = metrics.label_propensities(labels, a=0.6, b=2.6)
    np.testing.assert_allclose(propensities, slow_propensities(labels, 0.6, 2.6))
    for k in (1, 3, 9):
        best = metrics.propensity_scored_precision_at_k(
            labels, labels / propensities, propensities, k
        )
        assert best == pytest.approx(1)
    equal = metrics.propensity_scored_precision_at_k(labels, labels, np.ones(9), 2)
    assert equal == pytest.approx(1)


def test_at_k_takes_sparse_labels_in_blocks(monkeypatch):
    labels, scores = random_problem(6, (33, 8), density=0.2, n_values=4)
    given = scipy.sparse.csr_array(labels), scipy.sparse.csr_matrix(scores)
    propensities = metrics.label_propensities(labels)
    whole = at_k_values(labels, scores, propensities)
    assert at_k_values(*given, propensities) == pytest.approx(whole, rel=1e-12)
    monkeypatch.setattr(checks, "_BLOCK_ENTRIES", 24)
    assert at_k_values(*given, propensities) == pytest.approx(whole, rel=1e-12)
    blocked = metrics.label_propensities(given[0])
    np.testing.assert_array_equal(blocked, propensities)


def at_k_values(labels, scores, propensities):
    return [
        metrics.precision_at_k(labels, scores, 3),
        metrics.ndcg_at_k(labels, scores, 3),
        metrics.propensity_scored_precision_at_k(labels, scores, propensities, 3),
    ]


@pytest.mark.parametrize("k", [0, -1, 2.5, True, "5"])
def test_at_k_refuses_other_k(k):
    for function in (metrics.precision_at_k, metrics.ndcg_at_k):
        with pytest.raises(ValueError, match="k must be an integer of at least 1"):
            function(Y, S, k)


@pytest.mark.parametrize("bad", [[0.5, 0.5], [0.5, 0.0, 1], [0.5, np.nan, 1], 0.5])
def test_other_propensities_are_refused(bad):
    with pytest.raises(ValueError, match="propensities"):
        metrics.propensity_scored_precision_at_k(Y, S, bad)


def test_propensities_need_three_rows():
    with pytest.raises(ValueError, match="at least 3 training samples, got 2"):
        metrics.label_propensities(Y[:2])


def test_at_k_refuses_what_the_others_refuse():
    for labels, scores, said in (
        (Y[:, 0], S[:, 0], "reshape"),
        (Y, S[:2], "same samples"),
        (Y[:0], S[:0], "at least one sample"),
        (Y + 1, S, "only 0 and 1"),
        (Y, S / [1, 1, np.nan], "finite"),
    ):
        with pytest.raises(ValueError, match=said):
            metrics.precision_at_k(labels, scores)
    with pytest.raises(ValueError, match="only 0 and 1"):
        metrics.label_propensities(Y + 1)


def test_at_k_has_names_for_evaluate_and_scorers():
    names = ["precision_at_1", "precision_at_3", "ndcg_at_2"]
    expected = [
        metrics.precision_at_k(Y, S, 1),
        metrics.precision_at_k(Y, S, 3),
        metrics.ndcg_at_k(Y, S, 2),
    ]
    assert list(evaluate(Y, S, P, names).values()) == expected
    found = scorers(names)
    assert pickle.loads(pickle.dumps(found)).keys() == found.keys()
    assert "ndcg_at_k" in repr(found["ndcg_at_2"])
    X, labels = make_multilabel_classification(60, random_state=0)
    model = RidgeClassifier().fit(X, labels)
    value = found["ndcg_at_2"](model, X, labels)
    assert value == metrics.ndcg_at_k(labels, model.decision_function(X), 2)


# The table, evaluate, scorers


@pytest.mark.parametrize("name", METRICS)
def test_the_table_names_its_functions(name):
    metric = METRICS[name]
    assert metric.name == name
    assert metric.function is getattr(metrics, name)
    assert metric.title


def test_titles_and_paper_metrics():
    assert len({metric.title for metric in METRICS.values()}) == len(METRICS)
    assert set(PAPER_METRICS) <= set(METRICS)


@pytest.mark.parametrize("name", METRICS)
def test_greater_is_better_says_the_truth(name):
    """A perfect output beats a reversed one on the side that the table names."""
    labels = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    better, worse = METRICS[name](labels, labels), METRICS[name](labels, 1 - labels)
    assert (better > worse) == METRICS[name].greater_is_better
    assert better != worse


def test_a_metric_passes_options_on():
    half = METRICS["macro_auc"](Y, S, ties="half")
    assert half == metrics.macro_auc(Y, S, ties="half") != metrics.macro_auc(Y, S)


def test_evaluate_gives_each_metric_its_argument():
    assert list(evaluate(Y, S, P)) == list(PAPER_METRICS)
    assert evaluate(Y, S, P, METRICS) == pytest.approx(BY_HAND)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_scorers_in_cross_validation(n_classes):
    X, labels = make_multilabel_classification(
        n_samples=60, n_classes=n_classes, random_state=0
    )
    result = cross_validate(
        RidgeClassifier(),
        X,
        labels,
        cv=2,
        scoring=scorers(METRICS),
        return_estimator=True,
    )
    halves = (X[:30], labels[:30]), (X[30:], labels[30:])
    for fold, (model, half) in enumerate(zip(result["estimator"], halves, strict=True)):
        scores, predicted = model.decision_function(half[0]), model.predict(half[0])
        expected = evaluate(half[1], scores, predicted, METRICS)
        for name, value in expected.items():
            sign = 1 if METRICS[name].greater_is_better else -1
            assert result[f"test_{name}"][fold] == pytest.approx(sign * value)


def test_scorers_in_grid_search():
    X, labels = make_multilabel_classification(n_samples=60, random_state=0)
    search = GridSearchCV(
        RidgeClassifier(),
        {"alpha": [0.1, 1e6]},
        scoring=scorers(),
        refit="ranking_loss",
    )
    losses = -search.fit(X, labels).cv_results_["mean_test_ranking_loss"]
    assert losses.argmin() == search.best_index_
    assert (losses > 0).all()


class Margins(RidgeClassifier):
    """A classifier whose ranking is the opposite of its decisions."""

    def ranking_scores(self, X):
        return -self.decision_function(X)


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_scorers_rank_by_what_the_classifier_ranks_by(steps):
    X, labels = make_multilabel_classification(n_samples=60, random_state=0)
    model = Margins()
    if steps:
        model = make_pipeline(*[StandardScaler()] * (steps - 1), model)
    scores = -model.fit(X, labels).decision_function(X)
    expected = evaluate(labels, scores, model.predict(X))
    expected = {name: -value for name, value in expected.items()}
    expected["macro_auc"] *= -1
    found = {name: score(model, X, labels) for name, score in scorers().items()}
    assert found == pytest.approx(expected)


def test_scorers_refuse_labels_in_another_order():
    X, labels = make_multilabel_classification(n_samples=60, random_state=0)
    frame = pd.DataFrame(labels, columns=list("abcde"))
    model = make_pipeline(StandardScaler(), HOMI()).fit(X, frame)
    scorer = scorers(["ranking_loss"])["ranking_loss"]
    assert scorer(model, X, frame) == scorer(model, X, labels)
    with pytest.raises(ValueError, match="Y_true has its labels in another order"):
        scorer(model, X, frame[list("edcba")])


def test_scorers_can_be_sent_to_other_processes():
    assert set(pickle.loads(pickle.dumps(scorers()))) == set(PAPER_METRICS)


def test_no_metric_warns_on_degenerate_labels():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for labels in (np.zeros((2, 3)), np.ones((2, 3))):
            evaluate(labels, S[:2], np.zeros((2, 3)), METRICS)
