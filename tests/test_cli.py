"""`homi fit`, `predict`, `evaluate`, `cv`, `export`, `doctor`, from files to files."""

import csv
import json
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import typer
from sklearn.metrics import f1_score, precision_score, roc_auc_score
from typer.testing import CliRunner

from homi import HOMI, HOMICV
from homi.cli.app import app
from homi.datasets import Dataset, read, write
from homi.io import load_file, load_model, save
from homi.metrics import METRICS, PAPER_METRICS, hamming_loss
from homi.thresholds import TunedThresholds

COMMANDS = ["fit", "predict", "evaluate", "cv", "export", "doctor"]
FEATURES = ["a", "b", "c"]
TAGS = ["tag_x", "tag_y", "tag [z]"]
WORDS = {"tag_cat": "meow purr", "tag_dog": "bark fetch", "tag_car": "wheel road"}


def run(*arguments, code=0):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.output
    return result


def refused(*arguments):
    """The one sentence of an error."""
    result = run(*arguments, code=1)
    (line,) = [line for line in result.stderr.splitlines() if "Warning" not in line]
    assert line.startswith("Error: ")
    assert line.endswith((".", "'"))
    assert result.stdout == ""
    return line


def as_json(*arguments):
    return json.loads(run(*arguments, "--json").stdout)


def frame(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    colour = rng.choice(["red", "green", "blue"], n)
    scores = X @ np.random.default_rng(7).normal(size=(3, 3))
    scores[:, 0] += 2 * (colour == "red")
    table = pd.DataFrame(X, columns=FEATURES)
    table.insert(0, "id", [f"row {i}" for i in range(n)])
    table["colour"] = colour
    table[TAGS] = (scores > 0).astype(int)
    return table


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """A directory with files, and models that were fitted to them."""
    directory = tmp_path_factory.mktemp("model_cli")
    frame(80, 0).to_csv(directory / "train.csv", index=False)
    frame(40, 1).to_csv(directory / "test.csv", index=False)
    frame(40, 1).to_parquet(directory / "test.parquet")
    rng = np.random.default_rng(0)
    Y = rng.random((60, 3)) < 0.5
    some = [[w for w, y in zip(WORDS.values(), row, strict=True) if y] for row in Y]
    posts = pd.DataFrame({"body": [" ".join(["the", *texts]) for texts in some]})
    posts[list(WORDS)] = Y.astype(int)
    posts.to_csv(directory / "posts.csv", index=False)
    posts.to_parquet(directory / "posts.parquet")
    options = ["--drop", "id", "--quiet", "--paper", "--labels", "tag*"]
    options += ["--missing", "error"]
    run("fit", directory / "train.csv", *options, "-o", directory / "model.homi")
    run(
        *("fit", directory / "posts.csv", "--text", "body", "-l", "tag_*", "--paper"),
        *("-o", directory / "text.homi", "--quiet"),
    )
    return directory


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_teaches_with_an_example(command):
    text = run(command, "--help").output
    assert re.search(rf"Examples?:\s+homi {command}\b", text)


def test_help_fills_the_lines_of_the_terminal():
    command = typer.main.get_command(app).commands["fit"].imported
    assert "\n" not in command.help.replace("\n\n", "")


def test_the_help_names_all_commands():
    text = run("--help").output
    assert all(command in text for command in [*COMMANDS, "demo", "data", "bench"])


def test_fit_chooses_hyper_parameters(here, tmp_path):
    path = tmp_path / "chosen.homi"
    options = ["--labels", "tag*", "--drop", "id", "-o", path]
    found = as_json("fit", here / "train.csv", *options)
    assert found["model"] == "HOMICV"
    assert found["labels"] == TAGS
    assert (found["rows"], found["features"]) == (80, 6)
    assert found["bytes"] == path.stat().st_size
    model = load_model(path)
    assert isinstance(model, HOMICV)
    assert found["chosen"] == model.best_params_
    assert found["score"] == model.best_score_
    one_hot = ["colour=blue", "colour=green", "colour=red"]
    assert list(model.feature_names_in_) == FEATURES + one_hot
    assert list(model.label_names_) == TAGS


def test_linear_models_hold_no_row(here, tmp_path):
    options = [
        "--labels",
        "tag*",
        "--drop",
        "id",
        "--linear",
        "-o",
        tmp_path / "m.homi",
    ]
    run("fit", here / "train.csv", *options)
    model = load_model(tmp_path / "m.homi")
    tried = {params["kernel"] for params in model.cv_results_["params"]}
    assert tried == {None}
    assert "trees" not in model.search_report_["stage"]
    assert model.forest_ is None
    assert model.held_out_labels_["label"] == model.label_names_.tolist()


def test_the_papers_settings_are_those_of_the_library(here, tmp_path):
    """The command fits what the same lines of Python fit."""
    train, test = frame(80, 0), frame(40, 1)
    X, X_test = (
        pd.concat(
            [t[FEATURES], *(t["colour"] == c for c in sorted(set(t["colour"])))], axis=1
        )
        for t in (train, test)
    )
    model = HOMI().fit(X.to_numpy(float), train[TAGS].to_numpy())
    expected = model.decision_function(X_test.to_numpy(float))
    path = tmp_path / "tags.csv"
    text = run(
        "predict", here / "model.homi", here / "test.csv", "-o", path, "--scores"
    )
    assert f"{path} is written: 40 rows" in text.stdout
    found = pd.read_csv(path)
    assert list(found) == [*TAGS, *(f"score:{tag}" for tag in TAGS)]
    scores = found[[f"score:{tag}" for tag in TAGS]].to_numpy()
    np.testing.assert_allclose(scores, expected, atol=1e-10)
    np.testing.assert_array_equal(found[TAGS].to_numpy(), expected > 0)


def test_the_model_file_says_where_it_comes_from(here):
    found = load_file(here / "model.homi").provenance
    assert found["data"]["file"] == "train.csv"
    assert found["data"]["rows"] == 80
    assert len(found["data"]["sha256"]) == 64


def test_predictions_are_the_same_from_every_format(here, tmp_path):
    model, outputs = here / "model.homi", []
    for name in ("test.csv", "test.parquet"):
        path = tmp_path / f"{name}.csv"
        run("predict", model, here / name, "-o", path, "--scores", "--proba")
        outputs.append(path.read_text())
    assert outputs[0] == outputs[1]
    run("predict", model, here / "test.csv", "-o", tmp_path / "p.parquet", "--scores")
    table = pq.read_table(tmp_path / "p.parquet").to_pandas()
    # Not by pandas: before 3.0 it reads one number in three a last bit off.
    read_back = np.loadtxt(tmp_path / "test.csv.csv", delimiter=",", skiprows=1)
    np.testing.assert_array_equal(table, read_back[:, :6])
    run("predict", model, here / "test.csv", "-o", tmp_path / "p.tsv.gz", "--scores")
    packed = np.loadtxt(tmp_path / "p.tsv.gz", delimiter="\t", skiprows=1)
    np.testing.assert_array_equal(packed, table)


def test_predictions_on_stdout(here):
    text = run("predict", here / "model.homi", here / "test.csv", "--keep", "id").stdout
    rows = list(csv.reader(text.splitlines()))
    assert rows[0] == ["id", *TAGS]
    assert rows[1][0] == "row 0"
    assert len(rows) == 41


def test_predictions_for_programs(here):
    found = as_json(
        "predict", here / "model.homi", here / "test.csv", "--scores", "--proba"
    )
    assert found["labels"] == TAGS
    for row in found["rows"]:
        assert row["labels"] == [tag for tag in TAGS if row["scores"][tag] > 0]
        assert all(0 < p < 1 for p in row["probabilities"].values())


def test_columns_are_found_by_name(here, tmp_path):
    model, table = here / "model.homi", frame(40, 1)
    expected = run("predict", model, here / "test.csv", "--scores").stdout
    shuffled = tmp_path / "shuffled.csv"
    table[["tag_x", "c", "colour", "a", "b"]].to_csv(shuffled, index=False)
    assert run("predict", model, shuffled, "--scores").stdout == expected
    # A file of one colour only: words keep the columns of training.
    one = table.assign(extra=1, more="text")
    one.to_csv(tmp_path / "one.csv", index=False)
    result = run("predict", model, tmp_path / "one.csv", "--scores")
    assert result.stdout == expected
    assert "2 column(s)" in result.stderr
    assert "'extra', 'more'" in result.stderr
    quiet = run("predict", model, tmp_path / "one.csv", "--scores", "--quiet")
    assert quiet.stderr == ""
    assert quiet.stdout == expected


def test_words_keep_their_columns(here, tmp_path):
    table = frame(40, 1)
    red = table[table["colour"] == "red"]
    red.to_csv(tmp_path / "red.csv", index=False)
    every = run("predict", here / "model.homi", here / "test.csv", "--scores").stdout
    some = run("predict", here / "model.homi", tmp_path / "red.csv", "--scores").stdout
    lines = every.splitlines()
    assert some.splitlines() == [lines[0], *(lines[i + 1] for i in red.index)]


def test_columns_that_do_not_fit(here, tmp_path):
    model, table = here / "model.homi", frame(40, 1)

    def sentence(changed):
        changed.to_csv(tmp_path / "new.csv", index=False)
        return refused("predict", model, tmp_path / "new.csv")

    assert "lacks 2 of the 4 columns" in sentence(table.drop(columns=["a", "colour"]))
    assert "'a', 'colour'" in sentence(table.drop(columns=["a", "colour"]))
    assert "'green apple', which was not in" in sentence(
        table.replace("green", "green apple")
    )
    assert "1 value(s) are missing" in sentence(
        table.replace({"a": table["a"][3]}, np.nan)
    )
    assert "holds text" in sentence(table.assign(a="word"))
    assert "holds numbers" in sentence(table.assign(colour=3.5))


def test_missing_values_are_filled_as_in_training(tmp_path):
    train = frame(80, 0)
    train.loc[5, "a"] = np.nan
    train.loc[6, "colour"] = np.nan
    train.to_csv(tmp_path / "train.csv", index=False)
    options = ["--labels", "tag*", "--drop", "id", "--paper", "-o", tmp_path / "m.homi"]
    strict = [*options, "--missing", "error"]
    assert "missing" in refused("fit", tmp_path / "train.csv", *strict)
    said = "Missing values were imputed: 1 in 'a', 1 in 'colour'."
    assert said in run("fit", tmp_path / "train.csv", *options).stdout
    test = frame(40, 1)
    test.loc[0, "a"], test.loc[1, "colour"] = np.nan, "purple"
    test.to_csv(tmp_path / "gaps.csv", index=False)
    test.loc[0, "a"] = train["a"].mean()
    test.loc[1, "colour"] = train["colour"].mode()[0]
    test.to_csv(tmp_path / "filled.csv", index=False)
    found = [
        pd.read_csv(tmp_path / "out.csv")
        for name in ("gaps.csv", "filled.csv")
        if run(
            "predict",
            tmp_path / "m.homi",
            tmp_path / name,
            "--scores",
            "-o",
            tmp_path / "out.csv",
        )
    ]
    np.testing.assert_allclose(found[0], found[1], atol=1e-10)
    note = run("predict", tmp_path / "m.homi", tmp_path / "gaps.csv").stderr
    assert "unknown words were imputed: 1 in 'a', 1 in 'colour'." in note
    assert not run("predict", tmp_path / "m.homi", tmp_path / "filled.csv").stderr


def test_evaluate_measures_what_others_measure(here):
    found = as_json("evaluate", here / "model.homi", here / "test.csv")
    text = run("predict", here / "model.homi", here / "test.csv", "--scores").stdout
    rows = np.array([line.split(",") for line in text.splitlines()[1:]], dtype=float)
    labels, scores = rows[:, :3], rows[:, 3:]
    Y = frame(40, 1)[TAGS].to_numpy()
    assert set(found["metrics"]) == set(METRICS)
    assert found["metrics"]["hamming_loss"] == hamming_loss(Y, labels)
    for j, row in enumerate(found["labels"]):
        assert row["label"] == TAGS[j]
        y, p, s = Y[:, j], labels[:, j], scores[:, j]
        assert row["true_positives"] == np.sum((y == 1) & (p == 1))
        assert row["true_negatives"] == np.sum((y == 0) & (p == 0))
        assert row["false_positives"] + row["true_positives"] == p.sum()
        assert row["f1"] == pytest.approx(f1_score(y, p))
        assert row["precision"] == pytest.approx(precision_score(y, p))
        assert row["auc"] == pytest.approx(roc_auc_score(y, s))
        best = max(f1_score(y, s > t) for t in [*(s - 1e-9), s.max()])
        assert row["best_f1"] == pytest.approx(best)
        assert f1_score(y, s > row["best_threshold"]) == pytest.approx(best)


def test_evaluate_prints_tables(here):
    text = run("evaluate", here / "model.homi", here / "test.csv", "--top", "2").stdout
    assert all(metric.title in text for metric in METRICS.values())
    assert "2 most frequent of 3 labels" in text
    whole = run("evaluate", here / "model.homi", here / "test.csv").stdout
    assert all(tag in whole for tag in TAGS)
    short = run("evaluate", here / "model.homi", here / "test.csv", "--quiet").stdout
    assert "tag_x" not in short


def test_evaluate_needs_the_labels(here, tmp_path):
    frame(40, 1).drop(columns="tag_y").to_csv(tmp_path / "new.csv", index=False)
    text = refused("evaluate", here / "model.homi", tmp_path / "new.csv")
    assert "lacks 1 of the 3 labels of the model: 'tag_y'" in text


def test_cv_is_five_fits_by_hand(here):
    from sklearn.model_selection import KFold

    numbers = frame(80, 0)
    numbers[FEATURES + TAGS].to_csv(here / "numbers.csv", index=False)
    found = as_json("cv", here / "numbers.csv", "-l", "tag*", "--paper", "--seed", 3)
    X, Y = numbers[FEATURES].to_numpy(), numbers[TAGS].to_numpy()
    losses = []
    for train, test in KFold(5, shuffle=True, random_state=3).split(X):
        model = HOMI().fit(X[train], Y[train])
        losses.append(hamming_loss(Y[test], model.predict(X[test])))
    assert [fold["hamming_loss"] for fold in found["folds"]] == losses
    assert found["mean"]["hamming_loss"] == pytest.approx(np.mean(losses))
    assert found["std"]["hamming_loss"] == pytest.approx(np.std(losses, ddof=1))
    assert set(found["mean"]) == set(PAPER_METRICS)


def test_cv_prints_a_table(here):
    options = ["--text", "body", "-l", "tag_*", "--paper", "--folds", 3]
    text = run("cv", here / "posts.parquet", *options, "--all-metrics").stdout
    assert all(metric.title in text for metric in METRICS.values())
    assert "±" in text
    few = refused("cv", here / "posts.csv", *options[:-1], 61)
    assert "60 rows for 61 folds" in few


def test_texts(here):
    result = as_json("evaluate", here / "text.homi", here / "posts.parquet")
    assert result["metrics"]["hamming_loss"] == 0.0
    model = load_model(here / "text.homi")
    assert model.predict(["meow at the wheel"]).tolist() == [[1, 0, 1]]
    assert "no column 'body'" in refused(
        "predict", here / "text.homi", here / "test.csv"
    )
    found = as_json("predict", here / "text.homi", here / "posts.csv", "--keep", "body")
    assert len(found["rows"]) == 60


def test_tuned_thresholds(here, tmp_path):
    path = tmp_path / "tuned.homi"
    options = ["--tune", "macro_f1", "--strategy", "global", "--paper", "-o", path]
    text = run("fit", here / "train.csv", "-l", "tag*", "--drop", "id", *options).stdout
    assert "Cross-validated macro_f1" in text
    model = load_model(path)
    assert isinstance(model, TunedThresholds)
    assert list(model.label_names_) == list(model.estimator_.label_names_) == TAGS
    found = as_json("evaluate", path, here / "test.csv")
    assert 0 < found["metrics"]["macro_f1"] <= 1


@pytest.mark.parametrize("suffix", ["arff", "arff.xz", "libsvm", "npz", "tsv"])
def test_other_formats(suffix, here, tmp_path):
    table = frame(80, 0)
    X, Y = table[FEATURES].to_numpy(), table[TAGS].to_numpy(dtype=np.int8)
    path, model = tmp_path / f"rows.{suffix}", tmp_path / "model.homi"
    write(Dataset(X, Y, FEATURES, TAGS), path)
    labels = ["-l", "last 3"] if "arff" in suffix or suffix == "tsv" else []
    run("fit", path, *labels, "--paper", "-o", model)
    expected = hamming_loss(Y, HOMI().fit(X, Y).predict(X))
    found = as_json("evaluate", model, path)
    assert found["metrics"]["hamming_loss"] == expected
    assert read(path, *labels[1:]).label_names == TAGS


def test_libsvm_files_leave_out_zeros(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 5)) * (rng.random((50, 5)) < 0.6)
    lines = [
        f"{int(x[0] > 0)} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x) if v)
        for x in X
    ]
    (tmp_path / "train.svm").write_text("\n".join(lines))
    options = ["--paper", "-o", tmp_path / "m.homi"]
    run("fit", tmp_path / "train.svm", *options)
    # The last features, and a label, do not occur in these rows.
    (tmp_path / "new.svm").write_text("1 1:0.5 2:1\n1,7 1:2\n")
    found = run("evaluate", tmp_path / "m.homi", tmp_path / "new.svm", "--json")
    assert json.loads(found.stdout)["rows"] == 2
    assert "1 label(s)" in found.stderr
    assert "not measured: '7'" in found.stderr
    text = run("predict", tmp_path / "m.homi", tmp_path / "new.svm", "--scores").stdout
    model = load_model(tmp_path / "m.homi")
    rows = np.array([[0.5, 1, 0, 0, 0], [2, 0, 0, 0, 0]])
    scores = [[float(v) for v in line.split(",")[2:]] for line in text.splitlines()[1:]]
    np.testing.assert_allclose(scores, model.decision_function(rows), atol=1e-12)


def test_models_that_were_saved_in_python(here, tmp_path):
    table, path = frame(80, 0), tmp_path / "own.homi"
    save(HOMI().fit(table[FEATURES], table[TAGS]), path)
    named = run("predict", path, here / "test.csv", "--scores").stdout
    save(HOMI().fit(table[FEATURES].to_numpy(), table[TAGS].to_numpy()), path)
    frame(40, 1)[FEATURES].to_csv(tmp_path / "new.csv", index=False)
    unnamed = run("predict", path, tmp_path / "new.csv", "--scores").stdout
    assert named.splitlines()[1:] == unnamed.splitlines()[1:]
    assert "takes 3" in refused("predict", path, here / "test.csv")


def test_a_file_without_a_classifier(here, tmp_path):
    save(load_model(here / "text.homi")[0], tmp_path / "words.homi")
    text = refused("predict", tmp_path / "words.homi", here / "posts.csv")
    assert "holds no classifier" in text


def test_export(here, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    path = tmp_path / "model.onnx"
    found = as_json("export", here / "model.homi", "--onnx", path)
    assert found["labels"] == TAGS
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    rows = np.zeros((2, 6))
    scores = dict(zip(found["outputs"], session.run(None, {"X": rows}), strict=True))
    model = load_model(here / "model.homi")
    with pytest.warns(UserWarning, match="feature names"):
        expected = model.decision_function(rows)
    np.testing.assert_allclose(scores["scores"], expected, atol=1e-12)
    assert "texts has no ONNX form" in refused(
        "export", here / "text.homi", "--onnx", path
    )
    known = refused("export", here / "model.homi", "--onnx", path, "--known", "*")
    assert "homi predict --known" in known


def test_doctor_plans_a_fit(tmp_path):
    lines = ["a,b,tag_x,tag_y", *["1.5,2,0,1", "0.5,1,1,0"] * 20]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    given = ("doctor", "--plan", str(path), "--labels", "tag_*")
    found = as_json(*given)
    assert (found["rows"], found["features"], found["labels"]) == (40, 2, 2)
    assert 0 < found["seconds"] < found["seconds_with_trees"] < 60
    text = run(*given).stdout
    assert "40 rows, 2 features, 2 labels, 80 values" in text
    assert "Route: all 40 rows at once" in text
    assert "--plan" in run("doctor", "--labels", "tag_*", code=1).stderr


def test_doctor(monkeypatch):
    found = as_json("doctor")
    assert found["packages"]["numpy"] == np.__version__
    assert found["self_test"]["problem"] is None
    text = run("doctor").stdout
    assert "Self-test: passed" in text
    assert run("doctor", "--quiet").stdout == ""
    monkeypatch.setattr(HOMI, "predict", lambda self, X: np.zeros((len(X), 3)))
    result = run("doctor", code=1)
    assert "Self-test: FAILED" in result.stdout
    assert "Error: the self-test failed" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["fit", "no.csv"], "there is no file"),
        (["fit", "train.csv"], "pass --labels"),
        (["fit", "train.csv", "-l", "nothing*"], "matches none of the 8 columns"),
        (["fit", "train.csv", "-l", "tag*", "--drop", "no"], "no column fits 'no'"),
        (["fit", "train.csv", "-l", "a", "--drop", "id"], "must be 0 or 1"),
        (["fit", "model.homi", "-l", "tag*"], "not a file of a known format"),
        (["predict", "train.csv", "train.csv"], "is not a model file"),
        (["predict", "no.homi", "train.csv"], "no such file"),
        (["predict", "model.homi", "no.csv"], "there is no file"),
        (["predict", "model.homi", "test.csv", "--text", "id"], "omit --text"),
        (["predict", "model.homi", "test.csv", "--keep", "x"], "no column 'x'"),
        (["evaluate", "model.homi", "posts.csv"], "labels of the model"),
    ],
)
def test_errors_are_one_sentence(arguments, reason, here):
    command, *rest = arguments
    named = [here / name if name.count(".") == 1 else name for name in rest]
    assert reason in refused(command, *named)


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit"],
        ["fit", "train.csv", "--tune", "accuracy"],
        ["fit", "train.csv", "-l", "tag*", "-o", "no/such/directory/model.homi"],
        ["fit", "train.csv", "--paper", "--time-budget", "3"],
        ["predict", "model.homi", "test.csv", "-o", "tags.docx"],
        ["cv", "train.csv", "--folds", "1"],
        ["export", "model.homi"],
        ["nonsense"],
    ],
)
def test_wrong_usage_is_exit_code_2(arguments, here, monkeypatch):
    monkeypatch.chdir(here)
    before = sorted(here.iterdir())
    run(*arguments, code=2)
    assert sorted(here.iterdir()) == before


def test_progress_is_for_terminals(here, tmp_path, monkeypatch):
    command = ["fit", here / "train.csv", "-l", "tag*", "--drop", "id", "--paper"]
    command += ["-o", tmp_path / "model.homi"]
    assert run(*command).stderr == ""
    monkeypatch.setenv("FORCE_COLOR", "1")  # what rich takes for a terminal
    assert "Fitting" in run(*command).stderr
    assert run(*command, "--quiet").output == ""


def test_debug_gives_the_traceback(here):
    result = CliRunner().invoke(app, ["fit", str(here / "no.csv"), "--debug"])
    assert isinstance(result.exception, FileNotFoundError)


def test_a_bug_is_a_sentence_too(here, monkeypatch):
    monkeypatch.setattr("homi.cli.recipe.make", lambda *_: {}["oops"])
    text = refused("fit", here / "train.csv", "-l", "tag*", "--drop", "id")
    assert "--debug" in text


def test_what_a_failed_run_leaves(here, tmp_path):
    target = tmp_path / "tags.csv"
    target.write_text("kept")
    options = ["-o", target, "--keep", "tag_x"]
    assert "two columns" in refused(
        "predict", here / "model.homi", here / "test.csv", *options
    )
    assert target.read_text() == "kept"
    assert len(list(tmp_path.iterdir())) == 1


def test_ctrl_c_is_one_sentence(here, tmp_path):
    options = ["-l", "tag*", "--drop", "id", "-o", "model.homi"]
    command = [sys.executable, "-c", _SLOW_FIT, "fit", here / "train.csv", *options]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    os.kill(process.pid, signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert stdout == ""
    assert stderr.splitlines() == ["Stopped. No incomplete file was written."]
    assert not list(tmp_path.iterdir())


#: The program itself, with a fit that says when it begins and takes its time.
_SLOW_FIT = """
import time
import homi.__main__ as program
import homi.cli, homi.cli.recipe as command
command.make = lambda *given: (print("ready", flush=True), time.sleep(60))
program.main()
"""


@pytest.mark.parametrize("command", ["fit", "cv"])
def test_dropping_every_column_leaves_no_feature(command, here):
    text = refused(command, here / "train.csv", "-l", "tag*", "--drop", "*")
    assert "train.csv: no feature column is left" in text
    assert "--drop" in text
    numbers = ["-l", "tag*", "--drop", "[abci]*"]  # the labels stay
    assert "no feature column is left" in refused(command, here / "train.csv", *numbers)


@pytest.mark.parametrize("command", ["fit", "cv"])
def test_a_label_is_no_text(command, here):
    options = ["-l", "tag_*", "--text", "body", "--text", "tag_dog", "--paper"]
    text = refused(command, here / "posts.csv", *options)
    assert "posts.csv: column 'tag_dog' is a label" in text
    assert "--text" in text


@pytest.mark.parametrize("command", ["fit", "cv"])
@pytest.mark.parametrize("column", ["a", "colour"])
def test_a_missing_value_is_told_with_its_file(command, column, tmp_path):
    table = frame(80, 0)
    table.loc[5, column] = np.nan
    table.to_csv(tmp_path / "gaps.csv", index=False)
    options = ["-l", "tag*", "--drop", "id", "--paper", "--missing", "error"]
    text = refused(command, tmp_path / "gaps.csv", *options)
    assert re.search(rf"gaps\.csv: 1 value\(s\) .* missing.* column '{column}'", text)


def all_commands(group, *names):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from all_commands(command, *names, name)
        else:
            yield " ".join([*names, name])


EVERY = sorted(all_commands(typer.main.get_command(app)))


@pytest.mark.parametrize("command", EVERY)
def test_every_command_has_debug(command):
    assert "--debug" in run(*command.split(), "--help").output


@pytest.mark.parametrize(
    "words", [["data", "info", "nothing"], ["bench", "status", "no.toml"]]
)
def test_debug_gives_the_traceback_of_every_command(words):
    assert run(*words, code=1).stderr.startswith("Error: ")
    result = CliRunner().invoke(app, [*words, "--debug"])
    assert isinstance(result.exception, ValueError | OSError)


def test_a_bug_is_one_sentence_in_every_command(monkeypatch):
    monkeypatch.setattr("homi.datasets.registry.registry", lambda: {}["oops"])
    text = refused("data", "list")
    assert "bug in homi" in text
    assert "--debug" in text


@pytest.mark.parametrize("options", ["--linear", "--linear --text body", "--paper"])
def test_a_terminal_is_told_how_long_a_fit_may_take(tmp_path, options):
    cells = ((j % 7, j % 5, int(j % 7 > 3), int(j % 5 > 2)) for j in range(60))
    lines = [f"{a},{b},{x},{y},word{b}" for a, b, x, y in cells]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["a,b,tag_x,tag_y,body", *lines, ""]), encoding="utf-8")
    words = ["fit", str(path), "--labels", "tag_*", *options.split()]
    words += ["--drop", "body"] if "--text" not in options else []
    words += ["-o", str(tmp_path / "m.homi")]
    shown = CliRunner().invoke(app, words, env={"FORCE_COLOR": "1", "COLUMNS": "200"})
    assert shown.exit_code == 0, shown.output
    text = re.sub(r"\x1b\[[\d;?]*\w", "", shown.stderr)
    assert "Fitting … " in text
    assert ("0 s of about 1 s" in text) is (options != "--paper")
    assert "Fitting" not in CliRunner().invoke(app, words).stderr
