"""Significance of differences between methods: ranks, Friedman, Holm.

Every function takes one metric's means as a data frame, a row per data set and a
column per method, and whether a greater value is the better one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats


def average_ranks(means: pd.DataFrame, *, greater_is_better: bool) -> pd.Series:
    """Return the mean rank of each method over the data sets; 1 is best."""
    ranks = means.rank(axis=1, ascending=not greater_is_better, method="average")
    return ranks.mean()


class Friedman(NamedTuple):
    """Friedman's test that all methods are alike, and Iman and Davenport's F.

    ``chi2`` counts tied ranks as ties; ``f`` is the usual F from the ranks alone, as
    in the HOMI paper, and ``f_ties`` the one from ``chi2``.
    """

    chi2: float
    p: float
    f: float
    f_ties: float
    critical_value: float


def friedman(
    means: pd.DataFrame, *, greater_is_better: bool, alpha: float = 0.05
) -> Friedman:
    """Run Friedman's test over N data sets and k methods."""
    N, k = means.shape
    found = stats.friedmanchisquare(*means.to_numpy().T)
    ranks = average_ranks(means, greater_is_better=greater_is_better)
    plain = 12 * N / (k * (k + 1)) * (np.sum(ranks**2) - k * (k + 1) ** 2 / 4)
    critical = stats.f.ppf(1 - alpha, k - 1, (k - 1) * (N - 1))
    return Friedman(
        float(found.statistic),
        float(found.pvalue),
        _f_statistic(float(plain), N, k),
        _f_statistic(float(found.statistic), N, k),
        float(critical),
    )


def _f_statistic(chi2: float, N: int, k: int) -> float:
    """``(N - 1) χ² / (N (k - 1) - χ²)``; infinite if all data sets rank alike."""
    rest = N * (k - 1) - chi2
    return (N - 1) * chi2 / rest if rest > 1e-12 else float("inf")


def holm(
    means: pd.DataFrame,
    control: str,
    *,
    greater_is_better: bool,
    alpha: float = 0.05,
) -> pd.DataFrame:
    """Compare a control with every other method by Holm's step-down procedure.

    Returns
    -------
    table : DataFrame, one row per method, the smallest p first
        ``z`` is below 0 where the control ranks better; ``p`` is two-sided, ``level``
        what the j-th smallest must stay below, ``p_holm`` the adjusted p, and
        ``rejected`` whether the methods differ.
    """
    N, k = means.shape
    ranks = average_ranks(means, greater_is_better=greater_is_better)
    others = ranks.drop(control)
    z = (ranks[control] - others) / np.sqrt(k * (k + 1) / (6 * N))
    table = pd.DataFrame({"z": z, "p": 2 * stats.norm.sf(np.abs(z))})
    table = table.sort_values(["p", "z"], kind="stable")
    left = np.arange(k - 1, 0, -1)
    table["level"] = alpha / left
    table["p_holm"] = np.minimum(np.maximum.accumulate(left * table["p"]), 1.0)
    table["rejected"] = table["p_holm"] <= alpha
    return table
