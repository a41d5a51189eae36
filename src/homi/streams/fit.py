"""HOMI from batches: a sample decides the graph's anchors, then sums decide all."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from homi.estimators import HOMI
from homi.graph import plan_anchors
from homi.graph.reservoir import Reservoir
from homi.model.graphs import Sums
from homi.streams.checkpoint import State, clean, digest, load, save
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
        there, to the same model as if it had never stopped. One of another source or
        of other parameters of the graph is refused. It stays when the fit ends, so
        that other λ, β and γ > 0 can be solved for without reading the data again.
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
        For a batch that cannot be used, with its number and row. What was read before
        is in the checkpoint.

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
    model._validate_params()
    model._check_partial()
    stream = open_source(source, labels, batch_size)
    path = None if checkpoint is None else Path(checkpoint)
    run = _Run(model, stream, classes, path, every, progress)
    run.sample()
    run.sum_up()
    model._settle()
    return model


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
        self._state = State("sample", 0, Reservoir(0, 0))
        first = next(self._batches(), None)
        if first is None:
            raise ValueError("the stream has no batches: there is nothing to learn.")
        X, y = first
        # On the first batch: columns, labels, and what says that it is the same one.
        X, _ = model._check_named(X, y, classes, first=True)
        self._first = X
        # Of use to a checkpoint alone: it reads the whole batch.
        self._fingerprint = {} if path is None else _fingerprint(model, *first)
        self._state = self._begun()
        self._saved = time.monotonic()

    def _begun(self) -> State:
        if self._path is not None and self._path.exists():
            clean(self._path)
            return load(self._path, self._fingerprint)
        reservoir = Reservoir(self._first.shape[1], self._model._seed())
        return State("sample", 0, reservoir)

    def sample(self) -> None:
        """Stage 1: a sample of all rows, and the plan that it makes."""
        state, model = self._state, self._model
        if state.stage != "sample":
            return
        rows = self._first
        if model.gamma > 0:
            for X, _ in self._stage():
                X = model._check_rows(X, state.batches + 1, state.reservoir.n_seen)
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
        self._state = State("sums", 0, state.reservoir, plan)
        self._save()

    def sum_up(self) -> None:
        """Stage 2: the sums over all rows."""
        state, model = self._state, self._model
        if state.total is not None:
            assert state.plan is not None
            model._resume(Sums(state.plan, state.total), state.batches)
        if state.stage == "sums":
            for X, y in self._stage():
                before = 0 if state.total is None else state.total.moments.n
                model._absorb(X, y, self._classes, state.plan)
                state.total = model._sums.total
                self._done(int(state.total.moments.n - before))
            state.stage = "done"
            self._save()
        if self._source.label_names is not None:
            model.label_names_ = np.array(self._source.label_names, dtype=object)

    def _stage(self) -> Iterator[Batch]:
        """The batches that are left of this stage; an error is kept in no state."""
        self._begin, self._rows, self._n_batches = time.monotonic(), 0, 0
        try:
            yield from self._batches()
        except BaseException:
            self._save()
            raise

    def _batches(self) -> Iterator[Batch]:
        batches = self._source.batches(self._state.batches)
        while True:
            number = self._state.batches + 1
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
        self._state.batches += 1
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


def _fingerprint(model: Any, X: Any, y: Any) -> dict[str, Any]:
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
        "first batch": digest(X, y),
    }
