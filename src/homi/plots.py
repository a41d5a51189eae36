"""Plots, drawn by matplotlib without a display."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

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


#: Colors that people who are color-blind can tell apart.
BLUE, ORANGE = "#0072b2", "#e69f00"


class TaggedText(NamedTuple):
    """A text, its most probable tags with probabilities, and the tags it has."""

    name: str
    text: str
    top: Sequence[tuple[str, float]]
    truth: Sequence[str]


def draw_tagged_texts(rows: Sequence[TaggedText], title: str, path: Path) -> None:
    """Plot texts beside their most probable tags: blue tags are right, orange wrong.

    The file is written atomically.
    """
    figure = Figure(figsize=(10.0, 0.6 + 1.15 * len(rows)), layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", fontsize=12)
    grid = figure.subplots(len(rows), 2, width_ratios=(1.7, 1), squeeze=False)
    for row, (left, right) in zip(rows, grid, strict=True):
        left.axis("off")
        left.text(
            0, 1, row.name, va="top", weight="bold", fontsize=10, parse_math=False
        )
        shown = "\n".join(textwrap.wrap(row.text, 82, max_lines=4, placeholder=" …"))
        left.text(0, 0.76, shown, va="top", fontsize=9, parse_math=False)
        tags, values = zip(*row.top, strict=True)
        colors = [BLUE if tag in row.truth else ORANGE for tag in tags]
        right.barh(tags, values, color=colors)
        right.bar_label(right.containers[0], fmt="%.2f", padding=3, fontsize=8)
        right.set(xlim=(0, 1.12), xticks=[])
        right.invert_yaxis()
        right.tick_params("y", length=0, labelsize=9)
        right.spines[:].set_visible(False)
        right.axvline(0.5, color="0.6", linewidth=0.8, linestyle=":")
    with whole_file(path) as unfinished:
        figure.savefig(unfinished, dpi=90, format="png")
