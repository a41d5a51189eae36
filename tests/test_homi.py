"""HOMI as a user meets it: every kind of input, names, errors, and scikit-learn."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import contract_checks
from conftest import HAS_CALLBACKS, Watch, needs_callbacks, random_rows
from homi import HOMI
from homi.metrics import scorers


@pytest.fixture
def rows():
    return random_rows(0, n=60, m=7, q=3)


@pytest.mark.filterwarnings("ignore")
@contract_checks.parametrize(
    [HOMI(sweep="paper"), HOMI(gamma=0), HOMI(init="random", random_state=0)]
)
def test_scikit_learn_contract(estimator, expected):
    """No check is expected to fail."""
    contract_checks.check_parameters(estimator, expected)


def test_defaults_are_those_of_the_paper():
    model = HOMI()
    assert (model.lam, model.beta, model.gamma, model.n_neighbors) == (1, 2, 1, 10)


def test_fitted_attributes_make_the_scores(rows):
    X, Y = rows
    model = HOMI().fit(X, Y)
    first = X @ model.feature_weights_ + model.feature_bias_
    g = first @ model.label_correlation_ + model.label_bias_
    decisions = model.decision_function(X)
    np.testing.assert_allclose(g - 0.5, decisions, atol=1e-12)
    np.testing.assert_allclose(X @ model.coef_.T + model.intercept_, decisions)
    np.testing.assert_array_equal(model.predict(X), g > 0.5)
    assert model.n_iter_ == len(model.history_)
    assert set(model.history_[0]) == {"features", "labels", "graph"}


def test_ridge_regression_is_the_case_without_graph(rows):
    X, Y = rows
    model = HOMI(gamma=0, standardize=False, lam=0.5).fit(X, Y)
    augmented = np.hstack([X, np.ones((len(X), 1))])
    ridge = Ridge(alpha=0.5, fit_intercept=False).fit(augmented, Y)
    np.testing.assert_allclose(model.feature_weights_.T, ridge.coef_[:, :-1])
    np.testing.assert_allclose(model.feature_bias_, ridge.coef_[:, -1])


X_KINDS = {
    "float32": lambda X: X.astype(np.float32).astype(float),
    "list": lambda X: X.tolist(),
    "fortran": np.asfortranarray,
    "csr_matrix": sparse.csr_matrix,
    "csc_matrix": sparse.csc_matrix,
    "csr_array": sparse.csr_array,
    "csc_array": sparse.csc_array,
    "coo_array": sparse.coo_array,
    "pandas": pd.DataFrame,
    "polars": lambda X: pl.DataFrame(X, schema=[f"f{j}" for j in range(X.shape[1])]),
}

Y_KINDS = {
    "bool": lambda Y: Y.astype(bool),
    "int8": lambda Y: Y.astype(np.int8),
    "list": lambda Y: Y.astype(int).tolist(),
    "csr_matrix": sparse.csr_matrix,
    "csc_array": sparse.csc_array,
    "bool sparse": lambda Y: sparse.csr_array(Y.astype(bool)),
    "pandas": pd.DataFrame,
    "polars": lambda Y: pl.DataFrame(Y, schema=[f"l{j}" for j in range(Y.shape[1])]),
}


@pytest.mark.filterwarnings("ignore:X has feature names:UserWarning")
@pytest.mark.parametrize("kind", X_KINDS)
def test_X_of_every_kind_gives_one_model(rows, kind):
    X, Y = rows
    X = X.astype(np.float32).astype(float)
    expected = HOMI().fit(X, Y)
    given = X_KINDS[kind](X)
    model = HOMI().fit(given, Y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-7, atol=1e-9)
    scores = model.decision_function(given)
    np.testing.assert_allclose(scores, expected.decision_function(X), atol=1e-8)


@pytest.mark.parametrize("kind", Y_KINDS)
def test_Y_of_every_kind_gives_one_model(rows, kind):
    X, Y = rows
    model = HOMI().fit(X, Y_KINDS[kind](Y))
    np.testing.assert_allclose(model.coef_, HOMI().fit(X, Y).coef_)
    expected = np.int8 if kind == "int8" else int
    assert model.predict(X).dtype == expected


def test_a_large_sparse_Y_given_dense_is_the_same(monkeypatch):
    X, Y = random_rows(0, n=80, q=6)
    Y[:, 1:] *= np.random.default_rng(0).random((80, 5)) < 0.05
    expected = HOMI().fit(X, Y).coef_
    monkeypatch.setattr("homi.base.targets._LARGE", 1)
    monkeypatch.setattr("homi.base.targets._SPARSE", 0.5)
    np.testing.assert_allclose(HOMI().fit(X, Y).coef_, expected)


def test_float32_rows_are_summed_in_float64(rows):
    X, Y = rows
    narrow = X.astype(np.float32)
    model = HOMI().fit(narrow, Y)
    expected = HOMI().fit(narrow.astype(float), Y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)


def test_names_are_kept(rows):
    X, Y = rows
    frame = pd.DataFrame(Y, columns=["sad", "quiet", "happy"])
    model = HOMI().fit(pd.DataFrame(X).add_prefix("x"), frame)
    assert list(model.label_names_) == ["sad", "quiet", "happy"]
    assert list(model.feature_names_in_)[:2] == ["x0", "x1"]
    assert list(HOMI().fit(X, Y).label_names_) == ["y0", "y1", "y2"]


def test_changed_feature_names_are_an_error(rows):
    X, Y = rows
    model = HOMI().fit(pd.DataFrame(X).add_prefix("x"), Y)
    with pytest.raises(ValueError, match=r"feature names should match(.|\n)*z0"):
        model.predict(pd.DataFrame(X).add_prefix("z"))
    with pytest.raises(ValueError, match="6 features, but HOMI is expecting 7"):
        HOMI().fit(X, Y).predict(X[:, :-1])


def test_one_dimensional_classes(rows):
    X, Y = rows
    words = np.array(["no", "yes"])[Y[:, 0].astype(int)]
    binary = HOMI().fit(X, words)
    assert set(binary.predict(X)) <= {"no", "yes"}
    assert binary.decision_function(X).shape == (60,)
    assert binary.predict_proba(X).shape == (60, 2)
    column = HOMI().fit(X, Y[:, :1])
    np.testing.assert_allclose(
        column.decision_function(X).ravel(), binary.decision_function(X)
    )
    three = HOMI().fit(X, Y[:, 0] + Y[:, 1])
    assert three.decision_function(X).shape == (60, 3)
    np.testing.assert_allclose(three.predict_proba(X).sum(axis=1), 1)
    assert list(three.label_names_) == [0, 1, 2]


def test_probabilities_stay_inside_and_grow_with_the_score(rows):
    X, Y = rows
    model = HOMI(standardize=False).fit(X, Y)
    far = np.vstack([X, 1e3 * X, 1e9 * X, 1e30 * X])
    scores, inside = model.decision_function(far), model.predict_proba(far)
    assert inside.min() > 0
    assert inside.max() < 1
    for j in range(scores.shape[1]):
        order = np.argsort(scores[:, j])
        assert (np.diff(inside[order, j]) >= 0).all()
    near = np.abs(scores) < 0.4
    np.testing.assert_allclose(inside[near], scores[near] + 0.5)
    np.testing.assert_array_equal(inside > 0.5, scores > 0)


def test_labels_that_say_nothing(rows):
    X, Y = rows
    Y = np.column_stack([Y, np.zeros(60), np.ones(60), Y[:, 0]])
    model = HOMI(tol=1e-12, max_iter=5000).fit(X, Y)
    predicted = model.predict(X)
    assert not predicted[:, 3].any()
    assert predicted[:, 4].all()
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores[:, 0], scores[:, 5], atol=1e-8)


@pytest.mark.parametrize("lam", [0.0, 1e-12, 1.0])
@pytest.mark.parametrize("sweep", ["joint", "paper"])
def test_degenerate_features(rows, lam, sweep):
    X, Y = rows
    X = np.hstack([X, X[:, :2], np.ones((60, 1)), np.zeros((60, 1))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = HOMI(lam=lam, sweep=sweep).fit(X, Y)
    assert np.isfinite(model.decision_function(X)).all()
    assert np.abs(model.decision_function(X)).max() < 10


def test_more_features_than_rows():
    X, Y = random_rows(1, n=20, m=50)
    model = HOMI(lam=1e-3, gamma=1e-3).fit(X, Y)
    assert model.score(X, Y) == 1.0


def test_rows_without_any_feature():
    rng = np.random.default_rng(0)
    X = sparse.random(50, 30, 0.2, format="csr", random_state=0)
    X = sparse.vstack([X, sparse.csr_matrix((8, 30))], format="csr")
    Y = rng.integers(0, 2, (58, 3))
    for standardize in (True, False):
        model = HOMI(standardize=standardize).fit(X, Y)
        dense = HOMI(standardize=standardize).fit(X.toarray(), Y)
        np.testing.assert_allclose(model.coef_, dense.coef_, rtol=1e-6, atol=1e-8)


def test_sparse_rows_keep_their_zeros(rows, monkeypatch):
    """Nothing may ask a sparse X for its dense form beyond a block of rows."""
    X = sparse.random(300, 40, 0.04, format="csr", random_state=0)
    Y = random_rows(0, n=300)[1]
    monkeypatch.setattr("homi.graph.exact._BLOCK", 32)
    largest = []
    original = sparse.csr_array.toarray

    def watched(self, *args, **kwargs):
        largest.append(self.shape[0] if self.shape[1] == 40 else 0)
        return original(self, *args, **kwargs)

    monkeypatch.setattr(sparse.csr_array, "toarray", watched)
    HOMI().fit(X, Y)
    assert 0 < max(largest) <= 40


def test_unconverged_fits_say_so(rows):
    X, Y = rows
    said = "after 2 sweeps without converging"
    with pytest.warns(ConvergenceWarning, match=said) as found:
        HOMI(max_iter=2).fit(X, Y)
    # It names the line of the user, not one of the library or of scikit-learn.
    assert found[0].filename == __file__


def test_the_seed_is_respected(rows):
    X, Y = rows
    one, two = (HOMI(init="random", random_state=3).fit(X, Y) for _ in range(2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    other = HOMI(init="random", random_state=4).fit(X, Y)
    assert not np.array_equal(one.coef_, other.coef_)
    np.testing.assert_allclose(one.coef_, other.coef_, atol=0.05)


def test_works_inside_scikit_learn(rows):
    X, Y = rows
    grid = GridSearchCV(
        make_pipeline(MinMaxScaler(), HOMI()),
        {"homi__lam": [0.1, 10.0], "homi__gamma": [0.0, 0.1]},
        scoring=scorers(),
        refit="ranking_loss",
        cv=3,
    ).fit(X, Y)
    assert grid.predict(X).shape == Y.shape
    result = cross_validate(HOMI(), X, Y, scoring=scorers(), cv=3)
    assert (result["test_hamming_loss"] <= 0).all()
    assert (result["test_macro_auc"] > 0.5).all()
    assert clone(HOMI(lam=3.0)).lam == 3.0


@pytest.mark.parametrize("n_labels", [1, 2, 3])
def test_scorers_see_the_scores_as_they_are(rows, n_labels):
    X, Y = rows
    Y = Y[:, :n_labels]
    model = HOMI(gamma=0.1).fit(X, Y)
    from homi.metrics import macro_auc

    scorer = scorers(["macro_auc"])["macro_auc"]
    expected = macro_auc(Y, model.decision_function(X))
    assert scorer(model, X, Y) == pytest.approx(expected)
    assert expected > 0.5


@needs_callbacks
def test_callbacks_hear_of_every_sweep(rows):
    X, Y = rows
    watch = Watch()
    model = HOMI().set_callbacks(watch).fit(X, Y)
    assert len(watch.objectives) == model.n_iter_
    assert (np.diff(watch.objectives) <= 0).all()
    last = watch.models[-1].decision_function(X)
    np.testing.assert_allclose(last, model.decision_function(X))


@needs_callbacks
def test_a_callback_may_end_the_fit(rows):
    X, Y = rows
    model = HOMI(tol=0).set_callbacks(Watch(stop_after=2)).fit(X, Y)
    assert model.n_iter_ == 2


@needs_callbacks
def test_scikit_learns_progress_bar_follows_a_fit(rows, capsys):
    from sklearn.callback import ProgressBar

    X, Y = rows
    HOMI().set_callbacks(ProgressBar()).fit(X, Y)
    assert "HOMI - fit" in capsys.readouterr().out


BAD_FIT = {
    "NaN in X": (
        lambda X, Y: (np.where(X > 1, np.nan, X), Y),
        "Input X contains NaN",
    ),
    "infinity in X": (
        lambda X, Y: (np.where(X > 1, np.inf, X), Y),
        "Input X contains infinity",
    ),
    "NaN in Y": (
        lambda X, Y: (X, np.where(Y == 1, np.nan, Y)),
        r"Input y contains NaN in \d+ of its entries.*drop these rows",
    ),
    "infinity in Y": (
        lambda X, Y: (X, np.where(Y == 1, np.inf, Y)),
        "Input y contains infinity",
    ),
    "-1/+1 labels": (
        lambda X, Y: (X, 2 * Y - 1),
        r"only 0 and 1, got -1\.0, 1\.0; for -1/\+1 labels pass \(Y > 0\)",
    ),
    "counts": (lambda X, Y: (X, 3 * Y), r"only 0 and 1, got 0\.0, 3\.0"),
    "strings": (
        lambda X, Y: (X, np.where(Y == 1, "a", "b")),
        "only 0 and 1, got 'a', 'b'; encode names with MultiLabelBinarizer",
    ),
    "strings in X": (lambda X, Y: (X.astype(str) + "x", Y), "could not convert"),
    "rows that do not match": (
        lambda X, Y: (X[:-1], Y),
        r"inconsistent numbers of samples: \[59, 60\]",
    ),
    "X of one dimension": (lambda X, Y: (X[0], Y), "Expected 2D array"),
    "Y of three dimensions": (
        lambda X, Y: (X, Y[:, :, None]),
        r"\(n_samples, n_labels\), got an array of shape \(60, 3, 1\)",
    ),
    "no rows": (lambda X, Y: (X[:0], Y[:0]), "0 sample"),
    "no features": (lambda X, Y: (X[:, :0], Y), "0 feature"),
    "no labels": (lambda X, Y: (X, Y[:, :0]), r"Y has shape \(60, 0\)"),
    "no Y": (lambda X, Y: (X, None), "requires y to be passed"),
    "empty y": (lambda X, Y: (X, np.zeros(0)), "y is empty"),
    "one row": (lambda X, Y: (X[:1], Y[:1]), "at least 2 rows, got n_samples = 1"),
    "one class": (lambda X, Y: (X, np.ones(60)), "only one class"),
    "continuous y": (lambda X, Y: (X, X[:, 0]), "continuous"),
    "sparse counts": (
        lambda X, Y: (X, sparse.csr_array(2 * Y)),
        r"only 0 and 1, got 2\.0",
    ),
}


@pytest.mark.parametrize("case", BAD_FIT)
def test_bad_input_gets_a_clear_error(rows, case):
    spoil, message = BAD_FIT[case]
    with pytest.raises(ValueError, match=message):
        HOMI().fit(*spoil(*rows))


BAD_HYPER = [
    {"lam": -1.0},
    {"lam": np.nan},
    {"beta": 0.0},
    {"beta": -2.0},
    {"gamma": -0.1},
    {"n_neighbors": 0},
    {"n_neighbors": 2.5},
    {"graph": "nearest"},
    {"standardize": "yes"},
    {"sweep": "jacobi"},
    {"init": "ones"},
    {"max_iter": 0},
    {"tol": -1e-3},
    {"random_state": "seed"},
]


@pytest.mark.parametrize("hyper", BAD_HYPER, ids=str)
def test_bad_hyper_parameters_get_a_clear_error(rows, hyper):
    (name,) = hyper
    with pytest.raises(ValueError, match=f"The '{name}' parameter of HOMI must be"):
        HOMI(**hyper).fit(*rows)


def test_prediction_needs_a_fit_and_clean_rows(rows):
    X, Y = rows
    with pytest.raises(NotFittedError):
        HOMI().predict(X)
    model = HOMI().fit(X, Y)
    X[3, 2] = np.nan
    for method in ("predict", "decision_function", "predict_proba"):
        with pytest.raises(ValueError, match="Input X contains NaN"):
            getattr(model, method)(X)


@pytest.mark.parametrize("n_labels", [1, 3, 12])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_no_bad_value_slips_through_the_short_way(value, n_labels):
    """Also where every weight of its feature is zero."""
    X, Y = random_rows(0, n=60, m=7, q=n_labels)
    model = HOMI().fit(X, Y)
    model.coef_[:, 2] = 0.0
    X[3, 2] = value
    with pytest.raises(ValueError, match="Input X contains"):
        model.predict(X)


def test_both_ways_to_predict_agree(rows):
    X, Y = rows
    model = HOMI().fit(X, Y)
    for kind in (np.array, np.asfortranarray, sparse.csr_array):
        np.testing.assert_array_equal(model.predict(kind(X)), model.predict(X.tolist()))
    with pytest.raises(ValueError, match="out of range"):
        model.predict(1e300 * X)


def test_too_many_neighbors_are_capped_with_a_warning():
    X, Y = random_rows(0, n=8)
    with pytest.warns(UserWarning, match="all 7 others"):
        capped = HOMI(n_neighbors=20).fit(X, Y)
    np.testing.assert_allclose(capped.coef_, HOMI(n_neighbors=7).fit(X, Y).coef_)


def test_nobody_is_warned_of_the_default_number_of_neighbors():
    X, Y = random_rows(0, n=6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        default = HOMI().fit(X, Y)
    np.testing.assert_allclose(default.coef_, HOMI(n_neighbors=5).fit(X, Y).coef_)


@pytest.mark.parametrize("sweep", ["joint", "paper"])
@pytest.mark.parametrize("what", ["features", "labels", "both"])
def test_constants_without_a_penalty_have_the_solution_of_least_norm(
    what, sweep, capfd
):
    X, Y = random_rows(0, n=30)
    X = X if what == "labels" else np.ones_like(X)
    Y = Y if what == "features" else np.zeros_like(Y)
    model = HOMI(lam=0.0, sweep=sweep).fit(X, Y)
    expected = np.broadcast_to(Y.mean(axis=0) - 0.5, Y.shape)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-8)
    np.testing.assert_allclose(model.feature_weights_, 0.0, atol=1e-12)
    assert capfd.readouterr() == ("", "")  # LAPACK has nothing to complain of


@pytest.mark.skipif(HAS_CALLBACKS, reason="scikit-learn has callbacks")
def test_callbacks_without_scikit_learns_are_refused():
    with pytest.raises(NotImplementedError, match=r"needs scikit-learn 1\.9"):
        HOMI().set_callbacks(Watch())


@pytest.mark.parametrize("options", [{"gamma": 1e308}, {"beta": 1e308, "lam": 1e-300}])
def test_a_solution_that_is_not_finite_is_refused(options):
    X, Y = random_rows(0, n=30)
    with (
        np.errstate(all="ignore"),
        pytest.raises(ValueError, match="solution is not finite with lam="),
    ):
        HOMI(**options).fit(X, Y)
