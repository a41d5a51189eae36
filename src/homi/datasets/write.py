"""Write a data set to a file that `homi.datasets.read` reads back."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from homi.arrays import canonical, dense
from homi.datasets.dataset import Dataset, label_dtype
from homi.datasets.files import split_name, writing
from homi.datasets.libsvm import NAMES
from homi.extras import optional
from homi.typing import Matrix

Writer: TypeAlias = Callable[[Dataset, IO[bytes]], None]

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_ESCAPES = str.maketrans(
    {"\\": r"\\", "'": r"\'", "\n": r"\n", "\r": r"\r", "\t": r"\t"}
)


def write(dataset: Dataset, path: str | os.PathLike[str]) -> None:
    """Write a data set to a file, atomically.

    Parameters
    ----------
    dataset : Dataset
        X and Y, dense or sparse, and the names. Y must hold only 0 and 1; NaN in X
        is a missing value. The data set is not changed.
    path : path
        The suffix gives the format: ``.arff``, ``.csv``, ``.tsv``, ``.parquet``,
        ``.libsvm`` (or ``.svm``, ``.svmlight``, ``.txt``) or ``.npz``. With ``.gz``,
        ``.xz`` or ``.bz2`` after it the file is compressed. An existing file is
        replaced.

    Notes
    -----
    Labels come after the features. ARFF states this with MEKA's ``-C``, and is sparse
    if X is. CSV, TSV and Parquet are read back with ``labels="last 14"`` for 14 labels.
    LIBSVM has no names: they are kept in a comment on its first line, which
    scikit-learn skips.

    Examples
    --------
    >>> import numpy as np
    >>> from homi.datasets import Dataset, write
    >>> data = Dataset(np.eye(2), np.eye(2, dtype=np.int8), ["a", "b"], ["x", "y"])
    >>> write(data, "small.arff.gz")  # doctest: +SKIP
    """
    path = Path(path)
    form = split_name(path)[1]
    if form not in _WRITERS:
        raise ValueError(
            f"{path}: the format {form!r} is not known; expected one of "
            f"{', '.join(_WRITERS)}."
        )
    try:
        checked = _checked(dataset)
        with writing(path) as file:
            _WRITERS[form](checked, file)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _checked(dataset: Dataset) -> Dataset:
    X, Y, features, labels = dataset
    # Canonical form: the parsers refuse a column that occurs twice in a row.
    X = canonical(X).tocsr() if sparse.issparse(X) else np.asarray(X)
    Y = np.asarray(dense(Y))
    shapes = (X.shape, Y.shape, len(features), len(labels))
    if X.ndim != 2 or Y.ndim != 2 or shapes[2:] != (X.shape[1], Y.shape[1]):
        raise ValueError(f"shapes of X and Y and numbers of names differ: {shapes}.")
    if len(Y) != X.shape[0]:
        raise ValueError(
            f"X has {X.shape[0]} rows and Y has {len(Y)}; they must be equal."
        )
    if not np.isin(Y, (0, 1)).all():
        raise ValueError("Y must hold only 0 and 1; for -1/+1 labels pass Y > 0.")
    return Dataset(
        X.astype(np.float64), Y.astype(label_dtype(len(labels))), features, labels
    )


def _arff(dataset: Dataset, file: IO[bytes]) -> None:
    X, Y, features, labels = dataset
    lines = [f"@relation 'homi: -C -{len(labels)}'"]
    lines += [f"@attribute {_quoted(name)} numeric" for name in features]
    lines += [f"@attribute {_quoted(name)} {{0,1}}" for name in labels]
    file.write("\n".join([*lines, "@data", ""]).encode())
    if not sparse.issparse(X):
        for x, y in zip(X, Y, strict=True):
            file.write(f"{','.join([*_texts(x), *map(str, y)])}\n".encode())
        return
    for (columns, values), y in zip(_rows(X), Y, strict=True):
        on = np.flatnonzero(y) + X.shape[1]
        cells = [f"{j} {v}" for j, v in zip(columns, _texts(values), strict=True)]
        file.write(f"{{{','.join([*cells, *(f'{j} 1' for j in on)])}}}\n".encode())


def _quoted(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else f"'{name.translate(_ESCAPES)}'"


def _texts(values: NDArray[np.float64], gap: str = "?") -> list[str]:
    """Format numbers with the fewest digits that restore them exactly."""
    return [gap if value != value else repr(value) for value in values.tolist()]


def _rows(X: Matrix) -> Iterator[tuple[NDArray[np.integer], NDArray[np.float64]]]:
    for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        yield X.indices[start:stop], X.data[start:stop]


def _text(delimiter: str) -> Writer:
    def to_file(dataset: Dataset, file: IO[bytes]) -> None:
        text = io.TextIOWrapper(file, "utf-8", newline="")
        # Quote all names: the first one would lose a byte order mark at its start.
        csv.writer(
            text, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL
        ).writerow([*dataset.feature_names, *dataset.label_names])
        for x, y in zip(dense(dataset.X), dataset.Y, strict=True):
            text.write(delimiter.join([*_texts(x, gap=""), *map(str, y)]) + "\n")
        text.detach()

    return to_file


def _parquet(dataset: Dataset, file: IO[bytes]) -> None:
    with optional("writing Parquet"):
        import pyarrow as pa  # slow to import
        import pyarrow.parquet as pq

    columns = [pa.array(column) for column in [*dense(dataset.X).T, *dataset.Y.T]]
    names = [*dataset.feature_names, *dataset.label_names]
    pq.write_table(pa.Table.from_arrays(columns, names=names), file)


def _libsvm(dataset: Dataset, file: IO[bytes]) -> None:
    names = json.dumps([list(dataset.feature_names), list(dataset.label_names)])
    file.write(f"{NAMES}{names}\n".encode())
    X = sparse.csr_array(dataset.X)
    for (columns, values), y in zip(_rows(X), dataset.Y, strict=True):
        labels = ",".join(map(str, np.flatnonzero(y)))
        pairs = zip(columns + 1, _texts(values, gap="nan"), strict=True)
        cells = [f"{j}:{value}" for j, value in pairs]
        # An empty row would be a blank line, which readers skip.
        file.write(f"{labels} {' '.join(cells) or '1:0'}\n".encode())


def _npz(dataset: Dataset, file: IO[bytes]) -> None:
    X, Y, features, labels = dataset
    if any(name.endswith("\0") for name in [*features, *labels]):
        raise ValueError("a name ends in a NUL, which numpy drops; rename it.")
    arrays = {"X": X}
    if sparse.issparse(X):
        arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr}
        arrays |= {"shape": np.array(X.shape), "format": np.array(b"csr")}
    names = {"feature_names": np.array(features), "label_names": np.array(labels)}
    buffer = io.BytesIO()  # an archive is not written in order
    np.savez_compressed(buffer, allow_pickle=False, Y=Y, **arrays, **names)
    file.write(buffer.getbuffer())


_WRITERS: dict[str, Writer] = {
    ".arff": _arff,
    ".csv": _text(","),
    ".tsv": _text("\t"),
    ".parquet": _parquet,
    ".npz": _npz,
    **dict.fromkeys((".libsvm", ".svm", ".svmlight", ".txt"), _libsvm),
}
