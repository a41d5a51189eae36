"""`homi demo`: cross-validate on yeast, compare, show the label correlations B."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from homi.atomic_write import whole_file
from homi.benchmark.baselines import RandomForest
from homi.cli.options import Force, Seed
from homi.cli.output import check_output
from homi.cli.terminal import counting
from homi.datasets import Dataset, load
from homi.estimators import HOMI, HOMICV
from homi.extras import optional
from homi.metrics import METRICS, PAPER_METRICS, evaluate
from homi.typing import Fields

#: Called before each fit with the method and the fold.
Progress = Callable[[str, int], None]

#: The paper states 10 neighbors for yeast; 2 neighbors reproduce its numbers.
METHODS: Fields = {
    "HOMICV": HOMICV(),
    "random forest": RandomForest(random_state=0),
    "BR": make_pipeline(
        StandardScaler(), OneVsRestClassifier(LogisticRegression(max_iter=1000))
    ),
    "HOMI, s = 2": HOMI(n_neighbors=2),
    "HOMI, s = 10": HOMI(),
}


def demo(
    output: Annotated[
        Path, typer.Option(help="Directory for the table and the picture.")
    ] = Path("homi-demo"),
    folds: Annotated[int, typer.Option(min=2, help="Number of folds.")] = 5,
    seed: Seed = 0,
    force: Force = False,
) -> None:
    """Cross-validate HOMICV and others on yeast, and draw label correlations.

    yeast (2417 genes, 103 features, 14 functional classes) is installed with the
    package; nothing is downloaded. Takes about a minute.

    Example: homi demo --output homi-demo
    """
    with optional("homi demo", "demo"):
        from homi.plots import draw_correlation

    console = Console()
    started = time.perf_counter()
    picture, text = output / "label_correlation.png", output / "table.md"
    if output.exists() and not output.is_dir():
        raise ValueError(f"{output} is a file; name a directory to write to.")
    output.mkdir(parents=True, exist_ok=True)
    check_output(picture, ".png", force=force)
    check_output(text, "scores", force=force)
    result = _run_with_progress(console, folds, seed)
    draw_correlation(result.B, result.label_names, picture)
    write_table(result, text)
    _print(console, result, folds)
    console.print(f"Table: {text}\nPicture of B: {picture}")
    console.print(f"Took {time.perf_counter() - started:.0f} s.")


@dataclass(frozen=True)
class Pair:
    """An off-diagonal entry of B: what the score of one label adds to another's."""

    source: str
    target: str
    value: float


@dataclass(frozen=True)
class Demo:
    """Scores and seconds of each method in each fold, and the B of all rows."""

    scores: dict[str, dict[str, list[float]]]
    seconds: dict[str, list[float]]
    B: NDArray[np.float64]
    label_names: list[str]

    def table(self) -> list[list[str]]:
        """Return a header and one row per method: mean ± std over the folds."""
        arrows = {True: "↑", False: "↓"}
        header = [
            f"{METRICS[name].title} {arrows[METRICS[name].greater_is_better]}"
            for name in PAPER_METRICS
        ]
        rows = [
            [
                method,
                *(_mean_and_std(folds[name]) for name in PAPER_METRICS),
                f"{np.median(self.seconds[method]):.2g}",
            ]
            for method, folds in self.scores.items()
        ]
        return [["method", *header, "fit, s"], *rows]


def run(n_splits: int = 5, seed: int = 0, progress: Progress = lambda *_: None) -> Demo:
    """Cross-validate the methods on yeast and fit HOMI to all of it."""
    data = load("yeast")
    if n_splits > len(data.X):
        raise ValueError(
            f"yeast has {len(data.X)} rows for {n_splits} folds; ask for fewer folds."
        )
    folds = list(KFold(n_splits, shuffle=True, random_state=seed).split(data.X))
    scores: dict[str, dict[str, list[float]]] = {}
    seconds: dict[str, list[float]] = {method: [] for method in METHODS}
    for method, estimator in METHODS.items():
        scores[method] = {name: [] for name in PAPER_METRICS}
        for fold, (train, test) in enumerate(folds, start=1):
            progress(method, fold)
            started = time.perf_counter()
            model = clone(estimator).fit(data.X[train], data.Y[train])
            seconds[method].append(time.perf_counter() - started)
            for name, value in _score(model, data, test).items():
                scores[method][name].append(value)
    homi = HOMI(n_neighbors=2).fit(data.X, data.Y)
    return Demo(scores, seconds, homi.label_correlation_, data.label_names)


def _score(model: Any, data: Dataset, test: Any) -> dict[str, float]:
    scores = model.decision_function(data.X[test])
    return evaluate(data.Y[test], scores, model.predict(data.X[test]))


def _mean_and_std(values: list[float]) -> str:
    return f"{np.mean(values):.3f} ± {np.std(values, ddof=1):.3f}"


def strongest_pairs(
    B: NDArray[np.float64], names: list[str], n_pairs: int = 5
) -> tuple[list[Pair], list[Pair]]:
    """Return the most positive and the most negative off-diagonal entries of B."""
    values = B.copy()
    np.fill_diagonal(values, 0.0)
    order = np.argsort(values, axis=None)
    pairs = [
        Pair(names[i], names[j], float(values[i, j]))
        for i, j in zip(*np.unravel_index(order, values.shape), strict=True)
    ]
    positive = [pair for pair in reversed(pairs) if pair.value > 0]
    negative = [pair for pair in pairs if pair.value < 0]
    return positive[:n_pairs], negative[:n_pairs]


def write_table(demo: Demo, path: Path) -> None:
    """Write the table as Markdown."""
    lines = ["| " + " | ".join(row) + " |" for row in demo.table()]
    lines.insert(1, "|" + " --- |" * len(demo.table()[0]))
    with whole_file(path) as unfinished:
        unfinished.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _run_with_progress(console: Console, folds: int, seed: int) -> Demo:
    """Run with a bar on a terminal, a line per fit elsewhere."""
    with counting(console, folds * len(METHODS)) as step:

        def progress(method: str, fold: int) -> None:
            text = f"{method}: fold {fold}/{folds}"
            step(text)
            if not console.is_terminal:
                print(text)

        return run(folds, seed, progress)


def _print(console: Console, result: Demo, folds: int) -> None:
    header, *rows = result.table()
    title = f"yeast, {folds}-fold cross-validation, mean ± std"
    table = Table(*header, title=title, box=SIMPLE_HEAD)
    for row in rows:
        table.add_row(*row)
    console.print(table)
    console.print(
        "BR: binary relevance, scikit-learn's logistic regression for each label.\n"
        "The forest has 100 trees. HOMI is the paper's method; s is its number of\n"
        "neighbors: the paper states 10, and 2 reproduce its numbers.\n"
    )
    positive, negative = strongest_pairs(result.B, result.label_names)
    title = "Strongest pairs of HOMI's B (s = 2)"
    pairs = Table("raises", "by", "lowers", "by", title=title, box=SIMPLE_HEAD)
    for up, down in zip(positive, negative, strict=False):
        pairs.add_row(*_cells(up), *_cells(down))
    console.print(pairs)


def _cells(pair: Pair) -> tuple[str, str]:
    return f"{pair.source} → {pair.target}", f"{pair.value:+.3f}"
