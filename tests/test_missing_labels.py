"""Labels that are not known: filled in, against literal twins and against zeros."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import Ridge

import contract_checks
from conftest import random_rows
from homi import HOMI, HOMICV
from homi.linear import log_loss
from homi.metrics import hamming_loss, macro_auc, ranking_loss
from homi.model.features import linear_features, with_labels
from homi.model.fold_scores import RidgesByFolds, held_out_rows
from homi.model.missing_labels import fill_by_folds
from homi.moments import Moments
from homi.solver import impute

OPTIONS = {
    "paper's": {},
    "no graph": {"gamma": 0.0},
    "as given": {"standardize": False, "gamma": 0.1},
    "four blocks": {"sweep": "paper", "gamma": 0.1},
    "held-out": {"correlation": "held-out", "gamma": 0.1},
    "identity": {"correlation": "identity", "gamma": 0.1},
    "kernel": {"kernel": "rbf", "gamma": 0.1, "random_state": 0},
}

every_option = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)


@pytest.fixture
def rows():
    return random_rows(0, n=60, m=7, q=4)


def hide(Y, share, seed=0):
    known = np.random.default_rng(seed).random(Y.shape) >= share
    return np.where(known, Y, np.nan), known


def as_rows(X, Y, weights=None):
    weights = np.ones(len(X)) if weights is None else weights
    moments = Moments.from_rows(X, Y, weights)
    units = moments.x_mean, moments.scale()
    moments = moments.standardized()
    return impute.RowsWithMoments(
        X, *units, moments.x_mean, moments.Sxx, weights, X.shape[1]
    )


# Literal twins


def test_unknown_labels_solve_the_equations_of_their_row():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(9, 6))
    M, R = A.T @ A + 0.1 * np.eye(6), rng.normal(size=(50, 6))
    unknown = rng.random((50, 6)) < 0.5
    unknown[0], unknown[1] = True, False
    found = impute._solve_missing(M, R, unknown)
    for x, r, u in zip(found, R, unknown, strict=True):
        expected = np.zeros(6)
        expected[u] = np.linalg.solve(M[np.ix_(u, u)], r[u])
        np.testing.assert_allclose(x, expected, atol=1e-5)


def test_blocks_of_rows_change_nothing(monkeypatch, rows):
    X, Y = rows
    Y, _ = hide(Y, 0.3)
    expected = HOMI(missing_labels="ignore").fit(X, Y)
    monkeypatch.setattr(impute, "_BLOCK", 30)
    again = HOMI(missing_labels="ignore").fit(X, Y)
    np.testing.assert_allclose(again.filled_labels_, expected.filled_labels_, atol=1e-6)


def test_what_a_row_is_told_by_its_known_labels(rows):
    """The conditional mean of a normal distribution, with inverses."""
    X, Y = rows
    _, known = hide(Y, 0.4)
    _, model = impute.impute_labels(as_rows(X, Y), Y, known)
    scores = np.random.default_rng(1).random(Y.shape)
    found = model.complete(Y, known, scores)
    S = np.linalg.inv(model.precision) * np.outer(model.spread, model.spread)
    for y, p, k, x in zip(Y, scores, known, found, strict=True):
        expected, u = y.copy(), ~k
        gain = S[np.ix_(u, k)] @ np.linalg.inv(S[np.ix_(k, k)])
        expected[u] = p[u] + gain @ (y[k] - p[k])
        np.testing.assert_allclose(x, expected, atol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_of_models_without_the_row(rows, weighted):
    X, Y = rows
    weights = np.random.default_rng(2).uniform(0.3, 3, 60) if weighted else np.ones(60)
    given = as_rows(X, Y, weights)
    ridge = impute._HeldOutRidge(given)
    coefficients = ridge.coefficients(Y)
    scaled = (X - given.mean) / given.scale
    for choice in (0, 8, 14):
        found = ridge.scores(coefficients, choice, Y)
        unit = np.trace(given.Sxx) / len(given.Sxx)
        twin = Ridge(unit * impute._PENALTIES[choice])
        for i in (0, 17, 59):
            others = np.arange(60) != i
            twin.fit(scaled[others], Y[others], sample_weight=weights[others])
            np.testing.assert_allclose(found[i], twin.predict(scaled[[i]])[0])


def test_correlations_are_of_pairs_that_are_known():
    rng = np.random.default_rng(3)
    R, known = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 3)), rng.random((40, 3))
    known, w = known < 0.7, rng.uniform(0.5, 2, 40)
    R = np.where(known, R, 0.0)
    given = as_rows(R, R, w)
    C, spread = impute._residual_correlation(R, known, given)
    literal, counts = np.eye(3), np.empty((3, 3))
    for a in range(3):
        for b in range(3):
            both = known[:, a] & known[:, b]
            counts[a, b] = w[both].sum()
            literal[a, b] = (w * R[:, a] * R[:, b])[both].sum() / counts[a, b]
    np.testing.assert_allclose(spread, np.sqrt(np.diag(literal)))
    literal /= np.outer(spread, spread)
    literal = np.clip(literal, -1, 1)
    off = ~np.eye(3, dtype=bool)
    drawn = (((1 - literal**2) ** 2) / counts)[off].sum() / (literal[off] ** 2).sum()
    np.testing.assert_allclose(C[off], (1 - drawn) * literal[off])
    assert 0 < drawn < 0.5
    np.testing.assert_array_equal(np.diag(C), 1)


def test_rounds_end_where_a_label_is_learned_where_it_is_known(monkeypatch):
    """With one label nothing is told by others: ridge regression of the known rows."""
    X, Y = random_rows(0, n=80, m=5, q=1)
    _, known = hide(Y, 0.4)
    monkeypatch.setattr(impute, "_PENALTIES", np.array([0.1]))
    monkeypatch.setattr(impute, "_TOLERANCE", 0.0)
    given = as_rows(X, Y)
    filled, _ = impute.impute_labels(given, Y, known)
    scaled = (X - given.mean) / given.scale
    k = known[:, 0]
    twin = Ridge(0.1 * np.trace(given.Sxx) / 5).fit(scaled[k], Y[k, 0])
    expected = np.clip(twin.predict(scaled[~k]), 0, 1)
    np.testing.assert_allclose(filled[~k, 0], expected, atol=1e-6)


# What it recovers


def test_a_copied_label_comes_back_where_features_say_nothing():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(300, 5)), (rng.random((300, 3)) < 0.4).astype(float)
    Y = np.column_stack([Y, Y[:, 0], 1 - Y[:, 1]])
    hidden, known = hide(Y, 0.3)
    known[:, :3] = True
    hidden[:, :3] = Y[:, :3]
    filled = HOMI(missing_labels="ignore").fit(X, hidden).filled_labels_
    np.testing.assert_array_equal(filled[known], Y[known])
    assert np.abs(filled - Y).max() < 0.1


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_yeast_gets_more_back_than_by_zeros(data, share):
    X, Y, *_ = data("yeast")
    Y = np.asarray(Y, dtype=float)
    train, test = np.arange(1500), np.arange(1500, 2417)
    hidden, known = hide(Y[train], share)
    model = HOMI(gamma=0.1, missing_labels="ignore").fit(X[train], hidden)
    found, true = model.filled_labels_[~known], Y[train][~known]
    # Squared errors of the hidden labels: of ours, of the labels' means, of zeros.
    by_means = np.where(known, 0, np.nanmean(hidden, axis=0))[~known]
    ours, means, zeros = (np.mean((true - a) ** 2) for a in (found, by_means, 0))
    assert ours < 0.65 * means < 0.65 * zeros
    assert macro_auc(true[:, None], found[:, None]) > 0.9
    # Of what zeros cost the model on new rows, nearly all comes back.
    models = (
        model,
        HOMI(gamma=0.1).fit(X[train], np.nan_to_num(hidden)),
        HOMI(gamma=0.1).fit(X[train], Y[train]),
    )
    for loss, method in (
        (hamming_loss, "predict"),
        (ranking_loss, "decision_function"),
    ):
        filled, zeros, full = (
            loss(Y[test], getattr(m, method)(X[test])) for m in models
        )
        assert full < filled < zeros
        assert filled - full < 0.4 * (zeros - full)


def test_where_most_is_hidden_the_filling_does_not_trust_itself(data):
    """A penalty chosen anew by filled labels is too small: .89 of the means' error."""
    X, Y, *_ = data("yeast")
    Y = np.asarray(Y, dtype=float)
    hidden, known = hide(Y, 0.8)
    options = {"correlation": "identity", "gamma": 0}
    filled = HOMI(missing_labels="ignore", **options).fit(X, hidden).filled_labels_
    ours = np.mean((Y - filled)[~known] ** 2)
    assert ours < 0.86 * np.mean((Y - np.nanmean(hidden, axis=0))[~known] ** 2)


# Every option


@every_option
def test_known_labels_stay_and_unknown_ones_lie_between(rows, options):
    X, Y = rows
    hidden, known = hide(Y, 0.3)
    hidden[:3] = np.nan
    known[:3] = False
    model = HOMI(missing_labels="ignore", **options).fit(X, hidden)
    filled = model.filled_labels_
    assert filled.shape == Y.shape
    np.testing.assert_array_equal(filled[known], Y[known])
    assert ((filled >= 0) & (filled <= 1)).all()
    assert np.mean((filled > 0.5) == Y) > 0.85
    assert np.mean(model.predict(X) == Y) > 0.75
    assert set(np.unique(model.predict(X))) <= {0, 1}


@every_option
def test_the_model_is_that_of_the_filled_labels(rows, options, monkeypatch):
    """Fitted to the filled labels as if they had been given."""
    X, Y = rows
    hidden, _ = hide(Y, 0.3)
    model = HOMI(missing_labels="ignore", **options).fit(X, hidden)
    monkeypatch.setattr("homi.base.targets._check_indicator", np.asarray)
    expected = HOMI(**options).fit(X, model.filled_labels_)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6, atol=1e-8)


@every_option
def test_where_all_is_known_nothing_changes(rows, options):
    X, Y = rows
    model = HOMI(missing_labels="ignore", **options).fit(X, Y)
    np.testing.assert_array_equal(model.coef_, HOMI(**options).fit(X, Y).coef_)
    np.testing.assert_array_equal(model.filled_labels_, Y)


def test_weights_of_rows_and_labels_may_be_given_too(rows):
    X, Y = rows
    hidden, known = hide(Y, 0.3)
    weights = np.where(np.arange(60) % 4 == 0, 0.0, 2.0)
    kept = weights > 0
    given = {"label_weight": [1.0, 2.0, 3.0, 4.0]}
    model = HOMI(missing_labels="ignore").fit(X, hidden, weights, **given)
    expected = HOMI(missing_labels="ignore").fit(
        X[kept], hidden[kept], weights[kept], **given
    )
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-12)
    filled = model.filled_labels_
    np.testing.assert_array_equal(filled[kept], expected.filled_labels_)
    np.testing.assert_array_equal(filled[known], Y[known])
    assert np.mean(((filled > 0.5) == Y)[~kept]) > 0.8


@pytest.mark.parametrize("standardize", [True, False])
def test_other_labels_for_weighted_rows(rows, standardize):
    X, Y = rows
    weights = np.random.default_rng(0).uniform(0.1, 3, 60)
    soft = np.random.default_rng(1).random(Y.shape)
    options = {"standardize": standardize, "weights": weights}
    found = with_labels(linear_features(X, Y, **options), soft).moments
    expected = linear_features(X, soft, **options).moments
    for name in ("n", "x_mean", "y_mean", "Sxx", "Sxy", "Syy"):
        one, other = getattr(found, name), getattr(expected, name)
        np.testing.assert_allclose(one, other, atol=1e-10, err_msg=name)


def test_sparse_rows_are_as_dense_ones_and_stay_so(monkeypatch):
    X = sparse.random(400, 60, 0.04, format="csr", random_state=0)
    Y = random_rows(0, n=400)[1]
    hidden, _ = hide(Y, 0.3)
    dense = HOMI(missing_labels="ignore", gamma=0).fit(X.toarray(), hidden)
    written = []
    original = sparse.csr_array.toarray

    def watched(self, *args, **kwargs):
        written.append(self.shape)
        return original(self, *args, **kwargs)

    monkeypatch.setattr(sparse.csr_array, "toarray", watched)
    model = HOMI(missing_labels="ignore", gamma=0).fit(X, hidden)
    assert (400, 60) not in written
    np.testing.assert_allclose(model.filled_labels_, dense.filled_labels_, atol=1e-8)
    np.testing.assert_allclose(model.coef_, dense.coef_, atol=1e-8)


# Kinds of Y


def with_na(Y, dtype):
    return pd.DataFrame({c: pd.array(list(Y[:, c]), dtype=dtype) for c in range(4)})


KINDS = {
    "float32": lambda Y: Y.astype(np.float32),
    "list": lambda Y: Y.tolist(),
    "None": lambda Y: np.where(np.isnan(Y), None, Y),
    "bools and None": lambda Y: np.where(np.isnan(Y), None, Y == 1),
    "pandas": pd.DataFrame,
    "pandas objects": lambda Y: pd.DataFrame(np.where(np.isnan(Y), None, Y)),
    "pandas Int64": lambda Y: with_na(np.where(np.isnan(Y), None, Y), "Int64"),
    "pandas boolean": lambda Y: with_na(np.where(np.isnan(Y), None, Y), "boolean"),
    "polars": lambda Y: pl.DataFrame(
        [[None if np.isnan(y) else int(y) for y in column] for column in Y.T]
    ),
    "polars bool": lambda Y: pl.DataFrame(
        [[None if np.isnan(y) else bool(y) for y in column] for column in Y.T]
    ),
    "sparse": sparse.csr_array,
}


@pytest.mark.parametrize("kind", KINDS)
def test_Y_of_every_kind(rows, kind):
    X, Y = rows
    hidden, _ = hide(Y, 0.3)
    expected = HOMI(missing_labels="ignore").fit(X, hidden)
    model = HOMI(missing_labels="ignore").fit(X, KINDS[kind](hidden))
    np.testing.assert_allclose(model.filled_labels_, expected.filled_labels_)
    np.testing.assert_allclose(model.coef_, expected.coef_)


@pytest.mark.parametrize("dtype", ["Int64", "boolean"])
def test_frames_that_could_have_unknown_labels_but_have_none(rows, dtype):
    X, Y = rows
    model = HOMI(missing_labels="ignore").fit(X, with_na(Y.astype(int), dtype))
    np.testing.assert_array_equal(model.coef_, HOMI().fit(X, Y).coef_)


def test_one_label(rows):
    X, Y = rows
    hidden, known = hide(Y[:, :1], 0.3)
    model = HOMI(missing_labels="ignore").fit(X, hidden)
    assert model.predict(X).shape == (60, 1)
    np.testing.assert_array_equal(model.filled_labels_[known], Y[:, :1][known])


BAD = {
    "by default": (
        {},
        lambda Y: Y,
        r'contains NaN in \d+ .*drop these rows.*HOMI\(missing_labels="ignore"\)',
    ),
    "None by default": (
        {},
        lambda Y: np.where(np.isnan(Y), None, Y),
        r'NaN or None in \d+ of its entries.*HOMI\(missing_labels="ignore"\)',
    ),
    "numbers in words": (
        {"missing_labels": "ignore"},
        lambda Y: np.where(np.isnan(Y), None, "1"),
        "only 0 and 1, got '0', '1'; pass tags",
    ),
    "a label known nowhere": (
        {"missing_labels": "ignore"},
        lambda Y: np.column_stack([Y, np.full(len(Y), np.nan)]),
        r"nothing is known of the label\(s\) 'y4'.*leave such labels out",
    ),
    "many labels known nowhere": (
        {"missing_labels": "ignore"},
        lambda Y: np.column_stack([Y, np.full((len(Y), 5), np.nan)]),
        "'y4', 'y5', 'y6' and 2 more",
    ),
    "infinity": (
        {"missing_labels": "ignore"},
        lambda Y: np.where(Y == 1, np.inf, Y),
        "contains infinity",
    ),
    "other numbers": (
        {"missing_labels": "ignore"},
        lambda Y: 2 * Y,
        r"only 0 and 1, got 0\.0, 2\.0",
    ),
    "words": (
        {"missing_labels": "ignore"},
        lambda Y: np.where(np.isnan(Y), None, "a"),
        "only 0 and 1, got '0', 'a'",
    ),
    "words in one column": (
        {"missing_labels": "ignore"},
        lambda Y: np.where(np.isnan(Y), None, "a")[:, :1],
        "only 0 and 1, got '0', 'a'",
    ),
    "unknown classes": (
        {"missing_labels": "ignore"},
        lambda Y: Y[:, 0],
        "contains NaN.*columns of 0 and 1",
    ),
    "a word": (
        {"missing_labels": "fill"},
        lambda Y: Y,
        "'missing_labels' parameter of HOMI must be",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_a_clear_error(rows, case):
    X, Y = rows
    options, spoil, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        HOMI(**options).fit(X, spoil(hide(Y, 0.3)[0]))


def test_a_label_known_only_without_weight_is_known_nowhere(rows):
    X, Y = rows
    Y[10:, 2] = np.nan
    weights = (np.arange(60) >= 10).astype(float)
    with pytest.raises(ValueError, match=r"nothing is known of the label\(s\) 'y2'"):
        HOMI(missing_labels="ignore").fit(X, Y, weights)


@pytest.mark.parametrize("what", [0.0, 1.0])
def test_labels_that_are_always_the_same(rows, what):
    X, Y = rows
    Y[:, 1] = what
    hidden, _ = hide(Y, 0.3)
    filled = HOMI(missing_labels="ignore").fit(X, hidden).filled_labels_
    np.testing.assert_allclose(filled[:, 1], what, atol=1e-3)


@pytest.mark.parametrize("n", [3, 6])
@pytest.mark.filterwarnings("ignore:n_neighbors")
def test_few_rows(n):
    X, Y = random_rows(0, n=n, m=8)
    Y[0, :3] = np.nan
    model = HOMI(missing_labels="ignore").fit(X, Y)
    assert np.isfinite(model.decision_function(X)).all()


def test_constant_features():
    Y, _ = hide(random_rows(0, n=60)[1], 0.3)
    filled = HOMI(missing_labels="ignore", gamma=0).fit(np.ones((60, 3)), Y)
    assert np.isfinite(filled.filled_labels_).all()


@pytest.mark.filterwarnings("ignore")
@contract_checks.parametrize([HOMI(missing_labels="ignore")])
def test_scikit_learn(estimator, expected):
    contract_checks.check_parameters(estimator, expected)


def test_what_was_filled_in_is_gone_with_the_next_fit():
    X, Y = random_rows()
    hidden = Y.copy()
    hidden[0, 0] = np.nan
    model = HOMI(missing_labels="ignore").fit(X, hidden)
    assert model.filled_labels_.shape == Y.shape
    model.set_params(missing_labels="error").fit(X, Y)
    assert not hasattr(model, "filled_labels_")


# HOMICV

CV = {"missing_labels": "ignore", "lams": [0.1, 1.0, 10.0], "widths": [1.0]}


def filled_by_folds(rows, weights=None):
    X, Y = rows
    hidden, known = hide(Y, 0.4)
    space = linear_features(X, Y, standardize=True, weights=weights)
    given = np.nan_to_num(hidden)
    return space, given, known, fill_by_folds(space, given, known, seed=3)


def test_labels_of_a_fold_fill_in_none_of_the_others(rows):
    space, Y, known, filled = filled_by_folds(rows)
    parts = held_out_rows(60, 3)
    for k, fold in enumerate(parts):
        changed = Y.copy()
        changed[fold] = 1 - Y[fold]
        again = fill_by_folds(space, changed, known, seed=3)
        np.testing.assert_array_equal(again.by_fold[k], filled.by_fold[k])
        assert (again.by_fold[k - 1] != filled.by_fold[k - 1]).any()
    np.testing.assert_array_equal(filled.labels[known], Y[known])
    np.testing.assert_array_equal(filled.cells, known)


@pytest.mark.parametrize("weighted", [False, True])
def test_ridges_by_folds_are_those_of_each_label(rows, weighted):
    weights = np.random.default_rng(1).uniform(0.3, 3, 60) if weighted else None
    space, Y, known, filled = filled_by_folds(rows, weights)
    ridges = RidgesByFolds(with_labels(space, filled.labels), filled, seed=3)
    label_weight = np.array([0.1, 1.0, 1.0, 10.0])
    found = ridges(0.7, label_weight)
    X = (rows[0] - space.mean) / space.scale
    mean = np.average(filled.labels, axis=0, weights=weights)
    errors = np.zeros((2, 4))
    for fold, labels in zip(held_out_rows(60, 3), filled.by_fold, strict=True):
        others = np.setdiff1d(np.arange(60), fold)
        w = None if weights is None else weights[others]
        gap = mean - np.average(labels, axis=0, weights=w)
        for j in range(4):
            plain = Ridge(0.7).fit(X[others], labels[:, j], w).predict(X[fold])
            own = Ridge(0.7 / label_weight[j]).fit(X[others], labels[:, j], w)
            scores = own.predict(X[fold]) + gap[j]
            np.testing.assert_allclose(found[fold, j], scores)
            wide = Ridge(7.0).fit(X[others], labels[:, j], w).predict(X[fold])
            for i, s in enumerate((plain + gap[j], wide + gap[j])):
                cells = (known * (1 if weights is None else weights[:, None]))[fold, j]
                errors[i, j] += cells @ (s - Y[fold, j]) ** 2
    chosen = np.where(errors[1] < errors[0], 0.1, 1.0)
    np.testing.assert_array_equal(ridges.own_weights(0.7, [0.1]), chosen)


def test_one_label_is_learned_from_the_rows_where_it_is_known(rows):
    X, Y = rows
    hidden, known = hide(Y[:, :1], 0.3)
    k = known[:, 0]
    model = HOMICV(**CV, trees=False).fit(X, hidden)
    expected = HOMICV(**CV, trees=False).fit(X[k], Y[k, :1])
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities, expected.predict_proba(X), rtol=1e-12)
    np.testing.assert_array_equal(model.filled_labels_[k], Y[k, :1])
    np.testing.assert_allclose(model.filled_labels_[~k], probabilities[~k])


def test_homi_cv_where_all_is_known_nothing_changes(rows):
    X, Y = rows
    options = CV | {"trees": False}
    model = HOMICV(**options).fit(X, Y)
    expected = HOMICV(**options | {"missing_labels": "error"}).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))
    np.testing.assert_array_equal(model.filled_labels_, Y)
    assert not hasattr(expected, "filled_labels_")


def test_homi_cv_with_weights_of_rows_and_labels(rows):
    X, Y = rows
    hidden, known = hide(Y, 0.3)
    weights = np.where(np.arange(60) % 4 == 0, 0.0, 2.0)
    kept, given = weights > 0, {"label_weight": [1.0, 2.0, 3.0, 4.0]}
    model = HOMICV(**CV, trees=False)
    held_out = model.fit_held_out(X, hidden, weights, **given)
    twin = HOMICV(**CV, trees=False)
    expected = twin.fit_held_out(X[kept], hidden[kept], weights[kept], **given)
    np.testing.assert_array_equal(held_out[kept], expected)
    # Close, not equal: BLAS may sum a row differently in another block of rows.
    scores = twin.decision_function(X[~kept])
    np.testing.assert_allclose(held_out[~kept], scores, rtol=1e-10)
    filled = model.filled_labels_
    np.testing.assert_array_equal(filled[kept], twin.filled_labels_)
    np.testing.assert_array_equal(filled[known], Y[known])
    assert ((filled >= 0) & (filled <= 1)).all()
    assert set(model.cv_results_["held_out"]) == {"a fold"}


@pytest.mark.parametrize("kind", ["pandas Int64", "polars", "None", "sparse"])
def test_homi_cv_takes_Y_of_every_kind(rows, kind):
    X, Y = rows
    hidden, _ = hide(Y, 0.3)
    options = CV | {"kernels": (), "trees": False}
    expected = HOMICV(**options).fit(X, hidden)
    model = HOMICV(**options).fit(X, KINDS[kind](hidden))
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))


def test_homi_cv_gets_back_most_of_what_zeros_cost(data):
    X, Y, *_ = data("emotions")
    order = np.random.default_rng(0).permutation(len(Y))
    X, Y = X[order], np.asarray(Y, dtype=float)[order]
    hidden, known = hide(Y[:400], 0.5)
    model, zeros, full = (HOMICV(**CV, trees=False) for _ in range(3))
    held_out = expit(model.fit_held_out(X[:400], hidden))
    zeros.fit(X[:400], np.nan_to_num(hidden))
    full.fit(X[:400], Y[:400])
    ours, worst, best = (
        log_loss(Y[400:], m.predict_proba(X[400:])) for m in (model, zeros, full)
    )
    assert ours - best < 0.4 * (worst - best)
    # Held-out scores of known labels do not promise more than new rows keep.
    assert log_loss(Y[:400], held_out, known * 1.0) > 0.95 * ours


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"missing_labels": "error"}, r"HOMICV\(missing_labels=\"ignore\"\)"),
        ({"scoring": "ranking_loss"}, "needs all labels of a row.*'neg_log_loss'"),
        ({"gammas": [0.1]}, r"gammas=\[0.1\] needs all labels"),
    ],
)
def test_homi_cv_says_what_it_cannot_do(rows, options, message):
    X, Y = rows
    with pytest.raises(ValueError, match=message):
        HOMICV(**CV | options).fit(X, hide(Y, 0.3)[0])


def test_homi_cv_says_which_labels_are_known_nowhere(rows):
    X, Y = rows
    hidden, _ = hide(Y, 0.3)
    hidden[:, 2] = np.nan
    with pytest.raises(ValueError, match=r"nothing is known of the label\(s\) 'y2'"):
        HOMICV(**CV).fit(X, hidden)
