"""A table, and how it is written as Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

#: Text of a cell without a result.
NOT_RUN = "not run"


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
        """Return a pipe table, with the best entry of a column in bold."""
        lines = [[_piped(name) for name in self.columns], ["---"] * len(self.columns)]
        lines += [
            [_bold(_piped(e.text), e, "**{}**") for e in row] for row in self.rows
        ]
        body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return f"{self.caption}\n\n{body}\n"

    def latex(self) -> str:
        """Return a LaTeX table for the package booktabs."""
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
        """Return comma-separated text; the best entries are not marked."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([entry.text for entry in row] for row in self.rows)
        return text.getvalue()


def _bold(written: str, entry: Entry, form: str) -> str:
    return form.format(written) if entry.best else written


def _piped(text: str) -> str:
    """Escape a cell of a pipe table, which a bar or a line break would end."""
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
