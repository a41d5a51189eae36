"""Batches of one file or of several with the same columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from homi.datasets.files import split_name
from homi.streams.libsvm import LibsvmFiles
from homi.streams.sources import Batch
from homi.streams.tables import CsvReader, ParquetReader, TableReader

_TABLES: dict[str, type[TableReader]] = {
    ".parquet": ParquetReader,
    ".csv": CsvReader,
    ".tsv": CsvReader,
}
_LIBSVM = (".libsvm", ".svm", ".svmlight", ".txt")


class _Reader(Protocol):
    label_names: Sequence[str]

    def count(self, path: Path) -> int | None:
        """How many pieces a file has, if that is known without reading it."""

    def pieces(self, path: Path, start: int) -> Iterator[Any]:
        """What batches are made of, from number ``start`` on."""

    def batch(self, piece: Any) -> Batch:
        """X and Y of a piece."""


class Files:
    """Files of one format, one after the other; each begins a new batch."""

    def __init__(self, paths: Sequence[Path], labels: Any, batch_size: int) -> None:
        for path in paths:
            if not path.exists():
                raise FileNotFoundError(f"there is no file {path}.")
        forms = {split_name(path)[1] for path in paths}
        (form, *others) = sorted(forms)
        if others or form not in {*_TABLES, *_LIBSVM}:
            raise ValueError(
                f"{paths[0]}: streams are read from files of one format, "
                f"{', '.join([*_TABLES, *_LIBSVM])}; got {', '.join(sorted(forms))}. "
                "For .npy pass the pair (X, Y); read others by homi.datasets.read."
            )
        self.files, self.where = list(paths), str(paths[0])
        self._reader: _Reader
        if form in _TABLES:
            self._reader = _TABLES[form](paths[0], labels, batch_size)
        elif labels is not None:
            raise ValueError("LIBSVM files state their labels; leave labels out.")
        else:
            self._reader = LibsvmFiles(paths, batch_size)

    @property
    def label_names(self) -> Sequence[str]:
        return self._reader.label_names

    def batches(self, start: int = 0) -> Iterator[Batch]:
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
