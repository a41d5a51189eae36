"""ARFF text and a Mulan label list -> rows, indicators and names."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

import arff
import defusedxml.ElementTree
import numpy as np
from scipy import sparse

from homi.datasets.dataset import Dataset

_OPENERS: dict[str, Any] = {".xz": lzma.open, ".gz": gzip.open, ".bz2": bz2.open}


def read_arff(path: Path, labels: Path) -> Dataset:
    """Read an ARFF file, compressed or not, whose labels an XML file lists.

    Both features and labels keep the order of the ARFF header. A nominal attribute
    becomes its numbers if all its values are numbers, else their positions.
    """
    with _open(path) as file:
        is_sparse = _is_sparse(file)
        file.seek(0)
        form = arff.LOD if is_sparse else arff.DENSE
        content = arff.load(file, return_type=form)
    wanted = label_names(labels)
    names = [_plain(name, wanted) for name, _ in content["attributes"]]
    values = _matrix(content["data"], [kind for _, kind in content["attributes"]])
    if missing := sorted(set(wanted) - set(names)):
        raise ValueError(
            f"{labels} lists {len(missing)} label(s) that {path} does not have, such "
            f"as {missing[0]!r}; are the two files of one data set?"
        )
    is_label = np.isin(names, wanted)
    Y = values[:, is_label].toarray().astype(np.int8)
    X = values[:, ~is_label]
    features = [name for name, label in zip(names, is_label, strict=True) if not label]
    chosen = [name for name, label in zip(names, is_label, strict=True) if label]
    return Dataset(X if is_sparse else X.toarray(), Y, features, chosen)


def label_names(path: Path) -> list[str]:
    """The names in a Mulan label list, in its own order."""
    root = defusedxml.ElementTree.parse(path).getroot()
    return [e.get("name") for e in root.iter() if e.tag.rsplit("}", 1)[-1] == "label"]


def _plain(name: str, wanted: Sequence[str]) -> str:
    """A name without the backslashes that liac-arff leaves in a quoted one.

    It does not say which names were quoted, and in others a backslash is a letter
    like any other: delicious has such labels, and lists them with it.
    """
    return name if name in wanted else re.sub(r"\\(['\"])", r"\1", name)


def _open(path: Path) -> TextIO:
    opener = _OPENERS.get(path.suffix, open)
    file: TextIO = opener(path, "rt", encoding="utf-8")
    return file


def _is_sparse(file: TextIO) -> bool:
    """Whether the first row after ``@data`` is written in braces."""
    lines = (line.strip() for line in file)
    for line in lines:
        if line.lower().startswith("@data"):
            break
    first = next((line for line in lines if line and not line.startswith("%")), "")
    return first.startswith("{")


def _matrix(rows: Sequence[Any], kinds: Sequence[Any]) -> sparse.csr_array:
    codes = [_codes(kind) if isinstance(kind, list) else None for kind in kinds]
    data: list[float] = []
    indices: list[int] = []
    indptr = [0]
    for row in rows:
        for j, value in row.items() if isinstance(row, dict) else enumerate(row):
            code = codes[j]
            number = value if code is None else code[value]
            if number:
                data.append(number)
                indices.append(j)
        indptr.append(len(data))
    shape = (len(rows), len(kinds))
    return sparse.csr_array((data, indices, indptr), shape=shape, dtype=np.float64)


def _codes(values: list[str]) -> dict[str, float]:
    try:
        return {value: float(value) for value in values}
    except ValueError:
        return {value: float(i) for i, value in enumerate(values)}
