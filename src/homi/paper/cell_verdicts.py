"""A verdict on every printed cell of HOMI: reproduced, explained, possible or open."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from homi.benchmark.cells import Cell
from homi.benchmark.protocols import DOUBLED
from homi.metrics import PAPER_METRICS
from homi.paper.data_tables import printed_tables
from homi.paper.printed import Printed, printed_results
from homi.paper.published import LOSSES
from homi.paper.results import SETTING, PaperResults
from homi.typing import Fields

REPRODUCED, EXPLAINED = "reproduced", "explained"
POSSIBLE, OPEN, NO_DATA = "possible", "open", "not run"

#: Folds of the paper.
FOLDS = 5

#: Instead of rows, in the table of settings tried: scores are the same for every row.
SHARES = "label shares"

#: A unit of the last printed digit.
_DIGIT = 0.001

#: Neighbors that the paper states: 10, but for two data sets.
_STATED_NEIGHBORS = {"emotions": 2, "bibtex": 2}


@dataclass(frozen=True)
class CellVerdict:
    """A printed cell of HOMI, our figure, and what explains the one by the other."""

    dataset: str
    metric: str
    printed: Printed
    ours: Printed | None
    verdict: str
    cause: str


def cell_verdicts(paper: PaperResults) -> list[CellVerdict]:
    """Return a verdict on each cell of HOMI's row in Tables 3 to 6."""
    names = [entry["name"] for entry in printed_tables()]
    return [_verdict(paper, name, metric) for metric in PAPER_METRICS for name in names]


def _verdict(paper: PaperResults, dataset: str, metric: str) -> CellVerdict:
    printed = printed_results()[metric, "HOMI", dataset]
    key = ("as-published", dataset, "HOMI", metric)
    there = key in paper.summary.index
    if not there or paper.summary.loc[key, "folds"] < paper.folds:
        return CellVerdict(dataset, metric, printed, None, NO_DATA, "")
    found = paper.summary.loc[key]
    ours = Printed(float(found["mean"]), float(found["std"]))
    if not is_met(ours, printed):
        cause = possible_cause(paper.tried, dataset, metric, printed)
        verdict = POSSIBLE if cause else OPEN
        cause = cause or nearest_setting(paper.tried, dataset, metric, printed)
        return CellVerdict(dataset, metric, printed, ours, verdict, cause)
    cell = Cell("as-published", dataset, "HOMI", 0)
    causes = list(_causes(dataset, metric, paper.experiment.ask(cell).parameters))
    if not is_met(ours, printed, truncated=False):
        causes.append("print truncated, not rounded")
    verdict = EXPLAINED if causes else REPRODUCED
    s = _STATED_NEIGHBORS.get(dataset, 10)
    cause = "; ".join(causes) or f"settings of the text: γ = 1, s = {s}"
    return CellVerdict(dataset, metric, printed, ours, verdict, cause)


def is_met(ours: Printed, printed: Printed, *, truncated: bool = True) -> bool:
    """Return True if our mean is within a standard error of what was printed.

    A printed number stands for all that round to it, or that are cut off to it if
    ``truncated``. The standard error is that of five folds, from the larger deviation.

    Examples
    --------
    >>> is_met(Printed(0.00979, 0.0), Printed(0.009, 0.0))
    True
    >>> is_met(Printed(0.00979, 0.0), Printed(0.009, 0.0), truncated=False)
    False
    """
    low = printed.mean - _DIGIT / 2
    high = printed.mean + (_DIGIT if truncated else _DIGIT / 2)
    error = max(ours.std, printed.std) / math.sqrt(FOLDS)
    return low - error <= ours.mean <= high + error


def _causes(dataset: str, metric: str, parameters: Fields) -> Iterator[str]:
    """Yield what differs from the text of the paper."""
    if metric == "macro_auc":
        yield "1 − Hamming loss"
    if dataset in DOUBLED:
        yield "rows stacked"
    if (gamma := parameters.get("gamma", 1.0)) != 1.0:
        yield f"γ = {gamma:g}"
    stated = _STATED_NEIGHBORS.get(dataset, 10)
    if (s := parameters.get("n_neighbors", 10)) != stated:
        yield f"s = {s}"


def possible_cause(
    tried: pd.DataFrame, dataset: str, metric: str, printed: Printed
) -> str:
    """Return the setting nearest to the printed row if it meets the cell, or ""."""
    if (nearest := nearest_to_row(tried, dataset)) is None:
        return ""
    setting, folds = nearest
    values = 1 - folds["hamming_loss"] if metric == "macro_auc" else folds[metric]
    found = Printed(float(values.mean()), float(values.std()))
    if not is_met(found, printed):
        return ""
    prefix = "1 − Hamming loss; " if metric == "macro_auc" else ""
    return f"{prefix}{setting_text(setting)}: {found.mean:.4f} ± {found.std:.4f}"


def nearest_to_row(
    tried: pd.DataFrame, dataset: str
) -> tuple[tuple[object, ...], pd.DataFrame] | None:
    """Return the setting nearest to a whole printed row, and its losses on five folds.

    It was chosen on all folds if all settings have them, and else on the first. None
    if it was not run on five folds.
    """
    means = tried_settings(tried, dataset)
    if means.empty:
        return None
    best: tuple[object, ...] = distance(means, dataset).idxmin()
    here = tried[tried["dataset"] == dataset].set_index(list(SETTING)).sort_index()
    folds = here.loc[[best], list(LOSSES)]
    return (best, folds) if len(folds) == FOLDS else None


def nearest_setting(
    tried: pd.DataFrame, dataset: str, metric: str, printed: Printed
) -> str:
    """Say which of the settings tried comes nearest to a printed loss, and how near."""
    if metric not in LOSSES:
        return "1 − Hamming loss, and that is open"
    means = tried_settings(tried, dataset)
    if means.empty:
        return ""
    best = (means[metric] - printed.mean).abs().idxmin()
    values = " / ".join(f"{value:.3f}" for value in means.loc[best])
    folds = means.attrs["folds"]
    return (
        f"nearest of {len(means)} settings tried ({folds} "
        f"{'fold' if folds == 1 else 'folds'}): {setting_text(best)}: {values}"
    )


def tried_settings(
    tried: pd.DataFrame, dataset: str, *, folds: int | None = None
) -> pd.DataFrame:
    """Return the mean losses of each setting tried on the folds of a data set.

    ``folds`` is the number of folds, by default that of most settings, which
    ``attrs["folds"]`` says. Settings with fewer are left out.
    """
    chosen = tried[tried["dataset"] == dataset]
    counts = chosen.groupby(list(SETTING))["fold"].nunique()
    if folds is None:
        folds = int(counts.mode().max()) if len(counts) else 0
    here = chosen[chosen["fold"] < folds].groupby(list(SETTING))
    means = here[list(LOSSES)].mean()[here["fold"].nunique() == folds]
    means.attrs["folds"] = folds
    return means


def distance(means: pd.DataFrame, dataset: str) -> pd.Series:
    """Return the mean |log(measured / printed)| of the three losses."""
    printed = [printed_results()[metric, "HOMI", dataset].mean for metric in LOSSES]
    found: pd.Series = np.log(means / printed).abs().mean(axis=1)
    return found


def met_settings(tried: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Return which losses each setting meets, of those that were run on five folds."""
    here = tried[tried["dataset"] == dataset].groupby(list(SETTING))[list(LOSSES)]
    means, stds, counts = here.mean(), here.std(), here.size()
    printed = {metric: printed_results()[metric, "HOMI", dataset] for metric in LOSSES}
    met = {
        metric: [
            is_met(Printed(mean, std), printed[metric])
            for mean, std in zip(means[metric], stds[metric], strict=True)
        ]
        for metric in LOSSES
    }
    return pd.DataFrame(met, means.index)[counts == FOLDS]


def common_settings(tried: pd.DataFrame, datasets: list[str]) -> pd.DataFrame:
    """Return the distance of each setting on the first fold, a column per data set.

    Nearest first. A data set on which few settings of the others were tried is left
    out.
    """
    tried = tried[tried["rows"] != SHARES]
    first = {d: distance(tried_settings(tried, d, folds=1), d) for d in datasets}
    found = pd.DataFrame(first)
    together = found.notna().value_counts()
    most = max(together.index, key=lambda there: (sum(there), together[there]))
    found = found.loc[:, list(most)].dropna()
    return found.loc[found.mean(axis=1).sort_values(kind="stable").index]


def setting_text(setting: tuple[object, ...]) -> str:
    """Return the values of ``SETTING`` in words."""
    rows, gamma, s, lam, sweeps, folds = setting
    if rows == SHARES:
        return "label shares without features"
    count = "1 sweep" if sweeps == 1 else f"{sweeps} sweeps"
    text = f"{rows}, γ = {gamma:g}, s = {s}, λ = {lam:g}, {count}"
    return text if folds == 5 else f"{text}, {folds} folds"


@dataclass(frozen=True)
class DeviationCheck:
    """A printed deviation of the one-error beside that of five random folds."""

    dataset: str
    printed: Printed
    n_test: float
    expected: float
    chance: float


def deviation_checks() -> list[DeviationCheck]:
    """Compare the printed deviations of HOMI's one-error with the binomial one.

    A test fold of n rows with one-error p varies by at least √(p(1 − p)/n) from fold to
    fold. ``chance`` is the probability that five folds vary as little as printed.
    """
    return [
        _deviation(entry["name"], entry["table_2"]["n"]) for entry in printed_tables()
    ]


def _deviation(dataset: str, n: str) -> DeviationCheck:
    printed = printed_results()["one_error", "HOMI", dataset]
    n_test = (2 * DOUBLED[dataset] if dataset in DOUBLED else int(n)) / 5
    expected = math.sqrt(printed.mean * (1 - printed.mean) / n_test)
    ratio = (printed.std + _DIGIT / 2) / expected
    chance = float(stats.chi2.cdf(4 * ratio**2, 4))
    return DeviationCheck(dataset, printed, n_test, expected, chance)
