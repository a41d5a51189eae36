"""Terms of an explanation add up to the decision scores, and have names."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import homi
from conftest import random_rows
from homi import HOMI, HOMICV
from homi.estimators import LFLC, MLkNN
from homi.explorer import layout
from homi.thresholds import TunedThresholds

X, Y = random_rows(0, n=60, m=5, q=4)
SMALL = {"lams": [1.0, 10.0], "widths": [1.0], "random_state": 0}
TEXTS = ["red ball", "red box", "blue ball", "blue box", "green box"] * 8
TAGS = [text.split() for text in TEXTS]

MODELS = {
    "linear": HOMI(),
    "correlation": HOMI(correlation="held-out", gamma=0.0),
    "kernel": HOMI(kernel="rbf", n_components=20, random_state=0),
    "HOMICV": HOMICV(**SMALL),
    "trees": HOMICV(**SMALL, trees=True, kernels=(), betas=()),
    "kernel and trees": HOMICV(**SMALL, trees=True, standardize=True),
    "other": LFLC(),
    "scaled": make_pipeline(StandardScaler(), HOMI()),
    "tuned": TunedThresholds(HOMI(), random_state=0),
    "top k": TunedThresholds(HOMI(), strategy="top_k", random_state=0),
    "tuned pipeline": TunedThresholds(
        make_pipeline(StandardScaler(), HOMI()), random_state=0
    ),
    "pipeline of tuned": make_pipeline(
        StandardScaler(), TunedThresholds(HOMI(), random_state=0)
    ),
}


def sums(found):
    return {
        label: sum(t.contribution for t in found.terms if t.label == label)
        for label in found.scores
    }


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("reference", [None, X], ids=["zeros", "mean"])
def test_terms_add_up_to_the_decision_scores(name, reference):
    model = MODELS[name].fit(X, Y)
    names = ["y0", "y1", "y2", "y3"]
    for i in (0, 7):
        found = homi.why(model, X[i], names, X=reference, n_terms=2)
        expected = model.decision_function(X[[i]])[0]
        assert list(found.scores.values()) == expected.tolist()
        np.testing.assert_allclose(list(sums(found).values()), expected, rtol=1e-9)
        predicted = model.predict(X[[i]])[0]
        assert list(found.predicted.values()) == (predicted > 0).tolist()


def test_a_feature_contributes_what_its_absence_takes():
    model = HOMI(correlation="identity").fit(X, Y)
    found = model.why(X[0], ["y1"])
    for f in range(5):
        without = X[0].copy()
        without[f] = 0
        change = model.decision_function([X[0], without])[:, 1]
        (term,) = [t for t in found.terms if t.name == f"x{f}"]
        assert term.contribution == pytest.approx(change[0] - change[1])
        assert term.value == X[0, f]


def test_all_kinds_of_terms_are_named():
    kinds = {
        name: {t.kind for t in m.fit(X, Y).why(X[0]).terms}
        for name, m in (
            ("labels", HOMI(correlation="held-out", gamma=0.0)),
            ("kernel", HOMI(kernel="rbf", n_components=20, random_state=0)),
            ("tuned", TunedThresholds(HOMI(), random_state=0)),
        )
    }
    assert kinds["labels"] == {"start", "feature", "label"}
    assert {"start", "neighbor"} <= kinds["kernel"]
    assert {"start", "feature", "threshold"} <= kinds["tuned"]


def test_a_neighbor_is_a_training_row_with_its_kernel_value():
    model = HOMI(kernel="rbf", n_components=20, random_state=0, gamma=0.0).fit(X, Y)
    row = int(model._kernel_map.indices[3])
    found = model.why(X[row], ["y0"], n_terms=20)
    (term,) = [t for t in found.terms if t.name == f"training row {row}"]
    assert (term.kind, term.value) == ("neighbor", pytest.approx(1))


def test_words_are_named():
    for model in (
        make_pipeline(TfidfVectorizer(), HOMI(gamma=0.0)),
        TunedThresholds(make_pipeline(TfidfVectorizer(), HOMI(gamma=0.0))),
    ):
        model.fit(TEXTS, TAGS)
        found = homi.why(model, "a blue ball")
        words = [t.name for t in found.terms if t.kind == "feature"]
        assert set(words) == {"blue", "ball"}
        assert set(found.scores) == {"blue", "ball"}
        np.testing.assert_allclose(
            list(sums(found).values()), list(found.scores.values())
        )
    assert [t.name for t in homi.why(model, TEXTS[:1]).terms if t.kind == "feature"]


@pytest.mark.parametrize(
    "row",
    [
        X[0].tolist(),
        X[:1],
        sparse.csr_array(X[:1]),
        pd.DataFrame(X, columns=list("abcde")).iloc[0],
        pd.DataFrame(X, columns=list("abcde")).iloc[[0]],
    ],
    ids=["list", "array", "sparse", "Series", "frame"],
)
def test_every_form_of_a_row(row):
    is_named = hasattr(row, "index") and not isinstance(row, list)
    rows = pd.DataFrame(X, columns=list("abcde")) if is_named else X
    model = HOMI(correlation="identity").fit(rows, Y)
    found = model.why(row, ["y0"])
    expected = HOMI(correlation="identity").fit(X, Y).decision_function(X[:1])
    np.testing.assert_allclose(found.scores["y0"], expected[0, 0])
    assert {t.name for t in found.terms} >= (set("abcde") if is_named else {"x0"})


def test_classes_are_explained():
    for y in (np.where(Y[:, 0], "yes", "no"), Y[:, 0] + Y[:, 1]):
        model = HOMI().fit(X, y)
        found = model.why(X[0])
        for label, total in sums(found).items():
            assert total == pytest.approx(found.scores[label])
            assert label in model.label_names_


def test_bad_questions_are_answered():
    model = HOMI().fit(X, Y)
    with pytest.raises(ValueError, match=r"x has 3 rows.*X\[0\]"):
        model.why(X[:3])
    with pytest.raises(ValueError, match="'joy' is not a label"):
        model.why(X[0], ["joy"])
    with pytest.raises(TypeError, match="MLkNN cannot be explained"):
        homi.why(MLkNN().fit(X, Y), X[0])


def test_it_is_shown_as_text_and_table():
    names = [f"<b>{j}</b>" for j in range(4)]
    model = HOMI().fit(X, pd.DataFrame(Y, columns=names))
    found = model.why(X[0], names[:2])
    assert str(found).startswith("<b>0</b>: ")
    assert "start: a row of zeros" in str(found)
    page = found._repr_html_()
    assert page.count("<table>") == 2
    assert "<b>" not in page
    assert "&lt;b&gt;0&lt;/b&gt;" in page
    frame = found.to_frame()
    assert frame["contribution"].sum() == pytest.approx(sum(found.scores.values()))


def test_explain_refuses_data_in_place_of_a_path():
    model = HOMI().fit(X, Y)
    with pytest.raises(TypeError, match=r"a ndarray of shape \(60, 5\).*X=X, y=y"):
        model.explain(X, Y)


def test_rows_are_explained_without_the_extra_of_the_page(monkeypatch):
    model = HOMI().fit(X, Y)
    monkeypatch.setattr(layout, "nx", None)
    assert model.why(X[0]).terms
    with pytest.raises(ModuleNotFoundError, match=r"networkx.*pip install"):
        model.explain()
