"""The report of the paper: every table and figure, as a pure function of results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from homi.benchmark.experiment import Experiment
from homi.paper.results import read_paper_results
from homi.paper.sections.ablations import ablations
from homi.paper.sections.cause import cause
from homi.paper.sections.cells import cells
from homi.paper.sections.claims import claimed
from homi.paper.sections.comparison import comparisons
from homi.paper.sections.correlations import correlations
from homi.paper.sections.provenance import datasets, provenance
from homi.paper.sections.running import convergence, running_times
from homi.paper.sections.sensitivity import sensitivity
from homi.paper.sections.significance import significance
from homi.report.document import Page

_LEAD = (
    "Every table and figure of “Multi-label Classification with High-rank and "
    "High-order Label Correlations” (HOMI), reproduced from stored results."
)

_ABSENT = (
    " No public copy of {} can be had here, so its results are missing; "
    "`homi data add` takes the file if you have it, and `homi bench run` then "
    "includes it."
)

_WHOLE = (
    "This page has the findings. All tables and figures, as one page and as CSV, "
    "LaTeX, SVG and PDF files: "
    "`homi bench report benchmarks/paper.toml --output build/report`."
)

_SECTIONS = (
    cause,
    cells,
    claimed,
    comparisons,
    significance,
    correlations,
    ablations,
    sensitivity,
    convergence,
    running_times,
    datasets,
    provenance,
)

#: What the page in the documentation shows of the report.
DOCUMENTED_TABLES = (
    "ranks-of-homi",
    "cells",
    "open-cells",
    "sources",
    "claims",
    "ranks",
)
DOCUMENTED_FIGURES = ("ranks-of-homi", "figure-1-emotions-as-published")


def paper_page(experiment: Experiment, directory: Path) -> Page:
    """Return the whole report of an experiment. Equal results give an equal page."""
    paper = read_paper_results(experiment, directory)
    sections = [part for make in _SECTIONS if (part := make(paper)) is not None]
    title = "The HOMI paper, checked"
    if experiment.name != "paper":
        title += f" ({experiment.name})"
    absent = " and ".join(paper.absent)
    lead = _LEAD + (_ABSENT.format(absent) if absent else "")
    return Page(title, lead, tuple(sections))


def documented_page(page: Page) -> Page:
    """Return the part of the report that the documentation shows."""
    part = page.selected({*DOCUMENTED_TABLES, *DOCUMENTED_FIGURES})
    return replace(part, lead=f"{page.lead} {_WHOLE}")
