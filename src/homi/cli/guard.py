"""What a command says while it runs and when something goes wrong."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from homi.cli.errors import sentence

AsJson = Annotated[
    bool, typer.Option("--json", help="For programs: one JSON object on stdout.")
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Say nothing but what was asked for.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]

#: Exit code after Ctrl-C, as shells have it.
INTERRUPTED = 130


@contextmanager
def guarded(*, debug: bool, quiet: bool = False) -> Iterator[None]:
    """Errors as one sentence on stderr with exit code 1; warnings a line each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        # The command checks names itself, by the columns of the file.
        warnings.filterwarnings("ignore", message=".*valid feature names.*")
        try:
            yield
        except (typer.Exit, BrokenPipeError):
            raise
        except KeyboardInterrupt:
            typer.echo("Stopped. Nothing that was not whole is written.", err=True)
            raise typer.Exit(INTERRUPTED) from None
        except Exception as error:
            if debug or isinstance(error, typer.BadParameter):
                raise
            typer.echo(f"Error: {sentence(error)}", err=True)
            # Overflows on the way to the error; the error says what to do.
            caught[:] = [w for w in caught if w.category is not RuntimeWarning]
            raise typer.Exit(1) from error
        finally:
            if not quiet:
                for message in dict.fromkeys(str(found.message) for found in caught):
                    typer.echo(f"Warning: {' '.join(message.split())}", err=True)


@contextmanager
def working(text: str, *, quiet: bool) -> Iterator[None]:
    """A spinner on a terminal, and nothing elsewhere."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield
        return
    with console.status(f"{text} …"):
        yield


def shown(name: str) -> Text:
    r"""A name of the user's data for a terminal: no markup, and no control codes.

    Examples
    --------
    >>> shown("[/] \x1b[31m").plain
    '[/] \\x1b[31m'
    """
    letters = (c if c.isprintable() else repr(c)[1:-1] for c in name)
    return Text("".join(letters))


def say(text: str, *, quiet: bool) -> None:
    """A line beside the result, on stderr."""
    if not quiet:
        typer.echo(text, err=True)


def print_json(value: Any) -> None:
    typer.echo(json.dumps(plain(value), indent=2, allow_nan=False))


def plain(value: Any) -> Any:
    """The same for JSON: what is not finite is null."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
