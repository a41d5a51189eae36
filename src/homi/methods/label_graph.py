"""Similarity graphs of the labels, computed from YᵀY."""

from __future__ import annotations

import numpy as np

from homi.typing import Array


def cosine_similarity(YtY: Array) -> Array:
    """Compute ``cos(y_p, y_q)``; 0 for labels without rows."""
    length = np.sqrt(np.diag(YtY))
    return _divide(YtY, np.outer(length, length))


def jaccard_similarity(YtY: Array) -> Array:
    """Compute ``|y_p ∧ y_q| / |y_p ∨ y_q|``; 0 for labels without rows."""
    count = np.diag(YtY)
    return _divide(YtY, count[:, None] + count - YtY)


def laplacian(S: Array) -> Array:
    """Return ``diag(S1) - S``, with ``½ Σ s_pq ‖v_p - v_q‖² = tr(V L Vᵀ)``."""
    L = -S
    L[np.diag_indices_from(L)] += S.sum(axis=1)
    return L


def _divide(A: Array, B: Array) -> Array:
    return np.divide(A, B, out=np.zeros_like(A), where=B > 0)
