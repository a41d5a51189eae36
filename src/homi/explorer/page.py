"""The label explorer as one HTML file that needs no network."""

from __future__ import annotations

from html import escape
from importlib import resources
from string import Template

from homi.explorer import captions
from homi.explorer.facts import Facts
from homi.explorer.pack import packed
from homi.html_shell import html_page

#: Parts of the style sheet; later ones may change what earlier ones say.
STYLES = ("colours", "base", "frame", "parts", "screens")

#: Parts of the script, in the order in which they need each other.
SCRIPTS = (
    "base",
    "colours",
    "choice",
    "bars",
    "arrows",
    "names",
    "layers",
    "graph",
    "handling",
    "card",
    "cells",
    "matrix",
    "rows",
    "tables",
    "charts",
    "start",
)

#: Entries of B in the table for those who read without scripts.
_MOST_LISTED = 20

_BODY = Template(
    """\
<header class="top">
<p class="brand">$title</p>
<div class="search">
<input id="search" type="search" role="combobox" aria-expanded="false"
 aria-controls="found" aria-autocomplete="list" aria-label="Find a label by name"
 placeholder="Find a label" autocomplete="off" spellcheck="false">
<ul id="found" role="listbox" aria-label="Labels found" hidden></ul>
</div>
<nav aria-label="Sections">$links</nav>
<label class="switch"><input id="palette" type="checkbox">
<span>Colour-blind safe</span></label>
</header>
<main id="content" tabindex="-1">
<div class="intro">
<h1>How the labels move each other</h1>
<p class="settings">$settings</p>
<p>$meaning</p>
<p>$strength</p>
</div>
$noscript
<div class="columns">
<div class="sections">
$sections
</div>
<aside id="card" class="panel" aria-label="The chosen label"></aside>
<p id="said" class="unseen" role="status"></p>
</div>
<footer><p>$left_out</p></footer>
</main>
<script type="application/json" id="facts">$facts</script>"""
)

_GRAPH = """\
<div class="tools">
<label for="weakest">Weakest arrow</label>
<input id="weakest" type="range" min="0" max="1000" step="1"
 aria-describedby="weakest-says">
<output id="weakest-says" for="weakest"></output>
<span class="buttons" role="group" aria-label="Zoom">
<button type="button" id="closer" aria-label="Zoom in">+</button>
<button type="button" id="farther" aria-label="Zoom out">−</button>
<button type="button" id="whole" aria-label="Show the whole graph">⤢</button>
</span>
</div>
<canvas id="graph-canvas" tabindex="0" role="application"
 aria-label="Label graph. Arrow keys go to the next label in a direction, plus and
 minus zoom, Escape lets go; the list beside it says the same in words."></canvas>
<p class="legend" id="graph-legend"></p>"""

_MATRIX = """\
<div class="tools">
<span class="buttons" role="group" aria-label="Scale">
<button type="button" id="raw" aria-pressed="true">raw</button>
<button type="button" id="normalised" aria-pressed="false">normalised</button>
</span>
<span class="buttons" role="group" aria-label="Zoom of the matrix">
<button type="button" id="matrix-closer" aria-label="Zoom in">+</button>
<button type="button" id="matrix-farther" aria-label="Zoom out">−</button>
</span>
<output id="cell" aria-live="polite"></output>
</div>
<div class="matrices" id="matrices"></div>
<p class="legend" id="matrix-legend"></p>"""

_SETS = """\
<p>Other labels reconstruct a label by least squares, y ≈ c + Σ w y, and R² is the
share of its variance in the rows that they account for. The label that adds most comes
next; the set ends before one that would add less than 0.01, or with five.</p>
<div class="tools">
<span id="sets-says" class="quiet"></span>
<button type="button" id="sets-more">Show all</button>
</div>
<div class="scroll" tabindex="0" role="region" aria-label="Sets that explain labels">
<table id="sets-table"></table></div>"""

_ROWS = """\
<div class="tools">
<span class="field"><label for="row">Row</label><select id="row"></select></span>
<span class="field"><label for="score">Score of</label>
<select id="score"></select></span>
</div>
<div id="waterfall"></div>"""

_DATA = """\
<p>$check "both" counts the rows with both labels, "by chance" how many
there would be if the two were independent; ≠ marks a φ of the other sign.</p>
<div class="pair">
<div class="scroll" tabindex="0" role="region" aria-label="Pairs of labels">
<table id="strongest"></table></div>
<figure id="scatter-figure"><canvas id="scatter" role="img"></canvas>
<figcaption id="scatter-says" aria-live="polite"></figcaption></figure>
</div>"""

_LABELS = """\
<div class="tools"><span id="labels-says" class="quiet"></span>
<button type="button" id="labels-more">Show all</button></div>
<div class="scroll" tabindex="0" role="region" aria-label="All labels">
<table id="labels-table"></table></div>"""


def html(facts: Facts, title: str) -> str:
    """Return the page as the text of one self-contained file."""
    parts = _parts(facts)
    body = _BODY.substitute(
        title=escape(title),
        settings=escape(_size(facts)),
        meaning=escape(captions.meaning(facts)),
        strength=escape(captions.strength(facts)),
        left_out=escape(captions.left_out(facts)),
        links="".join(f'<a href="#{p[0]}">{p[1]}</a>' for p in parts),
        sections="\n".join(_section(*part) for part in parts),
        noscript=_without_scripts(facts),
        facts=packed(facts),
    )
    css = "".join(_asset(f"css/{name}.css") for name in STYLES)
    js = "".join(_asset(f"js/{name}.js") for name in SCRIPTS)
    return html_page(title, body, css=css, js=f'"use strict";\n(() => {{\n{js}}})();\n')


def _asset(name: str) -> str:
    return resources.files("homi.explorer").joinpath(name).read_text("utf-8")


def _size(facts: Facts) -> str:
    n_labels = len(facts.model.names)
    size = f"{n_labels:,} label{'' if n_labels == 1 else 's'}"
    if facts.data is not None:
        size += f" in {facts.data.n_samples:,} rows"
    return f"{size} · {facts.model.settings}"


def _parts(facts: Facts) -> list[tuple[str, str, str, str]]:
    """Address, name, heading and content of each section that there is data for."""
    rows, data = bool(facts.rows), facts.data is not None
    check = escape(captions.check(facts))
    parts = [
        (True, "graph", "Graph", "Which label moves which", _GRAPH),
        (True, "matrix", "Matrix", _matrix_title(facts), _MATRIX),
        (data, "sets", "Sets", "Labels that explain a label together", _SETS),
        (rows, "rows", "Rows", "Why a row has its scores", _ROWS),
        (
            data,
            "data",
            "Check",
            "What the data say",
            Template(_DATA).substitute(check=check),
        ),
        (True, "labels", "Labels", "All labels", _LABELS),
        (
            len(facts.model.history) > 1,
            "fit",
            "Fit",
            "How the fit went",
            '<div id="history"></div>',
        ),
    ]
    return [part[1:] for part in parts if part[0]]


def _matrix_title(facts: Facts) -> str:
    return "The matrix B" + ("" if facts.data is None else " beside the data")


def _section(address: str, _: str, heading: str, content: str) -> str:
    return (
        f'<section class="panel" id="{address}" aria-labelledby="{address}-title">\n'
        f'<h2 id="{address}-title">{escape(heading)}</h2>\n{content}\n</section>'
    )


def _without_scripts(facts: Facts) -> str:
    known = facts.model
    rows = "".join(
        f"<tr><td>{escape(known.names[i])}</td><td>{escape(known.names[j])}</td>"
        f"<td>{known.B[i, j]:+.4f}</td></tr>"
        for i, j in facts.arrows[:_MOST_LISTED]
    )
    return (
        "<noscript><p>This page draws with JavaScript, which is off. The strongest "
        f"entries of B:</p><table><tr><th>from</th><th>to</th><th>B</th></tr>{rows}"
        "</table></noscript>"
    )
