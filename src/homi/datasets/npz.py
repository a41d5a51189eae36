"""Parser of NumPy ``.npz`` files: X (dense, or the parts of a CSR array), Y, names."""

from __future__ import annotations

import io
import math
import warnings
import zipfile
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from homi.arrays import check_text
from homi.budget import Budget, Refused
from homi.datasets.dataset import Content, Table, csr
from homi.datasets.files import open_binary, split_name
from homi.datasets.labels import check_unique
from homi.typing import Matrix

Arrays: TypeAlias = dict[str, NDArray[Any]]

#: Names of the parts of a CSR array, as in `scipy.sparse.save_npz`.
_PARTS = ("data", "indices", "indptr", "shape")

#: Bytes per number beside its stored bytes: as float64, and while it is read.
_NUMBER = 17


def parse(path: Path, budget: Budget) -> Content:
    """Parse an ``.npz`` file; nothing in it is unpickled."""
    with open_binary(path, budget) as file:
        # An archive is read from its end, but a decompressor only from its start.
        source = io.BytesIO(file.read()) if split_name(path)[2] else file
        arrays = _arrays(source, budget)
    X, Y = _features(arrays), _numeric(arrays, "Y")
    if Y.ndim != 2 or len(Y) != X.shape[0]:
        raise Refused(
            f"Y has shape {Y.shape} and X {X.shape}; Y must be (n_samples, n_labels) "
            "with a row for each row of X."
        )
    budget.take_columns(X.shape[1] + Y.shape[1])
    features = _names(arrays, "feature_names", X.shape[1], "x")
    labels = _names(arrays, "label_names", Y.shape[1], "y")
    return Content(Table(features, X, {}, budget), labels=Table(labels, Y, {}, budget))


def _arrays(source: IO[bytes], budget: Budget) -> Arrays:
    if source.read(4) != b"PK\3\4":  # numpy would read it as a pickle
        raise Refused("is not an .npz archive; write it with numpy.savez.")
    try:
        with zipfile.ZipFile(source) as archive:
            for member in archive.infolist():
                _charge(archive, member, budget)
        source.seek(0)
        with warnings.catch_warnings(), np.load(source, allow_pickle=False) as found:
            warnings.simplefilter("error")
            arrays = {key: np.asarray(found[key]) for key in found.files}
        for values in arrays.values():
            check_text(values)
        return arrays
    except Refused:
        raise
    except Exception as error:
        # On a damaged archive zipfile, zlib and numpy raise a dozen kinds of error.
        kind = type(error).__name__
        raise Refused(
            f"cannot be read as .npz ({kind}: {error}); write it again with "
            "numpy.savez, without objects."
        ) from error


def _charge(archive: zipfile.ZipFile, member: zipfile.ZipInfo, budget: Budget) -> None:
    """Charge the array of a member before it is read; refuse an empty X or Y.

    Names are charged once for each copy that is made of them.
    """
    is_text = member.filename.endswith("_names.npy")
    budget.take(member.file_size * (6 if is_text else 1), "its arrays")
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        reader = (
            np.lib.format.read_array_header_1_0
            if version == (1, 0)
            else np.lib.format.read_array_header_2_0
        )
        shape, _, dtype = reader(file)
        size = math.prod(shape) * dtype.itemsize
        if min(shape, default=0) < 0 or size + file.tell() > member.file_size:
            raise Refused(f"{member.filename!r} is shorter than its shape {shape}.")
    if member.filename in ("X.npy", "Y.npy") and 0 in shape:
        raise Refused(f"{member.filename[0]} has shape {shape}; it must not be empty.")
    if dtype.kind in "biuf":
        budget.take(_NUMBER * math.prod(shape), "its arrays")


def _features(arrays: Arrays) -> Matrix:
    if "X" in arrays:
        X = _numeric(arrays, "X")
        if X.ndim != 2:
            raise Refused(f"X has shape {X.shape}; it must be (n_samples, n_features).")
        return X
    if missing := [key for key in _PARTS if key not in arrays]:
        raise Refused(
            f"has no X, nor all parts of a CSR array ({', '.join(missing)} missing); "
            f"it holds {', '.join(sorted(arrays)[:8]) or 'nothing'}."
        )
    return _csr(arrays)


def _csr(arrays: Arrays) -> Matrix:
    if arrays.get("format", np.array(b"csr")).item() not in (b"csr", "csr"):
        raise Refused("its sparse matrix is not CSR; save X.tocsr().")
    for key in _PARTS[1:]:
        if arrays[key].ndim != 1 or arrays[key].dtype.kind not in "iu":
            raise Refused(f"{key!r} must be a 1-D array of integers.")
    shape = tuple(int(size) for size in arrays["shape"])
    if len(shape) != 2:
        raise Refused(f"its shape is {shape}; expected two integers.")
    X = csr(_numeric(arrays, "data"), arrays["indices"], arrays["indptr"], shape[1])
    if X.shape != shape:
        raise Refused(f"its shape is {shape}, but its indptr has {X.shape[0]} rows.")
    return X


def _numeric(arrays: Arrays, key: str) -> NDArray[np.float64]:
    if key not in arrays:
        raise Refused(f"has no {key}; it holds {', '.join(sorted(arrays)[:8])}.")
    if arrays[key].dtype.kind not in "biuf":
        raise Refused(f"{key} holds {arrays[key].dtype}; expected numbers.")
    return arrays[key].astype(np.float64)


def _names(arrays: Arrays, key: str, count: int, letter: str) -> list[str]:
    """Return the names, or x0, x1, ... if the file has none."""
    if key not in arrays:
        return [f"{letter}{j}" for j in range(count)]
    names = arrays[key]
    if names.dtype.kind == "S":
        names = np.char.decode(names, "utf-8")
    if names.shape != (count,) or names.dtype.kind != "U":
        raise Refused(
            f"{key} holds {names.dtype} of shape {names.shape}; expected {count} "
            "strings."
        )
    check_unique(names.tolist(), key.partition("_")[0])
    return [str(name) for name in names]
