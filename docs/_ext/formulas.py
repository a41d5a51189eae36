"""Formulas as MathML, which browsers draw themselves: no script, no network.

docutils translates the TeX. What it does not know is a warning, and so, as all
warnings are errors in our builds, does not get onto a page.
"""

import html
import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

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
        formula = tex2mathml(tex, as_block=as_block)
        # All but these: bars of a norm would be moved up and down by an exponent.
        return formula.replace("<mo>‖</mo>", '<mo stretchy="false">‖</mo>')
    except MathError as error:
        logger.warning("no MathML of %r: %s", tex, error, location=node)
        return f"<code>{html.escape(tex)}</code>"
