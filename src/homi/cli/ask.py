"""`homi ask`: a model file and rows -> labels to ask a person about."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from homi.cli.options import AsJson, Force, Known, Model, Quiet, Rows, Text
from homi.cli.output import check_table, write_table
from homi.cli.terminal import print_json, print_note, working

if TYPE_CHECKING:
    from homi.typing import Fields


def ask(
    model: Model,
    file: Rows,
    known: Known = None,
    k: Annotated[
        int, typer.Option("--questions", "-k", min=1, help="Questions for each row.")
    ] = 3,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help=".csv, .tsv or .parquet; - is stdout."),
    ] = Path("-"),
    text: Text = None,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Choose the labels of each row to ask a person about.

    The answers reduce the expected error of all labels most, the first one by itself,
    and so on. Columns ask_1, ask_2, … name them; rows are counted from 0.

    Example: homi ask model.homi new.csv --known 'tag_*' -k 3
    """
    import numpy as np

    from homi.cli.loaded_model import load_for_rows
    from homi.cli.opened_file import open_file
    from homi.cli.source import read_known
    from homi.dependence import ask as questions

    check_table(output, [model, file], force=force)
    with working("Asking", quiet=quiet):
        loaded = load_for_rows(model, text)
        opened = open_file(file)
        rows = loaded.rows(opened, quiet=quiet)
        classifier, X = loaded.with_known(rows)
        names = loaded.label_names
        n = len(rows) if isinstance(rows, list) else rows.shape[0]
        Y = np.full((n, len(names)), np.nan)
        if known:
            Y = read_known(opened, known, loaded.label_columns)
        found = [[str(name) for name in row] for row in questions(classifier, X, Y, k)]
    if as_json:
        print_json({"rows": found})
        return
    table: Fields = {"row": list(range(n))}
    for place in range(min(k, len(names))):
        column = [row[place] if place < len(row) else "" for row in found]
        table[f"ask_{place + 1}"] = column
    write_table(output, table)
    if str(output) != "-":
        print_note(f"{output} is written: {n} row(s).", quiet=quiet)
