"""Write the table of average ranks into README.md from the stored results."""

from __future__ import annotations

from pathlib import Path

from homi.benchmark.experiment_file import read_experiment
from homi.paper.results import read_paper_results
from homi.paper.sections.comparison import ranks

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


def table() -> str:
    """Return the table of average ranks as Markdown."""
    experiment = read_experiment(ROOT / "benchmarks" / "paper.toml")
    return ranks(read_paper_results(experiment, ROOT / "results" / "paper")).markdown()


if __name__ == "__main__":
    main()
