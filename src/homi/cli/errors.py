"""The error contract of every command: one sentence, an exit code, `--debug`.

Exit code 0 is success, 1 an error, 2 wrong usage and 130 Ctrl-C, as in shells.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import typer

from homi.extras import optional

FAILED, INTERRUPTED = 1, 130

#: What warnings of the library call a parameter -> the option of the command.
_OPTIONS = {
    "n_neighbors=": "--neighbors ",
    "time_budget=": "--time-budget ",
    "kernels=()": "--linear",
}

_DEBUG = ContextVar("debug", default=False)


@contextmanager
def one_sentence(*, debug: bool | None = None, quiet: bool = False) -> Iterator[None]:
    """Print errors and warnings as one line each on stderr.

    Parameters
    ----------
    debug : bool, optional
        Raise errors instead, with their traceback. Default: as in the enclosing
        ``one_sentence``.
    quiet : bool, default=False
        Print no warnings.
    """
    token = _DEBUG.set(_DEBUG.get() if debug is None else debug)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        # Commands match columns to the model by name themselves.
        warnings.filterwarnings("ignore", message=".*valid feature names.*")
        try:
            with optional("this command"):
                yield
        except (typer.Exit, typer.BadParameter, BrokenPipeError):
            raise
        except KeyboardInterrupt:
            typer.echo("Stopped. No incomplete file was written.", err=True)
            raise typer.Exit(INTERRUPTED) from None
        except Exception as error:
            if _DEBUG.get():
                raise
            print_error(error)
            # Overflows on the way to the error: the error says what to do.
            caught[:] = [w for w in caught if w.category is not RuntimeWarning]
            raise typer.Exit(FAILED) from error
        finally:
            _DEBUG.reset(token)
            if not quiet:
                for message in distinct(str(found.message) for found in caught):
                    typer.echo(f"Warning: {message}", err=True)


def distinct(messages: Iterable[str]) -> list[str]:
    """Return warnings with options for parameters, once if only numbers differ.

    Examples
    --------
    >>> distinct(["n_neighbors=9 with 5 rows", "n_neighbors=9 with 8 rows"])
    ['--neighbors 9 with 8 rows']
    """
    kept = {}
    for message in messages:
        text = " ".join(message.split())
        for parameter, option in _OPTIONS.items():
            text = text.replace(parameter, option)
        kept[re.sub(r"\d+", "#", text)] = text  # folds come before all rows
    return list(kept.values())


def print_error(error: Exception) -> None:
    """Print one line that says what is wrong, and for a bug, where to report it."""
    typer.echo(f"Error: {_sentence(error)}", err=True)


def _sentence(error: Exception) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        return "there is not enough memory; give fewer rows, columns or --max-words."
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror.lower()}."
    if isinstance(error, ImportError | OSError | ValueError):
        return text if text.endswith((".", "'")) else f"{text}."
    return (
        f"{type(error).__name__}: {text[:200]}; this is a bug in homi: run the command "
        "again with --debug and report the traceback."
    )
