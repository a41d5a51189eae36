"""A forest as ONNX operators, around ai.onnx.ml's TreeEnsembleRegressor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from homi.io.onnx_graph import TREES, Graph
from homi.model.forest import SHRINKAGE, Forest
from homi.model.trees import Trees
from homi.typing import Fields, Indices

if TYPE_CHECKING:
    import onnx

#: Binary digits of a number of single precision.
_DIGITS = 24


def forest_log_odds(graph: Graph, X: str, forest: Forest) -> str:
    """Add the log-odds of rows X, which are of double precision."""
    p = _mean(graph, _rounded(graph, X), forest.trees)
    share = graph.constant(SHRINKAGE * forest.share)
    p = graph.op("Add", graph.op("Mul", p, graph.number(1.0 - SHRINKAGE)), share)
    rest = graph.op("Sub", graph.number(1.0), p)
    return graph.op("Sub", graph.op("Log", p), graph.op("Log", rest))


def _rounded(graph: Graph, X: str) -> str:
    """Round rows to single precision, in which trees compare them."""
    return graph.cast(graph.cast(X, np.float32), np.float64)


def _mean(graph: Graph, X: str, trees: Trees) -> str:
    """Add the mean probabilities of the leaves.

    The operator adds in double precision, but its sums are rounded to single precision.
    So each label has two targets: leading digits, few enough that their sum is exact,
    and the other digits.
    """
    _, n_labels = trees.leaves.shape
    order, tree, place = _tree_by_tree(trees)
    about = _nodes(trees, order, tree, place)
    about |= _targets(trees, tree, place)
    sums = graph.op(
        "TreeEnsembleRegressor", X, domain=TREES, n_targets=2 * n_labels, **about
    )
    widths = graph.integers(n_labels, n_labels)
    halves = graph.ops("Split", graph.cast(sums, np.float64), widths, count=2, axis=1)
    return graph.op("Div", graph.op("Add", *halves), graph.number(trees.n_trees))


def _tree_by_tree(trees: Trees) -> tuple[Indices, Indices, Indices]:
    """Return the nodes, tree by tree; each node's tree, and its place there."""
    tree = np.arange(len(trees.feature))
    for level in list(trees.levels())[1:]:
        tree[level] = tree[trees.parent[level]]
    order = np.argsort(tree, kind="stable")
    first = np.searchsorted(tree[order], np.arange(trees.n_trees))
    place = np.empty_like(order)
    place[order] = np.arange(len(order)) - first[tree[order]]
    return order, tree, place


def _nodes(trees: Trees, order: Indices, tree: Indices, place: Indices) -> Fields:
    is_leaf = trees.feature < 0
    bound = np.zeros(len(is_leaf))
    bound[~is_leaf] = trees.threshold
    # Children of leaves are not read.
    first, second = np.zeros((2, len(is_leaf)), dtype=np.int64)
    first[~is_leaf], second[~is_leaf] = place[trees.n_trees :].reshape(-1, 2).T
    return {
        "nodes_treeids": tree[order].tolist(),
        "nodes_nodeids": place[order].tolist(),
        "nodes_featureids": np.maximum(trees.feature, 0)[order].tolist(),
        "nodes_modes": np.where(is_leaf, "LEAF", "BRANCH_LEQ")[order].tolist(),
        "nodes_truenodeids": first[order].tolist(),
        "nodes_falsenodeids": second[order].tolist(),
        "nodes_values_as_tensor": _tensor(bound[order]),
    }


def _targets(trees: Trees, tree: Indices, place: Indices) -> Fields:
    leaves = trees.leaves
    unit = 2.0 ** (trees.n_trees.bit_length() - _DIGITS)
    leading = np.floor(leaves.data / unit) * unit
    n_leaves, n_labels = leaves.shape
    leaf = np.tile(np.repeat(np.arange(n_leaves), np.diff(leaves.indptr)), 2)
    target = np.concatenate([leaves.indices, n_labels + leaves.indices])
    weight = np.concatenate([leading, leaves.data - leading])
    kept = weight > 0
    node = np.flatnonzero(trees.feature < 0)[leaf[kept]]
    return {
        "target_treeids": tree[node].tolist(),
        "target_nodeids": place[node].tolist(),
        "target_ids": target[kept].tolist(),
        "target_weights_as_tensor": _tensor(weight[kept]),
    }


def _tensor(values: NDArray[np.float64]) -> onnx.TensorProto:
    from onnx import numpy_helper

    return numpy_helper.from_array(values, "")
