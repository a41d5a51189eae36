"""Register functions as commands: shared option groups, `--debug`, error contract."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

import typer

from homi.cli.errors import one_sentence
from homi.cli.options import Debug
from homi.extras import optional

if TYPE_CHECKING:
    from homi.typing import Fields

Function = TypeVar("Function", bound=Callable[..., Any])


def command(
    app: typer.Typer, name: str | None = None, *, extra: str | None = None
) -> Callable[[Function], Function]:
    """Return a decorator that makes a function a command of an app.

    An error for a missing package names `extra`, or else the extra of that package.

    The command gets the option ``--debug``. It prints errors as `one_sentence` does. A
    parameter whose type is a dataclass is an option group: each field is an option,
    and the function gets the dataclass.
    """

    def register(function: Function) -> Function:
        app.command(name, help=_help(function))(_guarded(function, extra))
        return function

    return register


def _help(function: Callable[..., Any]) -> str:
    """Return the docstring with each paragraph on one line, to fill any terminal."""
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    return "\n\n".join(each.replace("\n", " ") for each in paragraphs)


def _guarded(function: Callable[..., Any], extra: str | None) -> Callable[..., Any]:
    hints = get_type_hints(function, include_extras=True)
    groups: Fields = {n: t for n, t in hints.items() if is_dataclass(t)}

    @functools.wraps(function)
    def run(**given: Any) -> Any:
        debug, quiet = given.pop("debug"), given.get("quiet", False)
        with (
            one_sentence(debug=debug, quiet=quiet),
            optional("this command", extra),
        ):
            for name, kind in groups.items():
                options = {field.name: given.pop(field.name) for field in fields(kind)}
                given[name] = kind(**options)
            return function(**given)

    parameters = list(_parameters(function, hints))
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def _parameters(
    function: Callable[..., Any], hints: Fields
) -> Iterator[inspect.Parameter]:
    """Yield the parameters of a function, option groups field by field."""
    for name, parameter in inspect.signature(function).parameters.items():
        if not is_dataclass(hints[name]):
            yield _keyword(name, hints[name], parameter.default)
            continue
        types = get_type_hints(hints[name], include_extras=True)
        for field in fields(hints[name]):
            yield _keyword(field.name, types[field.name], field.default)
    yield _keyword("debug", Debug, False)


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=annotation)
