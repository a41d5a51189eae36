"""Figure 5: how much the parameters matter."""

from __future__ import annotations

from homi.benchmark.comparison import shown
from homi.benchmark.figures import sensitivity as draw
from homi.benchmark.methods import with_settings
from homi.benchmark.tables import NOT_RUN, Table
from homi.metrics import METRICS, PAPER_METRICS
from homi.report.document import Item, Listing, Section
from homi.report.paper.drawing import picture, table
from homi.report.paper.given import SYMBOLS, Given

_Curves = dict[str, list[tuple[float, str]]]


def sensitivity(given: Given) -> Section | None:
    asked = given.experiment.sensitivity
    curves: _Curves = {
        SYMBOLS.get(key, key): [(v, with_settings("HOMI", **{key: v})) for v in values]
        for key, values in asked.values.items()
    }
    items = [
        item
        for dataset in asked.datasets
        if dataset in given.datasets
        for protocol in given.experiment.protocols
        for item in _dataset(given, dataset, protocol, curves)
    ]
    return Section("Figure 5: sensitivity", tuple(items)) if items else None


def _dataset(given: Given, dataset: str, protocol: str, curves: _Curves) -> list[Item]:
    stem, where = f"figure-5-{dataset.lower()}-{protocol}", f"{dataset}, {protocol}"
    values = Listing(f"{stem}-values", _values(given, dataset, protocol, curves))
    figure = draw(given.summary, protocol, dataset, curves, f"Sensitivity, {where}")
    caption = f"One parameter of HOMI changed, the others as they are ({where})."
    alt = f"The four metrics over {', '.join(curves)}; the numbers are in the table."
    return [picture(stem, caption, figure, alt), values]


def _values(given: Given, dataset: str, protocol: str, curves: _Curves) -> Table:
    rows = []
    for symbol, points in curves.items():
        for value, method in points:
            keys = [(protocol, dataset, method, metric) for metric in PAPER_METRICS]
            cells = [
                shown(given.summary.loc[k], given.folds)
                if k in given.summary.index
                else NOT_RUN
                for k in keys
            ]
            rows.append([symbol, f"{value:g}", *cells])
    titles = [METRICS[metric].title for metric in PAPER_METRICS]
    caption = f"HOMI on {dataset}, {protocol}, one parameter changed"
    return table(caption, ["parameter", "value", *titles], rows)
