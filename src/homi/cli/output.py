"""Output files: what a command may replace, and tables as CSV, TSV or Parquet."""

from __future__ import annotations

import csv
import io
import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from homi.extras import optional

if TYPE_CHECKING:
    from homi.typing import Fields

#: Number of bytes at the start of a file that tell its kind.
_HEAD = 4096


def _is_model(head: bytes) -> bool:
    return head[8:].startswith(
        (b'{"__metadata__":{"homi"', b'{"__metadata__":{"sha256"')
    )


def _is_page(head: bytes) -> bool:
    start = head.lower()
    return start.startswith(b"<!doctype html>") and b"content-security-policy" in start


def _is_text(head: bytes) -> bool:
    try:
        head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The last letter may be cut.
        if len(head) < _HEAD or error.start < _HEAD - 4:
            return False
    return b"\0" not in head and not head.lower().startswith(b"<!doctype")


def _starts(*magic: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.startswith(magic)


def _is_onnx(head: bytes) -> bool:
    # The version, then who made it.
    return head.startswith(b"\x08") and b"homi" in head[:16]


#: Kind of output -> how an error names it, and a test of a file's first bytes.
_KINDS: dict[str, tuple[str, Callable[[bytes], bool]]] = {
    "model": ("a model file of homi", _is_model),
    "page": ("a page of homi", _is_page),
    "onnx": ("an ONNX file of homi", _is_onnx),
    "scores": ("a table of homi demo", _starts(b"yeast, ")),
    ".png": ("a PNG picture", _starts(b"\x89PNG")),
    ".csv": ("a CSV file", _is_text),
    ".tsv": ("a TSV file", _is_text),
    ".parquet": ("a Parquet file", _starts(b"PAR1")),
    ".gz": ("a file packed by gzip", _starts(b"\x1f\x8b")),
    ".xz": ("a file packed by xz", _starts(b"\xfd7zXZ\0")),
    ".bz2": ("a file packed by bzip2", _starts(b"BZh")),
}

_SPECIAL = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def check_output(
    path: Path, kind: str, inputs: Iterable[Path] = (), *, force: bool = False
) -> None:
    """Refuse an output that would destroy something, before anything is computed.

    Parameters
    ----------
    path : Path
        The file to write. Symbolic links are followed.
    kind : str
        What will be written, a key of ``_KINDS``.
    inputs : iterable of Path
        Files that the command reads; those that do not exist are ignored.
    force : bool
        Replace a file of another kind. An input is never replaced.
    """
    # A link leads to another directory, which is the one that is written to.
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise typer.BadParameter(f"there is no directory {target.parent} to write to.")
    try:
        found = os.stat(path)
    except FileNotFoundError:
        _check_writable(target.parent)
        return
    if not stat.S_ISREG(found.st_mode):
        what = _SPECIAL.get(stat.S_IFMT(found.st_mode), "no regular file")
        raise ValueError(f"{path} is {what}; name a file to write to.")
    for given in inputs:
        if os.path.exists(given) and os.path.samefile(given, path):
            raise ValueError(
                f"the output {path} is the input {given}, which would be lost; name "
                "another output."
            )
    _check_writable(target.parent)
    name, is_kind = _KINDS[kind]
    if force or not found.st_size:
        return
    with open(path, "rb") as file:
        if not is_kind(file.read(_HEAD)):
            raise ValueError(
                f"{path} is there and is not {name}; name another output, or pass "
                "--force to replace it."
            )


def _check_writable(directory: Path) -> None:
    if not os.access(directory, os.W_OK | os.X_OK):
        raise PermissionError(
            f"nothing can be written to {directory}: permission denied."
        )


FORMS = (".csv", ".tsv", ".parquet")

#: First letters by which spreadsheets recognize a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def written_to(path: Path) -> str:
    """Return the end of a note on a table: where it is, unless on standard output."""
    return "" if str(path) == "-" else f"; {path} is written"


def check_table(path: Path, inputs: Iterable[Path], *, force: bool) -> None:
    """Refuse a table whose name has no known suffix, or that must not be replaced."""
    if str(path) == "-":
        return
    from homi.datasets.files import split_name

    _, form, packed = split_name(path)
    if form not in FORMS:
        raise typer.BadParameter(
            f"{path} names no format; expected one of {', '.join(FORMS)}, or -."
        )
    if packed == ".zip":
        raise typer.BadParameter("zip archives are not written; name a .gz file.")
    check_output(path, packed or form, inputs, force=force)


def write_table(path: Path, columns: Fields, *, safe: bool = False) -> None:
    """Write columns by name; ``-`` is stdout, as CSV.

    With `safe`, an apostrophe precedes texts of CSV and TSV files that spreadsheets
    would run as a formula.
    """
    if str(path) == "-":
        # Bytes, as in a file: the encoding of the terminal must not change the data.
        typer.echo(_text(columns, ",", safe).encode(), nl=False)
        return
    from homi.datasets.files import split_name, writing

    form = split_name(path)[1]
    with writing(path) as file:
        if form == ".parquet":
            with optional("writing Parquet"):
                import pyarrow as pa
                import pyarrow.parquet as pq

            arrays = [pa.array(values) for values in columns.values()]
            pq.write_table(pa.Table.from_arrays(arrays, names=list(columns)), file)
        else:
            file.write(_text(columns, "\t" if form == ".tsv" else ",", safe).encode())


def _text(columns: Fields, delimiter: str, safe: bool) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    cells = [
        getattr(values, "tolist", lambda v=values: v)() for values in columns.values()
    ]
    for row in [list(columns), *zip(*cells, strict=True)]:
        writer.writerow([_without_formula(cell) for cell in row] if safe else row)
    return buffer.getvalue()


def _without_formula(cell: Any) -> Any:
    """Return a cell that is never a formula; numbers stay, negative ones too.

    Examples
    --------
    >>> [_without_formula(cell) for cell in ("=1+1", "@SUM(A1)", "-5", -5, "a=b")]
    ["'=1+1", "'@SUM(A1)", '-5', -5, 'a=b']
    """
    if not isinstance(cell, str) or not cell.startswith(_FORMULA):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell
