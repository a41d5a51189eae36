"""The command `homi`: every subcommand, registered under one error contract."""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

import homi
from homi.cli.bench import bench_app
from homi.cli.command import command
from homi.cli.cv import cv
from homi.cli.data import data_app
from homi.cli.demo import demo
from homi.cli.doctor import doctor
from homi.cli.evaluate import evaluate
from homi.cli.explain import explain
from homi.cli.export import export
from homi.cli.fit import fit
from homi.cli.predict import predict

app = typer.Typer(
    help="Multi-label classification that learns how labels depend on each other.",
    no_args_is_help=True,
    add_completion=False,
)
for _function in (fit, predict, evaluate, cv, explain, export, doctor, demo):
    command(app)(_function)
app.add_typer(data_app, name="data")
app.add_typer(bench_app, name="bench")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(homi.__version__)
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
