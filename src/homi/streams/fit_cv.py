"""Fit HOMICV from batches: a sample, the moments, then the held-out scores."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from homi.arrays import dense
from homi.estimators import HOMICV
from homi.graph import AnchorMoments
from homi.graph.reservoir import Reservoir
from homi.model import batches
from homi.model.batches import BlockFunction, S, Sample, sample_places
from homi.model.cross_validated_fit import fit_batches, seed_of
from homi.model.partial_fit import check_batch
from homi.streams.checkpoint import Settings, State
from homi.streams.fingerprint import digest
from homi.streams.run import Run
from homi.typing import Matrix, MatrixLike


class HOMICVRun(Run):
    """A fit of HOMICV from its state to the end, and the rows that it needs for it."""

    first_stage = "sample"
    way = "a stream"
    all_rows = None

    def begin(self) -> State:
        """Return the state before the first batch."""
        seed, size = seed_of(self._model), batches.SAMPLE_ROWS
        widths = self._first.shape[1], len(self._model.label_names_)
        rows, labels = (Reservoir(width, seed, size) for width in widths)
        return State("sample", 0, rows, files=self._files, labels=labels)

    def settings(self) -> Settings:
        """Return what must be equal to resume a fit: all parameters."""
        model = self._model
        if self._path is not None and model.time_budget is not None:
            raise ValueError(
                f"time_budget={model.time_budget:g} cannot be used with a checkpoint: "
                "a resumed search could choose otherwise; leave one of them out."
            )
        given = model.get_params(deep=False)
        for name in ("n_jobs", "verbose", "random_state"):
            del given[name]
        if callable(model.scoring):
            given["scoring"] = getattr(model.scoring, "__qualname__", "a function")
        seed = model.random_state
        return {
            "parameters": {name: repr(value) for name, value in sorted(given.items())},
            "random_state": int(seed) if isinstance(seed, (int, np.integer)) else None,
            "features": model.n_features_in_,
            "labels": len(model.label_names_),
            "classes": digest(model.classes_),
        }

    def fit(self) -> HOMICV:
        """Run all stages, and return the model."""
        if self._state.stage == "sample":
            self._sample()
        model: HOMICV = self._model
        if self._source.label_names is not None:
            model.label_names_ = np.array(self._source.label_names, dtype=object)
        fit_batches(model, self)
        self._next("done")
        return model

    def _sample(self) -> None:
        """Run stage 1: sample rows and their labels."""
        state = self._state
        assert state.labels is not None
        for X, y in self._stage():
            X, Y = self._checked(X, y)
            state.reservoir.add(X)
            state.labels.add(np.asarray(dense(Y), dtype=np.int8))
            state.rows += X.shape[0]
            self._done(X.shape[0])
        self._next("moments")

    @property
    def n(self) -> int:
        """Number of rows."""
        return self._state.reservoir.n_seen

    @cached_property
    def sample(self) -> Sample:
        """The rows that were kept."""
        state = self._state
        assert state.labels is not None
        Y = state.labels.rows.astype(np.float64)
        places = sample_places(self.n, self.seed, state.reservoir.size)
        return Sample(state.reservoir.rows, Y, None, places)

    @property
    def seed(self) -> int:
        """Seed of the sample."""
        return self._state.reservoir.seed

    def summed(self, stage: str, function: BlockFunction[S]) -> S:
        """Run stage 2 or 3: sum a function over all rows."""
        state = self._state
        if state.stage == stage:
            for X, y in self._stage():
                X, Y = self._checked(X, y)
                part = function(X, Y, None, state.rows)
                self._add(stage, part)
                state.rows += X.shape[0]
                self._done(X.shape[0])
            self._next("scores" if stage == "moments" else "done")
        return self._sum(stage)

    def _sum(self, stage: str) -> Any:
        total = self._state.total
        if stage == "scores":
            return self._state.table
        return None if total is None else total.moments

    def _add(self, stage: str, part: Any) -> None:
        before = self._sum(stage)
        total = part if before is None else before + part
        if stage == "scores":
            self._state.table = total
        else:
            self._state.total = AnchorMoments(total, None)

    def _checked(self, X: MatrixLike, y: MatrixLike) -> tuple[Matrix, Matrix]:
        state = self._state
        given = self._classes, state.batches + 1, state.rows
        return check_batch(self._model, X, y, *given, first=False)

    def _next(self, stage: str) -> None:
        """Go on to the next stage."""
        state = self._state
        if state.stage != stage:
            state.stage, state.rows = stage, 0
            state.batches = len(state.read) if stage == "done" else 0
            self._save()
