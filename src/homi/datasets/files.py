"""Open, unpack and write files; unpacked bytes are bounded by a memory budget."""

from __future__ import annotations

import bz2
import codecs
import contextlib
import gzip
import hashlib
import io
import lzma
import math
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from homi.atomic_write import whole_file
from homi.budget import Budget, Refused

_OPENERS: dict[str, Callable[..., Any]] = {
    "": open,
    ".gz": gzip.open,
    ".xz": lzma.open,
    ".bz2": bz2.open,
    ".zip": lambda path, mode: _open_zip(path, mode),
}


def _open_zip(path: Path, mode: str) -> IO[bytes]:
    """Open the only file of an archive; its name is never used as a path."""
    if mode != "rb":
        raise ValueError("zip archives are not written; name a .gz file.")
    try:
        archive = zipfile.ZipFile(path)
        members = [i for i in archive.infolist() if not _is_aside(i)]
        if len(members) == 1:
            return archive.open(members[0])
    except _UNPACKING_ERRORS as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise Refused(f"is no zip archive that can be read: {error}.") from error
    raise Refused(f"is an archive of {len(members)} files; pack one file only.")


def _is_aside(member: zipfile.ZipInfo) -> bool:
    """Return True for directories, and for what macOS adds."""
    return member.is_dir() or member.filename.startswith("__MACOSX/")


#: First bytes of compressed files, and what opens them.
_MAGIC: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"BZh": bz2.open,
}

_BLOCK = 1 << 14

_UNPACKING_ERRORS = (
    EOFError,
    NotImplementedError,  # a compression method that zipfile does not know
    OSError,  # gzip and bz2
    RuntimeError,  # an encrypted archive
    lzma.LZMAError,
    zipfile.BadZipFile,
    zlib.error,
)


class Damaged(Exception):
    """A compressed file that cannot be unpacked."""


def at_line(number: int, reason: str) -> Refused:
    """Return the error for a line of a text file."""
    return Refused(f"line {number}: {reason}")


def short(text: str) -> str:
    """Quote a name or value for an error message, cut after 60 characters."""
    return repr(text if len(text) <= 60 else f"{text[:57]}...")


def number(text: str) -> float:
    """Convert text to a number; unlike Python, refuse ``1_000``."""
    if "_" in text:
        raise ValueError(f"{text!r} is not a number")
    return float(text)


def split_name(path: Path) -> tuple[str, str, str]:
    """``birds.arff.xz`` -> ``("birds", ".arff", ".xz")``; suffixes in lower case."""
    packed = path.suffix.lower() if path.suffix.lower() in _OPENERS else ""
    inner = path.with_suffix("") if packed else path
    return inner.stem, inner.suffix.lower(), packed


def open_binary(path: Path, budget: Budget | None = None) -> IO[bytes]:
    """Open a file for reading bytes, decompressed as its suffix says.

    Decompressed bytes are charged to the budget, by default a new one.
    """
    packed = split_name(path)[2]
    if not packed:
        return open(path, "rb")
    file = _OPENERS[packed](path, "rb")
    return io.BufferedReader(_Unpacked(file, budget or Budget.of(path)))


def open_utf8(
    path: Path, budget: Budget | None = None, encoding: str = "utf-8"
) -> IO[bytes]:
    """Open a text file for reading UTF-8 bytes, converted from another encoding."""
    file = open_binary(path, budget)
    if encoding == "utf-8":
        return file
    return io.BufferedReader(_Converted(file, encoding))


def lines(
    path: Path, budget: Budget | None = None, encoding: str = "utf-8"
) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines of a text, from 1; drop a byte order mark."""
    budget = budget or Budget.of(path)
    with open_utf8(path, budget, encoding) as file:
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
    """Write a file, compressed as its suffix says; replace `path` only at the end."""
    with (
        whole_file(path) as unfinished,
        _OPENERS[split_name(path)[2]](unfinished, "wb") as file,
    ):
        yield file


def text_sha256(path: Path) -> str:
    """Return the sha256 of the text in a file, compressed or not."""
    digest = hashlib.sha256()
    try:
        for block in text_blocks(path):
            digest.update(block)
    except Damaged as error:
        raise ValueError(
            f"{path} is damaged ({error}); replace it by a complete copy."
        ) from error
    return digest.hexdigest()


def text_blocks(path: Path) -> Iterator[bytes]:
    """Yield the text of a file, compressed or not, in small blocks."""
    try:
        with _open_by_content(path) as stream:
            while block := stream.read(_BLOCK):
                yield block
    except _UNPACKING_ERRORS as error:
        # With an errno it comes from the operating system, not from the content.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise Damaged(error) from error


@contextlib.contextmanager
def _open_by_content(path: Path) -> Iterator[IO[bytes]]:
    """Open a file by its first bytes, because a suffix in a URL proves nothing."""
    with open(path, "rb") as file:
        start = file.read(6)
        file.seek(0)
        if start.startswith(b"PK\x03\x04"):
            with zipfile.ZipFile(file) as archive, _only_arff(archive) as member:
                yield member
            return
        opener = next((o for m, o in _MAGIC.items() if start.startswith(m)), None)
        if opener is None:
            yield file
            return
        with opener(file) as stream:
            yield stream


def _only_arff(archive: zipfile.ZipFile) -> IO[bytes]:
    """Open the only ARFF member; its name is never used as a path."""
    members = [i for i in archive.infolist() if i.filename.lower().endswith(".arff")]
    if len(members) != 1:
        raise zipfile.BadZipFile(f"an archive with {len(members)} ARFF files, not 1")
    return archive.open(members[0])


class _Unpacked(io.RawIOBase):
    """Decompressed bytes, charged to a budget; damaged input raises Refused."""

    def __init__(self, file: IO[bytes], budget: Budget) -> None:
        self._file, self._budget = file, budget

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._file.read(len(buffer))
        except _UNPACKING_ERRORS as error:
            raise Refused(
                f"the compressed data are damaged or truncated ({error}); get the "
                "file again."
            ) from error
        self._budget.take(len(data), "its unpacked bytes")
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


class _Converted(io.RawIOBase):
    """Text of another encoding as UTF-8; what cannot be decoded raises Refused."""

    def __init__(self, file: IO[bytes], encoding: str) -> None:
        self._file, self._left = file, b""
        self._decoder = codecs.getincrementaldecoder(encoding)()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        is_end = False
        while not self._left and not is_end:
            data = self._file.read(_BLOCK)
            is_end = not data
            try:
                self._left = self._decoder.decode(data, final=is_end).encode()
            except UnicodeError as error:
                raise Refused(f"cannot be decoded: {error}.") from error
        count = min(len(buffer), len(self._left))
        buffer[:count], self._left = self._left[:count], self._left[count:]
        return count

    def close(self) -> None:
        self._file.close()
        super().close()
