"""The page in a real browser: it asks for nothing, sorts, filters, fits, is readable.

Pictures of it are kept where ``HOMI_SHOTS`` says, for a person to look at.
"""

import io
import itertools
import os
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from browser import tab_of
from homi.benchmark.tables import NOT_RUN, Entry, Table
from homi.report import Listing, Page, Picture, Prose, Section, write

#: Data sets of the paper: enough columns to be wider than a phone.
DATASETS = ["emotions", "birds", "yeast", "scene", "enron", "medical", "corel5k"]

SCORES = {
    "ECC": "0.205 ± 0.023 ●",
    "BR": "0.30 ± 0.010 ●",
    "ML-KNN": NOT_RUN,
    "WRAP†": "1,204.5",
    "MLSF†": "−0.5 ± 0.100 ○",
    "LFLC†": "–",
    "BILAS†": "0.0211 ± 0.001 ●",
    "GLOCAL": "1e-3",
    "ML-LRC": "12 %",
    "CLML": "< 0.0001",
    "HOMI": "0.199 ± 0.018",
}

ASCENDING = ["MLSF†", "CLML", "GLOCAL", "BILAS†", "HOMI", "ECC", "BR", "ML-LRC"]
ASCENDING += ["WRAP†"]
#: Cells without a number, which come last in whichever direction.
LAST = {"ML-KNN", "LFLC†"}


def table():
    rows = [
        (Entry(name), *(Entry(text, best=name == "HOMI") for _ in DATASETS))
        for name, text in SCORES.items()
    ]
    return Table("Hamming loss, clean", ("method", *DATASETS), tuple(rows))


def sizes():
    rows = [("yeast", "2417"), ("scene", "2407"), ("birds", "645"), ("eurlex", "19348")]
    rows += [("a data set whose name is long-winded enough to break", "7")]
    entries = tuple(tuple(map(Entry, row)) for row in rows)
    return Table("Rows of the data sets", ("data set", "rows"), entries)


def plot():
    figure = Figure(figsize=(7, 3.5), layout="constrained")
    axes = figure.add_subplot()
    axes.bar(range(3), [3, 2, 1])
    axes.set_xticks(range(3), ["<a>", "b & c", "λ"])
    axes.set_ylabel("average rank")
    text = io.StringIO()
    figure.savefig(text, format="svg")
    return Picture(
        "ranks", "Average **ranks**.", text.getvalue(), b"%PDF", "Three bars"
    )


def report():
    long = "a_name_of_a_setting_that_is_longer_than_any_telephone_is_wide" * 2
    lead = "Every number of the paper beside the one measured, see [ranks](#ranks)."
    losses = Section(
        "Hamming loss",
        (
            Prose(f"**Smaller** is better & `{long}` <is> [a link](https://a.b)."),
            Listing("hamming", table(), "● HOMI is at least as good, ○ it is worse."),
            Listing("sizes", sizes()),
        ),
    )
    results = Section("Results", (Prose("One table for each metric."), losses))
    more = [Section(f"Part {i}", (Prose("Some words. " * 60),)) for i in range(6)]
    return Page("HOMI: the report", lead, (results, Section("Ranks", (plot(),)), *more))


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return write(report(), tmp_path_factory.mktemp("report"))


@pytest.fixture
def shown(tab, index):
    """The page, freshly opened in a wide window."""
    return tab.open(index).page


def names(page, listing="table-hamming"):
    """The first cell of each row that is shown, from top to bottom."""
    cells = page.locator(f"#{listing} tbody tr > :first-child")
    texts = "cells => cells.filter(e => e.checkVisibility()).map(e => e.innerText)"
    return cells.evaluate_all(texts)


def visible(page, selector):
    """For each element, whether it is shown."""
    shown = "all => all.map(e => e.checkVisibility({ visibilityProperty: true }))"
    return page.locator(selector).evaluate_all(shown)


def header(page, column, listing="table-hamming"):
    return page.locator(f"#{listing} thead th").nth(column)


def direction(page, column):
    return header(page, column).get_attribute("aria-sort")


def sort_by(page, column):
    header(page, column).locator("button").click()


def type_filter(page, text):
    box = page.locator("#table-hamming .tools input")
    box.fill("")
    box.press_sequentially(text)
    return page.locator("#table-hamming .tools output").inner_text()


def edge(locator, side):
    return locator.evaluate("(e, side) => e.getBoundingClientRect()[side]", side)


def background(locator):
    return locator.evaluate("e => getComputedStyle(e).backgroundColor")


def test_nothing_is_requested_and_nothing_complains(tab, index):
    page = tab.open(index).page
    page.locator("thead button").first.click()
    assert set(tab.asked) == {index.as_uri()}
    assert tab.complaints == []


def test_numbers_sort_both_ways_and_back(shown):
    assert direction(shown, 2) == "none"
    sort_by(shown, 2)
    assert direction(shown, 2) == "ascending"
    assert names(shown)[:-2] == ASCENDING
    assert set(names(shown)[-2:]) == LAST
    sort_by(shown, 2)
    assert direction(shown, 2) == "descending"
    assert names(shown)[:-2] == ASCENDING[::-1]
    assert set(names(shown)[-2:]) == LAST
    sort_by(shown, 2)
    assert direction(shown, 2) == "none"
    assert names(shown) == list(SCORES)


def test_words_sort_by_the_keyboard_and_one_column_at_a_time(shown):
    sort_by(shown, 1)
    header(shown, 0).locator("button").press("Enter")
    assert names(shown) == sorted(SCORES, key=str.lower)
    assert direction(shown, 0) == "ascending"
    assert direction(shown, 1) == "none"
    assert names(shown, "table-sizes")[:3] == ["yeast", "scene", "birds"]


def test_a_filter_keeps_rows_with_all_words(shown):
    assert shown.locator("#table-hamming .tools output").inner_text() == "11 rows"
    assert type_filter(shown, "† 0.") == "2 of 11 rows"
    assert names(shown) == ["MLSF†", "BILAS†"]
    assert type_filter(shown, "homi") == "1 of 11 rows"
    assert names(shown) == ["HOMI"]
    assert type_filter(shown, "no such row") == "0 of 11 rows"
    assert names(shown) == []
    assert len(names(shown, "table-sizes")) == 5
    type_filter(shown, " ")
    assert names(shown) == list(SCORES)


def test_what_is_filtered_out_stays_out_when_sorted(shown):
    type_filter(shown, "●")
    sort_by(shown, 1)
    assert names(shown) == ["BILAS†", "ECC", "BR"]


def test_the_best_is_bold(shown):
    bold = shown.locator("#table-hamming td strong")
    shown_as = SCORES["HOMI"].replace("± ", "±\u00a0")
    assert bold.all_inner_texts() == [shown_as] * len(DATASETS)
    assert int(bold.first.evaluate("e => getComputedStyle(e).fontWeight")) >= 600


@pytest.mark.parametrize("width", [1280, 390, 320])
def test_the_page_never_scrolls_sideways_but_a_wide_table_does(tab, index, width):
    page = tab.open(index, width).page
    assert tab.overflow() == 0
    box = page.locator("#table-hamming .scroll")
    moved = box.evaluate("e => { e.scrollLeft = 200; return e.scrollLeft }")
    assert moved > 0 or width == 1280
    first = page.locator("#table-hamming tbody th").first
    assert abs(edge(first, "left") - edge(box, "left")) <= 2


def test_names_and_deviations_of_a_wide_table_stay_whole(tab, index):
    """Every name is on one line, and a deviation has its sign on its own line."""
    shown = tab.open(index, 600).page
    lines = """cell => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return new Set([...range.getClientRects()].map(e => Math.round(e.top))).size;
    }"""
    assert shown.locator("#table-hamming table.wide").count() == 1
    for cell in shown.locator("#table-hamming tbody th").all():
        assert cell.evaluate(lines) == 1
    first = shown.locator("#table-hamming tbody td").first
    assert first.evaluate("e => e.textContent") == "0.205 ±\u00a00.023 ●"


def test_on_a_phone_only_long_names_break_into_lines(tab, index):
    page = tab.open(index, 390).page
    short = page.locator("#table-sizes tbody th").first.bounding_box()
    long = page.locator("#table-sizes tbody th").last.bounding_box()
    assert short["height"] < 40 < long["height"]
    assert long["width"] < 160


def test_the_contents_stay_in_sight_and_lead_to_their_sections(shown):
    shown.locator("nav a[href='#part-4']").click()
    assert 0 <= edge(shown.locator("#part-4"), "top") < 900
    assert abs(edge(shown.locator("nav"), "top")) < 1
    assert shown.url.endswith("#part-4")


def test_on_a_phone_the_contents_fold_and_do_not_cover_the_heading(tab, index):
    page = tab.open(index, 390).page
    link = page.locator("nav a[href='#part-2']")
    assert not link.is_visible()
    page.locator("nav summary").click()
    link.click()
    assert not link.is_visible()
    assert (
        0 < edge(page.locator("nav"), "bottom") <= edge(page.locator("#part-2"), "top")
    )


def test_the_keyboard_reaches_everything(shown):
    active = (
        "() => [document.activeElement.localName, document.activeElement.className]"
    )
    seen = []
    for _ in range(40):
        shown.keyboard.press("Tab")
        seen.append(tuple(shown.evaluate(active)))
    assert seen[0] == ("a", "skip")
    assert {"summary", "input", "button"} <= {tag for tag, _ in seen}
    assert ("div", "scroll") in seen


def test_in_the_dark_the_page_is_dark_and_drawings_lie_on_light(tab, index):
    page = tab.open(index, scheme="dark").page
    assert background(page.locator(".card")) == "rgb(255, 255, 255)"
    assert background(page.locator("body")) == "rgb(20, 24, 29)"


def test_on_paper_there_are_only_contents_to_read(tab, index):
    page = tab.open(index, 700, "dark").page
    page.emulate_media(media="print", color_scheme="dark")
    shown = visible(page, "nav, .tools, .skip")
    assert len(shown) > 2
    assert not any(shown)
    assert len(names(page)) == len(SCORES)
    assert tab.overflow() == 0
    assert background(page.locator("body")) == "rgb(255, 255, 255)"


def test_without_scripts_everything_is_there(chromium, index):
    with tab_of(chromium, java_script_enabled=False) as tab:
        page = tab.open(index, 390).page
        assert page.locator("thead button, .tools, .scripted").count() == 0
        parts = visible(page, "nav a, h1, h2, h3, main p, figcaption, svg, th, td")
        assert len(parts) > 120
        assert all(parts)
        assert names(page) == list(SCORES)
        assert tab.overflow() == 0


def test_pictures_of_the_page(tab, index, tmp_path):
    directory = Path(os.environ.get("HOMI_SHOTS", tmp_path))
    for width, scheme in itertools.product([1280, 390], ["light", "dark"]):
        path = directory / f"report-{width}-{scheme}.png"
        tab.open(index, width, scheme).page.screenshot(path=path)
        assert path.stat().st_size > 10_000


def test_the_paper_of_a_quick_run(tab, quick_run):
    """The real report: it asks for nothing, and its tables sort and filter."""
    index = quick_run / "report" / "index.html"
    page = tab.open(index).page
    listing = "table-table-3-clean"
    before = names(page, listing)
    page.locator(f"#{listing} thead button").nth(1).click()
    after = names(page, listing)
    assert sorted(after) == sorted(before) != after
    # Three methods ran; those without a number come last.
    assert set(after[:3]) == {"HOMI", "ML-KNN", "GLOCAL"}
    page.locator(f"#{listing} .tools input").press_sequentially("glocal")
    assert names(page, listing) == ["GLOCAL"]
    assert tab.overflow() <= 0
    pictures = page.locator("figure svg").all()
    assert len(pictures) == len(list((quick_run / "report/figures").glob("*.svg"))) > 9
    assert all(picture.bounding_box()["width"] > 100 for picture in pictures)
    assert set(tab.asked) == {index.as_uri()}
