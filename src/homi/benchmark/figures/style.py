"""Shared style of the figures: colors, markers, missing results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from numpy.typing import NDArray

from homi.benchmark.tables import NOT_RUN
from homi.typing import Fields

# Okabe and Ito's palette, told apart by most color-blind readers.
BLUE, ORANGE, SKY, PURPLE = "#0072B2", "#E69F00", "#56B4E9", "#CC79A7"
GREEN, VERMILLION = "#009E73", "#D55E00"

QUIET = "0.35"

#: Keyword arguments of a matplotlib function.
PlotOptions: TypeAlias = Fields

#: HOMI's color wherever it stands beside other methods.
HOMI_COLOR = VERMILLION

#: One color and one marker per metric of the paper, in its order.
METRIC_LOOKS = ((BLUE, "o"), (ORANGE, "s"), (PURPLE, "^"), (GREEN, "D"))


def color_of(method: str) -> str:
    """Return the color of HOMI and HOMICV, or a quiet one for any other method."""
    return HOMI_COLOR if method in ("HOMI", "HOMICV") else QUIET


def plain(names: Iterable[str]) -> list[str]:
    """Names that are drawn as they are: a dollar sign would start a formula."""
    return [name.replace("$", r"\$") for name in names]


def pair_means(B: NDArray[np.float64]) -> NDArray[np.float64]:
    """``(B + Bᵀ) / 2``: one number for each pair of labels."""
    return (B + B.T) / 2


def settled(figure: Figure) -> Figure:
    """Fix the layout of the figure.

    A layout that is worked out at every drawing depends on what was drawn before.
    """
    figure.draw_without_rendering()
    # With a layout engine of "none", saving would draw every figure twice.
    with matplotlib.rc_context(
        {"figure.autolayout": False, "figure.constrained_layout.use": False}
    ):
        figure.set_layout_engine(None)
    return figure


def write_powers(axes: Axes) -> None:
    """Name the ticks of a logarithmic y axis by plain numbers.

    Powers set as formulas name a font that a reader of the svg may not have.
    """
    low, high = axes.get_ylim()
    between = (1.0,) if high > 100 * low else (1.0, 2.0, 5.0)
    axes.yaxis.set_major_locator(LogLocator(subs=between))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def write_not_run(axes: Axes, x: float | None = None) -> None:
    """Say that a result is missing: at one place of the x axis, or of the panel."""
    if x is None:
        where: PlotOptions = {
            "x": 0.5,
            "y": 0.5,
            "transform": axes.transAxes,
            "va": "center",
        }
    else:
        across = axes.get_xaxis_transform()
        where = {"x": x, "y": 0.03, "transform": across, "va": "bottom", "rotation": 90}
    axes.text(**where, s=NOT_RUN, ha="center", color=QUIET, style="italic")
