"""`homi predict`: a model file and rows -> their labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from homi.cli.options import AsJson, Embeddings, Force, Known, Model, Quiet, Rows, Text
from homi.cli.output import check_table, write_table
from homi.cli.terminal import print_json, working

if TYPE_CHECKING:
    from collections.abc import Iterator

    from homi.cli.loaded_model import LoadedModel
    from homi.cli.opened_file import File
    from homi.typing import Fields, Matrix


def predict(
    model: Model,
    file: Rows,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help=".csv, .tsv or .parquet; - is stdout."),
    ] = Path("-"),
    scores: Annotated[
        bool, typer.Option("--scores", help="Add a column score:LABEL per label.")
    ] = False,
    proba: Annotated[
        bool,
        typer.Option("--proba", help="Add a column probability:LABEL per label."),
    ] = False,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep", help="Column to copy to the output, such as id. May be repeated."
        ),
    ] = None,
    known: Known = None,
    text: Text = None,
    embeddings: Embeddings = None,
    safe_csv: Annotated[
        bool,
        typer.Option(
            "--safe-csv",
            help="In CSV and TSV, put ' before texts that spreadsheets would run as "
            "formulas.",
        ),
    ] = False,
    json_lines: Annotated[
        bool,
        typer.Option("--json-lines", help="Print a JSON object per row, for programs."),
    ] = False,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Predict the labels of the rows of a file: one column of 0 and 1 per label.

    A model that was fitted with --tags writes one column of tags, as in training; after
    --labels 'tag_*', columns have no prefix tag_.
    Columns are matched to those of training by name, in any order. A missing column is
    an error; unknown ones are ignored. --json without --output prints the labels of
    each row by name.

    Example: homi predict model.homi new.parquet -o tags.csv --scores

    Some labels known: homi predict model.homi new.csv --known 'tag_*' -o tags.csv

    With the column id: homi predict model.homi new.csv --keep id > tags.csv

    From another program: cat new.csv | homi predict model.homi - --json-lines
    """
    from homi.cli.loaded_model import load_for_rows
    from homi.cli.opened_file import open_rows
    from homi.cli.source import read_known

    if json_lines and str(output) != "-":
        raise typer.BadParameter("--json-lines prints to stdout; omit --output.")
    check_table(output, [model, file], force=force)
    with working("Predicting", quiet=quiet):
        loaded = load_for_rows(model, text)
        opened = open_rows(file).with_embeddings(embeddings)
        X = loaded.rows(opened, quiet=quiet)
        if known:
            Y = read_known(opened, known, loaded.label_columns)
            found = _found_given(loaded, X, Y, scores, proba)
        else:
            found = _found(loaded, X, scores, proba)
    if json_lines:
        for row in _by_row(loaded.label_names, found)["rows"]:
            print_json(row, indent=None)
        return
    if as_json and str(output) == "-":
        print_json(_by_row(loaded.label_names, found))
        return
    may_be_lists = output.suffix == ".parquet"
    table = _table(loaded, found, opened, keep or [], may_be_lists)
    write_table(output, table, safe=safe_csv)
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


def _found(loaded: LoadedModel, X: Matrix, scores: bool, proba: bool) -> Fields:
    """Return the requested columns by the prefix of their names."""
    from homi.thresholds.scores import label_probabilities

    decisions = loaded.decisions(X)  # a score of NaN would predict no label
    found: Fields = {"": loaded.predictions(X)}
    if scores:
        found["score:"] = decisions
    if proba:
        found["probability:"] = label_probabilities(
            loaded.model, X, len(loaded.label_names)
        )
    return found


def _found_given(
    loaded: LoadedModel, X: Matrix, known: Matrix, scores: bool, proba: bool
) -> Fields:
    """Return the same, given the known labels."""
    import numpy as np

    model, rows = loaded.with_known(X)
    loaded.decisions(X)  # refuses rows whose scores are not finite
    decisions = np.asarray(model.decision_function(rows, known=known))
    found: Fields = {"": (decisions > 0).astype(np.int8)}
    if scores:
        found["score:"] = decisions
    if proba:
        found["probability:"] = np.asarray(model.predict_proba(rows, known=known))
    return found


def _table(
    loaded: LoadedModel,
    found: Fields,
    file: File,
    keep: list[str],
    may_be_lists: bool,
) -> Fields:
    table: Fields = {name: file.texts([name]) for name in keep}
    for name, column in _columns(loaded, found, may_be_lists):
        if name in table:
            raise ValueError(
                f"two columns would be named {name!r}; omit --keep of that name."
            )
        table[name] = column
    return table


def _columns(
    loaded: LoadedModel, found: Fields, may_be_lists: bool
) -> Iterator[tuple[str, Any]]:
    """Yield columns of predictions: of tags as in training, else of 0 and 1."""
    for prefix, values in found.items():
        if prefix == "" and loaded.tags is not None:
            cells = loaded.tags.cells
            names = loaded.label_names
            yield loaded.tags.name, cells(names, values, may_be_lists=may_be_lists)
            continue
        for name, column in zip(loaded.label_names, values.T, strict=True):
            yield prefix + name, column


#: Prefix of columns -> name of the values of a row in JSON.
_PLURALS = {"score:": "scores", "probability:": "probabilities"}


def _by_row(names: list[str], found: Fields) -> Fields:
    import numpy as np

    rows = []
    for i, labels in enumerate(found[""].astype(bool)):
        row: Fields = {"labels": np.array(names, dtype=object)[labels]}
        for prefix, plural in _PLURALS.items():
            if prefix in found:
                values = found[prefix][i].tolist()
                row[plural] = dict(zip(names, values, strict=True))
        rows.append(row)
    return {"labels": names, "rows": rows}
