"""A run over batches, with progress and a checkpoint."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from homi.atomic_write import target_of
from homi.model.partial_fit import check_batch
from homi.streams.checkpoint import Settings, State, load, save
from homi.streams.fingerprint import Fingerprint, fingerprint_batch, stamps, unchanged
from homi.streams.sources import Batch, Source


class Progress(NamedTuple):
    """Progress of a fit: the stage, and what this run has read in it."""

    stage: str
    batches: int
    rows: int
    seconds: float

    @property
    def rows_per_second(self) -> float:
        """Speed in this stage."""
        return self.rows / max(self.seconds, 1e-9)

    def __str__(self) -> str:
        """Return the progress as one line."""
        return (
            f"{self.stage}: {self.rows:,} rows in {self.batches:,} batches, "
            f"{self.rows_per_second:,.0f} rows per second"
        )


class Run(ABC):
    """One run of a fit: reads batches of each stage, and keeps a checkpoint.

    A subclass sets ``first_stage`` and implements ``begin`` and ``settings``.
    """

    def __init__(
        self,
        model: Any,
        source: Source,
        classes: ArrayLike | None,
        path: Path | None,
        every: float,
        progress: Callable[[Progress], object] | None,
    ) -> None:
        self._model, self._source, self._classes = model, source, classes
        self._path, self._every, self._progress = path, every, progress
        if path is not None:
            target_of(path)
        self._files = stamps(source.files)
        first = next(self._batches(0), None)
        if first is None:
            raise ValueError("the stream has no batches; at least one is needed.")
        # The first batch gives the columns and the labels.
        self._first, _ = check_batch(model, *first, classes, 1, 0, first=True)
        self._settings = self.settings()
        self._state = self._begun()
        self._saved = time.monotonic()

    @property
    @abstractmethod
    def first_stage(self) -> str:
        """The stage that reads all batches for the first time."""

    @abstractmethod
    def begin(self) -> State:
        """Return the state before the first batch."""

    @abstractmethod
    def settings(self) -> Settings:
        """Return what must be equal to resume a fit."""

    def uses_labels(self, state: State) -> bool:
        """Return True if the stage uses the labels of batches."""
        return True

    def _begun(self) -> State:
        if self._path is None or not self._path.exists():
            return self.begin()
        state = load(self._path, self._settings)
        if not unchanged(state.files, self._files):
            self._verify(state)
        return state

    def _verify(self, state: State) -> None:
        """Check that the batches that are done have not changed."""
        batches = self._compared(state, 0)
        for _ in range(state.batches):
            next(batches)
        if state.stage == "done":
            # A new batch after the last one is refused as well.
            next(batches, None)
        if state.files != self._files:
            state.files = self._files
            assert self._path is not None
            save(self._path, state, self._settings)

    def _stage(self) -> Iterator[Batch]:
        """Yield the remaining batches of this stage; save the state on an error."""
        self._begin, self._rows, self._n_batches = time.monotonic(), 0, 0
        state = self._state
        try:
            for batch, found in self._compared(state, state.batches):
                self._fingerprint = found
                yield batch
        except BaseException:
            self._save()
            raise

    def _compared(
        self, state: State, start: int
    ) -> Iterator[tuple[Batch, Fingerprint | None]]:
        """Yield batches with their fingerprints, if a checkpoint is kept.

        Batches that were read before, and their number, must not have changed.
        """
        number, read = start, len(state.read)
        for X, y in self._batches(start):
            found = None
            if self._path is not None:
                found = fingerprint_batch(X, y if self.uses_labels(state) else None)
            number += 1
            if found is not None and number <= read:
                change = state.read[number - 1].change(found)
                if change is not None:
                    raise self._changed(state, f"batch {number} {change}")
            elif found is not None and state.stage != self.first_stage:
                raise self._changed(state, f"batch {number} is new")
            yield (X, y), found
        if number < read:
            raise self._changed(state, f"it ends after batch {number} of {read}")

    def _changed(self, state: State, change: str) -> ValueError:
        sizes = [
            f"; {path} had {before.size:,} bytes and has {now.size:,}"
            for path, before, now in zip(
                self._source.files, state.files, self._files, strict=False
            )
            if before.size != now.size
        ]
        return ValueError(
            f"{self._source.where} has changed since the checkpoint {self._path} was "
            f"written: {change}{''.join(sizes)}. Restore the data, or remove the "
            "checkpoint to start again; to learn appended rows, finish the fit without "
            "them and call partial_fit."
        )

    def _batches(self, start: int) -> Iterator[Batch]:
        batches = self._source.batches(start)
        for number in count(start + 1):
            try:
                batch = next(batches, None)
            except (ValueError, OSError) as error:
                raise ValueError(f"batch {number} cannot be read: {error}") from error
            if batch is None:
                return
            if not isinstance(batch, (tuple, list)) or len(batch) != 2:
                raise TypeError(
                    f"batch {number} is a {type(batch).__name__}; expected a pair "
                    "(X, Y)."
                )
            yield batch[0], batch[1]

    def _done(self, rows: int) -> None:
        done = self._state.batches
        if self._fingerprint is not None:
            self._state.read[done : done + 1] = [self._fingerprint]
        self._state.batches = done + 1
        self._rows += rows
        self._n_batches += 1
        now = time.monotonic()
        if now - self._saved >= self._every:
            self._save()
        if self._progress is not None:
            spent = now - self._begin
            stage = self._state.stage
            self._progress(Progress(stage, self._n_batches, self._rows, spent))

    def _save(self) -> None:
        if self._path is not None:
            save(self._path, self._state, self._settings)
            self._saved = time.monotonic()
