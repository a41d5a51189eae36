"""The label explorer's facts: against brute force, loops, numpy and scikit-learn."""

import html
import re
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, precision_score, recall_score, roc_auc_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

from browser import QUICK
from conftest import random_rows
from homi import HOMI, HOMICV
from homi.dependence import LabelDependence, audit
from homi.estimators import BinaryRelevance, MLkNN
from homi.explorer import explain, facts, label_sets
from homi.explorer.errors import BINS, errors
from homi.explorer.evidence import agreement, evidence, phi, quality
from homi.explorer.layout import (
    clustered_order,
    label_map,
    off_diagonal,
    packed_discs,
    strongest,
)
from homi.explorer.pack import MOST_EXACT, rounding, unpacked
from homi.explorer.relations import partial_correlations
from homi.thresholds import TunedThresholds

NASTY = [
    '</script><script>alert("x")</script>',
    "a'b\"c&d",
    "<!-- <img src=x>",
    "\u2028",
]


def page_parts(text):
    """All that a page holds, by the name of its part."""
    found = re.findall(r'id="data-(\w+)">(.*?)</script>', text, re.S)
    return {name: unpacked(part) for name, part in found}


def page_facts(text):
    """The same without parts: names, rows, quality and data."""
    parts = page_parts(text)
    return {
        **parts["labels"],
        **parts["pairs"],
        "rows": parts.get("rows", {}).get("rows", []),
        "quality": parts.get("quality", {}).get("quality"),
    }


@pytest.fixture(scope="module")
def rows():
    return random_rows(seed=1, n=60, m=5, q=4)


@pytest.fixture(scope="module")
def model(rows):
    return HOMI(lam=3.0).fit(*rows)


# What the data say


def test_phi_and_agreement_against_numpy():
    Y = binary_rows(3)
    B = np.random.default_rng(0).normal(size=(6, 6))
    for form in (Y, sparse.csr_array(Y)):
        data = evidence(form)
        np.testing.assert_allclose(phi(data.YtY, data.n_samples), np.corrcoef(Y.T))
    pairs = [(i, j) for i in range(6) for j in range(6) if i != j]
    same = sum(B[p] * np.corrcoef(Y.T)[p] > 0 for p in pairs)
    assert agreement(B, data) == (same, 30)


def test_quality_against_scikit_learn():
    rng = np.random.default_rng(2)
    Y = rng.random((50, 5)) < [0.5, 0.2, 0.3, 0.0, 1.0]
    scores = (rng.normal(size=Y.shape) + Y).round(1)
    scores[:, 2] = -1.0
    found = quality(Y, scores, scores > 0)
    for j in range(3):
        assert found.auc[j] == pytest.approx(roc_auc_score(Y[:, j], scores[:, j]))
        predicted = scores[:, j] > 0
        assert found.f1[j] == pytest.approx(f1_score(Y[:, j], predicted))
        assert found.recall[j] == pytest.approx(recall_score(Y[:, j], predicted))
        if predicted.any():
            wanted = precision_score(Y[:, j], predicted)
            assert found.precision[j] == pytest.approx(wanted)
    assert np.isnan([found.auc[3], found.auc[4], found.precision[2]]).all()
    assert found.positives.tolist() == Y.sum(axis=0).tolist()


# Places


def blocks(n_labels=9, size=3):
    B = np.eye(n_labels) - 0.1 * (1 - np.eye(n_labels))
    for start in range(0, n_labels, size):
        B[start : start + size, start : start + size] = 0.5
    shuffled = np.random.default_rng(0).permutation(n_labels)
    return B[np.ix_(shuffled, shuffled)], shuffled // size


def test_groups_and_order_find_the_blocks():
    B, block = blocks()
    found = label_map(B)
    assert all(len(set(found.groups[block == b])) == 1 for b in range(3))
    assert set(found.groups) == {0, 1, 2}
    runs = block[clustered_order(B)]
    assert np.count_nonzero(np.diff(runs)) == 2
    np.testing.assert_array_equal(found.places, label_map(B).places)
    assert np.abs(found.places).max() == pytest.approx(1.0)


def test_many_labels_lie_on_islands_of_their_group():
    B, block = blocks(120, 12)
    places = label_map(B).places
    centers = np.array([places[block == b].mean(axis=0) for b in range(10)])
    near = np.linalg.norm(places[:, None] - centers, axis=2).argmin(axis=1)
    assert (near == block).mean() > 0.9


def test_discs_touch_and_do_not_overlap():
    discs = packed_discs(np.random.default_rng(0).uniform(0.5, 3, size=12))
    gaps = [np.hypot(*(a[:2] - b[:2])) - a[2] - b[2] for a, b in combinations(discs, 2)]
    assert min(gaps) > -1e-5
    assert np.sum(np.abs(gaps) < 1e-5) >= len(discs) - 1


@pytest.mark.parametrize("n_labels", [1, 2, 3])
def test_few_labels_and_no_correlation(n_labels):
    B = np.eye(n_labels)
    assert label_map(B).places.shape == (n_labels, 2)
    assert sorted(clustered_order(B)) == list(range(n_labels))
    assert len(strongest(B, 10)) == 0


def test_the_strongest_entries_come_first():
    B = np.random.default_rng(0).normal(size=(7, 7))
    found = strongest(B, 11)
    off = np.abs(off_diagonal(B))
    values = [off[i, j] for i, j in found]
    np.testing.assert_allclose(values, np.sort(off.ravel())[::-1][:11])


# The page


def test_the_page_holds_b_and_the_counts(rows, model):
    X, Y = rows
    page = page_facts(explain(model, X=X, y=Y, X_test=X, y_test=Y))
    assert page["relations"] == ["phi", "B"]
    B = page["B"].reshape(4, 4)
    np.testing.assert_array_equal(B, off_diagonal(model.label_correlation_))
    upper = (Y.T @ Y)[np.triu_indices(4)]
    np.testing.assert_array_equal(page["data"]["both"], upper)
    assert page["quality"]["positives"] == Y.sum(axis=0).tolist()


def test_many_labels_are_rounded():
    rng = np.random.default_rng(0)
    n_labels = MOST_EXACT + 1
    Y = (rng.random((300, n_labels)) < 0.3).astype(int)
    model = HOMI().fit(rng.normal(size=(300, 4)), Y)
    B = off_diagonal(model.label_correlation_)
    shown = page_facts(explain(model))["B"].reshape(B.shape)
    error = np.abs(shown - B).max()
    assert 0 < error <= rounding(B) * (1 + 1e-9)


def test_names_are_text_and_never_markup(rows, model):
    X, Y = rows
    text = explain(
        model,
        X=X,
        y=Y,
        label_names=NASTY,
        feature_names=[f"{NASTY[0]}{f}" for f in range(5)],
        rows=X[:1],
        row_names=[NASTY[2]],
        title=NASTY[0],
    )
    assert text.count("<script") == text.count("</script>") == len(page_parts(text)) + 1
    assert "<img" not in text
    page = page_facts(text)
    assert page["names"] == NASTY
    assert page["rows"][0]["name"] == NASTY[2]
    assert "<title>&lt;/script&gt;" in text


@pytest.mark.parametrize(
    ("correlation", "said"),
    [("labels", "as in the paper"), ("held-out", "from held-out scores")],
)
def test_the_page_says_what_b_means(rows, correlation, said):
    text = explain(HOMI(correlation=correlation).fit(*rows), X=rows[0], y=rows[1])
    assert said in page_facts(text)["captions"]["B"]


def test_without_b_the_page_shows_what_is_true_of_the_data(rows):
    model = HOMICV(**QUICK).fit(*rows)
    page = page_facts(model.explain(X=rows[0], y=rows[1]))
    assert page["relations"] == ["phi", "errors"]
    errors = partial_correlations(model.joint_model_.covariance)
    upper = errors[np.triu_indices(4)]
    np.testing.assert_allclose(page["errors"], upper, atol=5.1e-4)


def test_a_page_of_one_label_or_one_row(rows):
    X, Y = rows
    for y, n in ((Y[:, :1], 60), (Y, 1)):
        page = HOMICV(**QUICK).fit(X, y).explain(X=X[:n], y=y[:n])
        assert len(page_facts(page)["rows"]) == n
        assert ("There is only one label." in page) == (y.shape[1] == 1)


def test_without_data_the_page_has_no_section_about_data(model):
    text = explain(model)
    assert page_facts(text)["data"] is None
    assert 'id="labels"' in text
    assert not re.search(r'id="(known|data|rows|audit|quality)"', text)


def test_partial_correlations_against_regressions():
    """The correlation of what the other variables leave of two of them."""
    E = np.random.default_rng(0).normal(size=(200, 5)) @ np.triu(np.ones((5, 5)))
    found = partial_correlations(E.T @ E)
    for i, j in combinations(range(5), 2):
        others = np.delete(E, [i, j], axis=1)
        fit = np.linalg.lstsq(others, E[:, [i, j]], rcond=None)[0]
        a, b = (E[:, [i, j]] - others @ fit).T
        wanted = a @ b / np.sqrt((a @ a) * (b @ b))
        assert found[i, j] == found[j, i] == pytest.approx(wanted)


# Errors, suspects and a second model


def test_errors_against_loops():
    rng = np.random.default_rng(0)
    P = rng.random((80, 4))
    Y = rng.random((80, 4)) < P
    predicted = P > [0.5, 0.3, 0.7, 0.5]
    found = errors(Y, P, predicted)
    np.testing.assert_allclose(found.thresholds, [0.5, 0.3, 0.7, 0.5], atol=0.02)
    for j in range(4):
        edges = np.linspace(0, 1, BINS + 1)
        wanted = np.histogram(P[Y[:, j], j], edges)[0]
        np.testing.assert_array_equal(found.positives[j], wanted)
        for i in range(4):
            rows = [k for k in range(80) if Y[k, i] and predicted[k, j] and not Y[k, j]]
            assert found.false[i, j] == len(rows)
            pair = [p for p in found.pairs if (p.i, p.j) == (i, j)]
            rate = np.mean(predicted[~Y[:, j], j])
            expected = rate * np.sum(Y[:, i] & ~Y[:, j])
            assert bool(pair) == (i != j and len(rows) > expected)
            if pair:
                assert pair[0][2:] == (len(rows), pytest.approx(expected), rows[:5])
    order = [p.n_rows - p.expected for p in found.pairs]
    assert order == sorted(order, reverse=True)


def test_suspects_are_those_of_the_audit(rows):
    X, Y = rows
    model = HOMICV(**QUICK).fit(X[:40], Y[:40].astype(int))
    listed = page_parts(model.explain(X_test=X[40:], y_test=Y[40:]))["audit"]["listed"]
    found = audit(model, X[40:], Y[40:].astype(int), held_out=False)
    names = model.label_names_.tolist()
    assert len(listed) == len(found)
    for line, wanted in zip(listed, found.itertuples(), strict=True):
        row, label, given, p, score, _ = line
        assert (row, names[label], given) == (wanted.row, wanted.label, wanted.given)
        assert (p, score) == pytest.approx((wanted.probability, wanted.score))
    given = page_parts(model.explain(X=X[40:], y=Y[40:], audit=found[:3]))["audit"]
    assert [line[:3] for line in given["listed"]] == [line[:3] for line in listed[:3]]
    with pytest.raises(ValueError, match="the model does not have"):
        model.explain(X=X, y=Y, audit=found.assign(label="other"))


def test_two_models_are_compared_on_the_labels_they_share(rows):
    X, Y = rows
    names = list("abcd")
    model = HOMI().fit(X, pd.DataFrame(Y, columns=names))
    other = HOMI(lam=100.0).fit(X, pd.DataFrame(Y[:, [2, 0]], columns=["c", "a"]))
    found = facts(model, X, Y, other=other).comparison
    one, two = model.predict(X)[:, [0, 2]], other.predict(X)[:, [1, 0]]
    assert found.labels == [0, 2]
    assert found.first.tolist() == (one > two).sum(axis=0).tolist()
    assert found.second.tolist() == (one < two).sum(axis=0).tolist()
    for f1, predicted in zip(found.quality, (one, two), strict=True):
        wanted = [f1_score(Y[:, j], predicted[:, k]) for k, j in enumerate((0, 2))]
        assert f1.f1.tolist() == pytest.approx(wanted)
    many = np.random.default_rng(0).normal(size=(700, 5))
    found = facts(model, many, other=other)
    named = [row.row for row in found.comparison.rows[:20]]
    assert set(named) <= {row.index for row in found.rows}
    with pytest.raises(ValueError, match="no label in common"):
        facts(model, X, Y, other=HOMI().fit(X, pd.DataFrame(Y, columns=[*"wxyz"])))
    with pytest.raises(ValueError, match="compared on rows; pass X"):
        facts(model, other=other)


@pytest.mark.parametrize(
    "make",
    [
        lambda: LabelDependence(OneVsRestClassifier(LogisticRegression())),
        lambda: TunedThresholds(LabelDependence(BinaryRelevance(), cv=2), cv=2),
        MLkNN,
    ],
)
def test_any_classifier_has_a_page(rows, make):
    X, Y = rows
    model = make().fit(X, Y.astype(int))
    parts = page_parts(explain(model, X=X, y=Y))
    known = not isinstance(model, MLkNN)
    assert ("known" in parts) == ("audit" in parts) == known
    for row in parts["rows"]["rows"]:
        said = model.predict(X[[row["index"]]])
        assert row["predicted"] == np.flatnonzero(said).tolist()
        assert row["why"] == []


# Rows


def test_rows_are_sampled_and_the_page_says_so(rows):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 5))
    Y = (X[:, :4] + rng.normal(size=(5000, 4)) > 0).astype(int)
    model = HOMI(gamma=0.0).fit(X, Y)
    text = model.explain(X=X, y=Y)
    parts = page_parts(text)
    assert "4,000 of 5,000 rows (evenly spaced)" in text
    assert len(parts["rows"]["rows"]) <= 150
    assert parts["quality"]["rows"] == 4000
    for row in parts["rows"]["rows"]:
        assert row["truth"] == np.flatnonzero(Y[row["index"]]).tolist()
        assert (
            row["predicted"]
            == np.flatnonzero(model.predict(X[[row["index"]]])).tolist()
        )


def test_rows_have_the_names_and_texts_of_a_data_frame(rows):
    X, Y = rows
    frame = pd.DataFrame(X, index=[f"img/{k}.png" for k in range(60)])
    frame.columns = [f"f{k}" for k in range(5)]
    shown = page_facts(HOMI().fit(frame, Y).explain(X=frame, y=Y))["rows"]
    assert {row["name"] for row in shown} == set(frame.index)
    texts = [f"text number {k % 7}" for k in range(60)]
    model = make_pipeline(TfidfVectorizer(), HOMI(gamma=0.0)).fit(texts, Y)
    shown = page_facts(explain(model, X=texts, y=Y))["rows"]
    assert all(row["text"] == texts[row["index"]] for row in shown)
    long = page_facts(explain(model, X=texts, y=Y, row_texts=["x" * 9000] * 60))
    assert {row["text"] for row in long["rows"]} == {"x" * 2000}


def test_columns_have_names_beside_a_kernel(rows):
    """Trees of a HOMICV use them."""
    X, Y = rows
    names = [f"f{k}" for k in range(5)]
    model = HOMI(kernel="rbf").fit(pd.DataFrame(X, columns=names), Y)
    assert facts(model).model.feature_names == names


def test_neighbors_of_a_kernel_are_named(rows):
    X, Y = rows
    model = HOMI(kernel="rbf", kernel_params={"gamma": 0.1}, standardize=False)
    row, *_ = facts(model.fit(X, Y), X, Y, rows=X[:1]).rows
    near = {s.index for w in row.why for s in w.steps if s.kind == "neighbor"} - {-1}
    assert set(row.similar) == near
    for index, value in row.similar.items():
        assert value == pytest.approx(np.exp(-0.1 * np.sum((X[0] - X[index]) ** 2)))


# A notebook


def test_a_page_shows_itself_in_a_frame(rows, model):
    page = model.explain(X=rows[0], y=rows[1])
    assert isinstance(page, str)
    frame = page._repr_html_()
    assert 'sandbox="allow-scripts allow-downloads"' in frame
    source = re.search(r'srcdoc="(.*?)"></iframe>', frame, re.S)[1]
    assert html.unescape(source) == page


def test_a_widget_holds_the_page(rows, model):
    pytest.importorskip("anywidget", reason="pip install 'homi-learn[notebook]'")
    page = model.explain(X=rows[0], y=rows[1])
    widget = page.widget()
    assert widget.page == page
    assert (page.label, page.row, page.decisions) == ("", -1, [])
    data, _ = page._repr_mimebundle_()
    shown = data["application/vnd.jupyter.widget-view+json"]
    assert shown["model_id"] == widget.model_id
    widget.label = "b"  # as the cell does
    assert page.label == "b"
    assert len(repr(page)) < 50


# Targets and files


def test_labels_are_matched_by_name_and_checked(rows):
    X, Y = rows
    names = [f"tag {j}" for j in range(Y.shape[1])]
    frame = pd.DataFrame(Y.astype(int), columns=names)
    tags = [[name for name in names if row[name]] for _, row in frame.iterrows()]
    model = HOMI(gamma=0.0).fit(X, frame)
    expected = facts(model, X, frame).data.YtY
    for labels in (tags, pd.Series(tags), sparse.csr_array(frame.to_numpy())):
        np.testing.assert_array_equal(facts(model, X, labels).data.YtY, expected)
    with pytest.raises(ValueError, match="y has its labels in another order"):
        facts(model, X, frame[names[::-1]])
    for wrong in (2 * Y - 1, np.where(Y, 1.0, np.nan), sparse.csr_array(3 * Y)):
        with pytest.raises(ValueError, match="y must hold only 0 and 1, got"):
            facts(model, X, wrong)
    for name, labels in (("X", "y"), ("X_test", "y_test"), ("rows", "row_labels")):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            facts(model, **{name: X, labels: Y[:9]})
    with pytest.warns(UserWarning, match="y has the index of X in another order"):
        facts(model, pd.DataFrame(X), frame[::-1])


def test_one_dimensional_targets(rows):
    X, Y = rows
    for y in (
        Y[:, 0].astype(int),
        np.array(["a", "b", "c"])[Y[:, :2].sum(1).astype(int)],
    ):
        model = HOMI().fit(X, y)
        page = page_facts(explain(model, X=X, y=y, X_test=X, y_test=y))
        positives = page["quality"]["positives"]
        classes, counts = np.unique(y, return_counts=True)
        assert positives == (counts[1:] if len(classes) == 2 else counts).tolist()


def test_the_file_appears_whole_or_not_at_all(rows, tmp_path, monkeypatch):
    model = HOMI().fit(*rows)
    path = tmp_path / "labels.html"
    assert model.explain(path, *rows) == path
    first = path.read_bytes()
    assert model.explain(path, *rows) == path
    assert path.read_bytes() == first

    def broken(unfinished, target):
        raise OSError("the disk is full")

    monkeypatch.setattr("os.replace", broken)
    with pytest.raises(OSError, match="disk is full"):
        model.explain(path, title="another")
    assert path.read_bytes() == first
    assert list(tmp_path.iterdir()) == [path]


def test_errors_say_what_to_do(rows, model):
    X, Y = rows
    with pytest.raises(ValueError, match="fit a HOMI or a HOMICV first"):
        explain(HOMI())
    with pytest.raises(ValueError, match=r"shape \(60, 3\).*has 4 labels"):
        explain(model, y=Y[:, :3])
    with pytest.raises(ValueError, match="got 2 label_names"):
        explain(model, label_names=["a", "b"])
    with pytest.raises(ValueError, match="only one of X_test and y_test"):
        explain(model, X_test=X)


# The paper's Figure 1


#: What the paper reads off B of emotions: pairs of labels and their signs.
FIGURE_1 = {("relaxing", "quiet"): 1, ("amazed", "sad"): -1, ("happy", "sad"): -1}
FIGURE_1 |= {("angry", other): -1 for other in ("happy", "relaxing", "quiet", "sad")}
FIGURE_1 |= {("angry", "amazed"): 1}


def pairs_as_printed(matrix, names):
    short = [name.split("-")[0] for name in names]
    at = {pair: (short.index(pair[0]), short.index(pair[1])) for pair in FIGURE_1}
    means = (matrix + matrix.T) / 2
    return sum(means[at[pair]] * sign > 0 for pair, sign in FIGURE_1.items())


def test_figure_1_is_in_the_data_and_in_b_of_a_large_penalty(data):
    """With the paper's λ = 1, B is nearly the identity and says little (docs)."""
    X, Y, _, names = data("emotions")
    assert pairs_as_printed(np.corrcoef(Y.T), names) == 8
    B = {lam: HOMI(lam).fit(X, Y).label_correlation_ for lam in (1.0, 300.0)}
    assert pairs_as_printed(B[300.0], names) == 8
    assert pairs_as_printed(B[1.0], names) < 8
    assert np.abs(off_diagonal(B[1.0])).max() < 0.05


# Sets of labels that explain a label: against brute force over subsets of rows.


def binary_rows(seed, n=80, q=6):
    """Labels of which the last is nearly the first two together."""
    rng = np.random.default_rng(seed)
    Y = rng.random((n, q)) < 0.45
    Y[:, -1] = (Y[:, 0] & Y[:, 1]) ^ (rng.random(n) < 0.04)
    return Y.astype(float)


def r2_of(Y, label, members):
    """Literally: reconstruct on the rows, compare variances."""
    design = np.column_stack([np.ones(len(Y)), Y[:, list(members)]])
    weights, *_ = np.linalg.lstsq(design, Y[:, label], rcond=None)
    left = Y[:, label] - design @ weights
    return 1 - left.var() / Y[:, label].var(), weights


@pytest.mark.parametrize("seed", range(6))
def test_sets_against_brute_force(seed):
    Y = binary_rows(seed)
    labels = range(Y.shape[1])
    for found in label_sets(Y.T @ Y, len(Y), most=3):
        others = [i for i in labels if i != found.label]
        best_single = max(r2_of(Y, found.label, [i])[0] for i in others)
        if found.members:
            assert found.r2[0] == pytest.approx(best_single, abs=1e-10)
        else:
            assert best_single < 0.01
        chosen = []
        for member, r2 in zip(found.members, found.r2, strict=True):
            rest = [i for i in others if i not in chosen]
            gains = {i: r2_of(Y, found.label, [*chosen, i])[0] for i in rest}
            assert gains[member] == pytest.approx(max(gains.values()), abs=1e-10)
            assert r2 == pytest.approx(gains[member], abs=1e-10)
            chosen.append(member)
            of_size = combinations(others, len(chosen))
            assert r2 <= max(r2_of(Y, found.label, s)[0] for s in of_size) + 1e-10
        assert all(np.diff([0.0, *found.r2]) >= 0.01)
        if len(chosen) < 3:
            rest = [i for i in others if i not in chosen]
            before = r2_of(Y, found.label, chosen)[0]
            after = max(r2_of(Y, found.label, [*chosen, i])[0] for i in rest)
            assert after - before < 0.01
        _, weights = r2_of(Y, found.label, found.members)
        given = [found.intercept, *found.weights]
        np.testing.assert_allclose(given, weights, atol=1e-10)


@pytest.mark.parametrize("seed", range(6))
def test_the_planted_pair_is_the_best_pair(seed):
    Y = binary_rows(seed, n=300)
    found = label_sets(Y.T @ Y, len(Y), most=2)[-1]
    pairs = combinations(range(Y.shape[1] - 1), 2)
    best = max(pairs, key=lambda pair: r2_of(Y, Y.shape[1] - 1, pair)[0])
    assert set(found.members) == set(best) == {0, 1}
    assert found.r2[1] > found.r2[0] + 0.1


def test_sets_of_constant_equal_and_single_labels():
    half = np.array([1.0, 0, 1, 0])
    Y = np.column_stack([half, half, half, np.zeros(4), np.ones(4)])
    *equal, never, always = label_sets(Y.T @ Y, 4)
    assert [s.members for s in equal] == [(1,), (0,), (0,)]
    assert [s.r2 for s in equal] == [pytest.approx((1.0,))] * 3
    assert never.members == always.members == ()
    assert [s.members for s in label_sets(np.array([[3.0]]), 5)] == [()]
