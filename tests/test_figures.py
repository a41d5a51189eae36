"""What is drawn, by its values; and that a picture's bytes come from its data alone."""

import hashlib
import json
import os
import re
import subprocess
import sys
from functools import cache
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex, to_rgba
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.text import Text

from homi.benchmark.figures import (
    ablation,
    convergence,
    critical_difference,
    label_graph,
    label_matrices,
    normalize,
    pdf,
    running_time,
    sensitivity,
    svg,
)
from homi.benchmark.figures.label_graph import NEGATIVE, POSITIVE, WEAK
from homi.benchmark.figures.style import HOMI_COLOR
from homi.benchmark.statistics import average_ranks
from homi.metrics import METRICS, PAPER_METRICS
from homi.paper.circumplex import (
    AGREE,
    CONCEPTS,
    DISAGREE,
    NEITHER,
    circumplex,
    cosine_signs,
)

EMOTIONS = ["amazed", "happy", "calm", "quiet", "sad", "angry"]
ANGLES = [100.0, 20.0, 310.0, 270.0, 200.0, 135.0]


def matrix(n=6, seed=0):
    return np.eye(n) + 0.2 * np.random.default_rng(seed).normal(size=(n, n))


def ranked(k=15, n=12):
    """Means of k methods that get worse, with noise, from left to right."""
    noise = np.random.default_rng(0).random((n, k))
    names = ["HOMI", *(f"method-{i:02d}" for i in range(1, k))]
    return pd.DataFrame(noise + np.linspace(0, 0.7, k), columns=names)


def summary_of(cells):
    """A summary from {(data set, method): (mean, std)}, the same for all metrics."""
    rows = {
        ("clean", dataset, method, metric): (mean, std, 5)
        for (dataset, method), (mean, std) in cells.items()
        for metric in PAPER_METRICS
    }
    levels = ["protocol", "dataset", "method", "metric"]
    index = pd.MultiIndex.from_tuples(rows, names=levels)
    return pd.DataFrame(list(rows.values()), index, ["mean", "std", "folds"])


ABLATED = summary_of(
    {
        ("yeast", "HOMI"): (0.2, 0.01),
        ("yeast", "no B"): (0.25, 0.02),
        ("scene", "HOMI"): (0.4, 0.03),
        ("birds", "HOMI"): (0.6, np.nan),
        ("birds", "no B"): (0.5, 0.05),
    }
)
SWEPT = summary_of({("yeast", f"m{i}"): (0.1 * i, 0.0) for i in range(1, 7)})
SECONDS = pd.DataFrame(
    {
        "BR": [1.0, 20.0, np.nan],
        "HOMI": [0.5, np.nan, np.nan],
        "ECC": [9.0, 300.0, 1.0],
    },
    index=["yeast", "scene", "birds"],
)
SECONDS.loc["enron"] = np.nan


def ablated():
    datasets = ["yeast", "scene", "birds", "enron"]
    return ablation(ABLATED, "clean", "HOMI", "no B", datasets, "Without B")


def swept():
    curves = {
        "β": [(100.0, "m3"), (0.0, "m1"), (0.1, "m2")],
        "γ": [(0.01, "m1"), (1.0, "m2")],
        "λ": [(1, "m1"), (2, "missing"), (3, "m4")],
        "s": [(1, "missing")],
    }
    return sensitivity(SWEPT, "clean", "yeast", curves, "Sensitivity")


def converged():
    curves = {"yeast": [8.0, 4.0, 3.0], "scene": [500.0, 40.0, 5.0], "birds": []}
    return convergence({**curves, "enron": [3.0], "bibtex": [2.0, 1.0]}, "Sweeps")


DRAW = {
    "critical": lambda: critical_difference(ranked(), "CD", greater_is_better=False),
    "matrix": lambda: label_matrix(matrix(), EMOTIONS, "B", normalized=True),
    "graph": lambda: label_graph(matrix(), EMOTIONS, "Graph", weak=0.05),
    "circumplex": lambda: circumplex(EMOTIONS, ANGLES, matrix(), "Russell"),
    "ablation": ablated,
    "sensitivity": swept,
    "convergence": converged,
    "times": lambda: running_time(SECONDS, "Seconds"),
}


@cache
def drawn(name):
    """A figure that tests look at and leave as it is."""
    return DRAW[name]()


def texts(figure):
    return [found.get_text() for found in figure.findobj(Text) if found.get_text()]


def boxes(found):
    """Where texts are on the page, in pixels, once the layout is done."""
    found[0].figure.draw_without_rendering()
    # Not an annotation's own extent, which includes its leader.
    return [Text.get_window_extent(text) for text in found]


def overlapping(found):
    pairs = combinations(boxes(found), 2)
    return [pair for pair in pairs if pair[0].overlaps(pair[1])]


@pytest.mark.parametrize("name", DRAW)
def test_every_axis_has_a_name_and_every_figure_a_title(name):
    figure = drawn(name)
    assert isinstance(figure, Figure)
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if axes.axison and axis.get_visible() and len(axis.get_ticklocs()):
                assert axis.get_label_text()
    titles = [axes.get_title() for axes in figure.axes]
    assert figure.get_suptitle() or any(titles)


# Critical differences


def method_names(figure, means):
    (axes,) = figure.axes
    return [t for t in axes.texts if any(m in t.get_text() for m in means.columns)]


def test_critical_difference_names_every_method_with_its_rank():
    means = ranked()
    figure = critical_difference(means, "One-error", greater_is_better=False)
    found = method_names(figure, means)
    ranks = average_ranks(means, greater_is_better=False)
    for method, rank in ranks.items():
        (text,) = [t.get_text() for t in found if method in t.get_text()]
        assert f"({rank:.2f})" in text
    assert not overlapping(found)
    assert figure.axes[0].get_title() == "One-error (12 data sets)"


def test_homi_alone_has_a_color():
    means = ranked()
    figure = critical_difference(means, "One-error", greater_is_better=False)
    found = method_names(figure, means)
    colored = [t.get_text() for t in found if t.get_color() == HOMI_COLOR]
    assert len(colored) == 1
    assert "HOMI" in colored[0]


def bars_of(axes):
    """Ends of the horizontal bars below the axis."""
    lines = [line.get_xydata() for line in axes.lines if line.get_linewidth() == 2]
    return [xy for xy in lines if xy[0, 1] < 0]


def test_bars_join_what_is_nearer_than_the_critical_difference():
    means = ranked(10)
    figure = critical_difference(means, "One-error", greater_is_better=False)
    # Demšar (2006), Table 5: q is 3.164 for 10 methods and α = 0.05.
    difference = 3.164 * np.sqrt(10 * 11 / (6 * 12))
    assert f"critical difference {difference:.2f} (α = 0.05)" in texts(figure)
    ranks = np.sort(average_ranks(means, greater_is_better=False))
    wanted = {}
    for rank in ranks:
        end = ranks[ranks < rank + difference].max()
        wanted.setdefault(end, rank)  # a bar inside another is not drawn
    drawn = [(xy[-1, 0], xy[0, 0]) for xy in bars_of(figure.axes[0])]
    assert len(drawn) > 1
    np.testing.assert_allclose(sorted(drawn), sorted(wanted.items()))


def test_a_greater_value_can_be_the_better_one():
    means = pd.DataFrame({"HOMI": [3.0, 3.0, 3.0], "BR": [1.0, 1.0, 1.0]})
    up = critical_difference(means, "AUC", greater_is_better=True)
    down = critical_difference(means, "loss", greater_is_better=False)
    assert "HOMI (1.00)" in texts(up)
    assert "(2.00) HOMI" in texts(down)


def test_critical_difference_needs_complete_means():
    means = ranked()
    means.iloc[0, 0] = np.nan
    with pytest.raises(ValueError, match="1 NaN"):
        critical_difference(means, "One-error", greater_is_better=False)


# The matrix B


def label_matrix(B, names, title, *, normalized):
    return label_matrices({title: B}, names, normalized=normalized)


def test_matrices_side_by_side_have_colors_of_their_own():
    B = matrix()
    both = {"small": B / 100, "large": B}
    first, second = label_matrices(both, EMOTIONS, normalized=False).axes[:2]
    assert (first.get_title(), second.get_title()) == ("small", "large")
    limits = [axes.images[0].norm.vmax for axes in (first, second)]
    assert limits[1] == pytest.approx(100 * limits[0])


def test_titles_of_matrices_are_inside_of_the_picture():
    names = [f"{name}-{'x' * 8}" for name in EMOTIONS]
    both = {"γ = 0.01": matrix() / 1000, "γ = 1": matrix()}
    figure = label_matrices(both, names, normalized=False)
    titles = boxes([axes.title for axes in figure.axes[:2]])
    assert max(box.y1 for box in titles) <= figure.bbox.height


def test_normalize_is_the_min_max_of_the_whole_matrix():
    B = matrix()
    found = normalize(B)
    assert found.min() == 0
    assert found.max() == 1
    np.testing.assert_allclose(found * (B.max() - B.min()) + B.min(), B)
    assert not normalize(np.ones((2, 2))).any()


@pytest.mark.parametrize("normalized", [True, False])
def test_matrix_shows_every_entry_and_its_number(normalized):
    B = matrix()
    figure = label_matrix(B, EMOTIONS, "B", normalized=normalized)
    shown = normalize(B) if normalized else B
    axes = figure.axes[0]
    colored = np.ma.getdata(axes.images[0].get_array()).copy()
    if not normalized:
        # The diagonal is gray, so that the others have all colors.
        assert np.isnan(np.diagonal(colored)).all()
        np.fill_diagonal(colored, np.diagonal(B))
    np.testing.assert_array_equal(colored, shown)
    numbers = {text.get_position(): text.get_text() for text in axes.texts}
    assert len(numbers) == 36
    for (row, column), value in np.ndenumerate(shown):
        written = numbers[column, row].replace("−", "-")
        assert float(written) == pytest.approx(
            value, abs=0.005 if normalized else 0.00005
        )
    assert [tick.get_text() for tick in axes.get_xticklabels()] == EMOTIONS
    assert [tick.get_text() for tick in axes.get_yticklabels()] == EMOTIONS


@pytest.mark.parametrize("normalized", [True, False])
def test_redder_is_larger_and_greener_is_smaller(normalized):
    B = np.array([[0.0, -1.0], [1.0, 0.2]])
    figure = label_matrix(B, ["a", "b"], "B", normalized=normalized)
    image = figure.axes[0].images[0]
    small, large = image.to_rgba(image.get_array())[[0, 1], [1, 0]]
    assert small[1] > small[0]
    assert large[0] > large[1]


def test_many_labels_have_no_numbers():
    names = [f"label {i}" for i in range(13)]
    assert not label_matrix(matrix(13), names, "B", normalized=True).axes[0].texts
    names = [f"label {i}" for i in range(61)]
    figure = label_matrix(matrix(61), names, "B", normalized=True)
    assert "label 0" not in texts(figure)


def test_a_dollar_sign_is_a_letter():
    figure = label_matrix(matrix(2), ["$a$", "<&>"], "B", normalized=True)
    root = ElementTree.fromstring(svg(figure, "fig"))
    written = ["".join(element.itertext()) for element in root.iter()]
    assert "$a$" in written
    assert "<&>" in written


# The graph


def edges_of(figure):
    (lines,) = figure.axes[0].findobj(LineCollection)
    colors = [to_hex(color) for color in lines.get_colors()]
    return list(zip(lines.get_segments(), colors, lines.get_linewidths(), strict=True))


def test_graph_has_a_line_for_every_pair_by_its_mean():
    B = np.eye(3)
    B[0, 1], B[1, 0] = 0.9, -0.1
    B[0, 2], B[2, 0] = -0.5, -0.3
    B[1, 2], B[2, 1] = 0.04, 0.0
    edges = edges_of(label_graph(B, ["a", "b", "c"], "Graph", weak=0.05))
    assert sorted(color for _, color, _ in edges) == sorted(
        to_hex(color) for color in (POSITIVE, NEGATIVE, WEAK)
    )
    by_width = sorted(edges, key=lambda edge: edge[2])
    assert by_width[0][1] == to_hex(WEAK)
    assert by_width[1][2] == pytest.approx(by_width[2][2])  # both means are 0.4
    a, b, c = (np.array([np.cos(t), np.sin(t)]) for t in np.radians([0, 120, 240]))
    ends = {POSITIVE: (a, b), NEGATIVE: (a, c), WEAK: (b, c)}
    for segment, color, _ in edges:
        np.testing.assert_allclose(segment, ends[color], atol=1e-6)


def test_graph_explains_its_colors():
    figure = label_graph(matrix(), EMOTIONS, "Graph", weak=0.05)
    (legend,) = figure.legends
    meanings = [text.get_text() for text in legend.get_texts()]
    assert [meaning.split(":")[0] for meaning in meanings] == [
        "positive",
        "negative",
        "weak",
    ]
    assert "0.05" in meanings[2]
    assert set(EMOTIONS) <= set(texts(figure))
    assert figure.get_suptitle() == "Graph"


@pytest.mark.parametrize("labels", [12, 70])
def test_graph_draws_the_strongest_sixty(labels):
    B = matrix(labels)
    figure = label_graph(B, [f"n{i}" for i in range(labels)], "Graph", weak=0.0)
    edges = edges_of(figure)
    pairs = labels * (labels - 1) // 2
    assert len(edges) == 60
    assert f"the 60 strongest of {pairs} pairs" in figure.get_suptitle()
    strengths = np.sort(np.abs((B + B.T) / 2)[np.triu_indices(labels, 1)])[::-1]
    widths = np.sort([width for *_, width in edges])[::-1]
    wanted = 0.6 + 6.4 * strengths[:60] / strengths[0]
    np.testing.assert_allclose(widths, wanted)
    names = [text for text in texts(figure) if re.fullmatch(r"n\d+", text)]
    if labels <= 60:
        assert len(names) == labels
    else:
        assert f"their {len(names)} of {labels} labels" in figure.get_suptitle()


# Russell's circumplex


def test_cosine_signs_by_hand():
    B = np.eye(3)
    B[0, 1], B[1, 0] = 0.3, -0.1
    B[0, 2], B[2, 0] = 0.2, 0.2
    found = cosine_signs(["a", "b", "c"], [0, 60, 180], B)
    assert found.columns.tolist() == ["label_a", "label_b", "cosine", "b", "agree"]
    assert found["label_a"].tolist() == ["a", "a", "b"]
    assert found["label_b"].tolist() == ["b", "c", "c"]
    np.testing.assert_allclose(found["cosine"], [0.5, -1.0, -0.5])
    np.testing.assert_allclose(found["b"], [0.1, 0.2, 0.0])
    assert found["agree"].tolist() == [True, False, False]


def test_a_right_angle_has_no_sign():
    found = cosine_signs(["a", "b"], [10, 100], np.eye(2))
    assert found["cosine"].tolist() == [0.0]
    assert found["agree"].tolist() == [None]
    _, grid = circumplex(["a", "b"], [10, 100], np.eye(2), "Russell").axes
    assert to_hex(grid.patches[0].get_facecolor()) == NEITHER


def test_circumplex_puts_labels_and_concepts_at_their_angles():
    left, _ = circumplex(EMOTIONS, ANGLES, matrix(), "Russell").axes
    concepts, labels = left.collections
    for dots, angles in ((concepts, list(CONCEPTS.values())), (labels, ANGLES)):
        turned = np.radians(angles)
        wanted = np.column_stack([np.cos(turned), np.sin(turned)])
        np.testing.assert_allclose(dots.get_offsets(), wanted, atol=1e-12)
    assert tuple(concepts.get_facecolor()[0]) == to_rgba("white")
    assert labels.get_sizes()[0] > 2 * concepts.get_sizes()[0]
    assert set(EMOTIONS) | set(CONCEPTS) <= {text.get_text() for text in left.texts}
    assert left.get_xlabel().startswith("pleasure")
    assert left.get_ylabel().startswith("arousal")


def test_the_concepts_are_an_eighth_of_a_turn_apart():
    assert list(CONCEPTS.values()) == list(range(0, 360, 45))
    assert list(CONCEPTS)[::2] == ["pleasure", "arousal", "displeasure", "sleepiness"]
    assert list(CONCEPTS)[1::2] == [
        "excitement",
        "distress",
        "depression",
        "relaxation",
    ]


def test_names_of_near_labels_do_not_overlap():
    near = circumplex(EMOTIONS, [44, 45, 46, 200, 201, 270], matrix(), "Russell")
    left, _ = near.axes
    assert not overlapping([t for t in left.texts if t.get_text() in EMOTIONS])


def test_grid_tells_where_signs_agree():
    B = matrix()
    _, grid = circumplex(EMOTIONS, ANGLES, B, "Russell").axes
    pairs = cosine_signs(EMOTIONS, ANGLES, B).set_index(["label_a", "label_b"])
    assert 0 < pairs["agree"].sum() < len(pairs) == len(grid.patches) == 15
    for cell, text in zip(grid.patches, grid.texts, strict=True):
        column, row = np.array(cell.get_xy()) + 0.5
        pair = pairs.loc[(EMOTIONS[int(column)], EMOTIONS[int(row)])]
        color = AGREE if pair["agree"] else DISAGREE
        assert to_hex(cell.get_facecolor()) == color
        signs = ["+" if pair[key] > 0 else "−" for key in ("cosine", "b")]
        assert text.get_text() == f"cos {signs[0]}\nB {signs[1]}"
    agree = pairs["agree"].sum()
    legend = [text.get_text() for text in grid.get_legend().get_texts()]
    assert legend == [
        f"signs agree ({agree})",
        f"signs disagree ({15 - agree})",
        "right angle (0)",
    ]


# Bars and curves


def error_lines(axes):
    """Segments of the error lines, the bars of the whole first."""
    bars = [found for found in axes.containers if isinstance(found, BarContainer)]
    return [s for found in bars for s in found.errorbar[2][0].get_segments()]


def test_ablation_draws_means_deviations_and_the_gain():
    figure = drawn("ablation")
    left, right = figure.axes[:4], figure.axes[4:]
    for axes, twin, metric in zip(left, right, PAPER_METRICS, strict=True):
        assert axes.get_title() == METRICS[metric].title
        heights = [bar.get_height() for bar in axes.patches]
        assert heights == [0.2, 0.6, 0.25, 0.5]
        middles = [bar.get_x() + bar.get_width() / 2 for bar in axes.patches]
        assert np.round(middles).tolist() == [0, 2, 0, 2]
        spans = [np.ptp(s[:, 1]) for s in error_lines(axes)]
        np.testing.assert_allclose(spans, [0.02, 0.0, 0.04, 0.1])
        sign = 1 if METRICS[metric].greater_is_better else -1
        wanted = [sign * -0.05 / 0.25, np.nan, sign * 0.1 / 0.5, np.nan]
        np.testing.assert_allclose(twin.lines[0].get_ydata(), wanted)
        missing = [t for t in axes.texts if t.get_text() == "not run"]
        assert [text.get_position()[0] for text in missing] == [1, 3]
        ticks = [tick.get_text() for tick in axes.get_xticklabels()]
        assert ticks == ["yeast", "scene", "birds", "enron"]


def test_ablation_of_nothing_run_is_drawn():
    figure = ablation(ABLATED, "clean", "HOMI", "no graph", ["yeast"], "Without")
    assert texts(figure).count("not run") == 4


def panels_of(figure, count):
    return list(zip(figure.axes[:count], figure.axes[count:], strict=True))


def test_sensitivity_has_losses_left_and_the_auc_right():
    for left, right in panels_of(drawn("sensitivity"), 4):
        titles = [METRICS[metric].title for metric in PAPER_METRICS]
        assert [line.get_label() for line in left.lines] == titles[:3]
        assert [line.get_label() for line in right.lines] == titles[3:]


def test_sensitivity_is_in_the_order_of_the_values():
    (beta, beta_right), (gamma, _), (lam, _), _ = panels_of(drawn("sensitivity"), 4)
    for line in (*beta.lines, *beta_right.lines):
        np.testing.assert_array_equal(line.get_xdata(), [0, 0.1, 100])
        np.testing.assert_allclose(line.get_ydata(), [0.1, 0.2, 0.3])
    scales = [axes.get_xscale() for axes in (beta, gamma, lam)]
    assert scales == ["symlog", "log", "linear"]
    assert [axes.get_xlabel() for axes in (beta, gamma, lam)] == ["β", "γ", "λ"]
    assert [t.get_text() for t in beta.get_xticklabels()] == ["0", "0.1", "100"]


def test_on_a_symlog_axis_zero_keeps_its_distance():
    axes = drawn("sensitivity").axes[0]
    zero, first, last = axes.transData.transform([(0, 0), (0.1, 0), (100, 0)])[:, 0]
    assert first - zero == pytest.approx(last - first, rel=1e-6)


def test_sensitivity_says_what_was_not_run():
    _, _, (lam, _), (s, s_right) = panels_of(drawn("sensitivity"), 4)
    assert lam.get_title() == "not run: 2"
    np.testing.assert_array_equal(lam.lines[0].get_xdata(), [1, 3])
    assert [text.get_text() for text in s.texts] == ["not run"]
    assert not len(s.lines[0].get_xdata())
    assert not len(s_right.lines[0].get_xdata())


def test_ticks_of_a_logarithmic_axis_are_plain_numbers():
    wide = drawn("times").axes[0]
    narrow = convergence({"yeast": [60.0, 5.0]}, "Sweeps").axes[0]
    assert {"1", "10", "100"} <= {tick.get_text() for tick in wide.get_yticklabels()}
    assert {"5", "10", "20"} <= {tick.get_text() for tick in narrow.get_yticklabels()}


def test_convergence_counts_sweeps_from_one():
    figure = drawn("convergence")
    yeast, scene, birds, enron, bibtex = figure.axes
    np.testing.assert_array_equal(yeast.lines[0].get_xdata(), [1, 2, 3])
    np.testing.assert_array_equal(yeast.lines[0].get_ydata(), [8, 4, 3])
    assert (yeast.get_yscale(), scene.get_yscale()) == ("linear", "log")
    assert not birds.lines
    assert [text.get_text() for text in birds.texts] == ["not run"]
    assert (birds.get_title(), enron.get_title()) == ("birds", "enron")
    columns = {axes.get_subplotspec().colspan.start for axes in figure.axes}
    assert columns == {0, 1, 2, 3}
    assert bibtex.get_subplotspec().rowspan.start == 1


def test_running_time_marks_every_run_and_every_gap():
    (axes,) = drawn("times").axes
    assert axes.get_yscale() == "log"
    marks, crosses = axes.lines[::2], axes.lines[1::2]
    for line, cross, method in zip(marks, crosses, SECONDS, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), SECONDS[method])
        assert np.round(line.get_xdata()).tolist() == [0, 1, 2, 3]
        missing = np.flatnonzero(SECONDS[method].isna())
        assert np.round(cross.get_xdata()).tolist() == missing.tolist()
    ticks = [tick.get_text() for tick in axes.get_xticklabels()]
    assert ticks == ["yeast", "scene", "birds", "enron"]
    missing = [text for text in axes.texts if text.get_text() == "not run"]
    assert [text.get_position()[0] for text in missing] == [3]


def test_in_running_time_homi_stands_out_and_no_two_look_alike():
    seconds = pd.DataFrame(np.ones((12, 15)), columns=ranked().columns)
    (axes,) = running_time(seconds, "Seconds").axes
    looks = [(line.get_marker(), line.get_color()) for line in axes.lines[::2]]
    assert len(set(looks)) == 15
    sizes = [line.get_markersize() for line in axes.lines[::2]]
    assert sizes[0] > 2 * max(sizes[1:])
    assert looks[0] == ("*", HOMI_COLOR)
    places = np.sort(np.concatenate([line.get_xdata() for line in axes.lines[::2]]))
    assert np.diff(places).min() > 0.05
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert names == [*seconds.columns, "not run"]


# Bytes


@cache
def picture(name):
    return svg(drawn(name), name)


def ids_in(text):
    return re.findall(r'\bid="([^"]+)"', text)


@pytest.mark.parametrize("name", DRAW)
def test_svg_can_stand_in_a_page(name):
    text = picture(name)
    assert text.startswith("<svg ")
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert text.count("http") == 1  # the name of the svg namespace
    assert "metadata" not in text
    ids = ids_in(text)
    assert len(ids) == len(set(ids))
    assert all(found == name or found.startswith(f"{name}-") for found in ids)
    references = re.findall(r'(?:href="#|url\(#)([^")]+)', text)
    assert references
    assert set(references) <= set(ids)
    others = re.findall(r'href="([^#][^"]{0,20})', text)
    assert all(other.startswith("data:image/png;base64,"[:20]) for other in others)
    families = re.findall(r"font-family: ([^;\"]*)", text)
    assert set(families) == {"'DejaVu Sans', sans-serif"}
    assert f"#{name} *{{" in text
    assert re.search(r"[^ ]\s*\*\{", text.replace(f"#{name} *{{", "")) is None


def test_svg_keeps_text_as_text():
    root = ElementTree.fromstring(picture("graph"))
    words = root.findall(".//{http://www.w3.org/2000/svg}text")
    assert set(EMOTIONS) <= {word.text for word in words}


def test_figures_of_two_names_share_no_id():
    figure = drawn("graph")
    one, two = (set(ids_in(svg(figure, name))) for name in ("one", "two"))
    assert one.isdisjoint(two)
    assert len(one) == len(two)


def test_a_name_must_be_fit_for_an_id():
    with pytest.raises(ValueError, match="a b"):
        svg(Figure(), "a b")


def test_drawing_changes_nothing():
    before = picture("ablation")
    pdf(drawn("ablation"))
    assert svg(drawn("ablation"), "ablation") == before


def digests():
    """SHA-256 of every figure as svg, and of some as PDF, which takes longer."""
    files = {name: picture(name).encode() for name in DRAW}
    files |= {f"{name}.pdf": pdf(drawn(name)) for name in ("critical", "graph")}
    return {name: hashlib.sha256(file).hexdigest() for name, file in files.items()}


def test_bytes_are_the_same_in_another_process_on_another_day():
    code = "import json, test_figures; print(json.dumps(test_figures.digests()))"
    changed = {"PYTHONHASHSEED": "1", "SOURCE_DATE_EPOCH": "86400"}
    paths = [os.path.dirname(__file__), *sys.path]
    place = {"PYTHONPATH": os.pathsep.join(paths)}
    other = subprocess.run(
        [sys.executable, "-W", "error", "-W", "ignore::DeprecationWarning", "-c", code],
        env={**os.environ, **changed, **place},
        stdout=subprocess.PIPE,
        check=True,
    )
    assert json.loads(other.stdout) == digests()


def test_pdf_is_a_page_without_a_date():
    page = pdf(drawn("graph"))
    assert page.startswith(b"%PDF-")
    assert b"CreationDate" not in page
