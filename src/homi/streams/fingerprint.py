"""Fingerprints of batches and files, to notice changes between runs."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from homi.typing import Matrix, MatrixLike

_PARTS = ("data", "indices", "indptr")

#: Seconds in which a second change may not alter the times of a file.
_TICK = 2.0


class Fingerprint(NamedTuple):
    """Fingerprint of a batch; ``y`` is "" until the labels are used."""

    rows: int
    X: str
    y: str = ""

    def change(self, now: Fingerprint) -> str | None:
        """Describe the difference to the batch as it is now; None if equal."""
        if now.rows != self.rows:
            return f"had {self.rows:,} rows and has {now.rows:,}"
        if now.X != self.X:
            return "has other values in its features"
        if self.y and now.y != self.y:
            return "has other labels"
        return None


def fingerprint_batch(X: MatrixLike, y: MatrixLike | None = None) -> Fingerprint:
    """Return the fingerprint of a batch, before any input check."""
    values = _values(X)
    rows = values.shape[0] if values.ndim else 0
    return Fingerprint(rows, digest(values), "" if y is None else digest(y))


def digest(*parts: MatrixLike) -> str:
    """Return a short string that differs for different arrays."""
    found = hashlib.sha256()
    for part in parts:
        values = _values(part)
        if sparse.issparse(values):
            found.update(digest(*(getattr(values, key) for key in _PARTS)).encode())
            continue
        found.update(f"{values.shape} {values.dtype}".encode())
        found.update(np.ascontiguousarray(values).tobytes())
    return found.hexdigest()[:16]


def _values(part: MatrixLike) -> Matrix:
    if sparse.issparse(part):
        return sparse.csr_array(part)
    try:
        values = np.asarray(part)
    except ValueError:  # rows of different lengths, refused by a later check
        values = np.asarray(part, dtype=object)
    return values.astype(str) if values.dtype.kind == "O" else values


class Stamp(NamedTuple):
    """Size, times and inode of a file; all but the size are -1 just after a change."""

    size: int
    modified: int
    changed: int
    inode: int


def stamps(paths: Iterable[Path]) -> list[Stamp]:
    """Return the stamps of files; equal ones without -1 mean equal content.

    Unlike the time of modification, the time of change (ctime) cannot be set. Two
    changes within a moment may have the same time, hence the -1.
    """
    return [_stamp(path) for path in paths]


def _stamp(path: Path) -> Stamp:
    found = path.stat()
    latest = max(found.st_mtime, found.st_ctime)
    if time.time() - latest < _TICK:
        return Stamp(found.st_size, -1, -1, -1)
    return Stamp(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


def unchanged(before: list[Stamp], now: list[Stamp]) -> bool:
    """Return True if there are files and all of them are surely unchanged."""
    return before == now != [] and all(stamp.inode != -1 for stamp in now)
