"""Checks of the arrays of a forest, which a file may hold in any state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from homi.model.tree_growth import MAX_DEPTH

Arrays = Mapping[str, NDArray[Any]]

#: Types of the arrays, all one-dimensional.
TYPES = {
    "sizes": "int64",  # numbers of trees and features
    "share": "float64",  # of each label
    "feature": "int32",  # of each node, as in Trees
    "threshold": "float32",  # of each node that is not a leaf
    "value": "float32",  # probabilities above 0, leaf by leaf
    "label": "int32",  # of each probability
    "end": "int64",  # position of each leaf's last probability, plus 1
    "weight": "float32",  # of each leaf
}


def checked(arrays: Arrays) -> Arrays:
    """Return the arrays; raise ValueError if they are not those of a forest."""
    _check(set(arrays) == set(TYPES), f"has other arrays than {', '.join(TYPES)}")
    for name, kind in TYPES.items():
        fits: object = arrays[name].dtype.name == kind and arrays[name].ndim == 1
        _check(fits, f"has a {name} that is not a 1-D array of {kind}")
    sizes = arrays["sizes"]
    fits = sizes.shape == (2,) and ((sizes > 0) & (sizes < 2**31)).all()
    _check(fits, "has wrong numbers of trees and features")
    _check_nodes(arrays)
    _check_leaves(arrays)
    return arrays


def _check_nodes(a: Arrays) -> None:
    (n_trees, n_features), feature = a["sizes"].tolist(), a["feature"]
    inner = np.flatnonzero(feature >= 0)
    fits: object = len(feature) == n_trees + 2 * len(inner) < 2**31
    _check(fits, "has nodes without children, or too many")
    # Children come after their parent: there are no circles.
    _check((n_trees + 2 * np.arange(len(inner)) > inner).all(), "has a circle")
    fits = (feature >= -1).all() and (feature < n_features).all()
    _check(fits, "compares a feature that it does not have")
    _check(_depth(n_trees, feature) <= MAX_DEPTH, f"is deeper than {MAX_DEPTH}")
    fits = len(a["threshold"]) == len(inner) and np.isfinite(a["threshold"]).all()
    _check(fits, "has thresholds that are not finite, or too few")


def _depth(n_trees: int, feature: NDArray[np.int32]) -> int:
    n_inner = np.concatenate([[0], np.cumsum(feature >= 0)])
    depth, start, end = -1, 0, n_trees
    while end > start:
        depth, start, end = depth + 1, end, n_trees + 2 * int(n_inner[end])
    return depth


def _check_leaves(a: Arrays) -> None:
    share, value, label, weight = (a[k] for k in ("share", "value", "label", "weight"))
    fits: object = len(share) > 0 and ((share > 0) & (share < 1)).all()
    _check(fits, "has shares of labels outside (0, 1)")
    starts = np.concatenate([[0], a["end"]])
    n_leaves = np.count_nonzero(a["feature"] < 0)
    fits = len(a["end"]) == len(weight) == n_leaves and len(value) == len(label)
    fits = fits and (np.diff(starts) >= 0).all() and starts[-1] == len(value) < 2**31
    _check(fits, "has leaves that end in the wrong places")
    fits = (label >= 0).all() and (label < len(share)).all()
    _check(fits, "has an unknown label")
    leaf = np.repeat(np.arange(n_leaves), np.diff(starts))
    rises = np.diff(leaf * len(share) + label) > 0
    _check(rises.all(), "has the same label twice in a leaf")
    _check(((value > 0) & (value <= 1)).all(), "has probabilities outside (0, 1]")
    fits = ((weight > 0) & np.isfinite(weight)).all()
    _check(fits, "has leaves whose weight is not positive")


def _check(fits: object, else_it: str) -> None:
    if not fits:
        raise ValueError(f"the forest {else_it}; fit and save the model again.")
