"""Batches one after the other: the same model, and errors that change nothing."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

import contract_checks
from conftest import random_rows
from homi import HOMI
from homi.graph import plan_anchors
from homi.model.partial_fit import add_batch, fit_sums

NAMES = ("feature_weights_", "feature_bias_", "label_correlation_", "label_bias_")


def batches(X, Y, k):
    return zip(np.array_split(X, k), np.array_split(Y, k), strict=True)


def absorbed(parts, plan, **options):
    model, sums = HOMI(graph="anchors", random_state=0, **options), None
    for number, (X, Y) in enumerate(parts, 1):
        sums = add_batch(model, sums, number, X, Y, plan=plan)
    return fit_sums(model, sums, number)


def assert_same_model(one, other, atol=1e-10):
    for name in NAMES:
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=atol)


def expected_failures(estimator):
    """Anchors are chosen by the rows as they are, however much each of them counts."""
    why = "the anchors of repeated rows are others"
    return {
        f"check_sample_weight_equivalence_on_{kind}_data": why
        for kind in ("dense", "sparse")
    }


@pytest.mark.filterwarnings("ignore")
@contract_checks.parametrize(
    [HOMI(graph="anchors", random_state=0)], expected_failed_checks=expected_failures
)
def test_scikit_learn(estimator, expected):
    contract_checks.check(estimator, expected)


@pytest.mark.parametrize("options", [{}, {"gamma": 0}, {"correlation": "identity"}])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_batches_give_the_model_of_all_rows(kind, options):
    X, Y = random_rows(0, n=600, m=6, q=3)
    plan = plan_anchors(X, 10, 30)
    whole = absorbed([(X, Y)], plan, **options)
    for k in (2, 7, 60):
        parts = [(kind(x), kind(y)) for x, y in batches(X, Y, k)]
        assert_same_model(absorbed(parts, plan, **options), whole)
    assert whole.graph_ == ("none" if options.get("gamma") == 0 else "anchors")


def test_fit_is_the_first_batch_and_partial_fit_goes_on():
    X, Y = random_rows(1, n=400, m=6, q=3)
    model = HOMI(graph="anchors", random_state=0)
    fitted = clone(model).fit(X[:250], Y[:250])
    partial = clone(model).partial_fit(X[:250], Y[:250])
    assert_same_model(partial, fitted)
    assert_same_model(
        partial.partial_fit(X[250:], Y[250:]), fitted.partial_fit(X[250:], Y[250:])
    )
    whole = absorbed([(X, Y)], fitted._sums.plan)
    assert_same_model(fitted, whole)


def test_every_batch_is_solved_for_and_looking_solves_nothing():
    X, Y = random_rows(2, n=200, m=6, q=3)
    model = HOMI(graph="anchors", random_state=0).partial_fit(X[:100], Y[:100])
    before = vars(model)["coef_"]
    assert model.n_iter_ == len(model.history_)
    model.partial_fit(X[100:], Y[100:])
    assert not np.array_equal(vars(model)["coef_"], before)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    assert not hasattr(HOMI(), "coef_")
    assert not hasattr(model, "other_")


def test_auto_means_anchors_and_other_graphs_need_all_rows():
    X, Y = random_rows(3, n=200, m=6, q=3)
    auto = HOMI(random_state=0).partial_fit(X, Y)
    assert_same_model(auto, HOMI(graph="anchors", random_state=0).fit(X, Y))
    for options in ({"graph": "exact"}, {"kernel": "rbf"}, {"correlation": "held-out"}):
        assert not hasattr(HOMI(**options), "partial_fit")
        with pytest.raises(AttributeError) as error:
            HOMI(**options).partial_fit(X, Y)
        assert "needs all rows at once" in str(error.value.__cause__)
    HOMI(graph="exact", gamma=0).partial_fit(X, Y)


def test_after_an_exact_fit_it_begins_anew_and_says_so():
    X, Y = random_rows(4, n=200, m=6, q=3)
    model = HOMI(random_state=0).fit(X, Y)
    with pytest.warns(UserWarning, match="starts anew"):
        model.partial_fit(X[:150], Y[:150])
    assert_same_model(model, HOMI(random_state=0).partial_fit(X[:150], Y[:150]))


def test_a_small_first_batch_is_warned_of():
    X, Y = random_rows(5, n=50)
    with pytest.warns(UserWarning, match=r"50 rows for n_anchors=64"):
        HOMI(graph="anchors").partial_fit(X, Y)


def test_one_dimensional_classes():
    X, Y = random_rows(6, n=300, m=6, q=3)
    y = np.array(["a", "b", "c"])[Y.argmax(axis=1)]
    model = HOMI(graph="anchors", random_state=0)
    with pytest.raises(ValueError, match="pass those of all batches as classes"):
        model.partial_fit(X, y)
    model.partial_fit(X[:150], y[:150], classes=["a", "b", "c"])
    model.partial_fit(X[150:], y[150:])
    with pytest.raises(ValueError, match=r"batch 3: y is .*'d'.* in row 2"):
        model.partial_fit(X[:3], ["a", "d", "a"])
    assert np.mean(model.predict(X) == y) > 0.6
    two = HOMI(graph="anchors", random_state=0)
    two.partial_fit(X, y == "a", classes=[False, True])
    assert two.decision_function(X).shape == (300,)


def test_names_are_kept_and_compared():
    X, Y = random_rows(7, n=200, m=3, q=2)
    X, Y = pd.DataFrame(X, columns=list("abc")), pd.DataFrame(Y, columns=["p", "q"])
    model = HOMI(graph="anchors", random_state=0).partial_fit(X, Y)
    assert list(model.label_names_) == ["p", "q"]
    with pytest.raises(ValueError, match=r"batch 2: label 1 is named 'q', but 'p'"):
        model.partial_fit(X, Y[["q", "p"]])
    with pytest.raises(ValueError, match="batch 2: The feature names"):
        model.partial_fit(X[["b", "a", "c"]], Y)


def spoilt(A, value, row):
    A = A.copy()
    A[row, 1] = value
    return A


def bad_batches(X, Y):
    """Each kind of batch that cannot be used, and what is said of it."""
    return {
        "other columns": (X[:, :-1], Y, r"batch 2: X has 5 features.*expecting 6"),
        "NaN": (spoilt(X, np.nan, 4), Y, r"batch 2, row 5 of it \(row 105 of all\)"),
        "infinity": (spoilt(X, np.inf, 7), Y, r"batch 2, row 8 of it"),
        "sparse NaN": (
            sparse.csr_array(spoilt(X, np.nan, 4)),
            Y,
            r"batch 2, row 5 of it",
        ),
        "a label of 2": (X, spoilt(Y, 2, 9), r"batch 2, row 10 of it.*only 0 and 1"),
        "a missing label": (X, spoilt(Y, np.nan, 3), r"batch 2, row 4 of it.*NaN"),
        "sparse labels": (
            X,
            sparse.csr_array(spoilt(Y, -1, 6)),
            r"batch 2, row 7 of it",
        ),
        "more labels": (X, np.hstack([Y, Y]), r"batch 2: Y has 6 label.*had 3"),
        "no rows": (X[:0], Y[:0], r"batch 2: Found array with 0 sample"),
        "fewer labels than rows": (X, Y[:-1], r"batch 2: .*inconsistent numbers"),
        "text": (np.full(X.shape, "x"), Y, r"batch 2, row 1 of it"),
        "no labels": (X, None, r"batch 2: .*requires y to be passed"),
    }


@pytest.mark.parametrize("kind", bad_batches(*random_rows(8, n=60, m=6, q=3)))
def test_a_bad_batch_is_named_and_changes_nothing(kind):
    X, Y = random_rows(8, n=160, m=6, q=3)
    model = HOMI(graph="anchors", random_state=0).partial_fit(X[:100], Y[:100])
    before = model.coef_.copy()
    bad_X, bad_Y, message = bad_batches(X[100:], Y[100:])[kind]
    state = dict(vars(model))
    with pytest.raises(ValueError, match=message):
        model.partial_fit(bad_X, bad_Y)
    assert vars(model).keys() == state.keys()
    assert all(vars(model)[key] is state[key] for key in state)
    np.testing.assert_array_equal(model.coef_, before)
    model.partial_fit(X[100:], Y[100:])
    clean = HOMI(graph="anchors", random_state=0).partial_fit(X[:100], Y[:100])
    assert_same_model(model, clean.partial_fit(X[100:], Y[100:]), atol=0)


def test_a_bad_first_batch_leaves_nothing():
    X, Y = random_rows(9, n=100, m=6, q=3)
    model = HOMI(graph="anchors", random_state=0)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=r"batch 1, row 3 of it \(row 3 of all\)"):
        model.partial_fit(spoilt(X, np.nan, 2), Y)
    assert vars(model) == before
    # These rows are good, and would leave their columns behind.
    with pytest.raises(ValueError, match=r"batch 1, row 4 of it"):
        model.partial_fit(pd.DataFrame(X, columns=list("abcdef")), spoilt(Y, 2, 3))
    assert vars(model) == before
    model.partial_fit(X[:, :4], Y)
    assert model.n_features_in_ == 4
