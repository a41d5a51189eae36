"""Fit HOMI from batches: a sample gives the anchors, then one pass the moments."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from homi.atomic_write import target_of
from homi.estimators import HOMI
from homi.graph import plan_anchors
from homi.graph.reservoir import Reservoir
from homi.model.graphs import Sums
from homi.model.partial_fit import (
    add_batch,
    check_batch,
    check_batch_rows,
    check_parameters,
    fit_sums,
    seed_of,
)
from homi.streams.checkpoint import Settings, State, load, save
from homi.streams.fingerprint import (
    Fingerprint,
    digest,
    fingerprint_batch,
    stamps,
    unchanged,
)
from homi.streams.sources import Batch, Source, StreamSource, open_source

if TYPE_CHECKING:
    from homi.datasets.dataset import Labels


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


def fit_stream(
    source: StreamSource,
    model: HOMI | None = None,
    *,
    labels: Labels | None = None,
    classes: ArrayLike | None = None,
    batch_size: int = 8192,
    checkpoint: str | os.PathLike[str] | None = None,
    every: float = 30.0,
    progress: Callable[[Progress], object] | None = None,
) -> HOMI:
    """Fit HOMI to more rows than fit into memory.

    The batches are read twice: once for a random sample of rows, which gives the
    anchors of the graph, and once for the sufficient statistics of all rows, from which
    the model is solved. With γ = 0 they are read once. Memory does not depend on the
    number of rows.

    Parameters
    ----------
    source : path, list of path, pair, list of pair, or callable
        A file or a list of files with the same columns: Parquet, CSV, TSV or LIBSVM.
        A pair (X, Y) of arrays, sparse matrices, memory maps or paths of ``.npy``
        files. A list of batches, each a pair (X, Y) in memory, or a function that
        returns an iterator of the same batches at each call.
    model : HOMI, default=None
        Parameters. ``graph`` must be "anchors" or "auto", which means the same here.
        The model is not changed.
    labels : str, list of str or path, default=None
        Label columns of a table, as in `homi.datasets.read`.
    classes : array-like, default=None
        All classes, if batches have a 1-D y.
    batch_size : int, default=8192
        Rows per batch, unless the source gives batches.
    checkpoint : path, default=None
        File that stores the state of the fit. If it exists, the fit resumes from it,
        to the same model as without an interruption. A checkpoint of other parameters
        of the graph is refused, and so are data in which a batch that was read has
        changed. The file is kept after the fit, to solve for other λ, β and γ > 0;
        unchanged files are not read again for that.
    every : float, default=30.0
        Seconds between two writes of the checkpoint; 0 for a write after each batch.
    progress : callable, default=None
        Called with a :class:`homi.streams.Progress` after each batch, for example
        ``print``.

    Returns
    -------
    HOMI
        Fitted model; ``partial_fit`` adds more rows.

    Raises
    ------
    ValueError
        If a batch is invalid, with its number and row; the checkpoint has all batches
        before it. If a checkpoint is damaged or belongs to other data.

    Examples
    --------
    >>> import numpy as np
    >>> from homi import HOMI, fit_stream
    >>> def batches():
    ...     rng = np.random.default_rng(0)
    ...     for _ in range(10):
    ...         X = rng.normal(size=(500, 6))
    ...         yield X, (X[:, :3] + X[:, 3:] > 0).astype(int)
    >>> model = fit_stream(batches, HOMI(graph="anchors", random_state=0))
    >>> model.predict([[1, 1, 1, 1, -2, 1]])
    array([[1, 0, 1]])
    """
    model = HOMI(graph="anchors") if model is None else clone(model)
    check_parameters(model)
    stream = open_source(source, labels, batch_size)
    path = None if checkpoint is None else Path(checkpoint)
    run = _Run(model, stream, classes, path, every, progress)
    run.sample()
    return run.sum_up()


class _Run:
    """One run of a fit, from its state to the end."""

    def __init__(
        self,
        model: HOMI,
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
        self._settings = _settings(model)
        self._state = self._begun()
        self._saved = time.monotonic()

    def _begun(self) -> State:
        if self._path is None or not self._path.exists():
            reservoir = Reservoir(self._first.shape[1], seed_of(self._model))
            return State("sample", 0, reservoir, files=self._files)
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

    def sample(self) -> None:
        """Run stage 1: sample rows, and plan the anchors."""
        state, model = self._state, self._model
        if state.stage != "sample":
            return
        rows = self._first
        if model.gamma > 0:
            for X, _ in self._stage():
                seen = state.reservoir.n_seen
                X = check_batch_rows(model, X, state.batches + 1, seen)
                state.reservoir.add(X)
                self._done(X.shape[0])
            rows = state.reservoir.rows
        plan = plan_anchors(
            rows,
            model.n_neighbors,
            model.n_anchors if model.gamma > 0 else 0,
            standardize=model.standardize,
            seed=state.reservoir.seed,
        )
        state.reservoir.rows = None
        self._state = State(
            "sums", 0, state.reservoir, plan, read=state.read, files=state.files
        )
        self._save()

    def sum_up(self) -> HOMI:
        """Run stage 2: add up the moments of all rows, and solve for the model."""
        state, model, sums = self._state, self._model, None
        assert state.plan is not None
        if state.total is not None:
            sums = Sums(state.plan, state.total)
        if state.stage == "sums":
            for X, y in self._stage():
                before = 0 if sums is None else sums.n
                given = X, y, self._classes, state.plan
                sums = add_batch(model, sums, state.batches + 1, *given)
                state.total = sums.total
                self._done(sums.n - before)
            state.stage = "done"
            self._save()
        assert sums is not None
        model = fit_sums(model, sums, state.batches)
        if self._source.label_names is not None:
            model.label_names_ = np.array(self._source.label_names, dtype=object)
        return model

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
        # Without a graph there is no sample, so the sums are the first pass.
        first_stage = "sample" if self._model.gamma > 0 else "sums"
        for X, y in self._batches(start):
            found = None
            if self._path is not None:
                found = fingerprint_batch(X, None if state.stage == "sample" else y)
            number += 1
            if found is not None and number <= read:
                change = state.read[number - 1].change(found)
                if change is not None:
                    raise self._changed(state, f"batch {number} {change}")
            elif found is not None and state.stage != first_stage:
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


def _settings(model: HOMI) -> Settings:
    """Return what must be equal to resume a fit: not λ, β or the stopping rule."""
    seed = model.random_state
    return {
        "n_neighbors": int(model.n_neighbors),
        "n_anchors": int(model.n_anchors),
        "standardize": bool(model.standardize),
        "graph": bool(model.gamma > 0),
        "random_state": int(seed) if isinstance(seed, (int, np.integer)) else None,
        "features": model.n_features_in_,
        "labels": len(model.label_names_),
        "classes": digest(model.classes_),
    }
