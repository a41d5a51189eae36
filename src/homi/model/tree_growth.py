"""Grow trees with scikit-learn, on bootstrap samples of the rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.tree import DecisionTreeRegressor

from homi.arrays import canonical, dense
from homi.model.trees import Trees
from homi.typing import Array, Fields, Indices, Matrix

#: Most levels of a tree below its root.
MAX_DEPTH = 1000
#: Share of values that are not 0, below which scikit-learn is faster on sparse rows.
_SPARSE = 0.04
_FLOAT = np.finfo(np.float32)


class Grown(NamedTuple):
    """Trees, and the leaves of each row in the trees that were grown without it.

    They are ``leaf[ends[i]:ends[i + 1]]`` for row i.
    """

    trees: Trees
    leaf: Indices
    ends: Indices


class _Tree(NamedTuple):
    """One tree of scikit-learn, and the leaves of the rows that it has not seen."""

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float32]
    leaves: sparse.csr_array
    weight: NDArray[np.float32]
    unseen: Indices
    leaf: Indices


def grow_trees(
    X: Matrix,
    Y: Array,
    weights: Array,
    *,
    n_trees: int,
    seed: int,
    n_jobs: int | None,
    **options: object,
) -> Grown:
    """Grow trees; ``options`` are those of scikit-learn's DecisionTreeRegressor.

    For labels of 0 and 1, variance is half of Gini's impurity: regression trees find
    the splits of classification trees, in a half to a quarter of the time.
    """
    rows = _faster(single(X))
    columns = rows.tocsc() if sparse.issparse(rows) else rows
    seeds = np.random.RandomState(seed).randint(np.iinfo(np.int32).max, size=n_trees)
    found = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_grow)(rows, columns, Y, weights, int(one), options) for one in seeds
    )
    trees, numbers = _joined(found)
    first = np.cumsum([0, *(len(tree.weight) for tree in found[:-1])])
    leaf = [tree.leaf + start for tree, start in zip(found, first, strict=True)]
    row = np.concatenate([tree.unseen for tree in found])
    by_row = np.argsort(row, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(Y)))])
    return Grown(trees, numbers[np.concatenate(leaf)[by_row]], ends)


def single(X: Matrix) -> Matrix:
    """Return rows in single precision; larger values become its largest one."""
    if sparse.issparse(X):
        X = canonical(X).tocsr()
        parts = single(X.data), X.indices, X.indptr
        return sparse.csr_array(parts, shape=X.shape)
    within = np.clip(X, _FLOAT.min, _FLOAT.max)
    return np.ascontiguousarray(within, dtype=np.float32)


def _faster(rows: Matrix) -> Matrix:
    """Return rows, sparse only if few of their values are not 0; trees are the same."""
    count = np.count_nonzero(rows.data if sparse.issparse(rows) else rows)
    if count < _SPARSE * rows.shape[0] * rows.shape[1]:
        return sparse.csr_array(rows)
    return dense(rows)


def _grow(
    rows: Matrix, columns: Matrix, Y: Array, weights: Array, seed: int, options: Fields
) -> _Tree:
    candidates = np.flatnonzero(weights > 0)
    drawn = np.random.RandomState(seed).randint(0, len(candidates), len(candidates))
    counts = np.bincount(candidates[drawn], minlength=len(weights))
    model = DecisionTreeRegressor(max_depth=MAX_DEPTH, random_state=seed, **options)
    model.fit(columns, Y, sample_weight=counts * weights, check_input=False)
    tree, unseen = model.tree_, np.flatnonzero(counts == 0)
    is_leaf = tree.children_left < 0
    node = model.apply(rows, check_input=False)[unseen]
    # Copies: views would keep the probabilities of all nodes in memory.
    return _Tree(
        tree.children_left.astype(np.int32),
        tree.children_right.astype(np.int32),
        tree.feature.astype(np.int32),
        _rounded_down(tree.threshold),
        sparse.csr_array(tree.value[is_leaf, :, 0].astype(np.float32)),
        np.maximum(
            tree.weighted_n_node_samples[is_leaf], _FLOAT.tiny, dtype=np.float32
        ),
        unseen,
        (np.cumsum(is_leaf) - 1)[node],
    )


def _joined(found: list[_Tree]) -> tuple[Trees, Indices]:
    """Return all trees, and the new number of each leaf."""
    left, right, feature, threshold, weight = (
        np.concatenate([getattr(tree, name) for tree in found])
        for name in ("left", "right", "feature", "threshold", "weight")
    )
    sizes = [len(tree.left) for tree in found]
    first = np.cumsum([0, *sizes[:-1]])
    of_tree = np.repeat(first, sizes)
    is_leaf = left < 0
    level, levels = first, []
    while len(level):
        levels.append(level)
        inner = level[~is_leaf[level]]
        children = np.column_stack([left[inner], right[inner]]).ravel()
        level = children + np.repeat(of_tree[inner], 2)
    order = np.concatenate(levels)
    leaf_order = (np.cumsum(is_leaf) - 1)[order[is_leaf[order]]]
    numbers = np.empty_like(leaf_order)
    numbers[leaf_order] = np.arange(len(leaf_order))
    leaves = sparse.vstack([tree.leaves for tree in found], format="csr")[leaf_order]
    trees = Trees(
        len(found),
        np.where(is_leaf, np.int32(-1), feature)[order],
        threshold[order[~is_leaf[order]]],
        leaves.astype(np.float64),
        weight[leaf_order],
    )
    return trees, numbers


def _rounded_down(threshold: Array) -> NDArray[np.float32]:
    """Round to single precision so that x <= t stays true for the same single x."""
    nearest = threshold.astype(np.float32)
    below = np.nextafter(nearest, np.float32(-np.inf))
    return np.where(nearest > threshold, below, nearest)
