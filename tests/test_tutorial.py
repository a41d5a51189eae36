"""docs/tutorial.md, followed word by word: every line runs and prints what is shown."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from homi.cli.app import app

PAGE = Path(__file__).parents[1] / "docs" / "tutorial.md"
NUMBER = re.compile(r"-?\d+\.\d+|-?\d+")


def blocks(text):
    """``(language, block)`` of every block that says its language, in order."""
    return re.findall(r"```(\w+)\n(.*?)```", text, re.S)


def assert_printed(printed, shown):
    """The same words; numbers may differ by a unit of the last digit shown.

    Other processors and BLAS libraries round otherwise. Whole numbers are exact.
    """
    assert NUMBER.sub("#", printed).split() == NUMBER.sub("#", shown).split()
    pairs = zip(NUMBER.findall(printed), NUMBER.findall(shown), strict=True)
    for got, wanted in pairs:
        digits = len(wanted.partition(".")[2])
        allowed = 10.0**-digits if digits else 0.0
        assert float(got) == pytest.approx(float(wanted), rel=0, abs=allowed * 1.01)


def test_the_tutorial_can_be_followed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, printed, commands = {}, "", []
    for language, block in blocks(PAGE.read_text(encoding="utf-8")):
        if language == "python":
            assert not printed, "what the block before prints is not shown"
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(block, "tutorial.md", "exec"), names)
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
    assert {"yeast.homi", "tags.csv", "labels.html"} <= {
        path.name for path in tmp_path.iterdir()
    }


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
