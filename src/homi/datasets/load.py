"""Load a data set by name, from a directory, the cache, a package or the internet."""

from __future__ import annotations

import gzip
import importlib.util
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from homi.datasets.cache import Parsed, cached, file_sha256
from homi.datasets.dataset import Dataset
from homi.datasets.fetch import cached_path, fetch
from homi.datasets.files import text_sha256
from homi.datasets.python_functions import NAME as PYTHON_FUNCTIONS
from homi.datasets.python_functions import as_dataset, python_functions
from homi.datasets.read import read
from homi.datasets.registry import Entry, UnknownDataset, lookup, nearest
from homi.warn import warn

_ENDS = (".arff", ".arff.xz", ".arff.gz", ".arff.bz2")

#: Data sets inside other packages: the package, and the path inside it.
_PACKAGES = {"yeast": ("river", "datasets/yeast.csv.gz")}


@dataclass(frozen=True)
class Found:
    """File of a data set; its place is "directory", "cache" or "package"."""

    path: Path
    place: str
    entry: Entry | None


@dataclass(frozen=True)
class Verdict:
    """Result of a check of a file against the registry; no reason if it agrees."""

    name: str
    path: Path
    reason: str = ""

    @property
    def sound(self) -> bool:
        """True if the file holds the text of the registry."""
        return not self.reason


def load(name: str | Entry, directory: str | os.PathLike[str] | None = None) -> Dataset:
    """Load a data set by name.

    Search the directory, the user's cache, installed packages (yeast comes with river)
    and the internet, in this order. Downloads and parsed files are kept in the cache.
    ``"python-functions"`` is made from installed packages, in seconds: X holds what the
    docstrings of numpy, scipy, scikit-learn and pandas say, and labels are tags such as
    sparse, linalg and random.

    Parameters
    ----------
    name : str or Entry
        A name of the registry, such as ``"emotions"``, in upper or lower case; the
        name of your own file in the directory; or your own entry.
    directory : path, optional
        Directory of ``<name>.arff``, ``.arff.xz``, ``.arff.gz`` or ``.arff.bz2``,
        there or in a directory below it.
        Default: the environment variable ``HOMI_DATA``. A file that differs from the
        registry is used with a warning. Your own data sets name their labels in
        ``<name>.xml``, as Mulan does, or in the header, as MEKA does.

    Returns
    -------
    Dataset
        X, Y, feature_names, label_names.

    Examples
    --------
    >>> from homi.datasets import load
    >>> X, Y, feature_names, label_names = load("yeast")
    >>> X.shape, Y.shape
    ((2417, 103), (2417, 14))
    """
    if isinstance(name, str) and name.casefold() == PYTHON_FUNCTIONS:
        return as_dataset(python_functions())
    found = at_hand(name, directory) or _bring(name, directory)
    if found.place == "package":
        return cached(found.path, "river", lambda: _river(found.path)).dataset
    xml = _label_list(found.path)
    options = [
        found.entry.labels if found.entry is not None else "",
        file_sha256(xml) if xml is not None else "",
    ]
    parsed = cached(found.path, "\n".join(options), lambda: _parse(found, xml))
    if found.entry is not None and parsed.text_sha256 != found.entry.sha256:
        warn(
            f"{found.path} is not the {found.entry.name} of the registry: its sha256 "
            f"is {parsed.text_sha256}, expected {found.entry.sha256}. It is used, but "
            "results may differ from published ones.",
        )
    return parsed.dataset


def at_hand(
    name: str | Entry, directory: str | os.PathLike[str] | None = None
) -> Found | None:
    """Find a data set without the internet; return None if that is not possible."""
    return next(_places(name, directory), None)


def verify(
    entry: Entry, directory: str | os.PathLike[str] | None = None
) -> list[Verdict]:
    """Check every copy of a data set in the directory and in the cache."""
    given = _directory(directory)
    paths = [None if given is None else _find(given, entry.spellings)]
    paths.append(cached_path(entry))
    return [_verdict(entry, path) for path in paths if path and path.is_file()]


def _verdict(entry: Entry, path: Path) -> Verdict:
    try:
        digest = text_sha256(path)
    except (OSError, ValueError) as error:
        return Verdict(entry.name, path, f"cannot be read: {error}")
    if digest != entry.sha256:
        return Verdict(entry.name, path, f"sha256 {digest}, expected {entry.sha256}")
    return Verdict(entry.name, path)


def _places(
    name: str | Entry, directory: str | os.PathLike[str] | None
) -> Iterator[Found]:
    entry = lookup(name) if isinstance(name, str) else name
    spellings = (str(name),) if entry is None else entry.spellings
    given = _directory(directory)
    if given is not None and (path := _find(given, spellings)):
        yield Found(path, "directory", entry)
    if entry is None:
        return
    # A damaged file does not count, so it is downloaded again.
    path = cached_path(entry)
    if path.is_file() and file_sha256(path) == entry.sha256:
        yield Found(path, "cache", entry)
    if path := _in_package(entry.name):
        yield Found(path, "package", entry)


def _bring(name: str | Entry, directory: str | os.PathLike[str] | None) -> Found:
    entry = lookup(name) if isinstance(name, str) else name
    if entry is not None:
        return Found(fetch(entry), "cache", entry)
    given = _directory(directory)
    place = "HOMI_DATA is not set" if given is None else f"{given} has none"
    raise UnknownDataset(
        f"no data set is named {name!r} ({nearest(str(name))}), and there is no file "
        f"{name}.arff: {place}; put {name}.arff and {name}.xml into a directory and "
        "pass it, or set HOMI_DATA to it."
    )


def _directory(directory: str | os.PathLike[str] | None) -> Path | None:
    if directory is not None and not Path(directory).is_dir():
        raise FileNotFoundError(
            f"{os.fspath(directory)!r} is not a directory; pass a directory of ARFF "
            "files, or None to search HOMI_DATA, the cache and the internet."
        )
    chosen = directory or os.environ.get("HOMI_DATA")
    return Path(chosen).expanduser() if chosen else None


def _find(directory: Path, spellings: Sequence[str]) -> Path | None:
    """Return the first file of these names, or else one that differs in case."""
    names = [spelling + end for spelling in spellings for end in _ENDS]
    if any(os.path.basename(name) != name for name in names):
        raise UnknownDataset(
            f"expected the name of a data set, got the path {spellings[0]!r}; read a "
            "file with homi.datasets.read."
        )
    if not directory.is_dir():
        return None
    below = (path for path in sorted(directory.iterdir()) if _is_open(path))
    found = (_find_in(place, names) for place in chain([directory], below))
    return next((path for path in found if path), None)


def _is_open(path: Path) -> bool:
    return path.is_dir() and os.access(path, os.R_OK | os.X_OK)


def _find_in(directory: Path, names: Sequence[str]) -> Path | None:
    present = {path.name: path for path in directory.iterdir() if path.is_file()}
    folded = {name.casefold(): path for name, path in sorted(present.items())}
    exact = (present[name] for name in names if name in present)
    alike = (folded[n] for name in names if (n := name.casefold()) in folded)
    return next(exact, None) or next(alike, None)


def _in_package(name: str) -> Path | None:
    package, inside = _PACKAGES.get(name, ("", ""))
    # Find the package without importing it, which would take longer than the file.
    spec = importlib.util.find_spec(package) if package else None
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / inside
    return path if path.is_file() else None


def _label_list(path: Path) -> Path | None:
    """Return the XML file beside an ARFF file, if there is one."""
    stem = path.name[: path.name.casefold().rindex(".arff")]
    xml = path.with_name(f"{stem}.xml")
    return xml if xml.is_file() else None


def _parse(found: Found, xml: Path | None) -> Parsed:
    """Read a file; the registry knows the label columns of its data sets."""
    digest, entry = text_sha256(found.path), found.entry
    if entry is not None and digest == entry.sha256:
        # A known file needs no memory limit.
        return Parsed(read(found.path, entry.labels, max_memory=math.inf), digest)
    if entry is not None and xml is None:
        return Parsed(read(found.path, entry.labels), digest)
    return Parsed(read(found.path, xml), digest)


def _river(path: Path) -> Parsed:
    """Read the yeast data set of the package river."""
    with gzip.open(path, "rt") as text:
        header = text.readline().strip().split(",")
        values = np.loadtxt(text, delimiter=",")
    n_features = sum(name.startswith("Att") for name in header)
    X, Y = values[:, :n_features], values[:, n_features:].astype(np.int8)
    return Parsed(Dataset(X, Y, header[:n_features], header[n_features:]), "")
