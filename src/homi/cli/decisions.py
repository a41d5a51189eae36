"""Labels that are probably wrong; decisions about them -> a corrected table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from homi.cli.opened_file import File, with_file_name
from homi.cli.options import Recipe
from homi.cli.recipe import estimator, fit_columns, is_mixed, table_vectorizer
from homi.cli.source import LabeledRows
from homi.datasets.files import short
from homi.dependence import audit as audit_labels
from homi.extras import optional
from homi.typing import Fields

_DECISIONS = {"0": 0, "1": 1, "0.0": 0, "1.0": 1}


def audited(recipe: Recipe, given: LabeledRows, top: int) -> Any:
    """Return the most suspicious labels, a data frame."""
    with optional("homi audit"):
        import pandas as pd

    Y = pd.DataFrame(given.Y, columns=given.label_names)
    if is_mixed(recipe, given):
        vectorizer = table_vectorizer(recipe)
        X = vectorizer.fit_parts(given.found, given.parts, given.found.sources, given.Y)
        model = estimator(recipe, is_text=False, is_scaled=True)
        return audit_labels(model, X, Y, n_listed=top, n_explained=0)
    if given.texts is not None:
        model = estimator(recipe, is_text=True)
        words = model[0].fit_transform(given.texts)
        return audit_labels(model[-1], words, Y, n_listed=top, n_explained=0)
    columns, X = fit_columns(recipe, given, slice(None))
    if not hasattr(X, "tocsr"):
        X = pd.DataFrame(X, columns=columns.feature_names)
    return audit_labels(estimator(recipe, is_text=False), X, Y, n_listed=top)


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
    Y = given.Y.copy()
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
            Y[i, j] = _DECISIONS[new]
    return table | _corrected(table, given, Y), int((Y != given.Y).sum())


def _corrected(
    table: Fields, given: LabeledRows, Y: NDArray[np.signedinteger]
) -> Fields:
    """Return the columns that change: of tags, or of labels as they write 0 and 1."""
    changed = Y != given.Y
    if given.tags is not None:
        new = given.tags.cells(given.label_names, Y)
        pairs = zip(table[given.tags.name], new, changed.any(axis=1), strict=True)
        return {given.tags.name: [b if differs else a for a, b, differs in pairs]}
    columns: Fields = {}
    for j in np.flatnonzero(changed.any(axis=0)):
        name = given.label_columns[j]
        cells = columns[name] = [*table[name]]
        for i in np.flatnonzero(changed[:, j]):
            cells[i] = _written(table[name], given.Y[:, j], Y[i, j])
    return columns


def _cells(decisions: File) -> list[tuple[str, ...]]:
    names = ("row", "label", "given", "decision")
    columns = [decisions.texts([name]) for name in names]
    return list(zip(*columns, strict=True))


def _written(cells: list[str], labels: NDArray[np.signedinteger], value: int) -> str:
    """Return the decision as the column writes it, such as yes."""
    for cell, label in zip(cells, labels, strict=True):
        if label == value:
            return cell
    return str(value)
