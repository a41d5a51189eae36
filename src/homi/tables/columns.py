"""Preprocessing of `homi fit`: columns of a file -> features of a model.

Values are imputed and words are one-hot encoded by scikit-learn's ColumnTransformer.
This module gives it numbers: a column of words holds positions in the list of words
that the training file had.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from homi.arrays import dense
from homi.datasets.dataset import Table
from homi.datasets.files import short
from homi.datasets.preprocessing import Missing, Nominal, imputer, one_hot
from homi.datasets.read import codes
from homi.typing import Fields, Matrix

Vector = NDArray[np.float64]

#: Booleans as files write them.
_BOOLEANS = {"false": 0.0, "true": 1.0}


@dataclass(frozen=True)
class Column:
    """A column of the training file; `words` is None for a column of numbers."""

    name: str
    words: list[str] | None = None

    def feature_names(self, nominal: Nominal) -> list[str]:
        """Return the names of the features that the column becomes."""
        if self.words is None or nominal == "codes":
            return [self.name]
        return [f"{self.name}={word}" for word in self.words]


@dataclass(frozen=True)
class Columns:
    """Fitted preprocessing of the feature columns.

    Attributes
    ----------
    columns : list of Column
        Columns of the training file, in its order.
    nominal : {"onehot", "codes"}
        How columns of words are encoded.
    missing : {"error", "mean", "median", "most_frequent", "zero"}
        How missing values are imputed. Columns of words take the most frequent word.
    transformer : ColumnTransformer or None
        Imputes and encodes numbers. None if numbers are features as they are.
    """

    columns: list[Column]
    nominal: Nominal
    missing: Missing
    transformer: ColumnTransformer | None = None

    @property
    def names(self) -> list[str]:
        """Names of the columns in the file."""
        return [column.name for column in self.columns]

    @property
    def feature_names(self) -> list[str]:
        """Names of the features of the model, in the order of the columns."""
        parts = [column.feature_names(self.nominal) for column in self.columns]
        return list(chain.from_iterable(parts))

    def kinds(self) -> dict[str, list[str]]:
        """Return the names of the columns of numbers, and of those of words."""
        names = self.names
        numbers, words = ([names[j] for j in group] for group in self._groups())
        return {"numbers": numbers, "words": words}

    @classmethod
    def fit(cls, table: Table, nominal: Nominal, missing: Missing) -> Columns:
        """Fit the preprocessing to the feature columns of a training file."""
        table = numeric(table)
        words = (table.nominal.get(j) for j in range(len(table.names)))
        columns = [Column(*pair) for pair in zip(table.names, words, strict=True)]
        return cls(columns, nominal, missing)._fitted(table)

    @classmethod
    def restore(cls, found: Fields, transformer: ColumnTransformer | None) -> Columns:
        """Return the preprocessing of a model file; nonsense is a ValueError."""
        columns = [Column(*_checked(*column)) for column in found["columns"]]
        restored = cls(columns, *_checked_options(found), transformer)
        n_columns, n_features = len(columns), len(restored.feature_names)
        if transformer is None:
            is_sound = restored._unfitted(is_sparse=False) is None
        else:
            row = _like_fitted(transformer, np.zeros((1, n_columns)))
            is_sound = transformer.transform(row).shape == (1, n_features)
        if not is_sound:
            raise ValueError(f"{n_columns} columns do not become {n_features} features")
        return restored

    @classmethod
    def restore_format_1(cls, found: Fields, *, is_sparse: bool) -> Columns:
        """Return the preprocessing of a file of format 1: a fill for each column.

        A transformer that is fitted to one row, the fills, imputes these.
        """
        columns = [
            Column(*_checked(name, words)) for name, words, _ in found["columns"]
        ]
        fills = [0.0 if fill is None else fill for _, _, fill in found["columns"]]
        if not np.isfinite(fills).all():
            raise ValueError("a missing value is imputed by what is not finite")
        row = np.array([fills], dtype=np.float64)
        nominal = {j: c.words for j, c in enumerate(columns) if c.words is not None}
        names = [column.name for column in columns]
        values = sparse.csr_array(row) if is_sparse else row
        restored = cls(columns, *_checked_options(found))
        return restored._fitted(Table(names, values, nominal))

    def to_dict(self) -> Fields:
        """Return what a model file holds beside the transformer."""
        columns = [[column.name, column.words] for column in self.columns]
        return {"columns": columns, "nominal": self.nominal, "missing": self.missing}

    def imputed(self, table: Table) -> dict[str, int]:
        """Return how many values of each column are missing or unknown words."""
        if self.missing == "error":
            return {}
        X = self._numbers(numeric(table))
        if sparse.issparse(X):
            X = X.tocoo()
            places = X.col[np.isnan(X.data)]
        else:
            places = np.nonzero(np.isnan(X))[1]
        counts = np.bincount(places, minlength=len(self.columns)).tolist()
        pairs = zip(self.names, counts, strict=True)
        return {name: count for name, count in pairs if count}

    def transform(self, table: Table) -> Any:
        """Return the features of a table that has these columns, in this order."""
        table = numeric(table)
        is_sparse = sparse.issparse(table.values)
        if self.transformer is not None:
            is_sparse = self.transformer.sparse_output_
        self._check_size(table, is_sparse=is_sparse)
        X = self._numbers(table)
        if self.transformer is None:
            return X
        X = _like_fitted(self.transformer, X)
        return self.transformer.transform(X)[:, self._order()]

    def _fitted(self, table: Table) -> Columns:
        is_sparse = sparse.issparse(table.values)
        transformer = self._unfitted(is_sparse=is_sparse)
        self._check_size(table, is_sparse=is_sparse)
        if transformer is None:
            return self
        with np.errstate(over="ignore"):  # the model refuses numbers of that size
            transformer.fit(self._numbers(table))
        transformer.sparse_output_ = is_sparse  # even if there is no zero by chance
        return replace(self, transformer=transformer)

    def _unfitted(self, *, is_sparse: bool) -> ColumnTransformer | None:
        numbers, words = self._groups()
        if self.missing == "error" and (self.nominal == "codes" or not words):
            return None
        steps: list[Any] = []
        if self.nominal == "onehot":
            sizes = [len(self.columns[j].words or ()) for j in words]
            steps = [
                FunctionTransformer(dense, accept_sparse=True),
                one_hot(sizes, is_sparse=is_sparse),
            ]
        imputed: Any = "passthrough"
        if self.missing != "error":
            imputed = imputer(self.missing)
            steps.insert(len(steps) - 1, imputer("most_frequent"))
        groups = [("numbers", imputed, numbers)] if numbers else []
        groups += [("words", make_pipeline(*steps), words)] if words else []
        return ColumnTransformer(groups, sparse_threshold=1.0)

    def _groups(self) -> tuple[list[int], list[int]]:
        """Return the positions of columns of numbers, and of columns of words."""
        words = [j for j, column in enumerate(self.columns) if column.words is not None]
        numbers = [j for j, column in enumerate(self.columns) if column.words is None]
        return numbers, words

    def _order(self) -> Any:
        """Return where the transformer has put the features of each column."""
        numbers, words = self._groups()
        if not numbers or not words:
            return slice(None)
        sizes = [len(column.feature_names(self.nominal)) for column in self.columns]
        ends = np.cumsum([sizes[j] for j in (*numbers, *words)])
        place = dict(zip((*numbers, *words), ends.tolist(), strict=True))
        parts = [range(place[j] - size, place[j]) for j, size in enumerate(sizes)]
        return np.array(list(chain.from_iterable(parts)), dtype=np.intp)

    def _check_size(self, table: Table, *, is_sparse: bool) -> None:
        """Refuse features that take too much memory."""
        if table.budget is None:
            return
        widths = [
            len(column.words or ()) if self.nominal == "onehot" and column.words else 1
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

    def _numbers(self, table: Table) -> Any:
        """Return the table with words as positions among the words of training."""
        pieces = list(self._pieces(table))
        if sparse.issparse(table.values):
            X = sparse.csr_array(sparse.hstack(pieces, "csr"))
        else:
            X = pieces[0] if len(pieces) == 1 else np.hstack(pieces)
        _check_finite(X, self.names, may_miss=self.missing != "error")
        return X

    def _pieces(self, table: Table) -> Iterator[Any]:
        """Yield the columns of words one by one, and what is between them."""
        is_sparse = sparse.issparse(table.values)
        words = sorted({*self._groups()[1], *table.nominal})
        values = table.values.tocsc() if is_sparse and words else table.values
        start = 0
        for j in words:
            if start < j:
                yield values[:, start:j]
            column, known = self.columns[j], table.nominal.get(j)
            found = dense(values[:, [j]])[:, 0]
            coded = _recoded(column, known, found, strict=self.missing == "error")
            yield sparse.csc_array(coded[:, None]) if is_sparse else coded[:, None]
            start = j + 1
        if start < values.shape[1]:
            yield values[:, start:]


def _like_fitted(transformer: ColumnTransformer, X: Matrix) -> Any:
    """Return X sparse or dense, as the transformer was fitted."""
    return sparse.csr_array(X) if transformer.sparse_output_ else dense(X)


def _checked(name: Any, words: Any) -> tuple[str, list[str] | None]:
    (name,) = texts([name])
    return name, None if words is None else texts(words)


def _checked_options(found: Fields) -> tuple[Nominal, Missing]:
    nominal, missing = found["nominal"], found["missing"]
    if nominal not in get_args(Nominal) or missing not in get_args(Missing):
        raise ValueError(f"nominal={nominal!r} and missing={missing!r} are unknown")
    return nominal, missing


def texts(given: Any) -> list[str]:
    """Return a list of texts; anything else is a ValueError."""
    if not isinstance(given, list) or not all(isinstance(t, str) for t in given):
        raise ValueError(f"{str(given)[:40]} is not a list of texts")
    return given


def numeric(table: Table) -> Table:
    """Turn columns whose words are all numbers into these; ARFF often has {0,1}."""
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
            column = dense(values[:, [j]])
            known = ~np.isnan(column)
            column[known] = numbers[column[known].astype(np.intp)]
            values[:, [j]] = column
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
    """Return positions among the words of training; numbers stay."""
    known = ~np.isnan(found)
    if column.words is None:
        if words is not None and {word.lower() for word in words} <= {*_BOOLEANS}:
            values = np.array([_BOOLEANS[word.lower()] for word in words])
            return np.where(known, values[np.where(known, found, 0).astype(int)], found)
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
            "--missing most_frequent to treat such values as missing."
        )
    table = np.array([place.get(word, np.nan) for word in words])
    result = np.full_like(found, np.nan)
    result[known] = table[found[known].astype(np.intp)]
    return result


def _check_finite(X: Matrix, names: list[str], *, may_miss: bool) -> None:
    """Refuse infinite values and, unless they are imputed, missing ones."""
    stored = X.data if sparse.issparse(X) else X
    bad = np.isinf(stored) if may_miss else ~np.isfinite(stored)
    if not bad.any():
        return
    at = np.argwhere(bad)[0]
    name = short(names[X.indices[at[0]] if sparse.issparse(X) else at[1]])
    if gaps := 0 if may_miss else int(np.isnan(stored).sum()):
        raise ValueError(
            f"{gaps} value(s) are missing, first in column {name}; fill them, or fit "
            "with --missing mean, median, most_frequent or zero."
        )
    raise ValueError(
        f"column {name} is infinite in a row; every value must be a finite number."
    )


def _listed(words: Sequence[str]) -> str:
    shown = ", ".join(short(word) for word in words[:5])
    return shown + (", …" if len(words) > 5 else "")


def text_of_counts(counts: dict[str, int], most: int = 5) -> str:
    """Return names with their counts, the largest first, for a note."""
    order = sorted(counts, key=lambda name: -counts[name])
    shown = ", ".join(f"{counts[name]} in {short(name)}" for name in order[:most])
    rest = len(order) - most
    more = f" and {rest} more column{'s' if rest > 1 else ''}"
    return shown + (more if rest > 0 else "")
