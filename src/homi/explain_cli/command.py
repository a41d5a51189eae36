"""``homi explain``: parse, explain, print."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from homi.cli_output import Force, check_output
from homi.estimators import HOMI
from homi.explain_cli.subject import Subject, is_model_file, of_data, of_model_file
from homi.explain_cli.terminal import print_row, summary
from homi.explorer import write
from homi.model_cli.guard import AsJson, Debug, Quiet, guarded, print_json, working
from homi.model_cli.options import Seed


class Correlation(StrEnum):
    """What B is learnt from."""

    labels = "labels"
    held_out = "held-out"
    identity = "identity"


def explain(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[MODEL] [ROWS]",
            help="What homi fit wrote, and the file that --row counts in.",
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            help="Labelled rows to show beside B: a file. Without a model, also a data "
            "set by name, and HOMI is fitted to it. Default: yeast, without a model."
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(help="Label columns of --data: 'last 6', 'tag_*' or a .xml file."),
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
    seed: Seed = 0,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Show how labels depend on each other: one page to open in a browser.

    Writes the label explorer of a model: the graph and the matrix of B, sets of labels
    that explain a label, why rows have their scores, and what the data say. With --row,
    says on the terminal why that row has its labels. Without a model, HOMI is fitted
    to --data first, by the options --lam to --correlation.

    Examples:

    homi explain model.homi --data test.csv -o labels.html

    homi explain model.homi --row 17 new.csv

    homi explain --data emotions --hold-out 0.2 -o labels.html

    homi explain --data train.csv --labels 'tag_*' --row 17 new.csv
    """
    console = Console(quiet=quiet or as_json)
    with guarded(debug=debug, quiet=quiet):
        named = [*(files or []), *(Path(name) for name in (data, labels) if name)]
        check_output(output, "page", named, force=force)
        model_file, rows = _sorted_out(files or [])
        if model_file is not None:
            beside = None if data is None else Path(data)
            with working("Reading", quiet=quiet):
                subject = of_model_file(model_file, beside, rows, row, quiet=quiet)
        else:
            model = HOMI(lam, beta, gamma, neighbors, correlation=correlation.value)
            given = data or "yeast", labels, model, rows, row, hold_out, seed
            subject = of_data(*given)
            _fit(subject, quiet=quiet)
        with working("Explaining", quiet=quiet):
            known = subject.facts()
            name = Path(model_file or data or "yeast").name
            write(known, output, f"{name}: label explorer")
    if as_json:
        print_json(summary(known, output, asked=row is not None))
    if row is not None:
        print_row(console, known, known.rows[0])
    console.print(f"Page: {escape(str(output))}")


def _sorted_out(files: list[Path]) -> tuple[Path | None, Path | None]:
    """The model, if the first file is one, and the file of the row."""
    is_first = bool(files) and is_model_file(files[0])
    rest = files[1:] if is_first else files
    if len(rest) > 1:
        raise ValueError(
            f"{len(files)} files were given, and {files[0]} is no model; give a model "
            "file, a file of rows, or both in this order."
        )
    return files[0] if is_first else None, rest[0] if rest else None


def _fit(subject: Subject, *, quiet: bool) -> None:
    with working(f"Fitting HOMI to {len(subject.Y):,} rows", quiet=quiet):
        subject.model.fit(subject.X, subject.Y)
