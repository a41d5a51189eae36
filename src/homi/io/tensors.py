"""Tensors by name: put when a model is saved, checked when it is loaded."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from homi.io.errors import ModelFileError
from homi.typing import Array, Fields, Indices, Matrix

#: Arrays by name, of the types that a file may hold.
Tensors = dict[str, NDArray[Any]]

_FLOATS = ("float64", "float32")
_INTEGERS = ("int64", "int32")


class Out:
    """Tensors of a model that is saved, with a prefix for each part of the model."""

    def __init__(self, tensors: Tensors, prefix: str = "") -> None:
        self.tensors, self._prefix = tensors, prefix

    def under(self, part: str) -> Out:
        """Return the place for the tensors of a part."""
        return Out(self.tensors, f"{self._prefix}{part}.")

    def put(self, name: str, value: ArrayLike) -> None:
        """Put an array."""
        self.tensors[self._prefix + name] = np.asarray(value)

    def put_matrix(self, name: str, matrix: Matrix) -> Fields:
        """Put a dense or CSR matrix; return its layout, on which rounding depends."""
        if not sparse.issparse(matrix):
            self.put(name, matrix)
            order = "F" if matrix.flags.f_contiguous else "C"
            return {"form": "dense", "order": order}
        matrix = matrix.tocsr()
        for piece in ("data", "indices", "indptr"):
            self.put(f"{name}.{piece}", getattr(matrix, piece))
        form = "csr_array" if isinstance(matrix, sparse.sparray) else "csr_matrix"
        return {"form": form, "shape": list(matrix.shape)}

    def put_texts(self, name: str, texts: list[str]) -> None:
        """Put texts as bytes and end positions, so that the header stays small."""
        parts = [text.encode("utf-8", "surrogatepass") for text in texts]
        data = np.frombuffer(b"".join(parts), dtype=np.uint8)
        self.put(name, data)
        self.put(f"{name}.ends", np.cumsum([len(part) for part in parts], dtype=int))


class Source:
    """Tensors of a file. Each is taken once, and its shape and type are checked."""

    def __init__(self, tensors: Tensors, prefix: str = "") -> None:
        self._tensors, self._prefix = tensors, prefix

    def under(self, part: str) -> Source:
        """Return the tensors of a part."""
        return Source(self._tensors, f"{self._prefix}{part}.")

    def floats(
        self, name: str, shape: tuple[int, ...], *, finite: bool = True
    ) -> Array:
        """Take floats; NaN, and unless `finite` is False infinity, are refused."""
        found = self._take(name, shape, _FLOATS)
        if finite and not np.isfinite(found).all():
            raise ModelFileError(
                f"{self._prefix}{name} holds NaN or infinity; fit the model again."
            )
        if np.isnan(found).any():
            raise ModelFileError(f"{self._prefix}{name} holds NaN.")
        return found

    def integers(self, name: str, shape: tuple[int, ...]) -> Indices:
        """Take integers."""
        return self._take(name, shape, _INTEGERS)

    def flags(self, name: str, shape: tuple[int, ...]) -> NDArray[np.bool_]:
        """Take booleans."""
        return self._take(name, shape, ("bool",))

    def length(self, name: str) -> int:
        """Return the length of a one-dimensional tensor."""
        found = self._tensors.get(self._prefix + name)
        if found is None or found.ndim != 1:
            raise ModelFileError(f"{self._prefix}{name} is missing, or is not 1-D.")
        return len(found)

    def matrix(self, name: str, shape: tuple[int, int], about: Fields) -> Matrix:
        """Take a matrix that ``put_matrix`` put."""
        form = about.get("form")
        if form == "dense":
            found = self.floats(name, shape)
            return np.asfortranarray(found) if about.get("order") == "F" else found
        if form not in ("csr_array", "csr_matrix") or about.get("shape") != [*shape]:
            raise ModelFileError(
                f"{self._prefix}{name} is not a matrix of shape {shape}."
            )
        count = self.length(f"{name}.data")
        pieces = (
            self.floats(f"{name}.data", (count,)),
            self.integers(f"{name}.indices", (count,)),
            self.integers(f"{name}.indptr", (shape[0] + 1,)),
        )
        matrix = getattr(sparse, form)(pieces, shape=shape)
        matrix.check_format(full_check=True)
        return matrix

    def texts(self, name: str) -> list[str]:
        """Take texts that ``put_texts`` put."""
        ends = self.integers(f"{name}.ends", (self.length(f"{name}.ends"),))
        data = self._take(name, (self.length(name),), ("uint8",)).tobytes()
        starts = np.concatenate([[0], ends])
        if (np.diff(starts) < 0).any() or starts[-1] != len(data):
            raise ModelFileError(f"{self._prefix}{name} is cut in the wrong places.")
        pairs = zip(starts[:-1].tolist(), ends.tolist(), strict=True)
        return [data[a:b].decode("utf-8", "surrogatepass") for a, b in pairs]

    def check_all_taken(self) -> None:
        """Refuse a file with tensors that the model does not use."""
        if self._tensors:
            name = sorted(self._tensors)[0][:60]
            raise ModelFileError(f"it holds a tensor {name!r} that no model has.")

    def _take(
        self, name: str, shape: tuple[int, ...], dtypes: tuple[str, ...]
    ) -> NDArray[Any]:
        full = self._prefix + name
        found = self._tensors.pop(full, None)
        if found is None:
            raise ModelFileError(f"it lacks the tensor {full}.")
        if found.shape != shape or found.dtype.name not in dtypes:
            raise ModelFileError(
                f"{full} is {found.dtype} of shape {found.shape}; expected "
                f"{' or '.join(dtypes)} of shape {shape}."
            )
        # A copy is aligned and writable, as after fit.
        return found.copy()
