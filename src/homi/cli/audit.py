"""`homi audit`: a file of labeled rows -> labels that are probably wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from homi.cli.options import AsJson, ColumnChoice, Force, Quiet, Recipe, Rows
from homi.cli.output import check_table, write_table, written_to
from homi.cli.terminal import print_json, print_note, working

if TYPE_CHECKING:
    from homi.typing import Fields


def audit(
    file: Rows,
    choice: ColumnChoice,
    recipe: Recipe,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help=".csv, .tsv or .parquet; - is stdout."),
    ] = Path("-"),
    top: Annotated[
        int, typer.Option("--top", min=1, help="Number of labels to list.")
    ] = 1000,
    apply: Annotated[
        Path | None,
        typer.Option(
            "--apply",
            help="Write a copy of FILE with the labels in the column decision of this "
            "table, which homi audit wrote and a person filled in.",
        ),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find labels of a training file that are probably wrong.

    Each row is judged by a model of other rows, by its features and its other labels.
    Most suspicious first, with the probability that the label is wrong (score) and a
    reason. Rows are counted from 0.

    Example: homi audit train.csv --labels 'tag_*' -o audit.csv

    Write 0 or 1 into the column decision of audit.csv where you agree, and apply it:
    homi audit train.csv --labels 'tag_*' --apply audit.csv -o corrected.csv
    """
    from homi.cli.decisions import audited, corrected_table
    from homi.cli.opened_file import open_file
    from homi.cli.source import input_files, read_rows

    if recipe.tune is not None:
        raise typer.BadParameter("an audit uses no thresholds; omit --tune.")
    inputs = [*input_files(file, choice), *([] if apply is None else [apply])]
    check_table(output, inputs, force=force)
    with working(f"Reading {file}", quiet=quiet):
        given = read_rows(file, choice)
    if apply is not None:
        table, changed = corrected_table(open_file(file), given, open_file(apply))
        write_table(output, table)
        print_note(f"{changed} label(s) changed{written_to(output)}.", quiet=quiet)
        return
    with working("Auditing", quiet=quiet):
        found = audited(recipe, given, top)
    facts = {"n_wrong": found.n_wrong, "interval": found.interval}
    if as_json and str(output) == "-":
        print_json({**facts, "labels": found.to_dict("records")})
        return
    columns: Fields = {name: found[name].tolist() for name in found.columns}
    write_table(output, {**columns, "decision": [""] * len(found)})
    low, high = found.interval
    print_note(
        f"About {found.n_wrong:.0f} of {given.Y.size} labels are wrong, plausibly "
        f"{low:.0f} to {high:.0f}{written_to(output)}.",
        quiet=quiet,
    )
