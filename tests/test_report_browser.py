"""The page in a real browser: it asks for nothing, sorts, filters, fits, is readable.

Pictures of it are kept where ``HOMI_SHOTS`` says, for a person to look at.
"""

import contextlib
import io
import json
import os
import shutil
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from homi.benchmark import runner
from homi.benchmark.experiment_file import read_experiment
from homi.benchmark.tables import NOT_RUN, Entry, Table
from homi.report import Listing, Page, Picture, Prose, Section, write
from homi.report.paper import paper_page

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")

WHY = "no browser to try; `make browser` installs chromium and selenium"
webdriver = pytest.importorskip("selenium.webdriver", reason=WHY)
Keys = pytest.importorskip("selenium.webdriver.common.keys", reason=WHY).Keys
if not (BROWSER and DRIVER):
    pytest.skip(WHY, allow_module_level=True)

CSS = "css selector"

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]

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


@contextlib.contextmanager
def browser(profile, *, scripts=True):
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in [*FLAGS, f"--user-data-dir={profile}"]:
        options.add_argument(flag)
    options.set_capability(
        "goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"}
    )
    if not scripts:
        blocked = {"profile.managed_default_content_settings.javascript": 2}
        options.add_experimental_option("prefs", blocked)
    driver = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))
    try:
        yield driver
    finally:
        driver.quit()


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return write(report(), tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SE_OFFLINE", "true")
        with browser(tmp_path_factory.mktemp("profile")) as driver:
            yield driver


@pytest.fixture
def shown(chromium, index):
    """The page, freshly opened in a wide window."""
    resize(chromium, 1280)
    chromium.get(index.as_uri())
    return chromium


def resize(driver, width, scheme="light"):
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})


def find(driver, selector):
    return driver.find_elements(CSS, selector)


def names(driver, listing="table-hamming"):
    """The first cell of each row that is shown, from top to bottom."""
    cells = find(driver, f"#{listing} tbody tr > :first-child")
    return [cell.text for cell in cells if cell.is_displayed()]


def header(driver, column, listing="table-hamming"):
    return find(driver, f"#{listing} thead th")[column]


def type_filter(driver, text):
    (box,) = find(driver, "#table-hamming .tools input")
    box.clear()
    box.send_keys(text)
    return find(driver, "#table-hamming .tools output")[0].text


def overflow(driver):
    """Pixels by which the page is wider than its window."""
    script = "const e = document.documentElement; return e.scrollWidth - e.clientWidth"
    return driver.execute_script(script)


def requests(driver):
    """The addresses that the page asked for since the log was last read."""
    messages = [
        json.loads(e["message"])["message"] for e in driver.get_log("performance")
    ]
    sent = [m["params"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    return [params["request"]["url"] for params in sent]


def test_nothing_is_requested_and_nothing_complains(chromium, index):
    chromium.get("about:blank")
    requests(chromium), chromium.get_log("browser")
    chromium.get(index.as_uri())
    find(chromium, "thead button")[0].click()
    asked = {url for url in requests(chromium) if not url.startswith("data:")}
    assert asked == {index.as_uri()}
    assert chromium.get_log("browser") == []


def test_numbers_sort_both_ways_and_back(shown):
    cell = header(shown, 2)
    (button,) = cell.find_elements(CSS, "button")
    assert cell.get_attribute("aria-sort") == "none"
    button.click()
    assert cell.get_attribute("aria-sort") == "ascending"
    assert names(shown)[:-2] == ASCENDING
    assert set(names(shown)[-2:]) == LAST
    button.click()
    assert cell.get_attribute("aria-sort") == "descending"
    assert names(shown)[:-2] == ASCENDING[::-1]
    assert set(names(shown)[-2:]) == LAST
    button.click()
    assert cell.get_attribute("aria-sort") == "none"
    assert names(shown) == list(SCORES)


def test_words_sort_by_the_keyboard_and_one_column_at_a_time(shown):
    header(shown, 1).find_element(CSS, "button").click()
    button = header(shown, 0).find_element(CSS, "button")
    button.send_keys(Keys.ENTER)
    assert names(shown) == sorted(SCORES, key=str.lower)
    assert header(shown, 0).get_attribute("aria-sort") == "ascending"
    assert header(shown, 1).get_attribute("aria-sort") == "none"
    assert names(shown, "table-sizes")[:3] == ["yeast", "scene", "birds"]


def test_a_filter_keeps_rows_with_all_words(shown):
    assert find(shown, "#table-hamming .tools output")[0].text == "11 rows"
    assert type_filter(shown, "† 0.") == "2 of 11 rows"
    assert names(shown) == ["MLSF†", "BILAS†"]
    assert type_filter(shown, "homi") == "1 of 11 rows"
    assert names(shown) == ["HOMI"]
    assert type_filter(shown, "no such row") == "0 of 11 rows"
    assert names(shown) == []
    assert len(names(shown, "table-sizes")) == 5
    type_filter(shown, Keys.SPACE)
    assert names(shown) == list(SCORES)


def test_what_is_filtered_out_stays_out_when_sorted(shown):
    type_filter(shown, "●")
    header(shown, 1).find_element(CSS, "button").click()
    assert names(shown) == ["BILAS†", "ECC", "BR"]


def test_the_best_is_bold(shown):
    weight = "return getComputedStyle(arguments[0]).fontWeight"
    bold = find(shown, "#table-hamming td strong")
    assert [cell.text for cell in bold] == [SCORES["HOMI"]] * len(DATASETS)
    assert int(shown.execute_script(weight, bold[0])) >= 600


@pytest.mark.parametrize("width", [1280, 390, 320])
def test_the_page_never_scrolls_sideways_but_a_wide_table_does(shown, width):
    resize(shown, width)
    shown.refresh()
    assert overflow(shown) == 0
    (box,) = find(shown, "#table-hamming .scroll")
    shown.execute_script("arguments[0].scrollLeft = 200", box)
    moved = shown.execute_script("return arguments[0].scrollLeft", box)
    assert moved == 200 or width == 1280
    first = find(shown, "#table-hamming tbody th")[0]
    assert abs(first.rect["x"] - box.rect["x"]) <= 2


def test_on_a_phone_only_long_names_break_into_lines(shown):
    resize(shown, 390)
    shown.refresh()
    short, *_ = find(shown, "#table-hamming tbody th")
    *_, long = find(shown, "#table-sizes tbody th")
    assert short.rect["height"] < 40 < long.rect["height"]
    assert long.rect["width"] < 160


def test_the_contents_stay_in_sight_and_lead_to_their_sections(shown):
    (link,) = find(shown, "nav a[href='#part-4']")
    link.click()
    (heading,) = find(shown, "#part-4")
    top = "return arguments[0].getBoundingClientRect().top"
    assert 0 <= shown.execute_script(top, heading) < 900
    assert abs(shown.execute_script(top, find(shown, "nav")[0])) < 1
    assert shown.current_url.endswith("#part-4")


def test_on_a_phone_the_contents_fold_and_do_not_cover_the_heading(shown):
    resize(shown, 390)
    shown.refresh()
    (link,) = find(shown, "nav a[href='#part-2']")
    assert not link.is_displayed()
    find(shown, "nav summary")[0].click()
    link.click()
    assert not link.is_displayed()
    bottom = "return arguments[0].getBoundingClientRect().bottom"
    top = "return arguments[0].getBoundingClientRect().top"
    bar = shown.execute_script(bottom, find(shown, "nav")[0])
    assert 0 < bar <= shown.execute_script(top, find(shown, "#part-2")[0])


def test_the_keyboard_reaches_everything(shown):
    seen = []
    for _ in range(40):
        shown.switch_to.active_element.send_keys(Keys.TAB)
        element = shown.switch_to.active_element
        seen.append((element.tag_name, element.get_attribute("class")))
    assert seen[0] == ("a", "skip")
    assert {"summary", "input", "button"} <= {tag for tag, _ in seen}
    assert ("div", "scroll") in seen


def test_in_the_dark_the_page_is_dark_and_drawings_lie_on_light(shown):
    resize(shown, 1280, "dark")
    colour = "return getComputedStyle(arguments[0]).backgroundColor"
    (body,) = find(shown, "body")
    (card,) = find(shown, ".card")
    assert shown.execute_script(colour, card) == "rgb(255, 255, 255)"
    assert shown.execute_script(colour, body) == "rgb(20, 24, 29)"


def test_on_paper_there_are_only_contents_to_read(shown):
    resize(shown, 700, "dark")
    shown.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert not any(e.is_displayed() for e in find(shown, "nav, .tools, .skip"))
    assert len(names(shown)) == len(SCORES)
    assert overflow(shown) == 0
    colour = "return getComputedStyle(document.body).backgroundColor"
    assert shown.execute_script(colour) == "rgb(255, 255, 255)"
    shown.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_without_scripts_everything_is_there(index, tmp_path, monkeypatch):
    monkeypatch.setenv("SE_OFFLINE", "true")
    with browser(tmp_path, scripts=False) as driver:
        resize(driver, 390)
        driver.get(index.as_uri())
        assert not find(driver, "thead button, .tools, .scripted")
        parts = find(driver, "nav a, h1, h2, h3, main p, figcaption, svg, th, td")
        assert len(parts) > 120
        assert all(part.is_displayed() for part in parts)
        assert names(driver) == list(SCORES)
        assert overflow(driver) == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_pictures_of_the_page(shown, tmp_path, width, scheme):
    resize(shown, width, scheme)
    shown.refresh()
    directory = Path(os.environ.get("HOMI_SHOTS", tmp_path))
    path = directory / f"report-{width}-{scheme}.png"
    assert shown.save_screenshot(str(path))
    assert path.stat().st_size > 10_000


def test_the_paper_of_a_quick_run(chromium, tmp_path):
    """The real report: it asks for nothing, and its tables sort and filter."""
    file = Path(__file__).parent.parent / "benchmarks" / "paper.toml"
    experiment = read_experiment(file).quickly()
    results = tmp_path / "results"
    assert runner.run(experiment, experiment.tasks(), results) == []
    index = write(paper_page(experiment, results), tmp_path / "report")
    resize(chromium, 1280)
    chromium.get("about:blank")
    requests(chromium), chromium.get_log("browser")
    chromium.get(index.as_uri())
    listing = "table-table-3-clean"
    before = names(chromium, listing)
    find(chromium, f"#{listing} thead button")[1].click()
    after = names(chromium, listing)
    assert sorted(after) == sorted(before) != after
    # Three methods ran; those without a number come last.
    assert set(after[:3]) == {"HOMI", "ML-KNN", "GLOCAL"}
    find(chromium, f"#{listing} .tools input")[0].send_keys("glocal")
    assert names(chromium, listing) == ["GLOCAL"]
    assert overflow(chromium) <= 0
    pictures = find(chromium, "figure svg")
    assert len(pictures) == len(list((tmp_path / "report/figures").glob("*.svg"))) > 9
    assert all(picture.size["width"] > 100 for picture in pictures)
    asked = {url for url in requests(chromium) if not url.startswith("data:")}
    assert asked == {index.as_uri()}
    assert chromium.get_log("browser") == []
