"""Experiments: cells, files, protocols, and runs that are killed and go on."""

import ctypes
import json
import os
import signal

import numpy as np
import pytest
from scipy import sparse
from typer.testing import CliRunner

from homi.benchmark import compute, protocols, runner
from homi.benchmark.cells import USUAL_AUC, Cell, Study, seed_of
from homi.benchmark.experiment_file import read_experiment
from homi.benchmark.methods import METHODS, marked
from homi.benchmark.results import means_of, read_results
from homi.benchmark.store import recall, store, stored
from homi.cli.app import app
from homi.datasets.dataset import Dataset
from homi.metrics import PAPER_METRICS
from homi.paper.comparison import gap
from homi.paper.printed import printed_results
from homi.paper.results import read_paper_results, summarize_with_printed

SMALL = """
name = "small"
protocols = ["clean", "as-published"]
datasets = ["yeast"]
methods = ["HOMI", "ML-LRC"]
folds = 2

[search.ML-LRC]
points = 2

[[rule]]
protocol = "as-published"
set = { standardize = false }

[[rule]]
method = "HOMI"
dataset = ["yeast", "emotions"]
set = { n_neighbors = 2 }
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


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


def test_seeds_depend_on_the_named_parts_alone():
    one, other = Cell("clean", "yeast", "HOMI", 0), Cell("clean", "yeast", "BR", 0)
    assert one.seed("dataset") == other.seed("dataset") == seed_of("yeast")
    assert one.seed("dataset", "method") != other.seed("dataset", "method")
    # Seeds are part of stored results: they may never change.
    assert seed_of("yeast") == 3879909240


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
        ({"labels": ["a"], "B": [[1.0]], "more": 1}, "'more' is not there, or not"),
        ({"labels": ["a"], "B": [["1"]]}, "B is "),
        ({"labels": ["a"], "B": [[1.0], [2.0]]}, "B is "),
        ({"labels": [1], "B": [[1.0]]}, "labels is "),
    ],
)
def test_a_damaged_study_is_named(found, fault, tmp_path):
    store(tmp_path, STUDY, {**RECORD, "found": found})
    with pytest.raises(ValueError, match=rf"correlations\.json is not .*\({fault}"):
        recall(tmp_path, STUDY)
    store(tmp_path, STUDY, {**RECORD, "found": {"labels": ["a"], "B": [[1.0]]}})
    assert recall(tmp_path, STUDY)["found"]["B"] == [[1.0]]


def test_a_cell_of_another_place_is_named(tmp_path):
    store(tmp_path, CELL, RECORD)
    moved = CELL.path(tmp_path).with_name("4.json")
    CELL.path(tmp_path).rename(moved)
    with pytest.raises(ValueError, match=r"4\.json holds the result of .*'fold': 3"):
        read_results(tmp_path)


def test_stale_and_foreign_results_are_told_and_not_used(few_rows, file, tmp_path):
    """Those of an older version, of other parameters, and of other experiments."""
    out = tmp_path / "out"
    experiment = read_experiment(file)
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
    call, options = CliRunner().invoke, [str(file), "--results", str(out)]
    for command in (
        ["status", *options],
        ["report", *options, "--output", str(tmp_path / "page")],
        ["merge", str(file), str(out), "--results", str(tmp_path / "merged")],
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


def test_an_experiment_file(file):
    experiment = read_experiment(file)
    cells = list(experiment.tasks())
    assert len(cells) == len(set(cells)) == 2 * 1 * 2 * 2
    homi = Cell("clean", "yeast", "HOMI", 0)
    assert experiment.ask(homi).parameters == {"n_neighbors": 2}
    assert experiment.ask(homi).search is None
    published = Cell("as-published", "yeast", "ML-LRC", 0)
    assert experiment.ask(published).parameters == {"standardize": False}
    assert experiment.ask(published).search.points == 2
    assert {cell.method for cell in experiment.tasks(methods=["HOMI"])} == {"HOMI"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"HOMI", "ML-LRC"', '"HOMY", "ML-LRC"', "'HOMY'; did you mean HOMI"),
        ('"yeast"]\nmethods', '"yeest"]\nmethods', "'yeest'; did you mean yeast"),
        ('"clean"', '"cleen"', "'cleen'; did you mean clean"),
        ('name = "small"', "", "no name"),
        ("folds = 2", "fold = 2", "'fold'; did you mean folds"),
        ("points = 2", "point = 2", "point"),
        ("set = { standardize = false }", "", "a rule needs set"),
        ("[search.ML-LRC]", "[search.BR]", "no method is called 'BR'"),
        ("folds = 2", "folds = ", "is not TOML"),
    ],
)
def test_a_mistake_in_the_file_is_named(old, new, message, file):
    assert old in SMALL
    file.write_text(SMALL.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=message) as caught:
        read_experiment(file)
    assert "small.toml" in str(caught.value)


HEAD = SMALL.partition("[search")[0]
A_NAME, A_LIST = "name is .*names a directory", "is .*; expected a list"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        *(('"small"', name, A_NAME) for name in ('"../../esc"', '"/tmp/x"', '"."')),
        *(('"small"', name, A_NAME) for name in ('""', "3", '"a\\nb"', '"a\\u0000b"')),
        ('"small"', f'"{"x" * 400}"', A_NAME),
        *(
            ("folds = 2", f"folds = {value}", "folds is .* from 2 to 100")
            for value in ("1000000", "1", "0", "-3", "2.5", "true", '"5"', "[5]")
        ),
        ("folds = 2", "threads = 0", "threads is 0; .* from 1 to 1,024"),
        ("folds = 2", 'threads = "all"', "threads is 'all'"),
        ('["yeast"]', '"yeast"', A_LIST),
        ('["yeast"]', "{ yeast = 1 }", A_LIST),
        ('["yeast"]', '[["yeast"]]', A_LIST),
        ('["yeast"]', "[]", "datasets is empty"),
        *(
            ('"ML-LRC"', f"'{name}'", "cannot be the name of a directory")
            for name in (
                'HOMI kernel="../../../esc"',
                'HOMI kernel="..\\\\esc"',
                f"HOMI lam={'[' * 9999}",
                f"HOMI lam={'1' * 300}",
            )
        ),
        ('"ML-LRC"', "'HOMI lam=NaN'", "'lam=NaN' in .* is not a setting"),
        ('"ML-LRC"', f"'HOMI lam={'[' * 150}'", "is not a setting"),
        ('"ML-LRC"', "'HOMI lam={}'", "is not a setting"),
    ],
)
def test_a_hostile_value_is_one_sentence(old, new, message, file):
    assert old in HEAD
    file.write_text(HEAD.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=message) as caught:
        read_experiment(file)
    assert str(caught.value).startswith(str(file))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (f"deep = {'[' * 100_000}", "is not TOML: maximum recursion"),
        ("search = [1]", "search is .1.; expected a table"),
        ("[search]\nHOMI = 3", "search.HOMI is 3; expected a table"),
        ("[search.HOMI]\nvalidation = 0.5", "points is absent"),
        ("[search.HOMI]\npoints = 0", "points is 0; .* from 1 to"),
        ('[search.HOMI]\npoints = "all"', "points is 'all'"),
        ("[search.HOMI]\npoints = 2\nvalidation = 2.0", "validation is 2.0; .* share"),
        ("[search.HOMI]\npoints = 2\nvalidation = nan", "validation is nan"),
        ('[search.HOMI]\npoints = 2\nmetric = "none"', "no metric is called 'none'"),
        ("[search.HOMI]\npoints = 2\nmetric = 1", "metric is 1; expected a name"),
        ("[rule]\nset = { lam = 1 }", "two brackets"),
        ("rule = [3]", "a rule is 3; expected a table"),
        ("[[rule]]\nset = { lam = nan }", "lam of a rule is nan; .* finite"),
        ("[[rule]]\nset = { lam = 2020-01-01 }", "lam of a rule is datetime"),
        ("[[rule]]\nset = { lam = { a = 1 } }", "lam of a rule is {'a': 1}"),
        ('[[rule]]\nmethod = "HOMY"\nset = { lam = 1 }', "did you mean HOMI"),
        ('[[rule]]\ndataset = "yeest"\nset = { lam = 1 }', "did you mean yeast"),
        ("[[rule]]\ndataset = 3\nset = { lam = 1 }", "dataset of a rule is 3"),
        ('[[rule]]\nmethod = "HOMI"\nset = { lamb = 1 }', "did you mean lam"),
        ("sensitivity = 3", "sensitivity is 3; expected a table"),
        ('[sensitivity]\nbeta = "abc"', "beta is 'abc'; expected a list"),
        ("[sensitivity]\nbeta = [inf]", "beta is inf; .* finite"),
        ('[sensitivity]\nkernel = ["../../esc"]', "cannot be the name of a directory"),
        ('studies = ["folds"]', "studies is .*; expected a table"),
        ('[studies]\nfolds = "yeast"', "studies.folds is 'yeast'; expected a list"),
        ("quick = [1]", "quick is .1.; expected a table"),
        ("[quick]\nfolds = 1000000", "quick.folds is 1000000; .* from 2 to 100"),
        ('[quick]\nmethods = "HOMI"', "quick.methods is 'HOMI'; expected a list"),
    ],
)
def test_a_hostile_part_is_one_sentence(part, message, file):
    file.write_text(f"{HEAD}\n{part}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=message) as caught:
        read_experiment(file)
    assert str(caught.value).startswith(str(file))


def test_a_name_that_is_given_twice_is_run_once(file):
    file.write_text(SMALL.replace('["yeast"]', '["yeast", "yeast"]', 1))
    assert len(list(read_experiment(file).tasks())) == 8


def test_a_file_that_is_no_text_is_named(file):
    file.write_bytes(HEAD.encode() + b"# \xff\n")
    with pytest.raises(ValueError, match=r"small\.toml is not TOML: .*0xff"):
        read_experiment(file)


def test_a_quick_part_may_leave_the_methods(file):
    file.write_text(f"{SMALL}\n[quick]\nfolds = 2\n", encoding="utf-8")
    assert read_experiment(file).quickly().searches.keys() == {"ML-LRC"}


def test_nothing_is_written_outside_the_results(few_rows, file, tmp_path, monkeypatch):
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "b")
    file.write_text(SMALL.replace('"small"', '"../../esc"'), encoding="utf-8")
    shown = CliRunner().invoke(app, ["bench", "run", str(file)])
    assert shown.exit_code == 1
    assert "names a directory of results" in shown.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "small.toml"]
    assert list((tmp_path / "a").rglob("*")) == [tmp_path / "a" / "b"]


def test_folds_depend_on_the_data_set_alone(few_rows):
    folds = [
        protocols.split(protocol, "yeast", fold, 3)
        for protocol in protocols.PROTOCOLS
        for fold in range(3)
    ]
    for clean, published in zip(folds[:3], folds[3:], strict=True):
        np.testing.assert_array_equal(clean.test_indices, published.test_indices)
        assert len(clean.train.Y) + len(clean.test.Y) == 60
    together = np.concatenate([fold.test_indices for fold in folds[:3]])
    np.testing.assert_array_equal(np.sort(together), np.arange(60))


def test_the_clean_protocol_changes_nothing(few_rows):
    fold = protocols.split("clean", "yeast", 0, 3)
    np.testing.assert_array_equal(fold.test.X, few_rows.X[fold.test_indices])
    np.testing.assert_array_equal(fold.test.Y, few_rows.Y[fold.test_indices])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_published_rows_are_white(kind, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5)) @ rng.normal(size=(5, 8)) + 3.0
    given = Dataset(kind(X), np.ones((40, 2), np.int8), [], [])
    monkeypatch.setattr(protocols, "load", lambda name: given)
    white = protocols.as_published("yeast").X
    assert white.shape == (40, 5)
    np.testing.assert_allclose(white.T @ white / 40, np.eye(5), atol=1e-10)
    np.testing.assert_allclose(white.mean(axis=0), 0, atol=1e-10)


def test_published_enron_is_its_first_rows_twice(monkeypatch):
    rng = np.random.default_rng(0)
    given = Dataset(rng.normal(size=(1702, 3)), np.eye(1702, 5, dtype=np.int8), [], [])
    monkeypatch.setattr(protocols, "load", lambda name: given)
    X, Y = protocols.as_published("enron")
    assert len(X) == 2 * 1123
    np.testing.assert_allclose(X[:1123], X[1123:], atol=1e-12)
    np.testing.assert_array_equal(Y[:1123], given.Y[:1123])


def test_a_run_does_what_is_missing_and_nothing_else(few_rows, file, tmp_path):
    experiment = read_experiment(file)
    cells = list(experiment.tasks())
    done = []
    runner.run(experiment, cells[:3], tmp_path, done=lambda *item: done.append(item))
    assert [cell for cell, _ in done] == cells[:3]
    assert runner.missing(experiment, cells, tmp_path) == cells[3:]
    changed = SMALL.replace("n_neighbors = 2", "n_neighbors = 3")
    file.write_text(changed, encoding="utf-8")
    stale = runner.missing(read_experiment(file), cells, tmp_path)
    assert stale == [c for c in cells if c.method == "HOMI" or c in cells[3:]]
    assert set(stale) & set(cells[:3])


def test_a_record_says_what_it_was_made_with(few_rows, file):
    experiment = read_experiment(file)
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


def test_the_best_point_is_taken(few_rows, file):
    """With the whole grid tried, no point does better on the held-out rows."""
    experiment = read_experiment(file)
    cell = Cell("clean", "yeast", "ML-LRC", 0)
    ask, seed = experiment.ask(cell), 7
    points = compute._points("ML-LRC", ask.search, seed)
    assert len(points) == 2
    assert points != compute._points("ML-LRC", ask.search, 8)
    train = protocols.split("clean", "yeast", 0, 2).train
    assert compute._chosen(cell, ask, train, seed) in points


def test_the_summary(few_rows, file, tmp_path):
    experiment = read_experiment(file)
    runner.run(experiment, experiment.tasks(), tmp_path)
    results = read_results(tmp_path)
    assert len(results) == 8
    summary = summarize_with_printed(results)
    here = results[(results["protocol"] == "clean") & (results["method"] == "HOMI")]
    row = summary.loc["clean", "yeast", "HOMI", "one_error"]
    assert row["mean"] == pytest.approx(here["one_error"].mean())
    assert row["std"] == pytest.approx(here["one_error"].std(ddof=1))
    assert row["folds"] == 2
    printed = printed_results()["one_error", "HOMI", "yeast"]
    assert summary.loc["printed", "yeast", "HOMI", "one_error"]["mean"] == printed.mean
    expected = (row["mean"] - printed.mean) / max(row["std"], printed.std)
    assert gap(row, summary.loc["printed", "yeast", "HOMI", "one_error"]) == (
        pytest.approx(expected)
    )
    assert means_of(summary, "printed", "one_error").shape == (12, 11)
    assert marked("ML-LRC") == "ML-LRC†"


def test_every_printed_method_can_be_run():
    assert {method for _, method, _ in printed_results()} == set(METHODS)


def test_the_command(few_rows, file, tmp_path):
    call = CliRunner().invoke
    arguments = [str(file), "--results", str(tmp_path / "out")]
    first = call(app, ["bench", "run", *arguments, "--methods", "HOMI"])
    assert first.exit_code == 0, first.output
    assert "4 of 4 tasks to run" in first.output
    assert "clean  yeast  HOMI  fold 1" in first.output
    again = call(app, ["bench", "run", *arguments, "--methods", "HOMI"])
    assert "0 of 4 tasks to run" in again.output
    state = call(app, ["bench", "status", *arguments])
    assert "4 of 8 tasks are there" in state.output
    assert "ML-LRC" in state.output
    assert "2/4" in state.output
    wrong = call(app, ["bench", "run", *arguments, "--methods", "HOMY"])
    assert wrong.exit_code == 1
    assert "did you mean HOMI" in wrong.stderr


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_is_not_lost(sent, few_rows, file, tmp_path, monkeypatch):
    """Python drops it if it comes within a callback, as threadpoolctl has them."""
    task_result = compute.compute
    callback = ctypes.CFUNCTYPE(None)(lambda: os.kill(os.getpid(), sent))

    def interrupted(*arguments):
        callback()
        return task_result(*arguments)

    monkeypatch.setattr("homi.benchmark.runner.compute", interrupted)
    arguments = [str(file), "--results", str(tmp_path), "--methods", "HOMI"]
    result = CliRunner().invoke(app, ["bench", "run", *arguments])
    assert result.exit_code == 130
    assert result.output.endswith("run it again to go on.\n")
    assert len(list(tmp_path.rglob("*.json"))) == 1
