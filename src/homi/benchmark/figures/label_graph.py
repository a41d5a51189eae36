"""Label graph: labels on a circle, joined by lines that show B."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import networkx as nx  # type: ignore[import-untyped,unused-ignore]
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from homi.benchmark.figures.style import QUIET, PlotOptions, pair_means, plain, settled

POSITIVE, NEGATIVE, WEAK = "#c62828", "#2e7d32", "#e3c000"

#: More lines than this hide each other.
_MOST_PAIRS = 60

#: More labels than this, and those without a line are left out.
_MOST_LABELS = 60

#: More labels than this, and names are written along the spokes.
_MOST_LEVEL = 20

_THINNEST, _THICKEST = 0.6, 7.0


def label_graph(
    B: NDArray[np.float64], names: Sequence[str], title: str, *, weak: float
) -> Figure:
    """Join each pair of labels by the mean of ``B_ij`` and ``B_ji``.

    Red is positive, green negative, yellow below `weak` in absolute value, and a
    stronger pair has a thicker line. Of many pairs the 60 strongest are drawn; if
    there are more than 60 labels, too, those without a line are left out.
    """
    graph, left_out = _graph(B, plain(names))
    figure = Figure(figsize=(8.0, 7.6), layout="constrained")
    axes = figure.add_subplot()
    _draw(axes, graph, weak)
    figure.suptitle(title + left_out)
    _explain(figure, weak)
    return settled(figure)


def _strongest_pairs(means: NDArray[np.float64]) -> list[tuple[int, int]]:
    """All pairs of labels, the strongest first."""
    pairs = list(combinations(range(len(means)), 2))
    return sorted(pairs, key=lambda pair: -abs(means[pair]))


def _graph(B: NDArray[np.float64], names: Sequence[str]) -> tuple[nx.Graph, str]:
    """Return the graph to draw, and a note for the title on what is left out."""
    means = pair_means(np.asarray(B, dtype=float))
    pairs = _strongest_pairs(means)
    graph = nx.Graph()
    graph.add_nodes_from((i, {"name": name}) for i, name in enumerate(names))
    for i, j in pairs[:_MOST_PAIRS]:
        graph.add_edge(i, j, mean=float(means[i, j]))
    if len(pairs) <= _MOST_PAIRS:
        return graph, ""
    note = f"\nthe {_MOST_PAIRS} strongest of {len(pairs)} pairs"
    if len(names) > _MOST_LABELS:
        graph.remove_nodes_from(list(nx.isolates(graph)))
        note += f", and their {len(graph)} of {len(names)} labels"
    return graph, note


def _draw(axes: Axes, graph: nx.Graph, weak: float) -> None:
    # The weakest first: the strongest lie on top.
    edges = list(graph.edges(data="mean"))
    edges.sort(key=lambda edge: abs(edge[2]))
    means = [mean for *_, mean in edges]
    places = nx.circular_layout(graph)
    look = {"node_size": 90, "node_color": QUIET}
    nx.draw_networkx_nodes(graph, places, ax=axes, **look)
    nx.draw_networkx_edges(
        graph,
        places,
        ax=axes,
        edgelist=[edge[:2] for edge in edges],
        edge_color=[_color(mean, weak) for mean in means],
        width=_widths(means),
    )
    for node, place in places.items():
        _write_name(axes, graph.nodes[node]["name"], place, len(graph))
    axes.set(xlim=(-1.5, 1.5), ylim=(-1.35, 1.35), aspect="equal")
    axes.axis("off")


def _color(mean: float, weak: float) -> str:
    if abs(mean) < weak or mean == 0:
        return WEAK
    return POSITIVE if mean > 0 else NEGATIVE


def _widths(means: Sequence[float]) -> list[float]:
    largest = max((abs(mean) for mean in means), default=0.0) or 1.0
    return [_THINNEST + (_THICKEST - _THINNEST) * abs(m) / largest for m in means]


def _write_name(axes: Axes, name: str, place: NDArray[np.float64], count: int) -> None:
    """Outside the circle; along the spoke where many names must fit."""
    x, y = 1.08 * place
    if count <= _MOST_LEVEL:
        side = "center" if abs(x) < 0.1 else "left" if x > 0 else "right"
        up = "center" if abs(y) < 0.9 else "bottom" if y > 0 else "top"
        axes.text(x, y, name, ha=side, va=up)
        return
    angle, side = np.degrees(np.arctan2(y, x)), "left"
    if x < 0:
        angle, side = angle + 180, "right"
    turned: PlotOptions = {"rotation": angle, "rotation_mode": "anchor", "va": "center"}
    axes.text(x, y, name, ha=side, fontsize=8, **turned)


def _explain(figure: Figure, weak: float) -> None:
    meanings = {
        POSITIVE: "positive: they raise each other",
        NEGATIVE: "negative: they lower each other",
        WEAK: f"weak: |mean| < {weak:g}",
    }
    lines = [Line2D([], [], color=c, lw=3, label=text) for c, text in meanings.items()]
    where: PlotOptions = {"loc": "outside lower center", "ncols": 3}
    title = "mean of Bᵢⱼ and Bⱼᵢ; thicker is stronger"
    figure.legend(handles=lines, title=title, frameon=False, fontsize=9, **where)
