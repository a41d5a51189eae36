"""A file -> its columns: features, labels, texts."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from homi.budget import Budget
from homi.datasets.files import short, split_name
from homi.datasets.read import parser
from homi.datasets.select import (
    Table,
    check_unique,
    chosen_columns,
    indicators,
)

#: Formats that name their columns and may hold texts.
TABLES = {".csv": "text_columns", ".tsv": "text_columns", ".parquet": "parquet_columns"}
#: Formats that leave out what is zero, columns of nothing but zeros as well.
SPARSE = {".libsvm", ".svm", ".svmlight", ".txt"}


@dataclass(frozen=True)
class File:
    """A file that was opened: names and columns, nothing yet taken for a number.

    Attributes
    ----------
    path : Path
    names : list of str
        Of all columns, without the labels that a format states itself.
    raw : list or None
        Columns of a CSV, TSV or Parquet file.
    table : Table or None
        Columns of any other file.
    stated : Table or None
        Labels that the format states itself.
    said : labels or None
        Which columns are labels, if the file says so.
    budget : Budget or None
        What is left of the memory that the file may take.
    """

    path: Path
    names: list[str]
    raw: list[Any] | None = None
    table: Table | None = None
    stated: Table | None = None
    said: Any = None
    budget: Budget | None = None

    @property
    def leaves_out_zeros(self) -> bool:
        return split_name(self.path)[1] in SPARSE

    def take(self, columns: list[int]) -> Table:
        """Columns as numbers, or as positions in lists of words."""
        if self.table is not None:
            return self.table.take(columns)
        from homi.datasets.tables import content

        assert self.raw is not None
        names = [self.names[j] for j in columns]
        return content(names, [self.raw[j] for j in columns], self.budget).table

    def texts(self, names: list[str]) -> list[str]:
        """Texts of rows; those of several columns are joined. A gap is empty."""
        if self.raw is None:
            raise ValueError(
                f"{self.path}: texts are read from .csv, .tsv and .parquet files only."
            )
        columns = [
            self._texts_of(self.raw[self.position(name)], name) for name in names
        ]
        cells = [[_text(cell) for cell in column.to_pylist()] for column in columns]
        return ["\n".join(row) for row in zip(*cells, strict=True)]

    def _texts_of(self, column: Any, name: str) -> Any:
        """A column to take texts from: dictionaries are charged and decoded."""
        import pyarrow as pa

        from homi.datasets.tables import decoded

        kind = column.type
        if pa.types.is_nested(kind):
            raise ValueError(
                f"{self.path}: column {short(name)} is of type {kind}; texts are read "
                "from columns of single values."
            )
        if pa.types.is_dictionary(kind) and pa.types.is_string(kind.value_type):
            assert self.budget is not None
            return decoded(column, name, self.budget)
        return column

    def position(self, name: str) -> int:
        if name not in self.names:
            raise ValueError(
                f"{self.path} has no column {short(name)}; it has {listed(self.names)}."
            )
        return self.names.index(name)

    def matching(self, patterns: list[str]) -> set[int]:
        """Columns that fit a pattern; each must fit some."""
        found: set[int] = set()
        for pattern in patterns:
            some = {j for j, n in enumerate(self.names) if fnmatch.fnmatch(n, pattern)}
            if not some:
                raise ValueError(
                    f"{self.path}: no column fits {pattern!r}; it has "
                    f"{listed(self.names)}."
                )
            found |= some
        return found


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell)


def listed(names: list[str], most: int = 5) -> str:
    """Some names, as an error shows them."""
    shown = ", ".join(short(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def open_file(path: Path) -> File:
    """Open a file of any format that ``homi.datasets.read`` reads."""
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}.")
    form = split_name(path)[1]
    try:
        budget = Budget.of(path)
        if form in TABLES and not path.is_dir():
            from homi.datasets import tables

            names, columns = getattr(tables, TABLES[form])(path, budget)
            check_unique(names, "column")
            return File(path, names, raw=columns, budget=budget)
        content = parser(path)(path, budget)
    except ModuleNotFoundError:
        raise
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{path}: {str(error)[:1000]}") from error
    table, said = content.table, content.said
    if content.labels is None:
        check_unique(table.names, "column")
    return File(path, table.names, table=table, stated=content.labels, said=said)


@dataclass(frozen=True)
class Labelled:
    """What a model is fitted to: features or texts, and labels."""

    features: Table | None
    texts: list[str] | None
    Y: NDArray[np.int8]
    label_names: list[str]
    dropped: list[str]


def read_labelled(
    file: File, labels: list[str], text: list[str], drop: list[str]
) -> Labelled:
    """Features and labels of a training file; features are all other columns."""
    try:
        dropped = file.matching(drop)
        chosen, table = _labels(file, labels, dropped)
        names = [file.names[j] for j in sorted(dropped)]
        dropped |= {file.position(name) for name in text}
        taken = chosen | dropped
        rest = [j for j in range(len(file.names)) if j not in taken]
        Y = indicators(table)
        if text:
            return Labelled(None, file.texts(text), Y, table.names, names)
        if not rest or not len(Y):
            raise ValueError(
                f"has {len(Y)} rows and {len(rest)} columns besides its labels; at "
                "least one of each is needed."
            )
        return Labelled(file.take(rest), None, Y, table.names, names)
    except ValueError as error:
        raise _of(file, error) from error


def _labels(file: File, labels: list[str], dropped: set[int]) -> tuple[set[int], Table]:
    if file.stated is not None:
        if labels:
            raise ValueError("this format states its labels itself; omit --labels.")
        return set(), file.stated
    if not labels and file.said is None:
        raise ValueError(
            "nothing says which columns are labels; pass --labels 'tag_*', 'last 6', "
            "a name, or a Mulan .xml file, once or more often."
        )
    wanted: list[Any] = [*labels] or [file.said]
    chosen = {j for one in wanted for j in chosen_columns(file.names, one)} - dropped
    return chosen, file.take(sorted(chosen))


def _of(file: File, error: ValueError) -> ValueError:
    """The same error with the name of the file in front."""
    text, name = str(error), str(file.path)
    if "is free text" in text or "holds dates" in text:
        text += " Or pass its name by --drop to leave it out, or by --text."
    return ValueError(text if text.startswith(name) else f"{name}: {text}")


def read_features(
    file: File, names: list[str], labels: list[str]
) -> tuple[Table, list[str]]:
    """The named columns in this order, and the names of others that no one knows."""
    place = {name: j for j, name in enumerate(file.names)}
    missing = [name for name in names if name not in place]
    known = {*names, *labels}
    unknown = [name for name in file.names if name not in known]
    try:
        if missing and file.leaves_out_zeros and file.table is not None:
            return _with_zeros(file.table, names, place), unknown
        if missing:
            raise ValueError(
                f"lacks {len(missing)} of the {len(names)} columns that the model was "
                f"fitted on: {listed(missing)}; add them, by these names."
            )
        return file.take([place[name] for name in names]), unknown
    except ValueError as error:
        raise _of(file, error) from error


def _with_zeros(table: Table, names: list[str], place: dict[str, int]) -> Table:
    """LIBSVM files end at their largest index: columns beyond are zero."""
    empty = table.values.shape[1]
    padding = sparse.csr_array((table.values.shape[0], 1))
    wide = sparse.hstack([table.values, padding], "csr")
    columns = [place.get(name, empty) for name in names]
    return Table(names, wide[:, columns], {}, table.budget)


def read_labels(file: File, names: list[str]) -> NDArray[np.int8]:
    """The model's labels in a file, in the model's order."""
    try:
        if file.stated is not None:
            return _stated(file, names)
        place = {name: j for j, name in enumerate(file.names)}
        if missing := [name for name in names if name not in place]:
            raise ValueError(
                f"lacks {len(missing)} of the {len(names)} labels of the model: "
                f"{listed(missing)}; give a file that has them."
            )
        return indicators(file.take([place[name] for name in names]))
    except ValueError as error:
        raise _of(file, error) from error


def _stated(file: File, names: list[str]) -> NDArray[np.int8]:
    assert file.stated is not None
    table = indicators(file.stated)
    place = {name: j for j, name in enumerate(file.stated.names)}
    Y = np.zeros((len(table), len(names)), dtype=np.int8)
    absent = [name for name in names if name not in place]
    if absent and not file.leaves_out_zeros:
        raise ValueError(f"lacks {len(absent)} labels of the model: {listed(absent)}.")
    for j, name in enumerate(names):
        if name in place:
            Y[:, j] = table[:, place[name]]
    return Y


def take_rows(table: Table, rows: Any) -> Table:
    return table._replace(values=table.values[rows])
