"""The guide runs: every block of Python and shell, with the output that is shown."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from homi.cli.app import app

DOCS = Path(__file__).parents[1] / "docs"
NUMBER = re.compile(r"-?\d+\.\d+|-?\d+")

#: Pages, and the files that following them leaves behind. docs/command.md has a test of
#: its own.
LEAVES = {
    "quick_start": {"yeast.homi", "test.csv", "tags.csv", "labels.html"},
    "choosing": set(),
    "tables_and_texts": {"tracks.csv"},
    "thresholds": set(),
    "known_labels": set(),
    "labels": set(),
    "explaining": {"labels.html", "yeast.html"},
    "big_data": {"clicks.parquet", "clicks.npz"},
    "coming_from": {"yeast.arff", "model.homi"},
    "paper": set(),
    "model_file": {"model.homi", "model.onnx"},
    "index": set(),
}


def blocks(text):
    """``(language, block)`` of every block that names its language, in order."""
    return re.findall(r"```(\w+)\n(.*?)```", text, re.S)


def assert_printed(printed, shown):
    """The same words; numbers may differ by one unit of the last digit shown.

    Processors and BLAS libraries round differently. Integers are exact.
    """
    assert NUMBER.sub("#", printed).split() == NUMBER.sub("#", shown).split()
    pairs = zip(NUMBER.findall(printed), NUMBER.findall(shown), strict=True)
    for got, wanted in pairs:
        digits = len(wanted.partition(".")[2])
        allowed = 10.0**-digits if digits else 0.0
        assert float(got) == pytest.approx(float(wanted), rel=0, abs=allowed * 1.01)


def follow(page):
    """Run the Python of a page in one namespace, then its commands."""
    names, printed, commands = {}, "", []
    for language, block in blocks((DOCS / f"{page}.md").read_text(encoding="utf-8")):
        if language == "python":
            assert not printed, f"the page does not show this output: {printed}"
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(block, f"{page}.md", "exec"), names)
            printed = out.getvalue()
        elif language == "text":
            assert_printed(printed, block)
            printed = ""
        elif language == "sh":
            commands += block.splitlines()
    assert not printed
    for line in commands:
        program, *arguments = shlex.split(line)
        assert program == "homi"
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, (line, result.output)


def case(page):
    # A default HOMICV takes half a minute on the rows of yeast.
    return pytest.param(page, marks=[pytest.mark.slow] if page == "index" else [])


@pytest.mark.usefixtures("all_trees")
@pytest.mark.parametrize("page", [case(page) for page in LEAVES])
def test_the_page_can_be_followed(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    follow(page)
    assert {path.name for path in tmp_path.iterdir()} == LEAVES[page]


def test_every_page_with_python_is_followed():
    pages = {
        path.stem
        for path in DOCS.glob("*.md")
        if "```python" in path.read_text(encoding="utf-8")
    }
    # test_docs_command.py follows the page of the command.
    assert pages - {"command", "benchmark"} == set(LEAVES)


def test_stored_results_can_be_read_as_the_page_shows(monkeypatch):
    monkeypatch.chdir(DOCS.parent)
    text = (DOCS / "benchmark.md").read_text(encoding="utf-8")
    [block] = [block for language, block in blocks(text) if language == "python"]
    names = {}
    exec(compile(block, "benchmark.md", "exec"), names)
    assert len(names["cells"]) > 1000


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("a 0.123", "b 0.123"),
        ("0.126", "0.123"),
        ("[3]", "[4]"),
        ("1 2", "1"),
        ("-1.0", "1.0"),
    ],
)
def test_another_output_is_found(printed, shown):
    with pytest.raises(AssertionError):
        assert_printed(printed, shown)
    assert_printed("0.124 [3]", "0.123 [3]")
