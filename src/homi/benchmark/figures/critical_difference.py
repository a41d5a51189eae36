"""Demšar's diagram: which methods' average ranks differ by more than chance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scikit_posthocs  # type: ignore[import-untyped,unused-ignore]
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import stats

from homi.benchmark.figures.style import PlotOptions, color_of, settled
from homi.benchmark.statistics import average_ranks

#: Inches from one method's name to the next.
_LINE = 0.26

#: Where the critical difference is drawn: in lines above the axis of ranks.
_RULER = 2.6


def critical_difference(
    means: pd.DataFrame, title: str, *, greater_is_better: bool, alpha: float = 0.05
) -> Figure:
    """Average ranks on a line; bars join methods that Nemenyi's test cannot part.

    Parameters
    ----------
    means : DataFrame, a row per data set and a column per method, no NaN
    title : str
    greater_is_better : bool
        Whether the greatest value of a row has rank 1, or the smallest.
    alpha : float, default=0.05
    """
    _check_complete(means)
    ranks = average_ranks(means, greater_is_better=greater_is_better)
    figure = Figure(layout="constrained")
    axes = figure.add_subplot()
    _draw_ranks(axes, ranks, means, alpha)
    _draw_ruler(axes, float(ranks.min()), _difference(means, alpha), alpha)
    axes.set_xlabel("average rank (1 is best)")
    axes.xaxis.set_label_position("top")
    axes.set_title(f"{title} ({len(means)} data sets)")
    low, high = axes.get_ylim()
    figure.set_size_inches(9.0, 0.5 + _LINE * (high - low))
    return settled(figure)


def _check_complete(means: pd.DataFrame) -> None:
    if means.isna().to_numpy().any() or means.shape[0] < 2 or means.shape[1] < 2:
        raise ValueError(
            f"means must be complete, two data sets by two methods or more, got "
            f"{means.shape} with {int(means.isna().to_numpy().sum())} NaN; "
            "pass means.dropna()."
        )


def _difference(means: pd.DataFrame, alpha: float) -> float:
    """Nemenyi's ``q √(k (k + 1) / 6N)`` for N data sets and k methods."""
    N, k = means.shape
    q = stats.studentized_range.ppf(1 - alpha, k, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(k * (k + 1) / (6 * N)))


def _draw_ranks(
    axes: Axes, ranks: pd.Series, means: pd.DataFrame, alpha: float
) -> None:
    drawn = scikit_posthocs.critical_difference_diagram(
        ranks,
        scikit_posthocs.posthoc_nemenyi_friedman(means),
        alpha=alpha,
        ax=axes,
        label_fmt_left="{label} ({rank:.2f})",
        label_fmt_right="({rank:.2f}) {label}",
        color_palette={method: color_of(method) for method in ranks.index},
        elbow_props={"linewidth": 1.0},
        marker_props={"s": 18},
        text_h_margin=0.02 * len(ranks),
    )
    for (bar,) in drawn["crossbars"]:
        # It iterates over a set of names, whose order differs between processes.
        bar.set_xdata(sorted(bar.get_xdata()))
    low = min(label.get_position()[1] for label in drawn["labels"])
    axes.set_ylim(low - 0.6, _RULER + 0.4)


def _draw_ruler(axes: Axes, start: float, difference: float, alpha: float) -> None:
    end = start + difference
    axes.plot([start, end], [_RULER] * 2, "|-", color="black", linewidth=2)
    text = f"critical difference {difference:.2f} (α = {alpha:g})"
    beside: PlotOptions = {"textcoords": "offset points", "va": "center"}
    axes.annotate(text, (end, _RULER), (8, 0), **beside)
