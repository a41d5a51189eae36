"""A report as files: a page to open, and each table and picture to use elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from homi.datasets.files import writing
from homi.report.document import STEM, Page
from homi.report.html import html
from homi.report.markdown import markdown

#: The folders of a report, and the kinds of files that it keeps in each.
FOLDERS = {"tables": (".csv", ".tex"), "figures": (".svg", ".pdf")}


def write(page: Page, directory: Path) -> Path:
    """Write a report, and remove the tables and figures of an earlier one.

    The same page gives the same bytes. Nothing is written unless all of it can be
    rendered, each file appears whole or not at all, and ``index.html`` comes last.

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
    """
    files = dict(_files(page))
    for folder in FOLDERS:
        (directory / folder).mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        with writing(directory / name) as file:
            file.write(content)
    _remove_others(directory, set(files))
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


def _remove_others(directory: Path, kept: set[str]) -> None:
    """Remove files that look like a report's own, and no others."""
    for folder, suffixes in FOLDERS.items():
        for path in (directory / folder).iterdir():
            ours = path.suffix in suffixes and STEM.fullmatch(path.stem)
            if ours and path.is_file() and f"{folder}/{path.name}" not in kept:
                path.unlink()
