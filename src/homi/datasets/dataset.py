"""Data sets, and the tables that the parsers of files return."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from homi.budget import Budget
from homi.typing import Matrix

#: How to choose label columns, as in `homi.datasets.read`.
Labels: TypeAlias = "str | os.PathLike[str] | Sequence[str]"


class Dataset(NamedTuple):
    """Features X (dense, or CSR if the file is sparse), 0/1 labels Y, and names."""

    X: Matrix
    Y: NDArray[np.signedinteger]
    feature_names: list[str]
    label_names: list[str]


def label_dtype(n_labels: int) -> np.dtype[np.signedinteger]:
    """Return int8, or int16 for more than 128 labels, and so on.

    scikit-learn 1.9 numbers the labels in the dtype of Y: 129 of int8 overflow, and
    its ``OneVsRestClassifier`` then fits permuted columns without an error.
    """
    return np.min_scalar_type(-max(1, n_labels))


class Table(NamedTuple):
    """Numeric columns, NaN where a value is missing.

    A nominal column holds positions in its list of values. An absent entry of a sparse
    table is therefore the first value of the list, as ARFF defines it. Memory that
    derived columns need is charged to the budget of the file.
    """

    names: list[str]
    values: Matrix
    nominal: dict[int, list[str]]
    budget: Budget | None = None

    def charge(self, bytes_per_row: int, what: str) -> None:
        """Charge memory for each row, if the table comes from a file."""
        if self.budget is not None:
            self.budget.take(bytes_per_row * self.values.shape[0], what)

    def take(self, columns: Sequence[int]) -> Table:
        """Return a table of some of the columns."""
        nominal = {
            new: self.nominal[old]
            for new, old in enumerate(columns)
            if old in self.nominal
        }
        names = [self.names[j] for j in columns]
        if sparse.issparse(self.values):
            return Table(names, self.values[:, columns], nominal, self.budget)
        # Unlike plain indexing, np.take keeps the rows contiguous.
        values = np.take(self.values, columns, axis=1)
        return Table(names, values, nominal, self.budget)


class Content(NamedTuple):
    """Content of a parsed file.

    ``labels`` holds the label columns if the format separates them from the features.
    Otherwise ``said`` is the choice of label columns that the file states, if any, and
    ``note`` ends the error message if it states none.
    """

    table: Table
    labels: Table | None = None
    said: Labels | None = None
    note: str = ""


def csr(
    data: NDArray[np.float64],
    indices: NDArray[np.integer],
    indptr: NDArray[np.integer],
    n_columns: int,
) -> Matrix:
    """Return a CSR array without stored zeros; raise ValueError on invalid parts."""
    # int64 first: a narrower type could wrap an invalid index into a valid one.
    parts = (data, indices.astype(np.int64), indptr.astype(np.int64))
    matrix = sparse.csr_array(parts, shape=(len(indptr) - 1, n_columns))
    matrix.check_format(full_check=True)
    if max(len(indices), n_columns) < 2**31:
        matrix.indices = matrix.indices.astype(np.int32)
        matrix.indptr = matrix.indptr.astype(np.int32)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix
