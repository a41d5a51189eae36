"""The label explorer in a real browser: it fits, can be read, and is quick.

Pictures of it are kept where ``HOMI_SHOTS`` says, for a person to look at.
"""

import os
from pathlib import Path

import numpy as np
import pytest

from browser import LABELS, QUICK, Opened, Written, some_rows, tab_of
from homi import HOMI, HOMICV
from homi.dependence import ask
from homi.estimators import MLkNN
from homi.explorer import explain


@pytest.mark.parametrize("width", [1280, 390, 320])
def test_the_page_fits_its_window(six, width):
    six.open(width)
    six.look_for(LABELS[5], "Enter")
    six.one("#rows-table .more").click()
    assert six.tab.overflow() <= 0
    cut = """all => all.filter(e => e.scrollWidth > e.clientWidth + 1)
        .map(e => e.getAttribute('aria-label'))"""
    assert six.one(".wide").count() == 5
    assert six.one(".wide").evaluate_all(cut) == []
    card, graph = (six.one(part).bounding_box() for part in ("#card", "#graph-svg"))
    assert (card["x"] >= graph["x"] + graph["width"]) == (width == 1280)


OVERLAPS = """texts => {
  const boxes = texts.map((text) => text.getBoundingClientRect());
  const inside = document.getElementById('graph-svg').getBoundingClientRect();
  let [crossing, outside] = [0, 0];
  boxes.forEach((a, k) => {
    for (const b of boxes.slice(0, k)) {
      crossing += a.left < b.right - 1 && b.left < a.right - 1
        && a.top < b.bottom - 1 && b.top < a.bottom - 1;
    }
    outside += a.left < inside.left - 1 || a.right > inside.right + 1;
  });
  return [boxes.length, crossing, outside];
}"""


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("n_labels", [6, 40, 174])
def test_names_never_overlap(tab, tmp_path, n_labels, width):
    X, Y = some_rows(n_labels)
    names = [f"label {'x' * (k % 14)} {k}" for k in range(n_labels)]
    path = explain(HOMI(gamma=0).fit(X, Y), tmp_path / "p.html", y=Y, label_names=names)
    page = Opened(tab, Written((None, None), path, names, (X, Y), Y)).open(width)
    count, crossing, outside = page.one("#graph-svg text").evaluate_all(OVERLAPS)
    assert (crossing, outside) == (0, 0)
    if width == 1280:
        assert count >= min(n_labels, 60)
    else:
        assert count >= 6
    page.one("#closer").click()
    assert page.one("#graph-svg text").evaluate_all(OVERLAPS)[1] == 0
    # Names beside the matrix are as high as its cells, or are not there.
    axis, canvas = (page.one(f"#matrix {part}") for part in (".axis.of-rows", "canvas"))
    if axis.count() and axis.is_visible():
        heights = [part.bounding_box()["height"] for part in (axis, canvas)]
        assert heights[0] == pytest.approx(heights[1], abs=2)


def test_names_of_many_labels_never_overlap(many):
    for width in (1280, 390):
        many.open(width)
        count, crossing, outside = many.one("#graph-svg text").evaluate_all(OVERLAPS)
        assert count >= 25
        assert (crossing, outside) == (0, 0)


# Colors


NAMES = ["paper", "panel", "ink", "soft", "accent", "raise", "lower", "tint"]


def colors(page):
    """The colors of the style sheet, as red, green, blue."""
    read = """names => { const style = getComputedStyle(document.documentElement);
        return names.map(name => style.getPropertyValue('--' + name).trim()) }"""
    return {
        name: np.array([int(text[at : at + 2], 16) for at in (1, 3, 5)])
        for name, text in zip(NAMES, page.run(read, NAMES), strict=True)
    }


def linear(color):
    """Of sRGB, light as it adds up."""
    share = np.asarray(color) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    """As in WCAG 2: 4.5 is enough for text, 3 for lines and bars."""
    low, high = sorted(linear(c) @ [0.2126, 0.7152, 0.0722] for c in (one, other))
    return (high + 0.05) / (low + 0.05)


#: Linear red, green, blue as they are seen without one kind of cones (Machado 2009).
DEFICIENCIES = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
}

#: Linear red, green, blue to the cones of Oklab, and those to its three axes.
TO_CONES = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]
TO_OKLAB = [
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
]


def hue_apart(one, other, deficiency):
    """How far apart two colors are in hue, to eyes without one kind of cones."""

    def seen(color):
        light = np.clip(np.array(DEFICIENCIES[deficiency]) @ linear(color), 0, None)
        return (np.array(TO_OKLAB) @ np.cbrt(np.array(TO_CONES) @ light))[1:]

    return np.hypot(*(seen(one) - seen(other)))


def test_texts_stand_out_and_signs_are_told_apart_by_all_eyes(six):
    for scheme in ("light", "dark"):
        six.open(1280, scheme)
        seen = colors(six)
        for ground in ("paper", "panel", "tint"):
            for text in ("ink", "soft", "accent", "raise", "lower"):
                assert contrast(seen[text], seen[ground]) >= 4.5, (text, ground)
        # Blue raises, orange lowers.
        assert seen["raise"][2] > seen["raise"][0]
        assert seen["lower"][0] > seen["lower"][2]
        for deficiency in DEFICIENCIES:
            assert hue_apart(seen["raise"], seen["lower"], deficiency) > 0.15


# For all


def test_the_rules_of_accessibility_are_kept(six):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright",
        reason="no axe-core; pip install 'homi-learn[test]'",
    )
    for width, scheme in ((1280, "light"), (390, "dark")):
        six.open(width, scheme)
        six.look_for("sad", "Enter")
        six.know(4, 1)
        results = axe.Axe().run(six.page)
        assert results.violations_count == 0, results.generate_report()
        assert {"color-contrast"} <= {rule["id"] for rule in results.response["passes"]}


def test_the_keyboard_reaches_everything_and_shows_where_it_is(six):
    six.open()
    focused = """() => { const e = document.activeElement;
        return [e.id || e.className || e.tagName, getComputedStyle(e).outlineStyle] }"""
    seen = {}
    for _ in range(60):
        six.page.keyboard.press("Tab")
        name, outline = six.run(focused)
        seen[name] = outline
    assert {"skip", "search", "edges", "graph-svg", "known-row", "group"} <= set(seen)
    assert set(seen.values()) == {"solid"}
    landmarks = six.one("header, nav, main, main section[aria-labelledby]").count()
    assert landmarks == 3 + 6


def test_on_paper_everything_is_there(many):
    many.open()
    assert many.one("#quality-table tbody tr").count() < 983
    # A capture of the full page has what is below the window.
    skipped = """all => all.filter(
        e => getComputedStyle(e).contentVisibility !== "visible").length"""
    assert many.one("main *").evaluate_all(skipped) == 0
    for section in many.one("main section.panel").all():
        assert section.bounding_box()["height"] > 300
    many.page.emulate_media(media="print")
    many.one("#quality-table tbody tr").nth(982).wait_for(state="attached")
    assert many.one("#known-list li").count() == 983
    assert many.one("#audit-list li").count() == 300
    cut = """all => all.filter(e => e.scrollHeight > e.clientHeight + 1
        || e.scrollWidth > e.clientWidth + 1).length"""
    assert many.one(".wide").evaluate_all(cut) == 0
    read = "bar => getComputedStyle(bar).printColorAdjust"
    assert many.one("#known-list .bar").last.evaluate(read) == "exact"
    many.page.emulate_media(media="screen")


def test_pages_of_little_are_drawn_without_complaints(tab, tmp_path):
    X, Y = some_rows(5)
    of_labels, of_one = HOMICV(**QUICK).fit(X, Y), HOMICV(**QUICK).fit(X, Y[:, :1])
    cases = [
        (HOMI(correlation="identity").fit(X, Y), {}),
        (HOMI().fit(X, Y[:, 0]), {"X": X, "y": Y[:, 0]}),
        (MLkNN().fit(X, Y), {"X": X, "y": Y}),
        (of_labels, {}),
        (of_labels, {"X": X}),
        (of_labels, {"X": X, "y": Y, "rows": X[:2]}),
        (of_one, {"X": X, "y": Y[:, :1]}),
    ]
    for k, (model, given) in enumerate(cases):
        tab.open(explain(model, tmp_path / f"{k}.html", **given))
        tab.page.locator("html[data-complete]").wait_for(state="attached")
        tab.page.locator("#search").fill(str(model.label_names_[0]))
        tab.page.locator("#search").press("Enter")
        assert tab.page.locator("#card h2").inner_text() == str(model.label_names_[0])
        assert tab.complaints == []


def test_a_finger_chooses_a_label(chromium, page_of_six):
    with tab_of(chromium, has_touch=True, is_mobile=True) as tab:
        six = Opened(tab, page_of_six).open(390)
        six.one("#graph-svg").scroll_into_view_if_needed()
        x, y = six.disc(4)
        # Fingers are not exact.
        six.page.touchscreen.tap(x - 10, y + 10)
        assert six.chosen() == 4
        assert tab.overflow() <= 0


# Many labels


def check_numbers(page, counts=(4,)):
    """Compare conditional probabilities of many labels with the model's."""
    rng = np.random.default_rng(0)
    rows, n_labels = page.shown_rows(), len(page.names)
    page.one("#known-more").click()
    for count in counts:
        k = int(rng.integers(len(rows)))
        page.one("#known-row").select_option(str(k))
        page.run("() => document.getElementById('known-clear').click()")
        known = np.full((1, n_labels), np.nan)
        for label in rng.permutation(n_labels)[:count]:
            known[0, label] = rng.integers(2)
            page.know(int(label), int(known[0, label]))
        row = page.written.X[[rows[k]]]
        wanted = page.model.predict_proba(row, known=known)[0]
        assert np.abs(wanted - page.model.predict_proba(row)[0]).max() > 0.01
        np.testing.assert_allclose(page.probabilities(), wanted, atol=1e-6, rtol=0)
        asked = int(page.one("#known-next").get_attribute("data-label"))
        assert [page.model.label_names_[asked]] == ask(page.model, row, known, k=1)[0]


def check_long_table(page):
    """All rows are there, and stay there when they are sorted."""
    page.open()
    filled = page.one("#quality-table tbody:not([data-filling])")
    page.one("#quality-table .more").click()
    filled.wait_for()
    page.one("#quality-table thead button").nth(1).click()
    filled.wait_for()
    assert filled.locator("tr").count() == len(page.names)


def test_many_labels_are_answered_exactly(many):
    """How fast: benchmarks/explorer.py."""
    check_long_table(many)
    check_numbers(many)
    assert many.path.stat().st_size < 5_000_000


def test_pictures_of_the_page(six, tmp_path):
    directory = Path(os.environ.get("HOMI_SHOTS", tmp_path))
    for width, scheme in ((1280, "light"), (390, "dark")):
        six.open(width, scheme)
        path = directory / f"explorer-{width}-{scheme}.png"
        six.page.screenshot(path=path)
        assert path.stat().st_size > 10_000
