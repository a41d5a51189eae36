"""Fitted attributes of HOMI: a solution for features as given."""

from __future__ import annotations

from typing import Any

import numpy as np

from homi.linalg import Array
from homi.solver import Params
from homi.typing import Fields


def fitted_attributes(
    params: Params, mean: Array, scale: Array, basis: Any = None
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


def _widened(params: Params, scale: Array, basis: Any) -> tuple[Array, Array]:
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
