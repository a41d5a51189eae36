"""Recognize how a CSV or TSV file is written: encoding, delimiter, decimal comma."""

from __future__ import annotations

import codecs
import csv
import io
import re
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple

from homi.budget import Budget, Refused
from homi.datasets.files import open_binary, split_name

#: Bytes that are looked at.
_SAMPLE = 1 << 16
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
#: Bytes that Windows-1252 does not define.
_UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")


class Dialect(NamedTuple):
    """How a text file of columns is written.

    Attributes
    ----------
    delimiter : str
        Character between cells.
    encoding : str
        Name of the codec; "utf-8" whether there is a byte order mark or not.
    decimal : {".", ","}
        Decimal point of numbers. With "," numbers may have a point, too.
    about : str
        What differs from the default of the suffix, for a note; may be empty.
    """

    delimiter: str = ","
    encoding: str = "utf-8"
    decimal: str = "."
    about: str = ""


def sniff(path: Path, budget: Budget) -> Dialect:
    """Recognize the dialect of a text file by its first bytes.

    The encoding is UTF-16 if the file begins with a byte order mark, UTF-8 if all of
    it is valid, else Windows-1252 or Latin-1.
    """
    sample, encoding = _sample(path, budget)
    default = suffix_delimiter(path)
    delimiter = _delimiter(sample, default)
    has_comma = delimiter == ";" and re.search(
        r'(?m)(?:^|;)"?[+-]?\d+,\d+"?(?:;|\r?$)', sample
    )
    found = [
        f"encoding {encoding}" if encoding != "utf-8" else "",
        f"cells between {_DELIMITERS[delimiter]}" if delimiter != default else "",
        "decimal commas" if has_comma else "",
    ]
    about = ", ".join(text for text in found if text)
    return Dialect(delimiter, encoding, "," if delimiter == ";" else ".", about)


def suffix_delimiter(path: Path) -> str:
    """Return a tab for ``.tsv`` files, else a comma."""
    return "\t" if split_name(path)[1] == ".tsv" else ","


def _sample(path: Path, budget: Budget) -> tuple[str, str]:
    """Return the first lines of a file, and the encoding of all of it."""
    # These bytes are read once more: here they have a budget of their own.
    with open_binary(path, Budget(0, budget.limit)) as file:
        start = file.read(_SAMPLE)
        encoding = _encoding(start, file)
    text = start.decode(encoding, errors="ignore").removeprefix("\ufeff")
    is_cut = len(start) == _SAMPLE and "\n" in text
    return text[: text.rfind("\n")] if is_cut else text, encoding


def _encoding(start: bytes, rest: IO[bytes]) -> str:
    if start.startswith(_MARKS):
        return "utf-16"
    decoder, block, odd = codecs.getincrementaldecoder("utf-8")(), start, False
    is_utf8 = True
    while block:
        odd = odd or _UNDEFINED.search(block) is not None
        try:
            is_utf8 = is_utf8 and decoder.decode(block) is not None
        except UnicodeDecodeError:
            is_utf8 = False
        block = rest.read(_SAMPLE)
    is_utf8 = is_utf8 and not decoder.getstate()[0]  # no character is cut at the end
    if not is_utf8 and b"\0" in start:
        raise Refused("holds binary data, not text; give a text file.")
    return "utf-8" if is_utf8 else "latin-1" if odd else "cp1252"


def _delimiter(sample: str, default: str) -> str:
    """Return the delimiter of the header; if several may be, that of equal rows."""
    able = [d for d in (default, *_DELIMITERS) if max(_widths(sample, d, 1)) > 1]
    equal = [d for d in able if len(set(_widths(sample, d, 20))) == 1]
    return (equal or able or [default])[0]


def _widths(sample: str, delimiter: str, most: int) -> list[int]:
    """Return the numbers of cells in the first rows, or [0] if they are no rows."""
    rows = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
    try:
        return [len(row) for row in islice(filter(None, rows), most)] or [0]
    except csv.Error:
        return [0]
