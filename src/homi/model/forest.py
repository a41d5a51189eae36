"""A forest of multi-label trees as plain arrays, with out-of-bag log-odds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logit
from sklearn.tree import ExtraTreeRegressor

from homi.arrays import canonical, dense
from homi.typing import Array, Indices, Matrix

#: Bytes of the rows, and of the nodes that they are at, of one block.
_BLOCK = 2**24
_LARGEST = np.finfo(np.float32).max
#: How far probabilities are shrunk toward the share of the label.
_SHRINK = 0.01

#: Most levels of a tree, below its root.
MAX_DEPTH = 1000

Arrays = dict[str, NDArray[Any]]


class Forest:
    """Extremely randomized trees of all labels, grown on bootstrap samples.

    The trees are scikit-learn's. The probability of a label is the mean over the trees
    of its share among the training rows of a leaf, shrunk toward its share among all
    rows: its log-odds are finite.

    Attributes
    ----------
    n_trees, n_features, n_labels : int
    share : ndarray of shape (n_labels,)
        Share of the rows that have a label, strictly inside (0, 1).
    feature : ndarray of shape (n_nodes,)
        Feature that a node compares; -1 for leaves. The roots come first, then the two
        children of the first inner node, of the second, and so on.
    threshold : ndarray of shape (n_nodes,)
        Rows with a feature at or below it, in single precision, go to the first child.
        Infinite for leaves.
    leaves : CSR array of shape (n_leaves, n_labels)
        Probabilities of the labels in each leaf, in the order of ``feature``.
    weight : ndarray of shape (n_leaves,)
        Total weight of the training rows in each leaf.
    oob_log_odds : ndarray of shape (n_samples, n_labels) or None
        Log-odds of each training row by the trees that were grown without it; those of
        ``share`` where there is no such tree. None after ``from_arrays``.
    """

    def __init__(
        self,
        n_trees: int,
        n_features: int,
        share: Array,
        feature: NDArray[np.int32],
        threshold: NDArray[np.float32],
        leaves: Any,
        weight: NDArray[np.float32],
    ) -> None:
        self.n_trees, self.n_features, self.n_labels = n_trees, n_features, len(share)
        self.share, self.feature, self.threshold = share, feature, threshold
        self.leaves, self.weight = leaves, weight
        self.oob_log_odds: Array | None = None
        is_leaf = feature < 0
        # A leaf is its own child: rows may stay there while others go down.
        self._child = np.arange(len(feature))
        self._child[~is_leaf] = n_trees + 2 * np.arange(len(feature) - len(weight))
        self._leaf = np.cumsum(is_leaf) - 1
        self._compared = np.where(is_leaf, 0, feature).astype(np.intp)

    @classmethod
    def fit(
        cls,
        X: Matrix,
        Y: Matrix,
        *,
        n_trees: int = 300,
        seed: int,
        sample_weight: Array | None = None,
        n_jobs: int | None = None,
        min_samples_leaf: int = 1,
        max_features: str | float = "sqrt",
    ) -> Self:
        """Grow a forest.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Rows, finite.
        Y : array of shape (n_samples, n_labels)
            Labels, 0 or 1.
        n_trees : int, default=300
        seed : int
            Equal seeds give equal forests, for any ``n_jobs``.
        sample_weight : ndarray of shape (n_samples,), optional
            Weights of the rows, at least 0 and not all 0. Bootstrap samples are drawn
            from the rows with a positive weight, then weighted.
        n_jobs : int or None, default=None
            Number of threads; None is one, -1 as many as processors.
        min_samples_leaf, max_features
            As in scikit-learn's ExtraTreeRegressor.

        Notes
        -----
        For labels that are 0 or 1, variance is half of Gini's impurity: regression
        trees find the splits of classification trees, in a half to a third of the time.
        """
        rows = _single(X)
        columns = rows.tocsc() if sparse.issparse(rows) else rows
        Y = np.ascontiguousarray(dense(Y), dtype=np.float64)
        weights = np.ones(len(Y)) if sample_weight is None else sample_weight
        grow = delayed(_grow)
        options = {"min_samples_leaf": min_samples_leaf, "max_features": max_features}
        seeds = np.random.RandomState(seed).randint(
            np.iinfo(np.int32).max, size=n_trees
        )
        threads = Parallel(n_jobs=n_jobs, prefer="threads")
        grown = threads(
            grow(rows, columns, Y, weights, int(seed), options) for seed in seeds
        )
        share = (weights @ Y + 0.5) / (weights.sum() + 1.0)
        feature, threshold, leaves, weight, renumbered = _joined(grown)
        forest = cls(n_trees, rows.shape[1], share, feature, threshold, leaves, weight)
        forest.oob_log_odds = forest._out_of_bag(grown, renumbered, len(Y))
        return forest

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the forest of ``arrays``, which may come from anywhere.

        Raises
        ------
        ValueError
            If they are not the arrays of a forest.
        """
        a = _checked(arrays)
        (n_trees, n_features), is_leaf = a["sizes"].tolist(), a["feature"] < 0
        threshold = np.full(len(is_leaf), np.inf, dtype=np.float32)
        threshold[~is_leaf] = a["threshold"]
        ends = np.concatenate([[0], a["end"]]).astype(np.int32)
        parts = a["value"].astype(np.float64), a["label"].astype(np.int32), ends
        leaves = sparse.csr_array(parts, shape=(len(a["end"]), len(a["share"])))
        return cls(
            n_trees,
            n_features,
            a["share"],
            a["feature"],
            threshold,
            leaves,
            a["weight"],
        )

    def log_odds(self, X: Matrix) -> Array:
        """Return the log-odds of rows, of shape (n_rows, n_labels)."""
        blocks = [self._mean(self.apply(rows)) for rows in self._blocks(X)]
        return self._as_log_odds(np.vstack(blocks))

    def apply(self, rows: NDArray[np.float32]) -> Indices:
        """Return the leaf of each row in each tree, of shape (n_rows, n_trees)."""
        n = len(rows)
        flat = np.ascontiguousarray(rows).ravel()
        node = np.tile(np.arange(self.n_trees), n)
        start = np.repeat(np.arange(n) * self.n_features, self.n_trees)
        found, active = node, np.arange(len(node))
        while len(active):
            value = flat[start + self._compared[node]]
            node = self._child[node] + (value > self.threshold[node])
            inner = self.feature[node] >= 0
            found[active[~inner]] = node[~inner]
            node, start, active = node[inner], start[inner], active[inner]
        return self._leaf[found].reshape(n, self.n_trees)

    def arrays(self) -> Arrays:
        """Return all that ``from_arrays`` needs."""
        return {
            "sizes": np.array([self.n_trees, self.n_features], dtype=np.int64),
            "share": self.share,
            "feature": self.feature,
            "threshold": self.threshold[self.feature >= 0],
            "value": self.leaves.data.astype(np.float32),
            "label": self.leaves.indices.astype(np.int32),
            "end": self.leaves.indptr[1:].astype(np.int64),
            "weight": self.weight,
        }

    def _blocks(self, X: Matrix) -> Iterator[NDArray[np.float32]]:
        each = 4 * self.n_features + 32 * self.n_trees
        count = max(1, _BLOCK // each)
        for i in range(0, max(X.shape[0], 1), count):
            yield dense(_single(X[i : i + count]))

    def _mean(self, leaf: Indices) -> Array:
        n, n_trees = leaf.shape
        ends = np.arange(0, n * n_trees + 1, n_trees)
        return dense(_indicator(leaf.ravel(), ends, len(self.weight)) @ self.leaves) / (
            n_trees
        )

    def _out_of_bag(self, grown: list[_Grown], renumbered: Indices, n: int) -> Array:
        first = np.cumsum([0] + [len(tree.weight) for tree in grown])
        row = np.concatenate([tree.out for tree in grown])
        leaf = np.concatenate(
            [tree.leaf + start for tree, start in zip(grown, first[:-1], strict=True)]
        )
        order = np.argsort(row, kind="stable")
        counts = np.bincount(row, minlength=n)
        ends = np.concatenate([[0], np.cumsum(counts)])
        sums = dense(
            _indicator(renumbered[leaf[order]], ends, len(self.weight)) @ self.leaves
        )
        p = np.divide(
            sums,
            counts[:, None],
            out=np.tile(self.share, (n, 1)),
            where=counts[:, None] > 0,
        )
        return self._as_log_odds(p)

    def _as_log_odds(self, p: Array) -> Array:
        return logit(p + _SHRINK * (self.share - p))


class _Grown(NamedTuple):
    """One tree of scikit-learn, and where the rows that it has not seen end."""

    left: Indices
    right: Indices
    feature: Indices
    threshold: Array
    value: Any
    weight: Array
    out: Indices
    leaf: Indices


def _grow(
    rows: Matrix,
    columns: Matrix,
    Y: Array,
    weights: Array,
    seed: int,
    options: dict[str, Any],
) -> _Grown:
    seen = np.flatnonzero(weights > 0)
    drawn = np.random.RandomState(seed).randint(0, len(seen), len(seen))
    counts = np.bincount(seen[drawn], minlength=len(weights))
    model = ExtraTreeRegressor(max_depth=MAX_DEPTH, random_state=seed, **options)
    tree = model.fit(columns, Y, counts * weights, check_input=False).tree_
    is_leaf = tree.children_left < 0
    out = np.flatnonzero(counts == 0)
    at = model.apply(rows, check_input=False)[out]
    return _Grown(
        tree.children_left,
        tree.children_right,
        tree.feature,
        tree.threshold,
        sparse.csr_array(tree.value[is_leaf, :, 0].astype(np.float32)),
        tree.weighted_n_node_samples[is_leaf],
        out,
        (np.cumsum(is_leaf) - 1)[at],
    )


def _joined(grown: list[_Grown]) -> tuple[Any, Any, Any, Any, Indices]:
    """Join trees, level by level; also return the new number of each leaf."""
    sizes = [len(tree.left) for tree in grown]
    first = np.repeat(np.cumsum([0, *sizes[:-1]]), sizes)
    left, right, feature, threshold = (
        np.concatenate([getattr(tree, name) for tree in grown])
        for name in ("left", "right", "feature", "threshold")
    )
    is_leaf = left < 0
    level, order = np.unique(first), []
    while len(level):
        order.append(level)
        inner = level[~is_leaf[level]]
        level = np.column_stack([left[inner], right[inner]]).ravel()
        level += np.repeat(first[inner], 2)
    places = np.concatenate(order)
    of_leaf = (np.cumsum(is_leaf) - 1)[places[is_leaf[places]]]
    values = sparse.vstack([tree.value for tree in grown], format="csr")[of_leaf]
    weight = np.concatenate([tree.weight for tree in grown])[of_leaf]
    renumbered = np.empty_like(of_leaf)
    renumbered[of_leaf] = np.arange(len(of_leaf))
    is_leaf = is_leaf[places]
    return (
        np.where(is_leaf, -1, feature[places]).astype(np.int32),
        np.where(is_leaf, np.float32(np.inf), _rounded_down(threshold[places])),
        values.astype(np.float64),
        np.maximum(weight.astype(np.float32), np.finfo(np.float32).tiny),
        renumbered,
    )


def _indicator(leaf: Indices, ends: Indices, n_leaves: int) -> Any:
    parts = np.ones(len(leaf)), leaf.astype(np.int32), ends.astype(np.int32)
    return sparse.csr_array(parts, shape=(len(ends) - 1, n_leaves))


def _single(X: Matrix) -> Any:
    """Return rows in single precision, with values beyond its range cut off."""
    if sparse.issparse(X):
        X = sparse.csr_array(canonical(X), copy=False)
        parts = _single(X.data), X.indices, X.indptr
        return sparse.csr_array(parts, shape=X.shape)
    return np.ascontiguousarray(np.clip(X, -_LARGEST, _LARGEST), dtype=np.float32)


def _rounded_down(threshold: Array) -> NDArray[np.float32]:
    """Round to single precision: x <= t for the same x of single precision."""
    nearest = threshold.astype(np.float32)
    below = np.nextafter(nearest, np.float32(-np.inf))
    return np.where(nearest > threshold, below, nearest)


#: Types of the arrays of a forest; all but ``sizes`` have any length.
TYPES = {
    "sizes": "int64",
    "share": "float64",
    "feature": "int32",
    "threshold": "float32",
    "value": "float32",
    "label": "int32",
    "end": "int64",
    "weight": "float32",
}


def _checked(arrays: Mapping[str, NDArray[Any]]) -> Mapping[str, NDArray[Any]]:
    if set(arrays) != set(TYPES):
        raise ValueError(f"a forest has the arrays {', '.join(TYPES)}.")
    for name, kind in TYPES.items():
        if arrays[name].dtype.name != kind or arrays[name].ndim != 1:
            raise ValueError(f"{name} of a forest is not a 1-D array of {kind}.")
    if arrays["sizes"].shape != (2,) or not (arrays["sizes"] > 0).all():
        raise ValueError("a forest has numbers of trees and features that are not.")
    _check_shape(arrays)
    _check_leaves(arrays)
    return arrays


def _check_shape(a: Mapping[str, NDArray[Any]]) -> None:
    (n_trees, n_features), feature = a["sizes"].tolist(), a["feature"]
    inner = np.flatnonzero(feature >= 0)
    ends = np.concatenate([[0], np.cumsum(feature >= 0)])
    children = n_trees + 2 * np.arange(len(inner))
    if (
        len(feature) != n_trees + 2 * len(inner)
        or (feature < -1).any()
        or (feature >= n_features).any()
        or (children <= inner).any()
    ):
        raise ValueError("the nodes of a forest do not form trees.")
    depth, end = 0, n_trees
    while (below := n_trees + 2 * int(ends[end])) > end:
        depth, end = depth + 1, below
    if depth > MAX_DEPTH:
        raise ValueError(f"a forest is deeper than {MAX_DEPTH} nodes.")
    if len(a["threshold"]) != len(inner) or not np.isfinite(a["threshold"]).all():
        raise ValueError("a forest has thresholds that are not finite, or too few.")


def _check_leaves(a: Mapping[str, NDArray[Any]]) -> None:
    share, value, label = a["share"], a["value"], a["label"]
    if not len(share) or not ((share > 0) & (share < 1)).all():
        raise ValueError("the shares of labels in a forest are not inside (0, 1).")
    starts = np.concatenate([[0], a["end"]])
    n_leaves = int(np.count_nonzero(a["feature"] < 0))
    if (
        len(a["end"]) != n_leaves
        or (np.diff(starts) < 0).any()
        or starts[-1] != len(value)
        or len(label) != len(value)
    ):
        raise ValueError("the leaves of a forest are cut in the wrong places.")
    rising = np.diff(label) > 0
    rising[starts[1:-1][(starts[1:-1] > 0) & (starts[1:-1] < len(label))] - 1] = True
    if not rising.all() or (label < 0).any() or (label >= len(share)).any():
        raise ValueError("the labels of a leaf do not rise, or are unknown.")
    if not ((value > 0) & (value <= 1)).all():
        raise ValueError("the probabilities of a leaf are not inside (0, 1].")
    weight = a["weight"]
    if len(weight) != n_leaves or not ((weight > 0) & np.isfinite(weight)).all():
        raise ValueError("the weights of the leaves of a forest are not positive.")
