"""Relations of labels: in the data, in held-out errors, and in B."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from homi.explorer.evidence import Evidence, phi
from homi.explorer.layout import Map, clustered_order, label_map, off_diagonal
from homi.explorer.model import ModelSummary
from homi.typing import Array, Indices

#: Names of a group: its most central labels.
_NAMES = 2


class Relation(NamedTuple):
    """One matrix of signed strengths; entry (i, j) is the effect of i on j.

    ``key`` is "phi", the correlation of two labels in the data; "errors", the partial
    correlation of their held-out errors; or "B", the label correlation of the model.
    """

    key: str
    matrix: Array


@dataclass(frozen=True)
class LabelGraph:
    """Relations of labels, and a layout by the first of them.

    The layout is computed when a page needs it: explanations of a row do not.

    Attributes
    ----------
    relations : list of Relation
        The most telling first.
    matrix : ndarray of shape (n_labels, n_labels)
        The strengths of the first relation; 0 if there is none.
    """

    relations: list[Relation]
    matrix: Array

    @cached_property
    def map(self) -> Map:
        """Positions and groups of labels."""
        return label_map(self.matrix)

    @cached_property
    def order(self) -> Indices:
        """Labels in the order of a matrix."""
        return clustered_order(self.matrix)

    @cached_property
    def group_names(self) -> list[list[int]]:
        """The most central labels of each group of two or more."""
        return central_labels(self.matrix, self.map.groups)


def label_graph(model: ModelSummary, data: Evidence | None) -> LabelGraph:
    """Collect what is known about pairs of labels."""
    found = relations(model, data)
    return LabelGraph(found, found[0].matrix if found else np.zeros_like(model.B))


def relations(model: ModelSummary, data: Evidence | None) -> list[Relation]:
    """Return φ of the data, the dependence of errors, and B; those that there are."""
    found = []
    if data is not None:
        correlation = np.nan_to_num(phi(data.YtY, data.n_samples))
        found.append(Relation("phi", off_diagonal(correlation)))
    if model.joint is not None:
        matrix = partial_correlations(np.asarray(model.joint.covariance))
        found.append(Relation("errors", matrix))
    B = off_diagonal(model.B)
    if B.any():
        found.append(Relation("B", B))
    return [relation for relation in found if relation.matrix.any()]


def partial_correlations(C: Array) -> Array:
    """``-Λ_ij / sqrt(Λ_ii Λ_jj)`` with ``Λ = C⁻¹``, and 0 on the diagonal.

    Examples
    --------
    The first two of three variables are independent given the third:

    >>> C = np.array([[2.0, 1.0, 1.0], [1.0, 2.0, 1.0], [1.0, 1.0, 1.0]])
    >>> found = partial_correlations(C)
    >>> bool(abs(found[0, 1]) < 1e-12), round(float(found[0, 2]), 3)
    (True, 0.577)
    """
    precision = scipy.linalg.inv(C)
    scale = np.sqrt(np.diag(precision))
    found = off_diagonal(-precision / np.outer(scale, scale))
    symmetric: Array = (found + found.T) / 2
    return symmetric


def central_labels(matrix: Array, groups: Indices) -> list[list[int]]:
    """Return the labels of each group with the largest sum of positive strengths."""
    names: list[list[int]] = []
    raising: Any = np.maximum(matrix + matrix.T, 0.0)
    for group in range(int(groups.max(initial=-1)) + 1):
        members = np.flatnonzero(groups == group)
        if len(members) < 2:
            break  # groups come by size
        inside = raising[np.ix_(members, members)].sum(axis=0)
        best = np.argsort(-inside, kind="stable")[:_NAMES]
        names.append(members[best].tolist())
    return names
