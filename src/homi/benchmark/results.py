"""Stored cells as data frames: values, means and standard deviations over folds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from homi.benchmark.cells import USUAL_AUC, Cell, Record
from homi.benchmark.experiment import Experiment
from homi.benchmark.records import TIMES
from homi.benchmark.runner import sort_out
from homi.benchmark.store import stored
from homi.metrics import PAPER_METRICS

#: Columns that name what a row is about.
KEYS = ["protocol", "dataset", "method"]


def read_results(directory: Path, experiment: Experiment | None = None) -> pd.DataFrame:
    """Read stored cells: a row each, with the task, the metrics and the seconds.

    Parameters
    ----------
    directory : Path
        Journal of the experiment; its table is next to it.
    experiment : Experiment or None, default=None
        If given, results that are stale or foreign to it are refused.

    Raises
    ------
    ValueError
        If a result is damaged, lacks a metric, or is refused.
    """
    if experiment is None:
        return as_frame(stored(directory))
    found = sort_out(experiment, directory)
    for what, tasks in (("stale", found.stale), ("foreign", found.foreign)):
        if tasks:
            raise ValueError(
                f"{directory} has {len(tasks)} {what} results, the first of them of "
                f"{tasks[0]}; run the experiment {experiment.name} again, or delete "
                "them."
            )
    return as_frame(
        (task, record) for task, record in found.current if isinstance(task, Cell)
    )


def as_frame(cells: Iterable[tuple[Cell, Record]]) -> pd.DataFrame:
    """Return a row per cell; refuse a cell that lacks a metric."""
    cells = list(cells)
    for cell, record in cells:
        for name in (*PAPER_METRICS, USUAL_AUC):
            if name not in record["metrics"]:
                raise ValueError(
                    f"the stored result of {cell} is stale: it has no {name}; run the "
                    "experiment again, or delete it."
                )
    rows = [
        {
            **{key: getattr(cell, key) for key in (*KEYS, "fold")},
            **record["metrics"],
            **record["seconds"],
        }
        for cell, record in cells
    ]
    columns = [*KEYS, "fold", *PAPER_METRICS, USUAL_AUC, *TIMES]
    return pd.DataFrame(rows, columns=columns)


def summarize(results: pd.DataFrame) -> pd.DataFrame:
    """Return mean, standard deviation (ddof = 1) and number of folds of every metric.

    Parameters
    ----------
    results : DataFrame
        A row per cell, as :func:`read_results` returns it.

    Returns
    -------
    DataFrame
        Columns mean, std and folds; the index is protocol, data set, method, metric.
    """
    long = results.melt([*KEYS, "fold"], list(PAPER_METRICS), "metric")
    summary = long.groupby([*KEYS, "metric"])["value"].agg(["mean", "std", "count"])
    # Rows of a sorted index are found without a scan.
    return summary.rename(columns={"count": "folds"}).sort_index()


def means_of(
    summary: pd.DataFrame,
    protocol: str,
    metric: str,
    methods: Sequence[str] | None = None,
    folds: int = 1,
) -> pd.DataFrame:
    """Return the means of one metric under one protocol.

    Parameters
    ----------
    summary : DataFrame
        As :func:`summarize` returns it.
    protocol, metric : str
        What to select.
    methods : sequence of str or None, default=None
        Columns of the result; None for all methods.
    folds : int, default=1
        A mean over fewer folds becomes NaN.

    Returns
    -------
    DataFrame
        A row per data set, a column per method.
    """
    of = summary.index.get_level_values
    here = (of("protocol") == protocol) & (of("metric") == metric)
    means = summary["mean"][here & (summary["folds"] >= folds)]
    table = means.droplevel(["protocol", "metric"]).unstack("method")
    return table if methods is None else table.reindex(columns=list(methods))


def complete(means: pd.DataFrame, datasets: Sequence[str]) -> pd.DataFrame:
    """Return the rows of the data sets, in this order, that have all methods."""
    there = [name for name in datasets if name in means.index]
    return means.loc[there].dropna(axis=0)
