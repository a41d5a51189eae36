"""Files, compressed or not: read within bounds, written whole or not at all."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import math
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from homi.atomic_write import whole_file
from homi.budget import Budget, Refused

OPENERS: dict[str, Any] = {
    "": open,
    ".gz": gzip.open,
    ".xz": lzma.open,
    ".bz2": bz2.open,
}


def at_line(number: int, reason: str) -> Refused:
    """The error for a line of a text file."""
    return Refused(f"line {number}: {reason}")


def short(text: str) -> str:
    """A name or a value as an error shows it; some have thousands of letters."""
    return repr(text if len(text) <= 60 else f"{text[:57]}...")


def number(text: str) -> float:
    """The number that a text is; Python's ``1_000`` is none in any file."""
    if "_" in text:
        raise ValueError(f"{text!r} is not a number")
    return float(text)


def split_name(path: Path) -> tuple[str, str, str]:
    """``birds.arff.xz`` -> ``("birds", ".arff", ".xz")``; suffixes in lower case."""
    packed = path.suffix.lower() if path.suffix.lower() in OPENERS else ""
    inner = path.with_suffix("") if packed else path
    return inner.stem, inner.suffix.lower(), packed


def open_binary(path: Path, budget: Budget | None = None) -> IO[bytes]:
    """The bytes of a file, unpacked on the way if its suffix says it is packed.

    Bytes that are unpacked are charged to the budget, or to one of their own.
    """
    packed = split_name(path)[2]
    if not packed:
        return open(path, "rb")
    file = OPENERS[packed](path, "rb")
    return io.BufferedReader(_Unpacked(file, budget or Budget.of(path)))


def lines(path: Path, budget: Budget | None = None) -> Iterator[tuple[int, str]]:
    """The lines of a UTF-8 text with their numbers, from 1; a BOM is dropped."""
    budget = budget or Budget.of(path)
    with open_binary(path, budget) as file:
        raw_lines = iter(lambda: file.readline(budget.line), b"")
        for count, raw in enumerate(raw_lines, 1):
            if len(raw) == budget.line:
                budget.take(math.inf, f"line {count}: lines of {len(raw):,} bytes")
            yield count, _decoded(count, raw)


def _decoded(count: int, raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig" if count == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise at_line(
            count, f"byte {error.start + 1} is not UTF-8; convert the file to UTF-8."
        ) from error


@contextlib.contextmanager
def writing(path: Path) -> Iterator[IO[bytes]]:
    """A file that has its name only once it is whole; packed as its suffix says."""
    with (
        whole_file(path) as unfinished,
        OPENERS[split_name(path)[2]](unfinished, "wb") as file,
    ):
        yield file


class _Unpacked(io.RawIOBase):
    """What a decompressor gives, within a budget; damage to it is a ValueError."""

    def __init__(self, file: IO[bytes], budget: Budget) -> None:
        self._file, self._budget = file, budget

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._file.read(len(buffer))
        except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
            raise Refused(
                f"the packed data are damaged or cut short ({error}); fetch the file "
                "again."
            ) from error
        self._budget.take(len(data), "its unpacked bytes")
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()
