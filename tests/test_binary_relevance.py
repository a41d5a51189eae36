"""Binary relevance against scikit-learn's one-versus-rest, and the paper's row."""

from functools import partial

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import contract_checks
from conftest import random_rows
from homi.linear import fit_margins
from homi.methods.binary_relevance import BinaryRelevance
from homi.metrics import PAPER_METRICS, evaluate, macro_auc


@pytest.mark.filterwarnings("ignore")
@contract_checks.parametrize(
    [
        BinaryRelevance(loss="log", standardize=False),
        BinaryRelevance(LogisticRegression()),
    ],
    contract_checks.without_weights,
)
def test_scikit_learn_contract(estimator, expected):
    contract_checks.check_parameters(estimator, expected)


@pytest.fixture(scope="module")
def rows():
    X, Y = random_rows(0, n=240, m=6, q=4)
    return X[:160], Y[:160], X[160:]


def test_built_in_machines_are_those_of_liblinear(rows):
    X, Y, test = rows
    scaler = StandardScaler().fit(X)
    machine = LinearSVC(dual=False, tol=1e-9, intercept_scaling=1e3)
    expected = OneVsRestClassifier(machine).fit(scaler.transform(X), Y)
    model = BinaryRelevance(tol=1e-7).fit(X, Y)
    margins = expected.decision_function(scaler.transform(test))
    np.testing.assert_allclose(model.decision_function(test), margins, atol=1e-3)
    np.testing.assert_array_equal(model.predict(test), margins > 0)
    linear = test @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(test), linear)


def test_built_in_logistic_regressions_are_those_of_scikit_learn(rows):
    X, Y, test = rows
    model = BinaryRelevance(loss="log", C=2.0, standardize=False, tol=1e-7).fit(X, Y)
    given = LogisticRegression(C=2.0, tol=1e-9, solver="newton-cholesky")
    expected = OneVsRestClassifier(given).fit(X, Y).predict_proba(test)
    np.testing.assert_allclose(model.predict_proba(test), expected, atol=1e-5)
    np.testing.assert_array_equal(model.predict(test), expected > 0.5)
    np.testing.assert_array_equal(model.ranking_scores(test), model.predict_proba(test))


@pytest.mark.parametrize("given", [LogisticRegression(), GaussianNB()])
@pytest.mark.parametrize("standardize", [True, False])
def test_a_given_classifier_is_one_versus_rest(rows, given, standardize):
    X, Y, test = rows
    scaler = StandardScaler(with_mean=standardize, with_std=standardize).fit(X)
    expected = OneVsRestClassifier(given).fit(scaler.transform(X), Y.astype(int))
    model = BinaryRelevance(given, standardize=standardize).fit(X, Y)
    rest = scaler.transform(test)
    np.testing.assert_array_equal(model.predict(test), expected.predict(rest))
    np.testing.assert_allclose(
        model.predict_proba(test), np.clip(expected.predict_proba(rest), 1e-300, None)
    )
    assert len(model.estimator_.estimators_) == 4


def test_a_given_classifier_without_probabilities_gets_sigmoids(rows):
    X, Y, test = rows
    given = LinearSVC(dual=False, tol=1e-9, intercept_scaling=1e3)
    model = BinaryRelevance(given, random_state=0).fit(X, Y)
    built_in = BinaryRelevance(tol=1e-7, random_state=0).fit(X, Y)
    found, expected = model.predict_proba(test), built_in.predict_proba(test)
    np.testing.assert_allclose(found, expected, atol=1e-3)


def test_probabilities_are_calibrated_and_margins_are_not():
    X, Y = random_rows(2, n=4000, m=6, q=3)
    model = BinaryRelevance(random_state=0).fit(X[:2000], Y[:2000])
    P = model.predict_proba(X[2000:])
    for low in (0.0, 0.25, 0.5, 0.75):
        inside = (low <= P) & (low + 0.25 > P)
        assert Y[2000:][inside].mean() == pytest.approx(P[inside].mean(), abs=0.05)


@pytest.mark.parametrize("given", [None, LogisticRegression(), LinearSVC()])
@pytest.mark.parametrize("loss", ["squared_hinge", "log"])
def test_constant_labels_have_constant_predictions(given, loss, rows):
    X, Y, test = rows
    Y = np.column_stack([np.zeros(160), Y[:, 0], np.ones(160)])
    model = BinaryRelevance(given, loss=loss).fit(X, Y)
    np.testing.assert_array_equal(model.predict(test)[:, [0, 2]], [[0, 1]] * 80)
    expected = np.broadcast_to([1 / 162, 161 / 162], (80, 2))
    np.testing.assert_allclose(model.predict_proba(test)[:, [0, 2]], expected)


@pytest.mark.parametrize("given", [None, LogisticRegression(), GaussianNB()])
def test_a_single_label(given, rows):
    X, Y, test = rows
    model = BinaryRelevance(given, random_state=0).fit(X, Y)
    alone = BinaryRelevance(given, random_state=0).fit(X, Y[:, [1]])
    for name in ("decision_function", "predict_proba", "ranking_scores", "predict"):
        found, expected = getattr(alone, name)(test), getattr(model, name)(test)
        assert found.shape == (80, 1)
        np.testing.assert_allclose(found, expected[:, [1]], rtol=1e-6)


def test_sparse_rows_give_the_same_model(rows):
    X, Y, test = rows
    expected = BinaryRelevance(tol=1e-7, random_state=0).fit(X, Y)
    found = BinaryRelevance(tol=1e-7, random_state=0).fit(sparse.csc_array(X), Y)
    for rest in (test, sparse.csr_array(test)):
        np.testing.assert_allclose(
            found.predict_proba(rest), expected.predict_proba(rest), atol=1e-4
        )


def test_classes_compete_by_their_probabilities():
    X, Y = random_rows(3, n=120, m=4, q=3)
    y = np.array(["a", "b", "c"])[Y.sum(axis=1).astype(int).clip(0, 2)]
    model = BinaryRelevance(random_state=0).fit(X, y)
    P = model.predict_proba(X)
    scores = model.ranking_scores(X)
    np.testing.assert_allclose(P, scores / scores.sum(axis=1, keepdims=True))
    np.testing.assert_array_equal(model.predict(X), model.classes_[P.argmax(axis=1)])
    np.testing.assert_allclose(model.decision_function(X), logit(scores))


def test_labels_that_did_not_converge_are_reported(rows, monkeypatch):
    X, Y, _ = rows
    hasty = partial(fit_margins, max_iter=1)
    monkeypatch.setattr("homi.methods.label_models.fit_margins", hasty)
    with pytest.warns(ConvergenceWarning, match="4 of 4 labels did not converge"):
        BinaryRelevance(loss="log").fit(X, Y)


#: The row of the HOMI paper, with deviations: Hamming loss, ranking loss, one-error and
#: macro-AUC. Features that are 0 or 1, those of enron, are left as they are. On yeast
#: the paper prints an AUC of 0.629, where both losses, raw or standardized, get at
#: least 0.675.
PAPER = {
    "emotions": (True, [0.207, 0.162, 0.268, 0.826], [0.021, 0.014, 0.024, 0.023]),
    "yeast": (True, [0.202, 0.174, 0.233], [0.006, 0.011, 0.033]),
    "birds": (True, [0.070, 0.104, 0.712, 0.718], [0.010, 0.007, 0.045, 0.051]),
    "CAL500": (True, [0.165, 0.180, 0.119, 0.502], [0.005, 0.006, 0.045, 0.007]),
    "scene": (True, [0.131, 0.115, 0.317, 0.886], [0.005, 0.013, 0.030, 0.011]),
    "enron": (False, [0.061, 0.085, 0.271, 0.619], [0.002, 0.004, 0.015, 0.028]),
    "langlog": (True, [0.019, 0.113, 0.750, 0.553], [0.001, 0.004, 0.008, 0.020]),
}


@pytest.mark.parametrize(
    "name",
    [
        *("emotions", "yeast"),
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("birds", "CAL500", "scene", "enron", "langlog")
        ),
    ],
)
def test_the_papers_row(name, data):
    """Five folds come within two of the paper's deviations."""
    X, Y, *_ = data(name)
    standardize, means, deviations = PAPER[name]
    results = []
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        model = BinaryRelevance(standardize=standardize, random_state=0)
        model.fit(X[train], Y[train])
        truth, scores = Y[test], model.ranking_scores(X[test])
        figures = evaluate(truth, scores, model.predict(X[test]), PAPER_METRICS[:3])
        # Labels without an AUC count as 0 in the paper.
        auc = macro_auc(truth, scores, undefined="zero")
        results.append([*figures.values(), auc][: len(means)])
    gaps = np.abs(np.mean(results, axis=0) - means) / deviations
    assert (gaps <= 2).all(), (np.mean(results, axis=0), gaps)
