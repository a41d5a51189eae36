"""How fast the label explorer is written, opens and answers, in headless Chromium.

Every action is a real one: the mouse is moved, pressed and released on a disc, keys are
pressed on the slider and in the search. The clock starts with the time that the browser
gives the event (for an opening: with the navigation) and stops at the second animation
frame after it: the first draws the answer, and when the second comes it is done. The
rest of a matrix or a long list may come in the frames that follow. Processor time is of
the thread in which the page runs and of nothing else, until the second frame and until
all is done: on a busy machine it says what the page takes.

With ``--models DIR``, models are read from there, or fitted and kept there: that of
delicious takes minutes.
"""

from __future__ import annotations

import argparse
import io
import os
import platform
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from PIL import Image
from playwright.sync_api import Browser, CDPSession, Locator, Page, sync_playwright
from sklearn.feature_extraction.text import TfidfVectorizer

from homi import HOMICV
from homi.atomic_write import whole_file
from homi.datasets import load
from homi.explorer import facts, write
from homi.explorer.pack import packed
from homi.io import load_model, save

#: Options of each HOMICV; "python-functions-40" has its 40 most frequent labels.
MODELS: dict[str, dict[str, Any]] = {
    "emotions": {},
    "python-functions-40": {},
    "CAL500": {},
    "delicious": {"widths": [], "trees": False},
}

#: Pictures of the documentation.
PICTURES = {
    "emotions": "explorer_6.png",
    "python-functions-40": "explorer_40.png",
    "CAL500": "explorer.png",
    "delicious": "explorer_983.png",
}

#: Most kilobytes of each part of the page, and of all together.
BUDGET = {
    "labels": 50,
    "pairs": 1900,
    "known": 1900,
    "rows": 1200,
    "audit": 50,
    "quality": 300,
    "all": 5000,
}

#: What a new page does once -> the button, which is there if not all are shown.
ONCE = {
    "show all labels to know": "#known-more",
    "show the quality of all labels": "#quality-table .more",
}

#: Milliseconds that an opening and an answer may take.
OPENING, ANSWER = 3000, 100

#: Asked for by the page before its own scripts run: when each action was answered.
CLOCK = """
window.answered = [];
const twoFrames = (since, kind) =>
  requestAnimationFrame(() => requestAnimationFrame(() =>
    window.answered.push([kind, performance.now() - since])));
for (const kind of ['click', 'keydown']) {
  addEventListener(kind, (event) => twoFrames(event.timeStamp, kind), true);
}
addEventListener('DOMContentLoaded', () => twoFrames(0, 'opening'));
"""

ANSWERED = """kind => new Promise((done) => {
  const look = () => {
    const found = window.answered.find((answer) => answer[0] === kind);
    if (found) done(found[1]);
    else setTimeout(look, 5);
  };
  look();
})"""


class Times(NamedTuple):
    """Milliseconds: until the second frame, of processor time until it, and in all."""

    waited: float
    answered: float
    busy: float


class Watched:
    """A page whose answers are timed."""

    def __init__(self, browser: Browser, path: Path) -> None:
        self.context = browser.new_context(viewport={"width": 1280, "height": 900})
        self.page: Page = self.context.new_page()
        self.page.add_init_script(CLOCK)
        self.session: CDPSession = self.context.new_cdp_session(self.page)
        self.session.send("Performance.enable", {"timeDomain": "threadTicks"})
        self.page.goto(path.as_uri())

    def busy(self) -> float:
        """Milliseconds of processor time that the page has taken."""
        metrics = self.session.send("Performance.getMetrics")["metrics"]
        return {m["name"]: 1000 * m["value"] for m in metrics}["TaskDuration"]

    def answer(self, kind: str) -> float:
        return self.page.evaluate(ANSWERED, kind)

    def timed(self, target: Locator, key: str = "") -> Times:
        """Press a key on an element, or click on it, and return the times of that."""
        target.scroll_into_view_if_needed()
        if key:
            target.focus()
        box = target.bounding_box()
        assert box is not None
        # Nothing is left to do when the clock starts: no scrolling, no long list.
        self.page.wait_for_timeout(300)
        self.page.evaluate("() => { window.answered.length = 0 }")
        before = self.busy()
        if key:
            self.page.keyboard.press(key)
        else:
            self.page.mouse.click(
                box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            )
        waited, answered = self.answer("keydown" if key else "click"), self.busy()
        self.page.wait_for_timeout(600)
        return Times(waited, answered - before, self.busy() - before)

    def show_all(self, button: str) -> Times | None:
        """Press a button that shows all of a list, and return its times."""
        found = self.page.locator(button)
        return self.timed(found) if found.is_visible() else None


def actions(page: Page) -> dict[str, tuple[Callable[[int], Locator], list[str]]]:
    """Each action: its k-th element, and keys to press, or none for a click."""
    known, discs = page.locator("#known-list button"), page.locator("#graph-svg circle")
    n_discs, slides = discs.count(), ["PageDown", "Home", "PageUp", "End", "ArrowLeft"]

    def one(selector: str) -> Callable[[int], Locator]:
        return lambda k: page.locator(selector)

    def each(selector: str, first: int = 0) -> Callable[[int], Locator]:
        """Each element in turn, again from the first one."""
        found = page.locator(selector)
        return lambda k: found.nth((first + k) % found.count())

    def yes(first: int) -> Callable[[int], Locator]:
        return lambda k: known.nth(2 * min(first + k, n_discs - 1))

    letters = list("eaotin")
    return {
        "click on a label": (lambda k: discs.nth((37 * k + 5) % n_discs), []),
        "key on the slider of edges": (one("#edges"), slides),
        "letter in the search": (one("#search"), letters),
        "another relation": (each("#relations button", 1), []),
        "zoom": (each("#closer, #farther"), []),
        "arrow key in the graph": (
            one("#graph-svg"),
            ["ArrowRight", "ArrowDown", "ArrowUp"],
        ),
        "known label, yes": (yes(0), []),
        "another row, its known labels": (one("#known-row"), ["ArrowDown"]),
        "known label, yes, of all that are shown": (yes(9), []),
        "letter in the search of known labels": (one("#known-filter"), letters),
        "open a row": (each("#rows-table .open"), []),
        "sort rows": (each("#rows-table thead button"), []),
        "letter in the search of rows": (one("#rows-search"), letters),
        "sort labels by quality": (each("#quality-table thead button"), []),
        "sort labels by quality, all that are shown": (
            each("#quality-table thead button"),
            [],
        ),
        "key on the threshold": (one("#threshold"), slides),
        "key of the audit": (one("#audit-list"), ["a", "r"]),
    }


#: Action -> the button that shows all of its list before.
SHOWN_BEFORE = {
    "known label, yes, of all that are shown": "#known-more",
    "sort labels by quality, all that are shown": "#quality-table .more",
}


def measure(browser: Browser, path: Path, repeats: int) -> dict[str, list[Times]]:
    """Return the times of an opening and of each action."""
    times: dict[str, list[Times]] = {"opening": []}
    for _ in range(repeats):
        watched = Watched(browser, path)
        waited, answered = watched.answer("opening"), watched.busy()
        watched.page.wait_for_timeout(1500)
        times["opening"].append(Times(waited, answered, watched.busy()))
        for name, button in ONCE.items():
            if found := watched.show_all(button):
                times.setdefault(name, []).append(found)
        watched.context.close()
    watched = Watched(browser, path)
    watched.page.wait_for_timeout(1500)
    for name, (element, keys) in actions(watched.page).items():
        if name == "letter in the search":
            watched.page.locator("#search").fill("")
        if name in SHOWN_BEFORE:
            watched.show_all(SHOWN_BEFORE[name])
        times[name] = [
            watched.timed(element(k), keys[k % len(keys)] if keys else "")
            for k in range(repeats)
        ]
        watched.page.evaluate("() => scrollTo(0, 0)")
    watched.context.close()
    return times


def labeled_rows(name: str) -> tuple[Any, pd.DataFrame]:
    """Rows of a data set, and labels with their names."""
    first, _, most = name.rpartition("-")
    most = most if most.isdecimal() else ""
    X, Y, _, label_names = load(first if most else name)
    if X.ndim == 1:
        X = TfidfVectorizer(sublinear_tf=True, min_df=2).fit_transform(X)
    labels = pd.DataFrame(Y, columns=label_names)
    if most:
        kept = labels.sum().sort_values(kind="stable").index[-int(most) :]
        labels = labels[[name for name in labels if name in set(kept)]]
    return X, labels


def fitted(name: str, models: Path | None) -> Any:
    """The model of a data set: read, or fitted and kept."""
    if models is not None and (models / f"{name}.homi").exists():
        return load_model(models / f"{name}.homi")
    model = HOMICV(**MODELS[name]).fit(*labeled_rows(name))
    if models is not None:
        save(model, models / f"{name}.homi")
    return model


def write_page(
    name: str, directory: Path, models: Path | None
) -> tuple[Path, float, tuple[int, int], dict[str, float]]:
    """The page of a data set, seconds to write it, rows and labels, kB of parts."""
    X, Y = labeled_rows(name)
    model = fitted(name, models)
    started = time.process_time()
    known = facts(model, X, Y)
    path = write(known, directory / f"{name}.html", name)
    taken = time.process_time() - started
    parts = {part: len(text) / 1e3 for part, text in packed(known).items()}
    parts["all"] = path.stat().st_size / 1e3
    return path, taken, Y.shape, parts


def picture(browser: Browser, path: Path, target: Path) -> None:
    """A small picture of the graph, with its most central label chosen."""
    context = browser.new_context(viewport={"width": 1280, "height": 1500})
    page = context.new_page()
    page.goto(path.as_uri())
    page.locator("html[data-complete]").wait_for(state="attached")
    page.locator("#groups button").first.click()
    page.mouse.move(0, 0)
    raw = page.locator("#labels > .beside").screenshot()
    context.close()
    image = Image.open(io.BytesIO(raw)).convert("RGB")
    image = image.quantize(64, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    image.save(target, optimize=True)


def row(name: str, action: str, times: list[Times]) -> str:
    columns = list(zip(*times, strict=True))
    limit = OPENING if action == "opening" else ANSWER
    verdict = "yes" if statistics.median(columns[0]) < limit else "NO"
    cells = [f"{statistics.median(c):.0f} ({max(c):.0f})" for c in columns]
    return f"| {name} | {action} | {' | '.join(cells)} | < {limit}: {verdict} |"


def table(pages: dict[str, tuple], times: dict[str, dict[str, list[Times]]]) -> str:
    lines = ["| data | rows | labels | written in, s |", "|" + " --- |" * 4]
    lines += [
        f"| {name} | {shape[0]:,} | {shape[1]} | {seconds:.2f} |"
        for name, (_, seconds, shape, _) in pages.items()
    ]
    lines += ["", f"| part, kB | budget | {' | '.join(pages)} |"]
    lines += ["|" + " --- |" * (2 + len(pages))]
    for part, most in BUDGET.items():
        sizes = [parts[part] for *_, parts in pages.values()]
        cells = [f"{size:.0f}" if size < most else f"{size:.0f}: NO" for size in sizes]
        lines.append(f"| {part} | {most} | {' | '.join(cells)} |")
    lines += [
        "",
        "| data | what | until the second frame, ms | processor time until it, ms "
        "| processor time in all, ms | goal |",
    ]
    lines += ["|" + " --- |" * 6]
    for name, actions_ in times.items():
        lines += [row(name, action, found) for action, found in actions_.items()]
    return "\n".join(lines)


def page_text(body: str, browser: str, repeats: int, loads: list[float]) -> str:
    return f"""# How fast the label explorer is

Written by `python benchmarks/explorer.py`: medians of {repeats} and, in brackets, the
worst. Chromium {browser}, headless, without a graphics card,
1280 × 900 pixels, Python {platform.python_version()}; {os.cpu_count()} cores, with
a load of {loads[0]:.1f} before and {loads[1]:.1f} after, this measurement included.

Actions are real mouse and key events. The clock starts at the browser's time stamp of
the event (for opening: at the navigation, in a new context, from a local file) and
stops at the second animation frame after it, when the first is on the screen. Processor
time is that of the page's thread, and none of other programs: until the second frame,
and until 0.6 s later, with what later frames draw. Writing a page is processor time of
`explain`, without the fit. The parts of a page are compressed and in base64; "all" has
the script and style, too.

{body}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="*", default=list(MODELS), choices=MODELS)
    parser.add_argument("--repeats", type=int, default=9, metavar="N")
    parser.add_argument("--output", type=Path, help="a Markdown file to write")
    parser.add_argument("--models", type=Path, help="directory of model files")
    parser.add_argument("--pictures", type=Path, help="directory of pictures to write")
    options = parser.parse_args()
    command = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None
    )
    if command is None:
        parser.exit(1, "No Chromium is installed; `make browser` installs it.\n")
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    loads = [os.getloadavg()[0]]
    with tempfile.TemporaryDirectory() as directory, sync_playwright() as playwright:
        pages = {
            name: write_page(name, Path(directory), options.models)
            for name in options.data
        }
        browser = playwright.chromium.launch(executable_path=command, args=flags)
        times = {
            name: measure(browser, page[0], options.repeats)
            for name, page in pages.items()
        }
        if options.pictures:
            for name, page in pages.items():
                picture(browser, page[0], options.pictures / PICTURES[name])
        version = browser.version
        browser.close()
        loads.append(os.getloadavg()[0])
        body = table(pages, times)
    print(body)
    if options.output:
        text = page_text(body, version, options.repeats, loads)
        with whole_file(options.output) as unfinished:
            unfinished.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
