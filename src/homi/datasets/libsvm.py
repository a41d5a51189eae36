"""Parser of multi-label LIBSVM text: ``3,7 1:0.5 4:2``, one row per line."""

from __future__ import annotations

import json
import re
from array import array
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from homi.budget import Budget, Refused
from homi.datasets.dataset import Content, Table, csr
from homi.datasets.files import at_line, lines, number, short
from homi.datasets.labels import check_unique
from homi.typing import Matrix

#: Labels of a row, and the indices and values of its features.
Row: TypeAlias = tuple[list[int], list[int], list[float]]

#: Start of the comment in which `homi.datasets.write` keeps the names.
NAMES = "# names "

#: Bytes per entry of a row until it is in a CSR array.
_ENTRY = 60

_LABELS = re.compile(r"[+-]?[0-9]{1,18}(?:,[+-]?[0-9]{1,18})*", re.ASCII)


class Names(NamedTuple):
    """Names of features and labels."""

    features: list[str]
    labels: list[str]


class Entries:
    """Rows of a CSR array under construction."""

    def __init__(self) -> None:
        self.columns, self.values = array("q"), array("d")
        self.ends = array("q", [0])

    def add(self, columns: list[int], values: list[float]) -> None:
        """Append a row."""
        self.columns.extend(columns)
        self.values.extend(values)
        self.ends.append(len(self.columns))

    def csr(self, base: int, n_columns: int) -> Matrix:
        """Return the rows as a CSR array; column ``base`` becomes column 0."""
        columns = np.array(self.columns) - base
        return csr(np.array(self.values), columns, np.array(self.ends), n_columns)


def parse(path: Path, budget: Budget) -> Content:
    """Parse a LIBSVM file.

    A line without a label starts with its first feature. Features are counted from
    0 if the index 0 occurs, else from 1, and named by their index. Labels are named
    by their number, in ascending order. A first line that `homi.datasets.write` wrote
    names both.
    """
    features, labels, names = Entries(), Entries(), None
    for count, line in lines(path, budget):
        if count == 1:
            names = names_in(line)
        if row := row_in(count, line):
            chosen, columns, values = row
            budget.take(_ENTRY * (2 + len(chosen) + len(columns)), "its rows")
            labels.add(chosen, [1.0] * len(chosen))
            features.add(columns, values)
    if len(features.ends) == 1:
        raise Refused("has no rows; at least one is needed.")
    if names:
        budget.take_columns(len(names.features) + len(names.labels))
        return _named(features, labels, names, budget)
    return _numbered(features, labels, budget)


def names_in(line: str) -> Names | None:
    """Return the names in the first line of a file, or None if it has none."""
    _, mark, comment = line.partition("#")
    if not (mark + comment).startswith(NAMES):
        return None
    return _names(comment[len(NAMES) - 1 :])


def row_in(count: int, line: str) -> Row | None:
    """Parse a line; return None if it holds no row."""
    parts = line.partition("#")[0].split()
    if not parts:
        return None
    has_labels = ":" not in parts[0]
    chosen = _labels(count, parts[0]) if has_labels else []
    return chosen, *_features(count, parts[has_labels:])


def _numbered(features: Entries, labels: Entries, budget: Budget) -> Content:
    base = 0 if 0 in features.columns else 1
    last = max(features.columns, default=0)
    ids, columns = np.unique(np.array(labels.columns), return_inverse=True)
    budget.take_columns(last + len(ids))
    labels.columns = array("q", columns.astype(np.int64).tobytes())
    names = Names(
        [str(index) for index in range(base, last + 1)], [str(i) for i in ids]
    )
    return _content(features, base, labels, names, budget)


def _named(features: Entries, labels: Entries, names: Names, budget: Budget) -> Content:
    for entries, base, known, what in (
        (features, 1, names.features, "feature"),
        (labels, 0, names.labels, "label"),
    ):
        low, high = base, base + len(known) - 1
        used = (min(entries.columns, default=low), max(entries.columns, default=low))
        if used[0] < low or used[1] > high:
            raise Refused(
                f"line 1 names {len(known)} {what}s, with indices {low} to {high}, but "
                f"indices {used[0]} to {used[1]} occur."
            )
    return _content(features, 1, labels, names, budget)


def _content(
    features: Entries, base: int, labels: Entries, names: Names, budget: Budget
) -> Content:
    X = Table(names.features, features.csr(base, len(names.features)), {}, budget)
    Y = Table(names.labels, labels.csr(0, len(names.labels)), {}, budget)
    return Content(X, labels=Y)


def _labels(count: int, text: str) -> list[int]:
    if not _LABELS.fullmatch(text):
        raise at_line(count, f"labels {short(text)}; expected integers such as 3,7.")
    labels = [int(part) for part in text.split(",")]
    if len(set(labels)) < len(labels):
        raise at_line(count, f"{short(text)} has a label twice; keep one.")
    return labels


def _features(count: int, parts: list[str]) -> tuple[list[int], list[float]]:
    try:
        pairs = [part.split(":") for part in parts]
        columns = [_index(index) for index, _ in pairs]
        values = [number(value) for _, value in pairs]
    except ValueError:
        wrong = next(part for part in parts if not _is_feature(part))
        raise at_line(
            count, f"{short(wrong)}; expected a feature such as 12:0.5."
        ) from None
    if len(set(columns)) < len(columns):
        raise at_line(count, "has a feature index twice; keep one.")
    return columns, values


def _is_feature(part: str) -> bool:
    try:
        index, value = part.split(":")
        _index(index)
        number(value)
    except ValueError:
        return False
    return True


def _index(text: str) -> int:
    if not text.isdecimal() or len(text) > 18:
        raise ValueError(f"{text!r} is not an index")
    return int(text)


def _names(text: str) -> Names:
    try:
        features, labels = json.loads(text)
        names = Names(features, labels)
        check_unique(features, "feature")
        check_unique(labels, "label")
    except (ValueError, TypeError, RecursionError) as error:
        raise at_line(1, f"its names cannot be parsed: {error}") from error
    both = [features, labels]
    if not all(isinstance(part, list) for part in both) or not all(
        isinstance(name, str) for part in both for name in part
    ):
        raise at_line(1, "its names must be two lists of strings; remove the line.")
    return names
