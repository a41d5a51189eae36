"""Pictures, drawn by matplotlib without a screen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from homi.atomic_write import whole_file


def draw_correlation(B: NDArray[np.float64], names: list[str], path: Path) -> None:
    """Draw the label-to-label matrix B: red raises a label, green lowers it.

    The diagonal (a label's own score) is left blank: it is near 1 and would drown
    the rest. The file is written whole or not at all.
    """
    shown = B.copy()
    np.fill_diagonal(shown, np.nan)
    limit = float(np.nanmax(np.abs(shown)))
    figure = Figure(figsize=(7.0, 6.0), layout="constrained")
    axes = figure.add_subplot()
    names = [name.replace("$", r"\$") for name in names]  # no mathematics
    image = axes.imshow(shown, cmap="RdYlGn_r", vmin=-limit, vmax=limit)
    axes.set_xticks(range(len(names)), names, rotation=90)
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("… moves the score of this label")
    axes.set_ylabel("the score of this label …")
    axes.set_title("What HOMI learnt: the label correlation matrix B")
    figure.colorbar(image, ax=axes, shrink=0.8)
    with whole_file(path) as unfinished:
        figure.savefig(unfinished, dpi=120, format="png")
