"""Sensitivity: metrics over one parameter, the others fixed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from homi.benchmark.figures.style import (
    METRIC_LOOKS,
    QUIET,
    PlotOptions,
    settled,
    write_not_run,
)
from homi.benchmark.tables import NOT_RUN
from homi.metrics import METRICS, PAPER_METRICS

#: Values that span more than this factor get a logarithmic axis.
_WIDE = 20.0

Curve = Sequence[tuple[float, str]]


def sensitivity(
    summary: pd.DataFrame,
    protocol: str,
    dataset: str,
    curves: Mapping[str, Curve],
    title: str,
) -> Figure:
    """One panel per parameter: the losses on the left axis, the AUC on the right.

    Parameters
    ----------
    summary : DataFrame
        What ``results.summarize`` gives.
    protocol, dataset : str
        As they are named in its index.
    curves : dict from a parameter's printed name to (value, method) pairs
        The method is the one that was run with this value, by its name in the
        summary. What was not run is named in the panel.
    title : str
    """
    columns = min(len(curves), 2)
    rows = -(-len(curves) // columns)
    figure = Figure(figsize=(5.6 * columns, 3.6 * rows + 0.9), layout="constrained")
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes, (name, curve) in zip(panels, curves.items(), strict=False):
        _draw_panel(axes, name, _values(summary, protocol, dataset, curve))
    for axes in panels[len(curves) :]:
        axes.remove()
    _explain(figure, panels[0])
    figure.suptitle(title)
    return settled(figure)


def _values(
    summary: pd.DataFrame, protocol: str, dataset: str, curve: Curve
) -> pd.DataFrame:
    """Return a row per value of the parameter, in order, and a column per metric."""
    ordered = sorted(curve)
    columns = {
        metric: summary["mean"]
        .reindex([(protocol, dataset, method, metric) for _, method in ordered])
        .to_numpy()
        for metric in PAPER_METRICS
    }
    return pd.DataFrame(columns, index=[float(value) for value, _ in ordered])


def _draw_panel(axes: Axes, name: str, values: pd.DataFrame) -> None:
    right = axes.twinx()
    shown = values.dropna()
    for metric, (color, marker) in zip(PAPER_METRICS, METRIC_LOOKS, strict=True):
        side = right if METRICS[metric].greater_is_better else axes
        style: PlotOptions = {
            "color": color,
            "marker": marker,
            "label": METRICS[metric].title,
        }
        side.plot(shown.index.to_numpy(), shown[metric].to_numpy(), **style)
    color = METRIC_LOOKS[-1][0]
    right.set_ylabel("Macro AUC (larger is better)", color=color)
    right.tick_params(axis="y", colors=color)
    axes.set(xlabel=name, ylabel="losses (smaller is better)")
    _scale(axes, values.index.to_numpy(dtype=float))
    _name_missing(axes, right, values)


def _scale(axes: Axes, values: np.ndarray) -> None:
    """Set a logarithmic axis for a wide range, with 0 one step below the smallest."""
    positive = np.unique(values[values > 0])
    if len(positive) < 2 or positive[-1] <= _WIDE * positive[0]:
        return
    if values.min() <= 0:
        # In base 10 a linear part of scale 0.9 is as long as one decade.
        scale = 0.9 * np.log10(positive[1] / positive[0])
        axes.set_xscale("symlog", linthresh=positive[0], linscale=scale)
    else:
        axes.set_xscale("log")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(values, [f"{value:g}" for value in values])


def _name_missing(axes: Axes, right: Axes, values: pd.DataFrame) -> None:
    missing = values.index[values.isna().any(axis=1)]
    if len(missing) == len(values):
        axes.set(xticks=[], yticks=[])
        right.set_yticks([])
        write_not_run(axes)
    elif len(missing):
        text = f"{NOT_RUN}: {', '.join(f'{value:g}' for value in missing)}"
        axes.set_title(text, fontsize=9, color=QUIET, style="italic")


def _explain(figure: Figure, axes: Axes) -> None:
    """One legend for all panels, from both axes of the first."""
    lines = [
        line for side in figure.axes if _same_place(side, axes) for line in side.lines
    ]
    figure.legend(handles=lines, loc="outside lower center", ncols=4, frameon=False)


def _same_place(one: Axes, other: Axes) -> bool:
    return one.get_subplotspec() is other.get_subplotspec()
