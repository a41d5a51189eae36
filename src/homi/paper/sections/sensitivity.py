"""Figure 5: how much the parameters matter."""

from __future__ import annotations

from homi.benchmark.figures import sensitivity as draw
from homi.benchmark.methods import with_settings
from homi.benchmark.tables import NOT_RUN, Table
from homi.metrics import METRICS, PAPER_METRICS
from homi.paper.claims import INSENSITIVE, stable
from homi.paper.comparison import shown
from homi.paper.results import SYMBOLS, PaperResults
from homi.paper.sections.claims import claim_evidence
from homi.paper.sections.drawing import picture, table
from homi.report.document import Item, Listing, Prose, Section

_Curves = dict[str, list[tuple[float, str]]]


def sensitivity(paper: PaperResults) -> Section | None:
    """Return Figure 5, if parameters were varied."""
    asked = paper.experiment.sensitivity
    curves: _Curves = {
        SYMBOLS.get(key, key): [(v, with_settings("HOMI", **{key: v})) for v in values]
        for key, values in asked.values.items()
    }
    items = [
        item
        for dataset in asked.datasets
        if dataset in paper.datasets
        for protocol in paper.protocols
        for item in _dataset(paper, dataset, protocol, curves)
    ]
    return Section("Figure 5: sensitivity", (_lead(paper), *items)) if items else None


def _lead(paper: PaperResults) -> Prose:
    found = claim_evidence(paper)
    words = [
        f"{protocol}: {finding.text}."
        for protocol in paper.protocols
        if (finding := stable(found, protocol)) is not None
    ]
    return Prose(
        "One parameter is changed at a time, the others are those of the paper. The "
        "drawing of Figure 5 is not in the paper's source, so the values are ours. The "
        "paper calls HOMI stable in a reasonably wide range; we call it so where no "
        f"loss grows by more than {INSENSITIVE:.0%}. {' '.join(words)}"
    )


def _dataset(
    paper: PaperResults, dataset: str, protocol: str, curves: _Curves
) -> list[Item]:
    stem, where = f"figure-5-{dataset.lower()}-{protocol}", f"{dataset}, {protocol}"
    values = Listing(f"{stem}-values", _values(paper, dataset, protocol, curves))
    figure = draw(paper.summary, protocol, dataset, curves, f"Sensitivity, {where}")
    caption = f"One parameter of HOMI changed, the others as they are ({where})."
    alt = f"The four metrics over {', '.join(curves)}; the numbers are in the table."
    return [picture(stem, caption, figure, alt), values]


def _values(paper: PaperResults, dataset: str, protocol: str, curves: _Curves) -> Table:
    rows = []
    for symbol, points in curves.items():
        for value, method in points:
            keys = [(protocol, dataset, method, metric) for metric in PAPER_METRICS]
            cells = [
                shown(paper.summary.loc[k], paper.folds)
                if k in paper.summary.index
                else NOT_RUN
                for k in keys
            ]
            rows.append([symbol, f"{value:g}", *cells])
    titles = [METRICS[metric].title for metric in PAPER_METRICS]
    caption = f"HOMI on {dataset}, {protocol}, one parameter changed"
    return table(caption, ["parameter", "value", *titles], rows)
