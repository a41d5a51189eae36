"""``homi bench``: run, inspect, check, pack and report experiments."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from homi.cli.bench_options import (
    Datasets,
    EngineName,
    File,
    Methods,
    Protocols,
    Quick,
    Results,
    Sensitivity,
    interrupts,
)
from homi.cli.command import command
from homi.cli.errors import one_sentence

if TYPE_CHECKING:
    from homi.benchmark.cells import Record, Task
    from homi.benchmark.engines import Engine
    from homi.benchmark.exchange import Difference
    from homi.benchmark.experiment import Experiment

bench_app = typer.Typer(
    help="Run, inspect, check, pack and report experiments.\n\n"
    "Example: homi bench run benchmarks/paper.toml --quick, and then "
    "homi bench report benchmarks/paper.toml --quick",
    no_args_is_help=True,
    add_completion=False,
)


#: How many results of a kind are named one by one.
_MOST_NAMED = 10


@command(bench_app, extra="bench")
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
    again: Annotated[
        bool, typer.Option("--again", help="Compute results that are there, too.")
    ] = False,
    results: Results = None,
) -> None:
    """Run the missing tasks of an experiment.

    Every result is stored as soon as it is computed: interrupt the run at any time and
    start it again to continue. Data sets that are not on this machine are skipped and
    named.

    Example: homi bench run benchmarks/paper.toml --datasets yeast --jobs 2
    """
    from homi.benchmark.runner import missing
    from homi.benchmark.runner import run as run_tasks
    from homi.cli.bench_progress import progress

    console = Console(soft_wrap=True)
    with one_sentence():
        experiment, directory = _opened(file, quick, results, sensitivity)
        tasks = _tasks(experiment, datasets, methods, protocols)
        _tell_unused(console, experiment, directory)
        todo = _at_hand(tasks, console)
        if not again:
            todo = missing(experiment, todo, directory)
        console.print(f"{len(todo)} of {len(tasks)} tasks to run; results: {directory}")
        chosen = _engine(engine, scheduler, jobs)
        try:
            with (
                interrupts() as check,
                progress(console, todo, directory, jobs) as (done, failed),
            ):

                def report_stored(task: Task, record: Record) -> None:
                    done(task, record)
                    check()

                failures = run_tasks(
                    experiment,
                    todo,
                    directory,
                    engine=chosen,
                    done=report_stored,
                    failed=failed,
                )
        except KeyboardInterrupt:
            console.print("Stopped. Finished tasks are stored: run it again to go on.")
            raise typer.Exit(130) from None
    if failures:
        console.print(f"{len(failures)} of {len(todo)} tasks failed; see above.")
        raise typer.Exit(1)


@command(bench_app, extra="bench")
def status(
    file: File,
    datasets: Datasets = None,
    methods: Methods = None,
    protocols: Protocols = None,
    quick: Quick = False,
    results: Results = None,
) -> None:
    """Show which results of an experiment are there and which are missing.

    Example: homi bench status benchmarks/paper.toml
    """
    from homi.benchmark.runner import missing

    console = Console(soft_wrap=True)
    with one_sentence():
        experiment, directory = _opened(file, quick, results)
        tasks = _tasks(experiment, datasets, methods, protocols)
        absent = set(missing(experiment, tasks, directory))
        _tell_unused(console, experiment, directory)
    table = Table("protocol", "data set", "there", "missing", box=SIMPLE_HEAD)
    for group in dict.fromkeys((task.protocol, task.dataset) for task in tasks):
        here = [task for task in tasks if (task.protocol, task.dataset) == group]
        lacking = Counter(_what(task) for task in here if task in absent)
        there = f"{len(here) - lacking.total()}/{len(here)}"
        table.add_row(*group, there, _missing(lacking, Counter(map(_what, here))))
    console.print(table)
    console.print(f"{len(tasks) - len(absent)} of {len(tasks)} tasks are there.")


def _missing(lacking: Counter[str], wanted: Counter[str]) -> str:
    """List what is missing, with counts where only some folds are."""
    names = [
        name if count == wanted[name] else f"{name} ({count} of {wanted[name]})"
        for name, count in lacking.items()
    ]
    return "all" if lacking == wanted else ", ".join(names)


@command(bench_app, extra="bench")
def report(
    file: File,
    quick: Quick = False,
    sensitivity: Sensitivity = None,
    results: Results = None,
    output: Annotated[
        Path | None, typer.Option(help="Output directory. Default: report/NAME.")
    ] = None,
) -> None:
    """Write every table and figure from the stored results.

    The report is one self-contained HTML page, and the same as Markdown, CSV, LaTeX,
    SVG and PDF files. Nothing is computed: what was not run is shown as not run.

    Example: homi bench report benchmarks/paper.toml --output build/report
    """
    from homi.paper import paper_page
    from homi.report import write

    console = Console(soft_wrap=True)
    with one_sentence():
        experiment, directory = _opened(file, quick, results, sensitivity)
        _tell_unused(console, experiment, directory)
        target = output if output is not None else Path("report") / experiment.name
        write(paper_page(experiment, directory), target)
    console.print(f"{target / 'index.html'} is written.")


@command(bench_app, extra="bench")
def merge(
    file: File,
    sources: Annotated[
        list[Path],
        typer.Argument(help="Results of the experiment: journals or packed tables."),
    ],
    quick: Quick = False,
    results: Results = None,
    tolerance: Annotated[
        float, typer.Option(min=0, help="Largest difference to ignore.")
    ] = 1e-6,
) -> None:
    """Copy results of other machines. No result that is already here is replaced.

    Example: homi bench merge benchmarks/paper.toml /mnt/other/results/paper
    """
    from homi.benchmark.exchange import merge as merge_results

    console = Console(soft_wrap=True)
    with one_sentence():
        experiment, directory = _opened(file, quick, results)
        journals = [_journal(source) for source in sources]
        for journal in journals:
            _tell_unused(console, experiment, journal)
        merged = merge_results(experiment, journals, directory, tolerance)
    console.print(f"{len(merged.taken)} results copied into {directory}.")
    for conflict in merged.conflicts:
        console.print(f"{conflict.task}  differs by {conflict.size:.2g}: ours is kept")
    if merged.conflicts:
        raise typer.Exit(1)


@command(bench_app, extra="bench")
def verify(
    file: File,
    datasets: Datasets = None,
    methods: Methods = None,
    protocols: Protocols = None,
    quick: Quick = False,
    sample: Annotated[int, typer.Option(min=1, help="Results to compute.")] = 10,
    seed: Annotated[int, typer.Option(help="Seed of the sample.")] = 0,
    tolerance: Annotated[
        float, typer.Option(min=0, help="Largest difference to ignore.")
    ] = 1e-6,
    results: Results = None,
) -> None:
    """Check stored results: compute a random sample again and compare.

    The checksums of all test folds are compared with the stored folds as well.

    Example: homi bench verify benchmarks/paper.toml --datasets yeast --sample 5
    """
    from homi.benchmark.exchange import verify as verify_results
    from homi.benchmark.exchange import wrong_folds
    from homi.benchmark.runner import missing

    console = Console(soft_wrap=True)
    with one_sentence():
        experiment, directory = _opened(file, quick, results)
        tasks = _tasks(experiment, datasets, methods, protocols)
        if len(missing(experiment, tasks, directory)) == len(tasks):
            raise ValueError(
                f"{directory} has no current result of these tasks, so there is "
                f"nothing to verify; run `homi bench run {file}` first."
            )
        wrong = wrong_folds(directory)
        for cell in wrong:
            console.print(f"{cell}  was not tested on the rows of the stored fold")
        here = _at_hand(tasks, console)
        found = verify_results(experiment, here, directory, sample, seed)
        differ = [_checked(console, item, tolerance) for item in found]
        if not differ:
            raise ValueError(
                "none of the stored results can be computed again: their data sets are "
                "not on this machine; see above."
            )
    console.print(f"{len(differ) - sum(differ)} of {len(differ)} are as stored.")
    if any(differ) or wrong:
        raise typer.Exit(1)


@command(bench_app, extra="bench")
def pack(
    file: File,
    quick: Quick = False,
    sensitivity: Sensitivity = None,
    results: Results = None,
) -> None:
    """Write all current results into one table, the file to commit.

    The table is a Parquet file next to the journal. It has the results of the journal
    and, for tasks that the journal does not have, those of the table before. Results
    that are out of date or of no task of the experiment are named and left out. The
    journal stays as it is.

    Example: homi bench pack benchmarks/paper.toml
    """
    from homi.benchmark.runner import sort_out
    from homi.benchmark.store import pack as pack_results

    console = Console(soft_wrap=True)
    with one_sentence():
        experiment, directory = _opened(file, quick, results, sensitivity)
        _tell_unused(console, experiment, directory)
        current = dict(sort_out(experiment, directory).current)
        if not current:
            raise ValueError(
                f"{directory} has no current results to pack; run `homi bench run "
                f"{file}` first."
            )
        table = pack_results(directory, current)
    size = table.stat().st_size / 1000
    console.print(f"{len(current)} results packed into {table} ({size:,.0f} kB).")


@command(bench_app, extra="bench")
def unpack(file: File, quick: Quick = False, results: Results = None) -> None:
    """Write the journal, one file per result, from the packed table.

    Files that are there already are not replaced.

    Example: homi bench unpack benchmarks/paper.toml
    """
    from homi.benchmark.store import unpack as unpack_results

    console = Console(soft_wrap=True)
    with one_sentence():
        _, directory = _opened(file, quick, results)
        done = unpack_results(directory)
    for task in done.kept[:_MOST_NAMED]:
        console.print(f"{task.path(directory)}  differs from the table: kept")
    if done.kept:
        console.print(f"{len(done.kept)} files differ from the table and are kept.")
    console.print(f"{len(done.written)} results unpacked into {directory}.")


def _tell_unused(console: Console, experiment: Experiment, directory: Path) -> None:
    """Name results that are out of date or belong to no task."""
    from homi.benchmark.runner import sort_out
    from homi.benchmark.store import place

    _, stale, foreign = sort_out(experiment, directory)
    for tasks, what in (
        (stale, "out of date: they count as missing, and `run` replaces them"),
        (foreign, f"of no task of {experiment.name}: they are left out"),
    ):
        for task in tasks[:_MOST_NAMED]:
            console.print(f"{place(directory, task)}  {what.partition(':')[0]}")
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
    from homi.benchmark.experiment_file import read_experiment

    experiment = read_experiment(file)
    if quick:
        experiment = experiment.quickly()
    experiment = experiment.varied_on(_names(sensitivity) or [])
    return experiment, results or Path("results") / experiment.name


def _journal(source: Path) -> Path:
    """Return the journal of a directory or table that was named as a source."""
    from homi.benchmark.packed import table_of

    directory = source.with_suffix("") if source.suffix == ".parquet" else source
    if not directory.is_dir() and not table_of(directory).is_file():
        raise ValueError(
            f"{source} has no results; name a directory of results or a packed table."
        )
    return directory


def _tasks(experiment: Experiment, *choices: list[str] | None) -> list[Task]:
    """Return the tasks of the chosen data sets, methods and protocols."""
    return list(experiment.tasks(*map(_names, choices)))


def _names(given: list[str] | None) -> list[str] | None:
    """Split names that are separated by commas."""
    if given is None:
        return None
    return [name.strip() for text in given for name in text.split(",") if name.strip()]


def _engine(name: EngineName, scheduler: str | None, jobs: int) -> Engine:
    from homi.benchmark.engines import cluster, local

    if name == EngineName.local:
        if scheduler is not None:
            raise ValueError("--scheduler needs --engine dask; pass that too.")
        return local(jobs)
    if scheduler is None:
        raise ValueError(
            "--engine dask needs the address of a scheduler: start one by `dask "
            "scheduler --host 127.0.0.1`, workers by `dask worker ADDRESS --nthreads "
            "1`, and pass --scheduler ADDRESS."
        )
    return cluster(scheduler)


def _what(task: Task) -> str:
    from homi.benchmark.cells import Study

    return task.kind if isinstance(task, Study) else task.method


def _at_hand(tasks: list[Task], console: Console) -> list[Task]:
    from homi.datasets.load import at_hand

    here = {name: at_hand(name) is not None for name in {t.dataset for t in tasks}}
    for name in sorted(name for name, found in here.items() if not found):
        console.print(
            f"{name} is not on this machine: skipped. Get it: homi data fetch {name}"
        )
    return [task for task in tasks if here[task.dataset]]
