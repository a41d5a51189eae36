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
from homi.estimators import (
    LFLC,
    BinaryRelevance,
    CalibratedLabelRanking,
    LabelPowerset,
    MLkNN,
)
from homi.explorer import explain, layout, steps, waterfalls
from homi.explorer.model import summarize_model
from homi.explorer.rows import explain_row
from homi.explorer.waterfall import forest_waterfalls
from homi.model.forest import Forest
from homi.thresholds import TunedThresholds
from test_explorer import page_facts

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
    "one by one": BinaryRelevance(loss="log"),
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
    row = int(model.kernel_map_.indices[3])
    found = model.why(X[row], ["y0"], n_terms=20)
    (term,) = [t for t in found.terms if t.name == f"training row {row}"]
    assert (term.kind, term.value) == ("neighbor", pytest.approx(1))


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "rbf+laplacian"])
def test_a_landmark_is_explained_by_itself(kernel):
    """A row has the scores of the landmark that it equals, and needs no other one."""
    model = HOMI(kernel=kernel, n_components=20, random_state=0, gamma=0.0).fit(X, Y)
    row = int(model.kernel_map_.indices[3])
    found = model.why(X[row], ["y0"], n_terms=50)
    size = {t.name: abs(t.contribution) for t in found.terms if t.kind == "neighbor"}
    assert size.pop(f"training row {row}") > 1e-3
    assert max(size.values()) < 1e-9


def test_terms_of_neighbors_hardly_cancel():
    model = HOMI(kernel="rbf", n_components=40, lam=1e-3, random_state=0, gamma=0.0)
    model.fit(X, Y)
    map_ = model.kernel_map_
    mean = map_.mean_features()
    W = model.feature_weights_[:, 0] * model.label_correlation_[0, 0]
    for row in np.random.default_rng(1).normal(size=(5, X.shape[1])):
        found = model.why(row, ["y0"], n_terms=50)
        terms = [t.contribution for t in found.terms if t.kind == "neighbor"]
        plain = (map_(row[None])[0] - mean) * W
        assert sum(terms) == pytest.approx(plain.sum(), rel=1e-9)
        assert np.abs(terms).sum() < np.abs(plain).sum() / 2


def test_the_page_has_the_terms_of_why():
    model = HOMI(kernel="rbf", n_components=20, random_state=0, gamma=0.0).fit(X, Y)
    known, x = summarize_model(model), model.kernel_map_(X[:1])[0]
    row = explain_row(known, x, center=model.kernel_map_.mean_features())
    (why,) = [w for w in row.why if known.names[w.label] == "y0"]
    page = [s.value for s in why.steps if s.kind == "neighbor"]
    terms = model.why(X[0], ["y0"]).terms
    assert page == pytest.approx(
        [t.contribution for t in terms if t.kind == "neighbor"]
    )


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
    for kind in (MLkNN, LabelPowerset, CalibratedLabelRanking):
        with pytest.raises(TypeError, match=f"{kind.__name__} cannot be explained"):
            homi.why(kind().fit(X, Y), X[0])


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


# Scores taken apart: literal sums, and bars that add up to the score.


@pytest.fixture(scope="module")
def rows():
    return random_rows(seed=1, n=60, m=5, q=4)


def literal_parts(x, W, z, B, t, j):
    """What features, the bias and other labels add to label j, one number at a time."""
    own = [x[f] * W[f, j] * B[j, j] for f in range(len(x))]
    score = [sum(x[f] * W[f, i] for f in range(len(x))) for i in range(len(z))]
    others = [0.0 if i == j else score[i] * B[i, j] for i in range(len(z))]
    bias = sum(z[i] * B[i, j] for i in range(len(z))) + t[j]
    return own, others, bias


def test_a_waterfall_is_its_definition(rows):
    model = HOMI(lam=3.0).fit(*rows)
    x = rows[0][3]
    fitted = (model.feature_weights_, model.feature_bias_)
    fitted += (model.label_correlation_, model.label_bias_)
    parts = waterfalls(x, *fitted)
    for j in range(4):
        own, others, bias = literal_parts(x, *fitted, j)
        np.testing.assert_allclose(parts.features[:, j], own, rtol=1e-12)
        np.testing.assert_allclose(parts.labels[:, j], others, rtol=1e-11, atol=1e-15)
        np.testing.assert_allclose(parts.start[j], bias, rtol=1e-11)


@pytest.mark.parametrize("with_data", [True, False])
@pytest.mark.parametrize("form", ["dense", "sparse", "kernel", "cv", "held-out"])
def test_waterfalls_add_up_to_the_score(rows, form, with_data):
    X, Y = rows
    X = sparse.csr_array(X) if form == "sparse" else X
    made = {"kernel": HOMI(kernel="rbf"), "held-out": HOMI(correlation="held-out")}
    made["cv"] = HOMICV(random_state=0, lams=[1.0], widths=[], gammas=[])
    model = made.get(form, HOMI()).fit(X, Y)
    given = {"X": X, "y": Y} if with_data else {"rows": X[:7]}
    page = page_facts(explain(model, None, **given))
    # Log-odds of HOMICV are shown as they are.
    assert page["logOdds"] == (form == "cv")
    scores = model.decision_function(X) + (0.0 if form == "cv" else 0.5)
    numbers = [int(row["name"].removeprefix("row ")) for row in page["rows"]]
    assert len(numbers) == (60 if with_data else 7)
    for number, row in zip(numbers, page["rows"], strict=True):
        assert [w["label"] for w in row["why"]] == (-scores[number]).argsort().tolist()
        for why in row["why"]:
            ends = why["start"] + sum(value for _, _, value, _ in why["steps"])
            assert ends == pytest.approx(why["score"], rel=1e-12, abs=1e-12)
            wanted = scores[number, why["label"]]
            # Numbers have nine decimals in the page.
            assert why["score"] == pytest.approx(wanted, rel=1e-9, abs=1e-9)
        if with_data:
            assert row["truth"] == np.flatnonzero(Y[number]).tolist()


def test_what_is_left_is_one_bar_that_keeps_the_sum():
    rng = np.random.default_rng(0)
    W, B = rng.normal(size=(30, 12)), rng.normal(size=(12, 12))
    W[3] = 0.0
    z, t, x = rng.normal(size=12), rng.normal(size=12), rng.normal(size=30)
    parts = waterfalls(x, W, z, B, t, rng.normal(size=30))
    bars = steps(parts, 5, most=4)
    assert [bar.count for bar in bars] == [1, 1, 1, 1, 25, 1, 1, 1, 1, 7]
    values = np.abs([bar.value for bar in bars if bar.kind == "feature"][:4])
    np.testing.assert_allclose(values, np.sort(np.abs(parts.features[:, 5]))[:-5:-1])
    g = (x @ W + z) @ B + t
    total = parts.start[5] + sum(bar.value for bar in bars)
    assert total == pytest.approx(g[5], rel=1e-12)
    assert all(bar.count == 1 for bar in steps(parts, 5, most=28))


@pytest.mark.parametrize("weight", [0.5, np.array([0.0, 0.2, 0.7, 1.0])])
def test_a_forest_and_a_linear_model_have_one_waterfall(rows, weight):
    X, Y = rows
    model, forest = HOMI().fit(X, Y), Forest.fit(X, Y, n_trees=20, seed=0)
    slope, offset = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.0, 0.5, -0.5, 1.0])
    fitted = (model.feature_weights_, model.feature_bias_)
    fitted += (model.label_correlation_, model.label_bias_)
    linear = waterfalls(X[0], *fitted, X.mean(axis=0)).as_log_odds(slope, offset)
    parts = linear.blended(next(forest_waterfalls(forest, X[:1])), weight)
    own = model.decision_function(X[:1])[0] * slope + offset
    wanted = (1 - weight) * own + weight * forest.log_odds(X[:1])[0]
    np.testing.assert_allclose(parts.scores, wanted, rtol=1e-9)
    for j in range(4):
        total = parts.start[j] + sum(bar.value for bar in steps(parts, j, most=2))
        assert total == pytest.approx(wanted[j], rel=1e-9)
