"""Decisions of a person about audited labels -> a corrected copy of a table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from homi.cli.opened_file import File, with_file_name
from homi.cli.source import LabeledRows
from homi.datasets.files import short
from homi.typing import Fields

_DECISIONS = {"0": 0, "1": 1, "0.0": 0, "1.0": 1}


def corrected_table(
    file: File, given: LabeledRows, decisions: File
) -> tuple[Fields, int]:
    """Return the columns of a file with decided labels, and how many have changed."""
    if file.raw is None or file.stated is not None:
        raise ValueError(
            f"{file.path}: corrected copies are written of .csv, .tsv and .parquet "
            "files only."
        )
    table: Fields = {name: file.texts([name]) for name in file.names}
    place = {name: j for j, name in enumerate(given.label_names)}
    changed = 0
    with with_file_name(decisions.path):
        for line, (row, label, old, new) in enumerate(_cells(decisions)):
            if not new:
                continue
            if new not in _DECISIONS or label not in place or not row.isdigit():
                raise ValueError(
                    f"row {line}, counted from 0, decides {short(new)} about "
                    f"{short(label)} of row {short(row)}; expected 0, 1 or an empty "
                    "cell, and a label and a row of the table."
                )
            i, j = int(row), place[label]
            if i >= len(given.Y) or _DECISIONS.get(old) != given.Y[i, j]:
                raise ValueError(
                    f"row {line}, counted from 0, is not about {file.path}: the label "
                    f"{short(label)} of its row {row} is another; audit this file."
                )
            if given.Y[i, j] != _DECISIONS[new]:
                table[label][i] = _written(table[label], given.Y[:, j], new)
                changed += 1
    return table, changed


def _cells(decisions: File) -> list[tuple[str, ...]]:
    names = ("row", "label", "given", "decision")
    columns = [decisions.texts([name]) for name in names]
    return list(zip(*columns, strict=True))


def _written(cells: list[str], labels: NDArray[np.int8], new: str) -> str:
    """Return the decision as the column writes it, such as yes."""
    value = _DECISIONS[new]
    for cell, label in zip(cells, labels, strict=True):
        if label == value:
            return cell
    return str(value)
