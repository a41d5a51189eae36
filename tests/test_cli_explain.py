"""``homi explain``: what it writes and prints, and with which exit code."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from conftest import random_rows
from homi import HOMI, HOMICV
from homi.cli.app import app
from homi.datasets import Dataset, write
from homi.io import save
from test_explorer import page_facts, page_parts


@pytest.fixture(scope="module")
def rows():
    return random_rows(seed=1, n=60, m=5, q=4)


@pytest.fixture
def run(tmp_path, monkeypatch, rows):
    monkeypatch.chdir(tmp_path)
    X, Y = rows
    features = [f"f{k}" for k in range(5)]
    labels = [f"tag_{k}" for k in range(4)]
    write(Dataset(X, Y.astype(np.int8), features, labels), "train.csv")
    lines = [",".join(reversed(features))]
    lines += [",".join(map(repr, map(float, row[::-1]))) for row in X]
    (tmp_path / "new.csv").write_text("\n".join(lines))
    (tmp_path / "other.csv").write_text("f0,f1\n1,2\n")
    start = ["explain", "--data", "train.csv", "--labels", "tag_*"]
    return lambda *words: CliRunner().invoke(app, [*start, *words])


def test_the_command_explains_a_row_of_a_file_without_labels(run, rows):
    result = run("--row", "17", "new.csv", "--json", "-o", "page.html", "--lam", "2")
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    scores = HOMI(2.0).fit(*rows).decision_function(rows[0])[17] + 0.5
    assert {w["label"]: w["score"] for w in said["row"]["why"]} == pytest.approx(
        {str(j): score for j, score in enumerate(scores)}
    )
    for why in said["row"]["why"]:
        total = why["start"] + sum(step["adds"] for step in why["steps"])
        assert total == pytest.approx(why["score"])
    with open("page.html", encoding="utf-8") as file:
        page = page_facts(file.read())
    assert [row["name"] for row in page["rows"]] == ["row 17 of new.csv"]


def test_without_a_model_homicv_is_fitted(run, rows):
    result = run("--row", "17", "new.csv", "--json")
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)["row"]["why"]
    scores = HOMICV().fit(*rows).decision_function(rows[0])[17]
    assert {w["label"]: w["score"] for w in said} == pytest.approx(
        {str(j): score for j, score in enumerate(scores)}
    )


def test_the_command_says_why_on_the_terminal(run):
    result = run("--row", "3", "--hold-out", "0.25")
    assert result.exit_code == 0, result.output
    assert "the mean row" in result.stdout
    assert "Labels that the row has:" in result.stdout
    assert "Page:" not in result.stdout
    assert not Path("labels.html").exists()
    assert run("--quiet").stdout == ""


def test_rows_count_in_all_of_the_data_though_some_are_held_out(run, rows):
    for row in (3, 30, 59):
        said = json.loads(run("--row", str(row), "--hold-out", "0.5", "--json").stdout)
        reasons = {
            step["because"] for why in said["row"]["why"] for step in why["steps"]
        }
        assert {f"f{k} = {rows[0][row, k]:g}" for k in range(5)} <= reasons


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--row", "60"], "there is no row 60 in the data: it has 60"),
        (["--row", "0", "other.csv"], "lacks 3 of the features"),
        (["--row", "0", "nowhere.csv"], "there is no file nowhere.csv"),
    ],
)
def test_the_command_ends_with_one_sentence(run, words, said):
    result = run(*words)
    assert result.exit_code == 1
    assert said in result.stderr


@pytest.fixture
def saved(tmp_path, monkeypatch, rows):
    """A model file, the rows it was fitted to, and new ones without labels."""
    monkeypatch.chdir(tmp_path)
    X, Y = rows
    names = [f"f{k}" for k in range(5)]
    frame = pd.DataFrame(X, columns=names)
    labels = pd.DataFrame(Y.astype(int), columns=[f"tag_{k}" for k in range(4)])
    pd.concat([frame, labels], axis=1).to_csv("train.csv", index=False)
    frame[names[::-1]].to_csv("new.csv", index=False)
    fit = ["fit", "train.csv", "--labels", "tag_*", "--paper", "-o", "model.homi"]
    assert CliRunner().invoke(app, fit).exit_code == 0
    return lambda *words: CliRunner().invoke(app, ["explain", *words])


def test_a_model_file_is_explained(saved):
    result = saved("model.homi", "-o", "page.html")
    assert result.exit_code == 0, result.output
    page = page_facts(Path("page.html").read_text(encoding="utf-8"))
    assert page["names"] == ["0", "1", "2", "3"]
    result = saved("model.homi", "--data", "train.csv", "-o", "page.html")
    assert result.exit_code == 0, result.output
    beside = page_facts(Path("page.html").read_text(encoding="utf-8"))
    assert len(beside["rows"]) > len(page["rows"])


def test_a_row_of_another_file_by_a_model_file(saved, rows):
    result = saved("model.homi", "--row", "17", "new.csv", "--json")
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    scores = HOMI().fit(*rows).decision_function(rows[0])[17] + 0.5
    assert {w["label"]: w["score"] for w in said["row"]["why"]} == pytest.approx(
        {str(j): score for j, score in enumerate(scores)}
    )
    assert said["row"]["name"] == "row 17 of new.csv"


def test_a_model_of_texts_names_its_words(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = ["rain and wind", "sun and sand", "rain on sand", "wind of the sun"] * 10
    frame = pd.DataFrame({"body": texts})
    frame["tag_wet"] = frame["body"].str.contains("rain").astype(int)
    frame["tag_dry"] = frame["body"].str.contains("sand").astype(int)
    frame.to_csv("posts.csv", index=False)
    fit = ["fit", "posts.csv", "--text", "body", "--labels", "tag_*", "--paper"]
    result = CliRunner().invoke(app, [*fit, "-o", "model.homi"])
    assert result.exit_code == 0, result.output
    words = ["explain", "model.homi", "--row", "0", "posts.csv", "--json"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    why = json.loads(result.stdout)["row"]["why"]
    assert any("rain" in step["because"] for step in why[0]["steps"])
    frame["id"] = range(40)
    frame["url"] = [f"https://e.org/{k}" for k in range(40)]
    frame.to_csv("posts.csv", index=False)
    words = ["explain", "model.homi", "--data", "posts.csv", "-o", "page.html"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    row = page_facts(Path("page.html").read_text(encoding="utf-8"))["rows"][2]
    assert row["name"] == "id 2"
    assert row["text"] == "https://e.org/2 · rain on sand"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["model.homi", "--row", "3"], "--row 3 of what?"),
        (["model.homi", "--row", "60", "new.csv"], "there is no row 60 in new.csv"),
        (["nowhere.homi"], "nowhere.homi"),
        (["new.csv", "train.csv"], "new.csv is no model"),
    ],
)
def test_a_model_file_ends_with_one_sentence(saved, words, said):
    result = saved(*words)
    assert result.exit_code == 1
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


def test_two_model_files_are_compared(saved, rows):
    table = pd.read_csv("train.csv")
    X, Y = table.filter(like="f"), table.filter(like="tag_")
    save(HOMI(50.0).fit(X, Y), "other.homi")
    words = ["model.homi", "other.homi"]
    result = saved(*words, "--data", "train.csv", "-o", "page.html")
    assert result.exit_code == 0, result.output
    found = page_parts(Path("page.html").read_text(encoding="utf-8"))["models"]
    one, other = (HOMI(lam).fit(*rows).predict(rows[0]) for lam in (1.0, 50.0))
    assert found["models"] == words
    assert found["first"] == (one > other).sum(axis=0).tolist()
    assert found["second"] == (one < other).sum(axis=0).tolist()
    result = saved(*words)
    assert result.exit_code == 1
    assert "are compared on rows; pass --data" in result.stderr


def test_an_audit_is_shown_and_what_a_page_decides_is_applied(saved):
    words = ["audit", "train.csv", "--labels", "tag_*", "--linear"]
    result = CliRunner().invoke(app, [*words, "-o", "audit.csv"])
    assert result.exit_code == 0, result.output
    about = ["--data", "train.csv", "--audit", "audit.csv", "-o", "page.html"]
    result = saved("model.homi", *about)
    assert result.exit_code == 0, result.output
    page = page_parts(Path("page.html").read_text(encoding="utf-8"))
    audited = pd.read_csv("audit.csv")
    listed = [line[:3] for line in page["audit"]["listed"]]
    place = {int(name): j for j, name in enumerate(page["labels"]["names"])}
    first = audited.head(len(listed))
    labels = first["label"].map(place)
    assert listed == np.column_stack([first["row"], labels, first["given"]]).tolist()
    # As the page writes it: the first is accepted, the second kept.
    first["decision"] = ""
    first["decision"] = first["decision"].astype(object)
    first.loc[0, "decision"] = str(1 - first.loc[0, "given"])
    first.loc[1, "decision"] = str(first.loc[1, "given"])
    first.to_csv("decisions.csv", index=False)
    apply = [*words[:4], "--apply", "decisions.csv", "-o", "corrected.csv"]
    result = CliRunner().invoke(app, apply)
    assert result.exit_code == 0, result.output
    before, after = pd.read_csv("train.csv"), pd.read_csv("corrected.csv")
    changed = np.argwhere((before != after).to_numpy())
    row, label = first.loc[0, ["row", "label"]]
    assert changed.tolist() == [[row, before.columns.get_loc(f"tag_{label}")]]


def test_ids_and_links_of_a_file_are_shown(saved):
    table = pd.read_csv("train.csv")
    table["url"] = [f"https://e.org/{k}" for k in range(len(table))]
    table.to_csv("train.csv", index=False)
    result = saved("model.homi", "--data", "train.csv", "-o", "page.html")
    assert result.exit_code == 0, result.output
    page = page_facts(Path("page.html").read_text(encoding="utf-8"))
    assert all(r["text"] == f"https://e.org/{r['index']}" for r in page["rows"])
