"""The label explorer as one HTML file that needs no network."""

from __future__ import annotations

from html import escape
from importlib import resources
from string import Template

from homi.explorer import captions
from homi.explorer.facts import Facts
from homi.explorer.layout import strongest
from homi.explorer.pack import packed
from homi.html_shell import html_page

#: Parts of the style sheet; later ones may change what earlier ones say.
STYLES = ("base", "parts")

#: Parts of the script, in the order in which they need each other.
SCRIPTS = [
    "base",
    "graph",
    "tables",
    "joint",
    "known",
    "rows",
    "audit",
    "quality",
    "start",
]

#: Pairs of labels in the table for those who read without scripts.
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
</header>
<main id="content" tabindex="-1">
<div class="intro">
<h1>$title</h1>
<p class="settings">$settings</p>
</div>
$noscript
<div class="sections">
$sections
</div>
<p id="said" class="unseen" role="status"></p>
</main>
$data"""
)

_LABELS = """\
<div class="tools" id="relations"></div>
<p id="relation-says">$unrelated</p>
<div class="beside">
<div class="related">
<div class="tools">
<label for="edges">Edges</label>
<input id="edges" type="range" min="0" max="1" step="1"
 aria-describedby="edges-says">
<output id="edges-says" for="edges"></output>
<span class="buttons" role="group" aria-label="Zoom">
<button type="button" id="closer" aria-label="Zoom in">+</button>
<button type="button" id="farther" aria-label="Zoom out">−</button>
<button type="button" id="whole" aria-label="Show the whole graph">⤢</button>
</span>
</div>
<svg id="graph-svg" class="$crowd" tabindex="0" role="application"
 aria-label="Label graph. Arrow keys go to the next label in a direction, plus and
 minus zoom, Escape lets go; the chosen label is described beside it."></svg>
<p class="legend"><span class="key raise"></span>raises
<span class="key lower"></span>lowers · thicker is stronger · a disc grows with the
number of rows · colors are groups, named by their most central labels:</p>
<ul id="groups"></ul>
</div>
<section id="card" aria-label="The chosen label"></section>
</div>
<div class="related">
<h3>All pairs</h3>
<div id="matrix"></div>
</div>"""

_KNOWN = """\
<p>Choose a row, and say which labels it has or lacks: all other probabilities become
those of <code>predict_proba(X, known=…)</code>. A vertical line marks the probability
before.</p>
<div class="tools">
<label>Row <select id="known-row"></select></label>
<label>Find labels <input id="known-filter" type="search" autocomplete="off"></label>
<button type="button" class="plain" id="known-clear">Clear all</button>
</div>
<p id="known-next" aria-live="polite"></p>
<ol id="known-list" aria-label="Labels and their probabilities"></ol>
<button type="button" class="plain more" id="known-more">Show all</button>"""

_ROWS = """\
<p>$shown A label in blue with + is predicted and not given, one in orange with −
is given and not predicted.</p>
<div class="tools"><label>Find <input id="rows-search" type="search" autocomplete="off"
 placeholder="name, text or label"></label></div>
<div id="rows-table"></div>
<div id="row"></div>"""

_AUDIT = """\
<p>$audited Below each label is its probability by the features alone, then with the
other labels, and which of them decided.</p>
<p>Keys: ↓ and ↑ move, <kbd>a</kbd> accepts the change, <kbd>r</kbd> rejects it,
<kbd>u</kbd> undoes, <kbd>o</kbd> opens the row. Download the decisions, and
<code>homi audit FILE <span>--apply decisions.csv</span>
<span>-o corrected.csv</span></code> writes a corrected copy of the file.</p>
<div class="tools">
<button type="button" class="plain" id="audit-download">Download decisions.csv</button>
<output id="audit-says"></output></div>
<ol id="audit-list" tabindex="0" aria-label="Suspicious labels"></ol>
<button type="button" class="plain more" id="audit-more">Show all</button>"""

_QUALITY = """\
<p>$judged</p>
<div class="beside">
<div id="quality-table"></div>
<div>
<h3>Calibration and threshold of the chosen label</h3>
<div id="calibration"></div>
<div class="tools"><label>Threshold
<input id="threshold" type="range" min="0" max="1" step="1"></label></div>
<p><output id="threshold-says" for="threshold"></output></p>
</div>
</div>
<h3>Confused labels</h3>
<p>Each row of the matrix is a true label, each column a label that was wrongly
predicted for its rows. A stronger color is a larger share of these rows.</p>
<div class="beside even">
<div id="confusion"></div>
<div id="confused"></div>
</div>"""

_MODELS = """\
<p>$compared</p>
<h3>By label</h3>
<div id="models-labels"></div>
<h3>By row</h3>
<div id="models-rows"></div>"""


def html(facts: Facts, title: str) -> str:
    """Return the page as the text of one self-contained file."""
    parts = _parts(facts)
    data = packed(facts)
    body = _BODY.substitute(
        title=escape(title),
        settings=escape(captions.size(facts)),
        links="".join(f'<a href="#{p[0]}">{p[1]}</a>' for p in parts),
        sections="\n".join(_section(*part) for part in parts),
        noscript=_without_scripts(facts),
        data="\n".join(
            f'<script type="text/plain" id="data-{name}">{text}</script>'
            for name, text in data.items()
        ),
    )
    css = "".join(_asset(f"css/{name}.css") for name in STYLES)
    js = "".join(_asset(f"js/{name}.js") for name in SCRIPTS)
    js = f'"use strict";\n(async () => {{\n{js}}})();\n'
    return html_page(title, body, css=css, js=js)


def _asset(name: str) -> str:
    return resources.files("homi.explorer").joinpath(name).read_text("utf-8")


def _parts(facts: Facts) -> list[tuple[str, str, str, str]]:
    """Address, name, heading and content of each section that there is data for."""
    crowd = "crowded" if len(facts.model.names) > 100 else ""
    parts = [
        (True, "labels", "Labels", "Labels together", _LABELS),
        (
            facts.model.joint is not None,
            "known",
            "Known",
            "Tell it what you know",
            _KNOWN,
        ),
        (
            bool(facts.rows),
            "rows",
            "Rows",
            "Rows, and why they have their labels",
            _ROWS,
        ),
        (facts.suspects is not None, "audit", "Audit", "Suspicious labels", _AUDIT),
        (
            facts.errors is not None,
            "quality",
            "Quality",
            "Quality and confusion",
            _QUALITY,
        ),
        (
            facts.comparison is not None,
            "models",
            "Models",
            "Where two models disagree",
            _MODELS,
        ),
    ]
    said = {
        "crowd": crowd,
        "unrelated": escape(captions.unrelated(facts)),
        "shown": escape(captions.shown(facts)),
        "audited": escape(captions.audited(facts)),
        "judged": escape(captions.judged(facts)),
        "compared": escape(captions.compared(facts)),
    }
    return [
        (address, name, heading, Template(content).substitute(said))
        for there, address, name, heading, content in parts
        if there
    ]


def _section(address: str, _: str, heading: str, content: str) -> str:
    return (
        f'<section class="panel" id="{address}" aria-labelledby="{address}-title">\n'
        f'<h2 id="{address}-title">{escape(heading)}</h2>\n{content}\n</section>'
    )


def _without_scripts(facts: Facts) -> str:
    names = facts.model.names
    rows = ""
    if facts.graph.relations:
        matrix = facts.graph.relations[0].matrix
        rows = "".join(
            f"<tr><td>{escape(names[i])}</td><td>{escape(names[j])}</td>"
            f"<td>{matrix[i, j]:+.4f}</td></tr>"
            for i, j in strongest(matrix, _MOST_LISTED)
        )
    return (
        "<noscript><p>This page draws with JavaScript, which is off. The strongest "
        "pairs of labels:</p><table><tr><th>label</th><th>label</th><th>strength</th>"
        f"</tr>{rows}</table></noscript>"
    )
