"""Progress of a run on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)

from homi.benchmark.cells import Record, Task
from homi.benchmark.forecast import Forecast, in_words
from homi.benchmark.runner import Done, Failure
from homi.benchmark.store import everything
from homi.metrics import METRICS, PAPER_METRICS

Hooks = tuple[Done, Callable[[Failure], None]]


@contextmanager
def progress(
    console: Console, todo: list[Task], directory: Path, workers: int
) -> Iterator[Hooks]:
    """Show a progress bar on a terminal, and a line per task elsewhere."""
    forecast = Forecast(todo, workers)
    for task, record in everything(directory).items():
        forecast.learn(task, record)
    if not console.is_terminal:
        yield _lines(forecast)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        yield _bar(bar, forecast, len(todo))


def _lines(forecast: Forecast) -> Hooks:
    def done(task: Task, record: Record) -> None:
        forecast.learn(task, record)
        forecast.done(task)
        print(f"{task}  {_said(record)}  {in_words(forecast.left())}", flush=True)

    def failed(failure: Failure) -> None:
        forecast.done(failure.task)
        print(f"{failure.task}  failed: {failure.error}", flush=True)

    return done, failed


def _bar(bar: Progress, forecast: Forecast, count: int) -> Hooks:
    shown = bar.add_task("", total=count, left=in_words(forecast.left()))

    def step(task: Task) -> None:
        forecast.done(task)
        name = f"{task.dataset} {task.method}"
        bar.update(shown, advance=1, description=name, left=in_words(forecast.left()))

    def done(task: Task, record: Record) -> None:
        forecast.learn(task, record)
        step(task)

    def failed(failure: Failure) -> None:
        step(failure.task)
        bar.console.print(f"{failure.task}  failed: {failure.error}")

    return done, failed


def _said(record: Record) -> str:
    metrics = record.get("metrics", {})
    values = [
        f"{METRICS[name].title.lower()} {metrics[name]:.3f}"
        for name in PAPER_METRICS
        if name in metrics
    ]
    return "  ".join([*values, f"{sum(record['seconds'].values()):.2f} s"])
