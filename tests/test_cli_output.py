"""What `-o` may replace: its own kind of file, and never an input."""

import os
import socket
import stat

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from homi.cli.app import app

TAGS = ["tag_x", "tag_y"]


def run(*words, code=0):
    result = CliRunner().invoke(app, list(map(str, words)))
    assert result.exit_code == code, result.output
    return result


def refused(*words):
    """The one sentence of an error."""
    result = run(*words, code=1)
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    return line


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    directory = tmp_path_factory.mktemp("outputs")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    table = pd.DataFrame(X, columns=list("abc"))
    table[TAGS] = (X[:, :2] > 0).astype(int)
    table.to_csv(directory / "rows.csv", index=False)
    fit = ["fit", directory / "rows.csv", "-l", "tag_*", "--paper", "-q"]
    run(*fit, "-o", directory / "model.homi")
    return directory


@pytest.fixture
def here(made, tmp_path, monkeypatch):
    """Fresh copies: a test that fails must not take the files of the others along."""
    monkeypatch.chdir(tmp_path)
    for name in ("rows.csv", "model.homi"):
        (tmp_path / name).write_bytes((made / name).read_bytes())
    (tmp_path / "model.csv").write_bytes((made / "model.homi").read_bytes())
    return tmp_path


def commands(model="model.homi", rows="rows.csv"):
    """Each command with an output, up to the name of the output."""
    return {
        "fit": ["fit", rows, "-l", "tag_*", "--paper", "-o"],
        "predict": ["predict", model, rows, "-o"],
        "explain a model": ["explain", model, "-o"],
        "explain a row": ["explain", model, rows, "--row", "3", "-o"],
        "explain data": ["explain", "--data", rows, "--labels", "tag_*", "-o"],
        "export": ["export", model, "--onnx"],
    }


#: A name of an output for each command, and the inputs that it reads.
OUTPUT = dict.fromkeys(commands(), "new.html")
OUTPUT |= {"fit": "new.homi", "predict": "new.csv", "export": "new.onnx"}
READS = {
    "fit": ["rows.csv"],
    "predict": ["rows.csv", "model.csv"],
    "explain a model": ["model.homi"],
    "explain a row": ["rows.csv", "model.homi"],
    "explain data": ["rows.csv"],
    "export": ["model.homi"],
}
PAIRS = [(name, given) for name, inputs in READS.items() for given in inputs]


@pytest.mark.parametrize("spelling", ["same", "other", "symlink", "hard link"])
@pytest.mark.parametrize(("name", "given"), PAIRS)
def test_an_input_is_never_the_output(here, name, given, spelling):
    before = (here / given).read_bytes()
    output = here / f"again{os.path.splitext(given)[1]}"
    if spelling == "same":
        output = given
    elif spelling == "other":
        output = f"./../{here.name}/{given}"
    elif spelling == "symlink":
        output.symlink_to(given)
    else:
        os.link(given, output)
    model = given if given.startswith("model") else "model.homi"
    words = [*commands(model)[name], output]
    assert "is the input" in refused(*words)
    assert "is the input" in refused(*words, "--force")
    assert (here / given).read_bytes() == before


def test_the_file_that_names_the_labels_is_an_input(here):
    text = (
        "<labels xmlns='http://mulan.sourceforge.net/labels'>"
        "<label name='tag_x'/><label name='tag_y'/></labels>"
    )
    (here / "names.xml").write_text(text)
    words = ["fit", "rows.csv", "-l", "names.xml", "--paper", "--force", "-o"]
    assert "is the input names.xml" in refused(*words, "names.xml")
    words = ["explain", "--data", "rows.csv", "--labels", "names.xml", "--force", "-o"]
    assert "is the input names.xml" in refused(*words, "names.xml")
    assert (here / "names.xml").read_text() == text


@pytest.mark.parametrize("name", commands())
def test_what_is_no_regular_file_stays_what_it_is(here, name):
    suffix = os.path.splitext(OUTPUT[name])[1]
    (here / f"directory{suffix}").mkdir()
    os.mkfifo(here / f"pipe{suffix}")
    (here / f"link{suffix}").symlink_to(f"pipe{suffix}")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(f"socket{suffix}")
        for kind, said in [
            ("directory", "is a directory"),
            ("pipe", "is a named pipe"),
            ("link", "is a named pipe"),
            ("socket", "is a socket"),
        ]:
            words = [*commands()[name], f"{kind}{suffix}"]
            assert said in refused(*words)
            assert said in refused(*words, "--force")
    assert stat.S_ISFIFO((here / f"pipe{suffix}").lstat().st_mode)
    assert (here / f"link{suffix}").is_symlink()


@pytest.mark.parametrize("name", commands())
def test_a_file_of_another_kind_needs_force(here, name):
    output = here / OUTPUT[name]
    words = [*commands()[name], output]
    run(*words)
    again = output.read_bytes()
    run(*words)  # onto its own earlier output
    for precious in (b"\x00\x01 something else", (here / "model.homi").read_bytes()):
        if name == "fit" and precious.endswith((here / "model.homi").read_bytes()):
            continue
        output.write_bytes(precious)
        assert "--force to replace it" in refused(*words)
        assert output.read_bytes() == precious
    run(*words, "--force")
    assert len(output.read_bytes()) == pytest.approx(len(again), rel=0.02)
    output.write_bytes(b"")
    run(*words)  # nothing is lost of an empty file


@pytest.mark.parametrize("suffix", [".tsv", ".parquet", ".csv.gz", ".csv.xz"])
def test_tables_are_replaced_by_tables_of_the_same_format(here, suffix):
    words = ["predict", "model.homi", "rows.csv", "-o", f"tags{suffix}"]
    run(*words)
    run(*words)
    (here / f"tags{suffix}").write_bytes(b"\x89PNG\0\0")
    assert "--force to replace it" in refused(*words)


def test_letters_cut_at_the_end_of_what_is_looked_at_are_text(here):
    (here / "tags.csv").write_text("a" * 4095 + "ä" * 10, encoding="utf-8")
    run("predict", "model.homi", "rows.csv", "-o", "tags.csv")


def test_a_page_does_not_replace_a_page_of_somebody_else(here):
    (here / "labels.html").write_text("<!DOCTYPE html>\n<title>Mine</title>")
    assert "is not a page of homi" in refused("explain", "model.homi")


def test_a_link_to_a_directory_that_is_not_there(here):
    (here / "model2.homi").symlink_to("nowhere/model.homi")
    result = run(*commands()["fit"], "model2.homi", code=2)
    assert "there is no directory" in " ".join(result.stderr.split())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_that_cannot_be_written_to_is_seen_first(here):
    (here / "closed").mkdir(mode=0o500)
    line = refused(*commands()["fit"], "closed/model.homi")
    assert "permission denied" in line


def test_the_demo_keeps_other_files(here):
    (here / "tables.md").write_text("my own notes")
    words = ["demo", "--output", ".", "--folds", "2"]
    assert "is not a table of homi demo" in refused(*words)
    assert (here / "tables.md").read_text() == "my own notes"
    (here / "tables.md").unlink()
    (here / "tags.png").write_text("my own picture")
    assert "is not a PNG picture" in refused(*words)
    assert (here / "tags.png").read_text() == "my own picture"


# Formulas


def test_names_that_spreadsheets_would_run(here):
    table = pd.read_csv("rows.csv").rename(columns={"tag_x": "=cmd()"})
    table = table.rename(columns={"tag_y": "@SUM(1)"})
    table["id"] = ["+1+1", "-2", "plain", "=A1"] * 10
    table.to_csv("rows.csv", index=False)
    labels = ["-l", "=cmd()", "-l", "@SUM(1)", "--drop", "id", "--paper", "-q"]
    run("fit", "rows.csv", *labels, "-o", "m.homi")
    words = ["predict", "m.homi", "rows.csv", "--keep", "id", "--scores"]
    plain = run(*words).stdout.splitlines()
    assert plain[0] == "id,=cmd(),@SUM(1),score:=cmd(),score:@SUM(1)"
    safe = run(*words, "--safe-csv").stdout.splitlines()
    assert safe[0] == "id,'=cmd(),'@SUM(1),score:=cmd(),score:@SUM(1)"
    starts = [line.split(",")[0] for line in safe[1:5]]
    assert starts == ["'+1+1", "-2", "plain", "'=A1"]
    # Numbers are numbers, negative ones too.
    cells = ",".join(safe[1:]).split(",")
    assert any(cell.startswith("-0.") for cell in cells)
    run(*words, "--safe-csv", "-o", "tags.tsv")
    assert (here / "tags.tsv").read_text().startswith("id\t'=cmd()\t'@SUM(1)")
    run(*words, "--safe-csv", "-o", "tags.parquet")
    assert list(pd.read_parquet("tags.parquet")) == plain[0].split(",")
