"""Figures 2 to 4: HOMI with one part removed."""

from __future__ import annotations

from homi.benchmark.figures import ablation
from homi.benchmark.methods import WITHOUT_GRAPH
from homi.benchmark.tables import NOT_RUN, Table
from homi.metrics import METRICS, PAPER_METRICS
from homi.paper.claims import cases_won
from homi.paper.comparison import shown
from homi.paper.results import PaperResults
from homi.paper.sections.drawing import picture, table
from homi.report.document import Item, Listing, Prose, Section

_REDUCED = {
    "HOMI-without-B": "without high-order information, g(x) = xW + z",
    "HOMI-step-wise": "step by step instead of jointly",
    WITHOUT_GRAPH: "without local geometric structure, γ = 0",
}


def ablations(paper: PaperResults) -> Section | None:
    """Return Figures 2 to 4, if the experiment has ablations."""
    if not any(name in paper.experiment.methods for name in _REDUCED):
        return None
    parts = [
        _figure(paper, number, reduced)
        for number, reduced in enumerate(_REDUCED, start=2)
    ]
    lead = Prose(
        "The paper says only that step by step learns B first. Our reading: (B, t) "
        "from the labels alone, then (W, z) with the graph and that B held. A case is "
        "a data set and a metric; HOMI wins it if its mean is better."
    )
    return Section("Figures 2 to 4: parts of HOMI", (lead, *parts))


def _figure(paper: PaperResults, number: int, reduced: str) -> Section:
    items: list[Item] = []
    for protocol in paper.protocols:
        won, total = cases_won(paper.summary, protocol, reduced, paper.datasets)
        share = f"{won} of {total} cases won ({won / total:.1%})" if total else NOT_RUN
        figure = ablation(
            paper.summary,
            protocol,
            "HOMI",
            reduced,
            paper.datasets,
            f"HOMI and {reduced}, {protocol}",
        )
        items += [
            picture(
                f"figure-{number}-{protocol}",
                f"HOMI against HOMI {_REDUCED[reduced]}, {protocol}: {share}.",
                figure,
                f"{share}; the numbers are in the table below.",
            ),
            Listing(
                f"figure-{number}-{protocol}-values",
                _values(paper, protocol, reduced, share),
            ),
        ]
    return Section(f"Figure {number}: {_REDUCED[reduced]}", tuple(items))


def _values(paper: PaperResults, protocol: str, reduced: str, share: str) -> Table:
    rows = [
        [METRICS[metric].title, method, *_row(paper, protocol, method, metric)]
        for metric in PAPER_METRICS
        for method in ("HOMI", reduced)
    ]
    caption = f"HOMI and {reduced}, {protocol}: {share}"
    return table(caption, ["metric", "method", *paper.datasets], rows)


def _row(paper: PaperResults, protocol: str, method: str, metric: str) -> list[str]:
    keys = [(protocol, dataset, method, metric) for dataset in paper.datasets]
    found = paper.summary
    return [
        shown(found.loc[key], paper.folds) if key in found.index else NOT_RUN
        for key in keys
    ]
