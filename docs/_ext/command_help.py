"""``{command-help}``: what every command of ``homi`` says to ``--help``, asked now."""

from collections.abc import Iterator
from typing import Any

import typer
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from typer.testing import CliRunner

from homi.cli.app import app as homi_app

#: Characters in a line; what fits beside the site's navigation.
WIDTH = 92


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class CommandHelp(SphinxDirective):
    """A section for each command, and in it the text."""

    def run(self) -> list[nodes.Node]:
        return [self._section(path) for path in commands()]

    def _section(self, path: tuple[str, ...]) -> nodes.section:
        title = " ".join(("homi", *path))
        section = nodes.section(ids=[nodes.make_id(title)], names=[title])
        section += nodes.title(title, title)
        text = help_of(path)
        section += nodes.literal_block(text, text, language="none")
        return section


def commands() -> Iterator[tuple[str, ...]]:
    """``()``, ``("fit",)``, …, ``("data", "list")``, … in the order of the help."""
    yield ()
    yield from _below(typer.main.get_command(homi_app), ())


def _below(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for name, child in getattr(command, "commands", {}).items():
        yield (*path, name)
        yield from _below(child, (*path, name))


def help_of(path: tuple[str, ...]) -> str:
    """The help of one command, without colors and in lines of WIDTH characters."""
    plain = {"COLUMNS": str(WIDTH), "NO_COLOR": "1"}
    runner = CliRunner(env=plain)
    result = runner.invoke(homi_app, [*path, "--help"], prog_name="homi")
    if result.exit_code:
        raise RuntimeError(f"homi {' '.join(path)} --help failed: {result.output}")
    lines = (line.rstrip() for line in result.output.splitlines())
    return "\n".join(lines).strip("\n")
