"""Label statistics against literal twins, and the paper's tables against the files."""

import dataclasses
import math
import re
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from homi.datasets import Dataset
from homi.datasets.summary import (
    Summary,
    _rank,
    cooccurrence,
    describe,
    summarize,
    summary,
)
from homi.paper.data_tables import compare_with_paper, printed_tables
from sample_files import large_ones_slow, messy, messy_labels, parts

#: By its dotted name a function may stand before the module of the same name.
MODULE = sys.modules["homi.datasets.summary"]

#: n, m, l, LCard, LDen, DL, rank: measured with another reader.
MEASURED = {
    "CAL500": (502, 68, 174, "26.044", "0.150", 502, 174),
    "emotions": (593, 72, 6, "1.868", "0.311", 27, 6),
    "birds": (645, 260, 19, "1.014", "0.053", 133, 19),
    "langlog": (1460, 1004, 75, "1.180", "0.016", 304, 75),
    "enron": (1702, 1001, 53, "3.378", "0.064", 753, 53),
    "scene": (2407, 294, 6, "1.074", "0.179", 15, 6),
    "yeast": (2417, 103, 14, "4.237", "0.303", 198, 14),
    "corel5k": (5000, 499, 374, "3.522", "0.009", 3175, 371),
    "bibtex": (7395, 1836, 159, "2.402", "0.015", 2856, 159),
    "corel16k001": (13766, 500, 153, "2.859", "0.019", 4803, 153),
    "delicious": (16105, 500, 983, "19.020", "0.019", 15806, 983),
    "mediamill-2500": (2500, 120, 101, "4.353", "0.043", 938, 98),
}

#: Rows without a label, labels that never occur, labels that are equal.
ODDITIES = {
    "birds": (294, 0, ()),
    "langlog": (207, 0, ()),
    "delicious": (14, 0, ()),
    "mediamill-2500": (74, 1, (("Class9", "Class26"),)),
    "corel5k": (
        0,
        0,
        (("iguana", "marine"), ("ceiling", "furniture"), ("canoe", "race")),
    ),
}

#: Mean IRLbl and SCUMBLE that the R package mldr, by the authors of both, prints.
MLDR = {
    "CAL500": (20.57778, 0.3372219),
    "emotions": (1.478068, 0.01095238),
    "birds": (5.406996, 0.03302765),
}

label_matrices = st.tuples(st.integers(1, 12), st.integers(1, 8)).flatmap(
    lambda shape: arrays(np.int8, shape, elements=st.integers(0, 1))
)


def dataset(Y, names=None):
    Y = np.asarray(Y, dtype=np.int8)
    names = names or [f"y{j}" for j in range(Y.shape[1])]
    return Dataset(np.zeros((len(Y), 3)), Y, ["a", "b", "c"], names)


def make_summary(name, **figures):
    """What would be measured if the paper's figures were all right, but for these."""
    entry = next(entry for entry in printed_tables() if entry["name"] == name)
    printed = entry["table_2"]
    wanted = {
        "n_samples": int(printed["n"]),
        "n_features": int(printed["m"]),
        "n_labels": int(printed["l"]),
        "cardinality": float(printed["LCard"]),
        "density": float(printed["LDen"]),
        "distinct": int(printed["DL"]),
        "rank": int(entry["table_1"]["rank"]),
    }
    rest = {"imbalance_mean": 1.0, "imbalance_max": 1.0, "scumble": 0.0}
    rest |= {"unlabelled": 0, "duplicates": (), "empty_labels": ()}
    return Summary(name=name, **{**wanted, **rest, **figures})


# Literal twins: loops, sets and fractions, no shortcuts.


def exact_rank(Y):
    rows = [[Fraction(int(value)) for value in row] for row in Y]
    rank = 0
    for column in range(len(rows[0])):
        pivot = next((r for r in rows[rank:] if r[column]), None)
        if pivot is None:
            continue
        rows.remove(pivot)
        rows.insert(rank, pivot)
        for i in range(rank + 1, len(rows)):
            factor = rows[i][column] / pivot[column]
            rows[i] = [a - factor * b for a, b in zip(rows[i], pivot, strict=True)]
        rank += 1
    return rank


def literal_scumble(Y):
    counts = [sum(int(row[j]) for row in Y) for j in range(len(Y[0]))]
    total = 0.0
    for row in Y:
        ratios = [max(counts) / counts[j] for j in range(len(row)) if row[j]]
        if ratios:
            k = len(ratios)
            total += 1 - math.prod(ratios) ** (1 / k) / (sum(ratios) / k)
    return total / len(Y)


@given(label_matrices)
def test_a_summary_equals_its_literal_twin(Y):
    found = summarize(dataset(Y), "twin")
    n, n_labels = Y.shape
    sizes = [sum(int(value) for value in row) for row in Y]
    counts = [sum(int(value) for value in column) for column in Y.T]
    assert (found.name, found.n_samples, found.n_features) == ("twin", n, 3)
    assert found.n_labels == n_labels
    assert found.cardinality == pytest.approx(sum(sizes) / n)
    assert found.density == pytest.approx(sum(sizes) / n / n_labels)
    assert found.distinct == len({tuple(row) for row in Y.tolist()})
    assert found.unlabelled == sizes.count(0)
    assert found.empty_labels == tuple(
        f"y{j}" for j, count in enumerate(counts) if count == 0
    )
    ratios = [max(counts) / count for count in counts if count]
    if ratios:
        assert found.imbalance_mean == pytest.approx(sum(ratios) / len(ratios))
        assert found.imbalance_max == pytest.approx(max(ratios))
    else:
        assert math.isnan(found.imbalance_mean)
        assert math.isnan(found.imbalance_max)
    assert found.scumble == pytest.approx(literal_scumble(Y.tolist()), abs=1e-12)
    assert 0 <= found.scumble <= 1


@given(label_matrices)
def test_the_rank_is_exact(Y):
    found = summarize(dataset(Y)).rank
    assert found == exact_rank(Y.tolist())
    assert found == np.linalg.matrix_rank(Y.astype(float))


@given(label_matrices)
def test_duplicates_are_all_groups_of_equal_columns(Y):
    found = {frozenset(group) for group in summarize(dataset(Y)).duplicates}
    expected = set()
    for i in range(Y.shape[1]):
        equal = [j for j in range(Y.shape[1]) if (Y[:, i] == Y[:, j]).all()]
        if len(equal) > 1:
            expected.add(frozenset(f"y{j}" for j in equal))
    assert found == expected


@pytest.mark.parametrize("rank", [1, 40, 64, 65, 130])
@pytest.mark.parametrize("shape", [(400, 150), (150, 400)])
def test_the_rank_of_a_matrix_larger_than_a_panel(shape, rank):
    """Disjoint unions of disjoint base columns are sums of them: the rank is known."""
    rng = np.random.default_rng(rank)
    n, n_labels = max(shape), min(shape)
    base = np.zeros((n, rank), dtype=bool)
    base[np.arange(n), np.arange(n) % rank] = True
    mix = rng.random((rank, n_labels)) < 0.3
    mix[:, rng.permutation(n_labels)[:rank]] = np.eye(rank, dtype=bool)
    Y = base @ mix
    assert np.linalg.matrix_rank(Y.astype(float)) == rank
    assert _rank(Y if shape[0] > shape[1] else Y.T) == rank


def test_the_rank_does_not_hang_on_one_prime(monkeypatch):
    """Three columns that overlap in pairs: 2 divides their determinant, 3 does not."""
    Y = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=bool)
    monkeypatch.setattr(MODULE, "_PRIMES", (2, 3))
    assert _rank(Y) == 3
    monkeypatch.setattr(MODULE, "_PRIMES", (2,))
    assert _rank(Y) < 3


@given(label_matrices)
def test_cooccurrence_counts_samples_with_both(Y):
    found = cooccurrence(dataset(Y))
    for i in range(Y.shape[1]):
        for j in range(Y.shape[1]):
            both = sum(1 for row in Y if row[i] and row[j])
            assert found[i, j] == both


def test_sparse_labels_are_the_same():
    Y = np.array([[1, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=np.int8)
    dense = dataset(Y)
    as_sparse = dense._replace(Y=sparse.csr_array(Y))
    assert summarize(as_sparse) == summarize(dense)
    np.testing.assert_array_equal(cooccurrence(as_sparse), cooccurrence(dense))


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_any_sparse_form_of_labels_is_the_same(kind):
    Y = messy_labels().asformat(kind)
    before, plain = parts(Y), dataset(Y.toarray())
    found = plain._replace(X=messy(), Y=Y)
    expected = plain._replace(X=messy().toarray())
    assert summarize(found) == summarize(expected)
    np.testing.assert_array_equal(cooccurrence(found), cooccurrence(expected))
    for part, as_given in zip(parts(Y), before, strict=True):
        np.testing.assert_array_equal(part, as_given)


def test_a_summary_cannot_be_changed():
    found = summarize(dataset([[1, 0], [1, 1]]))
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.rank = 3
    assert found == summarize(dataset([[1, 0], [1, 1]]))


@pytest.mark.parametrize(
    ("data_set", "match"),
    [
        (dataset([[1, 2]]), "only 0 and 1, got"),
        (dataset([[1, 0]])._replace(Y=np.array([1, 0])), r"shape \(2,\)"),
        (dataset([[1, 0]])._replace(Y=np.empty((0, 2))), r"shape \(0, 2\)"),
        (dataset([[1, 0]])._replace(label_names=["a"]), "1 label names"),
        (dataset([[1, 0]])._replace(X=np.zeros((2, 2))), "2 rows in X"),
    ],
)
def test_bad_labels_are_told(data_set, match):
    with pytest.raises(ValueError, match=match):
        summarize(data_set)


# The real data.


@pytest.fixture(scope="module")
def known():
    return {}


@pytest.fixture
def measured(data, known):
    """``measured("emotions")``: its summary, made once; or a skip."""

    def get(name):
        if name not in known:
            known[name] = summarize(data(name), name)
        return known[name]

    return get


@pytest.mark.parametrize("name", large_ones_slow(MEASURED))
def test_the_tables_of_a_data_set(measured, name):
    found = measured(name)
    figures = (found.n_samples, found.n_features, found.n_labels)
    figures += (f"{found.cardinality:.3f}", f"{found.density:.3f}")
    assert (*figures, found.distinct, found.rank) == MEASURED[name]
    unlabelled, n_empty, duplicates = ODDITIES.get(name, (0, 0, ()))
    assert found.unlabelled == unlabelled
    assert len(found.empty_labels) == n_empty
    assert found.duplicates == duplicates
    if name in MLDR:
        imbalance, scumble = MLDR[name]
        assert found.imbalance_mean == pytest.approx(imbalance, rel=1e-6)
        assert found.scumble == pytest.approx(scumble, rel=1e-6)


@pytest.mark.parametrize(
    "name", large_ones_slow(name for name in MEASURED if name[-4:] != "2500")
)
def test_every_difference_of_a_data_set_is_explained(measured, name):
    text = compare_with_paper([measured(name)])
    assert "unexplained" not in text
    assert all(row["state"] != "not at hand" for row in rows(text)[name])


def test_a_summary_of_names_needs_no_download(tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a download")

    monkeypatch.delenv("HOMI_DATA", raising=False)
    monkeypatch.setattr(sys.modules["homi.datasets.load"], "_bring", refuse)
    assert "yeast" in [item.name for item in summary()]
    (found,) = summary(["YEAST"])
    assert (found.name, found.distinct) == ("yeast", 198)
    with pytest.raises(FileNotFoundError, match=r"not available: no-such;.*HOMI_DATA"):
        summary(["yeast", "no-such"], directory=tmp_path)
    with pytest.raises(TypeError, match=r"pass \['yeast'\]"):
        summary("yeast")


def test_a_summary_finds_the_files_of_a_directory(tmp_path):
    (tmp_path / "mine.arff").write_text(
        "@relation mine\n@attribute x numeric\n@attribute a {0,1}\n"
        "@attribute b {0,1}\n@data\n1.5,1,1\n2.5,0,1\n"
    )
    (tmp_path / "mine.xml").write_text(
        '<labels xmlns="http://mulan.sourceforge.net/labels">'
        '<label name="a"/><label name="b"/></labels>'
    )
    (found,) = summary(["mine"], directory=tmp_path)
    assert (found.n_samples, found.n_features, found.n_labels) == (2, 1, 2)


# The comparison with the paper.


def rows(text):
    """The cells of both tables: {data set: [row of table 1, row of table 2]}."""
    found = {}
    header = None
    for line in text.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not cells:
            header = None
        elif header is None:
            header = [*cells[:-1], "state"]
        elif set(cells[0]) != {"-"}:
            row = dict(zip(header, cells, strict=True))
            found.setdefault(row["data set"], []).append(row)
    return found


def test_a_data_set_that_is_not_at_hand_is_never_left_out():
    found = rows(compare_with_paper([]))
    assert list(found) == [entry["name"] for entry in printed_tables()]
    assert len(found) == 12
    for entry in printed_tables():
        for table, row in zip(
            ("table_1", "table_2"), found[entry["name"]], strict=True
        ):
            assert row["state"] == "not at hand"
            for figure, printed in entry[table].items():
                assert row[figure].startswith(f"– / {printed}")


def test_known_slips_are_noted_even_without_the_data():
    text = compare_with_paper([])
    for part in (
        "printed 43097; not at hand, known to be 43907.",
        "printed 2417 × 17; not at hand, known to be 2417 × 14.",
        "printed 286; not at hand, known to be 304.",
        "printed 52; not at hand, known to be 53.",
        "printed 1.869; not at hand, known to be 1.868.",
        "mediamill, rank: One less than the number of labels.",
        "corel5k, rank: Three less than the 374 labels",
    ):
        assert part in text
    assert "unexplained" not in text


def test_every_mark_has_its_note_and_every_note_its_mark():
    text = compare_with_paper([])
    marks = {int(mark) for mark in re.findall(r" \[(\d+)\] \|", text)}
    notes = [int(number) for number in re.findall(r"^(\d+)\. ", text, re.M)]
    assert notes == list(range(1, len(notes) + 1))
    assert marks == set(notes)
    first, second = rows(text)["mediamill"]
    assert first["samples"].partition("[")[2] == second["n"].partition("[")[2] != ""


def test_what_was_measured_stands_beside_what_was_printed():
    text = compare_with_paper([make_summary("langlog", distinct=304)])
    first, second = rows(text)["langlog"]
    assert first["state"] == "as printed"
    assert first["size"] == "1460 × 75 / 1460 × 75"
    assert second["state"] == "differs"
    assert re.fullmatch(r"304 / 286 \[\d+\]", second["DL"])
    assert second["LCard"] == "1.180 / 1.180"
    assert "langlog, DL: printed 286, measured 304. Two independent copies" in text


def test_a_difference_that_no_note_explains_is_unexplained():
    for figures, said in (
        (
            {"distinct": 290},
            "langlog, DL: printed 286, measured 290. This is unexplained",
        ),
        ({"rank": 74}, "langlog, rank: printed 75, measured 74. This is unexplained."),
        ({"cardinality": 1.2}, "LCard: printed 1.180, measured 1.200. This is unexpl"),
    ):
        assert said in compare_with_paper([make_summary("langlog", **figures)])


def test_a_figure_that_agrees_needs_no_excuse():
    """Notes on a difference go when it does; remarks stay."""
    right = make_summary("langlog")
    assert "langlog, DL" not in compare_with_paper([right])
    text = compare_with_paper([make_summary("mediamill")])
    assert "mediamill, rank" not in text
    text = compare_with_paper([make_summary("corel5k", cardinality=3.522)])
    assert rows(text)["corel5k"][1]["LCard"].startswith("3.52 / 3.52 [")
    assert "corel5k, rank: Three less" in text
    text = compare_with_paper([make_summary("corel5k", rank=374)])
    assert "corel5k, rank: printed 371, measured 374. This is unexplained." in text


def test_mediamill_itself_would_be_explained():
    text = compare_with_paper([make_summary("mediamill", n_samples=43907)])
    first, second = rows(text)["mediamill"]
    assert first["samples"].startswith("43907 / 43097 [")
    assert first["size"] == "43907 × 101 / 43907 × 101"
    assert second["n"].startswith("43907 / 43097 [")
    assert "unexplained" not in text


def test_other_data_sets_follow():
    other = dataclasses.replace(make_summary("emotions"), name="my|own")
    found = rows(compare_with_paper([other]))
    assert list(found)[-1] == r"my\|own"
    row = found[r"my\|own"][1]
    assert row["state"] == "not in the paper"
    assert row["LCard"] == "1.869 / –"
    with pytest.raises(ValueError, match=r"two summaries are named 'my\|own'"):
        compare_with_paper([other, other])


def test_the_printed_figures_are_whole_and_consistent():
    for entry in printed_tables():
        first, second = entry["table_1"], entry["table_2"]
        assert (first["labels"], first["samples"]) == (second["l"], second["n"])
        assert set(first) == {"labels", "samples", "size", "rank"}
        assert set(second) == {"n", "m", "l", "LCard", "LDen", "DL"}
        for note in entry.get("note", []):
            assert set(note) <= {"figures", "found", "unchecked", "why"}
            assert note["why"].endswith(".")
            assert set(note["figures"]) <= {*first, *second}


# The description.


def test_a_description_says_what_matters():
    Y = [[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0]]
    names = ["sea", "beach", "boat", "moon"]
    text = describe(dataset(Y, names), "pictures")
    title, *rest = text.splitlines()
    lines = dict(re.split(r"  +", line.strip(), maxsplit=1) for line in rest)
    assert title == "pictures"
    assert lines["samples"] == "5, 1 of them without a label"
    assert lines["features"] == "3, dense"
    assert lines["labels"] == "4, rank of the label matrix 3"
    assert lines["most frequent"] == "sea 4 (80.0%), beach 2 (40.0%)"
    assert lines["least frequent"] == "moon 0 (0.0%), boat 1 (20.0%)"
    both = "sea and beach: 2 samples, 50.0% of those that have either"
    assert lines["most often together"] == both
    assert lines["most alike, not equal"] == both
    assert lines["labels that never occur"] == "moon"
    assert lines["labels that are equal"] == "none"


@pytest.mark.parametrize("Y", [[[1]], [[0]], [[1, 1]], [[0, 0], [0, 0]]])
def test_a_description_of_next_to_nothing(Y):
    text = describe(dataset(Y), "tiny")
    assert "most often together" in text
    assert "most frequent" in text


def test_equal_labels_are_not_called_most_alike():
    Y = [[1, 1, 1], [1, 1, 0], [0, 0, 1], [0, 0, 1]]
    text = describe(dataset(Y, ["a", "b", "c"]), "tiny")
    assert "a = b" in text
    assert "a and b: 2 samples, 100.0%" in text
    assert "a and c: 1 samples, 25.0%" in text
