"""Russell's circumplex of affect beside the signs in B."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Patch, Rectangle
from numpy.typing import NDArray

from homi.benchmark.figures.style import (
    BLUE,
    QUIET,
    PlotOptions,
    pair_means,
    plain,
    settled,
)

#: Degrees from pleasure, counter-clockwise, of the concepts in Russell's abstract.
CONCEPTS = {
    "pleasure": 0,
    "excitement": 45,
    "arousal": 90,
    "distress": 135,
    "displeasure": 180,
    "depression": 225,
    "sleepiness": 270,
    "relaxation": 315,
}

#: Where the labels of emotions lie on Russell's circle. Four are concepts of his own
#: abstract (pleasure 0°, depression 225°, sleepiness 270°, relaxation 315°); surprise
#: is put midway from excitement to arousal, anger midway from arousal to distress.
ANGLES = {
    "happy-pleased": 0.0,
    "amazed-suprised": 67.5,
    "angry-aggresive": 112.5,
    "sad-lonely": 225.0,
    "quiet-still": 270.0,
    "relaxing-calm": 315.0,
}

AGREE, DISAGREE, NEITHER = "#9ecae1", "#fdae6b", "#d9d9d9"

_COLORS = {True: AGREE, False: DISAGREE, None: NEITHER}
_MEANINGS = {True: "signs agree", False: "signs disagree", None: "right angle"}

#: The least distance between names outside the circle.
_GAP = 0.13


def cosine_signs(
    names: Sequence[str], angles: Sequence[float], B: NDArray[np.float64]
) -> pd.DataFrame:
    """Compare the cosine of each pair's angle with the mean of ``B_ij`` and ``B_ji``.

    Returns
    -------
    pairs : DataFrame of label_a, label_b, cosine, b and agree
        ``agree`` is whether the cosine and b have one sign, and None at a right angle,
        which has none.

    Examples
    --------
    >>> B = np.array([[1.0, -0.5], [-0.25, 1.0]])
    >>> cosine_signs(["sad", "happy"], [200, 10], B)["agree"].tolist()
    [True]
    """
    pairs = list(combinations(range(len(names)), 2))
    first, second = np.array(pairs, dtype=int).reshape(-1, 2).T
    turned = np.radians(np.asarray(angles, dtype=float))
    cosine = np.cos(turned[first] - turned[second])
    cosine[np.abs(cosine) < 1e-12] = 0.0  # a right angle, but for rounding
    b = pair_means(np.asarray(B, dtype=float))[first, second]
    agree = (np.sign(cosine) == np.sign(b)).astype(object)
    agree[cosine == 0.0] = None
    return pd.DataFrame(
        {
            "label_a": [names[i] for i in first],
            "label_b": [names[j] for j in second],
            "cosine": cosine,
            "b": b,
            "agree": agree,
        }
    )


def circumplex(
    names: Sequence[str], angles: Sequence[float], B: NDArray[np.float64], title: str
) -> Figure:
    """Draw the labels on the circle of affect, and whether B has the expected signs.

    Parameters
    ----------
    names : sequence of str
    angles : sequence of float
        Degrees, counter-clockwise from pleasure.
    B : ndarray of shape (n_labels, n_labels)
    title : str
    """
    figure = Figure(figsize=(11.6, 5.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_circle(left)
    _draw_labels(left, plain(names), angles)
    _draw_grid(right, plain(names), cosine_signs(names, angles, B))
    figure.suptitle(title)
    return settled(figure)


def _at(angle: float, radius: float = 1.0) -> tuple[float, float]:
    turned = np.radians(angle)
    return radius * float(np.cos(turned)), radius * float(np.sin(turned))


def _draw_circle(axes: Axes) -> None:
    axes.add_patch(Circle((0, 0), 1, fill=False, color=QUIET))
    # Inside the circle only: a longer axis would strike names beside it through.
    axes.plot([-1, 1], [0, 0], color=QUIET, linewidth=0.6)
    axes.plot([0, 0], [-1, 1], color=QUIET, linewidth=0.6)
    places = np.array([_at(angle) for angle in CONCEPTS.values()])
    hollow: PlotOptions = {"facecolors": "white", "edgecolors": QUIET, "zorder": 5}
    axes.scatter(places[:, 0], places[:, 1], 30, label="Russell's concepts", **hollow)
    clear = {"facecolor": "white", "edgecolor": "none", "pad": 1}
    style: PlotOptions = {"color": QUIET, "fontsize": 9, "bbox": clear}
    for name, angle in CONCEPTS.items():
        x, y = _at(angle, 0.9)
        axes.text(x, y, name, **style, **_inside(angle))
    axes.set(xlim=(-2.0, 2.0), ylim=(-1.3, 1.3), aspect="equal")
    axes.set_xlabel("pleasure →", loc="right")
    axes.set_ylabel("arousal →", loc="top")
    axes.set(xticks=[], yticks=[])
    for side in axes.spines.values():
        side.set_visible(False)


def _inside(angle: float) -> PlotOptions:
    """Alignment of a text that starts at the circle and grows inwards."""
    x, y = _at(angle)
    side = "center" if abs(x) < 0.1 else "right" if x > 0 else "left"
    # Off the axes, which would strike the name through.
    up = "bottom" if abs(y) < 0.1 else "top" if y > 0 else "bottom"
    return {"ha": side, "va": up}


def _draw_labels(axes: Axes, names: Sequence[str], angles: Sequence[float]) -> None:
    places = np.array([_at(angle) for angle in angles])
    style: PlotOptions = {"color": BLUE, "zorder": 4}
    axes.scatter(places[:, 0], places[:, 1], 140, label="labels of the data", **style)
    heights = _spread(places)
    for name, (x, y), height in zip(names, places, heights, strict=True):
        side, end = ("left", 1.0) if x >= 0 else ("right", -1.0)
        start = (1.12 * x + 0.06 * end, height)
        leader: PlotOptions = {"arrowstyle": "-", "color": BLUE, "linewidth": 0.6}
        bold: PlotOptions = {
            "ha": side,
            "va": "center",
            "color": BLUE,
            "weight": "bold",
        }
        bold |= {"fontsize": 11}
        axes.annotate(name, (x, y), start, arrowprops=leader, **bold)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.07), ncols=2, frameon=False)


def _spread(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Heights for names beside the circle, at least a gap apart on either side."""
    heights = 1.12 * places[:, 1]
    for side in (places[:, 0] >= 0, places[:, 0] < 0):
        order = np.flatnonzero(side)[np.argsort(heights[side], kind="stable")]
        wanted = heights[order] - _GAP * np.arange(len(order))
        up = np.maximum.accumulate(wanted)
        down = np.minimum.accumulate(wanted[::-1])[::-1]
        # Both rise, so their mean does; names near each other share the shift.
        heights[order] = (up + down) / 2 + _GAP * np.arange(len(order))
    return heights


def _draw_grid(axes: Axes, names: Sequence[str], pairs: pd.DataFrame) -> None:
    """Draw the lower triangle of all pairs: row label_b, column label_a."""
    cells = combinations(range(len(names)), 2)
    for (column, row), pair in zip(cells, pairs.itertuples(), strict=True):
        color = _COLORS[pair.agree]
        corner = (column - 0.5, row - 0.5)
        axes.add_patch(Rectangle(corner, 1, 1, facecolor=color, edgecolor="white"))
        text = f"cos {_sign(pair.cosine)}\nB {_sign(pair.b)}"
        axes.text(column, row, text, ha="center", va="center", fontsize=9)
    last = len(names) - 1
    axes.set_xticks(range(last), names[:last], rotation=30, ha="right")
    axes.set_yticks(range(1, last + 1), names[1:])
    axes.set(xlim=(-0.5, last - 0.5), ylim=(last + 0.5, 0.5))
    axes.set(xlabel="one label of the pair", ylabel="the other label")
    axes.spines[["top", "right"]].set_visible(False)
    _explain(axes, pairs)


def _sign(value: float) -> str:
    return "+" if value > 0 else "−" if value < 0 else "0"


def _explain(axes: Axes, pairs: pd.DataFrame) -> None:
    counts = Counter(pairs["agree"])
    handles = [
        Patch(color=color, label=f"{_MEANINGS[agree]} ({counts[agree]})")
        for agree, color in _COLORS.items()
    ]
    axes.legend(handles=handles, loc="upper right", frameon=False)
    axes.set_title("sign of the cosine on the circle, and of (B + Bᵀ) / 2", fontsize=10)
