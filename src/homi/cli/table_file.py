"""A table of results -> CSV, TSV or Parquet, written whole or not at all."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer

from homi.cli.output import check_output
from homi.datasets.files import split_name, writing

FORMS = (".csv", ".tsv", ".parquet")

#: What spreadsheets take a cell for a formula by.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def check_table(path: Path, inputs: Iterable[Path], *, force: bool) -> None:
    """Refuse a name that says no format, or a file that must not be replaced."""
    if str(path) == "-":
        return
    _, form, packed = split_name(path)
    if form not in FORMS:
        raise typer.BadParameter(
            f"{path} names no format; expected one of {', '.join(FORMS)}, or -."
        )
    check_output(path, packed or form, inputs, force=force)


def write_table(path: Path, columns: dict[str, Any], *, safe: bool = False) -> None:
    """Write columns by name; ``-`` is stdout, as CSV.

    With `safe`, texts of CSV and TSV files that spreadsheets would run as a formula
    begin with an apostrophe.
    """
    if str(path) == "-":
        # Bytes, as in a file: what the terminal can show must not change the data.
        typer.echo(_text(columns, ",", safe).encode(), nl=False)
        return
    form = split_name(path)[1]
    with writing(path) as file:
        if form == ".parquet":
            import pyarrow as pa
            import pyarrow.parquet as pq

            arrays = [pa.array(values) for values in columns.values()]
            pq.write_table(pa.Table.from_arrays(arrays, names=list(columns)), file)
        else:
            file.write(_text(columns, "\t" if form == ".tsv" else ",", safe).encode())


def _text(columns: dict[str, Any], delimiter: str, safe: bool) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    cells = [
        getattr(values, "tolist", lambda v=values: v)() for values in columns.values()
    ]
    for row in [list(columns), *zip(*cells, strict=True)]:
        writer.writerow([_unarmed(cell) for cell in row] if safe else row)
    return buffer.getvalue()


def _unarmed(cell: Any) -> Any:
    """The cell as text and never a formula; numbers stay, negative ones too.

    Examples
    --------
    >>> [_unarmed(cell) for cell in ("=1+1", "@SUM(A1)", "-5", -5, "a=b")]
    ["'=1+1", "'@SUM(A1)", '-5', -5, 'a=b']
    """
    if not isinstance(cell, str) or not cell.startswith(_FORMULA):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell
