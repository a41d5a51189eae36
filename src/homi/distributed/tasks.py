"""Dask tasks: one per block of rows, and a tree that sums their results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any, TypeAlias, TypeVar
from uuid import uuid4

import dask
from dask._task_spec import GraphNode, Task, TaskRef
from dask.core import convert_legacy_graph
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph

#: Name of a task in a graph.
Key: TypeAlias = str | int | float | tuple["Key", ...]
S = TypeVar("S")

#: Results that one task sums.
_ARITY = 8


def computed(value: Delayed) -> Any:
    """Compute the value by the current Dask scheduler: local threads or a cluster."""
    return dask.compute(value)[0]


def tree_sum(parts: Sequence[Delayed]) -> Delayed:
    """Sum parts in a fixed order, so that the scheduler does not change the result."""
    parts = list(parts)
    while len(parts) > 1:
        groups = [parts[i : i + _ARITY] for i in range(0, len(parts), _ARITY)]
        parts = each(_sum, groups)
    return parts[0]


def _sum(*parts: S) -> S:
    return reduce(add, parts)


def each(
    function: Callable[..., object], calls: Sequence[Sequence[object]]
) -> list[Delayed]:
    """Return delayed calls of a function, one for each sequence of arguments.

    The same as ``delayed(function)(*arguments)``, but in one layer for all calls. Dask
    would traverse every argument and copy its graph for each call, which takes
    milliseconds per block of rows while the workers wait.
    """
    layer = f"{function.__name__.strip('_')}-{uuid4().hex}"
    needed = [x for arguments in calls for x in arguments if isinstance(x, Delayed)]
    tasks = {}
    for i, arguments in enumerate(calls):
        given = [TaskRef(x.key) if isinstance(x, Delayed) else x for x in arguments]
        tasks[layer, i] = Task((layer, i), function, *given)
    # Blocks of one collection share a graph, which is needed once. Graphs created on
    # access are kept alive, so that no other one gets the same id.
    graphs = [x.__dask_graph__() for x in needed]
    different = {id(graph): x for graph, x in zip(graphs, needed, strict=True)}
    graph = HighLevelGraph.from_collections(layer, tasks, list(different.values()))
    return [Delayed(key, graph, layer=layer) for key in tasks]


def fused(parts: Sequence[Delayed]) -> list[Delayed]:
    """Fuse each part and the tasks that only it depends on into one task.

    Rows created in a task then never leave it. As separate tasks, the X and the Y of a
    block could be computed by different workers, and one of them would be moved. A
    task that several parts depend on, such as reading a file, stays separate, and so
    does data that the cluster already holds.
    """
    keys = [part.key for part in parts]
    graphs = {id(graph): graph for part in parts for graph in [part.__dask_graph__()]}
    merged = HighLevelGraph.merge(*graphs.values())
    graph = {
        key: _under_its_key(node, key)
        for key, node in convert_legacy_graph(merged.to_dict()).items()
    }
    owners = _owners(graph, keys)
    inside: dict[int, list[GraphNode]] = {i: [] for i in range(len(keys))}
    tasks = {}
    for key, owner in owners.items():
        if owner is None:
            tasks[key] = graph[key]
        else:
            inside[owner].append(graph[key])
    for i, key in enumerate(keys):
        tasks[key] = graph[key].fuse(*inside[i], key=key)
    layer = f"homi-blocks-{uuid4().hex}"
    whole = HighLevelGraph.from_collections(layer, tasks, dependencies=())
    return [Delayed(key, whole, layer=layer) for key in keys]


def _under_its_key(node: GraphNode, key: Key) -> GraphNode:
    """Return the node under the key of the graph; they differ in ``isin``, for example.

    Fusion uses the keys of the nodes themselves.
    """
    if not hasattr(node, "fuse") or node.key == key:
        return node
    return node.substitute({}, key=key)


def _owners(graph: dict[Key, GraphNode], keys: Sequence[Key]) -> dict[Key, int | None]:
    """Map every task to the only part that depends on it; None if it stays separate."""
    owners: dict[Key, int | None] = {}
    for part, top in enumerate(keys):
        left: list[tuple[Key, int | None]] = [(top, part)]
        while left:
            key, owner = left.pop()
            if key not in graph:
                continue
            node = graph[key]
            # A node that is not a task is data that the cluster holds.
            if not hasattr(node, "fuse") or owners.get(key, owner) != owner:
                owner = None
            if key in owners and owners[key] == owner:
                continue
            owners[key] = owner
            left += [(below, owner) for below in getattr(node, "dependencies", ())]
    return owners
