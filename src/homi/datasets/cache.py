"""Cache directory of the user, with parsed files as compact ``.npz`` files.

The key of a parsed file is the checksum of its source, not its name. It holds only
arrays and is read without pickle. Within a process a checksum is computed again only
if the size or the time of the file has changed.
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
from collections.abc import Callable, Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from homi.atomic_write import whole_file
from homi.datasets.dataset import Dataset, label_dtype

Arrays: TypeAlias = Mapping[str, NDArray[Any]]

#: Part of every key; increase it when the stored format changes.
FORMAT = 1

#: Types to store numbers in, smallest first.
_DTYPES = ("u1", "i1", "u2", "i2", "u4", "i4", "f4", "f8")

#: Seconds to wait for another process that holds the same lock.
_PATIENCE = 600.0

#: Seconds after which a temporary file must belong to a killed process.
_FORGOTTEN = 86400.0

#: Nanoseconds after which a new write surely changes the time of a file.
_SETTLED = 2 * 10**9

#: Errors that a damaged or foreign file in the cache can raise.
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
    """Data set, and the sha256 of the text that it was read from."""

    dataset: Dataset
    text_sha256: str


def cache_directory() -> Path:
    """Return ``HOMI_CACHE``, or by default the cache of the operating system."""
    if chosen := os.environ.get("HOMI_CACHE"):
        return Path(chosen).expanduser()
    home = Path.home()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local"
        return Path(local) / "homi" / "homi" / "Cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "homi"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "homi"


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file as it is on disk."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _source_sha256(path: Path) -> str:
    """Return the sha256 of a file, computed once per process while it is unchanged.

    A new file may be written again within one tick of the file system's clock, so its
    sha256 is not remembered.
    """
    stat = path.stat()
    if time.time_ns() - stat.st_mtime_ns < _SETTLED:
        return file_sha256(path)
    return _remembered_sha256(path, stat.st_ino, stat.st_size, stat.st_mtime_ns)


@functools.lru_cache(maxsize=64)
def _remembered_sha256(path: Path, inode: int, size: int, modified: int) -> str:
    return file_sha256(path)


def cached(path: Path, options: str, build: Callable[[], Parsed]) -> Parsed:
    """Return ``build()``, from the cache if possible.

    Parameters
    ----------
    path : Path
        File that ``build`` reads. Its checksum is part of the key.
    options : str
        How the file is read: the rest of the key.
    build : callable
        Called if the cache has no valid result.

    Returns
    -------
    Parsed
        Data set and checksum.
    """
    source = _source_sha256(path)
    key = hashlib.sha256("\n".join((str(FORMAT), _readers(), options)).encode())
    stem = f"{source[:32]}-{key.hexdigest()[:32]}"
    kept = cache_directory() / "parsed" / f"{stem}.npz"
    found = _read(kept)
    if found is None:
        found = build()
        if np.isin(found.dataset.Y, (0, 1)).all():  # stored as one bit each
            _write(kept, found)
    return found


@functools.cache
def _readers() -> str:
    """Return a digest of the parsers, so that a change of them empties the cache."""
    files = resources.files("homi.datasets").iterdir()
    sources = sorted((f.name, f.read_bytes()) for f in files if f.name.endswith(".py"))
    return hashlib.sha256(b"".join(source for _, source in sources)).hexdigest()


@contextlib.contextmanager
def lock(path: Path) -> Iterator[None]:
    """Lock a file; the operating system releases it when the process ends.

    The file is never removed, because a waiting process would then lock another one.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + _PATIENCE
    with open(path, "ab") as file:
        while not _taken(file):
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"another process has locked {path} for {_PATIENCE:g} s; end it, "
                    "or try again later."
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
    """Remove temporary files of pooch that killed processes left."""
    for path in directory.glob("tmp*"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > _FORGOTTEN:
                path.unlink()


def _read(path: Path) -> Parsed | None:
    """Read a parsed file; return None if there is none, or remove a damaged one."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
            return _unpacked(arrays)
    except FileNotFoundError:
        return None
    except _UNSOUND:  # the remedy is always to parse again
        with contextlib.suppress(OSError):
            path.unlink()
        return None


def _write(path: Path, parsed: Parsed) -> None:
    """Write a parsed file; ignore a cache that cannot be written."""
    try:
        arrays = _packed(parsed)
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as unfinished, open(unfinished, "wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
        # Keep one result per source; others were made by other code or options.
        for other in path.parent.glob(f"{path.stem.partition('-')[0]}-*.npz"):
            if other != path:
                other.unlink(missing_ok=True)
    except OSError:
        pass


def _packed(parsed: Parsed) -> dict[str, NDArray[Any]]:
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


def _unpacked(arrays: Arrays) -> Parsed:
    about = json.loads(arrays["about"].tobytes())
    features, labels = about["feature_names"], about["label_names"]
    bits = np.unpackbits(arrays["Y"], axis=1, count=len(labels)).view(np.int8)
    Y = bits.astype(label_dtype(len(labels)), copy=False)
    shape = (len(Y), len(features))
    if "X" in arrays:
        X = arrays["X"].astype(about["dtype"])
    else:
        data = arrays["data"].astype(about["dtype"])
        indices = arrays["indices"].astype(about["index_dtype"])
        indptr = arrays["indptr"].astype(about["index_dtype"])
        X = sparse.csr_array((data, indices, indptr), shape=shape)
    if X.shape != shape:
        raise ValueError(f"X has shape {X.shape}; names and Y say {shape}")
    return Parsed(Dataset(X, Y, features, labels), about["text_sha256"])


def _smallest(values: NDArray[Any]) -> NDArray[Any]:
    """Return the same numbers, signs of zeros included, in the fewest bytes."""
    for dtype in _DTYPES:
        with np.errstate(invalid="ignore", over="ignore"):
            small = values.astype(dtype)
        same = np.array_equal(small.astype(values.dtype), values, equal_nan=True)
        if same and np.array_equal(np.signbit(small), np.signbit(values)):
            return small
    return values
