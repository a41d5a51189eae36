"""The paper's tables and figures from stored results: a pure function of them."""

from __future__ import annotations

from pathlib import Path

from homi.benchmark.experiment import Experiment
from homi.report.document import Page
from homi.report.paper.ablations import ablations
from homi.report.paper.claims import claimed
from homi.report.paper.comparison import comparisons
from homi.report.paper.correlations import correlations
from homi.report.paper.datasets import datasets
from homi.report.paper.given import read_given
from homi.report.paper.making import making
from homi.report.paper.running import convergence, running_times
from homi.report.paper.sensitivity import sensitivity
from homi.report.paper.significance import significance

_LEAD = (
    "Every table and figure of “Multi-label Classification with High-rank and "
    "High-order Label Correlations” (HOMI), made again from stored results. "
    "**printed** is what the paper prints. **as-published** does what the authors' "
    "script does: features whitened on all rows before the split, enron and bibtex "
    "as its loader stacks them, and 1 less the Hamming loss under the name of AUC for "
    "HOMI and ML-LRC. **clean** learns everything inside the training fold, on the "
    "whole data, and its AUC is one, with ties that count half. † marks a method "
    "whose equations had to be reconstructed. What was not run is shown as not run."
)

_PARTS = (
    claimed,
    datasets,
    comparisons,
    significance,
    correlations,
    ablations,
    sensitivity,
    convergence,
    running_times,
    making,
)


def paper_page(experiment: Experiment, directory: Path) -> Page:
    """The whole report: same results, same page."""
    given = read_given(experiment, directory)
    sections = [section for part in _PARTS if (section := part(given)) is not None]
    return Page(
        f"HOMI: the paper, regenerated ({experiment.name})", _LEAD, tuple(sections)
    )
