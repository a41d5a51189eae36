"""``homi explain``: the page of a model, and why a row has its labels."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from sklearn.model_selection import train_test_split

from homi.cli_errors import one_sentence
from homi.datasets.dataset import Dataset
from homi.datasets.files import split_name
from homi.datasets.load import load
from homi.datasets.read import read
from homi.estimators import HOMI
from homi.explorer import Facts, Row, facts, write

#: Labels of a row that are explained on the terminal.
_MOST_LABELS = 5


class Correlation(StrEnum):
    """What B is learnt from."""

    labels = "labels"
    held_out = "held-out"
    identity = "identity"


class Wanted(NamedTuple):
    """A row to take apart, and the labels that it has if that is known."""

    features: Any
    labels: Any
    name: str


def explain(
    rows: Annotated[
        Path | None,
        typer.Argument(
            metavar="[ROWS]", help="File that --row counts in. Default: the data."
        ),
    ] = None,
    data: Annotated[
        str, typer.Option(help="A data set by name, or a file with labels.")
    ] = "yeast",
    labels: Annotated[
        str | None,
        typer.Option(help="Label columns of files: 'last 6', 'tag_*' or a .xml file."),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The page to write.")
    ] = Path("labels.html"),
    row: Annotated[
        int | None, typer.Option(min=0, help="Row to take apart, counted from 0.")
    ] = None,
    hold_out: Annotated[
        float,
        typer.Option(min=0, max=0.9, help="Share of rows kept to measure quality on."),
    ] = 0.0,
    lam: Annotated[float, typer.Option(min=0, help="λ, the ridge penalty.")] = 1.0,
    beta: Annotated[float, typer.Option(help="β, weight of label on label.")] = 2.0,
    gamma: Annotated[float, typer.Option(min=0, help="γ, weight of the graph.")] = 1.0,
    neighbors: Annotated[int, typer.Option(min=1, help="s, rows tied to a row.")] = 10,
    correlation: Annotated[
        Correlation, typer.Option(help="What B is learnt from.")
    ] = Correlation.labels,
    seed: Annotated[int, typer.Option(help="Seed of the rows held out.")] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="For programs: one JSON object.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing.")] = False,
) -> None:
    """Show how labels depend on each other: one page to open in a browser.

    Fits HOMI to a data set and writes the label explorer: the graph and the matrix of
    B, sets of labels that explain a label, why rows have their scores, and what the
    data say. With --row, says on the terminal why that row has its labels.

    Example: homi explain --data emotions --hold-out 0.2 -o labels.html

    Example: homi explain --data train.csv --labels 'tag_*' --row 17 new.csv
    """
    console = Console(quiet=quiet or as_json)
    with one_sentence():
        whole = _read(data, labels)
        kept, test = _split(whole, hold_out, seed)
        model = HOMI(lam, beta, gamma, neighbors, correlation=correlation.value)
        wanted = None if row is None else _wanted(whole, rows, row)
        with _busy(console, f"fitting HOMI to {len(kept.Y):,} rows"):
            model.fit(kept.X, kept.Y)
        with _busy(console, "explaining"):
            known = explain_model(model, kept, test=test, wanted=wanted)
            write(known, output, f"{Path(data).name}: label explorer")
    if as_json:
        typer.echo(json.dumps(_summary(known, output, asked=row is not None)))
    if row is not None:
        _print_row(console, known, known.rows[0])
    console.print(f"Page: {escape(str(output))}")


def explain_model(
    model: Any,
    data: Dataset,
    *,
    test: Dataset | None = None,
    wanted: Wanted | None = None,
) -> Facts:
    """Facts of a fitted model beside data, wherever both come from."""
    return facts(
        model,
        data.X,
        data.Y,
        X_test=None if test is None else test.X,
        y_test=None if test is None else test.Y,
        rows=None if wanted is None else wanted.features,
        row_labels=None if wanted is None else wanted.labels,
        row_names=None if wanted is None else [wanted.name],
        label_names=data.label_names,
        feature_names=data.feature_names,
    )


def _read(data: str, labels: str | None) -> Dataset:
    """A file if there is one of this name, else a data set that the registry knows."""
    return read(data, labels) if Path(data).is_file() else load(data)


def _split(data: Dataset, share: float, seed: int) -> tuple[Dataset, Dataset | None]:
    if not share:
        return data, None
    kept, held = train_test_split(
        np.arange(len(data.Y)), test_size=share, random_state=seed
    )
    kept.sort()
    rest = data._replace(X=data.X[kept], Y=data.Y[kept])
    return rest, data._replace(X=data.X[held], Y=data.Y[held])


def _wanted(data: Dataset, file: Path | None, row: int) -> Wanted:
    found, place = (
        (data, "the data") if file is None else (_like(data, file), file.name)
    )
    if row >= len(found.Y):
        raise ValueError(
            f"there is no row {row} in {place}: it has {len(found.Y)}, counted from 0; "
            f"pass --row {len(found.Y) - 1} or less."
        )
    known = found.Y.shape[1] == len(data.label_names)
    name = f"row {row}" if file is None else f"row {row} of {file.name}"
    return Wanted(found.X[[row]], found.Y[[row]] if known else None, name)


def _like(data: Dataset, file: Path) -> Dataset:
    """A file with the same features in any order, with or without the labels."""
    found = _rows_of(file, data.label_names)
    at = {name: f for f, name in enumerate(found.feature_names)}
    if lost := [name for name in data.feature_names if name not in at]:
        raise ValueError(
            f"{file} lacks {len(lost)} of the features that the model was fitted to, "
            f"such as {lost[0]!r}; it needs all of them, by the same names."
        )
    order = [at[name] for name in data.feature_names]
    return found._replace(X=found.X[:, order], feature_names=data.feature_names)


def _rows_of(file: Path, label_names: list[str]) -> Dataset:
    """Tables may lack the labels; all other formats say which they are."""
    if split_name(file)[1] not in {".csv", ".tsv", ".parquet"}:
        return read(file)
    if not file.is_file():
        raise FileNotFoundError(f"there is no file {file}.")
    from homi.datasets.tables import parse_parquet, parse_text  # slow to import

    parse = parse_parquet if split_name(file)[1] == ".parquet" else parse_text
    table = parse(file).table
    if set(label_names) <= set(table.names):
        return read(file, label_names)
    numbers = [j for j in range(len(table.names)) if j not in table.nominal]
    table = table.take(numbers)
    nothing = np.zeros((len(table.values), 0), dtype=np.int8)
    return Dataset(table.values, nothing, table.names, [])


@contextmanager
def _busy(console: Console, what: str) -> Iterator[None]:
    if not console.is_terminal:
        yield
        return
    with console.status(f"{what} …"):
        yield


def _explained(row: Row) -> list[Any]:
    """What was predicted, or the highest score if nothing was."""
    predicted = [why for why in row.why if why.score > 0.5]
    return sorted(predicted or row.why[:1], key=lambda why: -why.score)[:_MOST_LABELS]


def _print_row(console: Console, known: Facts, row: Row) -> None:
    names = known.learnt.names
    for why in _explained(row):
        verdict = "predicted" if why.score > 0.5 else "not predicted"
        title = f"{row.name}: {names[why.label]}, {verdict}"
        table = Table("because of", "adds", title=escape(title), box=SIMPLE_HEAD)
        table.columns[1].justify = "right"
        table.add_row("the mean row", f"{why.start:.4f}")
        for step in why.steps:
            table.add_row(escape(_reason(known, row, step)), f"{step.value:+.4f}")
        table.add_row("g(x), predicted above 0.5", f"{why.score:.4f}", style="bold")
        console.print(table)
    if row.truth is not None:
        truth = ", ".join(names[j] for j in row.truth) or "none"
        console.print(f"Labels that the row has: {escape(truth)}")


def _reason(known: Facts, row: Row, step: Any) -> str:
    if step.index < 0:
        return f"{step.count} other {step.kind}s"
    if step.kind == "label":
        return f"label {known.learnt.names[step.index]}"
    if known.learnt.kernel:
        return "its own features, by the kernel"
    return f"{known.learnt.feature_names[step.index]} = {row.values[step.index]:g}"


def _summary(known: Facts, output: Path, *, asked: bool) -> dict[str, Any]:
    summary: dict[str, Any] = {"page": str(output), "labels": len(known.learnt.names)}
    if asked:
        row = known.rows[0]
        summary["row"] = {
            "name": row.name,
            "why": [
                {
                    "label": known.learnt.names[why.label],
                    "start": why.start,
                    "steps": [
                        {"because": _reason(known, row, step), "adds": step.value}
                        for step in why.steps
                    ],
                    "score": why.score,
                }
                for why in row.why
            ],
        }
    return summary
