"""Kernels, threshold rules and probabilities as ONNX operators, in double precision."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from homi.arrays import dense
from homi.base.classifier import NEAR_HALF, TAIL
from homi.io.errors import ModelFileError
from homi.io.onnx_graph import Graph
from homi.linear import Sigmoids
from homi.model.kernel_map import KernelMap
from homi.thresholds.calibrate import CalibrationMaps
from homi.thresholds.joint import JointSets
from homi.thresholds.rules import Cardinality, Rule, SeenLabels, Thresholds, TopLabels
from homi.typing import Array


def kernel_features(graph: Graph, X: str, kernel_map: KernelMap) -> str:
    """Add the Nyström features of rows X."""
    if kernel_map.scaler is not None:
        X = graph.op("Sub", X, graph.constant(kernel_map.scaler.shift))
        X = graph.op("Div", X, graph.constant(kernel_map.scaler.scale))
    if kernel_map.kernel not in _KERNELS:
        raise ModelFileError(
            f"the kernel {str(kernel_map.kernel)[:60]!r} has no ONNX form here; fit "
            f"with one of {', '.join(_KERNELS)}, or without a kernel, to export the "
            "model."
        )
    C = dense(kernel_map.landmarks).astype(np.float64)
    given = {"gamma": 1.0 / C.shape[1], "degree": 3.0, "coef0": 1.0}
    known = given | kernel_map.params
    alike = _KERNELS[str(kernel_map.kernel)](graph, X, C, **known)
    if kernel_map.normalization is None:
        return alike
    turn = graph.constant(kernel_map.normalization.T.astype(np.float64))
    return graph.op("MatMul", alike, turn)


def _mean_of_kernels(
    graph: Graph, X: str, C: Array, *, gamma: float, laplacian_gamma: float, **_: float
) -> str:
    near = _rbf(graph, X, C, gamma=gamma)
    far = _laplacian(graph, X, C, gamma=laplacian_gamma)
    return graph.op("Mul", graph.op("Add", near, far), graph.number(0.5))


def _rbf(graph: Graph, X: str, C: Array, *, gamma: float, **_: float) -> str:
    """exp(-γ(|x|² + |c|² - 2xᵀc)), as in scikit-learn."""
    squares = _row_sums(graph, graph.op("Mul", X, X))
    products = graph.op("MatMul", X, graph.constant(-2.0 * C.T))
    distances = graph.op("Add", graph.op("Add", products, squares), _square(graph, C))
    positive = graph.op("Max", distances, graph.number(0.0))
    return graph.op("Exp", graph.op("Mul", positive, graph.number(-gamma)))


def _square(graph: Graph, C: Array) -> str:
    return graph.constant((C * C).sum(axis=1))


def _polynomial(
    graph: Graph,
    X: str,
    C: Array,
    *,
    gamma: float,
    degree: float,
    coef0: float,
    **_: float,
) -> str:
    products = graph.op("MatMul", X, graph.constant(gamma * C.T))
    shifted = graph.op("Add", products, graph.number(coef0))
    return graph.op("Pow", shifted, graph.number(degree))


def _cosine(graph: Graph, X: str, C: Array, **_: float) -> str:
    lengths = np.linalg.norm(C, axis=1, keepdims=True)
    directions = C / np.where(lengths > 0, lengths, 1.0)
    length = graph.op("Sqrt", _row_sums(graph, graph.op("Mul", X, X)))
    empty = graph.op("Equal", length, graph.number(0.0))
    length = graph.op("Where", empty, graph.number(1.0), length)
    products = graph.op("MatMul", X, graph.constant(directions.T))
    return graph.op("Div", products, length)


def _laplacian(graph: Graph, X: str, C: Array, *, gamma: float, **_: float) -> str:
    """exp(-γ Σ|x - c|), summed feature by feature to save memory."""
    rows = graph.op("Shape", X, start=0, end=1)
    shape = graph.op("Concat", rows, graph.integers(len(C)), axis=0)
    zero = graph.op("Expand", graph.number(0.0), shape)
    features = graph.op("Transpose", X, perm=[1, 0])
    sums = graph.each_feature(_add_apart, zero, features, graph.constant(C.T))
    return graph.op("Exp", graph.op("Mul", sums, graph.number(-gamma)))


def _add_apart(graph: Graph, sums: str, x: str, c: str) -> str:
    column = graph.op("Unsqueeze", x, graph.integers(1))
    return graph.op("Add", sums, graph.op("Abs", graph.op("Sub", column, c)))


_KERNELS: dict[str, Callable[..., str]] = {
    "rbf": _rbf,
    "laplacian": _laplacian,
    "rbf+laplacian": _mean_of_kernels,
    "polynomial": _polynomial,
    "cosine": _cosine,
}


def _row_sums(graph: Graph, values: str) -> str:
    return graph.op("ReduceSum", values, graph.integers(1), keepdims=1)


def decisions(graph: Graph, S: str, found: SeenLabels) -> str:
    """Add the decisions of a rule on scores S: above 0 where a label is predicted."""
    rule, q = found.rule, len(found.seen)
    if isinstance(rule, JointSets):
        raise ModelFileError(
            "label sets of strategy='joint' have no ONNX form here; tune another "
            "strategy, or export the wrapped model, model.estimator_."
        )
    if isinstance(rule, Thresholds):
        values = np.full(q, np.inf)
        values[found.seen] = rule.values
        return _above(graph, S, values)
    if found.seen.all():
        return _cut(graph, S, rule, q)
    seen, unseen = np.flatnonzero(found.seen), np.flatnonzero(~found.seen)
    some = graph.op("Gather", S, graph.integers(*seen), axis=1)
    rest = graph.op("Gather", S, graph.integers(*unseen), axis=1)
    parts = [
        _cut(graph, some, rule, len(seen)),
        _above(graph, rest, np.full(len(unseen), np.inf)),
    ]
    both = graph.op("Concat", *parts, axis=1)
    back = np.argsort(np.concatenate([seen, unseen]))
    return graph.op("Gather", both, graph.integers(*back), axis=1)


def _above(graph: Graph, S: str, values: Array) -> str:
    """Add S minus thresholds; of the right sign where those are infinite."""
    finite = np.isfinite(values)
    plain = graph.op("Sub", S, graph.constant(np.where(finite, values, 0.0)))
    if finite.all():
        return plain
    size = graph.op("Abs", S)
    bounded = graph.op("Div", S, graph.op("Add", size, graph.number(1.0)))
    ends = graph.number(-1.0 + 1e-9), graph.number(1.0 - 1e-9)
    inside = graph.op("Clip", bounded, *ends)
    sign = graph.constant(np.where(values > 0, 1.0, -1.0))
    always = graph.op("Sub", inside, sign)
    return graph.op("Where", graph.constant(finite), plain, always)


def _cut(graph: Graph, S: str, rule: Rule, q: int) -> str:
    """Add ``cut_rows``: the labels of highest score, as many as the rule says."""
    size = graph.integers(q)
    ranked, order = graph.ops("TopK", S, size, count=2, axis=1, largest=1, sorted=1)
    counts = _counts(graph, S, rule, q)
    one = graph.number(1.0)
    first = graph.op("Gather", ranked, graph.integers(0), axis=1)
    last = graph.op("Gather", ranked, graph.integers(q - 1), axis=1)
    beyond = graph.op("Add", first, one), graph.op("Sub", last, one)
    ends = graph.op("Concat", beyond[0], ranked, beyond[1], axis=1)
    below = graph.op("Add", counts, graph.integers(1))
    low = graph.op("GatherElements", ends, below, axis=1)
    high = graph.op("GatherElements", ends, counts, axis=1)
    half = graph.number(0.5)
    middle = graph.op("Add", graph.op("Mul", low, half), graph.op("Mul", high, half))
    shifted = graph.op("Sub", ranked, middle)
    tiny = float(np.finfo(float).tiny)
    passing = graph.op("Less", graph.integers(*range(q)), counts)
    up = graph.op("Max", shifted, graph.number(tiny))
    down = graph.op("Min", shifted, graph.number(-tiny))
    cut = graph.op("Where", passing, up, down)
    return graph.op("ScatterElements", S, order, cut, axis=1)


def _counts(graph: Graph, S: str, rule: Rule, q: int) -> str:
    """Add the number of labels of each row, as a column."""
    if isinstance(rule, TopLabels):
        rows = graph.op("Shape", S, start=0, end=1)
        shape = graph.op("Concat", rows, graph.integers(1), axis=0)
        return graph.op("Expand", graph.integers(rule.k), shape)
    if not isinstance(rule, Cardinality):
        raise ModelFileError(f"{type(rule).__name__} has no ONNX form here.")
    scaler, ridge = rule.regression
    ascending, _ = graph.ops(
        "TopK", S, graph.integers(q), count=2, axis=1, largest=0, sorted=1
    )
    centred = graph.op("Sub", ascending, graph.constant(scaler.mean_))
    scaled = graph.op("Div", centred, graph.constant(scaler.scale_))
    sums = graph.op("MatMul", scaled, graph.constant(ridge.coef_.reshape(-1, 1)))
    expected = graph.op("Add", sums, graph.number(float(ridge.intercept_)))
    ranks = graph.constant(np.arange(1.0, q + 1.0) + rule.threshold)
    surplus = graph.op("Greater", expected, ranks)
    return _row_sums(graph, graph.cast(surplus, np.int64))


def bent(graph: Graph, S: str) -> str:
    """Add the probabilities of HOMI: its scores, with the tails bent into (0, 1)."""
    one, tail = graph.number(1.0), graph.number(TAIL)
    g = graph.op("Add", S, graph.number(0.5))
    rest = graph.op("Sub", one, g)
    below, above = (_tail(graph, side) for side in (g, rest))
    top = graph.number(float(np.nextafter(1.0, 0.0)))
    above = graph.op("Min", graph.op("Sub", one, above), top)
    high = graph.op("Greater", g, graph.number(1.0 - TAIL))
    inner = graph.op("Where", high, above, g)
    return graph.op("Where", graph.op("Less", g, tail), below, inner)


def _tail(graph: Graph, side: str) -> str:
    near = graph.op("Min", side, graph.number(TAIL))
    room = graph.op("Sub", graph.number(2.0 * TAIL), near)
    return graph.op("Div", graph.number(TAIL**2), room)


def log_odds(graph: Graph, S: str, slope: Array, offset: Array) -> str:
    """Add log-odds, an affine function of the scores of each label."""
    scaled = graph.op("Mul", S, graph.constant(slope))
    return graph.op("Add", scaled, graph.constant(offset))


def probable(graph: Graph, S: str) -> str:
    """Add the probabilities of log-odds, strictly inside (0, 1)."""
    return _strictly_inside(graph, graph.op("Sigmoid", S))


def agreeing(graph: Graph, P: str, scores: str) -> str:
    """Move probabilities above one half exactly where the score exceeds 0."""
    near = graph.op("Mul", P, graph.number(NEAR_HALF))
    above = graph.op("Add", near, graph.number(0.5 + 0.5 * NEAR_HALF))
    below = graph.op("Add", near, graph.number(0.5 - 1.5 * NEAR_HALF))
    up, down = graph.op("Max", P, above), graph.op("Min", P, below)
    predicted = graph.op("Greater", scores, graph.number(0.0))
    return graph.op("Where", predicted, up, down)


def _strictly_inside(graph: Graph, P: str) -> str:
    ends = np.nextafter(0.0, 1.0), np.nextafter(1.0, 0.0)
    return graph.op("Clip", P, *(graph.number(float(end)) for end in ends))


def calibrated(graph: Graph, S: str, maps: CalibrationMaps) -> str | None:
    """Add calibrated probabilities; None for isotonic maps, which ONNX cannot hold."""
    if not isinstance(maps.own, Sigmoids) or not isinstance(maps.pooled, Sigmoids):
        return None
    own, pooled = (_sigmoid(graph, S, found) for found in (maps.own, maps.pooled))
    mine = graph.op("Mul", own, graph.constant(maps.weight))
    theirs = graph.op("Mul", pooled, graph.constant(1.0 - maps.weight))
    return _strictly_inside(graph, graph.op("Add", mine, theirs))


def _sigmoid(graph: Graph, S: str, found: Sigmoids) -> str:
    scaled = graph.op("Mul", S, graph.constant(-found.slope))
    return graph.op("Sigmoid", graph.op("Sub", scaled, graph.constant(found.offset)))
