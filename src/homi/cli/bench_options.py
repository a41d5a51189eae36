"""Options that the commands of ``homi bench`` share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

File = Annotated[Path, typer.Argument(metavar="EXPERIMENT", help="A TOML file.")]
Results = Annotated[
    Path | None,
    typer.Option(
        help="Directory of the journal, one file per result; the packed table is "
        "DIRECTORY.parquet. Default: results/NAME."
    ),
]
Protocols = Annotated[
    list[str] | None,
    typer.Option("--protocols", help="Only these protocols: A,B or repeated."),
]
Datasets = Annotated[
    list[str] | None,
    typer.Option("--datasets", help="Only these data sets: A,B or repeated."),
]
Methods = Annotated[
    list[str] | None,
    typer.Option("--methods", help="Only these methods: A,B or repeated."),
]
Sensitivity = Annotated[
    list[str] | None,
    typer.Option(
        "--sensitivity", help="Vary HOMI's parameters on these data sets as well."
    ),
]
Quick = Annotated[
    bool,
    typer.Option("--quick", help="The small part that the file names under quick."),
]


class EngineName(StrEnum):
    """Where tasks are computed."""

    local = "local"
    dask = "dask"
