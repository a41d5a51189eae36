"""HOMI's average rank by metric: printed, as published, clean; and HOMICV's."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from homi.benchmark.figures.style import (
    BLUE,
    GREEN,
    HOMI_COLOR,
    ORANGE,
    PlotOptions,
    settled,
)
from homi.benchmark.methods import METHODS
from homi.benchmark.results import complete, means_of
from homi.benchmark.statistics import average_ranks
from homi.metrics import METRICS, PAPER_METRICS
from homi.paper.results import PaperResults, summarize_with_printed

#: Rows of the picture, in this order.
PRINTED, PUBLISHED, CLEAN, HOMICV = "HOMI, printed", "as published", "clean", "HOMICV"

_LOOKS = {
    PRINTED: (ORANGE, "s"),
    PUBLISHED: (BLUE, "o"),
    CLEAN: (HOMI_COLOR, "D"),
    HOMICV: (GREEN, "*"),
}


def homi_ranks(paper: PaperResults) -> pd.DataFrame:
    """Return average ranks among the eleven methods: a row per kind, four metrics.

    HOMICV is ranked in HOMI's place, clean. Ranks are over the data sets of the paper
    that are complete everywhere; ``attrs["datasets"]`` names them.
    """
    both = paper.results
    if len(paper.homicv):
        both = pd.concat([both, paper.homicv])
    with_homicv = summarize_with_printed(both)
    tables = {
        PRINTED: (paper.summary, "printed", "HOMI"),
        PUBLISHED: (paper.summary, "as-published", "HOMI"),
        CLEAN: (paper.summary, "clean", "HOMI"),
        HOMICV: (with_homicv, "clean", "HOMICV"),
    }
    others = [name for name in METHODS if name != "HOMI"]
    means = {
        (kind, metric): means_of(summary, protocol, metric, [*others, own], paper.folds)
        for kind, (summary, protocol, own) in tables.items()
        for metric in PAPER_METRICS
    }
    there = [set(complete(table, paper.datasets).index) for table in means.values()]
    datasets = [name for name in paper.datasets if all(name in some for some in there)]
    ranks = pd.DataFrame(index=list(tables), columns=list(PAPER_METRICS), dtype=float)
    for (kind, metric), table in means.items():
        greater = METRICS[metric].greater_is_better
        found = average_ranks(table.loc[datasets], greater_is_better=greater)
        ranks.loc[kind, metric] = found.iloc[-1]
    ranks.attrs["datasets"] = datasets
    return ranks


def rank_picture(ranks: pd.DataFrame) -> Figure:
    """Draw a line per metric with a mark per kind; 1, at the left, is best."""
    figure = Figure(figsize=(9.0, 3.4), layout="constrained")
    axes = figure.add_subplot()
    titles = [METRICS[metric].title for metric in ranks.columns]
    for kind, (color, marker) in _LOOKS.items():
        size = 15 if marker == "*" else 9
        style: PlotOptions = {"color": color, "marker": marker, "markersize": size}
        axes.plot(ranks.loc[kind], range(len(titles)), label=kind, ls="none", **style)
    axes.set_yticks(range(len(titles)), titles)
    axes.set(xlim=(0.7, len(METHODS) + 0.3), ylim=(len(titles) - 0.5, -0.5))
    axes.set_xticks(range(1, len(METHODS) + 1))
    axes.set_xlabel("average rank among eleven methods (1 is best)")
    axes.grid(axis="both", color="0.88", linewidth=0.6)
    axes.set_axisbelow(True)
    figure.legend(loc="outside upper center", ncols=4, frameon=False)
    return settled(figure)
