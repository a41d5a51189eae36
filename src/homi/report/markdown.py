"""A report as Markdown, with pictures as separate files."""

from __future__ import annotations

from collections.abc import Iterator

from homi.report.document import (
    Heading,
    Item,
    Listing,
    Page,
    Picture,
    Prose,
    Section,
    outline,
)


def markdown(page: Page) -> str:
    """Return the page as Markdown; pictures are links to ``figures/<name>.svg``."""
    places = iter(outline(page))
    blocks = [f"# {_line(page.title)}", page.lead.strip()]
    for section in page.sections:
        blocks += _section(section, places)
    return "\n\n".join(block for block in blocks if block) + "\n"


def _section(section: Section, places: Iterator[Heading]) -> Iterator[str]:
    heading = next(places)
    yield f"{'#' * min(heading.level, 6)} {_line(heading.title)}"
    for item in section.items:
        yield from _blocks(item, places)


def _blocks(item: Item, places: Iterator[Heading]) -> Iterator[str]:
    match item:
        case Prose():
            yield item.text.strip()
        case Picture():
            alt = _line(item.alt).replace("[", r"\[").replace("]", r"\]")
            yield f"{_place(item)}![{alt}](figures/{item.name}.svg)"
            yield item.caption.strip()
        case Listing():
            yield _place(item) + _text(item.table.markdown().strip())
            yield item.note.strip()
        case Section():
            yield from _section(item, places)


def _place(item: Picture | Listing) -> str:
    """Return an anchor; Markdown has anchors for headings only."""
    return f'<a id="{item.anchor}"></a>'


def _text(table: str) -> str:
    """Escape the HTML and the links in a table."""
    return table.replace("<", "&lt;").replace("](", "]\\(")


def _line(text: str) -> str:
    return " ".join(text.split())
