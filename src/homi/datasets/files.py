"""Files, compressed or not: read within bounds, written whole or not at all."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from homi.atomic_write import whole_file

#: Bytes of one line. A longer one is no table, and would be held in memory whole.
MAX_LINE = 2**26

#: Features of a file that states an index and no names: one name is made for each.
MAX_FEATURES = 10_000_000

#: How many times its size a file may grow when it is read, and what is always allowed:
#: bytes unpacked, and bytes of the arrays that a few bytes can stand for.
MAX_RATIO, MIN_UNPACKED, MIN_ARRAYS = 250, 2**26, 2**32

#: Bytes that no compressed file may exceed, whatever its ratio.
MAX_UNPACKED = 2**34

OPENERS: dict[str, Any] = {
    "": open,
    ".gz": gzip.open,
    ".xz": lzma.open,
    ".bz2": bz2.open,
}


class Refused(ValueError):
    """An error of our own: it says where and why, and needs only the file's name."""


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


def open_binary(path: Path) -> IO[bytes]:
    """The bytes of a file, unpacked on the way if its suffix says it is packed."""
    packed = split_name(path)[2]
    if not packed:
        return open(path, "rb")
    most = max(MIN_UNPACKED, MAX_RATIO * path.stat().st_size)
    return io.BufferedReader(
        _Unpacked(OPENERS[packed](path, "rb"), min(most, MAX_UNPACKED))
    )


def array_budget(path: Path) -> int:
    """Bytes of arrays that a binary file may turn into."""
    return max(MIN_ARRAYS, MAX_RATIO * path.stat().st_size)


def check_expansion(n_bytes: int, what: str) -> None:
    """Refuse what a few bytes of a sparse file would turn into."""
    if n_bytes > MIN_ARRAYS:
        raise Refused(
            f"{what} would take {n_bytes / 2**30:.1f} GiB as a dense array, and "
            f"{MIN_ARRAYS // 2**30} GiB is the limit; read fewer rows or columns."
        )


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a UTF-8 text with their numbers, from 1; a BOM is dropped."""
    with open_binary(path) as file:
        raw_lines = iter(lambda: file.readline(MAX_LINE), b"")
        for count, raw in enumerate(raw_lines, 1):
            if len(raw) == MAX_LINE:
                raise at_line(count, f"longer than {MAX_LINE >> 20} MiB; is it text?")
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
    """What a decompressor gives, up to a limit; damage to it is a ValueError."""

    def __init__(self, file: IO[bytes], limit: int) -> None:
        self._file, self._limit, self._left = file, limit, limit

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
        self._left -= len(data)
        if self._left < 0:
            raise Refused(
                f"unpacks to more than {self._limit / 2**20:.0f} MiB, {MAX_RATIO} "
                "times its size; if that is right, unpack it yourself first."
            )
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()
