"""One contract for every classifier: scikit-learn's checks, then ours."""

import inspect
import json
import pickle
import re
import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import estimator_checks_generator
from threadpoolctl import ThreadpoolController

import contract_checks
from conftest import POLARS, random_rows
from homi import estimators
from homi.estimators import MultiLabelClassifier, all_estimators
from homi.metrics import METRICS, evaluate, scorers
from homi.thresholds import TunedThresholds
from test_explorer import page_parts

CLASSES = dict(all_estimators())

#: Four methods whose equations are not public.
RECONSTRUCTIONS = {"WRAP", "LFLC", "BILAS", "MLLRC"}

#: Methods that the HOMI paper compares with, and HOMI.
PAPER = {
    *("HOMI", "EnsembleOfChains", "BinaryRelevance", "MLkNN", "WRAP", "MLSF", "LFLC"),
    *("BILAS", "GLOCAL", "MLLRC", "CLML"),
}

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


#: What takes long by its defaults does so for many members or candidates.
SMALL = {
    "EnsembleOfChains": {"n_chains": 2, "loss": "log"},
    "GLOCAL": {"n_latent": 3, "n_correlation": 3, "n_clusters": 2},
    "HOMICV": {
        "lams": [1.0],
        "kernels": ["rbf"],
        "widths": [1.0],
        "betas": [1.0],
        "label_weights": [0.1],
    },
    # Where iterations end by a looser tolerance, rounding changes the eighth digit.
    "WRAP": {"tol": 1e-8},
}


def small(name):
    """The classifier by its defaults, but for the number of members or candidates."""
    return CLASSES[name](**SMALL.get(name, {}))


def linear(name):
    """The small classifier; a HOMICV has neither kernel nor forest, which take long."""
    parts = {"trees": False, "kernels": ()} if name == "HOMICV" else {}
    return small(name).set_params(**parts)


def make(name):
    """The small classifier, with a seed where it takes one."""
    model = small(name)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    return model


every = pytest.mark.parametrize("name", sorted(CLASSES))


@pytest.fixture
def rows():
    return random_rows(0, n=60, m=5, q=4)


#: Classifiers for which a row of weight w is not quite w rows, and why.
APART = {
    "BinaryRelevance": "copies of a row are in several inner folds of the sigmoids",
    "EnsembleOfChains": "copies of a row are drawn apart",
    "HOMICV": "a row is left out with all its weight, its copies one by one",
    "MLSF": "copies of a row are in several inner folds of the sigmoids",
}


def not_expected(estimator):
    """Return checks that fail by design."""
    why = APART.get(type(estimator).__name__)
    kinds = ("dense", "sparse") if why else ()
    return {f"check_sample_weight_equivalence_on_{kind}_data": why for kind in kinds}


@pytest.mark.filterwarnings("ignore")
@contract_checks.parametrize(
    [linear(name) for name in sorted(CLASSES)],
    expected_failed_checks=not_expected,
)
def test_scikit_learn(estimator, expected):
    # What the base class does with input is asked of one with and one without weights.
    inherited = type(estimator).fit.__module__.startswith("homi.base")
    if inherited and not isinstance(estimator, estimators.LFLC | estimators.MLkNN):
        contract_checks.check_parameters(estimator, expected)
    else:
        contract_checks.check(estimator, expected)


#: Checks of what a kernel and a forest add to HOMICV: state, seeds, and arrays.
OF_PARTS = {
    "check_classifiers_train",
    "check_dict_unchanged",
    "check_estimators_dtypes",
    "check_estimators_pickle",
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_sample_weights_not_overwritten",
}


@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_with_kernel_and_trees():
    found = set()
    for model, check in estimator_checks_generator(make("HOMICV")):
        if (name := check.func.__name__) in OF_PARTS:
            check(model)
            found.add(name)
    assert found == OF_PARTS


@pytest.mark.parametrize(
    "name", ["CalibratedLabelRanking", "EnsembleOfChains", "LIFT", "LabelPowerset"]
)
def test_loaded_libraries_are_looked_up_once(name, rows, monkeypatch):
    """It takes longer than the fit of a small model."""
    make(name).fit(*rows)
    with monkeypatch.context() as patch:
        patch.setattr(ThreadpoolController, "__init__", pytest.fail)
        make(name).fit(*rows)


def test_all_of_the_paper_are_there():
    assert set(CLASSES) >= PAPER
    assert set(CLASSES) <= set(estimators.__all__)
    assert {k for k, v in CLASSES.items() if v.reconstruction} == RECONSTRUCTIONS


@every
def test_the_documentation_is_complete(name):
    text = inspect.getdoc(CLASSES[name])
    for part in ("Parameters", "Attributes", "Notes", "References", "Examples"):
        assert f"{part}\n---" in text, part
    assert ".. math::" in text
    assert ("reconstruction" in text) == (name in RECONSTRUCTIONS)
    for parameter in inspect.signature(CLASSES[name]).parameters:
        assert f"{parameter} :" in text or f"{parameter}, " in text, parameter


@every
def test_the_grid_of_the_paper_can_be_searched(name):
    if name not in PAPER:
        pytest.skip(f"{name} is not one of the paper's")
    for point in list(ParameterGrid(CLASSES[name].paper_grid))[:3]:
        make(name).set_params(**point)._validate_params()


@every
def test_outputs_agree_with_each_other(name, rows):
    X, Y = rows
    model = make(name).fit(X[:40], Y[:40])
    scores, labels = model.decision_function(X[40:]), model.predict(X[40:])
    probabilities = model.predict_proba(X[40:])
    assert scores.shape == labels.shape == probabilities.shape == (20, 4)
    np.testing.assert_array_equal(labels, scores > 0)
    assert set(np.unique(labels)) <= {0, 1}
    assert ((probabilities > 0) & (probabilities < 1)).all()
    np.testing.assert_array_equal(labels, probabilities > 0.5)
    ranking = model.ranking_scores(X[40:])
    for j in range(4):
        by_score = np.argsort(scores[:, j], kind="stable")
        assert (np.diff(probabilities[by_score, j]) >= -1e-12).all()
        assert (np.diff(ranking[by_score, j]) >= -1e-12).all()


@every
def test_it_learns(name, rows):
    X, Y = random_rows(1, n=400, m=6, q=4)
    model = make(name).fit(X[:300], Y[:300])
    auc = scorers(["macro_auc"])["macro_auc"](model, X[300:], Y[300:])
    assert auc > 0.75
    assert np.mean(model.predict(X[300:]) == Y[300:]) > 0.7


@every
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(sparse.csr_array, id="csr_array"),
        pytest.param(lambda A: A.tolist(), id="list"),
    ],
)
def test_any_container_gives_the_same_model(name, kind, rows):
    X, Y = rows
    X = np.where(X > 0, np.round(X, 2), 0.0)
    # Where a tolerance ends the fit may depend on rounding.
    strict = {"tol": 1e-7} if "tol" in make(name).get_params() else {}
    expected = make(name).set_params(**strict).fit(X, Y).decision_function(X)
    model = make(name).set_params(**strict).fit(kind(X), kind(Y))
    np.testing.assert_allclose(model.decision_function(kind(X)), expected, atol=2e-3)


def sparse_forms(X):
    """X in every sparse form, by name."""
    csr = sparse.csr_array(X)
    coo = csr.tocoo()
    twice = np.argsort(np.r_[coo.row, coo.row], kind="stable")
    values, columns = np.r_[coo.data, coo.data], np.r_[coo.col, coo.col]
    backwards = np.concatenate(
        [np.arange(stop - 1, start - 1, -1) for start, stop in pairwise(csr.indptr)]
    )
    every_column = np.arange(X.size) % X.shape[1]
    wide = csr.indices.astype(np.int64), csr.indptr.astype(np.int64)
    long = sparse.csr_array(X)
    long.indices, long.indptr = wide
    return {
        "bsr": sparse.bsr_array(X),
        "coo": coo,
        "csc": sparse.csc_array(X),
        "dia": sparse.dia_array(X),
        "duplicates": sparse.csr_array(
            (values[twice] / 2, columns[twice], 2 * csr.indptr), X.shape
        ),
        "explicit zeros": sparse.csr_array(
            (X.ravel(), every_column, np.arange(0, X.size + 1, X.shape[1])), X.shape
        ),
        "int64": long,
        "matrix": sparse.csr_matrix(X),
        "unsorted": sparse.csr_array(
            (csr.data[backwards], csr.indices[backwards], csr.indptr), X.shape
        ),
    }


def buffers(A):
    names = ("data", "indices", "indptr", "row", "col", "offsets")
    return [getattr(A, name) for name in names if hasattr(A, name)]


#: Every public classifier, and HOMI with each of its ways to see rows.
MODELS = {name: make(name) for name in sorted(CLASSES)} | {
    "TunedThresholds": TunedThresholds(estimators.HOMI()),
    "HOMI, rbf": estimators.HOMI(kernel="rbf"),
    "HOMI, laplacian": estimators.HOMI(kernel="laplacian"),
    "HOMI, anchors": estimators.HOMI(graph="anchors"),
    "HOMI, iterative": estimators.HOMI(solver="iterative"),
}


@pytest.mark.parametrize("name", MODELS)
def test_sparse_forms_give_one_model_and_are_not_changed(name, rows):
    X, Y = rows
    X = np.where(X > 0, np.round(X, 2), 0.0)
    fitted = clone(MODELS[name]).fit(sparse.csr_array(X), Y)
    expected = fitted.decision_function(X)
    forms = sparse_forms(X)
    # How they become canonical CSR is the same for all.
    asked = forms if name in ("HOMI", "HOMICV", "LFLC") else ("csc", "unsorted")
    for form in asked:
        A, T = forms[form], sparse_forms(Y)[form]
        before = [a.tobytes() for a in (*buffers(A), *buffers(T))]
        for buffer in (*buffers(A), *buffers(T)):
            buffer.flags.writeable = False
        scores = clone(fitted).fit(A, T).decision_function(A)
        np.testing.assert_allclose(scores, expected, atol=1e-8, err_msg=form)
        found = fitted.decision_function(A)
        np.testing.assert_allclose(found, expected, atol=1e-8, err_msg=form)
        assert before == [a.tobytes() for a in (*buffers(A), *buffers(T))], form


@pytest.mark.parametrize("name", MODELS)
def test_dense_and_sparse_rows_can_be_asked_of_one_model(name, rows):
    X, Y = rows
    X = np.where(X > 0, np.round(X, 2), 0.0)
    X.flags.writeable = Y.flags.writeable = False
    model = clone(MODELS[name]).fit(X, Y)
    expected = model.decision_function(X)
    found = model.decision_function(sparse.csr_array(X))
    np.testing.assert_allclose(found, expected, atol=1e-8)


@pytest.mark.parametrize("form", sparse_forms(np.eye(4)))
def test_metrics_take_every_sparse_form(form, rows):
    _, Y = rows
    S = np.where(Y > 0, 0.75, 0.25)
    S[::7] = 0.5 - S[::7]
    expected = evaluate(Y, S, S > 0.4, METRICS)
    A, T, P = (sparse_forms(B)[form] for B in (S, Y, (S > 0.4).astype(float)))
    before = [a.tobytes() for a in (*buffers(A), *buffers(T))]
    found = evaluate(T, A, P, METRICS)
    assert found == pytest.approx(expected)
    assert before == [a.tobytes() for a in (*buffers(A), *buffers(T))]


def rounded(page):
    """What it holds, to nine digits: SciPy 1.14 sums columns of CSC pairwise."""
    text = json.dumps(page_parts(page), default=np.ndarray.tolist)
    return re.sub(r"\d+\.\d+(e-\d+)?", lambda number: f"{float(number[0]):.9g}", text)


def test_the_explorer_takes_every_sparse_form(rows):
    X, Y = rows
    X = np.where(X > 0, np.round(X, 2), 0.0)
    model = estimators.HOMI().fit(X, Y)
    expected = rounded(model.explain(X=sparse.csr_array(X), y=Y))
    for form, A in sparse_forms(X).items():
        T = sparse_forms(Y)[form]
        before = [a.tobytes() for a in (*buffers(A), *buffers(T))]
        assert rounded(model.explain(X=A, y=T)) == expected, form
        assert before == [a.tobytes() for a in (*buffers(A), *buffers(T))], form


@pytest.mark.parametrize("name", MODELS)
def test_features_out_of_range_are_named(name, rows):
    X, Y = rows
    X = pd.DataFrame(X, columns=list("abcde"))
    model = clone(MODELS[name]).fit(X, Y)
    for huge in (X * [1, 1, 1e300, 1, 1], X * [1, 1, 1e60, 1, 1]):
        with pytest.raises(ValueError, match=r"column 2 \('c'\).*out of range"):
            clone(model).fit(huge, Y)
        with pytest.raises(ValueError, match=r"column 2 \('c'\).*out of range"):
            model.decision_function(huge)
    with pytest.raises(ValueError, match="largest magnitude in X is"):
        clone(model).fit(X * 1e-200, Y)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("scale", [1e-30, 1e40])
def test_scales_within_range_give_scores(name, scale, rows):
    X, Y = rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = clone(MODELS[name]).fit(scale * X, Y)
    assert np.isfinite(model.decision_function(scale * X)).all()


#: What data frames have for 0 and 1.
NULLABLE = [
    *("Int64", "boolean", "UInt8", "Float64", "category"),
    *("bool[pyarrow]", "int64[pyarrow]", "double[pyarrow]"),
]


@every
def test_labels_of_every_type_of_a_data_frame(name, rows):
    X, Y = rows
    plain = pd.DataFrame(Y.astype(int), columns=list("pqrs"))
    model = make(name)
    expected = model.fit(X, plain).predict(X)
    # How labels are converted is the same for all; that they are is asked of each.
    kinds = NULLABLE if name == "HOMI" else ("boolean",)
    frames = [plain.astype(bool).astype(kind) for kind in kinds]
    frames.append(pl.DataFrame(Y.astype(bool), schema=list("pqrs")))
    for frame in frames:
        assert (clone(model).fit(X, frame).predict(X) == expected).all(), frame.dtypes
    missing = plain.astype("Int64")
    missing.iloc[3, 1] = pd.NA
    with pytest.raises(ValueError, match="contains NaN or None in 1 of"):
        clone(model).fit(X, missing)


@every
@pytest.mark.parametrize("frame", [pd.DataFrame, POLARS])
def test_names_of_a_data_frame_are_kept(name, frame, rows):
    X, Y = rows
    columns, labels = list("abcde"), ["joy", "anger", "calm", "fear"]
    X = frame(dict(zip(columns, X.T, strict=True)))
    Y = frame(dict(zip(labels, Y.T.astype(int), strict=True)))
    model = make(name).fit(X, Y)
    assert list(model.feature_names_in_) == columns
    assert list(model.label_names_) == labels
    assert model.predict(X).shape == (60, 4)
    with pytest.raises(ValueError, match=r"feature names"):
        model.predict(X[columns[::-1]])


@pytest.mark.parametrize("name", ["HOMI", "HOMICV", "TunedThresholds", "LEML"])
def test_rows_of_data_frames_in_another_order_are_not_silent(name, rows):
    X, Y = pd.DataFrame(rows[0]), pd.DataFrame(rows[1].astype(int), columns=[*"pqrs"])
    X.columns = list("abcde")
    model = TunedThresholds(make("LEML")) if name == "TunedThresholds" else make(name)
    model.fit(X, Y)
    shuffled = Y.sample(frac=1, random_state=0)
    with pytest.warns(UserWarning, match=r"another order.*y\.loc\[X\.index\]"):
        clone(model).fit(X, shuffled)
    with pytest.warns(UserWarning, match="another order"):
        model.score(X, shuffled)
    assert clone(model).fit(X, shuffled.to_numpy()).score(X, Y) >= 0.0
    with pytest.raises(ValueError, match="y has its labels in another order"):
        model.score(X, Y[[*"qprs"]])


@every
@pytest.mark.parametrize("dtype", [bool, np.uint16])
def test_integers_come_back_in_their_own_type(name, dtype, rows):
    X, Y = rows
    labels = make(name).fit(X, Y.astype(dtype)).predict(X)
    assert labels.dtype == (np.dtype(int) if dtype is bool else np.dtype(dtype))


@every
def test_two_fits_by_the_defaults_are_the_same(name, rows):
    X, Y = rows
    first, second = (CLASSES[name]().fit(X, Y) for _ in range(2))
    scores = first.decision_function(X)
    np.testing.assert_array_equal(scores, second.decision_function(X))


@every
def test_the_same_seed_gives_the_same_model(name, rows):
    X, Y = rows
    model = make(name)
    first = model.fit(X, Y).decision_function(X)
    second = clone(model).fit(X, Y).decision_function(X)
    np.testing.assert_array_equal(first, second)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.decision_function(X), first)


@every
def test_the_number_of_jobs_changes_nothing(name, rows):
    X, Y = rows
    model = make(name)
    if "n_jobs" not in model.get_params():
        pytest.skip(f"{name} has no n_jobs")
    expected = model.fit(X, Y).decision_function(X)
    found = clone(model).set_params(n_jobs=2).fit(X, Y).decision_function(X)
    np.testing.assert_allclose(found, expected, atol=1e-10)


@every
def test_grid_search_over_a_pipeline(name, rows):
    X, Y = rows
    pipeline = make_pipeline(MinMaxScaler(), make(name))
    step = pipeline.steps[-1][0]
    parameter = next(
        (key, value)
        for key, value in make(name).get_params().items()
        if type(value) in (int, float) and key != "random_state"
    )
    grid = {f"{step}__{parameter[0]}": [parameter[1]]}
    search = GridSearchCV(
        pipeline, grid, scoring=scorers(), refit="ranking_loss", cv=2
    ).fit(X, Y)
    assert 0 <= -search.best_score_ < 0.5


@every
@pytest.mark.parametrize("n_labels", [1, 2])
def test_few_labels(name, n_labels, rows):
    X, Y = rows
    model = make(name).fit(X, Y[:, :n_labels])
    assert model.predict(X).shape == (60, n_labels)
    assert np.mean(model.predict(X) == Y[:, :n_labels]) > 0.65


def degenerate(X, Y):
    n = len(X)
    none, every_row, one = np.zeros(n), np.ones(n), np.eye(n)[0]
    return np.column_stack([none, every_row, one, Y[:, 0], Y[:, 0], Y[:, 1]])


@every
def test_degenerate_labels(name, rows):
    X, Y = rows
    Y = degenerate(X, Y)
    with warnings.catch_warnings():
        # What an inner estimator says of a label with one positive is not asked here.
        warnings.simplefilter("ignore")
        model = make(name).fit(X, Y)
    labels, scores = model.predict(X), model.decision_function(X)
    assert np.isfinite(scores).all()
    assert np.isfinite(model.predict_proba(X)).all()
    assert not labels[:, 0].any()
    assert labels[:, 1].all()
    assert np.mean(labels[:, 3] == Y[:, 3]) > 0.65


@every
@pytest.mark.parametrize("what", ["none", "all"])
def test_only_constant_labels(name, what, rows):
    X, _ = rows
    Y = np.full((60, 3), float(what == "all"))
    model = make(name).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), Y)


@every
def test_constant_and_doubled_features(name, rows):
    X, Y = rows
    X = np.column_stack([np.zeros(60), np.full(60, 1e3), X, X[:, 0]])
    model = make(name).fit(X, Y)
    assert np.isfinite(model.decision_function(X)).all()
    assert np.mean(model.predict(X) == Y) > 0.7


@every
def test_only_constant_features(name, rows):
    _, Y = rows
    X = np.ones((60, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make(name).fit(X, Y)
    assert np.isfinite(model.decision_function(X)).all()


@every
@pytest.mark.parametrize("n", [2, 3, 6])
def test_few_rows(name, n):
    X, Y = random_rows(0, n=n, m=8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make(name).fit(X, Y)
    assert np.isfinite(model.decision_function(X)).all()


@every
def test_more_features_than_rows(name):
    X, Y = random_rows(0, n=20, m=50)
    model = make(name).fit(X, Y)
    assert np.isfinite(model.decision_function(X)).all()


@every
def test_bad_input_is_named(name, rows):
    X, Y = rows
    for given, message in [
        ((X, Y - 1), r"holds only 0 and 1.*pass \(Y > 0\)"),
        ((X, Y[:-1]), "inconsistent numbers of samples"),
        ((X, None), "requires y to be passed"),
        ((X * np.nan, Y), "contains NaN"),
        ((X, Y * np.nan), "contains NaN"),
    ]:
        with pytest.raises(ValueError, match=message):
            make(name).fit(*given)


@every
def test_it_is_one_of_ours(name):
    assert issubclass(CLASSES[name], MultiLabelClassifier)
