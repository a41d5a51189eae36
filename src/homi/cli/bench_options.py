"""Options that the commands of ``homi bench`` share."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

File = Annotated[Path, typer.Argument(metavar="EXPERIMENT", help="A TOML file.")]
Results = Annotated[
    Path | None,
    typer.Option(
        help="Directory of the journal, one file per result; the packed table is "
        "DIRECTORY.parquet. Default: results/NAME."
    ),
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


class EngineName(StrEnum):
    """Where tasks are computed."""

    local = "local"
    dask = "dask"


@contextmanager
def interrupts() -> Iterator[Callable[[], None]]:
    """Treat SIGTERM as Ctrl-C, and yield a check that raises an interrupt again.

    By default SIGTERM would leave the processes running. An interrupt is lost if it
    comes while C calls Python, as it does whenever threadpoolctl lists libraries.
    """
    received = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        received.append(number)
        raise KeyboardInterrupt

    def check() -> None:
        if received:
            raise KeyboardInterrupt

    # A shell makes background jobs ignore SIGINT: they go on doing so.
    numbers = {signal.SIGTERM, signal.SIGINT}
    ignored = {n for n in numbers if signal.getsignal(n) is signal.SIG_IGN}
    before = {n: signal.signal(n, interrupt) for n in numbers - ignored}
    try:
        yield check
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
