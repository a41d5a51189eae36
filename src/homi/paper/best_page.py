"""HOMICV against all other methods: sixteen entries, and what each part adds.

The ten methods and HOMI as in the paper come from one experiment, HOMICV and the tuned
rivals from another; both have the same folds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from homi.benchmark.methods import METHODS, marked, with_settings
from homi.benchmark.results import complete, means_of
from homi.benchmark.statistics import average_ranks
from homi.benchmark.tables import NOT_RUN, Entry, Table
from homi.metrics import METRICS, PAPER_METRICS
from homi.paper.comparison import rank
from homi.paper.results import summarize_with_printed

OURS = "HOMICV"
#: HOMICV of an earlier version, where its results are given.
BEFORE = "HOMICV before"

#: Standard classifiers with tuned hyperparameters.
RIVALS = ("tuned-ridge", "tuned-nystroem-ridge", "random-forest", "tuned-logistic")

ENTRIES = (*METHODS, *RIVALS, OURS)


def _parts(**there: bool) -> str:
    """Return the name of HOMICV with some parts only."""
    parts = ("kernels", "corrections", "trees", "thresholds")
    left_out = {part: False for part in parts if not there.get(part, False)}
    extra = {part: True for part in there if part not in parts}
    return with_settings(OURS, **left_out, **extra)


#: Steps from the paper's settings to all parts, each with its name.
STEPS = {
    "HOMI as in the paper": "HOMI",
    "λ and scaling chosen, B = I, no graph": _parts(),
    "… and the graph": _parts(graph=True),
    "… and weights of the labels": _parts(weights=True),
    "… and B": _parts(corrections=True),
    "… and a kernel": _parts(kernels=True),
    "… and log-odds": _parts(odds=True),
    "… and log-odds and trees": _parts(odds=True, trees=True),
    "all but the trees": _parts(kernels=True, corrections=True),
    "all of these": _parts(kernels=True, corrections=True, trees=True),
    "all, and thresholds": OURS,
}


#: What is shown where HOMICV is worse than before.
_BESIDE = {
    "HOMICV": OURS,
    "before": BEFORE,
    "without trees": STEPS["all but the trees"],
    "without thresholds": STEPS["all of these"],
}


def best_page(results: pd.DataFrame, datasets: Sequence[str], folds: int = 5) -> str:
    """Return a table of each metric, differences, and the steps, as Markdown."""
    clean = results[results["protocol"] == "clean"]
    there = set(clean["dataset"])
    out = [d for d in datasets if d not in there]
    datasets = [d for d in datasets if d in there]
    summary = summarize_with_printed(clean)
    parts = ["## Sixteen entries\n"]
    parts += [f"No entry was run on {', '.join(out)}.\n"] if out else []
    for metric in PAPER_METRICS:
        parts += [_entries(summary, metric, datasets, folds).markdown()]
    parts += ["## Where HOMICV is not first\n", _not_first(summary, datasets, folds)]
    parts += ["## HOMICV and ridge regression\n"]
    parts += [
        _against(clean, rival, datasets, folds).markdown() for rival in RIVALS[:2]
    ]
    if BEFORE in set(clean["method"]):
        parts += ["## HOMICV and the version before\n", _worse(clean, datasets, folds)]
        parts += [_against(clean, BEFORE, datasets, folds).markdown()]
    parts += ["## What each part adds\n"]
    parts += [_steps(summary, datasets, folds).markdown()]
    return "\n".join(parts)


def _sign(metric: str) -> float:
    return 1.0 if METRICS[metric].greater_is_better else -1.0


def _entries(
    summary: pd.DataFrame, metric: str, datasets: Sequence[str], folds: int
) -> Table:
    means = means_of(summary, "clean", metric, ENTRIES, folds).reindex(list(datasets))
    whole = complete(means, datasets)
    ranks = average_ranks(whole, greater_is_better=METRICS[metric].greater_is_better)
    rows = [
        (
            Entry(marked(method)),
            *(_mean(means.loc[d], method, metric) for d in datasets),
            rank(ranks, method),
        )
        for method in ENTRIES
    ]
    columns = ("entry", *datasets, f"average rank ({len(whole)} data sets)")
    return Table(METRICS[metric].title, columns, tuple(rows))


def _mean(row: pd.Series, method: str, metric: str) -> Entry:
    value = row[method]
    if np.isnan(value):
        return Entry(NOT_RUN)
    # No entry is the best while others are missing.
    best = not row.isna().any() and value == _sign(metric) * (_sign(metric) * row).max()
    return Entry(f"{value:.4f}", bool(best))


def _not_first(summary: pd.DataFrame, datasets: Sequence[str], folds: int) -> str:
    """Return a line for every data set and metric on which another entry is better."""
    lines = []
    for metric in PAPER_METRICS:
        means = complete(means_of(summary, "clean", metric, ENTRIES, folds), datasets)
        for dataset, row in means.iterrows():
            score = _sign(metric) * row
            first, place = score.idxmax(), int((score > score[OURS]).sum()) + 1
            if place > 1:
                deviation = summary.loc["clean", dataset, OURS, metric]["std"]
                lines.append(
                    f"- {METRICS[metric].title}, {dataset}: place {place}, "
                    f"{row[OURS]:.4f} against {row[first]:.4f} of {first} "
                    f"(standard deviation over folds {deviation:.4f})."
                )
    return "\n".join(lines or ["Nowhere."]) + "\n"


def _against(
    results: pd.DataFrame, rival: str, datasets: Sequence[str], folds: int
) -> Table:
    """Mean differences over folds in standard errors of their mean; + is better."""
    rows = [
        (
            Entry(dataset),
            *(
                _in_errors(_gaps(results, rival, dataset, metric), folds)
                for metric in PAPER_METRICS
            ),
        )
        for dataset in datasets
    ]
    titles = (METRICS[metric].title for metric in PAPER_METRICS)
    caption = (
        f"HOMICV less {rival}: mean difference over folds, signed so that + is better "
        "for HOMICV, and in brackets the same in standard errors"
    )
    return Table(caption, ("data set", *titles), tuple(rows))


def _worse(results: pd.DataFrame, datasets: Sequence[str], folds: int) -> str:
    """Say in which cells HOMICV is worse than before by more than an error."""
    compared, better, lines = 0, 0, []
    for metric in PAPER_METRICS:
        for dataset in datasets:
            gaps = _gaps(results, BEFORE, dataset, metric)
            if len(gaps) < folds:
                continue
            compared += 1
            error = gaps.std() / np.sqrt(len(gaps))
            better += bool(gaps.mean() > error)
            if gaps.mean() < -error:
                lines.append(_worse_line(results, dataset, metric, folds))
    text = (
        "The version before had no trees and no common prior of the slopes, and "
        "searched with all rows and landmarks. "
        f"HOMICV is better than before by more than one standard error in {better} of "
        f"{compared} cells and worse in {len(lines)}"
    )
    # A method's name seeds its fits, so that its variants have other seeds.
    seeds = "; its variants, where they were run, have other seeds" if lines else ""
    return "\n".join([f"{text}{seeds}:\n" if lines else f"{text}.", *lines, ""])


def _worse_line(results: pd.DataFrame, dataset: str, metric: str, folds: int) -> str:
    """Return the means of HOMICV, the version before, and variants without a part."""
    scores = _by_fold(results, dataset, metric)
    values = []
    for title, method in _BESIDE.items():
        there = scores[scores.index.get_level_values("method") == method]
        if len(there) == folds:
            values.append(f"{title} {there.mean():.4f}")
    return f"- {METRICS[metric].title} of {dataset}: {', '.join(values)}."


def _gaps(results: pd.DataFrame, rival: str, dataset: str, metric: str) -> pd.Series:
    """Return the difference of each fold that both have; + is better for HOMICV."""
    here = _by_fold(results, dataset, metric)
    ours, theirs = (
        here[here.index.get_level_values("method") == name].droplevel("method")
        for name in (OURS, rival)
    )
    return (_sign(metric) * (ours - theirs)).dropna()


def _by_fold(results: pd.DataFrame, dataset: str, metric: str) -> pd.Series:
    """Return the values of a metric by method and fold."""
    # The usual AUC, as in the other tables of this protocol.
    column = "roc_auc" if metric == "macro_auc" else metric
    here = results[results["dataset"] == dataset]
    return here.set_index(["method", "fold"])[column].dropna()


def _in_errors(gaps: pd.Series, folds: int) -> Entry:
    if len(gaps) < folds:
        return Entry(NOT_RUN)
    error = gaps.std() / np.sqrt(len(gaps))
    if error == 0:
        return Entry(f"{gaps.mean():+.4f}")
    return Entry(f"{gaps.mean():+.4f} ({gaps.mean() / error:+.1f})")


def _steps(summary: pd.DataFrame, datasets: Sequence[str], folds: int) -> Table:
    """Mean of each metric over data sets with all steps, and average ranks."""
    names = list(STEPS.values())
    columns = []
    for metric in PAPER_METRICS:
        means = means_of(summary, "clean", metric, names, folds).reindex(list(datasets))
        whole = complete(means, datasets)
        greater = METRICS[metric].greater_is_better
        ranks = average_ranks(whole, greater_is_better=greater)
        values = whole.mean()
        best = _sign(metric) * (_sign(metric) * values).max()
        columns.append(
            [
                Entry(f"{values[m]:.4f} ({ranks[m]:.1f})", bool(values[m] == best))
                for m in names
            ]
        )
    rows = ((Entry(title), *row) for title, *row in zip(STEPS, *columns, strict=True))
    caption = (
        f"Means over {', '.join(whole.index)}, on which all steps were run; in "
        "brackets the average rank among the steps"
    )
    titles = (METRICS[metric].title for metric in PAPER_METRICS)
    return Table(caption, ("", *titles), tuple(rows))
