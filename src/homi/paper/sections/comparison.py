"""Tables 3 to 6: every method on every data set."""

from __future__ import annotations

from sklearn.model_selection import ParameterGrid

from homi.benchmark.methods import BASELINES, METHODS, marked
from homi.benchmark.results import complete, means_of
from homi.benchmark.statistics import average_ranks
from homi.benchmark.tables import Entry, Table
from homi.metrics import METRICS, PAPER_METRICS
from homi.paper.comparison import comparison, rank, side_by_side
from homi.paper.results import PaperResults
from homi.report.document import Item, Listing, Prose, Section

_MARKS = (
    "Mean ± standard deviation over the folds; the best of a column in bold. ● says "
    "that HOMI is at least as good as the method, ○ that it is worse. Average ranks "
    "are over the data sets on which every method of the table has all its folds."
)


def comparisons(paper: PaperResults) -> Section:
    """Return Tables 3 to 6 and the average ranks."""
    metrics = [
        _metric(paper, number, metric)
        for number, metric in enumerate(PAPER_METRICS, start=3)
    ]
    ranked = Listing("ranks", ranks(paper))
    lead = (Prose(_MARKS), *_budget(paper))
    return Section("How the methods compare", (*lead, ranked, *metrics))


def _metric(paper: PaperResults, number: int, metric: str) -> Section:
    title, summary = METRICS[metric].title, paper.summary
    rows = [*METHODS, *_baselines(paper)]
    clean = comparison(summary, "clean", metric, paper.datasets, rows, paper.folds)
    both = side_by_side(summary, metric, paper.datasets, paper.folds)
    items: list[Item] = [
        Listing(f"table-{number}-clean", clean),
        Listing(f"table-{number}-side-by-side", both),
    ]
    for protocol in ("as-published", "printed"):
        found = comparison(summary, protocol, metric, paper.datasets, folds=paper.folds)
        items.append(Listing(f"table-{number}-{protocol}", found))
    return Section(f"Table {number}: {title}", tuple(items))


def _baselines(paper: PaperResults) -> list[str]:
    return [name for name in BASELINES if name in paper.experiment.baselines]


def ranks(paper: PaperResults) -> Table:
    """Return average ranks under the clean protocol: a row per method."""
    methods = [*METHODS, *_baselines(paper)]
    columns = {}
    for metric in PAPER_METRICS:
        means = means_of(paper.summary, "clean", metric, methods, paper.folds)
        whole = complete(means, paper.datasets)
        greater = METRICS[metric].greater_is_better
        columns[metric] = average_ranks(whole, greater_is_better=greater)
    count = len(whole)
    rows = tuple(
        (Entry(marked(name)), *(rank(columns[m], name) for m in PAPER_METRICS))
        for name in methods
    )
    titles = [METRICS[metric].title for metric in PAPER_METRICS]
    caption = f"Average ranks, clean, {count} data sets (1 is best of {len(methods)})"
    return Table(caption, ("method", *titles), rows)


def _grid_size(method: str) -> int:
    return len(ParameterGrid(METHODS[method].paper_grid))


def _budget(paper: PaperResults) -> list[Prose]:
    hours = paper.results.groupby("method")["search"].sum().astype(float) / 3600
    found = [
        f"{name} {search.points} of {_grid_size(name):,} points "
        f"({hours.get(name, 0.0):.1f} hours), judged by "
        f"{METRICS[search.metric].title.lower()} on {search.validation:.0%} of its rows"
        for name, search in paper.experiment.searches.items()
    ]
    if not found:
        return []
    rest = [
        f"{name} (a grid of {_grid_size(name):,} points by our reading)"
        for name, method in METHODS.items()
        if method.paper_grid and name not in paper.experiment.searches
    ]
    unsearched = f" {', '.join(rest)} is not searched." if rest else ""
    return [
        Prose(
            "Hyper-parameters of a grid are searched at points drawn at random inside "
            f"every training fold: {'; '.join(found)}. In brackets is what all folds "
            f"and protocols took, one core.{unsearched} All others run with the "
            "values that the paper states."
        )
    ]
