"""Encode facts as compressed JSON with arrays behind it, a text for each part.

A part is gzipped, then in base64: the length of the JSON text as four bytes, the text,
and the bytes of all arrays. Of an array, the first bytes of all its numbers come first,
then the second ones, and so on, which compresses better.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from homi.explorer.captions import relation_captions
from homi.explorer.errors import BINS
from homi.explorer.evidence import Quality
from homi.explorer.facts import Facts
from homi.explorer.layout import strongest
from homi.explorer.relations import Relation
from homi.explorer.rows import Row, Why
from homi.joint.gaussian import LEAST_VARIANCE
from homi.joint.label_sets import set_weights
from homi.joint.model import LEAST_SHARE, TAIL
from homi.typing import Array, Fields

#: With more labels than this, numbers of pairs of labels are rounded.
MOST_EXACT = 200
#: Steps of a rounded matrix between 0 and its largest entry: of B, which is looked at,
#: and of the covariance, so that conditional probabilities are exact to 1e-6.
_STEPS, _FINE_STEPS = 2000, 2**28

#: Most edges of the graph.
_MOST_EDGES, _EDGES_PER_LABEL = 600, 3

#: A JSON object.
Document = Fields


def packed(facts: Facts) -> dict[str, str]:
    """Return the parts of the page, each as one text; NaN becomes null.

    The same facts give the same texts.
    """
    parts = {
        "labels": _labels,
        "pairs": _pairs,
        "known": _known,
        "rows": _rows,
        "audit": _audit,
        "quality": _quality_part,
        "models": _models,
    }
    packed = {}
    for name, document in parts.items():
        arrays = Arrays()
        if found := document(facts, arrays):
            packed[name] = arrays.pack(found)
    return packed


def unpacked(text: str) -> Document:
    """Return a part of the page, with its arrays.

    Examples
    --------
    >>> arrays = Arrays()
    >>> found = unpacked(arrays.pack({"x": arrays(np.array([1.5, 2.5]))}))
    >>> found["x"].tolist()
    [1.5, 2.5]
    """
    data = gzip.decompress(base64.b64decode(text))
    end = 4 + int.from_bytes(data[:4], "little")
    found: Document = json.loads(data[4:end])
    _restore(found, data[end:])
    return found


def _restore(document: Document, data: bytes) -> None:
    for key, value in document.items():
        if isinstance(value, dict) and "at" in value:
            dtype = np.dtype(value["type"]).newbyteorder("<")
            count = value["length"] * dtype.itemsize
            raw = np.frombuffer(data, np.uint8, count, value["at"])
            planes = np.ascontiguousarray(raw.reshape(dtype.itemsize, -1).T)
            array = planes.ravel().view(dtype)
            document[key] = array * value["scale"] if "scale" in value else array
        elif isinstance(value, dict):
            _restore(value, data)


class Arrays:
    """Arrays of a part, which stand behind its JSON text."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def __call__(self, array: NDArray[Any], scale: float | None = None) -> Document:
        """Keep an array in multiples of ``scale``, and return where it is."""
        little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        raw = little.reshape(-1, 1).view(np.uint8)
        at = len(self._bytes)
        self._bytes += np.ascontiguousarray(raw.T).tobytes()
        found: Document = {"type": array.dtype.name, "at": at, "length": array.size}
        return found if scale is None else {**found, "scale": scale}

    def pack(self, document: Document) -> str:
        """Return a part of the page as text."""
        text = json.dumps(
            document, ensure_ascii=False, allow_nan=False, separators=(",", ":")
        ).encode("utf-8", errors="replace")
        data = len(text).to_bytes(4, "little") + text + bytes(self._bytes)
        return base64.b64encode(gzip.compress(data, 6, mtime=0)).decode("ascii")


def rounding(matrix: Array) -> float:
    """Return the largest rounding error of a matrix on the page; 0 if it is exact."""
    return 0.0 if len(matrix) <= MOST_EXACT else _unit(matrix, _STEPS) / 2


def _labels(facts: Facts, _: Arrays) -> Document:
    known = facts.model
    return {
        "names": known.names,
        "places": np.round(facts.map.places, 4).tolist(),
        "groups": facts.map.groups.tolist(),
        "groupNames": facts.graph.group_names,
        "order": facts.order.tolist(),
        "logOdds": known.odds is not None,
        "thresholds": _numbers(known.thresholds),
        "fromMean": facts.from_mean,
        "captions": relation_captions(facts),
    }


def _pairs(facts: Facts, arrays: Arrays) -> Document:
    graph, data = facts.graph, facts.data
    found: Document = {
        "relations": [relation.key for relation in graph.relations],
        "edges": {
            relation.key: arrays(_edges(relation)) for relation in graph.relations
        },
        "data": None,
    }
    for relation in graph.relations:
        if relation.key == "errors":
            upper = relation.matrix[np.triu_indices(len(relation.matrix))]
            found["errors"] = arrays(np.round(1000 * upper).astype(np.int16), 1e-3)
        elif relation.key == "B":
            B = relation.matrix
            found["B"] = _rounded(arrays, B, len(B), _STEPS, np.int16)
    if data is not None:
        upper = data.YtY[np.triu_indices(len(data.YtY))]
        small = data.n_samples < 2**16
        found["data"] = {
            "rows": data.n_samples,
            "both": arrays(upper.astype(np.uint16 if small else np.uint32)),
            "sets": [
                {
                    "members": list(s.members),
                    "r2": [round(r2, 4) for r2 in s.r2],
                    "signs": [int(np.sign(w)) for w in s.weights],
                }
                for s in data.sets
            ],
        }
    return found


def _edges(relation: Relation) -> NDArray[np.uint16]:
    """Return the strongest pairs; of B, a pair stands for its stronger direction."""
    matrix, n_labels = relation.matrix, len(relation.matrix)
    if relation.key != "B":
        matrix = np.triu(matrix)
    else:
        matrix = np.where(np.abs(matrix) >= np.abs(matrix.T), matrix, 0.0)
    most = max(_MOST_EDGES, _EDGES_PER_LABEL * n_labels)
    return strongest(matrix, most).astype(np.uint16)


def _rounded(
    arrays: Arrays, values: Array, n_labels: int, steps: int, dtype: Any
) -> Document:
    """Keep an array; with many labels, as whole multiples of a small unit."""
    if n_labels <= MOST_EXACT:
        return arrays(values)
    unit = _unit(values, steps)
    return arrays(np.round(values / unit).astype(dtype), unit)


def _unit(values: Array, steps: int) -> float:
    return float(np.abs(values).max(initial=0.0)) / steps or 1.0


def _known(facts: Facts, arrays: Arrays) -> Document:
    """Return the joint model: what the browser computes conditionals from."""
    joint = facts.model.joint
    if joint is None:
        return {}
    n_labels = len(joint.covariance)
    upper = np.asarray(joint.covariance)[np.triu_indices(n_labels)]
    nothing = np.full((1, n_labels), np.nan)
    prior = set_weights(joint.sets, joint.sharpness, np.zeros((1, n_labels)), nothing)
    members = [np.flatnonzero(row) for row in joint.sets.members]
    ends = np.cumsum([0, *(len(m) for m in members)])
    return {
        "covariance": _rounded(arrays, upper, n_labels, _FINE_STEPS, np.int32),
        "members": arrays(np.concatenate(members).astype(np.uint32)),
        "ends": arrays(ends.astype(np.uint32)),
        "prior": arrays(prior[0]),
        "sharpness": joint.sharpness._asdict(),
        "weights": joint.weights._asdict(),
        "gates": arrays(joint.gates),
        "average": arrays(facts.average),
        "leastVariance": LEAST_VARIANCE,
        "tail": TAIL,
        "leastShare": LEAST_SHARE,
    }


def _rows(facts: Facts, arrays: Arrays) -> Document:
    if not facts.rows:
        return {}
    names = facts.model.feature_names
    used = sorted({f for row in facts.rows for f in row.values})
    log_odds = [row.log_odds for row in facts.rows if row.log_odds is not None]
    has_neighbors = facts.model.neighbors is not None
    return {
        "rows": [_row(row) for row in facts.rows],
        "logOdds": arrays(np.array(log_odds)),
        "features": {f: names[f] for f in used},
        "neighbor": "training row" if has_neighbors else "combination",
        "total": 0 if facts.judged is None else facts.judged.n_rows,
    }


def _row(row: Row) -> Document:
    return {
        "name": row.name,
        "text": row.text,
        "index": row.index,
        "values": {f: _digits(value) for f, value in row.values.items()},
        "similar": {i: _digits(value) for i, value in row.similar.items()},
        "truth": row.truth,
        "predicted": row.predicted,
        "why": [_why(why) for why in row.why],
    }


def _why(why: Why) -> Document:
    """Return the steps with nine decimals, which halves their bytes; they add up."""
    values = [round(step.value, 9) for step in why.steps]
    score = round(why.score, 9)
    return {
        "label": why.label,
        "start": round(score - sum(values), 9),
        "score": score,
        "predicted": why.predicted,
        "leaves": None if why.leaves is None else _digits(why.leaves),
        "steps": [
            [step.kind, step.index, value, step.count]
            for step, value in zip(why.steps, values, strict=True)
        ],
    }


def _digits(value: float) -> float:
    """Return six significant digits: more than the page shows."""
    return float(f"{value:.6g}")


def _audit(facts: Facts, _: Arrays) -> Document:
    suspects = facts.suspects
    if suspects is None:
        return {}
    return {"listed": [list(suspect) for suspect in suspects.listed]}


def _quality_part(facts: Facts, arrays: Arrays) -> Document:
    measured, wrong, judged = facts.quality, facts.errors, facts.judged
    if measured is None or wrong is None or judged is None:
        return {}
    return {
        "quality": _quality(measured),
        "rows": len(judged.places),
        "bins": BINS,
        "positives": arrays(wrong.positives.astype(np.uint16)),
        "negatives": arrays(wrong.negatives.astype(np.uint16)),
        "cut": _numbers(wrong.thresholds),
        "false": arrays(wrong.false.astype(np.uint16)),
        "confused": [
            [*pair[:4], [int(judged.places[row]) for row in pair.rows]]
            for pair in wrong.pairs
        ],
    }


def _quality(measured: Quality) -> Document:
    return {
        "positives": measured.positives.tolist(),
        "auc": _numbers(measured.auc),
        "precision": _numbers(measured.precision),
        "recall": _numbers(measured.recall),
        "f1": _numbers(measured.f1),
    }


def _models(facts: Facts, _: Arrays) -> Document:
    found = facts.comparison
    if found is None:
        return {}
    quality = found.quality
    return {
        "models": list(found.names),
        "labels": found.labels,
        "first": found.first.tolist(),
        "second": found.second.tolist(),
        "f1": [_numbers(each.f1) for each in quality] if quality else None,
        "rows": [list(row) for row in found.rows],
    }


def _numbers(values: Iterable[float]) -> list[float | None]:
    return [float(v) if math.isfinite(v) else None for v in values]
