"""The label explorer's facts: against brute force, loops, numpy and scikit-learn."""

import base64
import json
import re
from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import f1_score, precision_score, recall_score, roc_auc_score

from conftest import random_rows
from homi import HOMI
from homi.explorer import explain, facts
from homi.explorer.evidence import agreement, evidence, phi, quality
from homi.explorer.layout import (
    clustered_order,
    label_map,
    off_diagonal,
    packed_discs,
    strongest,
)
from homi.explorer.pack import MOST_EXACT, packed, rounding
from test_high_order import binary_rows

NASTY = [
    '</script><script>alert("x")</script>',
    "a'b\"c&d",
    "<!-- <img src=x>",
    "\u2028",
]


def page_facts(text):
    (found,) = re.findall(r'id="facts">(.*?)</script>', text, re.S)
    return json.loads(found)


def decoded(array):
    raw = np.frombuffer(base64.b64decode(array["bytes"]), array["type"])
    return raw * array.get("scale", 1)


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
    B = decoded(page["B"]).reshape(4, 4) + np.diag(page["own"])
    np.testing.assert_array_equal(B, model.label_correlation_)
    upper = (Y.T @ Y)[np.triu_indices(4)]
    np.testing.assert_array_equal(decoded(page["data"]["both"]), upper)
    assert len(page["history"]) == model.n_iter_
    assert page["quality"]["positives"] == Y.sum(axis=0).tolist()


def test_many_labels_are_rounded_as_the_page_says():
    rng = np.random.default_rng(0)
    n_labels = MOST_EXACT + 1
    Y = (rng.random((300, n_labels)) < 0.3).astype(int)
    known = facts(HOMI().fit(rng.normal(size=(300, 4)), Y), y=Y)
    B = known.model.B
    page = json.loads(packed(known))
    shown = decoded(page["B"]).reshape(B.shape)
    error = np.abs(shown - off_diagonal(B)).max()
    assert 0 < error <= rounding(known) * (1 + 1e-9)
    assert "are rounded, by" in explain(HOMI().fit(rng.normal(size=(300, 4)), Y), None)


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
    assert text.count("<script") == text.count("</script>") == 2
    assert "<img" not in text
    assert "\u2028" not in text.split('id="facts">')[1].split("</script>")[0]
    page = page_facts(text)
    assert page["names"] == NASTY
    assert page["rows"][0]["name"] == NASTY[2]
    assert "<title>&lt;/script&gt;" in text


@pytest.mark.parametrize(
    ("correlation", "said"),
    [
        ("labels", "as in the paper"),
        ("held-out", "from held-out scores"),
        ("identity", "B is the identity"),
    ],
)
def test_the_page_says_what_b_means(rows, correlation, said):
    text = explain(HOMI(correlation=correlation).fit(*rows), X=rows[0], y=rows[1])
    assert said in text


def test_without_data_the_page_has_no_section_about_data(model):
    text = explain(model)
    assert page_facts(text)["data"] is None
    assert 'id="graph"' in text
    assert not re.search(r'id="(sets|data|rows)"', text)


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
