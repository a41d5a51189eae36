"""`homi evaluate`: a model file and labeled rows -> metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from homi.cli.options import AsJson, Embeddings, Model, Quiet, Rows, TagChoice, Text
from homi.cli.terminal import (
    print_json,
    print_note,
    printable,
    tell_unlabeled,
    working,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from homi.cli.opened_file import File
    from homi.typing import Fields, Matrix


def evaluate(
    model: Model,
    file: Rows,
    choice: TagChoice,
    top: Annotated[
        int,
        typer.Option(
            "--top", min=0, help="Number of most frequent labels to print; 0 for all."
        ),
    ] = 40,
    text: Text = None,
    embeddings: Embeddings = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Measure a model on labeled rows: every metric, and each label by itself.

    For each label: true positives (tp), false positives (fp), false negatives (fn),
    precision, recall, F1, AUC, and the threshold t on the scores of homi predict
    --scores that has the best F1 on these rows. That F1 is optimistic: t is chosen on
    the rows that measure it.

    Example: homi evaluate model.homi test.csv --json > quality.json
    """
    from homi.cli.loaded_model import load_for_rows
    from homi.cli.opened_file import open_rows
    from homi.metrics import METRICS
    from homi.metrics import evaluate as all_metrics

    with working("Evaluating", quiet=quiet):
        loaded = load_for_rows(model, text)
        opened = open_rows(file).with_embeddings(embeddings)
        Y = loaded.labels(opened, choice, quiet=quiet)
        _tell_unknown(opened, loaded.label_columns, quiet=quiet)
        X = loaded.rows(opened, quiet=quiet)
        decisions = loaded.decisions(X)
        scores, labels = loaded.scores(X), loaded.predictions(X)
        metrics = all_metrics(Y, scores, labels, METRICS)
        each = by_label(loaded.label_names, Y, scores, labels, decisions)
    if as_json:
        print_json({"rows": len(Y), "metrics": metrics, "labels": each})
        return
    tell_unlabeled(Y, quiet=quiet)
    if loaded.was_fitted_to(file):
        print_note(
            f"Note: {model} was fitted to these rows, so the values are optimistic; "
            "measure on other rows, or by homi cv.",
            quiet=quiet,
        )
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    _print_metrics(console, metrics, len(Y))
    if not quiet:
        _print_labels(console, each, top)


def _tell_unknown(file: File, names: list[str], *, quiet: bool) -> None:
    """Name labels of a LIBSVM or npz file that the model does not know."""
    from homi.cli.opened_file import listed

    stated = [] if file.stated is None else file.stated.names
    if unknown := [name for name in stated if name not in set(names)]:
        print_note(
            f"Note: {len(unknown)} label(s) of {file.path} are unknown to the model "
            f"and not measured: {listed(unknown)}.",
            quiet=quiet,
        )


def _print_metrics(console: Console, metrics: dict[str, float], rows: int) -> None:
    from homi.metrics import METRICS

    table = Table("metric", "value", "better", box=SIMPLE_HEAD, title=f"{rows} rows")
    for name, value in metrics.items():
        metric = METRICS[name]
        better = "higher" if metric.greater_is_better else "lower"
        table.add_row(metric.title, f"{value:.4f}", better)
    console.print(table)


def _print_labels(console: Console, each: list[Fields], top: int) -> None:
    frequent = sorted(each, key=lambda row: -_positives(row))
    kept = frequent[: top or len(frequent)]
    heads = ("true", "tp", "fp", "fn", "prec.", "recall", "F1", "AUC")
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("label", overflow="fold")
    for head in (*heads, "best t", "F1 at t"):
        table.add_column(head, justify="right", no_wrap=True)
    for row in kept:
        counts = [f"{row[f'{kind}s']}" for kind in _KINDS]
        ratios = [_number(row[name]) for name in _RATIOS]
        table.add_row(printable(row["label"]), str(_positives(row)), *counts, *ratios)
    console.print(table)
    if len(kept) < len(each):
        console.print(
            f"The {len(kept)} most frequent of {len(each)} labels; --top 0 shows all."
        )


_KINDS = ("true_positive", "false_positive", "false_negative")
_RATIOS = ("precision", "recall", "f1", "auc", "best_threshold", "best_f1")


def _number(value: float) -> str:
    if value != value:
        return "–"
    return f"{value:.3f}" if abs(value) < 1e6 else f"{value:.3g}"


def _positives(row: Fields) -> int:
    return int(row["true_positives"] + row["false_negatives"])


def by_label(
    names: list[str], Y: Matrix, scores: Any, labels: Any, decisions: Any
) -> list[Fields]:
    """Return counts, precision, recall, F1, AUC and the best threshold of each label.

    AUC ranks by `scores`. The best threshold on `decisions` has the highest F1 on these
    rows, so its F1 is optimistic.
    """
    import numpy as np

    from homi.metrics import macro_auc
    from homi.thresholds.search import best_per_label

    truth, said = np.asarray(Y) > 0, np.asarray(labels) > 0
    thresholds = best_per_label(decisions, truth, "macro_f1", np.ones(len(names), bool))
    best = _f1(truth, decisions > thresholds)
    found = []
    f1 = _f1(truth, said)
    for j, name in enumerate(names):
        y, p = truth[:, j], said[:, j]
        hits = int(np.sum(y & p))
        found.append(
            {
                "label": name,
                "true_positives": hits,
                "false_positives": int(np.sum(~y & p)),
                "false_negatives": int(np.sum(y & ~p)),
                "true_negatives": int(np.sum(~y & ~p)),
                "precision": hits / p.sum() if p.any() else 0.0,
                "recall": hits / y.sum() if y.any() else 0.0,
                "f1": float(f1[j]),
                "auc": macro_auc(Y[:, [j]], scores[:, [j]], ties="half"),
                "best_threshold": float(thresholds[j]),
                "best_f1": float(best[j]),
            }
        )
    return found


def _f1(truth: NDArray[np.bool_], said: NDArray[np.bool_]) -> NDArray[np.float64]:
    import numpy as np

    hits = (truth & said).sum(axis=0)
    either = np.maximum(truth.sum(axis=0) + said.sum(axis=0), 1)
    return np.asarray(2.0 * hits / either)
