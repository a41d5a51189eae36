"""A data set by its name, from wherever it is nearest."""

from __future__ import annotations

import gzip
import importlib.util
import math
import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from homi.datasets.cache import Parsed, cached, file_sha256
from homi.datasets.dataset import Dataset
from homi.datasets.fetch import cached_path, fetch
from homi.datasets.read import read
from homi.datasets.registry import Entry, UnknownDataset, lookup, nearest
from homi.datasets.unpack import text_sha256

_ENDS = (".arff", ".arff.xz", ".arff.gz", ".arff.bz2")

#: Data sets inside other packages: the package, and the path of the file in it.
_PACKAGES = {"yeast": ("river", "datasets/yeast.csv.gz")}


@dataclass(frozen=True)
class Found:
    """Where a data set is: ``"directory"``, ``"cache"`` or ``"package"``."""

    path: Path
    place: str
    entry: Entry | None


@dataclass(frozen=True)
class Verdict:
    """Whether a file holds the text that the registry knows, and if not, why."""

    name: str
    path: Path
    reason: str = ""

    @property
    def sound(self) -> bool:
        return not self.reason


def load(name: str | Entry, directory: str | os.PathLike[str] | None = None) -> Dataset:
    """Load a data set.

    Looks in the directory, then in the user's cache, then in installed packages (yeast
    comes with river), and at last on the internet, where what it brings stays in the
    cache. What was parsed once is kept there too.

    Parameters
    ----------
    name : str or Entry
        A name of the registry, such as ``"emotions"``, in any case; or the name of a
        file of your own in the directory; or an entry of your own.
    directory : path, optional
        Where ``<name>.arff``, or the same as ``.xz``, ``.gz`` or ``.bz2``, may be.
        Default: what the environment variable ``HOMI_DATA`` names. A file there is
        used even if it is not the one that the registry knows, with a warning. Your
        own data sets have their labels in ``<name>.xml``, as Mulan's, or named in
        the file, as MEKA's.

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
        warnings.warn(
            f"{found.path} is not the {found.entry.name} of the registry: its sha256 "
            f"is {parsed.text_sha256}, expected {found.entry.sha256}; it is used all "
            "the same, so figures may differ from those of others.",
            stacklevel=2,
        )
    return parsed.dataset


def at_hand(
    name: str | Entry, directory: str | os.PathLike[str] | None = None
) -> Found | None:
    """Where ``load`` would find a data set without the internet, or None."""
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
    # Only a whole file counts: one that is not is fetched again.
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
        f"no data set is named {name!r} ({nearest(str(name))}), and of your own: "
        f"{place}; put {name}.arff and {name}.xml into a directory and name it by the "
        "argument or by HOMI_DATA."
    )


def _directory(directory: str | os.PathLike[str] | None) -> Path | None:
    if directory is not None and not Path(directory).is_dir():
        raise FileNotFoundError(
            f"{os.fspath(directory)!r} is not a directory; pass one that holds ARFF "
            "files, or none to look in HOMI_DATA, the cache and the internet."
        )
    chosen = directory or os.environ.get("HOMI_DATA")
    return Path(chosen).expanduser() if chosen else None


def _find(directory: Path, spellings: Sequence[str]) -> Path | None:
    """The first file of these names, or else one that differs in case only."""
    names = [spelling + end for spelling in spellings for end in _ENDS]
    if any(os.path.basename(name) != name for name in names):
        raise UnknownDataset(
            f"a data set has a name, got the path {spellings[0]!r}; read a file at any "
            "path by homi.datasets.read."
        )
    if not directory.is_dir():
        return None
    present = {path.name: path for path in directory.iterdir() if path.is_file()}
    folded = {name.casefold(): path for name, path in sorted(present.items())}
    exact = (present[name] for name in names if name in present)
    alike = (folded[n] for name in names if (n := name.casefold()) in folded)
    return next(exact, None) or next(alike, None)


def _in_package(name: str) -> Path | None:
    package, inside = _PACKAGES.get(name, ("", ""))
    # Found without being imported: that takes longer than reading the file.
    spec = importlib.util.find_spec(package) if package else None
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / inside
    return path if path.is_file() else None


def _label_list(path: Path) -> Path | None:
    """The XML file beside an ARFF file."""
    stem = path.name[: path.name.casefold().rindex(".arff")]
    xml = path.with_name(f"{stem}.xml")
    return xml if xml.is_file() else None


def _parse(found: Found, xml: Path | None) -> Parsed:
    """Read a file. Of one that is known, the registry says which columns are labels."""
    digest, entry = text_sha256(found.path), found.entry
    if entry is not None and digest == entry.sha256:
        # A file that is known may take what it takes.
        return Parsed(read(found.path, entry.labels, max_memory=math.inf), digest)
    if entry is not None and xml is None:
        return Parsed(read(found.path, entry.labels), digest)
    return Parsed(read(found.path, xml), digest)


def _river(path: Path) -> Parsed:
    """The whole yeast data set, as it comes inside the wheel of river."""
    with gzip.open(path, "rt") as text:
        header = text.readline().strip().split(",")
        values = np.loadtxt(text, delimiter=",")
    n_features = sum(name.startswith("Att") for name in header)
    X, Y = values[:, :n_features], values[:, n_features:].astype(np.int8)
    return Parsed(Dataset(X, Y, header[:n_features], header[n_features:]), "")
