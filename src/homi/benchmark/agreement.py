"""How near measured rows come to the printed ones, as a page of tables."""

from __future__ import annotations

import pandas as pd

from homi.benchmark.methods import METHODS, marked
from homi.benchmark.results import summarise
from homi.metrics import METRICS, PAPER_METRICS

#: Methods whose printed "AUC" is 1 less the Hamming loss on most data sets.
NO_AUC = ("ML-LRC", "CLML", "HOMI")

#: The last printed digit: no difference is measured in smaller units.
DIGIT = 0.001


def gap(ours: pd.Series, printed: pd.Series) -> float:
    """Ours less printed, in units of the larger of the two standard deviations."""
    deviation = max(ours["std"] if ours["folds"] > 1 else 0.0, printed["std"], DIGIT)
    return float((ours["mean"] - printed["mean"]) / deviation)


def agreement_page(results: pd.DataFrame, protocol: str, folds: int) -> str:
    """Markdown: a table per data set, then the seconds of every method."""
    # Printed rows were made with the AUC that the paper defines.
    summary = summarise(results, usual_auc=False)
    here = results[results["protocol"] == protocol]
    names = list(dict.fromkeys(here["dataset"]))
    tables = [_table(summary, protocol, name, folds) for name in names]
    return "\n".join([*tables, _times(here, names, folds)])


def _table(summary: pd.DataFrame, protocol: str, dataset: str, folds: int) -> str:
    titles = [METRICS[metric].title for metric in PAPER_METRICS]
    lines = [f"## {dataset}\n", _row("method", *titles), "| --- " * 5 + "|"]
    for method in METHODS:
        if (protocol, dataset, method) in summary.index.droplevel("metric"):
            count = int(summary.loc[protocol, dataset, method, "one_error"]["folds"])
            name = marked(method) + ("" if count == folds else f" ({count} of {folds})")
            cells = [
                _cell(summary, protocol, dataset, method, m) for m in PAPER_METRICS
            ]
            lines.append(_row(name, *cells))
        else:
            lines.append(_row(marked(method), *["not run"] * 4))
    return "\n".join(lines) + "\n"


def _cell(summary: pd.DataFrame, *key: str) -> str:
    ours, printed = summary.loc[key], summary.loc["printed", *key[1:]]
    deviation = f" ± {ours['std']:.3f}" if ours["folds"] > 1 else ""
    text = f"{ours['mean']:.3f}{deviation}"
    if key[3] == "macro_auc" and key[2] in NO_AUC:
        return text
    return f"{text} ({printed['mean']:.3f}, {gap(ours, printed):+.1f})"


def _times(here: pd.DataFrame, names: list[str], folds: int) -> str:
    total = here["search"] + here["fit"] + here["predict"]
    seconds = folds * total.groupby([here["dataset"], here["method"]]).mean().unstack()
    seconds = seconds.reindex(index=names, columns=list(METHODS))
    seconds.loc["all"], seconds["all"] = seconds.sum(), seconds.sum(axis=1)
    seconds.loc["all", "all"] = seconds.loc["all", list(METHODS)].sum()
    lines = [
        f"## Seconds of {folds} folds\n",
        _row("data set", *map(marked, METHODS), "all"),
        "| --- " * (len(seconds.columns) + 1) + "|",
    ]
    for name, row in seconds.iterrows():
        cells = ["not run" if pd.isna(value) else f"{value:.1f}" for value in row]
        lines.append(_row(str(name), *cells))
    return "\n".join(lines) + "\n"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
