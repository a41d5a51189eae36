"""HOMI from batches: a sample decides the graph's anchors, then sums decide all."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
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
from homi.streams.checkpoint import State, load, save
from homi.streams.seen import Seen, digest, look, stamps, unchanged
from homi.streams.sources import Batch, Source, open_source


class Progress(NamedTuple):
    """How far a fit is: its stage, and what was read of it in this run."""

    stage: str
    batches: int
    rows: int
    seconds: float

    @property
    def rows_per_second(self) -> float:
        """Speed of this stage."""
        return self.rows / max(self.seconds, 1e-9)

    def __str__(self) -> str:
        return (
            f"{self.stage}: {self.rows:,} rows in {self.batches:,} batches, "
            f"{self.rows_per_second:,.0f} rows per second"
        )


def fit_stream(
    source: Any,
    model: HOMI | None = None,
    *,
    labels: Any = None,
    classes: Any = None,
    batch_size: int = 8192,
    checkpoint: str | os.PathLike[str] | None = None,
    every: float = 30.0,
    progress: Callable[[Progress], object] | None = None,
) -> HOMI:
    """Fit HOMI to more rows than fit into memory.

    The batches are read twice: once for a random sample of rows, which decides the
    anchors of the graph, and once for sums over all rows, from which the model is
    solved for. With γ = 0 they are read once. Memory does not depend on the rows.

    Parameters
    ----------
    source : path, list of path, pair, list of pair, or callable
        A file or a list of files of the same columns: Parquet, CSV, TSV or LIBSVM. A
        pair (X, Y) of arrays, sparse matrices, memory maps or paths of ``.npy`` files.
        A list of batches, each such a pair in memory, or a function that gives an
        iterator of them, the same at every call.
    model : HOMI, default=None
        Parameters; ``graph`` must be "anchors" or "auto", which means the same here.
        It is not changed.
    labels : str, list of str or path, default=None
        Which columns of a table are labels, as for `homi.datasets.read`.
    classes : array-like, default=None
        All classes, if batches come with a 1-D y.
    batch_size : int, default=8192
        Rows of a batch, where batches are not given.
    checkpoint : path, default=None
        A file that keeps how far the fit is; where it exists, the fit goes on from
        there, to the same model as if it had never stopped. One of other parameters
        of the graph is refused, and so are data of which a batch that was read has
        changed. It stays when the fit ends, so that other λ, β and γ > 0 can be solved
        for; files that nobody touched are not read again for that.
    every : float, default=30.0
        Seconds between two writes of the checkpoint; 0 for one after each batch.
    progress : callable, default=None
        Called with a :class:`homi.streams.Progress` after each batch; ``print`` will
        do.

    Returns
    -------
    HOMI
        Fitted; ``partial_fit`` goes on with more rows.

    Raises
    ------
    ValueError
        For a batch that cannot be used, with its number and row; what was read before
        is in the checkpoint. For a checkpoint that is damaged or of other data.

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
    """One run of a fit, from where its state is to the end."""

    def __init__(
        self,
        model: Any,
        source: Source,
        classes: Any,
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
            raise ValueError("the stream has no batches: there is nothing to learn.")
        # On the first batch: columns and labels.
        self._first, _ = check_batch(model, *first, classes, 1, 0, first=True)
        self._fingerprint = _fingerprint(model)
        self._state = self._begun()
        self._saved = time.monotonic()

    def _begun(self) -> State:
        if self._path is None or not self._path.exists():
            reservoir = Reservoir(self._first.shape[1], seed_of(self._model))
            return State("sample", 0, reservoir, files=self._files)
        state = load(self._path, self._fingerprint)
        if not unchanged(state.files, self._files):
            self._verify(state)
        return state

    def _verify(self, state: State) -> None:
        """Read the batches that are done once more: they must be as they were."""
        batches = self._compared(state, 0)
        for _ in range(state.batches):
            next(batches)
        if state.stage == "done":
            # One more than there were is refused, too.
            next(batches, None)
        if state.files != self._files:
            state.files = self._files
            assert self._path is not None
            save(self._path, state, self._fingerprint)

    def sample(self) -> None:
        """Stage 1: a sample of all rows, and the plan that it makes."""
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
        """Stage 2: the sums over all rows, and the model that they give."""
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
        """The batches that are left of this stage; an error is kept in no state."""
        self._begin, self._rows, self._n_batches = time.monotonic(), 0, 0
        state = self._state
        try:
            for batch, seen in self._compared(state, state.batches):
                self._seen = seen
                yield batch
        except BaseException:
            self._save()
            raise

    def _compared(
        self, state: State, start: int
    ) -> Iterator[tuple[Batch, Seen | None]]:
        """Batches from one on with their fingerprints, if a checkpoint is kept.

        One that was read before must be as it was, and the end where it was.
        """
        number, read = start, len(state.read)
        # Without a graph there is no sample, and the sums are the first pass.
        first_stage = "sample" if self._model.gamma > 0 else "sums"
        for X, y in self._batches(start):
            seen = None
            if self._path is not None:
                seen = look(X, None if state.stage == "sample" else y)
            number += 1
            if seen is not None and number <= read:
                change = state.read[number - 1].change(seen)
                if change is not None:
                    raise self._changed(state, f"batch {number} {change}")
            elif seen is not None and state.stage != first_stage:
                raise self._changed(state, f"batch {number} is new")
            yield (X, y), seen
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
            f"{self._source.where} is not what the checkpoint {self._path} was made "
            f"from: {change}{''.join(sizes)}. Restore the data, or remove the "
            "checkpoint to begin anew; to learn appended rows, finish the fit without "
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
                    f"batch {number} is a {type(batch).__name__}; expected a pair of "
                    "rows and labels, (X, Y)."
                )
            yield batch[0], batch[1]

    def _done(self, rows: int) -> None:
        done = self._state.batches
        if self._seen is not None:
            self._state.read[done : done + 1] = [self._seen]
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
            save(self._path, self._state, self._fingerprint)
            self._saved = time.monotonic()


def _fingerprint(model: Any) -> dict[str, Any]:
    """What must be the same for a state to be of use: not λ, β, or how far to solve."""
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
