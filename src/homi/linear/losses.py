"""Losses of linear classifiers: values and derivatives for all labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from homi.linalg import Array

LossName = Literal["squared_hinge", "log"]


class Loss(NamedTuple):
    """Loss ℓ(ỹf) of scores f and signs ỹ, both (n_samples, n_labels).

    ``evaluate`` returns Σ_i ω_i ℓ of each label and ω_i dℓ/df of each entry, with
    sample weights ω or None for 1 each. ``constant`` maps the labels' shares of
    positives to their best constant scores, and ``curvature`` to ℓ'' at these scores.
    """

    evaluate: Callable[[Array, Array, Array | None], tuple[Array, Array]]
    constant: Callable[[Array], Array]
    curvature: Callable[[Array], Array]


def _squared_hinge(signs: Array, F: Array, weight: Array | None) -> tuple[Array, Array]:
    """max(0, 1 - ỹf)²."""
    slack = signs * F
    np.subtract(1.0, slack, out=slack)
    np.maximum(slack, 0.0, out=slack)
    slope = slack if weight is None else slack * weight[:, None]
    value = np.einsum("ij,ij->j", slack, slope)
    slope *= signs
    slope *= -2.0
    return value, slope


def _log(signs: Array, F: Array, weight: Array | None) -> tuple[Array, Array]:
    """log(1 + exp(-ỹf)), without overflow."""
    t = signs * F
    tail = np.exp(-np.abs(t))
    value = np.log1p(tail) - np.minimum(t, 0.0)
    slope = np.where(t >= 0.0, tail, 1.0)
    slope /= 1.0 + tail
    slope *= -signs
    if weight is None:
        return value.sum(axis=0), slope
    slope *= weight[:, None]
    return weight @ value, slope


LOSSES: dict[str, Loss] = {
    # With a constant score in (-1, 1), every row has a loss: this is least squares.
    "squared_hinge": Loss(
        _squared_hinge,
        constant=lambda share: 2.0 * share - 1.0,
        curvature=lambda share: np.full_like(share, 2.0),
    ),
    "log": Loss(
        _log,
        constant=lambda share: np.log(share / (1.0 - share)),
        curvature=lambda share: share * (1.0 - share),
    ),
}
