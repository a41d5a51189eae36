"""Ablation: HOMI beside HOMI without one part."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import PercentFormatter

from homi.benchmark.figures.style import BLUE, GREEN, ORANGE, settled, write_not_run
from homi.metrics import METRICS, PAPER_METRICS

_WIDTH = 0.38


def ablation(
    summary: pd.DataFrame,
    protocol: str,
    full: str,
    reduced: str,
    datasets: Sequence[str],
    title: str,
) -> Figure:
    """Two bars per data set and metric, and the gain of `full` over `reduced`.

    Parameters
    ----------
    summary : DataFrame
        What ``results.summarize`` gives.
    protocol, full, reduced : str
        As they are named in its index.
    datasets : sequence of str
        Left to right. One that lacks a bar is marked "not run".
    title : str
    """
    figure = Figure(figsize=(1.5 + 0.95 * max(len(datasets), 6), 8.0))
    figure.set_layout_engine("constrained")
    for axes, metric in zip(figure.subplots(2, 2).flat, PAPER_METRICS, strict=True):
        wanted = [(protocol, d, m, metric) for d in datasets for m in (full, reduced)]
        found = summary[["mean", "std"]].reindex(wanted)
        _draw_panel(axes, found.iloc[::2], found.iloc[1::2], metric)
        axes.set_xticks(range(len(datasets)), datasets, rotation=40, ha="right")
    _explain(figure, full, reduced)
    figure.suptitle(title)
    return settled(figure)


def _draw_panel(
    axes: Axes, full: pd.DataFrame, reduced: pd.DataFrame, metric: str
) -> None:
    """One metric; both frames have a row per data set, NaN where it was not run."""
    places = np.arange(len(full), dtype=float)
    complete = full["mean"].notna().to_numpy() & reduced["mean"].notna().to_numpy()
    for shift, frame, color in ((-0.5, full, BLUE), (0.5, reduced, ORANGE)):
        here, shown = places[complete] + shift * _WIDTH, frame[complete]
        # One fold has no deviation.
        error = {"yerr": shown["std"].fillna(0.0), "ecolor": "black", "capsize": 2}
        axes.bar(here, shown["mean"], _WIDTH, color=color, **error)
    for place in places[~complete]:
        write_not_run(axes, place)
    axes.set(title=METRICS[metric].title, xlabel="data set", ylabel=_wanted(metric))
    axes.set_xlim(-0.6, len(places) - 0.4)
    _draw_gain(axes, _gain(full["mean"], reduced["mean"], metric))


def _wanted(metric: str) -> str:
    better = "larger" if METRICS[metric].greater_is_better else "smaller"
    return f"{METRICS[metric].title} ({better} is better)"


def _gain(full: pd.Series, reduced: pd.Series, metric: str) -> np.ndarray:
    """Proportion by which the whole is better; NaN where there is none."""
    whole, part = full.to_numpy(dtype=float), reduced.to_numpy(dtype=float)
    sign = 1.0 if METRICS[metric].greater_is_better else -1.0
    return sign * (whole - part) / np.where(part == 0, np.nan, part)


def _draw_gain(axes: Axes, gain: np.ndarray) -> None:
    right = axes.twinx()
    right.plot(range(len(gain)), gain, "o-", color=GREEN, markersize=4)
    right.axhline(0, color=GREEN, linewidth=0.6, linestyle=":")
    right.set_ylabel("improvement", color=GREEN)
    right.tick_params(axis="y", colors=GREEN)
    right.yaxis.set_major_formatter(PercentFormatter(1.0))


def _explain(figure: Figure, full: str, reduced: str) -> None:
    gain = f"improvement of {full} over {reduced}"
    handles = [
        Patch(color=BLUE, label=full),
        Patch(color=ORANGE, label=reduced),
        Line2D([], [], marker="o", color=GREEN, markersize=4, label=gain),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
