"""Results in files: where they are, and what is wrong with damaged ones."""

import pytest

from homi.benchmark.cells import USUAL_AUC, Cell, Study
from homi.benchmark.results import read_results
from homi.benchmark.store import recall, store, stored
from homi.metrics import PAPER_METRICS

#: What a cell needs to have.
RECORD = {
    "metrics": dict.fromkeys([*PAPER_METRICS, USUAL_AUC], 0.5),
    "parameters": {},
    "seconds": {"search": 0.0, "fit": 1, "predict": 0.5},
    "asked": {"metrics": [*PAPER_METRICS, USUAL_AUC]},
    "made_with": {},
}


CELL = Cell("clean", "yeast", "ML-KNN", 3)


def test_a_cell_is_its_place(tmp_path):
    path = CELL.path(tmp_path)
    assert path == tmp_path / "clean" / "yeast" / "ML-KNN" / "3.json"
    assert recall(tmp_path, CELL) is None
    store(tmp_path, CELL, RECORD)
    assert recall(tmp_path, CELL)["metrics"] == RECORD["metrics"]
    assert [found for found, _ in stored(tmp_path)] == [CELL]
    assert list(tmp_path.rglob("*.tmp")) == []
    # A second file of the same fold would count twice.
    path.rename(path.with_name("03.json"))
    with pytest.raises(ValueError, match=r"03\.json is not where a result is stored"):
        list(stored(tmp_path))


def without(part):
    return {key: value for key, value in RECORD.items() if key != part}


def damaged(part, **values):
    return {**RECORD, part: {**RECORD[part], **values}}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "Expecting value"),
        ("{", "Expecting property name"),
        ("[]", "no object"),
        ("{}", "cell is absent"),
        ("[" * 100_000, "recursion"),
        ("9" * 5000, "Exceeds the limit"),
        ('{"cell": {"fold": 1}}', "metrics is absent"),
        (without("asked"), "asked is absent"),
        (without("metrics"), "metrics is absent"),
        (without("seconds"), "seconds is absent"),
        (without("made_with"), "made_with is absent"),
        ({**RECORD, "metrics": [0.5]}, r"metrics is \[0.5\], not an object"),
        (damaged("metrics", one_error="0.5"), "'one_error' is '0.5', not a number"),
        (damaged("metrics", one_error=True), "'one_error' is True"),
        (damaged("metrics", one_error=float("inf")), "'one_error' is inf"),
        (damaged("metrics", one_error=10**400), "'one_error' is 1000"),
        (damaged("metrics", one_error=[0.5]), r"'one_error' is \[0.5\]"),
        (damaged("asked", metrics=["f1"]), "'f1' was asked for and is not there"),
        (damaged("asked", metrics=3), "3 was asked for"),
        (damaged("seconds", fit="1 s"), "'fit' took '1 s' seconds"),
        (damaged("seconds", fit=10**400), "'fit' took 1000"),
        (damaged("seconds", fit=float("nan")), "'fit' took nan seconds"),
        ({**RECORD, "seconds": {}}, "seconds of search are not there"),
    ],
)
def test_a_damaged_file_is_named(text, fault, tmp_path):
    store(tmp_path, CELL, text if isinstance(text, dict) else {})
    if isinstance(text, str):
        CELL.path(tmp_path).write_text(text)
    for read in (
        lambda: recall(tmp_path, CELL),
        lambda: list(stored(tmp_path)),
        lambda: read_results(tmp_path),
    ):
        with pytest.raises(ValueError, match=rf"3\.json is not .*\(.*{fault}.*delete"):
            read()


STUDY = Study("clean", "yeast", "correlations")


@pytest.mark.parametrize(
    ("found", "fault"),
    [
        ([], "found is "),
        ({"labels": ["a"]}, "'B' is not there"),
        (
            {"labels": ["a"], "B": {"1.0": [[1.0]]}, "more": 1},
            "'more' is not there, or not",
        ),
        ({"labels": ["a"], "B": {"1.0": [["1"]]}}, "B is "),
        ({"labels": ["a"], "B": {"1.0": [[1.0], [2.0]]}}, "B is "),
        ({"labels": ["a"], "B": [[1.0]]}, "B is "),
        ({"labels": [1], "B": {"1.0": [[1.0]]}}, "labels is "),
    ],
)
def test_a_damaged_study_is_named(found, fault, tmp_path):
    store(tmp_path, STUDY, {**RECORD, "found": found})
    with pytest.raises(ValueError, match=rf"correlations\.json is not .*\({fault}"):
        recall(tmp_path, STUDY)
    sound = {"labels": ["a"], "B": {"1.0": [[1.0]]}}
    store(tmp_path, STUDY, {**RECORD, "found": sound})
    assert recall(tmp_path, STUDY)["found"] == sound


def test_a_cell_of_another_place_is_named(tmp_path):
    store(tmp_path, CELL, RECORD)
    moved = CELL.path(tmp_path).with_name("4.json")
    CELL.path(tmp_path).rename(moved)
    with pytest.raises(ValueError, match=r"4\.json holds the result of .*'fold': 3"):
        read_results(tmp_path)
