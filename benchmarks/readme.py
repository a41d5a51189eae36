"""Write the table of average ranks into README.md from the stored results."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from homi.benchmark.experiment_file import read_experiment
from homi.benchmark.results import read_results
from homi.paper.best_page import ranks_table

ROOT = Path(__file__).parent.parent
START, END = "<!-- ranks -->\n", "<!-- end of ranks -->\n"


def main() -> None:
    """Update README.md."""
    path = ROOT / "README.md"
    path.write_text(updated(path.read_text(encoding="utf-8")), encoding="utf-8")


def updated(readme: str) -> str:
    """Return the text with a new table between its two marks."""
    before, rest = readme.split(START)
    _, after = rest.split(END)
    return f"{before}{START}{table()}{END}{after}"


#: Entries of docs/best.md that the README shows.
SHOWN = {
    "HOMICV": "**`HOMICV()`**",
    "tuned-nystroem-ridge": "ridge on Nyström features, tuned",
    "tuned-logistic": "one-vs-rest logistic regression, tuned",
    "random-forest": "random forest, 100 trees",
    "tuned-ridge": "ridge, tuned",
    "HOMI": "HOMI as in the paper",
}


def table() -> str:
    """Return the table of average ranks as Markdown."""
    experiments = [
        read_experiment(ROOT / "benchmarks" / f"{name}.toml")
        for name in ("paper", "best")
    ]
    stored = [read_results(ROOT / "results" / e.name, e) for e in experiments]
    return ranks_table(pd.concat(stored), SHOWN, experiments[1].datasets)


if __name__ == "__main__":
    main()
