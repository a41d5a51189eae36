"""Held-out scores that a fit leaves behind, and the rows that they are of."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from homi.arrays import dense
from homi.base.targets import Target
from homi.typing import Array, Fields, Matrix


class KeptScores(NamedTuple):
    """Held-out scores, and a key of the data and the parameters of the fit."""

    key: str
    scores: Array


def data_key(
    rows: Matrix, target: Target, sample_weight: ArrayLike | None, params: Fields
) -> str:
    """Return a checksum of checked rows, labels, weights and parameters."""
    digest = hashlib.sha256(repr(sorted(params.items())).encode())
    parts: list[Any] = [rows, dense(target.indicator).astype(np.int8)]
    parts += [] if target.known is None else [target.known]
    if sample_weight is not None:
        parts.append(np.asarray(sample_weight, dtype=np.float64))
    for part in parts:
        for array in _arrays(part):
            digest.update(repr((array.shape, array.dtype.str)).encode())
            digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _arrays(part: Any) -> list[Any]:
    if sparse.issparse(part):
        part = sparse.csr_array(part)
        return [part.data, part.indices, part.indptr]
    return [np.asarray(part)]
