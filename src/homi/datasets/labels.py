"""Choice of the label columns of a table, and their values as 0 and 1."""

from __future__ import annotations

import fnmatch
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from xml.etree.ElementTree import ParseError

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from homi.datasets.dataset import Content, Labels, Table, label_dtype
from homi.datasets.files import short
from homi.extras import optional

WAYS = (
    "pass labels='first 6' or 'last 14', a list of names, a pattern such as 'tag_*', "
    "or the path of a Mulan .xml file"
)

_FALSE, _TRUE = ("0", "false", "no", "n", "f"), ("1", "true", "yes", "y", "t")
_TRUTH = dict.fromkeys(_FALSE, 0) | dict.fromkeys(_TRUE, 1)


def split(content: Content, labels: Labels | None) -> tuple[Table, Table]:
    """Return the features and the labels, each in the order of the file."""
    if content.labels is not None:
        if labels is not None:
            raise ValueError(
                "this format states its own labels; leave out the argument labels."
            )
        return content.table, content.labels
    table = content.table
    check_unique(table.names, "column")
    wanted = labels if labels is not None else content.said
    if wanted is None:
        raise ValueError(f"no label columns are chosen; {WAYS}{content.note}")
    chosen = set(chosen_columns(table.names, wanted))
    order = range(len(table.names))
    rest = [j for j in order if j not in chosen]
    return table.take(rest), table.take([j for j in order if j in chosen])


def check_unique(names: Sequence[str], what: str) -> None:
    """Raise ValueError if a name occurs twice; `what` is singular, such as "label"."""
    if len(set(names)) < len(names):
        twice = _first_repeated(names)
        raise ValueError(f"two {what}s are named {short(twice)}; rename one of them.")


def label_names(path: Path) -> list[str]:
    """Return the label names of a Mulan XML file, in its order."""
    with optional("reading XML"):
        import defusedxml.ElementTree
    try:
        # A DTD could give attributes long default values that repeat in each label.
        root = defusedxml.ElementTree.parse(path, forbid_dtd=True).getroot()
    except ParseError as error:
        raise ValueError(f"{path} is not well-formed XML: {error}.") from error
    except defusedxml.DTDForbidden as error:
        raise ValueError(
            f"{path} has a DTD, which is not allowed in a label list; remove it."
        ) from error
    except (ValueError, LookupError) as error:  # odd encodings
        raise ValueError(f"{path} cannot be parsed: {error}") from error
    found = [e for e in root.iter() if str(e.tag).rsplit("}", 1)[-1] == "label"]
    names = [e.get("name") for e in found]
    if not names or None in names:
        raise ValueError(
            f"{path} is not a Mulan label list; expected <label name='...'/> elements."
        )
    if len(set(names)) < len(names):
        twice = short(_first_repeated(names))
        raise ValueError(f"{path} lists label {twice} twice; keep one.")
    return names


def indicators(table: Table) -> NDArray[np.signedinteger]:
    """Return the labels as 0 and 1; an error names the column, row and value."""
    is_sparse, (n_rows, n_labels) = sparse.issparse(table.values), table.values.shape
    dtype = label_dtype(n_labels)
    size = (1 + 2 * dtype.itemsize) * n_labels
    table.charge(size, f"its {n_rows:,} rows of {n_labels:,} labels")
    values = table.values.tocsc() if is_sparse else table.values
    columns = np.empty((n_labels, n_rows), dtype=dtype)
    for j in range(n_labels):
        words = table.nominal.get(j)
        # An absent entry is the first declared value, which may be 1: {1,0}.
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


def _positions(
    values: NDArray[np.float64], words: list[str] | None
) -> NDArray[np.intp]:
    """Return positions of values in their list, by default [0, 1]; -1 if not in it."""
    known = (values == 0) | (values == 1) if words is None else ~np.isnan(values)
    return np.where(known, values, -1).astype(np.intp)


def _bad_label(table: Table, row: int, column: int) -> ValueError:
    value, words = table.values[row, column], table.nominal.get(column)
    found = f"{value:g}" if words is None else short(words[int(np.nan_to_num(value))])
    return ValueError(
        f"label {short(table.names[column])} is "
        f"{'missing' if np.isnan(value) else found} in row {row + 1}; every label must "
        "be 0 or 1, false or true, or no or yes. Correct or remove the row or, if the "
        "column is a feature, choose other label columns."
    )


def _truth(value: str) -> int:
    return _TRUTH.get(value.strip().lower(), -1)


def chosen_columns(names: list[str], labels: Labels) -> Iterable[int]:
    """Return the positions of the label columns; `labels` as in `read`."""
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
            f"labels={labels!r} matches none of the {len(names)} columns, such as "
            f"{short(names[0])} or {short(names[-1])}; {WAYS}."
        )
    return found


def _counted(names: list[str], end: str, count: int) -> range:
    if not 0 < count < len(names):
        raise ValueError(
            f"labels='{end} {count}' is not possible with {len(names)} columns; choose "
            "at least one label and leave at least one feature."
        )
    return range(count) if end == "first" else range(len(names) - count, len(names))


def _named(names: list[str], labels: Sequence[str]) -> list[int]:
    wanted = list(labels) if isinstance(labels, Iterable) else [labels]
    if not wanted or not all(isinstance(name, str) for name in wanted):
        raise ValueError(f"labels={labels!r} is not a choice of columns; {WAYS}.")
    check_unique(wanted, "chosen label")
    position = {name: j for j, name in enumerate(names)}
    if unknown := [name for name in wanted if name not in position]:
        raise ValueError(
            f"{len(unknown)} of the chosen labels are not in the file, such as "
            f"{short(unknown[0])}; its columns are {short(names[0])} to "
            f"{short(names[-1])}."
        )
    return [position[name] for name in wanted]


def _listed(names: list[str], path: Path) -> list[int]:
    wanted = label_names(path)
    if unknown := sorted(set(wanted) - set(names)):
        raise ValueError(
            f"{path} lists {len(unknown)} label(s) that are not in the data, such as "
            f"{short(unknown[0])}; check that both files belong to one data set."
        )
    return _named(names, wanted)


def _first_repeated(names: Sequence[str]) -> str:
    counts = Counter(names)
    return next(name for name in names if counts[name] > 1)
