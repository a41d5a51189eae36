"""Random sets of labels."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray


def partition(n_labels: int, size: int, rng: Any) -> list[NDArray[Any]]:
    """A random partition into sets of ``size``, the last one what is left."""
    order = rng.permutation(n_labels)
    return [np.sort(order[i : i + size]) for i in range(0, n_labels, size)]


def overlapping(n_labels: int, size: int, number: int, rng: Any) -> list[NDArray[Any]]:
    """Distinct random sets that together hold every label.

    The first are a partition, its last set filled up, and the rest any others.
    """
    first = partition(n_labels, size, rng)
    others = np.setdiff1d(np.arange(n_labels), first[-1])
    fill = rng.choice(others, size - len(first[-1]), replace=False)
    first[-1] = np.sort(np.append(first[-1], fill))
    sets = dict.fromkeys(tuple(labels.tolist()) for labels in first)
    if math.comb(n_labels, size) <= 2 * number:
        every = list(combinations(range(n_labels), size))
        rest = [every[i] for i in rng.permutation(len(every)) if every[i] not in sets]
        sets.update(dict.fromkeys(rest[: number - len(sets)]))
    while len(sets) < number:
        labels = rng.choice(n_labels, size, replace=False)
        sets[tuple(np.sort(labels).tolist())] = None
    return [np.array(labels) for labels in sets]
