"""Checkpoint of a stream: its state in one file, written atomically."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from homi.atomic_write import whole_file
from homi.graph import AnchorMoments, AnchorPlan
from homi.graph.anchors import AnchorEdges
from homi.graph.reservoir import Reservoir
from homi.model.block_scores import ScoreTable
from homi.moments import Moments
from homi.streams.fingerprint import Fingerprint, Stamp
from homi.typing import Matrix

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Arrays: TypeAlias = dict[str, NDArray[Any]]

#: Parameters and shapes that must be equal to resume a fit.
Settings: TypeAlias = dict[str, object]

_Noun = TypeVar("_Noun")

#: Version of the format.
_FORMAT = 2

_STAGES = ("sample", "sums", "moments", "scores", "done")
_PARTS = ("data", "indices", "indptr")


@dataclass
class State:
    """State of a fit: ``batches`` of its ``stage`` are done.

    Stages of HOMI are "sample", "sums" and "done"; the sample is kept until the plan is
    made. Those of HOMICV are "sample", "moments", "scores" and "done"; the sample is
    kept, with its ``labels``. ``read`` has the fingerprints of all batches that were
    read, ``files`` the stamps of the files that they come from, and ``rows`` counts the
    rows of the stage.
    """

    stage: str
    batches: int
    reservoir: Reservoir
    plan: AnchorPlan | None = None
    total: AnchorMoments | None = None
    read: list[Fingerprint] = field(default_factory=list)
    files: list[Stamp] = field(default_factory=list)
    labels: Reservoir | None = None
    table: ScoreTable | None = None
    rows: int = 0


def save(path: Path, state: State, settings: Settings) -> None:
    """Write a checkpoint; a kill leaves the old file or the new one."""
    arrays = _arrays(state)
    arrays["fingerprint"] = np.array(json.dumps({"format": _FORMAT, **settings}))
    with whole_file(path) as unfinished, open(unfinished, "wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def load(path: Path, settings: Settings) -> State:
    """Read a checkpoint; raise ValueError if it is damaged or of another fit."""
    with open(path, "rb") as file:
        try:
            given, state = _read(file)
        except Exception as error:  # numpy, zipfile and json raise many kinds
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            raise ValueError(
                f"{path} is not a checkpoint of fit_stream, or is damaged ({reason}); "
                "pass another path, or remove it to start again."
            ) from error
    wanted = {"format": _FORMAT, **settings}
    differ = [key for key in wanted if given.get(key) != wanted[key]]
    if differ or state is None:
        changes = ", ".join(
            f"{key} was {given.get(key)!r} and is {wanted[key]!r}" for key in differ
        )
        raise ValueError(
            f"{path} is the checkpoint of another fit: {changes}. Pass another path, "
            "or remove it to start again."
        )
    return state


def _read(file: IO[bytes]) -> tuple[Settings, State | None]:
    """Return the settings, and the state if its format is known."""
    with np.load(file, allow_pickle=False) as found:
        arrays = {key: found[key] for key in found.files}
    given = json.loads(str(arrays["fingerprint"]))
    if given["format"] != _FORMAT:
        return given, None
    return given, _state(arrays)


def _arrays(state: State) -> Arrays:
    reservoir = state.reservoir
    arrays: Arrays = {
        "stage": np.array(state.stage),
        "batches": np.array(state.batches),
        "reservoir": np.array([reservoir.n_features, reservoir.seed, reservoir.n_seen]),
        # A number of rows and two digests of 16 letters.
        "read": np.array(state.read, dtype="S16").reshape(-1, len(Fingerprint._fields)),
        "files": np.array(json.dumps(state.files)),
    }
    arrays |= _rows_to_arrays(reservoir.rows)
    if state.labels is not None:
        arrays |= {"rows": np.array(state.rows), "size": np.array(reservoir.size)}
        if state.labels.rows is not None:
            arrays["labels"] = state.labels.rows
    if state.table is not None:
        arrays |= _fields("table", state.table)
    if state.plan is not None:
        arrays |= _fields("plan", state.plan)
    if state.total is not None:
        arrays |= _fields("moments", state.total.moments)
        if state.total.edges is not None:
            arrays |= _fields("ties", state.total.edges)
    return arrays


def _state(arrays: Arrays) -> State:
    n_features, seed, n_seen = arrays["reservoir"].tolist()
    size = int(arrays["size"]) if "size" in arrays else None
    reservoir = Reservoir(n_features, seed, size)
    reservoir.n_seen, reservoir.rows = n_seen, _rows_from_arrays(arrays)
    labels = None
    if size is not None:
        labels = Reservoir(1, seed, size)
        labels.n_seen, labels.rows = n_seen, arrays.get("labels")
    moments, edges = (
        _built("moments", Moments, arrays),
        _built("ties", AnchorEdges, arrays),
    )
    stage, batches = str(arrays["stage"]), int(arrays["batches"])
    read = [
        Fingerprint(int(n), X, y) for n, X, y in arrays["read"].astype(str).tolist()
    ]
    if stage not in _STAGES or not 0 <= batches <= len(read):
        raise ValueError(f"it has {batches} of {len(read)} batches of {stage!r}")
    return State(
        stage,
        batches,
        reservoir,
        _built("plan", AnchorPlan, arrays),
        None if moments is None else AnchorMoments(moments, edges),
        read,
        [Stamp(*stamp) for stamp in json.loads(str(arrays["files"]))],
        labels,
        _built("table", ScoreTable, arrays),
        int(arrays.get("rows", 0)),
    )


def _fields(prefix: str, noun: DataclassInstance) -> Arrays:
    values = {field.name: getattr(noun, field.name) for field in fields(noun)}
    return {f"{prefix}.{k}": v for k, v in values.items() if v is not None}


def _built(prefix: str, kind: type[_Noun], arrays: Arrays) -> _Noun | None:
    found = {
        key.removeprefix(f"{prefix}."): value if value.ndim else value.item()
        for key, value in arrays.items()
        if key.startswith(f"{prefix}.")
    }
    return kind(**found) if found else None


def _rows_to_arrays(rows: Matrix) -> Arrays:
    if rows is None:
        return {}
    if not sparse.issparse(rows):
        return {"sample": rows}
    parts = {f"sample.{key}": getattr(rows, key) for key in _PARTS}
    return {**parts, "sample.shape": np.array(rows.shape)}


def _rows_from_arrays(arrays: Arrays) -> Matrix:
    if "sample" in arrays:
        return arrays["sample"]
    if "sample.data" not in arrays:
        return None
    parts = tuple(arrays[f"sample.{key}"] for key in _PARTS)
    return sparse.csr_array(parts, shape=tuple(arrays["sample.shape"]))
