"""Significance of differences between methods: ranks, Friedman, Holm, Wilcoxon.

Most functions take one metric's means as a data frame, a row per data set and a
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


def stopped_last(means: pd.DataFrame, *, greater_is_better: bool) -> pd.DataFrame:
    """Return the means with NaN replaced by a value worse than all others of its row.

    A method without a value, because it exceeded a limit, then has the last rank.
    """
    worst = means.min(axis=1) - 1 if greater_is_better else means.max(axis=1) + 1
    return means.apply(lambda column: column.fillna(worst))


def rank_intervals(
    means: pd.DataFrame,
    *,
    greater_is_better: bool,
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
) -> pd.DataFrame:
    """Return bootstrap intervals of average ranks, data sets drawn with replacement.

    Returns
    -------
    DataFrame
        Columns low and high; a row per method.
    """
    ranks = means.rank(axis=1, ascending=not greater_is_better, method="average")
    drawn = np.random.default_rng(seed).integers(len(means), size=(draws, len(means)))
    averages = ranks.to_numpy()[drawn].mean(axis=1)
    tails = np.quantile(averages, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return pd.DataFrame(tails.T, index=means.columns, columns=["low", "high"])


def wilcoxon_holm(
    means: pd.DataFrame, control: str, *, greater_is_better: bool
) -> pd.DataFrame:
    """Compare a control with each other method by Wilcoxon's signed-rank test.

    Data sets without a value of both methods are left out of a comparison.

    Returns
    -------
    table : DataFrame, one row per method
        ``median`` is the median difference, above 0 where the control is better; ``p``
        is two-sided, and ``p_holm`` adjusted by Holm's procedure.
    """
    sign = 1.0 if greater_is_better else -1.0
    rows = {}
    for method in means.columns.drop(control):
        gaps = sign * (means[control] - means[method]).dropna().to_numpy()
        p = float(stats.wilcoxon(gaps).pvalue) if np.any(gaps) else 1.0
        rows[method] = {"median": float(np.median(gaps)) if len(gaps) else 0.0, "p": p}
    table = pd.DataFrame.from_dict(rows, orient="index")
    p = table["p"].sort_values(kind="stable")
    adjusted = np.maximum.accumulate(np.arange(len(p), 0, -1) * p.to_numpy())
    table["p_holm"] = pd.Series(np.minimum(adjusted, 1.0), index=p.index)
    return table


class WinsTiesLosses(NamedTuple):
    """Data sets on which a control wins, ties and loses."""

    wins: int
    ties: int
    losses: int


def wins_ties_losses(gaps: pd.DataFrame) -> WinsTiesLosses:
    """Count data sets by the mean difference over folds, at one standard error.

    Parameters
    ----------
    gaps : DataFrame, a row per data set and a column per fold
        Differences, above 0 where the control is better; NaN where a data set has
        fewer folds. Rows without any difference are not counted.
    """
    gaps = gaps.dropna(how="all")
    mean = gaps.mean(axis=1)
    error = gaps.std(axis=1, ddof=1).fillna(0.0) / np.sqrt(gaps.notna().sum(axis=1))
    wins, losses = int((mean > error).sum()), int((mean < -error).sum())
    return WinsTiesLosses(wins, len(gaps) - wins - losses, losses)
