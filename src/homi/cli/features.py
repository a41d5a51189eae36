"""Columns of features in a training file: texts, dates, identifiers, and others."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, Self, TypeVar

from homi.cli.kinds import (
    ORDERS,
    PARTS,
    date_order,
    date_parts,
    kind_of,
    may_be_special,
    most_frequent,
    without_rare,
)
from homi.datasets.files import short


class Strings(Protocol):
    """A file whose columns can be read as strings."""

    def first_strings(self, name: str) -> list[str]:
        """Return the first strings of a column; none if it holds numbers."""

    def texts(self, names: list[str]) -> list[str]:
        """Return one string per row."""

    def replaced(self, name: str, new: dict[str, list[str]]) -> Self:
        """Return the file with other columns in the place of one."""


File = TypeVar("File", bound=Strings)


@dataclass(frozen=True)
class Features:
    """Columns of features.

    Attributes
    ----------
    names : list of str
        Columns of numbers and words, and parts of dates.
    text : list of str
        Columns of texts; all others are ignored if there are any.
    dates : dict
        Columns of dates, and the order of day, month and year.
    frequent : dict
        Columns of too many distinct words, and the words that stay.
    left_out : list of str
        Columns of identifiers.
    notes : list of str
        What was found, for the user.
    """

    names: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    dates: dict[str, str] = field(default_factory=dict)
    frequent: dict[str, list[str]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def features_of(file: Strings, names: Iterable[str]) -> Features:
    """Find dates, identifiers and texts among columns; report all that cannot be."""
    kinds: dict[str, list[str]] = {"": [], "identifier": [], "text": [], "many": []}
    dates: dict[str, str] = {}
    frequent: dict[str, list[str]] = {}
    for name in names:
        some = file.first_strings(name)
        cells = file.texts([name]) if may_be_special(name, some) else []
        if order := date_order(cells):
            dates[name] = order
            continue
        kind = kind_of(name, cells)
        if kind == "many":
            frequent[name] = most_frequent(cells)
        kinds[kind].append(name)
    parts = [f"{name}.{part}" for name in dates for part in PARTS]
    others, texts = kinds[""] + kinds["many"] + parts, kinds["text"]
    left_out = kinds["identifier"]
    if texts and others:
        raise ValueError(_mixed(texts))
    if not others and not texts:
        raise ValueError(
            f"no feature column is left: every row of {_quoted(left_out)} is "
            "different, as in identifiers; add columns that say more."
        )
    found = Features(others, texts, dates, frequent, left_out)
    return replace(found, notes=list(_notes(found)))


def converted(
    file: File, dates: dict[str, str], frequent: dict[str, list[str]]
) -> File:
    """Return a file with parts of dates, and with one word for all rare words."""
    for name, order in dates.items():
        parts = date_parts(file.texts([name]), order, name)
        names = [f"{name}.{part}" for part in PARTS]
        file = file.replaced(name, dict(zip(names, parts, strict=True)))
    for name, words in frequent.items():
        file = file.replaced(name, {name: without_rare(file.texts([name]), words)})
    return file


def _notes(found: Features) -> Iterator[str]:
    if found.left_out:
        yield f"Left out as identifiers: {_quoted(found.left_out)}."
    if found.text:
        yield f"Read as texts: {_quoted(found.text)}."
    for name, order in found.dates.items():
        features = ", ".join(PARTS)
        yield f"Read as dates ({ORDERS[order]}): {short(name)}, as {features}."
    for name, words in found.frequent.items():
        yield f"All but the {len(words)} most frequent words are one: {short(name)}."


def _mixed(texts: list[str]) -> str:
    """Return the error for texts beside other columns."""
    text, drop = (
        " ".join(f"{option} {shlex.quote(name)}" for name in texts)
        for option in ("--text", "--drop")
    )
    return (
        f"{_quoted(texts)}: free text; run again with {text} for a model of texts "
        f"only, or with {drop} for one of the other columns."
    )


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(map(short, names))
