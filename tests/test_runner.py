"""Runs: what is missing is computed, and what is stale or fails is told."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from experiments import FULL, SMALL
from homi import HOMI
from homi.benchmark import compute, protocols, runner
from homi.benchmark.cells import USUAL_AUC, Cell, Study
from homi.benchmark.experiment_file import read_experiment
from homi.benchmark.forecast import Forecast
from homi.benchmark.methods import ARENA, EVERYTHING
from homi.benchmark.results import read_results
from homi.benchmark.store import recall, store, stored, stored_studies
from homi.cli.app import app
from homi.metrics import PAPER_METRICS
from homi.paper.results import read_paper_results
from homi.paper.sections.cells import cells

#: What a cell needs to have.
RECORD = {
    "metrics": dict.fromkeys([*PAPER_METRICS, USUAL_AUC], 0.5),
    "parameters": {},
    "seconds": {"search": 0.0, "fit": 1, "predict": 0.5},
    "asked": {"metrics": [*PAPER_METRICS, USUAL_AUC]},
    "made_with": {},
}


CELL = Cell("clean", "yeast", "ML-KNN", 3)


def test_stale_and_foreign_results_are_told_and_not_used(
    few_rows, small_file, tmp_path, monkeypatch
):
    """Those of an older version, of other parameters, and of other experiments."""
    # One table is enough of the report: figures take longer than all else here.
    monkeypatch.setattr("homi.paper.page._SECTIONS", (cells,))
    out = tmp_path / "out"
    experiment = read_experiment(small_file)
    runner.run(experiment, experiment.tasks(), out)
    old, other = list(experiment.tasks())[:2]
    record = recall(out, old)
    del record["metrics"]["roc_auc"], record["asked"]["metrics"], record["cell"]
    store(out, old, record)
    with pytest.raises(ValueError, match=f"{old} is stale: it has no roc_auc"):
        read_results(out)
    record = recall(out, other)
    record["asked"]["parameters"] = {"lam": 7}
    del record["cell"]
    store(out, other, record)
    store(out, CELL, RECORD)
    found = runner.sort_out(experiment, out)
    assert set(found.stale) == {old, other}
    assert found.foreign == [CELL]
    assert len(found.current) == 6
    with pytest.raises(ValueError, match=f"has 2 stale results.*{old}"):
        read_results(out, experiment)
    call, options = CliRunner().invoke, [str(small_file), "--results", str(out)]
    for command in (
        ["status", *options],
        ["report", *options, "--output", str(tmp_path / "page")],
        ["merge", str(small_file), str(out), "--results", str(tmp_path / "merged")],
        ["run", *options],
    ):
        shown = call(app, ["bench", *command])
        assert shown.exit_code == 0, shown.output
        for task in (old, other):
            assert f"{task.path(out)}  out of date" in shown.output
        assert f"{CELL.path(out)}  of no task of small" in shown.output
    assert len(read_paper_results(experiment, tmp_path / "merged").results) == 6
    # The run made the stale ones again.
    CELL.path(out).unlink()
    assert len(read_results(out, experiment)) == 8


def test_nothing_is_written_outside_the_results(
    few_rows, small_file, tmp_path, monkeypatch
):
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "b")
    small_file.write_text(SMALL.replace('"small"', '"../../esc"'), encoding="utf-8")
    shown = CliRunner().invoke(app, ["bench", "run", str(small_file)])
    assert shown.exit_code == 1
    assert "names a directory of results" in shown.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "small.toml"]
    assert list((tmp_path / "a").rglob("*")) == [tmp_path / "a" / "b"]


def test_a_run_does_what_is_missing_and_nothing_else(few_rows, small_file, tmp_path):
    experiment = read_experiment(small_file)
    cells = list(experiment.tasks())
    done = []
    runner.run(experiment, cells[:3], tmp_path, done=lambda *item: done.append(item))
    assert [cell for cell, _ in done] == cells[:3]
    assert runner.missing(experiment, cells, tmp_path) == cells[3:]
    changed = SMALL.replace("n_neighbors = 2", "n_neighbors = 3")
    small_file.write_text(changed, encoding="utf-8")
    stale = runner.missing(read_experiment(small_file), cells, tmp_path)
    assert stale == [c for c in cells if c.method == "HOMI" or c in cells[3:]]
    assert set(stale) & set(cells[:3])


def test_a_record_says_what_it_was_made_with(few_rows, small_file):
    experiment = read_experiment(small_file)
    cell = Cell("clean", "yeast", "ML-LRC", 1)
    record = compute.compute(experiment, cell, "abc")
    assert list(record["metrics"]) == [*PAPER_METRICS, "roc_auc"]
    assert set(record["parameters"]) == {"alpha", "beta"}
    assert record["asked"]["search"]["points"] == 2
    made = record["made_with"]
    assert made["commit"] == "abc"
    assert made["threads"] == 1
    assert len(made["test_rows_sha256"]) == 64
    again = compute.compute(experiment, cell, "abc")
    for key in ("metrics", "parameters", "made_with", "iterations"):
        assert again[key] == record[key]
    assert json.loads(json.dumps(record)) == record


def test_the_best_point_is_taken(few_rows, small_file):
    """With the whole grid tried, no point does better on the held-out rows."""
    experiment = read_experiment(small_file)
    cell = Cell("clean", "yeast", "ML-LRC", 0)
    ask, seed = experiment.ask(cell), 7
    points = compute._points("ML-LRC", ask.search, seed)
    assert len(points) == 2
    assert points != compute._points("ML-LRC", ask.search, 8)
    train = protocols.split("clean", "yeast", 0, 2).train
    assert compute._chosen(cell, ask, train, seed) in points


def test_names_with_commas(few_rows, full_file, tmp_path):
    command = ["bench", "status", str(full_file), "--results", str(tmp_path / "none")]
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
    np.testing.assert_allclose(B["B"]["1.0"], model.label_correlation_)
    assert B["B"].keys() == {"1.0", "0.01"}
    assert B["labels"] == ["x", "y", "z"]
    curves = found[Study("clean", "yeast", "convergence")]
    assert 10 < len(curves["paper"]) <= 100
    assert all(np.diff(curves["paper"]) <= 1e-9 * curves["paper"][0])
    assert curves["joint"][-1] <= curves["paper"][-1] * (1 + 1e-9)
    of_rows = found[Study("clean", "yeast", "folds")]["fold_of_row"].split()
    tested = protocols.split("clean", "yeast", 1, 2).test_indices
    assert [i for i, fold in enumerate(of_rows) if fold == "1"] == tested.tolist()
    assert list(stored(tmp_path)) == []


@pytest.mark.parametrize("name", [n for n in EVERYTHING if n not in ARENA])
def test_everything_can_be_a_cell(name, few_rows, full_file):
    text = FULL.replace('"ML-KNN"]', f'"ML-KNN", "{name}"]')
    text = text.replace('"ridge"', "").replace('"HOMI", "HOMI g', '"HOMI g')
    full_file.write_text(text, encoding="utf-8")
    record = compute.compute(
        read_experiment(full_file), Cell("clean", "yeast", name, 0)
    )
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


def test_failures_are_shown(few_rows, full_file, tmp_path, monkeypatch):
    def fails(*arguments):
        raise FloatingPointError("all is lost")

    monkeypatch.setattr("homi.methods.ml_knn.MLkNN.fit", fails)
    command = ["bench", "run", str(full_file), "--results", str(tmp_path / "out")]
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
