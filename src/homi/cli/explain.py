"""`homi explain`: a model -> a page on how labels depend on each other."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from homi.cli.options import AsJson, Force, Quiet, Seed, TagChoice
from homi.cli.output import check_output
from homi.cli.terminal import print_json, print_note, printable, working

if TYPE_CHECKING:
    from homi.cli.explain_subject import Subject

#: The largest weight of a term: squares and products of larger ones overflow.
_MOST = 1e100

#: Options of HOMI, which is fitted instead of HOMICV if one of them is given.
_OF_HOMI = ("lam", "beta", "gamma", "neighbors", "correlation")
_PANEL = "Fit HOMI, the paper's method, instead of HOMICV"
#: Options of a fit: a model file is fitted already.
_OF_A_FIT = ("labels", "hold_out", *_OF_HOMI)


class Correlation(StrEnum):
    """What B is learned from."""

    labels = "labels"
    held_out = "held-out"
    identity = "identity"


def explain(
    context: typer.Context,
    choice: TagChoice,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[MODEL] [MODEL] [ROWS]",
            help="Model file that homi fit wrote, a second one to compare it with, and "
            "the file of the --row.",
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            help="File of labeled rows to show. Without a model, HOMICV is fitted to "
            "them; then a data set may be given by name, yeast by default."
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(help="Label columns of --data: 'last 6', 'tag_*' or a .xml file."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="HTML page to write. Default: labels.html, or none with --row.",
        ),
    ] = None,
    row: Annotated[
        int | None, typer.Option(min=0, help="Row to explain, counted from 0.")
    ] = None,
    audit: Annotated[
        Path | None,
        typer.Option(help="Table that homi audit wrote about --data, to decide about."),
    ] = None,
    hold_out: Annotated[
        float,
        typer.Option(min=0, max=0.9, help="Fraction of rows to test on."),
    ] = 0.0,
    lam: Annotated[
        float,
        typer.Option(min=0, rich_help_panel=_PANEL, help="λ, the ridge penalty."),
    ] = 1.0,
    beta: Annotated[
        float,
        typer.Option(
            rich_help_panel=_PANEL, help="β, weight of the label correlation."
        ),
    ] = 2.0,
    gamma: Annotated[
        float,
        typer.Option(min=0, rich_help_panel=_PANEL, help="γ, weight of the graph."),
    ] = 1.0,
    neighbors: Annotated[
        int, typer.Option(min=1, rich_help_panel=_PANEL, help="Neighbors of each row.")
    ] = 10,
    correlation: Annotated[
        Correlation,
        typer.Option(rich_help_panel=_PANEL, help="What B is learned from."),
    ] = Correlation.labels,
    seed: Seed = 0,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Show how labels depend on each other: one page to open in a browser.

    Writes the label explorer of a model: how labels occur together and depend on each
    other, what follows from labels that you know, what adds up to the scores of rows,
    suspicious labels, and which labels are confused. --row explains the labels of that
    row on the terminal, and writes a page only if --output names it. Without a model,
    HOMICV is fitted to --data first.

    Example: homi explain model.homi --data test.csv -o labels.html

    Two models: homi explain a.homi b.homi --data test.csv

    Decide about an audit: homi explain model.homi --data train.csv --audit audit.csv

    One row: homi explain model.homi --row 17 new.csv

    A data set by name: homi explain --data emotions --hold-out 0.2

    Your file: homi explain --data train.csv --labels 'tag_*' --row 17 new.csv
    """
    from homi.cli.explain_subject import of_data, of_model_file, read_audit, with_other
    from homi.cli.explain_terminal import print_row, summary
    from homi.estimators import HOMI, HOMICV
    from homi.explorer import write

    console = Console(quiet=quiet or as_json)
    named = [*(files or []), *(Path(name) for name in (data, labels, audit) if name)]
    if output is None and row is None:
        output = Path("labels.html")
    if output is not None:
        check_output(output, "page", named, force=force)
    models, rows = _sorted_out(files or [])
    model_file = models[0] if models else None
    _check_asked(model_file, rows, row)
    _check_data(models, audit, data)
    if model_file is not None:
        _tell_unused(context, model_file, quiet=quiet)
        beside = None if data is None else Path(data)
        with working("Reading", quiet=quiet):
            subject = of_model_file(model_file, beside, rows, row, choice, quiet=quiet)
            if beside is not None and len(models) > 1:
                subject = with_other(subject, models, beside)
    else:
        _refuse_tags(choice, data)
        _check_weights(lam=lam, beta=beta, gamma=gamma)
        model: HOMI | HOMICV = HOMICV(random_state=seed)
        if _given(context, _OF_HOMI):
            model = HOMI(lam, beta, gamma, neighbors, correlation=correlation.value)
        subject = of_data(
            "yeast" if data is None else data,
            labels=labels,
            model=model,
            rows=rows,
            row=row,
            hold_out=hold_out,
            seed=seed,
        )
        _fit(subject, quiet=quiet)
    if audit is not None:
        subject = subject._replace(audit=read_audit(audit))
    with working("Explaining", quiet=quiet):
        known = subject.facts()
        name = Path(model_file or data or "yeast").name
        if output is not None:
            write(known, output, f"{name}: label explorer")
    if as_json:
        print_json(summary(known, output, asked=row is not None))
    if row is not None:
        print_row(console, known, known.rows[0])
    if output is not None:
        console.print(printable(f"Page: {output}"))


def _sorted_out(files: list[Path]) -> tuple[list[Path], Path | None]:
    """Return the models, none to two, and the file of the row."""
    from homi.cli.explain_subject import is_model_file

    is_first = bool(files) and is_model_file(files[0])
    is_second = is_first and len(files) > 1 and is_model_file(files[1])
    models = files[: is_first + is_second]
    rest = files[len(models) :]
    if len(rest) > 1:
        known = "a model" if is_first else "no model"
        raise ValueError(
            f"{len(files)} files were given, and {files[0]} is {known}; give a model "
            "file, a second one to compare it with, and a file of rows, in this order."
        )
    return models, rest[0] if rest else None


def _check_data(models: list[Path], audit: Path | None, data: str | None) -> None:
    """Refuse two models, or an audit, without the rows that they are about."""
    if data is not None:
        return
    if len(models) > 1:
        raise ValueError(
            f"{models[0]} and {models[1]} are compared on rows; pass --data with a "
            "file of labeled rows."
        )
    if audit is not None:
        raise ValueError(f"{audit} is about rows; pass --data with their file.")


def _check_asked(model: Path | None, rows: Path | None, row: int | None) -> None:
    """Refuse a file of rows without --row."""
    if rows is not None and row is None:
        why = "is no model file" if model is None else "is given without --row"
        raise ValueError(
            f"{rows} {why}; pass --row with the number of a row to explain, or "
            f"--data {rows} to show its labels."
        )


def _refuse_tags(choice: TagChoice, data: str | None) -> None:
    """Refuse --tags where a model would have to be fitted."""
    if choice.tags:
        raise ValueError(
            f"--tags needs a model file: run homi fit {data or 'FILE'} --tags "
            f"{choice.tags} -o model.homi, then homi explain model.homi."
        )


def _check_weights(**weights: float) -> None:
    for name, weight in weights.items():
        if weight > _MOST:
            raise ValueError(
                f"--{name} {weight:g} is too large: products of it overflow; pass "
                f"{_MOST:g} or less."
            )


def _tell_unused(context: typer.Context, model: Path, *, quiet: bool) -> None:
    if given := _given(context, _OF_A_FIT):
        print_note(
            f"Note: {model} is fitted already, so {', '.join(given)} change nothing.",
            quiet=quiet,
        )


def _given(context: typer.Context, names: tuple[str, ...]) -> list[str]:
    """Return the options that the command line has, of these."""
    return [
        f"--{name.replace('_', '-')}"
        for name in names
        if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    ]


def _fit(subject: Subject, *, quiet: bool) -> None:
    name = type(subject.model).__name__
    with working(f"Fitting {name} to {len(subject.Y):,} rows", quiet=quiet):
        subject.model.fit(subject.X, subject.Y)
