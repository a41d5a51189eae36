"""Stored cells as tables of numbers: means and deviations over folds."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from homi.benchmark.cells import Cell, Record, stored
from homi.benchmark.printed import printed_results
from homi.metrics import PAPER_METRICS

_KEYS = ["protocol", "dataset", "method"]


def read_results(directory: Path) -> pd.DataFrame:
    """One row per stored cell: what it is of, the metrics, and the seconds."""
    return as_frame(stored(directory))


def as_frame(cells: Iterable[tuple[Cell, Record]]) -> pd.DataFrame:
    rows = [
        {
            **{key: getattr(cell, key) for key in (*_KEYS, "fold")},
            **record["metrics"],
            **record["seconds"],
        }
        for cell, record in cells
    ]
    columns = [*_KEYS, "fold", *PAPER_METRICS, "search", "fit", "predict"]
    return pd.DataFrame(rows, columns=columns)


def summarise(results: pd.DataFrame) -> pd.DataFrame:
    """Mean, standard deviation (ddof = 1) and number of folds of every metric.

    The index is protocol, data set, method and metric. What the paper prints is there
    too, as protocol ``"printed"``.
    """
    long = results.melt([*_KEYS, "fold"], list(PAPER_METRICS), "metric")
    measured = long.groupby([*_KEYS, "metric"])["value"].agg(["mean", "std", "count"])
    return pd.concat([measured.rename(columns={"count": "folds"}), _printed()])


def _printed() -> pd.DataFrame:
    rows = {
        ("printed", dataset, method, metric): (cell.mean, cell.std, 5)
        for (metric, method, dataset), cell in printed_results().items()
    }
    index = pd.MultiIndex.from_tuples(rows, names=[*_KEYS, "metric"])
    return pd.DataFrame(list(rows.values()), index, ["mean", "std", "folds"])


def means_of(summary: pd.DataFrame, protocol: str, metric: str) -> pd.DataFrame:
    """Means of one metric by one protocol: a row per data set, a column per method."""
    here = summary.xs((protocol, metric), level=("protocol", "metric"))
    return here["mean"].unstack("method")
