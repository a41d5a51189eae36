"""The content of a report as plain data, independent of its rendering."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from homi.benchmark.tables import Table

#: Names that are safe in files and links on every system.
STEM = re.compile(r"[a-z0-9_-]+")

#: Anchors on the page that belong to no section.
CONTENTS, CONTENT = "contents", "content"


@dataclass(frozen=True)
class Prose:
    """A paragraph: plain text with ``code``, ``**bold**`` and ``[links](#to)``."""

    text: str


@dataclass(frozen=True)
class Picture:
    """A drawing, for the screen and for paper.

    Parameters
    ----------
    name : str
        Stem of its files.
    caption : str
        What it shows; may use the marks of ``Prose``.
    svg : str
        An SVG document that needs nothing from outside itself.
    pdf : bytes
        The same as PDF.
    alt : str
        What it tells someone who cannot see it.
    """

    name: str
    caption: str
    svg: str
    pdf: bytes
    alt: str

    @property
    def anchor(self) -> str:
        """Where a link finds it."""
        return f"figure-{self.name}"


@dataclass(frozen=True)
class Listing:
    """A table with the stem of its files, and a note that stands below it."""

    name: str
    table: Table
    note: str = ""

    @property
    def anchor(self) -> str:
        """Where a link finds it."""
        return f"table-{self.name}"


@dataclass(frozen=True)
class Section:
    """A title and what stands under it, sections included."""

    title: str
    items: tuple[Item, ...]


Item: TypeAlias = Prose | Picture | Listing | Section


@dataclass(frozen=True)
class Page:
    """A whole report.

    Parameters
    ----------
    title : str
        Its heading.
    lead : str
        The first paragraph; may use the marks of ``Prose``.
    sections : tuple of Section
        The rest.

    Raises
    ------
    ValueError
        If the name of a picture or a table is no safe file stem, or occurs twice.
    """

    title: str
    lead: str
    sections: tuple[Section, ...]

    def __post_init__(self) -> None:
        """Check the names of pictures and tables."""
        _check_names("picture", [picture.name for picture in self.pictures])
        _check_names("table", [listing.name for listing in self.listings])

    @property
    def pictures(self) -> list[Picture]:
        """Every picture, in the order of the page."""
        return [item for item in _walk(self.sections) if isinstance(item, Picture)]

    @property
    def listings(self) -> list[Listing]:
        """Every table, in the order of the page."""
        return [item for item in _walk(self.sections) if isinstance(item, Listing)]

    def selected(self, names: Container[str]) -> Page:
        """Return the page with only the named tables and pictures.

        Sections that are left without any are dropped.
        """
        sections = (_selected(section, names) for section in self.sections)
        return replace(self, sections=tuple(s for s in sections if s is not None))


def _selected(section: Section, names: Container[str]) -> Section | None:
    kept: list[Item] = []
    for item in section.items:
        if isinstance(item, Section):
            kept += [part for part in [_selected(item, names)] if part is not None]
        elif isinstance(item, Prose) or item.name in names:
            kept.append(item)
    if all(isinstance(item, Prose) for item in kept):
        return None
    return replace(section, items=tuple(kept))


class Heading(NamedTuple):
    """A section's title, how deep it stands (2 under the page's), and its address."""

    title: str
    level: int
    anchor: str


def outline(page: Page) -> list[Heading]:
    """Return the headings in the order of the page, each with a unique anchor.

    Addresses are made as GitHub makes them, so that one link serves both the HTML
    page and the Markdown file.
    """
    taken = {CONTENTS, CONTENT}
    taken |= {picture.anchor for picture in page.pictures}
    taken |= {listing.anchor for listing in page.listings}
    headings = []
    for section, level in _sections(page.sections, 2):
        anchor = _free(_slug(section.title), taken)
        taken.add(anchor)
        headings.append(Heading(section.title, level, anchor))
    return headings


def _walk(items: tuple[Item, ...]) -> Iterator[Item]:
    for item in items:
        yield item
        if isinstance(item, Section):
            yield from _walk(item.items)


def _sections(items: tuple[Item, ...], level: int) -> Iterator[tuple[Section, int]]:
    for item in items:
        if isinstance(item, Section):
            yield item, level
            yield from _sections(item.items, level + 1)


def _slug(title: str) -> str:
    words = re.sub(r"[^\w\s-]", "", title.lower()).strip()
    return re.sub(r"\s", "-", words) or "section"


def _free(slug: str, taken: set[str]) -> str:
    anchor, count = slug, 0
    while anchor in taken:
        count += 1
        anchor = f"{slug}-{count}"
    return anchor


def _check_names(kind: str, names: list[str]) -> None:
    for position, name in enumerate(names):
        if not STEM.fullmatch(name):
            raise ValueError(
                f"a {kind} is named {name!r}; use only a-z, 0-9, _ and -, because "
                "the name becomes that of a file."
            )
        if name in names[:position]:
            raise ValueError(
                f"two {kind}s are named {name!r}; give each its own name, because "
                "each becomes a file."
            )
