"""Batches of multi-label LIBSVM files, which stay sparse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from homi.budget import Budget, Refused
from homi.datasets.files import lines
from homi.datasets.libsvm import Entries, names_in, row_in
from homi.streams.sources import Batch


class LibsvmFiles:
    """Files that are read once before, for their columns, unless line 1 names them.

    Only which features and labels occur is kept of that: a few numbers and the
    numbers of the labels.
    """

    def __init__(self, paths: Sequence[Path], batch_size: int) -> None:
        self._size = batch_size
        names = [_names(path) for path in paths]
        if names[0] is not None and all(given == names[0] for given in names):
            self._base, self._n_features = 1, len(names[0].features)
            self._labels = {j: j for j in range(len(names[0].labels))}
            self.label_names: Sequence[str] = names[0].labels
            return
        low, high, found = 1, 0, set()
        for path in paths:
            for chosen, columns, _ in _rows(path):
                found.update(chosen)
                low, high = min([low, *columns]), max([high, *columns])
        Budget.of(paths[0]).take_columns(high + 1 - low + len(found))
        if not found:
            raise ValueError(f"{paths[0]}: no row has a label.")
        self._base, self._n_features = low, high + 1 - low
        self._labels = {label: j for j, label in enumerate(sorted(found))}
        self.label_names = [str(label) for label in sorted(found)]

    def count(self, path: Path) -> int | None:
        return None

    def pieces(self, path: Path, start: int) -> Iterator[list[Any]]:
        held: list[Any] = []
        for row in _rows(path):
            held.append(row)
            if len(held) == self._size:
                yield held
                held = []
        if held:
            yield held

    def batch(self, piece: list[Any]) -> Batch:
        features, labels = Entries(), Entries()
        for i, (chosen, columns, values) in enumerate(piece):
            if unknown := [x for x in chosen if x not in self._labels]:
                raise Refused(f"row {i + 1} of it: label {unknown[0]} is not named.")
            outside = [j for j in columns if not 0 <= j - self._base < self._n_features]
            if outside:
                raise Refused(f"row {i + 1} of it: feature {outside[0]} is not named.")
            places = [self._labels[label] for label in chosen]
            labels.add(places, [1.0] * len(chosen))
            features.add(columns, values)
        X = features.csr(self._base, self._n_features)
        return X, labels.csr(0, len(self._labels))


def _names(path: Path) -> Any:
    first = next(lines(path), None)
    try:
        return None if first is None else names_in(first[1])
    except Refused as error:
        raise ValueError(f"{path}: {error}") from error


def _rows(path: Path) -> Iterator[tuple[list[int], list[int], list[float]]]:
    for count, line in lines(path):
        row = row_in(count, line)
        if row is not None:
            yield row
