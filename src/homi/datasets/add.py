"""Add a data set's file that the user has to the cache, after its checksum."""

from __future__ import annotations

import hashlib
from pathlib import Path

from homi.atomic_write import whole_file
from homi.datasets.fetch import cached_path
from homi.datasets.files import Damaged, text_blocks
from homi.datasets.registry import Entry, require


def add(name: str | Entry, path: Path) -> Path:
    """Copy a file into the cache, where ``load`` finds it, and return its new path.

    Parameters
    ----------
    name : str or Entry
        A name of the registry, or your own entry.
    path : Path
        The ARFF text, or an xz, gzip, bzip2 or zip file of it.

    Raises
    ------
    ValueError
        If the text is damaged, or its checksum is not that of the registry. An earlier
        copy stays.
    """
    entry = require(name) if isinstance(name, str) else name
    target = cached_path(entry)
    target.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(target) as unfinished:
        digest, size = _copy(path, unfinished, entry.n_bytes)
        if digest != entry.sha256:
            raise ValueError(
                f"{path} is not the {entry.name} of the registry: it has {size} bytes "
                f"of text with sha256 {digest}, expected {entry.n_bytes} with "
                f"{entry.sha256}; to use it all the same, name it {entry.name}.arff "
                "and set HOMI_DATA to its directory."
            )
    return target


def _copy(path: Path, output: Path, limit: int) -> tuple[str, str]:
    """Write the text, and return its checksum and its size in words."""
    digest, size = hashlib.sha256(), 0
    try:
        with open(output, "wb") as file:
            for block in text_blocks(path):
                size += len(block)
                digest.update(block)
                file.write(block)
                if size > limit:
                    return "not computed", f"more than {limit}"
    except Damaged as error:
        raise ValueError(
            f"{path} is damaged ({error}); download or copy it again."
        ) from error
    return digest.hexdigest(), str(size)
