"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from homi.cli.build import Objective, Strategy
from homi.datasets.files import split_name


class NominalName(StrEnum):
    """What becomes of a column of words."""

    onehot = "onehot"
    codes = "codes"


class MissingName(StrEnum):
    """What becomes of a missing value."""

    error = "error"
    mean = "mean"
    median = "median"
    most_frequent = "most_frequent"
    zero = "zero"


#: The largest seed that numpy takes.
MOST_SEED = 2**32 - 1

FORMATS = ".csv, .tsv, .parquet, .arff, .libsvm or .npz, also packed as .gz, .xz, .bz2"

Training = Annotated[Path, typer.Argument(metavar="FILE", help=f"Rows: {FORMATS}.")]
Rows = Annotated[Path, typer.Argument(metavar="FILE", help=f"Rows: {FORMATS}.")]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="What homi fit wrote.")]
Labels = Annotated[
    list[str] | None,
    typer.Option(
        "--labels",
        "-l",
        help="Columns that are labels: 'tag_*', 'last 6', a name, or a Mulan .xml "
        "file. May be repeated. ARFF, LIBSVM and npz files may say it themselves.",
    ),
]
Text = Annotated[
    list[str] | None,
    typer.Option(
        "--text",
        "-t",
        help="Column of texts, taken as TF-IDF. May be repeated. No other column is "
        "a feature then.",
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", help="Columns to leave out, such as 'id*'. May repeat."),
]
Paper = Annotated[
    bool,
    typer.Option(
        "--paper", help="HOMI with the paper's settings, instead of chosen ones."
    ),
]
Linear = Annotated[
    bool,
    typer.Option(
        "--linear", help="Try no kernel: then no training row is in the model file."
    ),
]
Neighbors = Annotated[
    int | None,
    typer.Option(
        "--neighbors",
        min=1,
        help="Rows that each row is tied to. Default: chosen, or 10 with --paper.",
    ),
]
Tune = Annotated[
    Objective | None,
    typer.Option("--tune", help="Choose thresholds for this, on held-out rows."),
]
HowTuned = Annotated[
    Strategy, typer.Option("--strategy", help="How --tune chooses them.")
]
HowNominal = Annotated[
    NominalName,
    typer.Option("--nominal", help="What a column of words becomes."),
]
HowMissing = Annotated[
    MissingName,
    typer.Option("--missing", help="What a missing value becomes."),
]
MaxWords = Annotated[
    int, typer.Option("--max-words", min=1, help="Most words and so features of texts.")
]
Budget = Annotated[
    float | None,
    typer.Option("--time-budget", help="Seconds after which nothing more is tried."),
]
Seed = Annotated[
    int,
    typer.Option("--seed", min=0, max=MOST_SEED, help="Seed of what is random."),
]


def files_read(file: Path, labels: list[str] | None) -> list[Path]:
    """A file of rows, and the files that say which of its columns are labels."""
    beside = file.parent / f"{split_name(file)[0]}.xml"  # what ARFF files may have
    return [file, beside, *map(Path, labels or [])]


def check_budget(budget: float | None, paper: bool) -> None:
    if budget is not None and not budget > 0:
        raise typer.BadParameter("--time-budget must be positive.")
    if budget is not None and paper:
        raise typer.BadParameter("--paper chooses nothing; omit --time-budget.")
