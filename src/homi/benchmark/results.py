"""Stored cells as tables of numbers: means and deviations over folds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from homi.benchmark.cells import USUAL_AUC, Cell, Record
from homi.benchmark.experiment import Experiment
from homi.benchmark.printed import printed_results
from homi.benchmark.records import TIMES
from homi.benchmark.runner import sort_out
from homi.benchmark.store import stored
from homi.metrics import PAPER_METRICS

_KEYS = ["protocol", "dataset", "method"]

#: Methods whose printed "macro-averaging AUC" is 1 less the Hamming loss on all twelve
#: data sets; so it is by the protocol that does as was published.
ACCURACY_FOR_AUC = ("HOMI", "ML-LRC")


def read_results(directory: Path, experiment: Experiment | None = None) -> pd.DataFrame:
    """One row per stored cell: what it is of, the metrics, and the seconds.

    Cells that the experiment, if one is given, does not ask for as they are, and those
    without a metric of today, are refused.
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
    """A row per cell; one that lacks a metric is refused, not averaged without."""
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
            **{key: getattr(cell, key) for key in (*_KEYS, "fold")},
            **record["metrics"],
            **record["seconds"],
        }
        for cell, record in cells
    ]
    columns = [*_KEYS, "fold", *PAPER_METRICS, USUAL_AUC, *TIMES]
    return pd.DataFrame(rows, columns=columns)


def summarise(results: pd.DataFrame, *, usual_auc: bool = True) -> pd.DataFrame:
    """Mean, standard deviation (ddof = 1) and number of folds of every metric.

    The index is protocol, data set, method and metric. What the paper prints is there
    too, as protocol ``"printed"``. The AUC of the clean protocol is the usual one, or,
    without ``usual_auc``, that which the paper defines: ties count as right.
    """
    named = _under_published_names(_with_usual_auc(results) if usual_auc else results)
    long = named.melt([*_KEYS, "fold"], list(PAPER_METRICS), "metric")
    measured = long.groupby([*_KEYS, "metric"])["value"].agg(["mean", "std", "count"])
    measured = measured.rename(columns={"count": "folds"})
    whole = pd.concat([measured, _printed()]) if len(measured) else _printed()
    # Rows of a sorted index are found without looking at all of them.
    return whole.sort_index()


def _with_usual_auc(results: pd.DataFrame) -> pd.DataFrame:
    clean = results["protocol"] == "clean"
    return results.assign(
        macro_auc=results["macro_auc"].where(~clean, results[USUAL_AUC])
    )


def _under_published_names(results: pd.DataFrame) -> pd.DataFrame:
    """Where the authors print 1 less the Hamming loss as AUC, so do we."""
    bases = results["method"].str.split(r"[ ]|-without|-step", regex=True).str[0]
    there = (results["protocol"] == "as-published") & bases.isin(ACCURACY_FOR_AUC)
    auc = results["macro_auc"].where(~there, 1 - results["hamming_loss"])
    return results.assign(macro_auc=auc)


def _printed() -> pd.DataFrame:
    rows = {
        ("printed", dataset, method, metric): (cell.mean, cell.std, 5)
        for (metric, method, dataset), cell in printed_results().items()
    }
    index = pd.MultiIndex.from_tuples(rows, names=[*_KEYS, "metric"])
    return pd.DataFrame(list(rows.values()), index, ["mean", "std", "folds"])


def means_of(
    summary: pd.DataFrame,
    protocol: str,
    metric: str,
    methods: Sequence[str] | None = None,
    folds: int = 1,
) -> pd.DataFrame:
    """Means of one metric by one protocol: a row per data set, a column per method.

    NaN where there are fewer folds than asked for.
    """
    levels = summary.index.droplevel(["dataset", "method"])
    here = summary[levels.isin([(protocol, metric)]) & (summary["folds"] >= folds)]
    table = here["mean"].droplevel(["protocol", "metric"]).unstack("method")
    return table if methods is None else table.reindex(columns=list(methods))


def complete(means: pd.DataFrame, datasets: Sequence[str]) -> pd.DataFrame:
    """The data sets, in this order, on which all methods were run."""
    there = [name for name in datasets if name in means.index]
    return means.loc[there].dropna(axis=0)
