"""Claims on HOMI against the compared methods: shares, ratios, ranks, significance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from homi.benchmark.methods import METHODS
from homi.benchmark.results import complete, means_of
from homi.benchmark.statistics import average_ranks, friedman, holm
from homi.metrics import METRICS, PAPER_METRICS
from homi.paper.claims.claim import ENOUGH, Claim, Evidence, Finding, claim, percent
from homi.paper.comparison import BETTER, mark
from homi.paper.printed import printed_marks, printed_results

_ACCURACY, _STACKED = "1 − Hamming loss printed as AUC", "stacked rows of bibtex"

_AT_LEAST_AS_GOOD = {
    "hamming_loss": (85.0, "settings and rows that only HOMI had"),
    "ranking_loss": (71.7, "settings and rows that only HOMI had"),
    "one_error": (65.8, "settings and rows that only HOMI had"),
    "macro_auc": (90.8, _ACCURACY),
}

#: Data set, metric, method, words, what the ratio must reach (0.8 of "nearly": ours),
#: and the cause.
_RATIOS = [
    ("bibtex", "hamming_loss", "BR", "nearly 2", 1.6, _STACKED),
    ("CAL500", "macro_auc", "BILAS", "1.6", ENOUGH * 1.6, _ACCURACY),
    ("bibtex", "one_error", "ML-KNN", "more than 6", 6.0, _STACKED),
    ("corel16k001", "macro_auc", "GLOCAL", "nearly 2", 1.6, _ACCURACY),
    ("bibtex", "ranking_loss", "GLOCAL", "nearly 4", 3.2, _STACKED),
    ("CAL500", "ranking_loss", "ML-LRC", "more than 2", 2.0, "whitened rows of ML-LRC"),
]

#: By the paper's own grouping.
FIRST_AND_SECOND = ("BR", "ML-KNN", "BILAS")
HIGH_ORDER = ("WRAP", "ECC", "GLOCAL", "CLML", "ML-LRC")


def comparisons(evidence: Evidence) -> Iterator[Claim]:
    """Yield the claims on comparisons with other methods."""
    for metric, (claimed, cause) in _AT_LEAST_AS_GOOD.items():
        text = (
            f"{METRICS[metric].title}: HOMI is superior or at least comparable in "
            f"{claimed:g} % of cases"
        )
        arguments: tuple[object, ...] = (metric, claimed)
        found = claim(evidence, text, _share, *arguments, printed=True, cause=cause)
        printed = _printed_share(metric, claimed)
        yield replace(found, findings={**found.findings, "printed": printed})
    for dataset, metric, method, words, least, cause in _RATIOS:
        text = (
            f"{dataset}: HOMI is {words} times better than {method} by "
            f"{METRICS[metric].title}"
        )
        arguments = (dataset, metric, method, least)
        yield claim(evidence, text, _ratio, *arguments, printed=True, cause=cause)
    yield from _on_ranks(evidence)


def _on_ranks(evidence: Evidence) -> Iterator[Claim]:
    cause = "settings and rows that only HOMI had"
    text = "HOMI is better than all first- and second-order methods"
    yield claim(evidence, text, _better, FIRST_AND_SECOND, printed=True, cause=cause)
    for names, words in [
        (("BR",), "BR"),
        (("GLOCAL", "ML-LRC"), "GLOCAL and ML-LRC, the low-rank methods"),
        (HIGH_ORDER, "all high-order methods"),
        (("WRAP", "LFLC"), "WRAP and LFLC by Macro AUC"),
    ]:
        metrics = ("macro_auc",) if words.endswith("AUC") else PAPER_METRICS
        text = f"HOMI is significantly better than {words} (Holm, 0.05)"
        arguments = (names, metrics)
        yield claim(evidence, text, _significant, *arguments, printed=True, cause=cause)
    text = "F exceeds its critical value for all metrics (Friedman)"
    yield claim(evidence, text, _friedman, printed=True)
    text = "LFLC and BILAS perform well on scene, but not on enron and bibtex"
    yield claim(evidence, text, _apt, printed=True)


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
    """Count comparisons at three decimals, as printed: "superior or same"."""
    others = [name for name in METHODS if name != "HOMI"]
    marks = [
        mark(row, name, metric).strip()
        for _, row in means.dropna(subset="HOMI").round(3).iterrows()
        for name in others
        if not np.isnan(row[name])
    ]
    return marks.count(BETTER), len(marks)


def _ratio(
    evidence: Evidence,
    protocol: str,
    dataset: str,
    metric: str,
    method: str,
    least: float,
) -> Finding | None:
    keys = [(protocol, dataset, name, metric) for name in ("HOMI", method)]
    if not all(key in evidence.summary.index for key in keys):
        return None
    homi, other = (float(evidence.summary.loc[key, "mean"]) for key in keys)
    ratio = homi / other if METRICS[metric].greater_is_better else other / homi
    return Finding(f"{ratio:.2f} ({other:.3f} and {homi:.3f})", ratio >= least)


def _tables(
    evidence: Evidence, protocol: str, metrics: Sequence[str]
) -> dict[str, pd.DataFrame] | None:
    """Return the means of all methods by metric; None with fewer than 3 data sets."""
    names = evidence.datasets_of(protocol)
    tables = {
        metric: complete(
            means_of(evidence.summary, protocol, metric, list(METHODS)), names
        )
        for metric in metrics
    }
    return tables if all(len(table) > 2 for table in tables.values()) else None


def _better(
    evidence: Evidence, protocol: str, methods: Sequence[str]
) -> Finding | None:
    tables = _tables(evidence, protocol, PAPER_METRICS)
    if tables is None:
        return None
    worse = []
    for metric, means in tables.items():
        greater = METRICS[metric].greater_is_better
        ranks = average_ranks(means, greater_is_better=greater)
        worse += [
            f"{name} by {METRICS[metric].title}"
            for name in methods
            if ranks[name] <= ranks["HOMI"]
        ]
    total = len(methods) * len(tables)
    text = f"better average rank in {total - len(worse)} of {total} comparisons"
    if worse:
        text += f"; not than {', '.join(worse)}"
    return Finding(text, not worse)


def _significant(
    evidence: Evidence, protocol: str, methods: Sequence[str], metrics: Sequence[str]
) -> Finding | None:
    tables = _tables(evidence, protocol, metrics)
    if tables is None:
        return None
    yes = []
    for metric, means in tables.items():
        greater = METRICS[metric].greater_is_better
        found = holm(means, "HOMI", greater_is_better=greater)
        yes += [
            f"{name} by {METRICS[metric].title}"
            for name in methods
            if found.loc[name, "rejected"] and found.loc[name, "z"] < 0
        ]
    total = len(methods) * len(tables)
    text = f"in {len(yes)} of {total} tests"
    return Finding(f"{text}: {', '.join(yes)}" if yes else text, len(yes) == total)


def _friedman(evidence: Evidence, protocol: str) -> Finding | None:
    tables = _tables(evidence, protocol, PAPER_METRICS)
    if tables is None:
        return None
    tests = [
        friedman(means, greater_is_better=METRICS[metric].greater_is_better)
        for metric, means in tables.items()
    ]
    values = " / ".join(f"{test.f:.2f}" for test in tests)
    text = f"{values}; critical {tests[0].critical_value:.2f}"
    return Finding(text, all(test.f > test.critical_value for test in tests))


def _apt(evidence: Evidence, protocol: str) -> Finding | None:
    """Mean places over the metrics; well is the upper half of the places (ours)."""
    tables = _tables(evidence, protocol, PAPER_METRICS)
    names = ("scene", "enron", "bibtex")
    if tables is None or any(n not in t.index for t in tables.values() for n in names):
        return None
    places = sum(
        table.rank(axis=1, ascending=not METRICS[metric].greater_is_better)
        for metric, table in tables.items()
    ) / len(tables)
    middle = (len(METHODS) + 1) / 2
    parts, holds = [], True
    for method in ("LFLC", "BILAS"):
        found = [float(places.loc[name, method]) for name in names]
        listed = ", ".join(f"{n} {p:.1f}" for n, p in zip(names, found, strict=True))
        parts.append(f"{method}: {listed}")
        holds &= found[0] < middle and min(found[1:]) > middle
    return Finding(f"mean place of {len(METHODS)}: {'; '.join(parts)}", holds)
