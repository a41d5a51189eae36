"""Encode facts as compact JSON that is safe inside an HTML file."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from homi.explorer.evidence import Evidence, Quality, agreement
from homi.explorer.facts import Facts, Row, Why
from homi.explorer.layout import off_diagonal
from homi.typing import Array, Fields

#: With more labels than this, entries of B are rounded to 1/32767 of the largest.
MOST_EXACT = 200

#: Characters that could end a script element or a line in it.
_UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}

#: A JSON object.
Document = Fields


def packed(facts: Facts) -> str:
    """Return the facts as JSON; NaN and infinity become null."""
    text = json.dumps(
        _document(facts), ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    return text.translate(_UNSAFE)


def rounding(facts: Facts) -> float:
    """Return the largest rounding error of B on the page; 0 if it is exact."""
    B = facts.model.B
    return 0.0 if len(B) <= MOST_EXACT else _scale(off_diagonal(B)) / 2


def _document(facts: Facts) -> Document:
    known = facts.model
    used = sorted({f for row in facts.rows for f in row.values})
    return {
        "names": known.names,
        "correlation": known.correlation,
        "places": np.round(facts.map.places, 4).tolist(),
        "groups": facts.map.groups.tolist(),
        "order": facts.order.tolist(),
        "arrows": _encoded(facts.arrows.astype(np.uint32)),
        "own": _numbers(np.diag(known.B)),
        "B": _matrix(off_diagonal(known.B)),
        "bias": _numbers(known.t),
        "data": _evidence(facts),
        "quality": _quality(facts.quality),
        "history": known.history,
        "kernel": known.kernel,
        "features": {f: known.feature_names[f] for f in used},
        "rows": [_row(row) for row in facts.rows],
        "fromMean": facts.from_mean,
        "logOdds": facts.model.odds is not None,
        "thresholds": _numbers(known.thresholds),
    }


def _matrix(off: Array) -> Document:
    if len(off) <= MOST_EXACT:
        return _encoded(off)
    scale = _scale(off)
    return {**_encoded(np.round(off / scale).astype(np.int16)), "scale": scale}


def _scale(off: Array) -> float:
    return float(np.abs(off).max(initial=0.0)) / 32767 or 1.0


def _evidence(facts: Facts) -> Document | None:
    data: Evidence | None = facts.data
    if data is None:
        return None
    upper = data.YtY[np.triu_indices(len(data.YtY))]
    small = data.n_samples < 2**16
    return {
        "rows": data.n_samples,
        "both": _encoded(upper.astype(np.uint16 if small else np.uint32)),
        "agreement": list(agreement(facts.model.B, data)),
        "sets": [
            {
                "members": list(s.members),
                "r2": _numbers(s.r2),
                "weights": _numbers(s.weights),
                "intercept": s.intercept,
            }
            for s in data.sets
        ],
    }


def _quality(measured: Quality | None) -> Document | None:
    if measured is None:
        return None
    return {
        "positives": measured.positives.tolist(),
        "auc": _numbers(measured.auc),
        "precision": _numbers(measured.precision),
        "recall": _numbers(measured.recall),
        "f1": _numbers(measured.f1),
    }


def _row(row: Row) -> Document:
    return {
        "name": row.name,
        "values": row.values,
        "truth": row.truth,
        "why": [_why(why) for why in row.why],
    }


def _why(why: Why) -> Document:
    return {
        "label": why.label,
        "start": why.start,
        "score": why.score,
        "predicted": why.predicted,
        "steps": [[s.kind, s.index, s.value, s.count] for s in why.steps],
    }


def _numbers(values: Iterable[float]) -> list[float | None]:
    return [float(v) if math.isfinite(v) else None for v in values]


def _encoded(array: NDArray[Any]) -> Document:
    """Encode the bytes of an array, little-endian and row by row."""
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return {
        "type": array.dtype.name,
        "bytes": base64.b64encode(little.tobytes()).decode("ascii"),
    }
