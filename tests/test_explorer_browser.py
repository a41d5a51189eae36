"""The label explorer in a real browser: what it answers to clicks, keys and words."""

import math

import numpy as np
import pytest

from explorer_pages import LABELS, Opened, Written, extremes
from homi import HOMI
from homi.explorer import explain


def test_nothing_is_requested_and_nothing_complains(six):
    six.open()
    six.look_for("sad", "Enter")
    buttons = "document.querySelectorAll('.tools button, thead button, #card button')"
    six.run(f"() => {{ for (const button of {buttons}) button.click() }}")
    six.run("() => window.scrollTo(0, document.body.scrollHeight)")
    six.one("#palette").click()
    assert set(six.tab.asked) == {six.path.as_uri()}
    assert six.tab.complaints == []


def test_names_are_shown_as_they_are(six):
    six.open()
    assert six.page.title() == "<i>Six</i> & more"
    for label in (1, 2):
        six.look_for(LABELS[label], "Enter")
        assert six.chosen() == label
    assert six.one("#card b, #card script").count() == 0
    shown = six.one("#labels-table").text_content()
    assert all(name in shown for name in LABELS)


def test_a_click_says_what_raises_and_lowers_a_label(six):
    six.open()
    for label in (3, 0):
        six.click("#graph-canvas", *six.disc(label))
        assert six.chosen() == label
        into, out = six.B[:, label], six.B[label]
        for title, wanted in {
            "Raised by": extremes(into, label, 1),
            "Lowered by": extremes(into, label, -1),
            "It raises": extremes(out, label, 1, 4),
            "It lowers": extremes(out, label, -1, 4),
        }.items():
            assert six.listed(title) == pytest.approx(wanted)
            assert list(six.listed(title)) == list(wanted)
    first, *_ = six.listed("Raised by")
    six.one("#card li button").first.click()
    assert six.chosen() == first
    six.click("#graph-canvas", 3, 3)
    assert six.chosen() == -1


def test_an_older_browser_shows_the_same(six):
    six.page.add_init_script(
        "delete Uint8Array.fromBase64; delete window.requestIdleCallback"
    )
    six.open()
    left = "() => [Uint8Array.fromBase64, window.requestIdleCallback].filter(Boolean)"
    assert six.run(f"{left}.length") == 0
    six.click("#graph-canvas", *six.disc(3))
    wanted = extremes(six.B[:, 3], 3, -1)
    assert six.listed("Lowered by") == pytest.approx(wanted)
    six.one("#matrix").scroll_into_view_if_needed()
    assert (six.pixels("#matrices figure:first-child canvas")[..., 3] > 0).mean() > 0.5


def test_search_finds_names_and_the_keyboard_takes_one(six):
    six.open()
    six.look_for("a")
    found = six.one("#found [role=option] span:first-child").all_inner_texts()
    # Those that begin with it first, each in their own order.
    assert found[:2] == [LABELS[4], LABELS[5]]
    assert "calm" in found
    assert "sad" in found
    six.one("#search").press("ArrowDown")
    active = six.one("#search").get_attribute("aria-activedescendant")
    assert six.text(f"#{active}").startswith("a name that is much")
    assert six.one("#found [aria-selected=true]").get_attribute("id") == active
    six.one("#search").press("Enter")
    assert six.chosen() == 5
    assert not six.one("#found").is_visible()
    six.look_for("no such label")
    assert six.text("#found") == "No label has this name"


def test_the_slider_sets_the_weakest_arrow(six):
    six.open()
    strengths = np.sort(np.abs(six.B[~np.eye(6, dtype=bool)]))
    slider = six.one("#weakest")
    slider.press("Home")
    assert six.text("#weakest-says").endswith("30 of 30 arrows")
    slider.press("End")
    assert six.text("#weakest-says").endswith(": 1 of 30 arrows")
    for value in (300, 700):
        slider.fill(str(value))
        weakest = strengths[-1] * (strengths[0] / strengths[-1]) ** (1 - value / 1000)
        shown = np.sum(strengths >= weakest)
        assert six.text("#weakest-says").endswith(f": {shown} of 30 arrows")
        assert slider.get_attribute("aria-valuetext") == six.text("#weakest-says")


def test_fewer_arrows_are_what_they_were_before_there_were_more(many):
    """Drawn in steps, and from copies on the way back: the picture must not tell."""
    many.open()
    slider = many.one("#weakest")
    pictures = {}
    for value in (700, 300, 0, 300, 700):
        slider.fill(str(value))
        drawn = many.pixels()
        # Of what is hardly seen, the colour is rounded coarsely.
        seen = drawn[..., :3] * drawn[..., 3:] / 255
        if value in pictures:
            assert np.abs(seen - pictures[value]).max() <= 3
        pictures[value] = seen
    inked = {value: (seen.max(axis=-1) > 0).sum() for value, seen in pictures.items()}
    assert inked[700] < inked[300] < inked[0]


def test_the_keyboard_walks_over_the_graph(six):
    six.open()
    canvas = six.one("#graph-canvas")
    canvas.press("ArrowRight")
    first = six.chosen()
    assert first >= 0
    seen = {first}
    ways = {"Left": (-1, 0), "Up": (0, -1), "Down": (0, 1), "Right": (1, 0)}
    for key, (dx, dy) in [*ways.items()] * 2:
        before = six.disc(six.chosen())
        canvas.press(f"Arrow{key}")
        after = six.disc(six.chosen())
        assert (after[0] - before[0]) * dx + (after[1] - before[1]) * dy >= 0
        seen.add(six.chosen())
    assert len(seen) >= 3
    name = six.names[six.chosen()]
    assert six.one("#said").text_content().startswith(f"{name}. Raised most by ")
    canvas.press("Escape")
    assert six.chosen() == -1


def test_the_matrix_names_the_cell_under_the_pointer(six):
    six.open()
    order = six.fact("order")
    first = "#matrices figure:first-child canvas"
    width = six.one(first).bounding_box()["width"]
    left = min(12 + 6.6 * max(map(len, LABELS)), 116)
    step = (width - left) / 6
    row, column = 1, 4
    place = left + (column + 0.5) * step, left + (row + 0.5) * step
    six.page.mouse.move(*six.at(first, *place))
    i, j = order[row], order[column]
    said = six.text("#cell")
    assert said.startswith(f"{LABELS[i]} → {LABELS[j]}: B ")
    number = said.split(": B ")[1].split(",")[0].replace("−", "-")
    assert math.isclose(float(number), six.B[i, j], rel_tol=0.05)
    six.one("#normalised").click()
    assert six.one("#normalised").get_attribute("aria-pressed") == "true"
    # The first key points at the upper left cell.
    for key in ("ArrowRight", "ArrowDown"):
        six.one(first).press(key)
    low, high = six.B.min(), six.B.max()
    i, j = order[1], order[0]
    assert six.text("#cell").startswith(
        f"{LABELS[i]} → {LABELS[j]}: B {(six.B[i, j] - low) / (high - low):.3f} of 1"
    )
    six.one(first).press("Enter")
    assert six.chosen() == j


def test_the_matrix_is_coloured_by_sign(six):
    """Cells in the order of the clusters, each beside the colour it should have."""
    six.open()
    six.one("#matrix").scroll_into_view_if_needed()
    order = six.fact("order")
    drawn = six.pixels("#matrices figure:first-child canvas")
    left = min(12 + 6.6 * max(map(len, LABELS)), 116)
    step = (drawn.shape[1] - left) / 6
    full = np.abs(six.B[~np.eye(6, dtype=bool)]).max()
    ends = np.array([[255, 255, 255], [0xC2, 0x3B, 0x31], [0x2C, 0x86, 0x50]])
    for row, i in enumerate(order):
        for column, j in enumerate(order):
            if i == j:
                continue
            tone = np.sqrt(abs(six.B[i, j]) / full)
            end = ends[1] if six.B[i, j] > 0 else ends[2]
            wanted = ends[0] + tone * (end - ends[0])
            y, x = (int(left + (k + 0.5) * step) for k in (row, column))
            assert np.abs(drawn[y, x, :3] - wanted).max() <= 2


def test_the_rows_follow_the_chosen_label(six):
    six.open()
    for label in (4, 2):
        six.look_for(LABELS[label], "Enter")
        six.one("#rows").scroll_into_view_if_needed()
        six.one("#verdict").filter(has_text=f"{LABELS[label]}: g(x) = ").wait_for()
        chosen = "e => e.selectedOptions[0].textContent"
        assert six.one("#score").evaluate(chosen).startswith(f"{LABELS[label]} (")


def test_the_bars_of_a_row_add_up(six):
    six.open()
    six.look_for(LABELS[3], "Enter")
    values = "bars => bars.map(bar => Number(bar.dataset.value))"
    said = set()
    for row in range(3):
        for score in range(6):
            six.one("#row").select_option(str(row))
            six.one("#score").select_option(str(score))
            verdict = six.text("#verdict")
            bars = six.one("#waterfall li[data-value]").evaluate_all(values)
            assert sum(bars[:-1]) == pytest.approx(bars[-1], abs=1e-12)
            above = "above one half: predicted"
            assert (f", {above}" in verdict) == (bars[-1] > 0.5)
            said.add(verdict.split(": g(x) = ")[0])
    assert said == set(LABELS)


def test_tables_sort_and_show_all(many):
    many.open()
    rows = many.one("#labels-table tbody tr")
    assert rows.count() == 25
    many.one("#labels-more").click()
    # Rows come some at a time: sorted meanwhile, none may come twice.
    many.one("#labels-table thead button").first.click()
    assert rows.first.text_content().startswith(many.names[0])
    rows.nth(982).wait_for()
    first = "rows => rows.map(row => row.cells[0].textContent)"
    assert rows.evaluate_all(first) == many.names


def test_links_lead_to_their_sections(many):
    """Also past sections that were never laid out."""
    many.open()
    for part in ("labels", "matrix", "rows"):
        many.one(f"nav a[href='#{part}']").click()
        top = many.one(f"#{part}").evaluate("e => e.getBoundingClientRect().top")
        bar = many.one(".top").bounding_box()["height"]
        assert bar <= top < 300


def test_emotions_shows_what_the_paper_says_of_figure_1(tab, data, tmp_path):
    """With λ = 300; with the paper's λ = 1 it does not (docs/explaining.md)."""
    X, Y, _, names = data("emotions")
    model = HOMI(300.0).fit(X, Y)
    path = explain(model, tmp_path / "emotions.html", X, Y, label_names=names)
    page = Opened(tab, Written(model, path, names)).open()

    def around(name):
        """Short names of what raises and what lowers a label."""
        page.look_for(name, "Enter")
        lists = page.listed("Raised by"), page.listed("Lowered by")
        return [{names[i].split("-")[0] for i in found} for found in lists]

    assert around("angry") == [{"amazed"}, {"relaxing", "happy", "quiet", "sad"}]
    assert {"amazed", "happy"} <= around("sad")[1]
    assert "relaxing" in around("quiet")[0]
    assert "quiet" in around("relaxing")[0]
