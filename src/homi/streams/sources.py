"""Sources of batches: files, arrays, or batches that the user makes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeGuard, cast

import numpy as np
from scipy import sparse

from homi.extras import optional
from homi.typing import Matrix, MatrixLike

if TYPE_CHECKING:
    from homi.datasets.dataset import Labels
    from homi.streams.readers import Reader

#: X and Y.
Batch: TypeAlias = tuple[MatrixLike, MatrixLike]
PathLike: TypeAlias = "str | os.PathLike[str]"

#: Input of `homi.fit_stream`. A tuple of two is (X, Y), or their two ``.npy`` files.
StreamSource: TypeAlias = (
    "PathLike | Sequence[PathLike] | Batch | Iterable[Batch] "
    "| Callable[[], Iterable[Batch]]"
)


class Source(Protocol):
    """Batches of X and Y: the same batches in the same order at each call."""

    @property
    def label_names(self) -> Sequence[str] | None:
        """Names of the labels, if known."""

    @property
    def files(self) -> Sequence[Path]:
        """Files that the batches are read from, if any."""

    @property
    def where(self) -> str:
        """Origin of the last batch, for error messages."""

    def batches(self, start: int = 0) -> Iterator[Batch]:
        """Yield the batches from number ``start`` on, counted from 0."""


class UserBatches:
    """Batches of an iterable, or of a function that returns one."""

    label_names, files, where = None, (), "the source"

    def __init__(self, made: Callable[[], Iterable[Batch]] | Iterable[Batch]) -> None:
        self._made = made

    def batches(self, start: int = 0) -> Iterator[Batch]:
        """Yield the batches from number ``start`` on."""
        made = self._made() if callable(self._made) else self._made
        return islice(iter(made), start, None)


class Arrays:
    """Rows of X and Y: arrays, memory maps, sparse matrices or data frames."""

    label_names = None

    def __init__(
        self, X: MatrixLike | PathLike, Y: MatrixLike | PathLike, batch_size: int
    ) -> None:
        self.files = [Path(A) for A in (X, Y) if isinstance(A, (str, os.PathLike))]
        self.where = " and ".join(map(str, self.files)) or "the pair (X, Y)"
        self._X, self._Y, self._size = _opened(X), _opened(Y), batch_size
        n_rows, n_labelled = self._X.shape[0], self._Y.shape[0]
        if n_rows != n_labelled:
            raise ValueError(
                f"X has {n_rows} rows and Y has {n_labelled}; they must have one row "
                "per sample each."
            )

    def batches(self, start: int = 0) -> Iterator[Batch]:
        """Yield the batches from number ``start`` on."""
        for first in range(start * self._size, self._X.shape[0], self._size):
            rows = slice(first, first + self._size)
            yield _taken(self._X, rows), _taken(self._Y, rows)


class Files:
    """Files of one format, one after the other; each starts a new batch."""

    def __init__(
        self, paths: Sequence[Path], labels: Labels | None, batch_size: int
    ) -> None:
        with optional("a stream of files"):
            from homi.streams.readers import open_reader

        self.files, self.where = list(paths), str(paths[0])
        self._reader: Reader = open_reader(paths, labels, batch_size)

    @property
    def label_names(self) -> Sequence[str]:
        """Names of the labels."""
        return self._reader.label_names

    def batches(self, start: int = 0) -> Iterator[Batch]:
        """Yield the batches from number ``start`` on."""
        for path in self.files:
            self.where = str(path)
            count = self._reader.count(path) if start else None
            if count is not None and count <= start:
                start -= count
                continue
            known = start if count is not None else 0
            start -= known
            try:
                for piece in self._reader.pieces(path, known):
                    if start:
                        start -= 1
                    else:
                        yield self._reader.batch(piece)
            except ValueError as error:
                raise ValueError(f"{path}: {str(error)[:1000]}") from error


def open_source(source: StreamSource, labels: Labels | None, batch_size: int) -> Source:
    """Open a source as `homi.fit_stream` documents it."""
    if isinstance(source, (str, os.PathLike)):
        return Files([Path(source)], labels, batch_size)
    if isinstance(source, list) and _are_paths(source):
        return Files([Path(path) for path in source], labels, batch_size)
    if labels is not None:
        raise ValueError(
            f"labels={labels!r} chooses columns of a file, but the source is "
            f"{_kind(source)}; leave labels out."
        )
    if isinstance(source, tuple) and len(source) == 2 and _are_rows(source):
        X, Y = cast("Batch", source)
        return Arrays(X, Y, batch_size)
    if isinstance(source, Iterator):
        raise TypeError(
            f"{_kind(source)} can be read only once, and a stream is read twice: for a "
            "sample and for the sufficient statistics. Pass the function that makes it."
        )
    if callable(source) or isinstance(source, Iterable):
        return UserBatches(cast("Iterable[Batch]", source))
    raise TypeError(
        f"{_kind(source)} is not a source of batches; pass a path or a list of paths, "
        "a pair (X, Y), a list of such pairs, or a function that returns an iterator "
        "of them."
    )


def _kind(source: object) -> str:
    return f"a {type(source).__name__}"


def _are_paths(source: object) -> TypeGuard[Sequence[PathLike]]:
    return (
        isinstance(source, (list, tuple))
        and len(source) > 0
        and all(isinstance(part, (str, os.PathLike)) for part in source)
    )


def _are_rows(pair: tuple[Any, Any]) -> bool:
    return _are_paths(pair) or all(hasattr(part, "shape") for part in pair)


def _opened(A: MatrixLike | PathLike) -> Matrix:
    """Open ``.npy`` files as memory maps; convert sparse matrices to CSR."""
    if isinstance(A, (str, os.PathLike)):
        if Path(A).suffix != ".npy":
            raise ValueError(f"{A}: a pair of files must be two .npy files, X and Y.")
        return np.load(A, mmap_mode="r", allow_pickle=False)
    return sparse.csr_array(A) if sparse.issparse(A) else A


def _taken(A: Matrix, rows: slice) -> Matrix:
    if hasattr(A, "iloc"):
        return A.iloc[rows]
    # Copy rows of a memory map: a view would keep its pages in memory.
    return np.array(A[rows]) if isinstance(A, np.memmap) else A[rows]
