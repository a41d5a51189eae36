"""What a command says when something is wrong."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import typer


@contextmanager
def one_sentence() -> Iterator[None]:
    """Errors and warnings as one line each on stderr; an error is exit code 1."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            yield
        except (ImportError, MemoryError, OSError, ValueError) as error:
            typer.echo(f"Error: {sentence(error)}", err=True)
            raise typer.Exit(1) from error
        finally:
            for warning in caught:
                typer.echo(f"Warning: {warning.message}", err=True)


def sentence(error: Exception) -> str:
    """One line that says what is wrong, and for a bug in homi, where to turn."""
    text = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        return "there is not enough memory; give fewer rows, columns or --max-words."
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror.lower()}."
    if isinstance(error, ImportError | OSError | ValueError):
        return text if text.endswith((".", "'")) else f"{text}."
    return (
        f"{type(error).__name__}: {text[:200]}; this is a bug in homi: run it "
        "again with --debug and report what it shows."
    )
