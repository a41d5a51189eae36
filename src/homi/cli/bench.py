"""``homi bench``: run experiments, see how far they are, check them, report them."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from homi.benchmark.cells import Study, Task
from homi.benchmark.engines import Engine, cluster, local
from homi.benchmark.exchange import Difference
from homi.benchmark.exchange import merge as merge_results
from homi.benchmark.exchange import verify as verify_results
from homi.benchmark.experiment import Experiment
from homi.benchmark.experiment_file import read_experiment
from homi.benchmark.runner import missing, sort_out
from homi.benchmark.runner import run as run_tasks
from homi.cli.bench_progress import progress
from homi.cli.command import command
from homi.cli.errors import one_sentence
from homi.datasets.load import at_hand

bench_app = typer.Typer(
    help="Experiments: run them, see how far they are, check them, report them.\n\n"
    "Example: homi bench run benchmarks/paper.toml --quick, and then "
    "homi bench report benchmarks/paper.toml --quick",
    no_args_is_help=True,
)

File = Annotated[Path, typer.Argument(metavar="EXPERIMENT", help="A TOML file.")]
Results = Annotated[
    Path | None,
    typer.Option(help="Directory of the results. Default: results/NAME."),
]
Protocols = Annotated[
    list[str] | None,
    typer.Option("--protocols", help="Only these protocols: A,B or repeated."),
]
Datasets = Annotated[
    list[str] | None,
    typer.Option("--datasets", help="Only these data sets: A,B or repeated."),
]
Methods = Annotated[
    list[str] | None,
    typer.Option("--methods", help="Only these methods: A,B or repeated."),
]
Sensitivity = Annotated[
    list[str] | None,
    typer.Option(
        "--sensitivity", help="Vary HOMI's parameters on these data sets as well."
    ),
]
Quick = Annotated[
    bool,
    typer.Option("--quick", help="The small part that the file names under quick."),
]


#: How many results of a kind are named one by one.
_MOST_NAMED = 10


class EngineName(StrEnum):
    """Where tasks are computed."""

    local = "local"
    dask = "dask"


@command(bench_app)
def run(
    file: File,
    datasets: Datasets = None,
    methods: Methods = None,
    protocols: Protocols = None,
    quick: Quick = False,
    sensitivity: Sensitivity = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes side by side.")] = 1,
    engine: Annotated[
        EngineName, typer.Option(help="Processes here, or the workers of a cluster.")
    ] = EngineName.local,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, tcp://HOST:PORT.")
    ] = None,
    results: Results = None,
) -> None:
    """Run what is missing of an experiment, and nothing else.

    Every task is stored as it ends: interrupt the run at any time, and start it again
    to go on. Data sets that are not at hand are left out, and named.

    Example: homi bench run benchmarks/paper.toml --datasets yeast --jobs 2
    """
    console = Console(soft_wrap=True)
    with one_sentence():
        experiment, directory = _opened(file, quick, results, sensitivity)
        tasks = _tasks(experiment, datasets, methods, protocols)
        _tell_unused(console, experiment, directory)
        todo = missing(experiment, _at_hand(tasks, console), directory)
        console.print(f"{len(todo)} of {len(tasks)} tasks to run; results: {directory}")
        chosen = _engine(engine, scheduler, jobs)
        try:
            with (
                _kill_as_interrupt(),
                progress(console, todo, directory, jobs) as (done, failed),
            ):
                failures = run_tasks(
                    experiment, todo, directory, engine=chosen, done=done, failed=failed
                )
        except KeyboardInterrupt:
            console.print("Stopped. What was done is stored: run it again to go on.")
            raise typer.Exit(130) from None
    if failures:
        console.print(f"{len(failures)} of {len(todo)} tasks failed; see above.")
        raise typer.Exit(1)


@contextmanager
def _kill_as_interrupt() -> Iterator[None]:
    """By default, kill would leave the processes to their tasks."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@command(bench_app)
def status(
    file: File,
    datasets: Datasets = None,
    methods: Methods = None,
    protocols: Protocols = None,
    quick: Quick = False,
    results: Results = None,
) -> None:
    """Show what of an experiment is there, and what is missing.

    Example: homi bench status benchmarks/paper.toml
    """
    console = Console(soft_wrap=True)
    with one_sentence():
        experiment, directory = _opened(file, quick, results)
        tasks = _tasks(experiment, datasets, methods, protocols)
        absent = set(missing(experiment, tasks, directory))
        _tell_unused(console, experiment, directory)
    table = Table("protocol", "data set", "there", "missing", box=SIMPLE_HEAD)
    for place in dict.fromkeys((task.protocol, task.dataset) for task in tasks):
        here = [task for task in tasks if (task.protocol, task.dataset) == place]
        lacking = Counter(_what(task) for task in here if task in absent)
        there = f"{len(here) - lacking.total()}/{len(here)}"
        table.add_row(*place, there, _missing(lacking, Counter(map(_what, here))))
    console.print(table)
    console.print(f"{len(tasks) - len(absent)} of {len(tasks)} tasks are there.")


def _missing(lacking: Counter[str], wanted: Counter[str]) -> str:
    """What is missing, with how much of it where that is not all."""
    names = [
        name if count == wanted[name] else f"{name} ({count} of {wanted[name]})"
        for name, count in lacking.items()
    ]
    return "all" if lacking == wanted else ", ".join(names)


@command(bench_app)
def report(
    file: File,
    quick: Quick = False,
    sensitivity: Sensitivity = None,
    results: Results = None,
    output: Annotated[
        Path | None, typer.Option(help="Directory to write. Default: report/NAME.")
    ] = None,
) -> None:
    """Write every table and figure from the stored results.

    One HTML page that needs nothing else, and the same as Markdown, CSV, LaTeX, SVG
    and PDF files. Nothing is computed: what was not run is shown as not run.

    Example: homi bench report benchmarks/paper.toml --output report
    """
    from homi.report import write
    from homi.report.paper import paper_page

    console = Console(soft_wrap=True)
    with one_sentence():
        experiment, directory = _opened(file, quick, results, sensitivity)
        _tell_unused(console, experiment, directory)
        target = output if output is not None else Path("report") / experiment.name
        write(paper_page(experiment, directory), target)
    console.print(f"{target / 'index.html'} is written.")


@command(bench_app)
def merge(
    file: File,
    sources: Annotated[
        list[Path], typer.Argument(help="Directories of results of the experiment.")
    ],
    quick: Quick = False,
    results: Results = None,
    tolerance: Annotated[
        float, typer.Option(min=0, help="Largest difference that is none.")
    ] = 1e-6,
) -> None:
    """Join results of several machines. Nothing that is here already is replaced.

    Example: homi bench merge benchmarks/paper.toml /mnt/other/results/paper
    """
    console = Console(soft_wrap=True)
    with one_sentence():
        experiment, directory = _opened(file, quick, results)
        for source in sources:
            if not source.is_dir():
                raise ValueError(f"{source} is not a directory of results.")
            _tell_unused(console, experiment, source)
        merged = merge_results(experiment, sources, directory, tolerance)
    console.print(f"{len(merged.taken)} results taken over into {directory}.")
    for conflict in merged.conflicts:
        console.print(f"{conflict.task}  differs by {conflict.size:.2g}: ours is kept")
    if merged.conflicts:
        raise typer.Exit(1)


@command(bench_app)
def verify(
    file: File,
    datasets: Datasets = None,
    methods: Methods = None,
    protocols: Protocols = None,
    quick: Quick = False,
    sample: Annotated[int, typer.Option(min=1, help="How many.")] = 10,
    seed: Annotated[int, typer.Option(help="Which ones.")] = 0,
    tolerance: Annotated[
        float, typer.Option(min=0, help="Largest difference that is none.")
    ] = 1e-6,
    results: Results = None,
) -> None:
    """Compute a random sample of the stored results again, and compare.

    Example: homi bench verify benchmarks/paper.toml --datasets yeast --sample 5
    """
    console = Console(soft_wrap=True)
    with one_sentence():
        experiment, directory = _opened(file, quick, results)
        tasks = _at_hand(_tasks(experiment, datasets, methods, protocols), console)
        found = verify_results(experiment, tasks, directory, sample, seed)
        differ = [_checked(console, item, tolerance) for item in found]
    console.print(f"{len(differ) - sum(differ)} of {len(differ)} are as stored.")
    if any(differ):
        raise typer.Exit(1)


def _tell_unused(console: Console, experiment: Experiment, directory: Path) -> None:
    """Name results that count as missing, or as nothing at all."""
    _, stale, foreign = sort_out(experiment, directory)
    for tasks, what in (
        (stale, "out of date: they count as missing, and a run replaces them"),
        (foreign, f"of no task of {experiment.name}: they are left out"),
    ):
        for task in tasks[:_MOST_NAMED]:
            console.print(f"{task.path(directory)}  {what.partition(':')[0]}")
        if tasks:
            console.print(f"{len(tasks)} stored results are {what}.")


def _checked(console: Console, item: Difference, tolerance: float) -> bool:
    differs = item.size > tolerance
    words = f"differs by {item.size:.2g}" if differs else "as stored"
    console.print(f"{item.task}  {words}", highlight=False)
    return differs


def _opened(
    file: Path,
    quick: bool,
    results: Path | None,
    sensitivity: list[str] | None = None,
) -> tuple[Experiment, Path]:
    experiment = read_experiment(file)
    if quick:
        experiment = experiment.quickly()
    experiment = experiment.varied_on(_names(sensitivity) or [])
    return experiment, results or Path("results") / experiment.name


def _tasks(experiment: Experiment, *choices: list[str] | None) -> list[Task]:
    """Those of the data sets, methods and protocols that were chosen."""
    return list(experiment.tasks(*map(_names, choices)))


def _names(given: list[str] | None) -> list[str] | None:
    """Names that were given one by one or with commas between them."""
    if given is None:
        return None
    return [name.strip() for text in given for name in text.split(",") if name.strip()]


def _engine(name: EngineName, scheduler: str | None, jobs: int) -> Engine:
    if name == EngineName.local:
        if scheduler is not None:
            raise ValueError("a --scheduler is of --engine dask; pass that too.")
        return local(jobs)
    if scheduler is None:
        raise ValueError(
            "--engine dask needs the address of a scheduler: start one by `dask "
            "scheduler --host 127.0.0.1`, workers by `dask worker ADDRESS --nthreads "
            "1`, and pass --scheduler ADDRESS."
        )
    return cluster(scheduler)


def _what(task: Task) -> str:
    return task.kind if isinstance(task, Study) else task.method


def _at_hand(tasks: list[Task], console: Console) -> list[Task]:
    here = {name: at_hand(name) is not None for name in {t.dataset for t in tasks}}
    for name in sorted(name for name, found in here.items() if not found):
        console.print(
            f"{name} is not at hand: left out. Bring it: homi data fetch {name}"
        )
    return [task for task in tasks if here[task.dataset]]
