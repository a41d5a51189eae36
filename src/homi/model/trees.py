"""Decision trees of all labels as arrays, all trees side by side."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from homi.arrays import dense
from homi.typing import Array, Indices, Mask

#: Levels that rows go down before those in a leaf are set aside.
_LEVELS_AT_ONCE = 4


class Trees:
    """Trees whose nodes are numbered level by level.

    The roots come first, then the two children of the first node that is not a leaf, of
    the second, and so on: which nodes are leaves tells where all children are.

    Parameters
    ----------
    n_trees : int
    feature : ndarray of shape (n_nodes,)
        Feature that a node compares; -1 for leaves.
    threshold : ndarray of shape (n_nodes - n_leaves,)
        For each node that is not a leaf. Rows with a feature at or below it go to the
        first child, others to the second.
    leaves : CSR array of shape (n_leaves, n_labels)
        Probabilities of the labels in each leaf.
    weight : ndarray of shape (n_leaves,)
        Weight of the training rows in each leaf.
    """

    def __init__(
        self,
        n_trees: int,
        feature: NDArray[np.int32],
        threshold: NDArray[np.float32],
        leaves: sparse.csr_array,
        weight: NDArray[np.float32],
    ) -> None:
        self.n_trees, self.feature, self.threshold = n_trees, feature, threshold
        self.leaves, self.weight = leaves, weight
        is_leaf = feature < 0
        self._leaf_number = np.cumsum(is_leaf) - 1
        # A leaf is its own child: rows may stay there while others go down.
        self._child = np.arange(len(feature))
        self._child[~is_leaf] = n_trees + 2 * np.arange(len(threshold))
        self._compared = np.where(is_leaf, 0, feature).astype(np.intp)
        self._bound = np.full(len(feature), np.inf, dtype=np.float32)
        self._bound[~is_leaf] = threshold

    def apply(self, rows: NDArray[np.float32]) -> Indices:
        """Return the leaf of each row in each tree, of shape (n_rows, n_trees)."""
        n, m = rows.shape
        values = rows.ravel()
        # One tree after the other: its nodes are near each other in memory.
        node = np.repeat(np.arange(self.n_trees), n)
        start = np.tile(np.arange(n) * m, self.n_trees)
        active, found = np.arange(len(node)), np.empty_like(node)
        while len(active):
            for _ in range(_LEVELS_AT_ONCE):
                value = values.take(start + self._compared.take(node))
                node = self._child.take(node) + (value > self._bound.take(node))
            found[active] = node
            inner = np.flatnonzero(self.feature.take(node) >= 0)
            node, start, active = (a.take(inner) for a in (node, start, active))
        return self._leaf_number.take(found).reshape(self.n_trees, n).T

    def sums(self, leaf: Indices, ends: Indices) -> Array:
        """Sum the probabilities of the leaves ``leaf[ends[i]:ends[i + 1]]`` for all i.

        Return an array of shape (len(ends) - 1, n_labels).
        """
        parts = np.ones(len(leaf)), leaf.astype(np.int32), ends.astype(np.int32)
        shape = len(ends) - 1, len(self.weight)
        return dense(sparse.csr_array(parts, shape=shape) @ self.leaves)

    def changes(
        self, leaves: Indices, n_features: int
    ) -> Iterator[tuple[Array, Array]]:
        """Split the mean probabilities of the leaves of each row, one in each tree.

        Yield the mean share of each label at the roots, and the sums of its changes
        from node to node on the way to the leaves, by the feature that is compared.
        """
        is_on_path = self._is_on_path(leaves.ravel())
        path, place = np.flatnonzero(is_on_path), np.cumsum(is_on_path) - 1
        share = self._shares(path, place, is_on_path)
        root = share[: self.n_trees].mean(axis=0)
        for leaf in leaves:
            below = np.flatnonzero(self._is_on_path(leaf))[self.n_trees :]
            parent = self.parent[below]
            change = share[place[below]] - share[place[parent]]
            cells = self.feature[parent], np.arange(len(below))
            shape = n_features, len(below)
            by_feature = sparse.csr_array((np.ones(len(below)), cells), shape=shape)
            yield root, by_feature @ change / self.n_trees

    def levels(self) -> Iterator[slice]:
        """Yield the nodes of each level, from the roots down."""
        n_inner = np.concatenate([[0], np.cumsum(self.feature >= 0)])
        start, end = 0, self.n_trees
        while end > start:
            yield slice(start, end)
            start, end = end, self.n_trees + 2 * int(n_inner[end])

    @cached_property
    def parent(self) -> Indices:
        """Parent of each node; a root is its own."""
        inner = np.flatnonzero(self.feature >= 0)
        return np.concatenate([np.arange(self.n_trees), np.repeat(inner, 2)])

    def _is_on_path(self, leaf: Indices) -> NDArray[np.bool_]:
        found = np.zeros(len(self.feature), dtype=bool)
        node = np.flatnonzero(self.feature < 0)[leaf]
        while len(node):
            found[node] = True
            node = self.parent[node[node >= self.n_trees]]
        return found

    def _shares(self, path: Indices, place: Indices, is_on_path: Mask) -> Array:
        """Return the share of each label among the training rows of nodes on a path."""
        nearest = np.arange(len(self.feature))
        levels = list(self.levels())
        for level in levels[1:]:
            off = level.start + np.flatnonzero(~is_on_path[level])
            nearest[off] = nearest[self.parent[off]]
        # Each leaf counts for the last node on the path that it is below.
        group = place[nearest[self.feature < 0]]
        entries = (self.weight.astype(float), (group, np.arange(len(group))))
        total = sparse.csr_array(entries, shape=(len(path), len(group)))
        sums = dense(total @ self.leaves)
        weight = total.sum(axis=1)
        for level in levels[:0:-1]:
            a, b = np.searchsorted(path, [level.start, level.stop])
            # Both children of a node may be on a path: they are beside each other.
            above, first = np.unique(place[self.parent[path[a:b]]], return_index=True)
            if len(above):
                sums[above] += np.add.reduceat(sums[a:b], first, axis=0)
                weight[above] += np.add.reduceat(weight[a:b], first)
        return sums / weight[:, None]
