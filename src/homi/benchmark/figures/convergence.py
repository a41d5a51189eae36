"""Convergence: the objective after each sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from homi.benchmark.figures.style import BLUE, settled, write_not_run, write_powers

_COLUMNS = 4

#: An objective that falls by more than this factor gets a logarithmic axis.
_DECADE = 10.0


def convergence(curves: Mapping[str, Sequence[float]], title: str) -> Figure:
    """One small panel per data set; an empty list is a data set that was not run."""
    rows = -(-len(curves) // _COLUMNS)
    figure = Figure(figsize=(12.0, 2.3 * rows + 0.6), layout="constrained")
    panels = list(figure.subplots(rows, _COLUMNS, squeeze=False).flat)
    for axes, (name, values) in zip(panels, curves.items(), strict=False):
        _draw_panel(axes, name, values)
    for axes in panels[len(curves) :]:
        axes.remove()
    figure.suptitle(title)
    return settled(figure)


def _draw_panel(axes: Axes, name: str, values: Sequence[float]) -> None:
    axes.set(title=name, xlabel="sweep", ylabel="objective")
    if not values:
        axes.set(xticks=[], yticks=[])
        write_not_run(axes)
        return
    axes.plot(range(1, len(values) + 1), values, "o-", color=BLUE, markersize=3)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True, min_n_ticks=1))
    if min(values) > 0 and max(values) > _DECADE * min(values):
        axes.set_yscale("log")
        write_powers(axes)
