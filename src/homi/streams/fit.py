"""Fit HOMI from batches: a sample gives the anchors, then one pass the moments."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from homi.estimators import HOMI, HOMICV
from homi.graph import plan_anchors
from homi.graph.reservoir import Reservoir
from homi.model.cross_validated_fit import check_cv_parameters
from homi.model.graphs import Sums
from homi.model.partial_fit import (
    add_batch,
    check_batch_rows,
    check_parameters,
    fit_sums,
    seed_of,
)
from homi.streams.checkpoint import Settings, State
from homi.streams.fingerprint import digest
from homi.streams.fit_cv import HOMICVRun
from homi.streams.run import Progress, Run
from homi.streams.sources import StreamSource, open_source

if TYPE_CHECKING:
    from homi.datasets.dataset import Labels


@overload
def fit_stream(
    source: StreamSource,
    model: HOMICV,
    *,
    labels: Labels | None = ...,
    classes: ArrayLike | None = ...,
    batch_size: int = ...,
    checkpoint: str | os.PathLike[str] | None = ...,
    every: float = ...,
    progress: Callable[[Progress], object] | None = ...,
) -> HOMICV: ...
@overload
def fit_stream(
    source: StreamSource,
    model: HOMI | None = ...,
    *,
    labels: Labels | None = ...,
    classes: ArrayLike | None = ...,
    batch_size: int = ...,
    checkpoint: str | os.PathLike[str] | None = ...,
    every: float = ...,
    progress: Callable[[Progress], object] | None = ...,
) -> HOMI: ...
def fit_stream(
    source: StreamSource,
    model: HOMI | HOMICV | None = None,
    *,
    labels: Labels | None = None,
    classes: ArrayLike | None = None,
    batch_size: int = 8192,
    checkpoint: str | os.PathLike[str] | None = None,
    every: float = 30.0,
    progress: Callable[[Progress], object] | None = None,
) -> HOMI | HOMICV:
    """Fit HOMI or HOMICV to more rows than fit into memory.

    The batches are read twice: once for a random sample of rows, which gives the
    anchors of the graph, and once for the sufficient statistics of all rows, from which
    the model is solved. With γ = 0 they are read once. Memory does not depend on the
    number of rows.

    HOMICV reads them twice: for a sample of 20,000 rows, on which it chooses its
    hyper-parameters and grows trees, and for the sufficient statistics of the features.
    Without trees, it reads them once more for the leave-one-out scores of all rows,
    which it is calibrated by. The model is that of ``fit`` on the same rows.

    Parameters
    ----------
    source : path, list of path, pair, list of pair, or callable
        A file or a list of files with the same columns: Parquet, CSV, TSV or LIBSVM.
        A pair (X, Y) of arrays, sparse matrices, memory maps or paths of ``.npy``
        files. A list of batches, each a pair (X, Y) in memory, or a function that
        returns an iterator of the same batches at each call.
    model : HOMI or HOMICV, default=None
        Parameters; None for HOMI. ``graph`` of HOMI must be "anchors" or "auto", which
        means the same here. The model is not changed.
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
        changed. The file is kept after the fit, to solve HOMI for other λ, β and γ > 0;
        unchanged files are not read again for that. One of HOMICV resumes with equal
        parameters only.
    every : float, default=30.0
        Seconds between two writes of the checkpoint; 0 for a write after each batch.
    progress : callable, default=None
        Called with a :class:`homi.streams.Progress` after each batch, for example
        ``print``.

    Returns
    -------
    HOMI or HOMICV
        Fitted model; ``partial_fit`` of HOMI adds more rows.

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
    path = None if checkpoint is None else Path(checkpoint)
    check = check_cv_parameters if isinstance(model, HOMICV) else check_parameters
    check(model)
    stream = open_source(source, labels, batch_size)
    given = model, stream, classes, path, every, progress
    if isinstance(model, HOMICV):
        return HOMICVRun(*given).fit()
    run = _Run(*given)
    run.sample()
    return run.sum_up()


class _Run(Run):
    """A fit of HOMI: a sample, then the moments."""

    @property
    def first_stage(self) -> str:
        """Without a graph there is no sample, so the sums are the first pass."""
        return "sample" if self._model.gamma > 0 else "sums"

    def begin(self) -> State:
        """Return the state before the first batch."""
        reservoir = Reservoir(self._first.shape[1], seed_of(self._model))
        return State("sample", 0, reservoir, files=self._files)

    def uses_labels(self, state: State) -> bool:
        """Return True if the stage uses the labels of batches."""
        return state.stage != "sample"

    def settings(self) -> Settings:
        """Return what must be equal to resume a fit: not λ, β or the stopping rule."""
        model = self._model
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
