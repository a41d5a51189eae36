"""Fitted attributes of HOMI: a solution for features as given."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from homi.linalg import Array
from homi.solver import Params
from homi.typing import Fields


class SpaceBasis(Protocol):
    """Orthonormal basis of a space that features were projected onto."""

    def written_out(self) -> Array:
        """Return the basis as an array of shape (n_features, size)."""

    def widen(self, W: Array, out: Array) -> Array:
        """Compute ``out = QW`` with the basis Q."""


class Scaling(NamedTuple):
    """Mean and scale of the features, and a basis where they were compacted."""

    mean: Array
    scale: Array
    basis: SpaceBasis | None = None


def fitted_attributes(
    params: Params, mean: Array, scale: Array, basis: SpaceBasis | None = None
) -> Fields:
    """Return attributes by name; ``basis`` maps compacted features back."""
    if basis is None:
        W = params.W / scale[:, None]
        coef = np.ascontiguousarray((W @ params.B).T)
    else:
        W, coef = _widened(params, scale, basis)
    z = params.z - mean @ W
    return {
        "feature_weights_": W,
        "feature_bias_": z,
        "label_correlation_": params.B,
        "label_bias_": params.t,
        "coef_": coef,
        "intercept_": z @ params.B + params.t - 0.5,
    }


def _widened(params: Params, scale: Array, basis: SpaceBasis) -> tuple[Array, Array]:
    """Return W and WB for features as given; B is applied to the smaller matrix.

    Both may take gigabytes: each is written once, where it stays.
    """
    size = len(scale), params.W.shape[1]
    W = basis.widen(params.W, np.empty(size))
    W /= scale[:, None]
    coef = np.empty(size[::-1])
    basis.widen(params.W @ params.B, coef.T)
    coef /= scale
    return W, coef
