"""Results in files: where they are, and what is wrong with damaged ones."""

import json
import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

from experiments import FULL
from homi.benchmark import runner
from homi.benchmark.cells import USUAL_AUC, Cell, Study
from homi.benchmark.exchange import difference, merge, verify
from homi.benchmark.experiment_file import read_experiment
from homi.benchmark.results import read_results
from homi.benchmark.store import recall, store, stored
from homi.cli.app import app
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
        ({"labels": ["a"]}, "'B' is missing"),
        (
            {"labels": ["a"], "B": {"1.0": [[1.0]]}, "more": 1},
            "'more' is missing, or should not",
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


# Results of other machines: merged, computed again, compared.


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    return tmp_path_factory.mktemp("computed")


@pytest.fixture
def both(few_rows, experiment, computed, tmp_path):
    """Two directories: one with results of HOMI on yeast, one with all of yeast."""
    for name, chosen in {"here": ["HOMI"], "there": None}.items():
        tasks = experiment.tasks(["yeast"], chosen)
        # The first test computes them.
        missing = runner.missing(experiment, tasks, computed / name)
        runner.run(experiment, missing, computed / name)
        shutil.copytree(computed / name, tmp_path / name)
    return tmp_path / "here", tmp_path / "there"


def test_merge_takes_what_is_missing(both, experiment):
    here, there = both
    before = {path: path.read_bytes() for path in here.rglob("*.json")}
    merged = merge(experiment, [there], here, 1e-9)
    assert merged.conflicts == []
    tasks = list(experiment.tasks(["yeast"]))
    assert set(merged.taken) == set(tasks) - set(experiment.tasks(["yeast"], ["HOMI"]))
    assert runner.missing(experiment, tasks, here) == []
    assert all(path.read_bytes() == bytes_ for path, bytes_ in before.items())
    assert merge(experiment, [there], here, 1e-9).taken == []


def test_merge_keeps_ours_and_names_what_differs(both, experiment):
    here, there = both
    cell = Cell("clean", "yeast", "HOMI", 1)
    record = recall(there, cell)
    record["metrics"]["one_error"] += 0.25
    store(there, cell, {key: v for key, v in record.items() if key != "cell"})
    ours = cell.path(here).read_bytes()
    merged = merge(experiment, [there], here, 1e-9)
    assert [item.task for item in merged.conflicts] == [cell]
    assert merged.conflicts[0].size == pytest.approx(0.25)
    assert cell.path(here).read_bytes() == ours


def test_merge_leaves_what_was_asked_for_otherwise(both, full_file):
    here, there = both
    full_file.write_text(FULL.replace("lam = 2", "lam = 3"), encoding="utf-8")
    changed = read_experiment(full_file)
    merged = merge(changed, [there], here, 1e-9)
    assert {task.method for task in merged.taken if isinstance(task, Cell)} == {
        "ML-KNN",
        "ridge",
        "HOMI lam=5",
    }


def test_verify_computes_again(both, experiment):
    _, there = both
    tasks = list(experiment.tasks(["yeast"]))
    found = list(verify(experiment, tasks, there, 100, 0))
    assert {item.task for item in found} == set(tasks)
    assert max(item.size for item in found) == 0
    some = [item.task for item in verify(experiment, tasks, there, 3, 1)]
    assert len(some) == 3
    assert some != [item.task for item in verify(experiment, tasks, there, 3, 2)]


def test_what_differs():
    one = {"found": {"a": [1.0, 2.0], "b": "x"}}
    assert difference(one, one) == 0
    assert difference(one, {"found": {"a": [1.0, 2.5], "b": "x"}}) == 0.5
    assert difference(one, {"found": {"a": [1.0], "b": "x"}}) == np.inf
    assert difference(one, {"found": {"a": [1.0, 2.0], "b": "y"}}) == np.inf
    assert difference(one, {"metrics": {"one_error": 0.1}}) == np.inf
    nan = {"metrics": {"macro_auc": float("nan")}}
    assert difference(nan, nan) == 0
    assert difference(nan, {"metrics": {"macro_auc": 0.5}}) == np.inf


def test_merge_and_verify_by_command(both, full_file, tmp_path):
    here, there = both
    call = CliRunner().invoke
    ours = ["--results", str(here)]
    merged = call(app, ["bench", "merge", str(full_file), str(there), *ours])
    assert merged.exit_code == 0, merged.output
    assert "results copied" in merged.output
    checked = call(app, ["bench", "verify", str(full_file), "--sample", "4", *ours])
    assert checked.exit_code == 0, checked.output
    assert "4 of 4 are as stored" in checked.output
    cell = Cell("clean", "yeast", "ML-KNN", 0)
    text = cell.path(here).read_text()
    record = json.loads(text)
    record["metrics"]["hamming_loss"] = 0.99
    cell.path(here).write_text(json.dumps(record))
    checked = call(
        app, ["bench", "verify", str(full_file), "--methods", "ML-KNN", *ours]
    )
    assert checked.exit_code == 1
    assert "differs by" in checked.output
    merged = call(app, ["bench", "merge", str(full_file), str(there), *ours])
    assert merged.exit_code == 1
    assert "ours is kept" in merged.output
    shutil.rmtree(there)
    gone = call(app, ["bench", "merge", str(full_file), str(there), *ours])
    assert "has no results" in gone.stderr
