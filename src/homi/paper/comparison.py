"""Tables 3 to 6: every method on every data set, printed and measured side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from homi.benchmark.methods import METHODS, marked
from homi.benchmark.results import complete, means_of
from homi.benchmark.statistics import average_ranks
from homi.benchmark.tables import NOT_RUN, Entry, Table
from homi.metrics import METRICS

#: What the paper marks: HOMI at least as good as the method, or worse.
BETTER, WORSE = "●", "○"

#: The last printed digit: no difference is measured in smaller units.
_DIGIT = 0.001

#: A column of the index of a summary.
Key = tuple[str, str, str, str]


def comparison(
    summary: pd.DataFrame,
    protocol: str,
    metric: str,
    datasets: Sequence[str],
    methods: Sequence[str] = tuple(METHODS),
    folds: int = 5,
) -> Table:
    """Return a metric under a protocol: mean ± std, HOMI's marks, average ranks.

    Ranks are over the data sets that have all folds of every method.
    """
    means = means_of(summary, protocol, metric, methods).reindex(list(datasets))
    whole = complete(means_of(summary, protocol, metric, methods, folds), datasets)
    greater = METRICS[metric].greater_is_better
    ranks = average_ranks(whole, greater_is_better=greater)
    columns = ("method", *datasets, f"average rank ({len(whole)} data sets)")
    rows = [
        (
            Entry(marked(method)),
            *(
                _value(summary, means, (protocol, d, method, metric), folds)
                for d in datasets
            ),
            rank(ranks, method),
        )
        for method in methods
    ]
    return Table(f"{METRICS[metric].title}, {protocol}", columns, tuple(rows))


def _value(summary: pd.DataFrame, means: pd.DataFrame, key: Key, folds: int) -> Entry:
    _, dataset, method, metric = key
    row = means.loc[dataset]
    if np.isnan(row[method]):
        return Entry(NOT_RUN)
    best = row.max() if METRICS[metric].greater_is_better else row.min()
    text = shown(summary.loc[key], folds) + mark(row, method, metric)
    return Entry(text, bool(row[method] == best))


def shown(found: pd.Series, folds: int) -> str:
    """Format a mean and its standard deviation; add the number of folds if not all."""
    count = int(found["folds"])
    text = f"{found['mean']:.3f}"
    if count > 1:
        text += f" ± {found['std']:.3f}"
    return text if count >= folds else f"{text} ({count} of {folds} folds)"


def mark(row: pd.Series, method: str, metric: str) -> str:
    """Return ● where HOMI is at least as good as the method, ○ where it is worse."""
    if method == "HOMI" or np.isnan(row["HOMI"]):
        return ""
    sign = 1.0 if METRICS[metric].greater_is_better else -1.0
    return f" {BETTER}" if sign * (row["HOMI"] - row[method]) >= 0 else f" {WORSE}"


def rank(ranks: pd.Series, method: str) -> Entry:
    """Return an average rank, marked if it is the best."""
    if ranks.isna().all():
        return Entry("–")
    return Entry(f"{ranks[method]:.2f}", bool(ranks[method] == ranks.min()))


def gap(ours: pd.Series, printed: pd.Series) -> float:
    """Return measured − printed, in units of the larger standard deviation."""
    deviation = max(ours["std"] if ours["folds"] > 1 else 0.0, printed["std"], _DIGIT)
    return float((ours["mean"] - printed["mean"]) / deviation)


def side_by_side(
    summary: pd.DataFrame, metric: str, datasets: Sequence[str], folds: int = 5
) -> Table:
    """Return each value printed, as published and clean, with standardized gaps."""
    rows = [
        (
            Entry(marked(method)),
            Entry(protocol),
            *(
                _compared(summary, (protocol, d, method, metric), folds)
                for d in datasets
            ),
        )
        for method in METHODS
        for protocol in ("printed", "as-published", "clean")
    ]
    title = METRICS[metric].title
    caption = f"{title}: printed and measured (difference in standard deviations)"
    return Table(caption, ("method", "protocol", *datasets), tuple(rows))


def _compared(summary: pd.DataFrame, key: Key, folds: int) -> Entry:
    protocol, *what = key
    if key not in summary.index:
        return Entry("–" if protocol == "printed" else NOT_RUN)
    text, printed = shown(summary.loc[key], folds), ("printed", *what)
    if protocol == "printed" or printed not in summary.index:
        return Entry(text)
    return Entry(f"{text} ({gap(summary.loc[key], summary.loc[printed]):+.1f})")
