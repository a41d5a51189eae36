"""A report as files: a page, and each table and picture for use elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from homi.datasets.files import writing
from homi.report.document import CONTENTS, STEM, Page
from homi.report.html import html
from homi.report.markdown import markdown

#: Folders of a report: the prefix of their anchors on the page, and their file types.
FOLDERS = {"tables": ("table", ".csv", ".tex"), "figures": ("figure", ".svg", ".pdf")}


def write(page: Page, directory: Path) -> Path:
    """Write a report, and remove the tables and figures of an earlier one.

    The same page gives the same bytes. Nothing is written unless all of it can be
    rendered, each file appears whole or not at all, and ``index.html`` comes last. What
    is removed are files that the earlier ``index.html`` shows, and no others.

    Parameters
    ----------
    page : Page
        The report.
    directory : Path
        Where ``index.html``, ``report.md``, ``tables/`` and ``figures/`` go; made if
        it does not exist.

    Returns
    -------
    Path
        The page to open, ``index.html``.

    Raises
    ------
    ValueError
        If the directory has an ``index.html`` or a ``report.md`` of somebody else.
    """
    files = dict(_files(page))
    earlier = _earlier(page, directory)
    for folder in FOLDERS:
        (directory / folder).mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        with writing(directory / name) as file:
            file.write(content)
    for name in earlier - set(files):
        (directory / name).unlink(missing_ok=True)
    return directory / "index.html"


def _files(page: Page) -> Iterator[tuple[str, bytes]]:
    for listing in page.listings:
        yield f"tables/{listing.name}.csv", listing.table.csv().encode()
        yield f"tables/{listing.name}.tex", listing.table.latex().encode()
    for picture in page.pictures:
        yield f"figures/{picture.name}.svg", picture.svg.encode()
        yield f"figures/{picture.name}.pdf", picture.pdf
    yield "report.md", markdown(page).encode()
    yield "index.html", html(page).encode()


def _earlier(page: Page, directory: Path) -> set[str]:
    """Files of the tables and figures that an earlier report in the directory shows."""
    index, text = directory / "index.html", directory / "report.md"
    if index.is_file():
        shown = index.read_text("utf-8", "replace")
        if f'<nav id="{CONTENTS}"' not in shown:
            raise _not_ours(index)
        return {
            f"{folder}/{name}{suffix}"
            for folder, (kind, *suffixes) in FOLDERS.items()
            for name in re.findall(rf'<figure [^>]*id="{kind}-({STEM.pattern})"', shown)
            for suffix in suffixes
        }
    # A report that was interrupted has no index yet.
    if text.is_file() and not _begins(text, f"# {page.title}"):
        raise _not_ours(text)
    return set()


def _begins(path: Path, start: str) -> bool:
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.readline().rstrip("\n") == start


def _not_ours(path: Path) -> ValueError:
    return ValueError(
        f"{path} is there and is no report of homi; name another directory to write to."
    )
