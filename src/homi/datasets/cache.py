"""The user's cache, and in it each parsed file as one compact ``.npz``.

A parsed file is found again by the checksum of the file it came from, not by its name,
and holds nothing but arrays: it is read without pickle. Within a process the checksum
is taken again only where the file's size or time has changed.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import sys
import time
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from homi.atomic_write import whole_file
from homi.datasets.dataset import Dataset

#: Part of every key: raise it when what is stored changes.
FORMAT = 1

#: Smallest first; a value that none of the integers holds is a float.
_DTYPES = ("u1", "i1", "u2", "i2", "u4", "i4", "f4", "f8")

#: Seconds to wait for another process that works on the same file.
_PATIENCE = 600.0

#: Seconds after which a temporary file can only be that of a killed process.
_FORGOTTEN = 86400.0

#: Nanoseconds after which a file's time tells whether it has been written again.
_SETTLED = 2 * 10**9

#: What a parsed file that is damaged, or not ours, can raise.
_UNSOUND = (
    OSError,
    EOFError,
    KeyError,
    MemoryError,
    NotImplementedError,  # a compression method that zipfile does not know
    OverflowError,
    RuntimeError,  # an encrypted archive
    TypeError,
    ValueError,
    tokenize.TokenError,  # numpy, on the header of an array
    zipfile.BadZipFile,
    zlib.error,
)


class Parsed(NamedTuple):
    """A data set, and the sha256 of the text that it was read from."""

    dataset: Dataset
    text_sha256: str


def cache_directory() -> Path:
    """What ``HOMI_CACHE`` names, else the place of the operating system."""
    if chosen := os.environ.get("HOMI_CACHE"):
        return Path(chosen).expanduser()
    import pooch  # slow to import, and most loads do not need it

    return Path(pooch.os_cache("homi"))


def file_sha256(path: Path) -> str:
    """The sha256 of a file as it lies on disk."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _source_sha256(path: Path) -> str:
    """The same, computed once in a process while the file stays as it is.

    A file that was written just now may be written again within one tick of its
    clock, so it is not trusted to stay.
    """
    stat = path.stat()
    if time.time_ns() - stat.st_mtime_ns < _SETTLED:
        return file_sha256(path)
    return _remembered_sha256(path, stat.st_ino, stat.st_size, stat.st_mtime_ns)


@functools.lru_cache(maxsize=64)
def _remembered_sha256(path: Path, inode: int, size: int, modified: int) -> str:
    return file_sha256(path)


def cached(path: Path, options: str, build: Callable[[], Parsed]) -> Parsed:
    """What ``build()`` returns, from the cache if it was built before.

    Parameters
    ----------
    path : Path
        The file that is read. Its checksum is part of the key.
    options : str
        How it is read: the rest of the key.
    build : callable
        Reads it. Called if the cache has no, or no sound, result.
    """
    source = _source_sha256(path)
    key = hashlib.sha256("\n".join((str(FORMAT), _readers(), options)).encode())
    stem = f"{source[:32]}-{key.hexdigest()[:32]}"
    kept = cache_directory() / "parsed" / f"{stem}.npz"
    found = _read(kept)
    if found is None:
        found = build()
        if np.isin(found.dataset.Y, (0, 1)).all():  # one bit each holds nothing else
            _write(kept, found)
    return found


@functools.cache
def _readers() -> str:
    """A digest of the code that parses: what older code made must not hide a change."""
    files = resources.files("homi.datasets").iterdir()
    sources = sorted((f.name, f.read_bytes()) for f in files if f.name.endswith(".py"))
    return hashlib.sha256(b"".join(source for _, source in sources)).hexdigest()


@contextlib.contextmanager
def lock(path: Path) -> Iterator[None]:
    """Hold a file that the operating system lets go of when the process ends.

    It is never removed: a process that waits for it would then hold another one.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + _PATIENCE
    with open(path, "ab") as file:
        while not _taken(file):
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"another process has held {path} for {_PATIENCE:g} s; end it, or "
                    "try again when it is done."
                )
            time.sleep(0.05)
        yield


def _taken(file: IO[bytes]) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def sweep(directory: Path) -> None:
    """Remove what killed processes left: pooch's temporary files."""
    for path in directory.glob("tmp*"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > _FORGOTTEN:
                path.unlink()


def _read(path: Path) -> Parsed | None:
    """The parsed file, or None; one that cannot be read is thrown away."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
            return _unpacked(arrays)
    except FileNotFoundError:
        return None
    except _UNSOUND:  # whatever is wrong with it, the remedy is the same
        with contextlib.suppress(OSError):
            path.unlink()
        return None


def _write(path: Path, parsed: Parsed) -> None:
    """A cache that cannot be written to costs time, not the data set."""
    try:
        arrays = _packed(parsed)
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as unfinished, open(unfinished, "wb") as file:
            np.savez(file, **arrays)
        # One reading of each file is enough: other code, or options, made the rest.
        for other in path.parent.glob(f"{path.stem.partition('-')[0]}-*.npz"):
            if other != path:
                other.unlink(missing_ok=True)
    except OSError:
        pass


def _packed(parsed: Parsed) -> dict[str, Any]:
    X, Y, feature_names, label_names = parsed.dataset
    about = {
        "text_sha256": parsed.text_sha256,
        "feature_names": list(feature_names),
        "label_names": list(label_names),
        "dtype": X.dtype.str,
    }
    if sparse.issparse(X):
        about["index_dtype"] = X.indices.dtype.str
        parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr}
    else:
        parts = {"X": X}
    arrays = {name: _smallest(part) for name, part in parts.items()}
    arrays["Y"] = np.packbits(Y.astype(bool), axis=1)
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
    return arrays


def _unpacked(arrays: Any) -> Parsed:
    about = json.loads(arrays["about"].tobytes())
    features, labels = about["feature_names"], about["label_names"]
    Y = np.unpackbits(arrays["Y"], axis=1, count=len(labels)).view(np.int8)
    shape = (len(Y), len(features))
    if "X" in arrays:
        X = arrays["X"].astype(about["dtype"])
    else:
        data = arrays["data"].astype(about["dtype"])
        indices = arrays["indices"].astype(about["index_dtype"])
        indptr = arrays["indptr"].astype(about["index_dtype"])
        X = sparse.csr_array((data, indices, indptr), shape=shape)
    if X.shape != shape:
        raise ValueError(f"the parts do not fit: X {X.shape}, names and Y {shape}")
    return Parsed(Dataset(X, Y, features, labels), about["text_sha256"])


def _smallest(values: NDArray[Any]) -> NDArray[Any]:
    """The same numbers, signs of zeros and all, in the fewest bytes."""
    for dtype in _DTYPES:
        with np.errstate(invalid="ignore", over="ignore"):
            small = values.astype(dtype)
        same = np.array_equal(small.astype(values.dtype), values, equal_nan=True)
        if same and np.array_equal(np.signbit(small), np.signbit(values)):
            return small
    return values
