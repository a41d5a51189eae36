"""Formulas as MathML, which browsers draw themselves: no script, no network.

docutils translates the TeX. What it does not know is a warning, and so, as all
warnings are errors in our builds, does not get onto a page.
"""

import html
import re
import xml.etree.ElementTree as ET
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

_SPACE = "http://www.w3.org/1998/Math/MathML"
ET.register_namespace("", _SPACE)
#: As docutils writes a hat, a tilde and a bar.
_ACCENTS = ("\u02c6", "~", "\u02c9")

logger = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(_mathml(node.astext(), node, as_block=False))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.math_block) -> None:
    """Parts between empty lines each get a line of their own."""
    for part in re.split(r"\n\s*\n", node.astext().strip()):
        formula = _mathml(part, node, as_block=True)
        writer.body.append(f'<div class="formula">{formula}</div>\n')
    raise nodes.SkipNode


def _mathml(tex: str, node: nodes.Element, *, as_block: bool) -> str:
    # Delimiters stretch by themselves in MathML.
    tex = re.sub(r"\\[bB]ig[lrm]?(?![A-Za-z])", "", tex)
    tex = tex.replace(r"\dots", r"\ldots")
    # Several lines or alignment marks need an environment, as with other renderers.
    if as_block and (r"\\" in tex or "&" in tex) and r"\begin" not in tex:
        tex = rf"\begin{{aligned}}{tex}\end{{aligned}}"
    try:
        return _mended(tex2mathml(tex, as_block=as_block))
    except MathError as error:
        logger.warning("no MathML of %r: %s", tex, error, location=node)
        return f"<code>{html.escape(tex)}</code>"


def _mended(formula: str) -> str:
    """What docutils writes, but for two things that look wrong."""
    # The one name that it writes and XML does not know.
    tree = ET.fromstring(formula.replace("&ApplyFunction;", "\u2061"))
    for node in tree.iter():
        # Bars of a norm stretch, and an exponent would then move them up and down.
        if node.tag == _name("mo") and node.text == "‖":
            node.set("stretchy", "false")
        # An index of a letter with an accent stands beside it, not below.
        if node.tag == _name("munderover") and node[2].text in _ACCENTS:
            letter, index, accent = node
            accented = ET.Element(_name("mover"), {"accent": "true"})
            accented.extend((letter, accent))
            node.tag = _name("msub")
            node[:] = [accented, index]
    return ET.tostring(tree, encoding="unicode")


def _name(tag: str) -> str:
    return f"{{{_SPACE}}}{tag}"
