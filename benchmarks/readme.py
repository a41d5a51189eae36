"""Write the table of average ranks into README.md from the stored results.

``--picture`` also draws docs/texts.png: texts with their tags, by a model of others.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import numpy as np

import homi
from homi.benchmark.arena import read, summary_table
from homi.cli.demo import TITLE
from homi.datasets.python_functions import PACKAGES, Function, python_functions
from homi.plots import TaggedText, draw_tagged_texts

ROOT = Path(__file__).parent.parent
#: What README.md says of the claims of the paper; lines may break anywhere.
CLAIMS = (
    r"of (\d+)\s+claims,\s+(\d+)\s+are\s+confirmed\s+by\s+all\s+results[^,]*,"
    r"\s+(\d+)\s+hold\s+as\s+published[^,]*,\s+(\d+)\s+hold\s+in\s+[^,]*,"
    r"\s+and\s+(\d+)\s+are\s+confirmed"
)
START, END = "<!-- ranks -->\n", "<!-- end of ranks -->\n"


def main() -> None:
    """Update README.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", action="store_true")
    if parser.parse_args().picture:
        draw()
    path = ROOT / "README.md"
    path.write_text(updated(path.read_text(encoding="utf-8")), encoding="utf-8")


def updated(readme: str) -> str:
    """Return the text with a new table between its two marks, and new counts."""
    before, rest = with_claims(readme).split(START)
    _, after = rest.split(END)
    return f"{before}{START}{table()}{END}{after}"


def with_claims(readme: str) -> str:
    """Return the text with the numbers of claims that docs/report.md states."""
    report = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    (counts,) = re.findall(CLAIMS.replace(r"\s+", " ").replace("of ", "Of ", 1), report)
    new = iter(counts)
    return re.sub(
        CLAIMS, lambda found: re.sub(r"\d+", lambda _: next(new), found[0]), readme
    )


#: Entries of docs/arena.md that the README shows.
SHOWN = {
    "arena-homicv": "**`HOMICV()`**",
    "arena-nystroem": "ridge on Nyström features",
    "arena-logistic": "one-vs-rest logistic regression",
    "arena-forest": "random forest",
    "arena-extra-trees": "extra-trees",
    "arena-lightgbm": "LightGBM",
    "arena-xgboost": "XGBoost",
    "arena-network": "neural networks",
    "arena-ml-knn": "ML-kNN",
    "arena-homi": "HOMI as in the paper",
}


def table() -> str:
    """Return the table of average ranks as Markdown."""
    results = read(ROOT / "benchmarks" / "arena.toml", ROOT / "results" / "arena")
    return summary_table(results, SHOWN).markdown()


def draw() -> None:
    """Draw a test text of each package beside what HOMICV says."""
    functions = python_functions()
    names = [function.name for function in functions]
    texts = [function.text for function in functions]
    tags = [function.tags for function in functions]
    rows = np.random.default_rng(0).permutation(len(texts)).tolist()
    train, test = rows[1000:], [first(functions, rows, package) for package in PACKAGES]
    model = homi.table_model().fit([texts[i] for i in train], [tags[i] for i in train])
    tops = homi.top_k(model, [texts[i] for i in test], 4)
    drawn = [
        TaggedText(names[i], texts[i], top, tags[i])
        for i, top in zip(test, tops, strict=True)
    ]
    draw_tagged_texts(drawn, TITLE, ROOT / "docs" / "texts.png")


def first(functions: list[Function], rows: list[int], package: str) -> int:
    """Return the first test text of a package with 3 tags or more and 15 words."""
    for i in rows[:1000]:
        name, text, tags = functions[i]
        if name.startswith(package) and len(tags) > 2 and len(text.split()) >= 15:
            return i
    raise ValueError(f"no text of {package} is among the test texts.")


if __name__ == "__main__":
    main()
