"""``homi predict``: a model file and rows -> their labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from homi.cli.apply import Loaded, load_for_rows
from homi.cli.guard import AsJson, Debug, Quiet, guarded, print_json, working
from homi.cli.options import Model, Rows, Text
from homi.cli.output import Force
from homi.cli.source import File, open_file
from homi.cli.table_file import check_table, write_table
from homi.thresholds.scores import label_probabilities


def predict(
    model: Model,
    file: Rows,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help=".csv, .tsv or .parquet; - is stdout."),
    ] = Path("-"),
    scores: Annotated[
        bool, typer.Option("--scores", help="Also a column score:LABEL for each.")
    ] = False,
    proba: Annotated[
        bool, typer.Option("--proba", help="Also a column probability:LABEL for each.")
    ] = False,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", help="Column to copy in front, such as id. May repeat."),
    ] = None,
    text: Text = None,
    safe_csv: Annotated[
        bool,
        typer.Option(
            "--safe-csv",
            help="In CSV and TSV, put ' before texts that spreadsheets would run.",
        ),
    ] = False,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Predict the labels of the rows of a file: 0 or 1, a column for each label.

    Columns are found by their names: their order does not matter, one that is missing
    is an error, and others are left out. With --json and no output, the labels of
    each row by name.

    Examples:

    homi predict model.homi new.parquet -o tags.csv --scores

    homi predict model.homi new.csv --keep id > tags.csv
    """
    with guarded(debug=debug, quiet=quiet):
        check_table(output, [model, file], force=force)
        with working("Predicting", quiet=quiet):
            loaded = load_for_rows(model, text)
            opened = open_file(file)
            X = loaded.rows(opened, quiet=quiet)
            found = _found(loaded, X, scores, proba)
        if as_json and str(output) == "-":
            print_json(_by_row(loaded.label_names, found))
            return
        write_table(
            output, _table(loaded.label_names, found, opened, keep or []), safe=safe_csv
        )
        summary = {
            "output": str(output),
            "rows": len(found[""]),
            "labels": loaded.label_names,
            "predicted": found[""].sum(axis=0, dtype=int),
        }
        if as_json:
            print_json(summary)
        elif not quiet and str(output) != "-":
            mean = found[""].sum() / len(found[""])
            typer.echo(
                f"{output} is written: {summary['rows']} rows, {mean:.2f} labels each."
            )


def _found(loaded: Loaded, X: Any, scores: bool, proba: bool) -> dict[str, Any]:
    """What is asked for, by the prefix of its columns."""
    decisions = loaded.decisions(X)  # a score of NaN would predict no label
    found: dict[str, Any] = {"": loaded.predictions(X)}
    if scores:
        found["score:"] = decisions
    if proba:
        found["probability:"] = label_probabilities(
            loaded.model, X, len(loaded.label_names)
        )
    return found


def _table(
    names: list[str], found: dict[str, Any], file: File, keep: list[str]
) -> dict[str, Any]:
    table: dict[str, Any] = {name: file.texts([name]) for name in keep}
    for prefix, values in found.items():
        for name, column in zip(names, values.T, strict=True):
            if prefix + name in table:
                raise ValueError(
                    f"two columns would be named {prefix + name!r}; leave out --keep "
                    "of that name."
                )
            table[prefix + name] = column
    return table


#: What the values of a row are called in JSON.
_PLURALS = {"score:": "scores", "probability:": "probabilities"}


def _by_row(names: list[str], found: dict[str, Any]) -> dict[str, Any]:
    rows = []
    for i, labels in enumerate(found[""].astype(bool)):
        row: dict[str, Any] = {"labels": np.array(names, dtype=object)[labels]}
        for prefix, plural in _PLURALS.items():
            if prefix in found:
                values = found[prefix][i].tolist()
                row[plural] = dict(zip(names, values, strict=True))
        rows.append(row)
    return {"labels": names, "rows": rows}
