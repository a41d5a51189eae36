"""Command lines that make no sense end with one sentence, or work."""

import json
import os
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from homi import HOMI
from homi.cli.app import app
from homi.explorer import explain
from homi.plots import draw_correlation
from test_explorer import page_facts

HUGE = "1e308"


def run(*words):
    return CliRunner().invoke(app, list(map(str, words)))


def done(*words):
    result = run(*words)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    directory = tmp_path_factory.mktemp("hostile")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    table = pd.DataFrame(X, columns=list("abc"))
    table[["tag_x", "tag_y"]] = (X[:, :2] > 0).astype(int)
    table.to_csv(directory / "rows.csv", index=False)
    table[:0].to_csv(directory / "no_rows.csv", index=False)
    table[["a", "b", "c"]] = 1.7e308
    table[:3].to_csv(directory / "huge.csv", index=False)
    (directory / "empty.csv").write_bytes(b"")
    (directory / "bytes.csv").write_bytes(b"\xff\xfe\x00")
    (directory / "folder.csv").mkdir()
    fit = ["fit", directory / "rows.csv", "-l", "tag_*", "-q", "--linear", "-o"]
    done(*fit, directory / "model.homi")
    return directory


FIT = ["fit", "rows.csv", "-l", "tag_*", "-o", "out.homi"]
EXPLAIN = ["explain", "-o", "out.html"]
ROWS = ["explain", "model.homi", "rows.csv", "-o", "out.html"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["demo", "--folds", "5000"], "2417 rows for 5000 folds"),
        (["demo", "--output", "rows.csv"], "rows.csv is a file; name a directory"),
        (["demo", "--output", "rows.csv/x"], "not a directory"),
        ([*EXPLAIN, "--gamma", HUGE], "--gamma 1e+308 is too large"),
        ([*EXPLAIN, "--lam", HUGE], "--lam 1e+308 is too large"),
        ([*EXPLAIN, "--beta", "inf"], "--beta inf is too large"),
        ([*EXPLAIN, "--beta", "nan"], "'beta' parameter"),
        ([*EXPLAIN, "--data", ""], "no data set is named ''"),
        ([*EXPLAIN, "rows.csv"], "rows.csv is no model file"),
        ([*EXPLAIN, ""], ". is no model file"),
        (ROWS, "rows.csv is given without --row"),
        ([*ROWS, "rows.csv"], "model.homi is a model"),
        (["explain", "model.homi", "no_rows.csv", "--row", "0"], "has no rows"),
        (["explain", "model.homi", "huge.csv", "--row", "0"], "is out of range"),
        (["explain", "model.homi", "--data", "huge.csv"], "is out of range"),
        (["predict", "model.homi", "huge.csv"], "is out of range"),
        (["predict", "model.homi", "no_rows.csv"], "no_rows.csv has no rows"),
        (["predict", "model.homi", "empty.csv"], "is empty"),
        (["predict", "model.homi", "bytes.csv"], "bytes.csv"),
        (["predict", "model.homi", "folder.csv"], "folder.csv"),
        (["predict", "rows.csv", "model.homi"], "rows.csv is not a model file"),
        (["predict", "", "rows.csv"], "name a model file"),
        (["predict", "model.homi", "rows.csv", "-o", f"{'a' * 300}.csv"], "too long"),
        (["evaluate", "model.homi", "no_rows.csv"], "no_rows.csv has no rows"),
        (["evaluate", "model.homi", "huge.csv"], "is out of range"),
        (["cv", "rows.csv", "-l", "tag_*", "-k", "61"], "60 rows for 61 folds"),
        (["export", "model.homi", "--onnx", ""], "is a directory"),
        ([*FIT, "--drop", ""], "no column fits ''"),
        ([*FIT, "--text", ""], "no column ''"),
        ([*FIT[:-1], ""], "is a directory"),
        (["bench", "report", "rows.csv"], "rows.csv"),
        (["data", "list", "--directory", "rows.csv"], "is not a directory"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # as for users
def test_one_sentence(here, monkeypatch, words, said):
    monkeypatch.chdir(here)
    result = run(*words)
    assert result.exit_code == 1, result.output
    (line,) = result.stderr.splitlines()
    assert line.startswith("Error: ")
    assert said in line
    assert "bug in homi" not in line


refused_by_typer = pytest.mark.xfail(
    tuple(map(int, typer.__version__.split(".")[:2])) < (0, 29),
    reason="ranges of typer before 0.29 take NaN; the fit refuses it, with code 1",
)


@pytest.mark.parametrize(
    "words",
    [
        ["demo", "--seed", "-1"],
        ["demo", "--seed", 2**32],
        ["demo", "--folds", "0"],
        [*FIT, "--seed", "-1"],
        [*FIT, "--seed", 2**32],
        [*FIT, "--time-budget", "nan"],
        [*EXPLAIN, "--seed", "-1"],
        pytest.param([*EXPLAIN, "--hold-out", "nan"], marks=refused_by_typer),
        pytest.param([*EXPLAIN, "--gamma", "nan"], marks=refused_by_typer),
        [*ROWS, "--row", "-1"],
    ],
)
def test_wrong_usage(here, monkeypatch, words):
    monkeypatch.chdir(here)
    result = run(*words)
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)


def test_options_of_a_fit_are_told_to_change_nothing_of_a_model(here, tmp_path):
    words = ["explain", here / "model.homi", "-o", tmp_path / "page.html"]
    result = run(*words, "--lam", "3", "--hold-out", "0.2")
    assert result.exit_code == 0
    assert "fitted already, so --hold-out, --lam change nothing" in result.stderr
    assert "Note" not in run(*words).stderr


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are UTF-8 there")
def test_names_of_files_that_are_not_utf8(here, tmp_path):
    strange = os.fsdecode(bytes(tmp_path) + b"/m\xff")
    model, rows, page = (f"{strange}.{end}" for end in ("homi", "csv", "html"))
    table = (here / "rows.csv").read_bytes()
    with open(rows, "wb") as file:
        file.write(table)
    done("fit", rows, "-l", "tag_*", "--paper", "-o", model)
    done("explain", model, rows, "--row", "0", "-o", page)
    done("predict", model, rows, "-o", f"{strange}2.csv")
    with open(page, encoding="utf-8") as file:
        assert page_facts(file.read())["rows"][0]["name"] == "row 0 of m?.csv"


def test_weights_that_are_not_finite_are_not_explained():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    model = HOMI(n_neighbors=2).fit(X, X > 0)
    model.feature_weights_[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN or infinite weights"):
        explain(model)


#: `homi evaluate` and `homi predict`, one after the other.
BOTH = """
import sys
from homi.__main__ import main
files = sys.argv[1:]
for command in ("evaluate", "predict"):
    sys.argv = ["homi", command, *files]
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise
    print("---", flush=True) if command == "evaluate" else None
"""


def test_a_terminal_that_knows_few_letters(here, tmp_path):
    table = pd.read_csv(here / "rows.csv").rename(columns={"tag_x": "tag_ä→"})
    table.to_csv(tmp_path / "rows.csv", index=False)
    model = tmp_path / "model.homi"
    done("fit", tmp_path / "rows.csv", "-l", "tag_*", "--paper", "-o", model)
    few = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    command = [sys.executable, "-c", BOTH, model, tmp_path / "rows.csv"]
    found = subprocess.run(command, env=few, capture_output=True, check=False)
    assert found.returncode == 0, found.stderr
    tables, rows = found.stdout.split(b"---\n")
    assert rb"\xe4\u2192" in tables
    assert rows.decode("utf-8").startswith("ä→,y\n")


# Names


NASTY = [
    "tag_</script><script>alert(1)</script>",
    "tag_javascript:alert(1)",
    "tag_\u2028\u2029'\" onload=x",
    "tag_[/]",
    "tag_\\[b]",
    "tag_\x1b[31m",
    "tag_${title}",
]
SHOWN = [name.removeprefix("tag_") for name in NASTY]
FEATURES = ["<img src=x onerror=alert(1)>", "[red]", "\\[x", "-->"]


class Elements(HTMLParser):
    """The elements of a page and their attributes."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def nasty(tmp_path_factory):
    directory = tmp_path_factory.mktemp("<b onclick=x>")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    table = pd.DataFrame(X, columns=FEATURES)
    table[NASTY] = (X @ rng.normal(size=(4, len(NASTY))) > 0).astype(int)
    rows, model = directory / "<i onload=x>.csv", directory / "model.homi"
    table.to_csv(rows, index=False)
    done("fit", rows, "-l", "tag_*", "--paper", "-o", model)
    return model, rows


def test_names_are_text_on_the_page(nasty, tmp_path):
    model, rows = nasty
    page = tmp_path / "page.html"
    done("explain", model, rows, "--row", "0", "--data", rows, "-o", page)
    text = page.read_text(encoding="utf-8")
    elements = Elements(text).found
    parts = [a for tag, a in elements if tag == "script" and "id" in a]
    assert [tag for tag, _ in elements].count("script") == len(parts) + 1
    assert not {"img", "i", "b"} & {tag for tag, _ in elements}
    for _, attributes in elements:
        assert not any(name.startswith("on") for name in attributes)
        assert attributes.get("href", "#").startswith(("#", "data:,"))
    assert page_facts(text)["names"] == SHOWN
    assert page_facts(text)["rows"][0]["name"] == "row 0 of <i onload=x>.csv"


def test_names_are_text_on_the_terminal(nasty, tmp_path):
    model, rows = nasty
    shown = done("evaluate", model, rows)
    shown += done("explain", model, rows, "--row", "0", "-o", tmp_path / "page.html")
    assert "\x1b" not in shown
    for name in (" [/]", r" \[b]", r" \x1b[31m", "[red] = ", r"\[x = "):
        assert name in shown
    found = json.loads(done("predict", model, rows, "--json"))
    assert found["labels"] == SHOWN


def test_dollars_in_a_picture_are_no_mathematics(tmp_path):
    names = ["$\\frac$", "a $ b"]
    draw_correlation(np.array([[1.0, 0.5], [0.2, 1.0]]), names, tmp_path / "b.png")
    assert (tmp_path / "b.png").stat().st_size > 1000
