"""A real Chromium for tests of pages, by Playwright; a skip that says why without one.

While Playwright is open an event loop runs in this thread, and no other can. So it is
closed with the module whose tests use it.
"""

import contextlib
import os
import shutil

import pytest

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
