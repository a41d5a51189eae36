"""A data set by its name, from a directory of ARFF files or an installed package."""

from __future__ import annotations

import gzip
import os
from importlib import resources
from pathlib import Path

import numpy as np

from homi.datasets.arff import read_arff
from homi.datasets.dataset import Dataset


def load(name: str, directory: str | os.PathLike[str] | None = None) -> Dataset:
    """Load a data set.

    Parameters
    ----------
    name : str
        Its name, such as ``"yeast"``.
    directory : path, optional
        Where ``<name>.arff``, or the same as ``.xz``, ``.gz`` or ``.bz2``, and
        ``<name>.xml`` are. Default: what the environment variable ``HOMI_DATA``
        names. ``"yeast"`` needs neither: it comes with the package ``river``.

    Returns
    -------
    Dataset
        X, Y, feature_names, label_names.
    """
    directory = directory or os.environ.get("HOMI_DATA") or None
    path = None if directory is None else _find(Path(directory), name)
    if path is not None:
        return read_arff(path, path.parent / f"{name}.xml")
    if name == "yeast":
        return _yeast()
    place = "HOMI_DATA is not set" if directory is None else f"{directory} has none"
    raise FileNotFoundError(
        f"no data set {name!r}: {place}; put {name}.arff and {name}.xml into a "
        "directory and name it by the argument or by HOMI_DATA."
    )


def _find(directory: Path, name: str) -> Path | None:
    candidates = (directory / f"{name}.arff{end}" for end in ("", ".xz", ".gz", ".bz2"))
    return next((path for path in candidates if path.is_file()), None)


def _yeast() -> Dataset:
    """The whole yeast data set, as it comes inside the wheel of river."""
    file = resources.files("river.datasets") / "yeast.csv.gz"
    with file.open("rb") as raw, gzip.open(raw, "rt") as text:
        header = text.readline().strip().split(",")
        values = np.loadtxt(text, delimiter=",")
    n_features = sum(name.startswith("Att") for name in header)
    X, Y = values[:, :n_features], values[:, n_features:].astype(np.int8)
    return Dataset(X, Y, header[:n_features], header[n_features:])
