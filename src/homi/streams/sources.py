"""Where batches come from: anything that can be read twice, from any batch on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from scipy import sparse

Batch = tuple[Any, Any]


class Source(Protocol):
    """Batches of rows and labels, always the same ones in the same order."""

    @property
    def label_names(self) -> Sequence[str] | None:
        """Names of the labels, if the source has some."""

    @property
    def files(self) -> Sequence[Path]:
        """The files that batches are read from, if they are."""

    @property
    def where(self) -> str:
        """What the last batch came from, in words."""

    def batches(self, start: int = 0) -> Iterator[Batch]:
        """The batches from number ``start`` on, counted from 0."""


class Given:
    """Batches that a user makes: a function of none, or an iterable to go over anew."""

    label_names, files, where = None, (), "the source"

    def __init__(self, made: Callable[[], Iterable[Batch]] | Iterable[Batch]) -> None:
        self._made = made

    def batches(self, start: int = 0) -> Iterator[Batch]:
        made = self._made() if callable(self._made) else self._made
        return islice(iter(made), start, None)


class Arrays:
    """Rows of X and Y: arrays, memory maps, sparse matrices or data frames."""

    label_names = None

    def __init__(self, X: Any, Y: Any, batch_size: int) -> None:
        self.files = [Path(A) for A in (X, Y) if isinstance(A, (str, os.PathLike))]
        self.where = " and ".join(map(str, self.files)) or "the pair (X, Y)"
        X, Y = _opened(X), _opened(Y)
        if X.shape[0] != Y.shape[0]:
            raise ValueError(
                f"X has {X.shape[0]} rows and Y has {Y.shape[0]}; they must have one "
                "row per sample each."
            )
        self._X, self._Y, self._size = X, Y, batch_size

    def batches(self, start: int = 0) -> Iterator[Batch]:
        for first in range(start * self._size, self._X.shape[0], self._size):
            rows = slice(first, first + self._size)
            yield _taken(self._X, rows), _taken(self._Y, rows)


def open_source(source: Any, labels: Any, batch_size: int) -> Source:
    """The source that a user means; `homi.fit_stream` says by what."""
    if isinstance(source, (str, os.PathLike)):
        return _files([Path(source)], labels, batch_size)
    if _are_paths(source) and isinstance(source, list):
        return _files([Path(path) for path in source], labels, batch_size)
    if labels is not None:
        raise ValueError(
            f"labels={labels!r} chooses columns of a file, and {_named(source)} is no "
            "file; leave it out."
        )
    if isinstance(source, tuple) and len(source) == 2 and _are_rows(source):
        return Arrays(*source, batch_size)
    if isinstance(source, Iterator):
        raise TypeError(
            f"{_named(source)} can be read once, and a stream is read twice: once for "
            "a sample and once for the sums. Pass the function that makes it."
        )
    if callable(source) or isinstance(source, Iterable):
        return Given(source)
    raise TypeError(
        f"{_named(source)} is no source of batches; pass a path or a list of paths, a "
        "pair (X, Y), a list of such pairs, or a function that gives an iterator of "
        "them."
    )


def _files(paths: list[Path], labels: Any, batch_size: int) -> Source:
    # The readers need packages of the extra `data`.
    from homi.streams.files import Files

    return Files(paths, labels, batch_size)


def _named(source: Any) -> str:
    return f"a {type(source).__name__}"


def _are_paths(source: Any) -> bool:
    return (
        isinstance(source, (list, tuple))
        and len(source) > 0
        and all(isinstance(part, (str, os.PathLike)) for part in source)
    )


def _are_rows(pair: tuple[Any, Any]) -> bool:
    return _are_paths(pair) or all(hasattr(part, "shape") for part in pair)


def _opened(A: Any) -> Any:
    """Arrays as they are; files of them as memory maps; sparse ones by rows."""
    if isinstance(A, (str, os.PathLike)):
        if Path(A).suffix != ".npy":
            raise ValueError(f"{A}: a pair of files must be two .npy files, X and Y.")
        return np.load(A, mmap_mode="r", allow_pickle=False)
    return sparse.csr_array(A) if sparse.issparse(A) else A


def _taken(A: Any, rows: slice) -> Any:
    if hasattr(A, "iloc"):
        return A.iloc[rows]
    # In memory, on its own: a view would keep the pages of a map alive.
    return np.array(A[rows]) if isinstance(A, np.memmap) else A[rows]
