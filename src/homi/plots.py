"""Plots, drawn by matplotlib without a display."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from homi.atomic_write import whole_file
from homi.extras import optional
from homi.typing import Array

with optional("homi.plots"):
    from matplotlib.figure import Figure


def draw_correlation(B: Array, names: list[str], path: Path) -> None:
    """Plot the label correlation matrix B: red raises a label, green lowers it.

    The diagonal, a label's own score, is left blank: it is near 1, much larger than
    the rest. The file is written atomically.
    """
    shown = B.copy()
    np.fill_diagonal(shown, np.nan)
    limit = float(np.nanmax(np.abs(shown)))
    figure = Figure(figsize=(7.0, 6.0), layout="constrained")
    axes = figure.add_subplot()
    names = [name.replace("$", r"\$") for name in names]  # no math text
    image = axes.imshow(shown, cmap="RdYlGn_r", vmin=-limit, vmax=limit)
    axes.set_xticks(range(len(names)), names, rotation=90)
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("… moves the score of this label")
    axes.set_ylabel("the score of this label …")
    axes.set_title("What HOMI learned: the label correlation matrix B")
    figure.colorbar(image, ax=axes, shrink=0.8)
    with whole_file(path) as unfinished:
        figure.savefig(unfinished, dpi=120, format="png")
