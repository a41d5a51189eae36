"""Write docs/agreement.md from stored results of benchmarks/defaults.toml.

homi bench run benchmarks/defaults.toml --jobs 2
python benchmarks/agreement.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

from homi.benchmark.agreement import agreement_page
from homi.benchmark.results import read_results

HEAD = """# How near the methods come to the printed rows

Written by `python benchmarks/agreement.py` from the results that `homi bench run
benchmarks/defaults.toml` stored: five folds, every method as it is by default,
features standardised inside the training fold (ML-KNN takes them as they are). A cell
is our mean ± standard deviation and, in brackets, the printed mean and the difference
in units of the larger of the two deviations (at least 0.001, the last printed digit).
The AUC of ML-LRC, CLML and HOMI is not compared: their printed values are 1 − Hamming
loss on many data sets. † marks a reconstruction. GLOCAL, ML-LRC and CLML have an
intercept here, which the printed ones evidently had not, and the grids that the paper
searched for LFLC, ML-LRC and CLML are not searched. Why rows differ:
[departures.md](departures.md).
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=Path("results/defaults"))
    parser.add_argument("--output", type=Path, default=Path("docs/agreement.md"))
    arguments = parser.parse_args()
    page = agreement_page(read_results(arguments.results), "clean", 5)
    arguments.output.write_text(f"{HEAD}\n{page}", encoding="utf-8")


if __name__ == "__main__":
    main()
