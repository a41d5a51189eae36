"""A picture's SVG as a part of the page, unable to disturb the rest of it.

Within one page, identifiers and style rules of all drawings share one space: each
drawing's are confined to it. What could run or fetch anything is refused.
"""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, ParseError, tostring

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from homi.report.document import Picture

SVG = "{http://www.w3.org/2000/svg}"
XLINK = "{http://www.w3.org/1999/xlink}"

#: Elements that run something or hold another language.
_REFUSED = {"script", "foreignObject", "iframe"}

#: What a reference may be: a part of the drawing, or data that it carries.
_WITHIN = re.compile(r"#|data:image/")

#: A style that fetches.
_FETCHES = re.compile(r"""@import|url\(\s*["']?(?!\#|data:image/|["'\s])""", re.I)


def inlined(picture: Picture) -> str:
    """Return the ``<svg>`` element of a picture for use inside a page.

    Raises
    ------
    ValueError
        If it is not SVG, or could run or fetch something.
    """
    root = _confined(_parsed(picture), picture)
    root.attrib |= {"role": "img", "aria-label": picture.alt}
    root.tail = None
    return tostring(root, encoding="unicode")


def _parsed(picture: Picture) -> Element:
    try:
        root: Element = fromstring(picture.svg)
    except (ParseError, DefusedXmlException) as error:
        raise _refusal(picture, f"is not well-formed XML ({error})") from error
    if root.tag != f"{SVG}svg":
        raise _refusal(picture, f"starts with <{root.tag}>, not with SVG's <svg>")
    return root


def _confined(element: Element, picture: Picture) -> Element:
    """Return a copy without namespaces, which HTML does not know, or metadata."""
    copy = Element(element.tag.removeprefix(SVG))
    keys = {key.removeprefix(XLINK): value for key, value in element.items()}
    for key, value in keys.items():
        if not key.startswith("{"):
            copy.set(key, _attribute(key, value, picture))
    copy.text, copy.tail = element.text, element.tail
    _check(copy, picture)
    if copy.tag == "style":
        copy.text = _rules(copy.text or "", picture)
    copy.extend([_confined(child, picture) for child in element if _is_drawn(child)])
    return copy


def _is_drawn(element: Element) -> bool:
    # The tag of a comment is a function.
    tag = element.tag
    return isinstance(tag, str) and tag.startswith(SVG) and tag != f"{SVG}metadata"


def _check(element: Element, picture: Picture) -> None:
    """Refuse what runs or fetches; a link waits to be followed, so it may stay."""
    if element.tag in _REFUSED:
        raise _refusal(picture, f"holds <{element.tag}>")
    for key in element.attrib:
        if key.lower().startswith("on"):
            raise _refusal(picture, f"has a handler, {key}")
    target = element.get("href", "#")
    link = element.tag == "a" and target.startswith("https://")
    if not link and not _WITHIN.match(target):
        raise _refusal(picture, f"refers to {target[:60]!r}")
    for style in [element.text or "", *element.attrib.values()]:
        if _FETCHES.search(style):
            raise _refusal(picture, f"fetches by a style, {style.strip()[:60]!r}")


def _attribute(key: str, value: str, picture: Picture) -> str:
    """Return an attribute with its identifiers prefixed by the picture's name."""
    if key == "id":
        return _own(value, picture)
    if key == "href" and value.startswith("#"):
        return f"#{_own(value[1:], picture)}"
    return _references(value, picture)


def _references(value: str, picture: Picture) -> str:
    return re.sub(r"""url\(\s*(["']?)#""", rf"url(\1#{_own('', picture)}", value)


def _rules(text: str, picture: Picture) -> str:
    """Style rules that hold inside this picture only, by its own identifiers."""
    known = set(re.findall(r"""\sid=["']([^"']+)["']""", picture.svg))
    for identifier in sorted(known & set(re.findall(r"#([\w-]+)", text))):
        new = f"#{_own(identifier, picture)}"
        text = re.sub(rf"#{identifier}(?![\w-])", new, text)
    return f"#{picture.anchor} {{ {text} }}"


def _own(identifier: str, picture: Picture) -> str:
    return f"{picture.anchor}-{identifier}"


def _refusal(picture: Picture, reason: str) -> ValueError:
    return ValueError(
        f"the SVG of the picture {picture.name!r} {reason}; a page can hold only a "
        "drawing that needs nothing from outside itself."
    )
