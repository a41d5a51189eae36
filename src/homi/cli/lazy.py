"""Commands that are imported when they run.

Their modules import scikit-learn and what needs it inside functions: help is there at
once, and tests/test_install.py checks it.
"""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from homi.cli.command import command
from homi.cli.errors import one_sentence

#: Name -> first line of the help, the same as in ``homi.cli.<name>``. That module has
#: a function of this name, or for a group a Typer app ``<name>_app``.
COMMANDS = {
    "fit": "Fit a model to a file of labeled rows, and write it as one model file.",
    "predict": "Predict the labels of the rows of a file: one column of 0 and 1 per "
    "label.",
    "evaluate": "Measure a model on labeled rows: every metric, and each label by "
    "itself.",
    "cv": "Cross-validate: fit to all folds but one, measure on that one, in turn.",
    "audit": "Find labels of a training file that are probably wrong.",
    "ask": "Choose the labels of each row to ask a person about.",
    "explain": "Show how labels depend on each other: one page to open in a browser.",
    "export": "Export a model to ONNX, for programs without Python.",
    "doctor": "Check the installation: versions, BLAS, threads, extras, data, a "
    "self-test.",
    "demo": "Compare HOMICV with others on genes and on texts, and draw tags of texts.",
    "data": "Data sets: list, describe, fetch, add and check them.",
    "bench": "Run, inspect, check, pack and report experiments.",
}


class LazyGroup(TyperGroup):
    """The group of all `COMMANDS`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, text in COMMANDS.items():
            self.add_command(LazyCommand(name, help=text))


class LazyCommand(TyperCommand):
    """A name and a line of help; the command or group itself is imported to run."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Return the context of the imported command, which click then invokes."""
        return self.imported.make_context(*args, **kwargs)

    @cached_property
    def imported(self) -> Any:
        """The command or group itself."""
        name = str(self.name)
        with one_sentence():
            module = import_module(f"homi.cli.{name}")
        group = getattr(module, f"{name}_app", None)
        return typer.main.get_command(group or _alone(getattr(module, name)))

    def __getattr__(self, name: str) -> Any:
        """Import a group if its commands are asked for, as by a list of all."""
        if name == "commands":
            return self.imported.commands
        raise AttributeError(name)


def _alone(function: Any) -> typer.Typer:
    app = typer.Typer(add_completion=False)
    command(app)(function)
    return app
