"""Tables 3 to 6: every method on every data set, printed and measured side by side.

A table is rows of cells with what they say and how they look; Markdown, LaTeX and CSV
are three ways to write the same one.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from homi.benchmark.agreement import gap
from homi.benchmark.methods import METHODS, marked
from homi.benchmark.statistics import average_ranks
from homi.metrics import METRICS

NOT_RUN = "not run"

#: What the paper marks: HOMI at least as good as the method, or worse.
BETTER, WORSE = "●", "○"


@dataclass(frozen=True)
class Entry:
    """A cell of a table: its text, and whether it is the best of its column."""

    text: str
    best: bool = False


@dataclass(frozen=True)
class Table:
    """A caption, the names of the columns, and rows of entries."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]

    def markdown(self) -> str:
        """A pipe table; the best entry of a column in bold."""
        lines = [[_piped(name) for name in self.columns], ["---"] * len(self.columns)]
        lines += [
            [_bold(_piped(e.text), e, "**{}**") for e in row] for row in self.rows
        ]
        body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return f"{self.caption}\n\n{body}\n"

    def latex(self) -> str:
        """A booktabs table."""
        rows = [
            [_bold(_tex(e.text), e, r"\textbf{{{}}}") for e in row] for row in self.rows
        ]
        lines = [
            r"\begin{table}",
            rf"\caption{{{_tex(self.caption)}}}",
            rf"\begin{{tabular}}{{l{'c' * (len(self.columns) - 1)}}}",
            r"\toprule",
            " & ".join(_tex(name) for name in self.columns) + r" \\",
            r"\midrule",
            *(" & ".join(row) + r" \\" for row in rows),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
        return "\n".join(lines) + "\n"

    def csv(self) -> str:
        """Comma-separated text without marks of the best."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([entry.text for entry in row] for row in self.rows)
        return text.getvalue()


def _bold(written: str, entry: Entry, form: str) -> str:
    return form.format(written) if entry.best else written


def _piped(text: str) -> str:
    """A cell of a pipe table: a bar or the end of a line would end the cell."""
    return " ".join(text.replace("\\", r"\\").replace("|", r"\|").split())


_TEX = {"±": r"$\pm$", "●": r"$\bullet$", "○": r"$\circ$", "†": r"$^\dagger$"}
_TEX |= {"%": r"\%", "_": r"\_", "&": r"\&", "#": r"\#", "$": r"\$"}
_TEX |= {"{": r"\{", "}": r"\}", "\\": r"\textbackslash{}"}
_TEX |= {"^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
_TEX |= {"<": "$<$", ">": "$>$", "|": "$|$", "−": "$-$"}
# At the start of a row these two would be taken for options of the row above.
_TEX |= {"[": "{[}", "*": "{*}"}
_TEX |= {"≤": r"$\leq$", "≥": r"$\geq$", "≠": r"$\neq$", "≈": r"$\approx$"}
_TEX |= {"×": r"$\times$", "·": r"$\cdot$", "→": r"$\to$", "∞": r"$\infty$"}
_TEX |= {"–": "--", "—": "---", "…": r"\ldots{}", "ᵀ": r"$^\top$"}
_TEX |= {"²": "$^2$", "³": "$^3$", "\n": " ", "\u00a0": "~", "\u202f": r"\,"}
_GREEK = {"α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "varepsilon"}
_GREEK |= {"η": "eta", "θ": "theta", "κ": "kappa", "λ": "lambda", "μ": "mu"}
_GREEK |= {"π": "pi", "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "varphi"}
_GREEK |= {"χ": "chi", "ψ": "psi", "ω": "omega", "Γ": "Gamma", "Δ": "Delta"}
_GREEK |= {"Λ": "Lambda", "Σ": "Sigma", "Φ": "Phi", "Ω": "Omega"}
_TEX |= {letter: rf"$\{name}$" for letter, name in _GREEK.items()}


def _tex(text: str) -> str:
    return "".join(_TEX.get(letter, letter) for letter in text)


def comparison(
    summary: pd.DataFrame, protocol: str, metric: str, datasets: Sequence[str]
) -> Table:
    """One metric by one protocol: mean ± std, HOMI's marks, and average ranks.

    Ranks are over the data sets that every method was run on.
    """
    greater = METRICS[metric].greater_is_better
    means = _means(summary, protocol, metric, datasets)
    complete = means.dropna(axis=0)
    ranks = average_ranks(complete, greater_is_better=greater)
    columns = ("method", *datasets, f"average rank ({len(complete)} data sets)")
    rows = [
        (
            Entry(marked(method)),
            *(_value(summary, means, (protocol, d, method, metric)) for d in datasets),
            _rank(ranks, method),
        )
        for method in METHODS
    ]
    return Table(f"{METRICS[metric].title}, {protocol}", columns, tuple(rows))


def _means(
    summary: pd.DataFrame, protocol: str, metric: str, datasets: Iterable[str]
) -> pd.DataFrame:
    keys = [(protocol, metric)] if len(summary) else []
    levels = summary.index.droplevel(["dataset", "method"])
    here = summary[levels.isin(keys)]["mean"].droplevel(["protocol", "metric"])
    return here.unstack("method").reindex(index=list(datasets), columns=list(METHODS))


def _value(
    summary: pd.DataFrame, means: pd.DataFrame, key: tuple[str, str, str, str]
) -> Entry:
    _, dataset, method, metric = key
    row = means.loc[dataset]
    if np.isnan(row[method]):
        return Entry(NOT_RUN)
    found = summary.loc[key]
    text = f"{found['mean']:.3f}"
    if found["folds"] > 1:
        text += f" ± {found['std']:.3f}"
    best = row.max() if METRICS[metric].greater_is_better else row.min()
    return Entry(text + _mark(row, method, metric), bool(row[method] == best))


def _mark(row: pd.Series, method: str, metric: str) -> str:
    """● where HOMI is at least as good as the method, ○ where it is worse."""
    if method == "HOMI" or np.isnan(row["HOMI"]):
        return ""
    sign = 1.0 if METRICS[metric].greater_is_better else -1.0
    return f" {BETTER}" if sign * (row["HOMI"] - row[method]) >= 0 else f" {WORSE}"


def _rank(ranks: pd.Series, method: str) -> Entry:
    if ranks.isna().all():
        return Entry("–")
    return Entry(f"{ranks[method]:.2f}", bool(ranks[method] == ranks.min()))


def side_by_side(summary: pd.DataFrame, metric: str, datasets: Sequence[str]) -> Table:
    """Each cell printed, as published and clean, with differences in deviations."""
    columns = ("method", "protocol", *datasets)
    rows = [
        (Entry(marked(method)), Entry(protocol), *_line(summary, protocol, key))
        for method in METHODS
        for key in [(metric, method, tuple(datasets))]
        for protocol in ("printed", "as-published", "clean")
    ]
    title = METRICS[metric].title
    caption = f"{title}: printed and measured (difference in standard deviations)"
    return Table(caption, columns, tuple(rows))


def _line(
    summary: pd.DataFrame, protocol: str, key: tuple[str, str, tuple[str, ...]]
) -> list[Entry]:
    metric, method, datasets = key
    return [_compared(summary, (protocol, d, method, metric)) for d in datasets]


def _compared(summary: pd.DataFrame, key: tuple[str, str, str, str]) -> Entry:
    if key not in summary.index:
        return Entry(NOT_RUN)
    found = summary.loc[key]
    text = f"{found['mean']:.3f}"
    if found["folds"] > 1:
        text += f" ± {found['std']:.3f}"
    if key[0] == "printed":
        return Entry(text)
    return Entry(f"{text} ({gap(found, summary.loc['printed', *key[1:]]):+.1f})")
