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
        except (ImportError, OSError, ValueError) as error:
            typer.echo(f"Error: {error}", err=True)
            raise typer.Exit(1) from error
        finally:
            for warning in caught:
                typer.echo(f"Warning: {warning.message}", err=True)
