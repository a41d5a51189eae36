"""Columns of features in a training file: texts, dates, identifiers, and others."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from homi.cli.kinds import ORDERS, PARTS, date_order, kind_of, may_be_special
from homi.datasets.files import short


class Strings(Protocol):
    """A file whose columns can be read as strings."""

    def first_strings(self, name: str) -> list[str]:
        """Return the first strings of a column; none if it holds numbers."""

    def texts(self, names: list[str]) -> list[str]:
        """Return one string per row."""


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
    left_out : list of str
        Columns of identifiers.
    notes : list of str
        What was found, for the user.
    """

    names: list[str]
    text: list[str] = field(default_factory=list)
    dates: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def features_of(file: Strings, names: Iterable[str]) -> Features:
    """Find dates, identifiers and texts among columns; report all that cannot be."""
    kinds: dict[str, list[str]] = {"": [], "identifier": [], "text": [], "many": []}
    dates: dict[str, str] = {}
    for name in names:
        some = file.first_strings(name)
        cells = file.texts([name]) if may_be_special(name, some) else []
        if order := date_order(cells):
            dates[name] = order
        else:
            kinds[kind_of(name, cells)].append(name)
    parts = [f"{name}.{part}" for name in dates for part in PARTS]
    others, texts, left_out = kinds[""] + parts, kinds["text"], kinds["identifier"]
    if kinds["many"] or (texts and others):
        raise ValueError(_mixed(texts, kinds["many"]))
    if not others and not texts:
        raise ValueError(
            f"no feature column is left: every row of {_quoted(left_out)} is "
            "different, as in identifiers; add columns that say more."
        )
    return Features(others, texts, dates, left_out, _notes(texts, dates, left_out))


def _notes(texts: list[str], dates: dict[str, str], left_out: list[str]) -> list[str]:
    notes = [f"Left out as identifiers: {_quoted(left_out)}."] if left_out else []
    notes += [f"Read as texts: {_quoted(texts)}."] if texts else []
    for name, order in dates.items():
        features = ", ".join(PARTS)
        notes.append(f"Read as dates ({ORDERS[order]}): {short(name)}, as {features}.")
    return notes


def _mixed(texts: list[str], many: list[str]) -> str:
    """Return the error for columns that cannot be features beside others."""
    drop = " ".join(f"--drop {shlex.quote(name)}" for name in (*texts, *many))
    text = " ".join(f"--text {shlex.quote(name)}" for name in texts or many)
    return (
        f"{_quoted([*texts, *many])}: free text; run again with {text} for a model of "
        f"texts only, or with {drop} for one of the other columns."
    )


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(map(short, names))
