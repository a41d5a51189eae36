"""Name -> shape, checksum, sources, citation: ``registry.toml`` as frozen values."""

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
    """A name that stands for nothing.

    The name is wrong, hence a ValueError; and as a user's own ``<name>.arff`` would
    have done as well, also a FileNotFoundError.
    """


@dataclass(frozen=True)
class Citation:
    """The paper that brought a data set."""

    author: str
    title: str
    venue: str
    year: int

    def __str__(self) -> str:
        return f"{self.author.rstrip('.')}. {self.title}. {self.venue}, {self.year}."


@dataclass(frozen=True)
class Entry:
    """What is known of one data set before it is read.

    Parameters
    ----------
    name : str
        Its name, and the stem of its files.
    n_samples, n_features, n_labels : int
        The shape after reading.
    labels : str
        Which columns are labels, such as ``"last 6"``.
    sha256 : str
        Of the uncompressed ARFF text.
    n_bytes : int
        Length of that text.
    domain : str
        What the rows are.
    citation : Citation
        The paper to cite.
    sources : tuple of str
        URLs of the text, or of a compressed copy of it, in the order to try.
    aliases, notes : tuple of str
        Other spellings of the name; what surprises people.
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

    def __post_init__(self) -> None:
        # The name becomes a file name in the user's cache: nothing may lead out of it.
        if not re.fullmatch(r"\w[\w.-]*", self.name):
            raise ValueError(
                f"a data set's name is letters, digits, '-', '_' and '.', got "
                f"{self.name!r}; rename it."
            )
        if not re.fullmatch(r"[0-9a-f]{64}", self.sha256):
            raise ValueError(
                f"{self.name}: sha256 must be 64 lower-case hexadecimal digits, got "
                f"{self.sha256!r}; take it from `sha256sum {self.name}.arff`."
            )
        if self.n_bytes < 1:
            raise ValueError(
                f"{self.name}: n_bytes must be positive, got {self.n_bytes}; it is the "
                "size of the ARFF text and bounds every download."
            )
        for url in self.sources:
            if not url.startswith(("https://", "http://")):
                raise ValueError(
                    f"{self.name}: a source must be an http or https URL, got {url!r}; "
                    "a local file goes into the directory that HOMI_DATA names."
                )

    @property
    def spellings(self) -> tuple[str, ...]:
        """The name and its aliases."""
        return (self.name, *self.aliases)


@functools.cache
def registry() -> Mapping[str, Entry]:
    """Every entry by its name, in the order of the file."""
    text = (resources.files("homi.datasets") / "registry.toml").read_text("utf-8")
    return MappingProxyType(
        {name: _entry(name, table) for name, table in tomllib.loads(text).items()}
    )


def lookup(name: str) -> Entry | None:
    """The entry of a name or alias, whatever its case, or None."""
    return _by_spelling().get(name.casefold())


def require(name: str) -> Entry:
    """The entry of a name or alias; an unknown one is an error with the nearest."""
    entry = lookup(name)
    if entry is None:
        raise UnknownDataset(f"no data set is named {name!r}; {nearest(name)}.")
    return entry


def nearest(name: str) -> str:
    """``the nearest is ...``, or every name where none is near."""
    spellings = _by_spelling()
    close = difflib.get_close_matches(name.casefold(), spellings, n=5, cutoff=0.6)
    names = list(dict.fromkeys(spellings[spelling].name for spelling in close))[:3]
    if names:
        return f"the nearest known: {', '.join(names)}"
    return f"known: {', '.join(registry())}"


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
