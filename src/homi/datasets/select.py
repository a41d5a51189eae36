"""Which columns of a table are labels, and their values as 0 and 1."""

from __future__ import annotations

import fnmatch
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from xml.etree.ElementTree import ParseError

import defusedxml.ElementTree
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from homi.budget import Budget
from homi.datasets.files import short

Labels: TypeAlias = "str | os.PathLike[str] | Sequence[str]"

WAYS = (
    "pass labels='first 6' or 'last 14', a list of names, a pattern such as 'tag_*', "
    "or the path of a Mulan .xml file"
)

_TRUTH = {"0": 0, "1": 1, "false": 0, "true": 1}


class Table(NamedTuple):
    """Columns of numbers, NaN where a value is missing.

    A nominal column holds positions in its list of values, so that an absent entry
    of a sparse table is the first of them, as ARFF wants it. What is made of its
    values is charged to the budget of the file that it came from.
    """

    names: list[str]
    values: Any
    nominal: dict[int, list[str]]
    budget: Budget | None = None

    def charge(self, bytes_per_row: int, what: str) -> None:
        """Charge memory for each row; a table of no file has no budget."""
        if self.budget is not None:
            self.budget.take(bytes_per_row * self.values.shape[0], what)

    def take(self, columns: Sequence[int]) -> Table:
        nominal = {
            new: self.nominal[old]
            for new, old in enumerate(columns)
            if old in self.nominal
        }
        names = [self.names[j] for j in columns]
        if sparse.issparse(self.values):
            return Table(names, self.values[:, columns], nominal, self.budget)
        # Unlike plain indexing, this leaves the rows contiguous.
        values = np.take(self.values, columns, axis=1)
        return Table(names, values, nominal, self.budget)


class Content(NamedTuple):
    """What a file holds: one table, and its labels or what it says of them."""

    table: Table
    labels: Table | None = None
    said: Labels | None = None
    note: str = ""


def csr(
    cells: NDArray[Any], columns: NDArray[Any], ends: NDArray[Any], n_columns: int
) -> Any:
    """A CSR array out of its pieces, without stored zeros; bad pieces are an error."""
    # In 64 bits at first: fewer would turn a wrong index into a right one.
    parts = (cells, columns.astype(np.int64), ends.astype(np.int64))
    matrix = sparse.csr_array(parts, shape=(len(ends) - 1, n_columns))
    matrix.check_format(full_check=True)
    if max(len(columns), n_columns) < 2**31:
        matrix.indices = matrix.indices.astype(np.int32)
        matrix.indptr = matrix.indptr.astype(np.int32)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def split(content: Content, labels: Labels | None) -> tuple[Table, Table]:
    """The features and the labels, each in the order of the file."""
    if content.labels is not None:
        if labels is not None:
            raise ValueError(
                "this format states its labels itself; leave out the argument labels."
            )
        return content.table, content.labels
    table = content.table
    check_unique(table.names, "column")
    wanted = labels if labels is not None else content.said
    if wanted is None:
        raise ValueError(f"nothing says which columns are labels; {WAYS}{content.note}")
    chosen = set(chosen_columns(table.names, wanted))
    order = range(len(table.names))
    rest = [j for j in order if j not in chosen]
    return table.take(rest), table.take([j for j in order if j in chosen])


def check_unique(names: Sequence[str], what: str) -> None:
    if len(set(names)) < len(names):
        twice = _first_repeated(names)
        raise ValueError(f"two {what}s are named {short(twice)}; rename one of them.")


def label_names(path: Path) -> list[str]:
    """The names in a Mulan label list, in its own order."""
    try:
        # The default of an attribute, in a DTD, could be long and used often.
        root = defusedxml.ElementTree.parse(path, forbid_dtd=True).getroot()
    except ParseError as error:
        raise ValueError(f"{path} is not well-formed XML: {error}.") from error
    except defusedxml.DTDForbidden as error:
        raise ValueError(
            f"{path} is refused: it has a DTD, and a label list needs none; remove it."
        ) from error
    except (ValueError, LookupError) as error:  # odd encodings
        raise ValueError(f"{path} is refused: {error}") from error
    found = [e for e in root.iter() if str(e.tag).rsplit("}", 1)[-1] == "label"]
    names = [e.get("name") for e in found]
    if not names or None in names:
        raise ValueError(
            f"{path} is no Mulan label list: it must hold <label name='...'/> elements."
        )
    if len(set(names)) < len(names):
        raise ValueError(f"{path} lists {short(_first_repeated(names))} twice.")
    return names


def indicators(table: Table) -> NDArray[np.int8]:
    """The labels as 0 and 1, or an error that names a column, a row and a value."""
    is_sparse, (n_rows, n_labels) = sparse.issparse(table.values), table.values.shape
    table.charge(3 * n_labels, f"its {n_rows:,} rows of {n_labels:,} labels")
    values = table.values.tocsc() if is_sparse else table.values
    columns = np.empty((n_labels, n_rows), dtype=np.int8)
    for j in range(n_labels):
        words = table.nominal.get(j)
        # What is absent is the first value, and that may be 1: {1,0}.
        truth = np.array([*map(_truth, words or ["0", "1"]), -1], dtype=np.int8)
        if is_sparse:
            at = slice(*values.indptr[j : j + 2])
            columns[j] = truth[0]
            columns[j, values.indices[at]] = truth[_positions(values.data[at], words)]
        else:
            columns[j] = truth[_positions(values[:, j], words)]
    Y = np.ascontiguousarray(columns.T)
    if (Y < 0).any():
        raise _bad_label(table, *np.argwhere(Y < 0)[0])
    return Y


def _positions(values: NDArray[np.float64], words: list[str] | None) -> NDArray[Any]:
    """Where a value stands in its list, or in that of 0 and 1; -1 if it does not."""
    known = (values == 0) | (values == 1) if words is None else ~np.isnan(values)
    return np.where(known, values, -1).astype(np.intp)


def _bad_label(table: Table, row: int, column: int) -> ValueError:
    value, words = table.values[row, column], table.nominal.get(column)
    found = f"{value:g}" if words is None else short(words[int(np.nan_to_num(value))])
    return ValueError(
        f"label {short(table.names[column])} is "
        f"{'missing' if np.isnan(value) else found} in row {row + 1}; every label must "
        "be 0 or 1, or false or true. Remove such rows, or, if it is a feature, choose "
        "other columns as labels."
    )


def _truth(value: str) -> int:
    return _TRUTH.get(value.strip().lower(), -1)


def chosen_columns(names: list[str], labels: Labels) -> Iterable[int]:
    """Positions of the labels among the names; `labels` as in `read`."""
    if isinstance(labels, os.PathLike) or (
        isinstance(labels, str) and labels.lower().endswith(".xml")
    ):
        return _listed(names, Path(labels))
    if not isinstance(labels, str):
        return _named(names, labels)
    if count := re.fullmatch(r"\s*(first|last)\s+(\d{1,18})\s*", labels, re.I):
        return _counted(names, count[1].lower(), int(count[2]))
    if labels in names:
        return [names.index(labels)]
    found = [j for j, name in enumerate(names) if fnmatch.fnmatchcase(name, labels)]
    if not found:
        raise ValueError(
            f"labels={labels!r} fits none of the {len(names)} columns, such as "
            f"{short(names[0])} or {short(names[-1])}; {WAYS}."
        )
    return found


def _counted(names: list[str], end: str, count: int) -> range:
    if not 0 < count < len(names):
        raise ValueError(
            f"'{end} {count}' cannot be the labels of {len(names)} columns: at least "
            "one label and one feature are needed."
        )
    return range(count) if end == "first" else range(len(names) - count, len(names))


def _named(names: list[str], labels: Sequence[str]) -> list[int]:
    wanted = list(labels) if isinstance(labels, Iterable) else [labels]
    if not wanted or not all(isinstance(name, str) for name in wanted):
        raise ValueError(f"labels={labels!r} is not understood; {WAYS}.")
    check_unique(wanted, "given label")
    position = {name: j for j, name in enumerate(names)}
    if unknown := [name for name in wanted if name not in position]:
        raise ValueError(
            f"{len(unknown)} of the given labels are no columns, such as "
            f"{short(unknown[0])}; the columns are {short(names[0])} to "
            f"{short(names[-1])}."
        )
    return [position[name] for name in wanted]


def _listed(names: list[str], path: Path) -> list[int]:
    wanted = label_names(path)
    if unknown := sorted(set(wanted) - set(names)):
        raise ValueError(
            f"{path} lists {len(unknown)} label(s) that the data do not have, such as "
            f"{short(unknown[0])}; are the two files of one data set?"
        )
    return _named(names, wanted)


def _first_repeated(names: Sequence[Any]) -> Any:
    counts = Counter(names)
    return next(name for name in names if counts[name] > 1)
