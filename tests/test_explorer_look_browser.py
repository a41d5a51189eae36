"""The label explorer in a real browser: it fits, can be read, and is quick.

Pictures of it are kept where ``HOMI_SHOTS`` says, for a person to look at.
"""

import itertools
import os
from pathlib import Path

import numpy as np
import pytest

from browser import tab_of
from explorer_pages import LABELS, Opened, Written, extremes
from homi import HOMI
from homi.explorer import explain


@pytest.mark.parametrize("width", [1280, 390, 320])
def test_the_page_fits_its_window(six, width):
    six.open(width)
    six.look_for(LABELS[5], "Enter")
    assert six.tab.overflow() <= 0
    card, graph = (six.one(part).bounding_box() for part in ("#card", "#graph"))
    beside = card["x"] >= graph["x"] + graph["width"]
    assert beside == (width == 1280)
    if not beside:
        matrix = six.one("#matrix").bounding_box()
        assert graph["y"] < card["y"] < matrix["y"]


NAMES = ["paper", "panel", "ink", "soft", "accent", "raise", "lower", "tint"]


def colours(page):
    """The colours of the style sheet, as red, green, blue."""
    read = """names => { const style = getComputedStyle(document.documentElement);
        return names.map(name => style.getPropertyValue('--' + name).trim()) }"""
    return {
        name: np.array([int(text[at : at + 2], 16) for at in (1, 3, 5)])
        for name, text in zip(NAMES, page.run(read, NAMES), strict=True)
    }


def linear(colour):
    """Of sRGB, light as it adds up."""
    share = np.asarray(colour) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    """As in WCAG 2: 4.5 is enough for text, 3 for lines and bars."""
    low, high = sorted(linear(c) @ [0.2126, 0.7152, 0.0722] for c in (one, other))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_and_lines_stand_out(six, scheme):
    six.open(1280, scheme)
    for _ in range(2):
        seen = colours(six)
        for ground in ("paper", "panel", "tint"):
            for text in ("ink", "soft", "accent"):
                assert contrast(seen[text], seen[ground]) >= 4.5, (text, ground)
        for line in ("raise", "lower"):
            assert contrast(seen[line], seen["panel"]) >= 3, line
        six.one("#palette").click()


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
    """How far apart two colours are in hue, to eyes without one kind of cones."""

    def seen(colour):
        light = np.clip(np.array(DEFICIENCIES[deficiency]) @ linear(colour), 0, None)
        return (np.array(TO_OKLAB) @ np.cbrt(np.array(TO_CONES) @ light))[1:]

    return np.hypot(*(seen(one) - seen(other)))


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_safe_palette_is_safe(six, scheme, deficiency):
    six.open(1280, scheme)
    paper = colours(six)
    six.one("#palette").click()
    safe = colours(six)
    apart = hue_apart(safe["raise"], safe["lower"], deficiency)
    assert apart > 0.15
    assert apart > 2 * hue_apart(paper["raise"], paper["lower"], deficiency)


def near(pixels, colour):
    """How many pixels are of a colour."""
    apart = np.abs(pixels[..., :3] - colour).max(axis=-1)
    return np.sum((apart < 4) & (pixels[..., 3] > 100))


def test_colours_follow_the_scheme_and_the_palette(six):
    backgrounds, seen = [], set()
    for scheme in ("light", "dark"):
        six.open(1280, scheme)
        paper = colours(six)["raise"]
        assert near(six.pixels(), paper) > 200
        six.one("#palette").click()
        safe = colours(six)["raise"]
        drawn = six.pixels()
        assert near(drawn, safe) > 200
        assert near(drawn, paper) < 20
        seen |= {tuple(paper), tuple(safe)}
        body = "() => getComputedStyle(document.body).backgroundColor"
        backgrounds.append(six.run(body))
    assert len(seen) == 4
    assert backgrounds == ["rgb(246, 247, 249)", "rgb(18, 22, 27)"]


def test_the_keyboard_reaches_everything_and_shows_where_it_is(six):
    six.open()
    focused = """() => { const e = document.activeElement;
        return [e.id || e.className || e.tagName, getComputedStyle(e).outlineStyle] }"""
    seen = {}
    for _ in range(24):
        six.page.keyboard.press("Tab")
        name, outline = six.run(focused)
        seen[name] = outline
    assert {"skip", "search", "palette", "weakest", "graph-canvas", "raw"} <= set(seen)
    assert set(seen.values()) == {"solid"}
    unnamed = """all => all.filter(e => !(e.textContent.trim()
        || e.getAttribute('aria-label') || e.labels?.length)).length"""
    assert six.one("button, input, select, canvas").evaluate_all(unnamed) == 0


def test_on_paper_tables_are_whole(many):
    many.open()
    hidden = """all => all.map(e => e.scrollHeight - e.clientHeight)
        .filter(pixels => pixels > 1).length"""
    assert many.one(".scroll").evaluate_all(hidden) > 0
    many.page.emulate_media(media="print")
    assert many.one(".scroll").evaluate_all(hidden) == 0


def test_a_finger_chooses_a_label(chromium, page_of_six):
    with tab_of(chromium, has_touch=True, is_mobile=True) as tab:
        six = Opened(tab, page_of_six).open(390)
        x, y = six.at("#graph-canvas", *six.disc(4))
        # Fingers are not exact.
        six.page.touchscreen.tap(x + 16, y + 16)
        assert six.chosen() == 4
        assert tab.overflow() <= 0


def check_speed(page):
    """The best of some turns, in processor time of the page: not what others take."""
    session = page.tab.context.new_cdp_session(page.page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def busy():
        metrics = session.send("Performance.getMetrics")["metrics"]
        return {m["name"]: 1000 * m["value"] for m in metrics}["TaskDuration"]

    def taken(action):
        before = busy()
        action()
        page.run("() => new Promise(d => requestAnimationFrame(() => setTimeout(d)))")
        return busy() - before

    opening = []
    for _ in range(2):
        page.open()
        opening.append(float(page.run("() => document.documentElement.dataset.ready")))
    assert min(opening) < 3000
    clicks = []
    for label in range(100, 104):
        place = page.at("#graph-canvas", *page.disc(label))
        clicks.append(taken(lambda place=place: page.page.mouse.click(*place)))
        assert page.chosen() >= 0
    assert min(clicks) < 100
    slides = [taken(lambda v=v: page.one("#weakest").fill(v)) for v in ("500", "0")]
    assert min(slides) < 100
    page.look_for(page.names[107])
    assert taken(lambda: page.one("#search").press("Enter")) < 100
    wanted = extremes(page.B[:, 107], 107, 1)
    assert page.listed("Raised by") == pytest.approx(wanted, abs=1e-4)


def test_many_labels_open_and_answer_at_once(many):
    check_speed(many)


@pytest.mark.slow
def test_delicious_opens_and_answers_at_once(tab, data, tmp_path):
    X, Y, feature_names, label_names = data("delicious")
    model = HOMI(n_neighbors=2).fit(X, Y)
    names = {"label_names": label_names, "feature_names": feature_names}
    path = explain(model, tmp_path / "delicious.html", X, Y, **names)
    assert path.stat().st_size < 6_000_000
    page = Opened(tab, Written(model, path, label_names))
    check_speed(page)
    assert tab.overflow() <= 0


def test_pictures_of_the_page(six, tmp_path):
    directory = Path(os.environ.get("HOMI_SHOTS", tmp_path))
    for width, scheme in itertools.product([1280, 390], ["light", "dark"]):
        six.open(width, scheme)
        path = directory / f"explorer-{width}-{scheme}.png"
        six.page.screenshot(path=path)
        assert path.stat().st_size > 10_000
