"""The label-to-label matrix B as a heat map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from numpy.typing import NDArray

from homi.benchmark.figures.style import PlotOptions, plain, settled

#: More labels than this, and numbers no longer fit into the cells.
_MOST_NUMBERS = 12

#: More labels than this, and names no longer fit beside the rows.
_MOST_NAMES = 60


def normalize(B: NDArray[np.float64]) -> NDArray[np.float64]:
    """Min-max of the whole matrix to [0, 1]; a constant matrix becomes zeros.

    Examples
    --------
    >>> normalize(np.array([[-1.0, 0.0], [1.0, 3.0]])).tolist()
    [[0.0, 0.25], [0.5, 1.0]]
    """
    B = np.asarray(B, dtype=float)
    span = B.max() - B.min()
    return (B - B.min()) / span if span > 0 else np.zeros_like(B)


def label_matrices(
    matrices: Mapping[str, NDArray[np.float64]],
    names: Sequence[str],
    *,
    normalized: bool,
) -> Figure:
    """Draw matrices B of the same labels side by side, each by a title.

    The redder the larger, the greener the smaller. Where they are not normalized yellow
    is 0, so red raises a label and green lowers it; colors span the entries off the
    diagonal, and the diagonal is gray.
    """
    side = min(3.0 + 0.55 * len(names), 11.0)
    size = ((side + 1.2) * len(matrices), side)
    figure = Figure(figsize=size, layout="compressed")
    panels = figure.subplots(1, len(matrices), squeeze=False).flat
    for axes, (title, B) in zip(panels, matrices.items(), strict=True):
        _draw(axes, np.asarray(B, dtype=float), names, normalized=normalized)
        axes.set_title(title)
    return settled(figure)


def _draw(
    axes: Axes, B: NDArray[np.float64], names: Sequence[str], *, normalized: bool
) -> None:
    shown = normalize(B) if normalized else B
    colored = shown if normalized else np.where(np.eye(len(B)), np.nan, shown)
    image = axes.imshow(colored, "RdYlGn_r", _limits(colored, normalized=normalized))
    axes.set_facecolor("0.8")
    _name_axes(axes, names)
    if len(names) <= _MOST_NUMBERS:
        _write_numbers(image, shown, 2 if normalized else 4)
    label = "B, scaled to [0, 1]" if normalized else "B off the diagonal"
    axes.figure.colorbar(image, ax=axes, shrink=0.8, label=label)


def _limits(shown: NDArray[np.float64], *, normalized: bool) -> Normalize:
    if normalized:
        return Normalize(0.0, 1.0)
    limit = float(np.nanmax(np.abs(shown), initial=0.0)) or 1.0
    return Normalize(-limit, limit)


def _name_axes(axes: Axes, names: Sequence[str]) -> None:
    if len(names) <= _MOST_NAMES:
        size = 10 if len(names) <= 30 else 7
        for_x: PlotOptions = {"rotation": 90, "fontsize": size}
        axes.set_xticks(range(len(names)), plain(names), **for_x)
        axes.set_yticks(range(len(names)), plain(names), fontsize=size)
    number = "" if len(names) <= _MOST_NAMES else " (by number, from 0)"
    axes.set_xlabel(f"… moves the score of this label{number}")
    axes.set_ylabel(f"the score of this label{number} …")


def _write_numbers(image: AxesImage, shown: NDArray[np.float64], digits: int) -> None:
    colors = image.to_rgba(np.ma.asarray(image.get_array()))
    for (row, column), value in np.ndenumerate(shown):
        red, green, blue, alpha = colors[row, column]
        # What has no color is gray.
        dark = alpha > 0 and 0.299 * red + 0.587 * green + 0.114 * blue < 0.45
        color = "white" if dark else "black"
        at: PlotOptions = {"ha": "center", "va": "center", "fontsize": 9}
        image.axes.text(column, row, _number(value, digits), color=color, **at)


def _number(value: float, digits: int) -> str:
    """Return a number with a true minus sign, and none before 0.00."""
    return f"{value:z.{digits}f}".replace("-", "−")
