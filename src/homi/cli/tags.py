"""Tags in one column of a file: a cell such as "python;numpy" <-> names of labels."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from homi.base.tags import indicator_of
from homi.budget import Budget
from homi.datasets.files import short
from homi.datasets.strings import MISSING

#: Separator of cells that are JSON lists, and separators that are recognized.
JSON = "json"
SEPARATORS = (";", "|", ",")
#: Bytes of lists of tags per character of their cells.
_LISTS = 32

#: A list as Python and numpy print it: ['a', 'b'].
_QUOTED = r"'([^'\\]*)'|\"([^\"\\]*)\""
_PRINTED = re.compile(rf"\[(?:{_QUOTED}|[\s,])*\]")


@dataclass(frozen=True)
class TagColumn:
    """A column whose cells hold all tags of a row.

    Attributes
    ----------
    name : str
        Name of the column.
    separator : str
        Text between two tags, or "json" for a list in JSON.
    """

    name: str
    separator: str

    @classmethod
    def of(cls, name: str, cells: Sequence[str], separator: str | None) -> TagColumn:
        """Return the column, with the separator that most cells show by default."""
        return cls(name, separator or _separator(cells))

    @classmethod
    def restore(cls, found: Any) -> TagColumn | None:
        """Return the column of a model file; nonsense is a ValueError."""
        if found is None:
            return None
        name, separator = found
        if not (isinstance(name, str) and isinstance(separator, str) and separator):
            raise ValueError(f"{str(found)[:40]} is not a column of tags")
        return cls(name, separator)

    def written_in(self, cells: Sequence[str], names: Iterable[str]) -> TagColumn:
        """Return the column with the separator that gives most of the known tags.

        That is this one, or the one that cells of another file show.
        """
        known, shown = {*names}, replace(self, separator=_separator(cells))
        return max(self, shown, key=lambda one: one._count(cells, known))

    def _count(self, cells: Sequence[str], known: set[str]) -> int:
        """Return the number of known tags in cells that can be split."""
        count = 0
        for cell in cells:
            with suppress(ValueError):
                count += len(known.intersection(self.split(cell)))
        return count

    @property
    def about_separator(self) -> str:
        """What separates tags, for the user."""
        if self.separator == JSON:
            return "as lists"
        return f"separated by {self.separator!r}"

    def split(self, cell: str) -> list[str]:
        """Return the tags of a cell; an empty or missing one has none."""
        cell = cell.strip()
        if cell in MISSING:
            return []
        parts = _listed(cell) if self.separator == JSON else cell.split(self.separator)
        return [part.strip() for part in parts if part.strip()]

    def join(self, tags: Iterable[str]) -> str:
        """Return the cell of some tags."""
        if self.separator == JSON:
            return json.dumps(list(tags), ensure_ascii=False)
        return self.separator.join(tags)

    def cells(
        self,
        names: Sequence[str],
        Y: NDArray[np.signedinteger],
        *,
        may_be_lists: bool = False,
    ) -> list[Any]:
        """Return the cell of each row of an indicator matrix.

        If they may be, cells of lists in JSON are lists.
        """
        join = list if may_be_lists and self.separator == JSON else self.join
        labels = np.array(names, dtype=object)
        return [join(labels[row]) for row in Y.astype(bool)]

    def rows(self, cells: Sequence[str], budget: Budget | None) -> list[list[str]]:
        """Return the tags of each row."""
        if budget is not None:
            budget.take(_LISTS * sum(map(len, cells)), f"the tags in {self.name!r}")
        rows = []
        for i, cell in enumerate(cells, 1):
            try:
                rows.append(self.split(cell))
            except ValueError as error:
                raise ValueError(
                    f"column {short(self.name)} holds {short(cell)} in row {i}, which "
                    "is not a list of texts in JSON, such as other rows hold; correct "
                    "it, or pass --tag-sep."
                ) from error
        return rows


def _separator(cells: Sequence[str]) -> str:
    """Return "json" if all cells are lists, else the separator that they show.

    That is ; or | if one cell in ten has it: a comma is often part of a name.
    """
    filled = [cell.strip() for cell in cells if cell.strip() not in MISSING]
    if filled and all(cell[0] + cell[-1] == "[]" for cell in filled):
        return JSON
    counts = {sep: sum(sep in cell for cell in filled) for sep in SEPARATORS}
    often = [sep for sep in SEPARATORS[:-1] if 10 * counts[sep] >= len(filled) > 0]
    return max(often or SEPARATORS, key=counts.__getitem__)  # the first one if equal


def _listed(cell: str) -> list[str]:
    try:
        found = json.loads(cell)
    except (ValueError, RecursionError):
        if not _PRINTED.fullmatch(cell):
            raise ValueError("not a list") from None
        return [a or b for a, b in re.findall(_QUOTED, cell)]
    if not isinstance(found, list) or not all(isinstance(t, str) for t in found):
        raise ValueError("not a list of texts")
    return found


def are_tags(cells: Sequence[str], separator: str | None = None) -> bool:
    """Return True if cells certainly hold several tags each.

    They do if all parts of a cell are parts of other cells, too, and a quarter of all
    different parts are. Texts with commas repeat few of theirs.

    Examples
    --------
    >>> are_tags(["red;round", "round", "red"]), are_tags(["Rome, Italy", "Oslo"])
    (True, False)
    """
    column = TagColumn.of("", cells, separator)
    try:
        parts = [set(column.split(cell)) for cell in set(cells)]
    except ValueError:
        return False
    counts = Counter(chain.from_iterable(parts))
    if 4 * sum(count > 1 for count in counts.values()) < len(counts):
        return False
    return any(len(own) > 1 and all(counts[p] > 1 for p in own) for own in parts)


def known_tags(
    rows: Sequence[Sequence[str]], names: Sequence[str], budget: Budget | None
) -> tuple[NDArray[np.signedinteger], list[str]]:
    """Return the indicator matrix of known tags, and other tags, sorted."""
    if budget is not None:
        n, q = len(rows), len(names)
        budget.take(11 * n * q, f"its {n:,} rows of {q:,} labels")
    others = set(chain.from_iterable(rows)) - set(names)
    known, _ = indicator_of(list(rows), names)
    return known.astype(np.int8), sorted(others)
