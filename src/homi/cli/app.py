"""The command: parse, call one function, print."""

from __future__ import annotations

import io
import sys
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

import homi
from homi.cli import demo as demonstration
from homi.cli.bench import bench_app
from homi.cli.cv import cv
from homi.cli.data import data_app
from homi.cli.doctor import doctor
from homi.cli.evaluate import evaluate
from homi.cli.explain import explain
from homi.cli.export import export
from homi.cli.fit import fit
from homi.cli.guard import Debug, guarded
from homi.cli.options import Seed
from homi.cli.output import Force, check_output
from homi.cli.predict import predict

app = typer.Typer(
    help="Multi-label classification that learns how labels depend on each other.",
    no_args_is_help=True,
    add_completion=False,
)
app.add_typer(data_app, name="data")
app.add_typer(bench_app, name="bench")
app.command()(explain)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(homi.__version__)
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show it and exit."
        ),
    ] = False,
) -> None:
    """Multi-label classification that learns how labels depend on each other."""
    for stream in (sys.stdout, sys.stderr):
        # Names of files need not be UTF-8, and not every terminal knows λ and →.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


for _command in (fit, predict, evaluate, cv, export, doctor):
    app.command()(_command)


@app.command()
def demo(
    output: Annotated[
        Path, typer.Option(help="Directory for the table and the picture.")
    ] = Path("homi-demo"),
    folds: Annotated[int, typer.Option(min=2, help="Number of folds.")] = 5,
    seed: Seed = 0,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """Cross-validate HOMI on yeast, beside binary relevance, and draw what it learnt.

    yeast (2417 genes, 103 features, 14 functional classes) is installed with the
    package; nothing is downloaded. Takes well under a minute.

    Example: homi demo --output homi-demo
    """
    from homi.plots import draw_correlation

    console = Console()
    started = time.perf_counter()
    picture, text = output / "label_correlation.png", output / "table.md"
    with guarded(debug=debug):
        if output.exists() and not output.is_dir():
            raise ValueError(f"{output} is a file; name a directory to write to.")
        output.mkdir(parents=True, exist_ok=True)
        check_output(picture, ".png", force=force)
        check_output(text, "scores", force=force)
        result = _run_with_progress(console, folds, seed)
        draw_correlation(result.B, result.label_names, picture)
        demonstration.write_table(result, text)
    _print(console, result, folds)
    console.print(f"Table: {text}\nPicture of B: {picture}")
    console.print(f"Took {time.perf_counter() - started:.0f} s.")


def _run_with_progress(console: Console, folds: int, seed: int) -> demonstration.Demo:
    """A bar on a terminal, a line per fit elsewhere."""
    if not console.is_terminal:
        return demonstration.run(
            folds, seed, lambda method, fold, _: print(f"{method}: fold {fold}/{folds}")
        )
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("yeast", total=None)
        done = iter(range(10**9))

        def advance(method: str, fold: int, n_fits: int) -> None:
            text = f"{method}: fold {fold}/{folds}"
            bar.update(task, description=text, total=n_fits, completed=next(done))

        return demonstration.run(folds, seed, advance)


def _print(console: Console, result: demonstration.Demo, folds: int) -> None:
    header, *rows = result.table()
    title = f"yeast, {folds}-fold cross-validation, mean ± std"
    table = Table(*header, title=title, box=SIMPLE_HEAD)
    for row in rows:
        table.add_row(*row)
    console.print(table)
    console.print(
        "s: number of neighbours. The paper names 10; its figures come out with 2.\n"
        "BR: binary relevance, scikit-learn's logistic regression for each label.\n"
    )
    positive, negative = demonstration.strongest_pairs(result.B, result.label_names)
    title = "Strongest pairs of B (s = 2)"
    pairs = Table("raises", "by", "lowers", "by", title=title, box=SIMPLE_HEAD)
    for up, down in zip(positive, negative, strict=False):
        pairs.add_row(*_cells(up), *_cells(down))
    console.print(pairs)


def _cells(pair: demonstration.Pair) -> tuple[str, str]:
    return f"{pair.source} → {pair.target}", f"{pair.value:+.3f}"
