"""Parser of ARFF text, dense or sparse, with the labels of MEKA and Mulan.

The header is parsed here, because only its quotes tell whether a backslash in a name
is a character (delicious has such labels) or an escape (birds). The rows are split by
liac-arff, which gets a header without names and types.
"""

from __future__ import annotations

import csv
import functools
import itertools
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from homi.budget import Budget, Refused
from homi.datasets.dataset import Content, Labels, Table, csr
from homi.datasets.files import at_line, lines, number, short, split_name
from homi.extras import optional
from homi.typing import Matrix

with optional("reading ARFF"):
    import arff

Lines: TypeAlias = Iterator[tuple[int, str]]
Lookup: TypeAlias = dict[str | None, float]

_QUOTED = r"""'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*\""""
_WORD = rf"""(?:{_QUOTED}|[^\s{{}},'"][^\s{{}},]*)"""
# Only ASCII spaces separate; others, such as a no-break space, belong to a name.
_STRINGS = re.compile(_QUOTED, re.ASCII | re.DOTALL)
_ATTRIBUTE = re.compile(rf"({_WORD})\s*(.*)", re.ASCII | re.DOTALL)
_VALUE = re.compile(rf"\s*({_WORD})\s*([,}}])", re.ASCII | re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-f]{4}|[0-7]{1,3}|.)", re.DOTALL)
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_MEKA = re.compile(r"(?<!\w)-C\s+(-?)0*([1-9]\d*)")
_NUMBERS = {"numeric", "real", "integer"}

#: Bytes of a column, a declared value, a dense cell, and an entry of a sparse row.
_COLUMN, _WORD_BYTES, _CELL, _ENTRY = 1000, 200, 18, 48


class Header(NamedTuple):
    """Relation, names of the columns, and the values of nominal columns."""

    relation: str
    names: list[str]
    nominal: dict[int, list[str]]


def parse(path: Path, budget: Budget) -> Content:
    """Parse an ARFF file, and find out which columns are labels.

    A Mulan label list of the same name beside it has priority over MEKA's ``-C``:
    names survive a reordering of columns, and counts do not.
    """
    numbered = lines(path, budget)
    header = _header(numbered, budget)
    values = _values(header, numbered, budget)
    table = Table(header.names, values, header.nominal, budget)
    beside = path.with_name(f"{split_name(path)[0]}.xml")
    if beside.is_file():
        return Content(table, said=beside)
    said, note = _meka(header.relation)
    return Content(table, said=said, note=note)


def _meka(relation: str) -> tuple[Labels | None, str]:
    """Parse MEKA's ``-C 6`` (the first six columns) or ``-C -6`` (the last six)."""
    found = _MEKA.search(relation)
    if found is None:
        return None, "; or put an XML file of the same name beside it."
    if ".Reorder" in relation[found.end() :]:
        return None, (
            f" (the {found[0]!r} of the header is not used, because the columns were "
            "reordered after it was set)."
        )
    return f"{'last' if found[1] else 'first'} {found[2]}", ""


def _header(numbered: Lines, budget: Budget) -> Header:
    header = Header("", [], {})
    for count, line in numbered:
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        keyword, *rest = text.split(None, 1)
        keyword = keyword.lower()
        if keyword == "@data":
            if not header.names:
                raise at_line(
                    count, "@data without any @attribute; declare the columns."
                )
            return header
        if keyword == "@relation":
            header = header._replace(relation="".join(rest))
        elif keyword == "@attribute":
            _declare(header, count, "".join(rest))
            words = header.nominal.get(len(header.names) - 1, ())
            budget.take(_COLUMN + _WORD_BYTES * len(words), "its columns")
        else:
            expected = "@relation, @attribute or @data"
            raise at_line(count, f"{short(text)} in the header; expected {expected}.")
    raise Refused("has no @data; check that it is ARFF and complete.")


def _declare(header: Header, count: int, text: str) -> None:
    """Add a column, given as ``name type``, to the header."""
    found = _ATTRIBUTE.match(text)
    if found is None or not found[2]:
        raise at_line(count, f"@attribute {short(text)}; expected a name, then a type.")
    name = _plain(found[1], count)
    if found[2].startswith("{"):
        header.nominal[len(header.names)] = _nominal(found[2], count, name)
    else:
        _check_number(found[2].split("%")[0].strip(), count, name)
    header.names.append(name)


def _check_number(kind: str, count: int, name: str) -> None:
    if kind.lower() not in _NUMBERS:
        raise at_line(
            count,
            f"column {short(name)} has type {short(kind)}; only numeric and nominal "
            "columns are supported: remove it, or convert text and dates to numbers.",
        )


def _nominal(text: str, count: int, name: str) -> list[str]:
    """Parse the values of ``{a, 'b c'}``."""
    values, end, at = [], ",", 1
    while end == ",":
        found = _VALUE.match(text, at)
        if found is None:
            raise at_line(
                count,
                f"the values of {short(name)} cannot be parsed at {short(text[at:])}; "
                "expected {a,b,'c d'}.",
            )
        values.append(_plain(found[1], count))
        end, at = found[2], found.end()
    rest = text[at:].strip()
    if (rest and not rest.startswith("%")) or len(set(values)) < len(values):
        raise at_line(count, f"{short(name)} has a value twice, or text after '}}'.")
    return values


def _plain(word: str, count: int) -> str:
    """Remove quotes and escapes; an unquoted word has none."""
    if word[0] not in "'\"":
        return word
    plain = _ESCAPE.sub(_unescaped, word[1:-1])
    if any("\ud800" <= letter <= "\udfff" for letter in plain):
        raise at_line(
            count, f"{short(word)} has half of a surrogate pair; write the character."
        )
    return plain


def _unescaped(found: re.Match[str]) -> str:
    code = found[1]
    if len(code) == 5:
        return chr(int(code[1:], 16))
    return chr(int(code, 8)) if code[0] in "01234567" else _CONTROLS.get(code, code)


def _values(header: Header, numbered: Lines, budget: Budget) -> Matrix:
    """Return the rows as an array, or as a CSR array if they are in braces."""
    source = _Rows(header, numbered)
    numbers, positions = _Numbers(), functools.cache(_Positions)
    lookups: list[Lookup] = [
        positions(tuple(header.nominal[j])) if j in header.nominal else numbers
        for j in range(len(header.names))
    ]
    convert = _sparse if source.in_braces else _dense
    return convert(source, lookups, budget)


def _dense(source: _Rows, lookups: Sequence[Lookup], budget: Budget) -> Matrix:
    cells = array("d")
    for row in source:
        budget.take(_CELL * len(lookups), "its rows")
        try:
            cells.extend([at[text] for at, text in zip(lookups, row, strict=True)])
        except (KeyError, ValueError):
            raise source.bad_value(enumerate(row), lookups) from None
    return np.frombuffer(cells).reshape(-1, len(lookups))


def _sparse(source: _Rows, lookups: Sequence[Lookup], budget: Budget) -> Matrix:
    cells, columns, ends = array("d"), array("q"), array("q", [0])
    for row in source:
        budget.take(_ENTRY * (1 + len(row)), "its rows")
        try:
            cells.extend([lookups[j][text] for j, text in row.items()])
        except (KeyError, ValueError):
            raise source.bad_value(row.items(), lookups) from None
        columns.extend(row)
        ends.append(len(columns))
    return csr(np.array(cells), np.array(columns), np.array(ends), len(lookups))


class _Numbers(dict[str | None, float]):
    """Map from text to number; None, which liac-arff makes of ``?``, is NaN."""

    def __missing__(self, text: str | None) -> float:
        return float("nan") if text is None else number(text)


class _Positions(dict[str | None, float]):
    """Map from nominal value to position."""

    def __init__(self, values: Sequence[str]) -> None:
        super().__init__((value, float(i)) for i, value in enumerate(values))
        self[None] = float("nan")


class _Rows:
    """Rows of strings, split by liac-arff: lists, or dicts from column to string."""

    def __init__(self, header: Header, numbered: Lines) -> None:
        self._header, self._numbered = header, self._data(numbered)
        self.count, self.line = 0, ""
        first = next(self._numbered, None)
        if first is None:
            raise Refused("has no rows after @data; at least one is needed.")
        self._numbered = itertools.chain([first], self._numbered)
        self.in_braces = first[1].startswith("{")

    def __iter__(self) -> Iterator[Any]:
        form = arff.LOD_GEN if self.in_braces else arff.DENSE_GEN
        rows = arff.load(self._text(), return_type=form)["data"]
        while True:
            try:
                row = next(rows, None)
            except Refused:
                raise
            except (arff.ArffException, csv.Error, ValueError) as error:
                raise self._bad_row(error) from error
            if row is None:
                return
            if self.in_braces:
                self._check_indices(row)
            yield row

    @staticmethod
    def _data(numbered: Lines) -> Lines:
        stripped = ((count, line.strip()) for count, line in numbered)
        return (pair for pair in stripped if pair[1] and pair[1][0] != "%")

    def _text(self) -> Iterator[str]:
        """Yield the input of liac-arff, without its lossy types and its short names."""
        yield "@relation r"
        for j in range(len(self._header.names)):
            yield f"@attribute a{j} string"
        yield "@data"
        for count, line in self._numbered:
            if line.startswith("{") is not self.in_braces:
                raise at_line(
                    count, "mixes rows with and without braces; use one form."
                )
            self.count, self.line = count, line
            yield line

    def _check_indices(self, row: dict[int, str | None]) -> None:
        """Refuse two values for one column; liac-arff silently keeps the last."""
        line = self.line
        if "'" in line or '"' in line:
            line = _STRINGS.sub("", line)
        if row and line.count(",") + 1 != len(row):
            raise at_line(self.count, "has a column twice; keep one of the values.")

    def _bad_row(self, error: Exception) -> Refused:
        # The message of liac-arff is not used: a '%' in a row breaks its formatting.
        reason = " cannot be split into values; check quotes, commas and braces"
        if isinstance(error, arff.BadDataFormat):
            what = "column numbers below" if self.in_braces else "as many values as"
            reason = f"; expected {what} the {len(self._header.names)} of the header"
        return at_line(self.count, f"{short(self.line)}{reason}.")

    def bad_value(
        self, row: Iterable[tuple[int, Any]], lookups: Sequence[Lookup]
    ) -> Refused:
        """Return the error for the first value that has no number."""
        for j, text in row:
            try:
                lookups[j][text]
            except (KeyError, ValueError):
                break
        what = "a declared value" if j in self._header.nominal else "a number"
        name = short(self._header.names[j])
        return at_line(self.count, f"column {name}: {short(text)} is not {what}.")
