"""How far a stream was read, in one file that is whole at any moment."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import IO, Any

import numpy as np
from scipy import sparse

from homi.atomic_write import whole_file
from homi.graph import AnchorPlan, TiedMoments
from homi.graph.anchors import Ties
from homi.graph.reservoir import Reservoir
from homi.moments import Moments
from homi.streams.seen import Seen, Stamp

#: What a checkpoint must be made by: written into each, and compared.
_FORMAT = 2

_STAGES = ("sample", "sums", "done")
_PIECES = ("data", "indices", "indptr")


@dataclass
class State:
    """Where a fit stands: ``batches`` of its ``stage`` are done.

    Stages are "sample", "sums" and "done". The sample is kept until there is a plan.
    ``read`` has the fingerprint of every batch that was ever read, ``files`` those of
    the files that they were read from.
    """

    stage: str
    batches: int
    reservoir: Reservoir
    plan: AnchorPlan | None = None
    total: TiedMoments | None = None
    read: list[Seen] = field(default_factory=list)
    files: list[Stamp] = field(default_factory=list)


def save(path: Path, state: State, fingerprint: dict[str, Any]) -> None:
    """Write under another name, then rename: a kill leaves the old file or the new."""
    arrays = _arrays(state)
    arrays["fingerprint"] = np.array(json.dumps({"format": _FORMAT, **fingerprint}))
    with whole_file(path) as unfinished, open(unfinished, "wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def load(path: Path, fingerprint: dict[str, Any]) -> State:
    """Read what :func:`save` wrote; anything else, or of another fit, is refused."""
    with open(path, "rb") as file:
        try:
            given, state = _read(file)
        except Exception as error:  # numpy, zipfile and json raise many kinds
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            raise ValueError(
                f"{path} is no checkpoint of fit_stream, or is damaged ({reason}); "
                "pass another path, or remove it to begin anew."
            ) from error
    wanted = {"format": _FORMAT, **fingerprint}
    differ = [key for key in wanted if given.get(key) != wanted[key]]
    if differ or state is None:
        changes = ", ".join(
            f"{key} was {given.get(key)!r} and is {wanted[key]!r}" for key in differ
        )
        raise ValueError(
            f"{path} is the checkpoint of another fit: {changes}. Pass another path, "
            "or remove it to begin anew."
        )
    return state


def _read(file: IO[bytes]) -> tuple[dict[str, Any], State | None]:
    """The fingerprint, and the state if it is of a format that is known."""
    with np.load(file, allow_pickle=False) as found:
        arrays = {key: found[key] for key in found.files}
    given = json.loads(str(arrays["fingerprint"]))
    if given["format"] != _FORMAT:
        return given, None
    return given, _state(arrays)


def _arrays(state: State) -> dict[str, Any]:
    reservoir = state.reservoir
    arrays: dict[str, Any] = {
        "stage": np.array(state.stage),
        "batches": state.batches,
        "reservoir": [reservoir.n_features, reservoir.seed, reservoir.n_seen],
        # Two digests of 16 letters, or a number of rows.
        "read": np.array(state.read, dtype="S16").reshape(-1, len(Seen._fields)),
        "files": np.array(json.dumps(state.files)),
    }
    if state.stage == "sample":
        arrays |= _rows_to_arrays(reservoir.rows)
    if state.plan is not None:
        arrays |= _fields("plan", state.plan)
    if state.total is not None:
        arrays |= _fields("moments", state.total.moments)
        if state.total.ties is not None:
            arrays |= _fields("ties", state.total.ties)
    return arrays


def _state(arrays: dict[str, Any]) -> State:
    n_features, seed, n_seen = arrays["reservoir"].tolist()
    reservoir = Reservoir(n_features, seed)
    reservoir.n_seen, reservoir.rows = n_seen, _rows_from_arrays(arrays)
    moments, ties = _built("moments", Moments, arrays), _built("ties", Ties, arrays)
    stage, batches = str(arrays["stage"]), int(arrays["batches"])
    read = [Seen(int(n), X, y) for n, X, y in arrays["read"].astype(str).tolist()]
    if stage not in _STAGES or not 0 <= batches <= len(read):
        raise ValueError(f"it has {batches} of {len(read)} batches of {stage!r}")
    return State(
        stage,
        batches,
        reservoir,
        _built("plan", AnchorPlan, arrays),
        None if moments is None else TiedMoments(moments, ties),
        read,
        [Stamp(*stamp) for stamp in json.loads(str(arrays["files"]))],
    )


def _fields(prefix: str, noun: Any) -> dict[str, Any]:
    values = {field.name: getattr(noun, field.name) for field in fields(noun)}
    return {f"{prefix}.{k}": v for k, v in values.items() if v is not None}


def _built(prefix: str, kind: Any, arrays: dict[str, Any]) -> Any:
    found = {
        key.removeprefix(f"{prefix}."): value if value.ndim else value.item()
        for key, value in arrays.items()
        if key.startswith(f"{prefix}.")
    }
    return kind(**found) if found else None


def _rows_to_arrays(rows: Any) -> dict[str, Any]:
    if rows is None:
        return {}
    if not sparse.issparse(rows):
        return {"sample": rows}
    pieces = {f"sample.{key}": getattr(rows, key) for key in _PIECES}
    return {**pieces, "sample.shape": rows.shape}


def _rows_from_arrays(arrays: dict[str, Any]) -> Any:
    if "sample" in arrays:
        return arrays["sample"]
    if "sample.data" not in arrays:
        return None
    pieces = tuple(arrays[f"sample.{key}"] for key in _PIECES)
    return sparse.csr_array(pieces, shape=tuple(arrays["sample.shape"]))
