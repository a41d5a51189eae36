"""A real browser, and the pages that tests open in it."""

import contextlib
import dataclasses
import json
import os
import shutil

import numpy as np
import pytest

from homi import HOMI, HOMICV
from homi.explorer import OtherModel, explain
from homi.joint.model import Weights

#: Names under which systems install it. Playwright's own browsers are never fetched.
COMMANDS = ("chromium", "chromium-browser", "google-chrome")

FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]


def command():
    """The path of Chromium, or None."""
    return next(filter(None, map(shutil.which, COMMANDS)), None)


@contextlib.contextmanager
def launched():
    """Chromium without a window; ``make browser`` installs what it takes."""
    api = pytest.importorskip(
        "playwright.sync_api", reason="no Playwright; pip install 'homi-learn[test]'"
    )
    if (path := command()) is None:
        pytest.skip("no Chromium; `make browser` installs it")
    # Chromium refuses to run as root inside its sandbox.
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    flags = [*FLAGS, "--no-sandbox"] if root else FLAGS
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path,
            args=flags,
            # Scrollbars take room from a page, and people have them.
            ignore_default_args=["--hide-scrollbars"],
        )
        try:
            yield browser
        finally:
            browser.close()


class Tab:
    """A page on its own, and all that it asked for and complained of."""

    def __init__(self, browser, **context):
        self.context = browser.new_context(
            viewport={"width": 1280, "height": 900}, color_scheme="light", **context
        )
        self.asked, self.complaints = [], []
        self.context.on("request", lambda request: self.asked.append(request.url))
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def open(self, path, width=1280, scheme="light"):
        """Show a file in a window of this width."""
        self.resize(width, scheme)
        self.page.goto(path.as_uri())
        return self

    def resize(self, width, scheme="light"):
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.emulate_media(color_scheme=scheme)

    def overflow(self):
        """Pixels by which the page is wider than its window."""
        return self.page.evaluate(
            "() => { const e = document.documentElement;"
            " return e.scrollWidth - e.clientWidth }"
        )

    def outside(self):
        """Addresses that are no file: what would have left the page."""
        return [url for url in self.asked if not url.startswith(("file:", "data:"))]

    def close(self):
        self.context.close()


@contextlib.contextmanager
def tab_of(browser, **context):
    """A tab whose page must neither complain nor ask for anything but files."""
    tab = Tab(browser, **context)
    try:
        yield tab
        assert not tab.complaints, tab.complaints
        assert not tab.outside(), tab.outside()
    finally:
        tab.close()


# Pages of the label explorer for tests in a browser, and what a test asks of one.


LABELS = [
    "calm",
    "</script><script>document.title='taken'</script>",
    'quo"ted & <b>bold</b>',
    "sad",
    "angry",
    "a name that is much longer than any canvas or telephone would like it to be",
]

MANY = [f"label number {k}" for k in range(983)]

#: Linear models of HOMICV, chosen quickly.
QUICK = {"widths": [], "trees": False, "betas": [], "label_weights": []}


def some_rows(n_labels, n=400, seed=0):
    """Labels that hang together in threes, and features that tell them."""
    rng = np.random.default_rng(seed)
    topics = rng.normal(size=(n, (n_labels + 2) // 3))
    of_label = np.arange(n_labels) // 3
    signal = topics[:, of_label] + 0.7 * rng.normal(size=(n, n_labels))
    Y = (signal > rng.uniform(0.2, 1.4, size=n_labels)).astype(int)
    mixed = topics @ rng.normal(size=(topics.shape[1], 8))
    return mixed + rng.normal(size=mixed.shape), Y


class Written:
    """A page that is written, the model behind it, and the rows it shows."""

    def __init__(self, models, path, names, test, train_Y):
        self.model, self.other = models
        self.path, self.names = path, names
        (self.X, self.Y), self.train_Y = test, train_Y


class Opened:
    """A written page in a tab."""

    def __init__(self, tab, written):
        self.tab, self.page, self.written = tab, tab.page, written
        self.path, self.names, self.model = written.path, written.names, written.model

    def open(self, width=1280, scheme="light"):
        self.tab.open(self.path, width, scheme)
        self.one("html[data-complete]").wait_for(state="attached")
        return self

    def one(self, selector):
        return self.page.locator(selector)

    def text(self, selector):
        return self.one(selector).inner_text()

    def run(self, script, argument=None):
        return self.page.evaluate(script, argument)

    def look_for(self, text, *keys):
        self.one("#search").fill("")
        self.one("#search").press_sequentially(text)
        for key in keys:
            self.one("#search").press(key)

    def chosen(self):
        """The label at the head of the card, -1 if none is chosen."""
        number = int(self.state("label") or -1)
        if number >= 0:
            assert self.one("#card h2").text_content() == self.names[number]
        return number

    def state(self, what):
        return self.run("what => document.documentElement.dataset[what]", what)

    def listed(self, title):
        """Labels and numbers of one list of the card."""
        head = self.one("#card h3").filter(has_text=title)
        items = head.locator("xpath=following-sibling::*[1]").locator("li")
        pairs = "items => items.map(e => [+e.dataset.label, +e.dataset.value])"
        assert head.count() == 1
        return dict(items.evaluate_all(pairs))

    def disc(self, label):
        """The middle of a label's disc in the window."""
        box = self.one(f"circle[data-label='{label}']").bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def shown_rows(self):
        """Places of the rows that can be opened."""
        options = self.one("#known-row option").all_inner_texts()[1:]
        return [int(name.removeprefix("row ")) for name in options]

    def know(self, label, value):
        """Say what is known in the list; return the milliseconds of the script."""
        self.one("#known-list:not([data-filling])").wait_for(state="attached")
        return self.run(
            """([label, value]) => {
              const selector = `#known-list [data-know="${label} ${value}"]`;
              const found = document.querySelector(selector);
              const start = performance.now();
              found.click();
              return performance.now() - start;
            }""",
            [label, value],
        )

    def probabilities(self):
        """Probabilities of the list of known labels, by label."""
        # Long lists come in slices.
        items = self.one("#known-list:not([data-filling]) li")
        items.nth(len(self.names) - 1).wait_for(state="attached")
        read = "items => items.map(e => [+e.dataset.label, +e.dataset.p])"
        found = dict(items.evaluate_all(read))
        return np.array([found[j] for j in range(len(self.names))])


def written(directory, n_labels, names):
    """Write the page of a HOMICV: with texts and, of few labels, beside a HOMI."""
    X, Y = some_rows(n_labels)
    model = HOMICV(**QUICK, lams=[10.0]).fit(X[:300], Y[:300])
    # All terms of the joint model have an effect.
    terms = {
        "weights": Weights(slope=0.2, gaussian=0.9, sets=0.6),
        "gates": np.linspace(0.2, 1.5, n_labels),
    }
    model.joint_model_ = dataclasses.replace(model.joint_model_, **terms)
    other = HOMI().fit(X[:300], Y[:300]) if n_labels < 100 else None
    path = explain(
        model,
        directory / f"labels-{n_labels}.html",
        X[:300],
        Y[:300],
        X_test=X[300:],
        y_test=Y[300:],
        row_texts=[f"<b>text</b> {i}" if i else "https://e.org/0" for i in range(100)],
        other=other and OtherModel(other, ("HOMICV", "HOMI_in_a_file_of_a_long_name")),
        label_names=names,
        title="<i>Six</i> & more",
    )
    return Written((model, other), path, names, (X[300:], Y[300:]), Y[:300])


def read_decisions(text):
    """Rows, labels and decisions that a page was told, as its root element has them."""
    return [tuple(line) for line in json.loads(text)]
