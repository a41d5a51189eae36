"""docs/command.md, followed word by word."""

import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner

from homi.cli.app import app

PAGE = (Path(__file__).parents[1] / "docs" / "command.md").read_text(encoding="utf-8")


def test_the_page_can_be_followed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    commands = set()
    for language, block in re.findall(r"```(\w+)\n(.*?)```", PAGE, re.S):
        if language == "python":
            if "fastapi" in block and find_spec("fastapi") is None:
                continue
            exec(compile(block, "command.md", "exec"), {})
            continue
        for line in block.splitlines():
            program, *arguments = shlex.split(line)
            assert program == "homi"
            result = CliRunner().invoke(app, arguments)
            assert result.exit_code == 0, (line, result.output)
            commands.add(arguments[0])
    assert commands == {
        *("fit", "predict", "ask", "audit", "evaluate", "explain", "cv", "export"),
        "doctor",
    }
    written = {path.name for path in tmp_path.iterdir()}
    assert {
        "model.homi",
        "text.homi",
        "tags.csv",
        "post_tags.csv",
        "model.onnx",
    } <= written


@pytest.mark.parametrize("command", ["fit", "cv", "predict", "evaluate", "export"])
def test_every_option_of_the_page_exists(command):
    text = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).output
    wanted = {
        option
        for line in re.findall(rf"homi {command} [^\n`]*", PAGE)
        for option in re.findall(r"--[a-z-]+", line)
    }
    assert all(option in text for option in wanted), wanted
