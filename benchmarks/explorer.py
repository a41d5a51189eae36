"""How fast the label explorer is written, opens and answers, in headless Chromium.

Every action is a real one: the mouse is moved, pressed and released on a disc, keys are
pressed on the slider and in the search. The clock starts with the time that the browser
gives the event (for an opening: with the navigation) and stops at the second animation
frame after it: the first draws the answer, and when the second comes it is done. Of
weaker arrows and long tables more may come in the frames that follow; processor time,
of the thread in which the page runs and of nothing else, has all of that in it.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from homi import HOMI
from homi.atomic_write import whole_file
from homi.datasets import load
from homi.explorer import explain

#: Hyper-parameters of each model; λ = 300 is that of docs/explaining.md.
MODELS: dict[str, dict[str, float]] = {
    "emotions": {"lam": 300.0},
    "yeast": {},
    "delicious": {"n_neighbors": 2},
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

    def timed(self, kind: str, action: Callable[[], Any]) -> tuple[float, float]:
        """Milliseconds until the second frame, and of processor time."""
        self.page.evaluate("() => { window.answered.length = 0 }")
        before = self.busy()
        action()
        waited = self.answer(kind)
        self.page.wait_for_timeout(400)
        return waited, self.busy() - before


def discs(page: Page, count: int) -> Iterator[tuple[float, float]]:
    """Where some labels stand in the window, far from each other in the list."""
    box = page.locator("#graph-canvas").bounding_box()
    assert box is not None
    width, height = box["width"], box["height"]
    places = page.evaluate(
        "() => JSON.parse(document.getElementById('facts').textContent).places"
    )
    side = min(84, 0.14 * width)
    for k in range(count):
        x, y = places[(37 * k + 5) % len(places)]
        yield (
            box["x"] + width / 2 + x * (width / 2 - side),
            box["y"] + height / 2 + y * (height / 2 - 44),
        )


def actions(page: Page, repeats: int) -> dict[str, tuple[str, list[Callable[[], Any]]]]:
    """What is done, the event that starts the clock, and how often."""
    slider, search = page.locator("#weakest"), page.locator("#search")
    spots = list(discs(page, repeats))

    def press(target: Any, keys: list[str]) -> list[Callable[[], Any]]:
        return [lambda key=key: target.press(key) for key in keys]

    slides = ["PageDown", "Home", "PageUp", "End", "ArrowLeft"]
    typed = list("eaotin")
    return {
        "click on a label": (
            "click",
            [lambda s=s: page.mouse.click(*s) for s in spots],
        ),
        "key on the slider": ("keydown", press(slider, (slides * repeats)[:repeats])),
        "letter in the search": ("keydown", press(search, (typed * repeats)[:repeats])),
        "matrix: raw, normalized": (
            "click",
            [
                page.locator(name).click
                for name in (["#normalized", "#raw"] * repeats)[:repeats]
            ],
        ),
        "color-blind palette": ("click", [page.locator("#palette").click] * repeats),
    }


def measure(browser: Browser, path: Path, repeats: int) -> dict[str, list[tuple]]:
    """Pairs of milliseconds: until the second frame, and of processor time."""
    times: dict[str, list[tuple]] = {"opening": []}
    for _ in range(repeats):
        watched = Watched(browser, path)
        waited = watched.answer("opening")
        times["opening"].append((waited, watched.busy()))
        watched.context.close()
    watched = Watched(browser, path)
    watched.page.wait_for_timeout(1500)
    for name, (kind, calls) in actions(watched.page, repeats).items():
        if name == "letter in the search":
            watched.page.locator("#search").fill("")
        times[name] = [watched.timed(kind, call) for call in calls]
        watched.page.evaluate("() => scrollTo(0, 0)")
    watched.context.close()
    return times


def write_page(name: str, directory: Path) -> tuple[Path, float, int]:
    """The page of a data set, the seconds that it took to write, and its labels."""
    X, Y, feature_names, label_names = load(name)
    model = HOMI(**MODELS[name]).fit(X, Y)
    started = time.process_time()
    path = explain(
        model,
        directory / f"{name}.html",
        X,
        Y,
        label_names=label_names,
        feature_names=feature_names,
    )
    assert isinstance(path, Path)
    return path, time.process_time() - started, len(label_names)


def row(name: str, action: str, pairs: list[tuple]) -> str:
    waits, busy = zip(*pairs, strict=True)
    limit = OPENING if action == "opening" else ANSWER
    verdict = "yes" if statistics.median(waits) < limit else "NO"
    return (
        f"| {name} | {action} | {statistics.median(waits):.0f} ({max(waits):.0f}) "
        f"| {statistics.median(busy):.0f} ({max(busy):.0f}) | < {limit}: {verdict} |"
    )


def table(pages: dict[str, tuple], times: dict[str, dict[str, list[tuple]]]) -> str:
    lines = ["| data | labels | file, MB | written in, s |", "|" + " --- |" * 4]
    lines += [
        f"| {name} | {labels} | {path.stat().st_size / 1e6:.2f} | {seconds:.2f} |"
        for name, (path, seconds, labels) in pages.items()
    ]
    lines += [
        "",
        "| data | what | until the second frame, ms | processor time, ms | goal |",
    ]
    lines += ["|" + " --- |" * 5]
    for name, actions_ in times.items():
        lines += [row(name, action, pairs) for action, pairs in actions_.items()]
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
time is that of the page's thread until 0.4 s after the event, which includes arrows
drawn in later frames. Writing a page is processor time of `explain`, without the fit.

{body}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="*", default=list(MODELS), choices=MODELS)
    parser.add_argument("--repeats", type=int, default=9, metavar="N")
    parser.add_argument("--output", type=Path, help="a Markdown file to write")
    options = parser.parse_args()
    command = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None
    )
    if command is None:
        parser.exit(1, "No Chromium is installed; `make browser` installs it.\n")
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    loads = [os.getloadavg()[0]]
    with tempfile.TemporaryDirectory() as directory, sync_playwright() as playwright:
        pages = {name: write_page(name, Path(directory)) for name in options.data}
        browser = playwright.chromium.launch(executable_path=command, args=flags)
        times = {
            name: measure(browser, page[0], options.repeats)
            for name, page in pages.items()
        }
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
