"""Sweeps that minimize over a subspace: all combinations of three blocks of weights.

A step along a line gives every label the same step length, and W and B converge slowly
together: ``(WC, C⁻¹B)`` has the same graph term for every C. Here the next weights are

    W Γ₁ + D Γ₂ + P Γ₃,

with the preconditioned gradient D, the last step P, and l × l matrices Γ that minimize
φ. That problem is the one of :mod:`homi.solver.moments_form` with 3l features, whose
moments are products of the blocks' scores. It is solved nearly exactly, and takes a few
times as long as a step along a line, for a fifth of the sweeps (LOBPCG, of which this
is a variant, does the same for eigenvalues).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from homi import threads
from homi.linalg import Array, factor_pencil, inner
from homi.solver.descend import QuasiNewton, lowest
from homi.solver.label_blocks import AllDirections
from homi.solver.moments_form import PencilForm
from homi.solver.rows_form import RowsForm, ScoredPoint

#: Most labels for which sweeps minimize over the subspace: its products have (3l)²
#: entries.
MOST_LABELS = 100

#: Most sweeps inside of the subspace.
_SWEEPS = 15

#: The sweeps inside gain at least this share of the objective.
_TOL = 1e-9


class _Block(NamedTuple):
    """Weights, their scores and ``γL`` times them."""

    W: Array
    Z: Array
    LZ: Array | None


class SubspaceSweep:
    """Minimize over the weights, the preconditioned gradient and the last step."""

    def __init__(self, form: RowsForm, labels: AllDirections) -> None:
        self._form, self._labels, self._last = form, labels, list[_Block]()

    def __call__(self, point: ScoredPoint) -> ScoredPoint:
        """Return the minimum; the same point if rounding leaves nothing to gain."""
        direction = self._form.precondition(point, point.gradient.copy())
        Z = self._form.scores(direction)
        new = _Block(direction, Z, self._form.graph_times(Z))
        blocks = [_Block(point.omega, point.Z, point.LZ), new, *self._last]
        joined = _joined(blocks)
        size = joined.W.shape[1]
        with threads.for_product(size, size, size):
            coefficients = self._minimized(joined, point)
        following = self._form.at(*_combined(joined, coefficients))
        # The last step is what was added to combinations of the weights themselves.
        coefficients[: point.omega.shape[1]] = 0.0
        self._last = [_combined(joined, coefficients)]
        return following if following.value < point.value else point

    def _minimized(self, joined: _Block, point: ScoredPoint) -> Array:
        """Γ, from the moments of the blocks."""
        form, size = self._form, point.omega.shape[1]
        A = joined.Z.T @ joined.Z + form.lam * (joined.W.T @ joined.W)
        # Columns of equal length: a label may be nearly done.
        lengths = np.sqrt(np.maximum(A.diagonal(), 0.0))
        scale = 1.0 / np.where(lengths > 0, lengths, 1.0)
        A = scale[:, None] * (A + A.T) / 2 * scale
        H = None
        if joined.LZ is not None:
            H = joined.Z.T @ joined.LZ
            H = scale[:, None] * (H + H.T) / 2 * scale
        C = scale[:, None] * (joined.Z.T @ form.T)
        constant, pencil = inner(form.T, form.T), factor_pencil(A, H)
        small = PencilForm(pencil, C, self._labels, constant, H is not None)
        own = np.zeros((len(A), size))
        own[:size] = np.diag(lengths[:size])
        start = small.V.T @ (A @ own)
        end = lowest(small, start, QuasiNewton(small), max_iter=_SWEEPS, tol=_TOL)
        return scale[:, None] * (small.V @ end.point.omega)


def _joined(blocks: list[_Block]) -> _Block:
    W = np.hstack([block.W for block in blocks])
    Z = np.hstack([block.Z for block in blocks])
    LZ = [block.LZ for block in blocks if block.LZ is not None]
    return _Block(W, Z, np.hstack(LZ) if LZ else None)


def _combined(joined: _Block, coefficients: Array) -> _Block:
    W, Z, LZ = joined
    LZ = None if LZ is None else LZ @ coefficients
    return _Block(W @ coefficients, Z @ coefficients, LZ)
