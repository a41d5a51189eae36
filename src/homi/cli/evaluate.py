"""``homi evaluate``: a model file and labelled rows -> how good it is on them."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from homi.cli.apply import load_for_rows
from homi.cli.guard import (
    AsJson,
    Debug,
    Quiet,
    guarded,
    print_json,
    say,
    shown,
    working,
)
from homi.cli.measures import all_metrics, by_label
from homi.cli.options import Model, Rows, Text
from homi.cli.source import File, listed, open_file, read_labels
from homi.metrics import METRICS


def evaluate(
    model: Model,
    file: Rows,
    top: Annotated[
        int,
        typer.Option("--top", min=0, help="Most frequent labels shown; 0 for all."),
    ] = 40,
    text: Text = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Measure a model on labelled rows: every metric, and each label by itself.

    For each label: hits (tp), false alarms (fp), misses (fn), precision, recall, F1,
    AUC, and the threshold t on the scores of homi predict --scores that would have
    been best for F1 on these very rows.

    Example: homi evaluate model.homi test.csv --json > quality.json
    """
    with guarded(debug=debug, quiet=quiet):
        with working("Evaluating", quiet=quiet):
            loaded = load_for_rows(model, text)
            opened = open_file(file)
            Y = read_labels(opened, loaded.label_names)
            _tell_unknown(opened, loaded.label_names, quiet=quiet)
            X = loaded.rows(opened, quiet=quiet)
            decisions = loaded.decisions(X)
            scores, labels = loaded.scores(X), loaded.predictions(X)
            metrics = all_metrics(Y, scores, labels)
            each = by_label(loaded.label_names, Y, scores, labels, decisions)
        if as_json:
            print_json({"rows": len(Y), "metrics": metrics, "labels": each})
            return
        console = Console()
        if not console.is_terminal:
            console = Console(width=160)
        _print_metrics(console, metrics, len(Y))
        if not quiet:
            _print_labels(console, each, top)


def _tell_unknown(file: File, names: list[str], *, quiet: bool) -> None:
    """Labels of a LIBSVM or npz file that the model could never predict."""
    stated = [] if file.stated is None else file.stated.names
    if unknown := [name for name in stated if name not in set(names)]:
        say(
            f"Note: {len(unknown)} label(s) of {file.path} are unknown to the model "
            f"and not measured: {listed(unknown)}.",
            quiet=quiet,
        )


def _print_metrics(console: Console, metrics: dict[str, float], rows: int) -> None:
    table = Table("metric", "value", "better", box=SIMPLE_HEAD, title=f"{rows} rows")
    for name, value in metrics.items():
        metric = METRICS[name]
        better = "higher" if metric.greater_is_better else "lower"
        table.add_row(metric.title, f"{value:.4f}", better)
    console.print(table)


def _print_labels(console: Console, each: list[dict[str, Any]], top: int) -> None:
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
        table.add_row(shown(row["label"]), str(_positives(row)), *counts, *ratios)
    console.print(table)
    if len(kept) < len(each):
        console.print(
            f"The {len(kept)} most frequent of {len(each)} labels; --top 0 shows all."
        )


_KINDS = ("true_positive", "false_positive", "false_negative")
_RATIOS = ("precision", "recall", "f1", "auc", "best_threshold", "best_f1")


def _number(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 1e6 else f"{value:.3g}"


def _positives(row: dict[str, Any]) -> int:
    return int(row["true_positives"] + row["false_negatives"])
