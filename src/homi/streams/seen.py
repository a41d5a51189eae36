"""What batches and files were when they were read, so that a change is noticed."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

_PIECES = ("data", "indices", "indptr")

#: Seconds after a change in which another one may leave a file's times as they are.
_TICK = 2.0


class Seen(NamedTuple):
    """Fingerprint of a batch; that of labels is "" until they are used."""

    rows: int
    X: str
    y: str = ""

    def change(self, now: Seen) -> str | None:
        """What is another in the batch as it is now, or None."""
        if now.rows != self.rows:
            return f"had {self.rows:,} rows and has {now.rows:,}"
        if now.X != self.X:
            return "has other values in its features"
        if self.y and now.y != self.y:
            return "has other labels"
        return None


def look(X: Any, y: Any = None) -> Seen:
    """Fingerprint of a batch as it was given, before any check."""
    X = _values(X)
    rows = X.shape[0] if X.ndim else 0
    return Seen(rows, digest(X), "" if y is None else digest(y))


def digest(*parts: Any) -> str:
    """Return a short text that differs for different arrays."""
    found = hashlib.sha256()
    for part in parts:
        values = _values(part)
        if sparse.issparse(values):
            found.update(digest(*(getattr(values, key) for key in _PIECES)).encode())
            continue
        found.update(f"{values.shape} {values.dtype}".encode())
        found.update(np.ascontiguousarray(values).tobytes())
    return found.hexdigest()[:16]


def _values(part: Any) -> Any:
    if sparse.issparse(part):
        return sparse.csr_array(part)
    try:
        values = np.asarray(part)
    except ValueError:  # rows of different lengths, which a check will refuse
        values = np.asarray(part, dtype=object)
    return values.astype(str) if values.dtype.kind == "O" else values


class Stamp(NamedTuple):
    """What the file system says of a file; the rest is -1 if it may lag behind."""

    size: int
    modified: int
    changed: int
    inode: int


def stamps(paths: Iterable[Path]) -> list[Stamp]:
    """Stamps of files; equal ones, if settled, are of the same content.

    The time of the last change of a file cannot be set, unlike the one of the last
    modification, but two changes within a moment may have the same.
    """
    return [_stamp(path) for path in paths]


def _stamp(path: Path) -> Stamp:
    found = path.stat()
    latest = max(found.st_mtime, found.st_ctime)
    if time.time() - latest < _TICK:
        return Stamp(found.st_size, -1, -1, -1)
    return Stamp(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


def unchanged(before: list[Stamp], now: list[Stamp]) -> bool:
    """Whether there are files, and all of them surely as they were."""
    return before == now != [] and all(stamp.inode != -1 for stamp in now)
