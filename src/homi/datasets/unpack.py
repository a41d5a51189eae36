"""The text in a file that may be compressed or an archive, a block at a time.

What it is is told by its first bytes; nothing in it is used as a path.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import hashlib
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

_CHUNK = 1 << 14

_UNREADABLE = (
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


def text_sha256(path: Path) -> str:
    """The sha256 of the text in a file, compressed or not."""
    digest = hashlib.sha256()
    try:
        for block in blocks(path):
            digest.update(block)
    except Damaged as error:
        raise ValueError(
            f"{path} is damaged ({error}); replace it by a whole copy."
        ) from error
    return digest.hexdigest()


def blocks(path: Path) -> Iterator[bytes]:
    """A file's text, block by block, so that no text is too long for memory."""
    try:
        with _text(path) as stream:
            while block := stream.read(_CHUNK):
                yield block
    except _UNREADABLE as error:
        # Without a number it is not the system's but that of what unpacks.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise Damaged(error) from error


@contextlib.contextmanager
def _text(path: Path) -> Iterator[Any]:
    """A file's text as a stream, by its first bytes: what a URL ends in is a claim."""
    with open(path, "rb") as file:
        start = file.read(6)
        file.seek(0)
        if start.startswith(b"PK\x03\x04"):
            with zipfile.ZipFile(file) as archive, _only_arff(archive) as member:
                yield member
        elif start.startswith(b"\x1f\x8b"):
            with gzip.open(file) as stream:
                yield stream
        elif start == b"\xfd7zXZ\x00":
            with lzma.open(file) as stream:
                yield stream
        elif start.startswith(b"BZh"):
            with bz2.open(file) as stream:
                yield stream
        else:
            yield file


def _only_arff(archive: zipfile.ZipFile) -> IO[bytes]:
    """The bytes of the one ARFF member; what it is called is never used as a path."""
    members = [i for i in archive.infolist() if i.filename.lower().endswith(".arff")]
    if len(members) != 1:
        raise zipfile.BadZipFile(f"an archive with {len(members)} ARFF files, not 1")
    return archive.open(members[0])
