"""Claims on the share of cases in which HOMI is at least as good."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from homi.benchmark.methods import METHODS
from homi.benchmark.results import means_of
from homi.metrics import METRICS
from homi.paper.claims.claim import ENOUGH, Claim, Evidence, Finding, claim, percent
from homi.paper.comparison import BETTER, mark
from homi.paper.printed import printed_marks, printed_results

_AT_LEAST_AS_GOOD = {
    "hamming_loss": 85.0,
    "ranking_loss": 71.7,
    "one_error": 65.8,
    "macro_auc": 90.8,
}


def comparisons(evidence: Evidence) -> Iterator[Claim]:
    """Yield the claims on comparisons with other methods."""
    for metric, claimed in _AT_LEAST_AS_GOOD.items():
        text = (
            f"{METRICS[metric].title}: HOMI is superior or at least comparable in "
            f"{claimed:g} % of cases"
        )
        measured = claim(evidence, text, _share, metric, claimed)
        found = {"printed": _printed_share(metric, claimed), **measured.findings}
        yield Claim(text, found)


def _printed_share(metric: str, claimed: float) -> Finding:
    """By the printed marks, and by the printed numbers themselves."""
    keys = [k for k in printed_results() if k[0] == metric and k[1] != "HOMI"]
    marks = printed_marks()
    marked = sum(marks.get(key) == BETTER for key in keys)
    unmarked = sum(key not in marks for key in keys)
    means = pd.DataFrame(
        [(k[2], k[1], v.mean) for k, v in printed_results().items() if k[0] == metric],
        columns=["dataset", "method", "mean"],
    ).pivot(index="dataset", columns="method", values="mean")
    won, total = _won(means, metric)
    text = (
        f"{100 * won / total:.1f} % by the numbers ({won} of {total}); {marked} "
        f"marked ● and {unmarked} not marked"
    )
    return Finding(text, 100 * won / total >= ENOUGH * claimed)


def _share(
    evidence: Evidence, protocol: str, metric: str, claimed: float
) -> Finding | None:
    means = means_of(evidence.summary, protocol, metric, list(METHODS))
    won, total = _won(means.reindex(list(evidence.datasets)), metric)
    return percent(won, total, claimed)


def _won(means: pd.DataFrame, metric: str) -> tuple[int, int]:
    others = [name for name in METHODS if name != "HOMI"]
    marks = [
        mark(row, name, metric).strip()
        for _, row in means.iterrows()
        for name in others
        if not np.isnan(row[name])
    ]
    return marks.count(BETTER), len(marks)
