"""Write docs/report.md and its figures from the stored results of the paper.

The whole report: homi bench report benchmarks/paper.toml --output build/report
"""

from __future__ import annotations

from pathlib import Path

from homi.benchmark.experiment_file import read_experiment
from homi.paper.page import documented_page, paper_page
from homi.report import markdown

ROOT = Path(__file__).parent.parent


def main() -> None:
    """Write the page and the figures that it shows."""
    for name, text in files().items():
        path = ROOT / "docs" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


def files() -> dict[str, str]:
    """Return the content of every file, by its path below docs."""
    experiment = read_experiment(ROOT / "benchmarks" / "paper.toml")
    page = documented_page(paper_page(experiment, ROOT / "results" / "paper"))
    figures = {f"figures/{item.name}.svg": item.svg for item in page.pictures}
    return {"report.md": markdown(page), **figures}


if __name__ == "__main__":
    main()
