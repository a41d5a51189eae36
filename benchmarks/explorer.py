"""How fast the label explorer is written, opens and answers, in headless Chromium.

Every action is a real one: the mouse is moved, pressed and released on a disc, keys are
pressed on the slider and in the search. The clock starts with the time that the browser
gives the event (for an opening: with the navigation) and stops at the second animation
frame after it: the first draws the answer, and when the second comes it is done. A
matrix may come in the frames that follow; processor time, of the thread in which the
page runs and of nothing else, has all of that in it.

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
from typing import Any

import pandas as pd
from PIL import Image
from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from homi import HOMICV
from homi.atomic_write import whole_file
from homi.datasets import load
from homi.explorer import facts, write
from homi.explorer.pack import packed
from homi.io import load_model, save

#: Options of each HOMICV; "enron-40" has the 40 most frequent labels of enron.
MODELS: dict[str, dict[str, Any]] = {
    "emotions": {},
    "enron-40": {},
    "CAL500": {},
    "delicious": {"widths": [], "trees": False},
}

#: Pictures of the documentation.
PICTURES = {
    "emotions": "explorer_6.png",
    "enron-40": "explorer_40.png",
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

    def show_all(self, button: str) -> tuple[float, float] | None:
        """Press a button that shows all of a list, and return its times."""
        found = self.page.locator(button)
        return self.timed("click", found.click) if found.is_visible() else None


def actions(page: Page, repeats: int) -> dict[str, tuple[str, list[Callable[[], Any]]]]:
    """What is done, the event that starts the clock, and how often."""
    slider, search = page.locator("#edges"), page.locator("#search")
    discs, known = page.locator("#graph-svg circle"), page.locator("#known-list button")
    threshold, relations = page.locator("#threshold"), page.locator("#relations button")
    n_discs, n_relations = discs.count(), relations.count()

    def disc(k: int) -> Callable[[], Any]:
        box = discs.nth((37 * k + 5) % n_discs).bounding_box()
        assert box is not None
        spot = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        return lambda: page.mouse.click(*spot)

    def press(target: Any, keys: list[str]) -> list[Callable[[], Any]]:
        return [lambda key=key: target.press(key) for key in (keys * repeats)[:repeats]]

    slides = ["PageDown", "Home", "PageUp", "End", "ArrowLeft"]
    turns = range(repeats)
    of_rows, quality = page.locator("#rows-table"), page.locator("#quality-table")

    def clicks(target: Any) -> list[Callable[[], Any]]:
        """Click on each element that fits, again from the first one."""
        return [lambda k=k: target.nth(k % target.count()).click() for k in turns]

    return {
        "click on a label": ("click", [disc(k) for k in turns]),
        "key on the slider of edges": ("keydown", press(slider, slides)),
        "letter in the search": ("keydown", press(search, list("eaotin"))),
        "another relation": (
            "click",
            [lambda k=k: relations.nth((k + 1) % n_relations).click() for k in turns],
        ),
        "zoom": ("click", clicks(page.locator("#closer, #farther"))),
        "arrow key in the graph": (
            "keydown",
            press(page.locator("#graph-svg"), ["ArrowRight", "ArrowDown", "ArrowUp"]),
        ),
        "known label, yes": (
            "click",
            [lambda k=k: known.nth(2 * min(k, n_discs - 1)).click() for k in turns],
        ),
        "another row, its known labels": (
            "keydown",
            press(page.locator("#known-row"), ["ArrowDown"]),
        ),
        "known label, yes, of all that are shown": (
            "click",
            [lambda k=k: known.nth(2 * min(9 + k, n_discs - 1)).click() for k in turns],
        ),
        "letter in the search of known labels": (
            "keydown",
            press(page.locator("#known-filter"), list("eaotin")),
        ),
        "open a row": ("click", clicks(of_rows.locator(".open"))),
        "sort rows": ("click", clicks(of_rows.locator("thead button"))),
        "letter in the search of rows": (
            "keydown",
            press(page.locator("#rows-search"), list("eaotin")),
        ),
        "sort labels by quality": ("click", clicks(quality.locator("thead button"))),
        "key on the threshold": ("keydown", press(threshold, slides)),
        "key of the audit": ("keydown", press(page.locator("#audit-list"), ["a", "r"])),
    }


def measure(browser: Browser, path: Path, repeats: int) -> dict[str, list[tuple]]:
    """Pairs of milliseconds: until the second frame, and of processor time."""
    times: dict[str, list[tuple]] = {"opening": []}
    for _ in range(repeats):
        watched = Watched(browser, path)
        waited = watched.answer("opening")
        times["opening"].append((waited, watched.busy()))
        watched.page.wait_for_timeout(1500)
        for name, button in ONCE.items():
            if found := watched.show_all(button):
                times.setdefault(name, []).append(found)
        watched.context.close()
    watched = Watched(browser, path)
    watched.page.wait_for_timeout(1500)
    for name, (kind, calls) in actions(watched.page, repeats).items():
        if name == "letter in the search":
            watched.page.locator("#search").fill("")
        if name.endswith("all that are shown"):
            watched.show_all("#known-more")
        times[name] = [watched.timed(kind, call) for call in calls]
        watched.page.evaluate("() => scrollTo(0, 0)")
    watched.context.close()
    return times


def labeled_rows(name: str) -> tuple[Any, pd.DataFrame]:
    """Rows of a data set, and labels with their names."""
    name, _, most = name.partition("-")
    X, Y, _, label_names = load(name)
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


def row(name: str, action: str, pairs: list[tuple]) -> str:
    waits, busy = zip(*pairs, strict=True)
    limit = OPENING if action == "opening" else ANSWER
    verdict = "yes" if statistics.median(waits) < limit else "NO"
    return (
        f"| {name} | {action} | {statistics.median(waits):.0f} ({max(waits):.0f}) "
        f"| {statistics.median(busy):.0f} ({max(busy):.0f}) | < {limit}: {verdict} |"
    )


def table(pages: dict[str, tuple], times: dict[str, dict[str, list[tuple]]]) -> str:
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
time is that of the page's thread until 0.4 s after the event, which includes matrices
drawn in later frames. Writing a page is processor time of `explain`, without the fit.
The parts of a page are compressed and in base64; "all" has the script and style, too.

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
