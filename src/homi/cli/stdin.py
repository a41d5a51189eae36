"""Rows from standard input, as from a file."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from homi.cli.opened_file import File, open_file

#: Most bytes that are read, and bytes of a block.
_MOST, _BLOCK = 2**30, 2**20


def open_rows(path: Path) -> File:
    """Open a file; ``-`` is standard input: CSV, JSON lines or Parquet."""
    if str(path) != "-":
        return open_file(path)
    with TemporaryDirectory(prefix="homi-") as directory:
        copy = Path(directory) / "stdin"
        _copy(copy)
        named = copy.rename(copy.with_suffix(_suffix(copy)))
        try:
            return replace(open_file(named), path=Path(named.name))
        except ValueError as error:
            text = str(error).replace(str(named), "standard input")
            raise ValueError(text) from error


def _copy(path: Path) -> None:
    left = _MOST
    with path.open("wb") as file:
        while block := sys.stdin.buffer.read(_BLOCK):
            left -= file.write(block)
            if left < 0:
                raise ValueError(
                    f"standard input has more than {_MOST >> 30} GiB; write it to a "
                    "file, and name that."
                )


def _suffix(path: Path) -> str:
    """Return the suffix of a format by the first bytes."""
    with path.open("rb") as file:
        start = file.read(1024).removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"PAR1"):
        return ".parquet"
    return ".jsonl" if start.startswith(b"{") else ".csv"
