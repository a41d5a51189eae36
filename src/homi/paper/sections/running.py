"""Figure 6 (convergence) and Figure 7 (running time)."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from homi.benchmark.figures import convergence as draw_convergence
from homi.benchmark.figures import running_time
from homi.benchmark.methods import BASELINES, METHODS, marked
from homi.benchmark.tables import NOT_RUN, Table
from homi.paper.claims import CONVERGED, sweeps_needed
from homi.paper.results import PaperResults
from homi.paper.sections.drawing import picture, table
from homi.report.document import Item, Listing, Prose, Section


def convergence(paper: PaperResults) -> Section | None:
    """Return Figure 6, if convergence was studied."""
    if not paper.experiment.studies.get("convergence"):
        return None
    items = tuple(i for p in paper.protocols for i in _protocol(paper, p))
    lead = Prose(
        "The objective F after each sweep of the paper's four updates on all rows: as "
        "published from the uniform random start of the authors' code, clean from the "
        f"zeros of Algorithm 1. F has converged when it is within {CONVERGED:.1%} of "
        "its value after 100 sweeps. **joint** are the two-block sweeps that HOMI "
        "takes by default."
    )
    return Section("Figure 6: convergence", (lead, *items))


def _protocol(paper: PaperResults, protocol: str) -> Iterator[Item]:
    found = {
        name: paper.studies.get((protocol, name, "convergence"), {})
        for name in paper.datasets
    }
    curves = {name: item.get("paper", []) for name, item in found.items()}
    figure = draw_convergence(curves, f"Objective by sweep, {protocol}")
    rows = [
        [name, *(_sweeps_text(item.get(sweep, [])) for sweep in ("paper", "joint"))]
        for name, item in found.items()
    ]
    columns = ["data set", "sweeps, paper's", "sweeps, joint"]
    yield picture(
        f"figure-6-{protocol}",
        f"The objective of HOMI sweep by sweep, {protocol}.",
        figure,
        "Curves that fall; the sweeps that each needs are in the table below.",
    )
    caption = f"Sweeps until the objective converges, {protocol}"
    yield Listing(f"figure-6-{protocol}-sweeps", table(caption, columns, rows))


def _sweeps_text(objective: list[float]) -> str:
    return str(sweeps_needed(objective)) if objective else NOT_RUN


def running_times(paper: PaperResults) -> Section | None:
    """Return Figure 7."""
    title = "Figure 7: running time"
    if not paper.experiment.times:
        words = "Not shown: a quick run is too short to measure running times."
        return Section(title, (Prose(words),))
    names = [name for name in [*METHODS, *BASELINES] if name in paper.seconds.columns]
    if not names:
        return None
    seconds = paper.seconds[names].reindex(list(paper.datasets)).rename(columns=marked)
    lead = Prose(
        "Seconds of wall clock to fit and predict one fold by the clean protocol, the "
        f"mean over folds, {paper.experiment.threads} thread; the search for "
        "hyper-parameters is not counted. All methods are our implementations, in "
        "numpy, scipy and scikit-learn: the times compare these, and not the programs "
        "that the paper timed. Several folds ran side by side on one "
        "machine: read orders of magnitude. Ratios measured with care are in "
        "`docs/measured/methods_speed.md`."
    )
    drawing = picture(
        "figure-7",
        "Seconds to fit and predict one fold.",
        running_time(seconds, "Running time, clean"),
        "A mark per method and data set; the numbers are in the table below.",
    )
    return Section(title, (lead, drawing, Listing("figure-7-seconds", _table(seconds))))


def seconds_text(value: float) -> str:
    """Return seconds with three digits.

    Examples
    --------
    >>> seconds_text(0.00926), seconds_text(1083.4), seconds_text(float("nan"))
    ('0.00926', '1,083', 'not run')
    """
    if pd.isna(value):
        return NOT_RUN
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def _table(seconds: pd.DataFrame) -> Table:
    rows = [[str(name), *map(seconds_text, row)] for name, row in seconds.T.iterrows()]
    columns = ["method", *map(str, seconds.index)]
    return table("Seconds to fit and predict one fold", columns, rows)
