"""What commands print: progress, notes, names from the user's data, JSON."""

from __future__ import annotations

import json
import logging
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
)
from rich.text import Text

if TYPE_CHECKING:
    from homi.typing import Matrix


@contextmanager
def working(
    text: str, *, quiet: bool, seconds: Callable[[], float | None] = lambda: None
) -> Iterator[None]:
    """Show on a terminal how long it takes, and what the library logs.

    Elsewhere show nothing, and do not ask for `seconds`, an estimate of the whole time.
    """
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        _Clock(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(f"{text} …", total=None, expected=seconds())
        with _logged(text, bar, task):
            yield


class _Clock(ProgressColumn):
    """Seconds since the start, and those that are expected in all."""

    def render(self, task: Task) -> Text:
        """Return the text of the column."""
        expected: float | None = task.fields.get("expected")
        elapsed = task.elapsed or 0.0
        if expected is None:
            return Text(f"{elapsed:.0f} s", style="cyan")
        about = f"about {max(1.0, expected):.2g} s"
        whole = f" of {about}" if elapsed <= expected else f", {about} expected"
        return Text(f"{elapsed:.0f} s{whole}", style="cyan")


@contextmanager
def _logged(text: str, bar: Progress, task: TaskID) -> Iterator[None]:
    """Show the last message of the library, such as a stage of HOMICV's search."""
    log = logging.getLogger("homi")

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            message = printable(f"{text} … {record.getMessage()}").plain
            bar.update(task, description=message)

    handler, level = Handler(), log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


@contextmanager
def counting(
    console: Console, total: int, *, quiet: bool = False
) -> Iterator[Callable[[str], None]]:
    """Show a progress bar on a terminal, and nothing elsewhere.

    Call the result before each of `total` steps, with the name of the step.
    """
    if quiet or not console.is_terminal:
        yield lambda text: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task, done = bar.add_task("", total=total), count()
        yield lambda text: bar.update(task, description=text, completed=next(done))


def printable(name: str) -> Text:
    r"""Return a name of the user's data without markup and control codes.

    Examples
    --------
    >>> printable("[/] \x1b[31m").plain
    '[/] \\x1b[31m'
    """
    letters = (c if c.isprintable() else repr(c)[1:-1] for c in name)
    return Text("".join(letters))


def print_note(text: str, *, quiet: bool) -> None:
    """Print a line on stderr, beside the result."""
    if not quiet:
        print(text, file=sys.stderr)  # above a line of progress, which echo would not


def tell_unlabeled(Y: Matrix, *, quiet: bool) -> None:
    """Say which metrics rows without labels make worse, whatever is predicted."""
    if empty := int((Y.sum(axis=1) == 0).sum()):
        print_note(
            f"Note: {empty} of {len(Y)} rows have no label; one-error and "
            "example-based F1 count them as wrong.",
            quiet=quiet,
        )


def print_json(value: object, *, indent: int | None = 2) -> None:
    """Print a value as JSON, with null for numbers that are not finite."""
    typer.echo(json.dumps(_plain(value), indent=indent, allow_nan=False))


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
