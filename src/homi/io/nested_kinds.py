"""Classifiers made of others in a model file: trees and partitions of labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from homi.io.errors import ModelFileError
from homi.io.fitted import params_of
from homi.io.method_kinds import METHODS, M, Method, dump_method, load_method
from homi.io.method_parts import Sizes, dump_lists, each, load_lists
from homi.io.tensors import Out, Source
from homi.methods.homer import HOMER, Node
from homi.methods.label_space_partition import LabelSpacePartition
from homi.typing import Fields, Indices

#: Classifiers that are inside of others by default.
_POWERSET, _RELEVANCE = METHODS["LabelPowerset"], METHODS["BinaryRelevance"]


def _dump_inside(method: Method[M], model: M, out: Out) -> Fields:
    return {"params": params_of(model), "fitted": dump_method(method, model, out)}


def _load_inside(
    method: Method[M], about: Fields, source: Source, n_features: int, n_labels: int
) -> M:
    model = load_method(method, about["params"], about["fitted"], source)
    sizes = getattr(model, "n_features_in_", 0), len(getattr(model, "label_names_", ()))
    if sizes != (n_features, n_labels):
        raise ModelFileError("a classifier inside is of other features or labels.")
    return model


def _dump_partition(model: LabelSpacePartition, out: Out) -> list[Fields]:
    dump_lists(model.label_parts_, "parts", out)
    return [
        _dump_inside(_POWERSET, inside, out.under(f"part{i}"))
        for i, inside in enumerate(model.estimators_)
    ]


def _load_partition(
    model: LabelSpacePartition, abouts: list[Fields], source: Source, sizes: Sizes
) -> None:
    model.label_parts_ = load_lists(source, "parts", sizes.q)
    _check_once(np.concatenate(model.label_parts_), sizes.q)
    if len(model.label_parts_) != len(abouts):
        raise ModelFileError("the parts are not as many as their classifiers.")
    counts = iter([len(part) for part in model.label_parts_])
    model.estimators_ = each(
        abouts,
        source,
        "part",
        lambda a, s: _load_inside(_POWERSET, a, s, sizes.p, next(counts)),
    )


def _dump_tree(model: HOMER, out: Out) -> Fields:
    return _dump_node(model.root_, out)


def _dump_node(node: Node, out: Out) -> Fields:
    children = [
        _dump_node(child, out.under(f"child{c}"))
        if isinstance(child, Node)
        else int(child[0])
        for c, child in enumerate(node.children)
    ]
    inside = _dump_inside(_RELEVANCE, node.estimator, out.under("model"))
    return {"children": children, "model": inside}


def _load_tree(model: HOMER, about: Fields, source: Source, sizes: Sizes) -> None:
    model.root_ = _load_node(about, source, sizes)
    _check_once(model.root_.labels, sizes.q)


def _load_node(about: Fields, source: Source, sizes: Sizes) -> Node:
    if not about["children"]:
        raise ModelFileError("a node of the tree has no child.")
    children = tuple(
        _load_child(child, source.under(f"child{c}"), sizes)
        for c, child in enumerate(about["children"])
    )
    found = [child.labels if isinstance(child, Node) else child for child in children]
    part = source.under("model")
    inside = _load_inside(_RELEVANCE, about["model"], part, sizes.p, len(children))
    return Node(np.sort(np.concatenate(found)), children, inside)


def _load_child(about: object, source: Source, sizes: Sizes) -> Node | Indices:
    if isinstance(about, dict):
        return _load_node(about, source, sizes)
    if type(about) is not int or not 0 <= about < sizes.q:
        raise ModelFileError(f"{str(about)[:40]} is not a label of the tree.")
    return np.array([about])


def _check_once(labels: Indices, count: int) -> None:
    if not np.array_equal(np.sort(labels), np.arange(count)):
        raise ModelFileError("a label is missing, or occurs twice.")


NESTED_METHODS: dict[str, Method[Any]] = {
    "HOMER": Method(HOMER, _dump_tree, _load_tree),
    "LabelSpacePartition": Method(
        LabelSpacePartition, _dump_partition, _load_partition
    ),
}
