"""Registry of data sets: shape, checksum, sources and citation by name."""

from __future__ import annotations

import difflib
import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType


class UnknownDataset(ValueError, FileNotFoundError):
    """The name of no known data set.

    A ValueError because the name is wrong, and a FileNotFoundError because the user's
    own ``<name>.arff`` would make it valid.
    """


@dataclass(frozen=True)
class Citation:
    """The paper that introduced a data set."""

    author: str
    title: str
    venue: str
    year: int

    def __str__(self) -> str:
        """Return the citation as one line."""
        return f"{self.author.rstrip('.')}. {self.title}. {self.venue}, {self.year}."


@dataclass(frozen=True)
class Entry:
    """A data set of the registry.

    Parameters
    ----------
    name : str
        Name, and stem of the file names.
    n_samples, n_features, n_labels : int
        Shape after reading.
    labels : str
        Label columns, such as ``"last 6"``.
    sha256 : str
        Checksum of the uncompressed ARFF text.
    n_bytes : int
        Length of that text.
    domain : str
        Kind of the samples, such as music.
    citation : Citation
        The paper to cite.
    sources : tuple of str
        URLs of the text, or of a compressed copy of it, in the order to try.
    aliases, notes : tuple of str
        Other spellings of the name; known pitfalls.
    counts : bool
        Whether features count words, which benchmarks turn into TF-IDF inside the fold.
    """

    name: str
    n_samples: int
    n_features: int
    n_labels: int
    labels: str
    sha256: str
    n_bytes: int
    domain: str
    citation: Citation
    sources: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    counts: bool = False

    def __post_init__(self) -> None:
        """Check the fields."""
        # The name becomes a file name in the cache and must not lead out of it.
        if not re.fullmatch(r"\w[\w.-]*", self.name):
            raise ValueError(
                f"the name of a data set must consist of letters, digits, '-', '_' and "
                f"'.', got {self.name!r}; rename it."
            )
        if not re.fullmatch(r"[0-9a-f]{64}", self.sha256):
            raise ValueError(
                f"{self.name}: sha256 must be 64 lower-case hexadecimal digits, got "
                f"{self.sha256!r}; compute it with `sha256sum {self.name}.arff`."
            )
        if self.n_bytes < 1:
            raise ValueError(
                f"{self.name}: n_bytes must be positive, got {self.n_bytes}; pass the "
                "size of the ARFF text, which bounds each download."
            )
        for url in self.sources:
            if not url.startswith(("https://", "http://")):
                raise ValueError(
                    f"{self.name}: a source must be an http or https URL, got {url!r}; "
                    "put a local file into the directory of HOMI_DATA."
                )

    @property
    def spellings(self) -> tuple[str, ...]:
        """Name and aliases."""
        return (self.name, *self.aliases)


@functools.cache
def registry() -> Mapping[str, Entry]:
    """Return all entries by name, in the order of ``registry.toml``."""
    text = (resources.files("homi.datasets") / "registry.toml").read_text("utf-8")
    return MappingProxyType(
        {name: _entry(name, table) for name, table in tomllib.loads(text).items()}
    )


def lookup(name: str) -> Entry | None:
    """Return the entry of a name or alias, in any case, or None."""
    return _by_spelling().get(name.casefold())


def require(name: str) -> Entry:
    """Return the entry of a name or alias; raise UnknownDataset if there is none."""
    entry = lookup(name)
    if entry is None:
        raise UnknownDataset(f"no data set is named {name!r}; {nearest(name)}.")
    return entry


def nearest(name: str) -> str:
    """Name the closest data sets for an error message, or all if none is close."""
    spellings = _by_spelling()
    close = difflib.get_close_matches(name.casefold(), spellings, n=5, cutoff=0.6)
    names = list(dict.fromkeys(spellings[spelling].name for spelling in close))[:3]
    if names:
        return f"closest names: {', '.join(names)}"
    return f"known names: {', '.join(registry())}"


@functools.cache
def _by_spelling() -> Mapping[str, Entry]:
    return {
        spelling.casefold(): entry
        for entry in registry().values()
        for spelling in entry.spellings
    }


def _entry(name: str, table: dict[str, object]) -> Entry:
    fields = {k: tuple(v) if isinstance(v, list) else v for k, v in table.items()}
    citation = Citation(**fields.pop("citation"))  # type: ignore[arg-type]
    return Entry(name=name, citation=citation, **fields)  # type: ignore[arg-type]
