"""Table 7 (Friedman), Table 8 (Holm), and diagrams of critical differences."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
from scipy import stats

from homi.benchmark.figures import critical_difference
from homi.benchmark.methods import METHODS, marked
from homi.benchmark.results import complete, means_of
from homi.benchmark.statistics import friedman, holm
from homi.benchmark.tables import Table
from homi.metrics import METRICS, PAPER_METRICS
from homi.paper.data_tables import printed_tables
from homi.paper.printed import printed_friedman, printed_holm
from homi.paper.results import PaperResults
from homi.paper.sections.drawing import picture, table
from homi.report.document import Item, Listing, Prose, Section

#: Printed p-values that differ from those of their own z by more than this factor; the
#: printed digits of z account for less.
_SLIP = 1.05

_FRIEDMAN = (
    "F is Iman and Davenport's statistic of the average ranks; methods differ where it "
    "exceeds the critical value at the 0.05 level. **F, ties** counts tied ranks as "
    "scipy's test does. Beside the printed figures stand those recomputed from the "
    "printed tables; the paper had more digits than it prints, and so fewer ties."
)
_HOLM = (
    "HOMI is the control. z below 0 says that HOMI ranks better; a method differs from "
    "HOMI where Holm's step-down procedure rejects. **slip** marks printed p-values "
    "that do not belong to the printed z. A z above 0, where the method ranks better "
    "than HOMI, is printed with p = 1; the table has its two-sided p."
)


def significance(paper: PaperResults) -> Section:
    """Return Tables 7 and 8 and the diagrams of critical differences."""
    protocols = ["printed", *paper.protocols]
    tests = [
        Listing(f"table-8-{protocol}", found)
        for protocol in protocols
        if (found := _holm_table(paper, protocol)) is not None
    ]
    items: tuple[Item, ...] = (
        Prose(_FRIEDMAN),
        Listing("table-7", _friedman_table(paper, protocols)),
        Prose(_HOLM),
        *tests,
        *_diagrams(paper, protocols),
    )
    return Section("Which differences are more than chance", items)


def _means(paper: PaperResults, protocol: str, metric: str) -> pd.DataFrame:
    """Return the means of the eleven methods; empty with fewer than 3 data sets."""
    printed = [entry["name"] for entry in printed_tables()]
    folds = 5 if protocol == "printed" else paper.folds
    names = printed if protocol == "printed" else list(paper.datasets)
    means = means_of(paper.summary, protocol, metric, list(METHODS), folds)
    whole = complete(means, names)
    return whole if len(whole) > 2 else whole.iloc[:0]


def _friedman_table(paper: PaperResults, protocols: list[str]) -> Table:
    rows = []
    for protocol in protocols:
        for metric in PAPER_METRICS:
            means = _means(paper, protocol, metric)
            cells = ["not run"] * 5
            if len(means):
                greater = METRICS[metric].greater_is_better
                found = friedman(means, greater_is_better=greater)
                cells = [
                    f"{len(means)}",
                    f"{found.f:.4f}",
                    f"{found.f_ties:.4f}",
                    f"{found.critical_value:.4f}",
                    "differ" if found.f > found.critical_value else "alike",
                ]
            printed = "–"
            if protocol == "printed":
                printed = "{:.4f} (critical {:.4f})".format(*printed_friedman()[metric])
            rows.append([protocol, METRICS[metric].title, printed, *cells])
    columns = ["from", "metric", "printed F", "data sets", "F", "F, ties"]
    columns += ["critical value", "methods"]
    return table("Table 7: Friedman's test", columns, rows)


def _holm_table(paper: PaperResults, protocol: str) -> Table | None:
    rows = [
        row
        for metric in PAPER_METRICS
        if len(means := _means(paper, protocol, metric))
        for row in _holm_rows(means, metric, protocol)
    ]
    columns = ["metric", "method", "z", "p", "level", "p, Holm", "differs"]
    if protocol == "printed":
        columns += ["printed z", "printed p", "slip"]
    caption = f"Table 8: Holm's procedure with HOMI as control, {protocol}"
    return table(caption, columns, rows) if rows else None


def _holm_rows(means: pd.DataFrame, metric: str, protocol: str) -> Iterator[list[str]]:
    greater = METRICS[metric].greater_is_better
    found = holm(means, "HOMI", greater_is_better=greater)
    for method, row in found.iterrows():
        cells = [f"{row['z']:.3f}", f"{row['p']:.3e}", f"{row['level']:.4f}"]
        cells += [f"{row['p_holm']:.3e}", "yes" if row["rejected"] else "no"]
        if protocol == "printed":
            cells += _printed_cells(metric, str(method))
        yield [METRICS[metric].title, marked(str(method)), *cells]


def _printed_cells(metric: str, method: str) -> list[str]:
    printed = printed_holm()[metric, method]
    own = 2 * stats.norm.sf(abs(printed.z))
    ratio = max(printed.p / own, own / printed.p)
    slip = "" if ratio < _SLIP else f"its z has p = {own:.3e}"
    return [f"{printed.z:.3f}", f"{printed.p:.3e}", slip]


def _diagrams(paper: PaperResults, protocols: list[str]) -> Iterator[Item]:
    for protocol in protocols:
        for metric in PAPER_METRICS:
            means = _means(paper, protocol, metric)
            if not len(means):
                continue
            title = METRICS[metric].title
            figure = critical_difference(
                means.rename(columns=marked),
                f"{title}, {protocol}, {len(means)} data sets",
                greater_is_better=METRICS[metric].greater_is_better,
            )
            yield picture(
                f"critical-difference-{protocol}-{metric}".replace("_", "-"),
                f"Critical differences, {title}, {protocol}: methods joined by a bar "
                "are not told apart by Nemenyi's test at the 0.05 level.",
                figure,
                f"Average ranks of the methods by {title}, {protocol}; the numbers are "
                "in the tables above.",
            )
