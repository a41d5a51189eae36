"""The command `homi`: its options; subcommands are in `homi.cli.lazy`."""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from homi.cli.lazy import LazyGroup
from homi.version import __version__

app = typer.Typer(
    cls=LazyGroup,
    help="Multi-label classification that learns how labels depend on each other.",
    no_args_is_help=True,
    add_completion=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_show_version,
            is_eager=True,
            help="Show the version and exit.",
        ),
    ] = False,
) -> None:
    """Multi-label classification that learns how labels depend on each other."""
    for stream in (sys.stdout, sys.stderr):
        # File names need not be UTF-8, and not every terminal can show λ and →.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
