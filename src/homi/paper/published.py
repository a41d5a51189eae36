"""Which rows each compared method was published with, read off its printed losses.

The authors' loader stacks the training files of enron and bibtex on themselves, and
their script whitens all rows. The paper does not say whether a compared method had
these rows or the plain ones; its printed losses tell.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from homi.benchmark.methods import METHODS
from homi.benchmark.protocols import DOUBLED
from homi.paper.printed import printed_results

LOSSES = ("hamming_loss", "ranking_loss", "one_error")

#: Protocols that a compared method may have been published with; plain rows are clean.
SOURCES = ("clean", "whitened")

COMPARED = tuple(name for name in METHODS if name != "HOMI")


def distances(results: pd.DataFrame, datasets: Sequence[str]) -> pd.DataFrame:
    """Return the mean |log(measured / printed)| of each method and protocol.

    Parameters
    ----------
    results : DataFrame
        A row per cell.
    datasets : sequence of str
        Data sets to compare on. Only losses measured under both protocols count.

    Returns
    -------
    DataFrame
        A row per method, a column per protocol of ``SOURCES``; NaN without results.
    """
    chosen = results[results["dataset"].isin(list(datasets))]
    keys = ["protocol", "method", "dataset"]
    means = chosen.groupby(keys)[list(LOSSES)].mean().stack()
    means.index = means.index.set_names("metric", level=-1)
    printed = pd.Series(
        {
            (method, d, k): cell.mean
            for (k, method, d), cell in printed_results().items()
        }
    )
    table = means.unstack("protocol").reindex(columns=list(SOURCES))
    ratio = np.log(table.astype(float).div(printed.reindex(table.index), axis=0)).abs()
    both = ratio.dropna() if ratio["whitened"].notna().any() else ratio.iloc[:0]
    return both.groupby("method").mean().reindex(list(COMPARED))


def stacked_and_others(datasets: Sequence[str]) -> dict[str, list[str]]:
    """Return the data sets that the loader stacks, the others, and all, by a title."""
    return {
        "enron and bibtex": [name for name in datasets if name in DOUBLED],
        "other data sets": [name for name in datasets if name not in DOUBLED],
        "all": list(datasets),
    }


def sources(results: pd.DataFrame) -> dict[str, str]:
    """Return the protocol nearest to the printed losses of each compared method."""
    found = distances(results, list(results["dataset"].unique()))
    return {
        str(method): "whitened" if row["whitened"] < row["clean"] else "clean"
        for method, row in found.iterrows()
    }


def with_published(results: pd.DataFrame) -> pd.DataFrame:
    """Add the cells of the compared methods as published: those of their source."""
    source = results["method"].map(sources(results))
    copied = results[results["protocol"] == source]
    if copied.empty:
        return results
    return pd.concat([results, copied.assign(protocol="as-published")])
