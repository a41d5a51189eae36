"""`homi cv`: estimate by cross-validation how good a model is on new rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from homi.cli.options import AsJson, ColumnChoice, Quiet, Recipe, Rows
from homi.cli.terminal import counting, print_json, print_note, tell_unlabeled

if TYPE_CHECKING:
    from homi.cli.source import LabeledRows


def cv(
    file: Rows,
    choice: ColumnChoice,
    recipe: Recipe,
    folds: Annotated[
        int, typer.Option("--folds", "-k", min=2, help="Number of folds.")
    ] = 5,
    every: Annotated[
        bool,
        typer.Option(
            "--all-metrics", help="Print all metrics instead of the paper's four."
        ),
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Cross-validate: fit to all folds but one, measure on that one, in turn.

    Scaling, vocabulary, hyperparameters and thresholds are learned from the training
    folds only. Prints mean ± standard deviation over the folds.

    Example: homi cv train.csv --labels 'tag_*'

    The paper's settings: homi cv emotions.arff --labels emotions.xml --paper --json
    """
    import numpy as np

    from homi.cli.source import read_rows
    from homi.metrics import METRICS, PAPER_METRICS

    given = read_rows(file, choice)
    for note in given.found.notes:
        print_note(note, quiet=quiet)
    if len(given.Y) < folds:
        raise ValueError(
            f"{file} has {len(given.Y)} rows for {folds} folds; pass fewer --folds."
        )
    names = tuple(METRICS) if every else PAPER_METRICS
    found = _scores(recipe, given, folds, names, quiet=quiet)
    mean = {name: float(np.mean([f[name] for f in found])) for name in names}
    std = {name: float(np.std([f[name] for f in found], ddof=1)) for name in names}
    if as_json:
        print_json({"rows": len(given.Y), "folds": found, "mean": mean, "std": std})
        return
    tell_unlabeled(given.Y, quiet=quiet)
    table = Table("metric", "mean ± std", "better", box=SIMPLE_HEAD)
    for name in names:
        metric = METRICS[name]
        better = "higher" if metric.greater_is_better else "lower"
        table.add_row(metric.title, f"{mean[name]:.3f} ± {std[name]:.3f}", better)
    Console(soft_wrap=True).print(table)


def _scores(
    recipe: Recipe,
    given: LabeledRows,
    folds: int,
    names: tuple[str, ...],
    *,
    quiet: bool,
) -> list[dict[str, float]]:
    """Return the metrics of each fold."""
    from sklearn.model_selection import KFold

    from homi.cli.recipe import fit_fold
    from homi.metrics import evaluate
    from homi.thresholds.scores import label_scores
    from homi.verdict import predicted_labels

    splits = KFold(folds, shuffle=True, random_state=recipe.seed).split(given.Y)
    q, found = given.Y.shape[1], []
    with counting(Console(stderr=True), folds, quiet=quiet) as step:
        for train, test in splits:
            step("folds")
            model, X = fit_fold(recipe, given, train, test)
            scores, labels = label_scores(model, X, q), predicted_labels(model, X, q)
            found.append(evaluate(given.Y[test], scores, labels, names))
    return found
