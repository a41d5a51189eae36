"""``homi bench``: run experiments, see how far they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from homi.benchmark.cells import Cell, Record
from homi.benchmark.experiment import Experiment, read_experiment
from homi.benchmark.runner import Done, missing
from homi.benchmark.runner import run as run_cells
from homi.cli_errors import one_sentence
from homi.datasets.load import at_hand
from homi.metrics import METRICS, PAPER_METRICS

bench_app = typer.Typer(
    help="Experiments: run them, see how far they are.\n\n"
    "Example: homi bench run benchmarks/defaults.toml --datasets yeast",
    no_args_is_help=True,
)

File = Annotated[Path, typer.Argument(metavar="EXPERIMENT", help="A TOML file.")]
Results = Annotated[
    Path | None,
    typer.Option(help="Directory of the results. Default: results/NAME."),
]
Datasets = Annotated[
    list[str] | None,
    typer.Option("--datasets", help="Only this data set; may be repeated."),
]
Methods = Annotated[
    list[str] | None,
    typer.Option("--methods", help="Only this method; may be repeated."),
]


@bench_app.command()
def run(
    file: File,
    datasets: Datasets = None,
    methods: Methods = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes side by side.")] = 1,
    results: Results = None,
) -> None:
    """Run what is missing of an experiment, and nothing else.

    Every fold is stored as it ends: interrupt the run at any time, and start it again
    to go on. Data sets that are not at hand are left out, and named.

    Example: homi bench run benchmarks/defaults.toml --datasets yeast --jobs 2
    """
    console = Console()
    with one_sentence():
        experiment = read_experiment(file)
        cells = list(experiment.cells(datasets, methods))
        directory = _directory(experiment, results)
        todo = missing(experiment, _at_hand(cells, console), directory)
        console.print(f"{len(todo)} of {len(cells)} cells to run; results: {directory}")
        with _progress(console, len(todo)) as done:
            run_cells(experiment, todo, directory, jobs=jobs, done=done)


@bench_app.command()
def status(
    file: File,
    datasets: Datasets = None,
    methods: Methods = None,
    results: Results = None,
) -> None:
    """Show how many folds of an experiment there are, by data set and method.

    Example: homi bench status benchmarks/defaults.toml
    """
    console = Console()
    with one_sentence():
        experiment = read_experiment(file)
        cells = list(experiment.cells(datasets, methods))
        absent = set(missing(experiment, cells, _directory(experiment, results)))
    names = list(dict.fromkeys(cell.method for cell in cells))
    table = Table("protocol", "data set", *names, box=SIMPLE_HEAD)
    there = Counter(_group(cell) for cell in cells if cell not in absent)
    for protocol, dataset in dict.fromkeys(_group(cell)[:2] for cell in cells):
        counts = [there[protocol, dataset, name] for name in names]
        row = [f"{count}/{experiment.folds}" if count else "-" for count in counts]
        table.add_row(protocol, dataset, *row)
    console.print(table)
    console.print(f"{len(cells) - len(absent)} of {len(cells)} cells are there.")


def _group(cell: Cell) -> tuple[str, str, str]:
    return cell.protocol, cell.dataset, cell.method


def _directory(experiment: Experiment, results: Path | None) -> Path:
    return results if results is not None else Path("results") / experiment.name


def _at_hand(cells: list[Cell], console: Console) -> list[Cell]:
    here = {name: at_hand(name) is not None for name in {c.dataset for c in cells}}
    for name in sorted(name for name, found in here.items() if not found):
        console.print(
            f"{name} is not at hand: left out. Bring it: homi data fetch {name}"
        )
    return [cell for cell in cells if here[cell.dataset]]


@contextmanager
def _progress(console: Console, count: int) -> Iterator[Done]:
    """A bar with the time left on a terminal, a line per cell elsewhere."""
    if not console.is_terminal:
        yield lambda cell, record: print(_line(cell, record), flush=True)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=count)
        yield lambda cell, record: bar.update(
            task, advance=1, description=f"{cell.dataset} {cell.method}"
        )


def _line(cell: Cell, record: Record) -> str:
    values = "  ".join(
        f"{METRICS[name].title.lower()} {record['metrics'][name]:.3f}"
        for name in PAPER_METRICS
    )
    return (
        f"{cell.protocol}  {cell.dataset}  {cell.method}  fold {cell.fold}  {values}  "
        f"fit {record['seconds']['fit']:.2f} s"
    )
