"""Markup inside a paragraph: code, bold and links; everything else is text."""

from __future__ import annotations

import re
from html import escape

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
