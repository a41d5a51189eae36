"""Running time: every method on every data set."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from homi.benchmark.figures.style import (
    BLUE,
    GREEN,
    HOMI_COLOR,
    ORANGE,
    PURPLE,
    QUIET,
    SKY,
    PlotOptions,
    settled,
    write_not_run,
    write_powers,
)
from homi.benchmark.tables import NOT_RUN

#: How much of a data set's place its marks take.
_SPREAD = 0.8

_COLORS = (BLUE, ORANGE, GREEN, PURPLE, SKY, "black")
_MARKERS = ("o", "s", "^", "D", "v")


def running_time(seconds: pd.DataFrame, title: str) -> Figure:
    """Draw a mark per method and data set on a logarithmic axis of seconds.

    Parameters
    ----------
    seconds : DataFrame, a row per data set and a column per method
        NaN is a method that was not run: a cross at the foot of its place.
    title : str
    """
    figure = Figure(figsize=(2.5 + 0.95 * max(len(seconds), 5), 6.0))
    figure.set_layout_engine("constrained")
    axes = figure.add_subplot()
    axes.set_yscale("log")
    _draw_bands(axes, len(seconds))
    styles = _styles(list(seconds.columns))
    for shift, method in zip(_shifts(len(styles)), styles, strict=True):
        _draw_method(axes, seconds[method], shift, styles[method])
    for place in np.flatnonzero(seconds.isna().all(axis=1)):
        write_not_run(axes, float(place))
    axes.set_xticks(range(len(seconds)), seconds.index, rotation=30, ha="right")
    axes.set(title=title, xlabel="data set", ylabel="seconds")
    write_powers(axes)
    axes.grid(axis="y", color="0.85", linewidth=0.6)
    axes.set_axisbelow(True)
    _explain(axes, styles)
    return settled(figure)


def _styles(methods: Sequence[str]) -> dict[str, PlotOptions]:
    """HOMI is a large star; the others differ in color and in shape."""
    others = [method for method in methods if method != "HOMI"]
    # 5 shapes and 6 colors: 30 methods before a combination repeats.
    pairs = islice(zip(cycle(_MARKERS), cycle(_COLORS), strict=False), len(others))
    styles = dict(zip(others, pairs, strict=True)) | {"HOMI": ("*", HOMI_COLOR)}
    return {method: _style(method, *styles[method]) for method in methods}


def _style(method: str, marker: str, color: str) -> PlotOptions:
    style: PlotOptions = {
        "marker": marker,
        "color": color,
        "linestyle": "none",
        "markersize": 5,
    }
    if method == "HOMI":
        style |= {"markersize": 14, "markeredgecolor": "black", "zorder": 4}
    return style


def _shifts(count: int) -> np.ndarray:
    return (np.arange(count) - (count - 1) / 2) * _SPREAD / max(count, 2)


def _draw_bands(axes: Axes, count: int) -> None:
    """Shade every other data set's place: which marks belong together."""
    for place in range(0, count, 2):
        axes.axvspan(place - 0.5, place + 0.5, color="0.95", zorder=0)
    axes.set_xlim(-0.5, count - 0.5)


def _draw_method(
    axes: Axes, seconds: pd.Series, shift: float, style: PlotOptions
) -> None:
    places = np.arange(len(seconds)) + shift
    axes.plot(places, seconds.to_numpy(dtype=float), **style)
    missing = places[seconds.isna().to_numpy()]
    foot: PlotOptions = {"transform": axes.get_xaxis_transform(), "linestyle": "none"}
    cross: PlotOptions = {"marker": "x", "markersize": 4, "color": style["color"]}
    axes.plot(missing, np.full(len(missing), 0.015), **cross, **foot)


def _explain(axes: Axes, styles: dict[str, PlotOptions]) -> None:
    handles = [Line2D([], [], label=name, **style) for name, style in styles.items()]
    cross: PlotOptions = {"marker": "x", "linestyle": "none", "color": QUIET}
    handles.append(Line2D([], [], label=NOT_RUN, **cross))
    axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.0, 1.0))
