"""Variants, studies, quick runs, forecasts, failures, and results of other machines."""

import json
import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

from homi import HOMI
from homi.benchmark import compute, protocols, runner
from homi.benchmark.cells import Cell, Study
from homi.benchmark.exchange import difference, merge, verify
from homi.benchmark.experiment_file import read_experiment
from homi.benchmark.forecast import Forecast
from homi.benchmark.methods import EVERYTHING, variant, with_settings
from homi.benchmark.store import recall, store, stored, stored_studies
from homi.cli.app import app

TEXT = """
name = "small"
protocols = ["clean", "as-published"]
datasets = ["yeast", "emotions"]
methods = ["HOMI", "HOMI gamma=0", "ML-KNN"]
baselines = ["ridge"]
folds = 2

[[rule]]
method = "HOMI"
set = { n_neighbors = 3, lam = 2 }

[sensitivity]
datasets = ["yeast"]
gamma = [0, 0.5]
lam = [5]

[studies]
characteristics = ["yeast"]
convergence = ["yeast"]
correlations = ["yeast"]
folds = ["yeast"]

[quick]
datasets = ["yeast"]
methods = ["HOMI"]
folds = 2
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def experiment(file):
    return read_experiment(file)


def test_a_name_carries_settings():
    name = with_settings("HOMI", beta=0.5, standardize=False)
    assert name == "HOMI beta=0.5 standardize=false"
    assert variant(name) == ("HOMI", {"beta": 0.5, "standardize": False})
    assert variant("ML-KNN") == ("ML-KNN", {})


@pytest.mark.parametrize(
    "name", ["HOMI beta", "HOMI beta=x", "HOMI  beta=1", "HOMI =1"]
)
def test_a_setting_that_is_none(name):
    with pytest.raises(ValueError, match="is not a setting; write parameter=value"):
        variant(name)


def test_which_tasks_there_are(experiment):
    tasks = list(experiment.tasks())
    assert len(tasks) == len(set(tasks))
    names = {(t.protocol, t.dataset, t.method) for t in tasks if isinstance(t, Cell)}
    everywhere = {"HOMI", "HOMI gamma=0", "ML-KNN"}
    assert {n for p, d, n in names if (p, d) == ("as-published", "emotions")} == (
        everywhere
    )
    assert {n for p, d, n in names if (p, d) == ("clean", "yeast")} == everywhere | {
        "ridge",
        "HOMI gamma=0.5",
        "HOMI lam=5",
    }
    found = {t for t in tasks if isinstance(t, Study)}
    # The data are the same by any protocol.
    assert found == {
        Study("clean", "yeast", "characteristics"),
        Study("clean", "yeast", "convergence"),
        Study("clean", "yeast", "correlations"),
        Study("clean", "yeast", "folds"),
        Study("as-published", "yeast", "convergence"),
        Study("as-published", "yeast", "correlations"),
        Study("as-published", "yeast", "folds"),
    }
    assert not any(isinstance(t, Study) for t in experiment.tasks(methods=["HOMI"]))
    some = set(experiment.tasks(protocols=["as-published"]))
    assert some == {task for task in tasks if task.protocol == "as-published"}
    with pytest.raises(ValueError, match="did you mean clean"):
        list(experiment.tasks(protocols=["claen"]))


def test_rules_hold_for_variants_and_names_have_the_last_word(experiment):
    cell = Cell("clean", "yeast", "HOMI lam=5", 0)
    assert experiment.ask(cell).parameters == {"n_neighbors": 3, "lam": 5}
    assert experiment.ask(Cell("clean", "yeast", "ML-KNN", 0)).parameters == {}
    study = Study("clean", "yeast", "convergence")
    assert experiment.ask(study).parameters == {"n_neighbors": 3, "lam": 2}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"HOMI gamma=0"', '"HOMI gama=0"', "parameter of HOMI.*'gama'.*mean gamma"),
        ('"ridge"', '"rigde"', "'rigde'; did you mean ridge"),
        ("lam = [5]", "lamb = [5]", "parameter of HOMI.*'lamb'; did you mean lam"),
        ('correlations = ["yeast"]', 'correlation = ["yeast"]', "mean correlations"),
        ('correlations = ["yeast"]', 'correlations = ["birds"]', "'birds'"),
        ('methods = ["HOMI"]\n', 'methods = ["HOMY"]\n', "'HOMY'; did you mean HOMI"),
    ],
)
def test_a_mistake_is_named(old, new, message, file):
    assert old in TEXT
    file.write_text(TEXT.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_experiment(file)


def test_a_quick_run_is_a_small_part(experiment):
    quick = experiment.quickly()
    assert quick.name == "small-quick"
    assert not quick.times
    assert {task.dataset for task in quick.tasks()} == {"yeast"}
    assert quick.methods == ("HOMI",)
    with pytest.raises(ValueError, match=r"no \[quick\] part"):
        quick.quickly()


def test_sensitivity_on_any_data_set(experiment):
    more = experiment.varied_on(["emotions", "yeast"])
    assert more.sensitivity.datasets == ("yeast", "emotions")
    cells = set(more.tasks()) - set(experiment.tasks())
    assert {(c.dataset, c.method) for c in cells} == {
        ("emotions", "HOMI gamma=0.5"),
        ("emotions", "HOMI lam=5"),
    }
    with pytest.raises(ValueError, match="'yeest'; did you mean yeast"):
        experiment.varied_on(["yeest"])


def test_names_with_commas(few_rows, file, tmp_path):
    command = ["bench", "status", str(file), "--results", str(tmp_path / "none")]
    some = ["--datasets", "yeast, emotions", "--methods", "HOMI,ML-KNN"]
    shown = CliRunner().invoke(app, [*command, *some])
    assert shown.exit_code == 0, shown.output
    assert "0 of 16 tasks are there" in shown.output
    shown = CliRunner().invoke(app, [*command, *some, "--protocols", "clean"])
    assert "0 of 8 tasks are there" in shown.output


def test_studies(few_rows, experiment, tmp_path):
    wanted = [task for task in experiment.tasks() if isinstance(task, Study)]
    assert runner.run(experiment, wanted, tmp_path) == []
    found = {study: record["found"] for study, record in stored_studies(tmp_path)}
    assert set(found) == set(wanted)
    facts = found[Study("clean", "yeast", "characteristics")]
    assert (facts["n_samples"], facts["n_features"], facts["n_labels"]) == (60, 6, 3)
    model = HOMI(lam=2, n_neighbors=3).fit(few_rows.X, few_rows.Y)
    B = found[Study("clean", "yeast", "correlations")]
    np.testing.assert_allclose(B["B"], model.label_correlation_)
    assert B["labels"] == ["x", "y", "z"]
    curves = found[Study("clean", "yeast", "convergence")]
    assert 10 < len(curves["paper"]) <= 100
    assert all(np.diff(curves["paper"]) <= 1e-9 * curves["paper"][0])
    assert curves["joint"][-1] <= curves["paper"][-1] * (1 + 1e-9)
    of_rows = found[Study("clean", "yeast", "folds")]["fold_of_row"].split()
    tested = protocols.split("clean", "yeast", 1, 2).test_indices
    assert [i for i, fold in enumerate(of_rows) if fold == "1"] == tested.tolist()
    assert list(stored(tmp_path)) == []


@pytest.mark.parametrize("name", EVERYTHING)
def test_everything_can_be_a_cell(name, few_rows, file):
    text = TEXT.replace('"ML-KNN"]', f'"ML-KNN", "{name}"]')
    text = text.replace('"ridge"', "").replace('"HOMI", "HOMI g', '"HOMI g')
    file.write_text(text, encoding="utf-8")
    record = compute.compute(read_experiment(file), Cell("clean", "yeast", name, 0))
    assert 0 <= record["metrics"]["hamming_loss"] < 0.4
    assert json.loads(json.dumps(record)) == record


def test_constant_scores_have_the_usual_auc_of_a_coin():
    Y = np.array([[1, 0], [0, 1], [0, 1]])
    found = compute._metrics(Y, np.zeros((3, 2)), np.zeros((3, 2), int))
    assert found["macro_auc"] == 1.0
    assert found["roc_auc"] == 0.5


def test_a_task_that_fails_does_not_end_the_others(
    few_rows, experiment, tmp_path, monkeypatch
):
    def fails(X):
        raise FloatingPointError("all is lost")

    monkeypatch.setattr("homi.methods.ml_knn.MLkNN.ranking_scores", fails)
    tasks = list(experiment.tasks(["yeast"], ["ML-KNN", "HOMI"]))
    said = []
    failures = runner.run(experiment, tasks, tmp_path, failed=said.append)
    assert {failure.task.method for failure in failures} == {"ML-KNN"}
    assert said == failures
    assert len(failures) == 4
    assert {cell.method for cell, _ in stored(tmp_path)} == {"HOMI"}


def test_failures_are_shown(few_rows, file, tmp_path, monkeypatch):
    def fails(*arguments):
        raise FloatingPointError("all is lost")

    monkeypatch.setattr("homi.methods.ml_knn.MLkNN.fit", fails)
    command = ["bench", "run", str(file), "--results", str(tmp_path / "out")]
    shown = CliRunner().invoke(app, [*command, "--datasets", "yeast"])
    assert shown.exit_code == 1
    assert "failed: FloatingPointError: all is lost" in shown.output
    assert "4 of" in shown.output.splitlines()[-1]


def test_a_forecast_is_of_the_nearest_kin():
    todo = [Cell("clean", "yeast", "HOMI", fold) for fold in range(4)]
    todo += [Cell("clean", "scene", "HOMI", 0)]
    forecast = Forecast(todo, workers=2)
    assert forecast.left() is None
    forecast.learn(Cell("clean", "scene", "BR", 0), {"seconds": {"fit": 8.0}})
    assert forecast.left() == 5 * 8 / 2
    other = Cell("as-published", "yeast", "HOMI", 0)
    forecast.learn(other, {"seconds": {"fit": 1.0, "predict": 1.0}})
    assert forecast.left() == (4 * 2 + 8) / 2
    forecast.learn(todo[0], {"seconds": {"fit": 4.0}})
    forecast.done(todo[0])
    assert forecast.left() == (3 * 4 + 8) / 2


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


def test_merge_leaves_what_was_asked_for_otherwise(both, file):
    here, there = both
    file.write_text(TEXT.replace("lam = 2", "lam = 3"), encoding="utf-8")
    changed = read_experiment(file)
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


def test_merge_and_verify_by_command(both, file, tmp_path):
    here, there = both
    call = CliRunner().invoke
    ours = ["--results", str(here)]
    merged = call(app, ["bench", "merge", str(file), str(there), *ours])
    assert merged.exit_code == 0, merged.output
    assert "results copied" in merged.output
    checked = call(app, ["bench", "verify", str(file), "--sample", "4", *ours])
    assert checked.exit_code == 0, checked.output
    assert "4 of 4 are as stored" in checked.output
    cell = Cell("clean", "yeast", "ML-KNN", 0)
    text = cell.path(here).read_text()
    record = json.loads(text)
    record["metrics"]["hamming_loss"] = 0.99
    cell.path(here).write_text(json.dumps(record))
    checked = call(app, ["bench", "verify", str(file), "--methods", "ML-KNN", *ours])
    assert checked.exit_code == 1
    assert "differs by" in checked.output
    merged = call(app, ["bench", "merge", str(file), str(there), *ours])
    assert merged.exit_code == 1
    assert "ours is kept" in merged.output
    shutil.rmtree(there)
    gone = call(app, ["bench", "merge", str(file), str(there), *ours])
    assert "has no results" in gone.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--engine", "dask"], "needs the address of a scheduler"),
        (["--scheduler", "tcp://127.0.0.1:1"], "pass that too"),
    ],
)
def test_engines_that_make_no_sense(options, message, few_rows, file, tmp_path):
    command = ["bench", "run", str(file), "--results", str(tmp_path / "out")]
    shown = CliRunner().invoke(app, [*command, *options])
    assert shown.exit_code == 1
    assert message in " ".join(shown.stderr.split())
