"""A table of results -> CSV, TSV or Parquet, written whole or not at all."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path
from typing import Any

import typer

from homi.datasets.files import split_name, writing

FORMS = (".csv", ".tsv", ".parquet")


def check_form(path: Path) -> None:
    """Refuse a name that says no format, before anything is computed."""
    if str(path) != "-" and split_name(path)[1] not in FORMS:
        raise typer.BadParameter(
            f"{path} names no format; expected one of {', '.join(FORMS)}, or -."
        )
    if not path.parent.is_dir():
        raise typer.BadParameter(f"there is no directory {path.parent} to write to.")


def write_table(path: Path, columns: dict[str, Any]) -> None:
    """Write columns by name; ``-`` is stdout, as CSV."""
    if str(path) == "-":
        sys.stdout.write(_text(columns, ","))
        return
    form = split_name(path)[1]
    with writing(path) as file:
        if form == ".parquet":
            import pyarrow as pa
            import pyarrow.parquet as pq

            arrays = [pa.array(values) for values in columns.values()]
            pq.write_table(pa.Table.from_arrays(arrays, names=list(columns)), file)
        else:
            file.write(_text(columns, "\t" if form == ".tsv" else ",").encode())


def _text(columns: dict[str, Any], delimiter: str) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    cells = [
        getattr(values, "tolist", lambda v=values: v)() for values in columns.values()
    ]
    writer.writerows(zip(*cells, strict=True))
    return buffer.getvalue()
