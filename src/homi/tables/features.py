"""Columns of a table: texts, vectors, dates, identifiers, and others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from homi.datasets.dataset import Table
from homi.datasets.files import short
from homi.tables.kinds import (
    ORDERS,
    PARTS,
    date_order,
    date_parts,
    kind_of,
    may_be_special,
    most_frequent,
    without_rare,
)
from homi.typing import Array


class ColumnSource(Protocol):
    """A file or a data frame whose columns can be read as strings and as numbers."""

    @property
    def names(self) -> list[str]:
        """Names of the columns."""

    def first_strings(self, name: str) -> list[str]:
        """Return the first strings of a column; none if it holds numbers."""

    def texts(self, names: list[str]) -> list[str]:
        """Return one string per row."""

    def is_empty(self, name: str) -> bool:
        """Return True if every cell of a column is missing."""

    def vectors(self, name: str) -> Array | None:
        """Return a column whose cells are lists of numbers; None for any other."""

    def replaced(self, name: str, new: dict[str, list[str]]) -> Self:
        """Return the source with other columns in the place of one."""

    def position(self, name: str) -> int:
        """Return the position of a column."""

    def take(self, columns: list[int]) -> Table:
        """Return columns as numbers, or as positions in lists of words."""


Source = TypeVar("Source", bound=ColumnSource)


@dataclass(frozen=True)
class Features:
    """Columns of features.

    Attributes
    ----------
    names : list of str
        Columns of numbers and words, and parts of dates.
    text : list of str
        Columns of texts.
    dates : dict
        Columns of dates, and the order of day, month and year.
    frequent : dict
        Columns of too many distinct words, and the words that stay.
    vectors : dict
        Columns of lists of numbers, such as embeddings, and their length.
    left_out : list of str
        Columns of identifiers, and empty ones.
    notes : list of str
        What was found, for the user.
    """

    names: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    dates: dict[str, str] = field(default_factory=dict)
    frequent: dict[str, list[str]] = field(default_factory=dict)
    vectors: dict[str, int] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def sources(self) -> list[str]:
        """Columns that the features are made of."""
        return [*self.plain, *self.dates, *self.text, *self.vectors]

    @property
    def plain(self) -> list[str]:
        """Columns of numbers and words."""
        parts = {f"{name}.{part}" for name in self.dates for part in PARTS}
        return [name for name in self.names if name not in parts]


class TableParts(NamedTuple):
    """Rows of a table by the kind of their columns; None if there is no such column.

    ``sentences`` are embeddings of the texts.
    """

    table: Table | None = None
    texts: list[str] | None = None
    vectors: Array | None = None
    sentences: Array | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        if self.table is not None:
            return int(self.table.values.shape[0])
        if self.texts is not None:
            return len(self.texts)
        return 0 if self.vectors is None else int(self.vectors.shape[0])

    def rows(self, rows: Any) -> TableParts:
        """Return some of the rows."""
        table, texts, vectors, sentences = self
        if table is not None:
            table = table._replace(values=table.values[rows])
        if texts is not None:
            texts = np.array(texts, dtype=object)[rows].tolist()
        vectors = None if vectors is None else vectors[rows]
        sentences = None if sentences is None else sentences[rows]
        return TableParts(table, texts, vectors, sentences)


def find_features(
    source: ColumnSource, names: Iterable[str], text: Sequence[str] = ()
) -> Features:
    """Find texts, vectors, dates and identifiers among columns; `text` is known."""
    kinds: dict[str, list[str]] = {"": [], "identifier": [], "text": [], "many": []}
    dates: dict[str, str] = {}
    frequent: dict[str, list[str]] = {}
    vectors: dict[str, int] = {}
    empty: list[str] = []
    for name in names:
        if name in text:
            continue
        if source.is_empty(name):
            empty.append(name)
            continue
        if (found := source.vectors(name)) is not None:
            vectors[name] = found.shape[1]
            continue
        some = source.first_strings(name)
        cells = source.texts([name]) if may_be_special(name, some) else []
        if order := date_order(cells):
            dates[name] = order
            continue
        kind = kind_of(name, cells)
        if kind == "many":
            frequent[name] = most_frequent(cells)
        kinds[kind].append(name)
    parts = [f"{name}.{part}" for name in dates for part in PARTS]
    others, texts = kinds[""] + kinds["many"] + parts, [*text, *kinds["text"]]
    left_out = kinds["identifier"]
    if not others and not texts and not vectors:
        raise ValueError(
            f"no feature column is left: {_quoted([*left_out, *empty])} are empty, or "
            "different in each row, as identifiers are; add columns that say more."
        )
    features = Features(others, texts, dates, frequent, vectors, left_out)
    notes = [*_notes(features, text)]
    if empty:
        notes.insert(0, f"Left out, because every cell is empty: {_quoted(empty)}.")
    return replace(features, left_out=left_out + empty, notes=notes)


def parts_of(source: ColumnSource, found: Features) -> TableParts:
    """Return the columns of features; those that are missing are a ValueError."""
    if lost := [name for name in found.sources if name not in source.names]:
        raise ValueError(
            f"lacks {len(lost)} of the {len(found.sources)} columns that the model was "
            f"fitted on: {_quoted(lost[:5])}; add them, by these names."
        )
    expanded = converted(source, found.dates, found.frequent)
    table = None
    if found.names:
        table = expanded.take([expanded.position(name) for name in found.names])
    return TableParts(
        table,
        source.texts(found.text) if found.text else None,
        np.hstack([_vectors(source, *pair) for pair in found.vectors.items()])
        if found.vectors
        else None,
    )


def _vectors(source: ColumnSource, name: str, length: int) -> Array:
    found = source.vectors(name)
    if found is None or found.shape[1] != length:
        got = "no lists" if found is None else f"lists of {found.shape[1]}"
        raise ValueError(
            f"column {short(name)} holds {got}, and held lists of {length} numbers in "
            "training; give these."
        )
    return found


def converted(
    file: Source, dates: dict[str, str], frequent: dict[str, list[str]]
) -> Source:
    """Return a source with parts of dates, and with one word for all rare words."""
    for name, order in dates.items():
        parts = date_parts(file.texts([name]), order, name)
        names = [f"{name}.{part}" for part in PARTS]
        file = file.replaced(name, dict(zip(names, parts, strict=True)))
    for name, words in frequent.items():
        file = file.replaced(name, {name: without_rare(file.texts([name]), words)})
    return file


def _notes(found: Features, text: Sequence[str]) -> Iterator[str]:
    if found.left_out:
        yield f"Left out as identifiers: {_quoted(found.left_out)}."
    if texts := [name for name in found.text if name not in text]:
        yield f"Read as texts: {_quoted(texts)}."
    for name, length in found.vectors.items():
        yield f"Read as vectors of {length} numbers: {short(name)}."
    for name, order in found.dates.items():
        features = ", ".join(PARTS)
        yield f"Read as dates ({ORDERS[order]}): {short(name)}, as {features}."
    for name, words in found.frequent.items():
        yield f"All but the {len(words)} most frequent words are one: {short(name)}."


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(map(short, names))


#: Most rows that features are compared on, as in the search of HOMICV.
_MOST_ROWS = 2_000


def sample_of(parts: TableParts, y: Any) -> tuple[TableParts, Any]:
    """Return at most 2,000 rows, and their labels."""
    n = parts.n_rows
    if n <= _MOST_ROWS:
        return parts, y
    rows = np.sort(np.random.default_rng(0).permutation(n)[:_MOST_ROWS])
    if hasattr(y, "iloc"):
        return parts.rows(rows), y.iloc[rows]
    is_list = isinstance(y, list | tuple)
    return parts.rows(rows), [y[i] for i in rows] if is_list else y[rows]
