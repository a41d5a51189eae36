"""Figures as files whose bytes depend on the data only."""

from __future__ import annotations

import io
import re
from typing import Any
from xml.etree import ElementTree

import matplotlib
from matplotlib.figure import Figure

_SVG = "{http://www.w3.org/2000/svg}"
_XLINK = "{http://www.w3.org/1999/xlink}"

# Text stays text, in a family that every reader has if not in the one measured here.
_TEXT: Any = {
    "svg.fonttype": "none",
    "font.sans-serif": ["DejaVu Sans", "sans-serif"],
}

_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))


def svg(figure: Figure, name: str) -> str:
    """Return the figure as one ``<svg>`` element, for a file or a page.

    Parameters
    ----------
    figure : Figure
    name : str
        Letters, digits, "-" and "_". All its ids start with it, so figures of
        different names can share a page.
    """
    if not re.fullmatch(r"[A-Za-z][\w-]*", name, re.ASCII):
        raise ValueError(
            f"name must be a letter, then letters, digits, '-' or '_', got {name!r}; "
            "it becomes part of the ids of the svg."
        )
    text = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": name, **_TEXT}):
        figure.savefig(text, format="svg", metadata=_NO_METADATA)
    root = ElementTree.fromstring(text.getvalue())
    for element in root.iter():
        _rename(element, name)
    root.attrib = {"xmlns": _SVG[1:-1], "id": name, **root.attrib}
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def pdf(figure: Figure) -> bytes:
    """Return the figure as a PDF file without a date, with embedded glyphs."""
    content = io.BytesIO()
    # Glyphs as Type 3: cutting TrueType fonts to size takes longer than the drawing.
    with matplotlib.rc_context({"pdf.fonttype": 3}):
        figure.savefig(content, format="pdf", metadata={"CreationDate": None})
    return content.getvalue()


def _rename(element: ElementTree.Element, name: str) -> None:
    """Plain tags, and ids of this figure only."""
    element.tag = element.tag.removeprefix(_SVG)
    for key, value in list(element.attrib.items()):
        del element.attrib[key]
        element.set(key.removeprefix(_XLINK), _own(key, value, name))
    if element.tag == "style" and element.text:
        # In a page the rule for "*" would reach everything around the figure.
        element.text = element.text.replace("*{", f"#{name} *{{")


def _own(key: str, value: str, name: str) -> str:
    if key == "id":
        return f"{name}-{value}"
    if key == f"{_XLINK}href" and value.startswith("#"):
        return f"#{name}-{value[1:]}"
    return value.replace("url(#", f"url(#{name}-")
