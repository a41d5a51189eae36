"""``homi cv``: how good a model would be on rows that it has not seen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import numpy as np
import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from sklearn.model_selection import KFold

from homi.cli.build import Recipe, Strategy, fit_and_score
from homi.cli.guard import AsJson, Debug, Quiet, guarded, print_json
from homi.cli.options import (
    Budget,
    Drop,
    HowMissing,
    HowNominal,
    HowTuned,
    Labels,
    Linear,
    MaxWords,
    MissingName,
    Neighbors,
    NominalName,
    Paper,
    Seed,
    Text,
    Training,
    Tune,
    check_budget,
)
from homi.cli.source import Labelled, open_file, read_labelled
from homi.metrics import METRICS, PAPER_METRICS, evaluate
from homi.thresholds.scores import label_scores
from homi.verdict import predicted_labels


def cv(
    file: Training,
    labels: Labels = None,
    folds: Annotated[int, typer.Option("--folds", "-k", min=2, help="How many.")] = 5,
    text: Text = None,
    drop: Drop = None,
    paper: Paper = False,
    linear: Linear = False,
    neighbors: Neighbors = None,
    tune: Tune = None,
    strategy: HowTuned = Strategy.auto,
    nominal: HowNominal = NominalName.onehot,
    missing: HowMissing = MissingName.error,
    max_words: MaxWords = 2000,
    time_budget: Budget = None,
    seed: Seed = 0,
    every: Annotated[
        bool, typer.Option("--all-metrics", help="All metrics, not the paper's four.")
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Cross-validate: fit to all folds but one, measure on that one, in turn.

    All that is learnt, scales, words and thresholds too, is learnt from the training
    folds. Prints mean ± standard deviation over the folds.

    Examples:

    homi cv train.csv --labels 'tag_*'

    homi cv emotions.arff --labels emotions.xml --paper --json
    """
    check_budget(time_budget, paper)
    recipe = Recipe(
        paper,
        neighbors,
        tune,
        strategy,
        nominal.value,
        missing.value,
        max_words,
        time_budget,
        seed,
        linear,
    )
    with guarded(debug=debug, quiet=quiet):
        given = read_labelled(open_file(file), labels or [], text or [], drop or [])
        if len(given.Y) < folds:
            raise ValueError(
                f"{file} has {len(given.Y)} rows for {folds} folds; pass fewer --folds."
            )
        names = tuple(METRICS) if every else PAPER_METRICS
        found = _folds(recipe, given, folds, names, quiet=quiet)
        mean = {name: float(np.mean([f[name] for f in found])) for name in names}
        std = {name: float(np.std([f[name] for f in found], ddof=1)) for name in names}
        if as_json:
            print_json({"rows": len(given.Y), "folds": found, "mean": mean, "std": std})
            return
        table = Table("metric", "mean ± std", "better", box=SIMPLE_HEAD)
        for name in names:
            metric = METRICS[name]
            better = "higher" if metric.greater_is_better else "lower"
            table.add_row(metric.title, f"{mean[name]:.3f} ± {std[name]:.3f}", better)
        Console(soft_wrap=True).print(table)


def _folds(
    recipe: Recipe, given: Labelled, folds: int, names: tuple[str, ...], *, quiet: bool
) -> list[dict[str, float]]:
    rows = KFold(folds, shuffle=True, random_state=recipe.seed).split(given.Y)
    found = []
    with _bar(folds, quiet=quiet) as advance:
        for train, test in rows:
            model, X = fit_and_score(recipe, given, train, test)
            q = given.Y.shape[1]
            scores = label_scores(model, X, q)
            labels = predicted_labels(model, X, q)
            found.append(evaluate(given.Y[test], scores, labels, names))
            advance()
    return found


@contextmanager
def _bar(total: int, *, quiet: bool) -> Iterator[Any]:
    """A bar on a terminal, and nothing elsewhere."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda: None
        return
    columns = (TextColumn("folds"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("folds", total=total)
        yield lambda: bar.advance(task)
