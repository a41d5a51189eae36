"""Columns of a file -> rows of a model, the same way in every file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from homi.datasets.files import short
from homi.datasets.read import Missing, Nominal, codes, each_column, typical
from homi.datasets.select import Table

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Column:
    """A feature as it was in training: its values if they are words, and its gaps."""

    name: str
    words: list[str] | None = None
    fill: float | None = None

    def names(self, nominal: Nominal) -> list[str]:
        """Names of the features that it becomes."""
        if self.words is None or nominal == "codes":
            return [self.name]
        return [f"{self.name}={word}" for word in self.words]


@dataclass(frozen=True)
class Columns:
    """What was learnt of the columns of a training file.

    A column of words becomes a column of 0 and 1 for each word, or the word's
    position. A missing value becomes what was typical in training, if anything.
    """

    columns: list[Column]
    nominal: Nominal
    missing: Missing

    @property
    def names(self) -> list[str]:
        """Of the columns in the file."""
        return [column.name for column in self.columns]

    @property
    def feature_names(self) -> list[str]:
        """Of the features of the model."""
        parts = [column.names(self.nominal) for column in self.columns]
        return list(chain.from_iterable(parts))

    @classmethod
    def learnt(cls, table: Table, nominal: Nominal, missing: Missing) -> Columns:
        table = numeric(table)
        found = []
        for j, column, n_absent in each_column(table.values):
            words, fill = table.nominal.get(j), None
            if missing != "error":
                seen = np.concatenate([column[~np.isnan(column)], np.zeros(n_absent)])
                how = missing if words is None else "most_frequent"
                fill = typical(seen, how) if len(seen) and how != "zero" else 0.0
            found.append(Column(table.names[j], words, fill))
        return cls(found, nominal, missing)

    def rows(self, table: Table) -> Any:
        """The rows of a table that has these columns, in this order."""
        table = numeric(table)
        self._check_size(table)
        plain = [column.words is None for column in self.columns]
        if all(plain) and not table.nominal:
            return self._finite(self._filled(table.values))
        values = table.values.tocsc() if sparse.issparse(table.values) else table.values
        blocks = [self._block(values, j, table) for j in range(len(self.columns))]
        if sparse.issparse(values):
            return self._finite(sparse.hstack(blocks, "csr"))
        return self._finite(np.hstack(blocks))

    def _check_size(self, table: Table) -> None:
        """Refuse rows that take too much memory; those of each call are soon free."""
        if table.budget is None:
            return
        is_sparse = sparse.issparse(table.values)
        widths = [
            len(column.names(self.nominal))
            for column in self.columns
            if column.words is not None or not is_sparse
        ]
        n_bytes = 16 * sum(widths) * table.values.shape[0]
        # Each new name begins with that of its column, which may be long.
        n_bytes += sum(
            4 * len(column.name) * len(column.words or ())
            for column in self.columns
            if self.nominal == "onehot"
        )
        table.budget.check(n_bytes, "its columns as features of the model")

    def _filled(self, values: Any) -> Any:
        """A copy without gaps, where training says what to put into them."""
        if sparse.issparse(values):
            values = values.tocsr().copy()
            gaps = np.isnan(values.data)
            values.data[gaps] = self._fills()[values.indices[gaps]]
            return values
        return np.where(np.isnan(values), self._fills(), values)

    def _fills(self) -> Vector:
        given = [column.fill for column in self.columns]
        return np.array([np.nan if fill is None else fill for fill in given])

    def _block(self, values: Any, j: int, table: Table) -> Any:
        column, words = self.columns[j], table.nominal.get(j)
        dense = values[:, [j]].toarray() if sparse.issparse(values) else values[:, [j]]
        found = _recoded(column, words, dense[:, 0], strict=self.missing == "error")
        if column.fill is not None:
            found = np.where(np.isnan(found), column.fill, found)
        if column.words is not None and self.nominal == "onehot":
            _check_gaps(column.name, found)
            block = found[:, None] == np.arange(len(column.words))
            return _like(values, block.astype(np.float64))
        return _like(values, found[:, None])

    def _finite(self, X: Any) -> Any:
        stored = X.data if sparse.issparse(X) else X
        if np.isfinite(stored).all():
            return X
        bad = np.argwhere(~np.isfinite(stored))[0]
        j = int(X.indices[bad[0]]) if sparse.issparse(X) else int(bad[1])
        _check_gaps(self.feature_names[j], stored)
        raise ValueError(
            f"column {short(self.feature_names[j])} is infinite in a row; every value "
            "must be a finite number."
        )

    def to_json(self) -> dict[str, Any]:
        columns = [[c.name, c.words, c.fill] for c in self.columns]
        return {"columns": columns, "nominal": self.nominal, "missing": self.missing}

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Columns:
        """The same again; what makes no sense is a ValueError."""
        columns = [_checked(*column) for column in found["columns"]]
        nominal, missing = found["nominal"], found["missing"]
        if nominal not in get_args(Nominal) or missing not in get_args(Missing):
            raise ValueError(f"nominal={nominal!r} and missing={missing!r} are unknown")
        return cls(columns, nominal, missing)


def _checked(name: Any, words: Any, fill: Any) -> Column:
    texts([name])
    if words is not None:
        texts(words)
    if fill is not None and not np.isfinite(fill):
        raise ValueError(f"{fill} fills no gap")
    return Column(name, words, fill)


def texts(given: Any) -> list[str]:
    """A list of texts, checked to be one."""
    if not isinstance(given, list) or not all(isinstance(t, str) for t in given):
        raise ValueError(f"{str(given)[:40]} is no list of texts")
    return given


def numeric(table: Table) -> Table:
    """Columns whose words are all numbers as these numbers; ARFF has {0,1} often."""
    changed = {}
    for j, words in table.nominal.items():
        values = codes(words)
        if _are_numbers(words, values):
            changed[j] = values
    if not changed:
        return table
    values = table.values
    moved = {j: v for j, v in changed.items() if not np.array_equal(v, range(len(v)))}
    if moved:
        if table.budget is not None and sparse.issparse(values):
            # Zeros that are no longer zeros: each is an entry of a list.
            n_bytes = 100 * len(moved) * values.shape[0]
            table.budget.check(n_bytes, "its nominal columns as numbers")
        values = values.tolil() if sparse.issparse(values) else values.copy()
        for j, numbers in moved.items():
            column = values[:, [j]]
            dense = column.toarray() if sparse.issparse(column) else column
            known = ~np.isnan(dense)
            dense[known] = numbers[dense[known].astype(np.intp)]
            values[:, [j]] = dense
        values = values.tocsr() if sparse.issparse(values) else values
    rest = {j: words for j, words in table.nominal.items() if j not in changed}
    return Table(table.names, values, rest, table.budget)


def _are_numbers(words: list[str], values: Vector) -> bool:
    try:
        return np.array_equal([float(word) for word in words], values)
    except ValueError:
        return False


def _recoded(
    column: Column, words: list[str] | None, found: Vector, *, strict: bool
) -> Vector:
    """Positions among the words of training; numbers as they are."""
    known = ~np.isnan(found)
    if column.words is None:
        if words is not None:
            raise ValueError(
                f"column {short(column.name)} holds text, such as {short(words[0])}, "
                "and held numbers in training; give numbers."
            )
        return found
    if words is None:
        if not known.any():
            return found
        raise ValueError(
            f"column {short(column.name)} holds numbers, and held words such as "
            f"{short(column.words[0])} in training; give words."
        )
    place = {word: float(j) for j, word in enumerate(column.words)}
    used = np.unique(found[known].astype(np.intp))
    strange = [words[j] for j in used if words[j] not in place]
    if strange and strict:
        raise ValueError(
            f"column {short(column.name)} has the value {short(strange[0])}, which was "
            f"not in training ({_listed(column.words)}); correct it, or fit with "
            "--missing most_frequent to let such values count as missing."
        )
    table = np.array([place.get(word, np.nan) for word in words])
    result = np.full_like(found, np.nan)
    result[known] = table[found[known].astype(np.intp)]
    return result


def _check_gaps(name: str, values: Any) -> None:
    if gaps := int(np.isnan(values).sum()):
        raise ValueError(
            f"{gaps} value(s) are missing, first in column {short(name)}; fill them, "
            "or fit with --missing mean, median, most_frequent or zero."
        )


def _like(values: Any, block: NDArray[np.float64]) -> Any:
    return sparse.csc_array(block) if sparse.issparse(values) else block


def _listed(words: Sequence[str]) -> str:
    shown = ", ".join(short(word) for word in words[:5])
    return shown + (", …" if len(words) > 5 else "")
