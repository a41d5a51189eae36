"""The file itself: safetensors with a JSON header and a checksum as metadata."""

from __future__ import annotations

import hashlib
import json
import os
import struct
from pathlib import Path

import numpy as np
import safetensors.numpy

from homi.atomic_write import whole_file
from homi.budget import Budget, Refused
from homi.io.errors import ModelFileError
from homi.io.tensors import Tensors
from homi.typing import Fields

#: The newest format that this version reads. Format 2 has a ColumnTransformer; what
#: has none is written as format 1, which earlier versions read.
FORMAT = 2

_KEYS = {"homi", "sha256"}
#: Types of tensors that a model has; safetensors knows more.
_DTYPES = frozenset({"float64", "float32", "int64", "int32", "uint8", "bool"})


def write_container(path: Path, header: Fields, tensors: Tensors) -> None:
    """Write a file, complete or not at all."""
    try:
        stated = FORMAT if "transformer" in header else 1
        text = json.dumps({"format": stated, **header}, allow_nan=False)
    except RecursionError as error:
        raise ModelFileError(
            "the model's values are nested too deeply to save."
        ) from error
    # Tensors are written row by row, whatever their order in memory.
    rows = {name: np.ascontiguousarray(value) for name, value in tensors.items()}
    n_bytes = len(text) + sum(value.nbytes for value in rows.values())
    _check_memory(path, header, Budget(n_bytes))
    metadata = {"homi": text, "sha256": _digest(text, rows)}
    with whole_file(path) as unfinished:
        unfinished.write_bytes(safetensors.numpy.save(rows, metadata=metadata))


def read_container(path: str | os.PathLike[str]) -> tuple[Fields, Tensors]:
    """Return the header and the tensors of a file after checking its checksum."""
    path = Path(path)
    if path.is_dir() or (path.exists() and not path.is_file()):
        raise ModelFileError(f"{path} is not a file; name a model file.")
    data = path.read_bytes()
    try:
        tensors = safetensors.numpy.load(data)
        text, stated = _metadata(data)
        header = json.loads(text, parse_constant=_no_constant)
    except ModelFileError as error:
        raise ModelFileError(f"{path} is not a model of homi: {error}") from error
    except MemoryError as error:
        raise ModelFileError(f"{path} needs more memory than there is.") from error
    except Exception as error:
        # safetensors has its own exception, and numpy and json raise theirs.
        raise ModelFileError(
            f"{path} is not a model file, or is damaged or truncated "
            f"({_reason(error)}); save it again, or copy it again from an intact one."
        ) from error
    _check_format(path, header)
    _check_memory(path, header, Budget(len(data)))
    if _digest(text, tensors) != stated:
        raise ModelFileError(
            f"{path} is damaged: its checksum differs from its content; copy it again "
            "from an intact one."
        )
    if strange := [t for t in tensors.values() if t.dtype.name not in _DTYPES]:
        raise ModelFileError(
            f"{path} holds a tensor of type {strange[0].dtype}, which no model has."
        )
    return header, tensors


def _metadata(data: bytes) -> tuple[str, str]:
    """Return the text of the header and the checksum."""
    (size,) = struct.unpack("<Q", data[:8])
    metadata = json.loads(data[8 : 8 + size]).get("__metadata__") or {}
    if set(metadata) != _KEYS:
        raise ModelFileError(
            "it is a safetensors file without the header of homi; name a file that "
            "homi.io.save or homi fit wrote."
        )
    return metadata["homi"], metadata["sha256"]


def _no_constant(name: str) -> None:
    raise ModelFileError(f"its header holds {name}, which is not JSON.")


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__


def _check_format(path: Path, header: object) -> None:
    stated = header.get("format") if isinstance(header, dict) else None
    if type(stated) is not int or stated < 1:
        raise ModelFileError(f"{path} is damaged: its header states no format.")
    if stated > FORMAT:
        raise ModelFileError(
            f"{path} is of format {stated}, made by a newer homi; this one reads "
            f"formats up to {FORMAT}: upgrade it by pip install --upgrade homi-learn."
        )


def _check_memory(path: Path, header: object, budget: Budget) -> None:
    """Charge the arrays of texts in a header: numpy pads each to the longest.

    All else takes memory in proportion to its size in the file.
    """
    left: list[object] = [header]
    try:
        while left:
            value = left.pop()
            left += value.values() if isinstance(value, dict) else ()
            left += value if isinstance(value, list) else ()
            array = value.get("array") if isinstance(value, dict) else None
            if isinstance(array, dict) and isinstance(array.get("values"), list):
                texts = [text for text in array["values"] if isinstance(text, str)]
                longest = max(map(len, texts), default=0)
                budget.take(8 * longest * len(array["values"]), "its arrays of texts")
    except Refused as error:
        raise ModelFileError(f"{path} is refused: {error}") from error


def _digest(text: str, tensors: Tensors) -> str:
    """Return the SHA-256 of the header and every tensor with name, type and shape."""
    digest = hashlib.sha256(_part(text.encode()))
    for name in sorted(tensors):
        tensor = tensors[name]
        about = json.dumps([name, tensor.dtype.name, tensor.shape])
        digest.update(_part(about.encode()))
        digest.update(_part(np.ascontiguousarray(tensor).tobytes()))
    return digest.hexdigest()


def _part(data: bytes) -> bytes:
    """Return data after its length, so that no two contents give the same bytes."""
    return struct.pack("<Q", len(data)) + data
