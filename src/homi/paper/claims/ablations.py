"""Claims on HOMI against HOMI without one part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from homi.benchmark.methods import WITHOUT_GRAPH
from homi.benchmark.results import means_of
from homi.metrics import METRICS, PAPER_METRICS
from homi.paper.claims.claim import ENOUGH, Claim, Evidence, Finding, claim, percent

_PARTS = [
    ("HOMI-without-B", "with high-order information (B)", 83.3),
    ("HOMI-step-wise", "learning jointly rather than step by step", 85.4),
    (WITHOUT_GRAPH, "with local geometric structure (γ > 0)", 95.9),
]
_TIMES = [
    ("HOMI-without-B", "bibtex", "one_error", 5.0, "one-error without B"),
    ("HOMI-step-wise", "mediamill", "ranking_loss", 20.0, "ranking loss step by step"),
    (WITHOUT_GRAPH, "bibtex", "ranking_loss", 13.0, "ranking loss without graph"),
]
#: Parts of data sets that stand in for the whole where that was not run.
STANDS_IN = {"mediamill": "mediamill-2500"}


def ablations(evidence: Evidence) -> Iterator[Claim]:
    """Yield the claims on parts of HOMI."""
    for reduced, words, claimed in _PARTS:
        text = f"HOMI is better {words} in {claimed:g} % of cases"
        yield claim(evidence, text, _share, reduced, claimed)
    for reduced, dataset, metric, claimed, words in _TIMES:
        text = f"{dataset}: the {words} is {claimed:g} times that of HOMI"
        yield claim(evidence, text, _ratio, dataset, reduced, metric, claimed)


def _share(
    evidence: Evidence, protocol: str, reduced: str, claimed: float
) -> Finding | None:
    cases = cases_won(evidence.summary, protocol, reduced, evidence.datasets)
    return percent(*cases, claimed)


def cases_won(
    summary: pd.DataFrame, protocol: str, reduced: str, datasets: Sequence[str]
) -> tuple[int, int]:
    """Count the pairs of data set and metric on which HOMI beats a reduced version."""
    won = total = 0
    for metric in PAPER_METRICS:
        sign = 1.0 if METRICS[metric].greater_is_better else -1.0
        means = means_of(summary, protocol, metric, ["HOMI", reduced])
        gains = sign * (means["HOMI"] - means[reduced]).reindex(list(datasets)).dropna()
        won, total = won + int((gains > 0).sum()), total + len(gains)
    return won, total


def _ratio(
    evidence: Evidence,
    protocol: str,
    dataset: str,
    reduced: str,
    metric: str,
    claimed: float,
) -> Finding | None:
    summary = evidence.summary
    names = (dataset, STANDS_IN.get(dataset, dataset))
    there = [n for n in names if (protocol, n, reduced, metric) in summary.index]
    there = [n for n in there if (protocol, n, "HOMI", metric) in summary.index]
    if not there:
        return None
    full, part = (
        summary.loc[protocol, there[0], method, metric]["mean"]
        for method in ("HOMI", reduced)
    )
    where = "" if there[0] == dataset else f" on {there[0]}"
    text = f"{part / full:.2f} times ({part:.3f} and {full:.3f}){where}"
    return Finding(text, part / full >= ENOUGH * claimed)
