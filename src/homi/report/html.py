"""A report as one HTML file that needs no network.

Styles, script and drawings stand inside it. The script only adds sorting and
filtering: without it, everything is there to be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from importlib import resources
from string import Template

from homi.benchmark.tables import NOT_RUN, Entry, Table
from homi.html_shell import html_page
from homi.report.document import (
    CONTENT,
    CONTENTS,
    Heading,
    Item,
    Listing,
    Page,
    Picture,
    Prose,
    Section,
    outline,
)
from homi.report.svg import inlined

#: Letters of a row's name above which a phone breaks it into lines.
LONG_NAME = 16

#: Letters of a cell above which its column is broken into lines everywhere.
SENTENCE = 40

#: Columns above which a table is set small, with cells broken into lines.
WIDE = 7

#: How deep the list of contents goes.
DEEPEST_LISTED = 3

_MISSING = {NOT_RUN, "–", "-", ""}

_BODY = Template(
    """\
<nav id="$contents" aria-label="Contents">
<details open>
<summary>Contents</summary>
<ol>
$entries
</ol>
</details>
</nav>
<main id="$content" tabindex="-1">
<h1>$title</h1>
<p class="lead">$lead</p>
$body
</main>"""
)


def html(page: Page) -> str:
    """Return the page as the text of one self-contained file.

    Raises
    ------
    ValueError
        If a link leads to no place on the page, or a drawing needs the outside.
    """
    headings = outline(page)
    places = iter(headings)
    listed = (h for h in headings if h.level <= DEEPEST_LISTED)
    body = _BODY.substitute(
        title=escape(page.title),
        lead=inline(page.lead),
        entries="\n".join(map(_entry_of_contents, listed)),
        body="\n".join(_section(section, places) for section in page.sections),
        contents=CONTENTS,
        content=CONTENT,
    )
    text = html_page(page.title, body, css=_asset("page.css"), js=_asset("page.js"))
    _check_links(text)
    return text


def _asset(name: str) -> str:
    return resources.files("homi.report").joinpath(name).read_text("utf-8")


def _check_links(text: str) -> None:
    wanted = set(re.findall(r'<a [^>]*href="#([^"]+)"', text))
    found = set(re.findall(r'\sid="([^"]+)"', text))
    if lost := sorted(wanted - found):
        raise ValueError(
            f"links lead to {lost}, which the page does not have; the address of a "
            "section is its title in lower case with hyphens, that of a table is "
            "table-<name>, that of a picture figure-<name>."
        )


def _entry_of_contents(heading: Heading) -> str:
    title = escape(heading.title)
    link = f'<a href="#{heading.anchor}">{title}</a>'
    return f'<li class="level-{heading.level}">{link}</li>'


def _section(section: Section, places: Iterator[Heading]) -> str:
    """Render a section and those inside it; ``places`` yields their headings."""
    heading = next(places)
    tag = f"h{min(heading.level, 6)}"
    return "\n".join(
        [
            f'<section aria-labelledby="{heading.anchor}">',
            f'<{tag} id="{heading.anchor}">{escape(heading.title)}</{tag}>',
            *(_item(item, places) for item in section.items),
            "</section>",
        ]
    )


def _item(item: Item, places: Iterator[Heading]) -> str:
    match item:
        case Prose():
            return f"<p>{inline(item.text)}</p>"
        case Picture():
            return _picture(item)
        case Listing():
            return _listing(item)
        case Section():
            return _section(item, places)


def _picture(picture: Picture) -> str:
    return (
        f'<figure class="picture" id="{picture.anchor}">\n'
        f'<div class="card">{inlined(picture)}</div>\n'
        f"<figcaption>{inline(picture.caption)}</figcaption>\n</figure>"
    )


def _listing(listing: Listing) -> str:
    """Render a table in a box that scrolls and that the keyboard can reach."""
    caption = f"{listing.anchor}-caption"
    note = f'<p class="note">{inline(listing.note)}</p>\n' if listing.note else ""
    return (
        f'<figure class="listing" id="{listing.anchor}">\n'
        f'<figcaption id="{caption}">{escape(listing.table.caption)}</figcaption>\n'
        f'<div class="scroll" tabindex="0" role="region" aria-labelledby="{caption}">\n'
        f'<table aria-labelledby="{caption}"{_classes(listing.table)}>\n'
        f"{_table(listing.table)}\n</table>\n"
        f"</div>\n{note}</figure>"
    )


def _classes(table: Table) -> str:
    names = [table.columns[0], *(row[0].text for row in table.rows)]
    found = ["long-names"] if max(map(len, names)) > LONG_NAME else []
    found += ["wide"] if len(table.columns) > WIDE else []
    return f' class="{" ".join(found)}"' if found else ""


def _table(table: Table) -> str:
    kinds = [_kind(table, column) for column in range(len(table.columns))]
    names = zip(table.columns, kinds, strict=True)
    head = "".join(f'<th scope="col"{kind}>{escape(name)}</th>' for name, kind in names)
    rows = "\n".join(_row(row, kinds) for row in table.rows)
    return f"<thead>\n<tr>{head}</tr>\n</thead>\n<tbody>\n{rows}\n</tbody>"


def _kind(table: Table, column: int) -> str:
    """Bare numbers stand flush right, so that digits line up; sentences may break."""
    texts = [row[column].text for row in table.rows]
    shown = [text for text in texts if text not in _MISSING]
    if shown and all(re.fullmatch(r"[+−-]?[\d.,]+ ?%?", text) for text in shown):
        return ' class="number"'
    return ' class="words"' if max(map(len, shown), default=0) > SENTENCE else ""


def _row(row: tuple[Entry, ...], kinds: list[str]) -> str:
    first, *rest = (_text(entry) for entry in row)
    cells = zip(rest, kinds[1:], strict=True)
    line = "".join(f"<td{kind}>{text}</td>" for text, kind in cells)
    return f'<tr><th scope="row"{kinds[0]}>{first}</th>{line}</tr>'


def _text(entry: Entry) -> str:
    # A deviation that goes to the next line takes its sign along.
    text = escape(entry.text).replace("± ", "±&nbsp;")
    if entry.best:
        return f"<strong>{text}</strong>"
    return f'<span class="missing">{text}</span>' if text in _MISSING else text


#: Where a link may lead: this page, a page on the web, or a file beside this one.
#: Anything else (``javascript:`` above all) is left as the text that it is.
_TARGET = r"""\#[\w-]+ | https://[^\s()<>"]+ | [\w.%-][\w./%\#?=&+-]*"""

_MARK = re.compile(
    rf"""`(?P<code>[^`]+)`
    | \*\*(?P<bold>.+?)\*\*
    | \[(?P<text>[^\]]+)\]\((?P<target>{_TARGET})\)""",
    re.VERBOSE | re.DOTALL,
)


def inline(text: str) -> str:
    """Return a paragraph's text as HTML.

    Examples
    --------
    >>> inline("**HOMI** < `BR`, see [ranks](#ranks)")
    '<strong>HOMI</strong> &lt; <code>BR</code>, see <a href="#ranks">ranks</a>'
    """
    parts, end = [], 0
    for mark in _MARK.finditer(text):
        parts += [escape(text[end : mark.start()]), _marked(mark)]
        end = mark.end()
    return "".join([*parts, escape(text[end:])])


def _marked(mark: re.Match[str]) -> str:
    if mark["code"]:
        return f"<code>{escape(mark['code'])}</code>"
    if mark["bold"]:
        return f"<strong>{inline(mark['bold'])}</strong>"
    return f'<a href="{escape(mark["target"])}">{inline(mark["text"])}</a>'
