"""A transformer of tables of any columns: numbers, words, dates, texts, vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.utils.validation import check_is_fitted

from homi.base._compat import Interval, StrOptions
from homi.datasets.preprocessing import Missing, Nominal
from homi.tables.columns import Columns
from homi.tables.features import Features, TableParts, find_features, parts_of
from homi.tables.frame import Frame
from homi.typing import Array, Fields, Matrix


class TableVectorizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn a data frame with columns of any kind into features.

    Numbers and booleans stay; missing values are imputed; words become one 0/1 feature
    each, at most 256 per column; dates become year, month, day, weekday and hour; texts
    become TF-IDF; lists of numbers, such as embeddings, become features; identifiers
    are left out. ``homi fit`` does the same with files.

    With texts or vectors beside other columns, numbers are standardized, and each of
    the three parts is divided by the root mean square of the length of its rows, so
    that all parts weigh the same.

    Parameters
    ----------
    text : str or list of str, default=None
        Columns that are texts. Others are recognized: they have many different values
        of three words or more.
    drop : str or list of str, default=None
        Columns to ignore.
    nominal : {"onehot", "codes"}, default="onehot"
        How columns of words are encoded.
    missing : {"mean", "median", "most_frequent", "zero", "error"}, default="mean"
        How missing numbers are imputed. Columns of words take the most frequent word.
    max_words : int, default=2000
        Most TF-IDF features.

    Attributes
    ----------
    notes_ : list of str
        What was recognized, in sentences.
    feature_names_in_ : ndarray of str
        Names of the columns in ``fit``.
    n_features_in_ : int
        Their number.

    Examples
    --------
    >>> from homi.tables import TableVectorizer
    >>> table = {"size": [1.0, None, 3.0], "kind": ["cat", "dog", "cat"]}
    >>> vectorizer = TableVectorizer().fit(table)
    >>> vectorizer.get_feature_names_out().tolist()
    ['size', 'kind=cat', 'kind=dog']
    >>> vectorizer.transform(table)
    array([[1., 1., 0.],
           [2., 0., 1.],
           [3., 1., 0.]])
    """

    _parameter_constraints: ClassVar[Fields] = {
        "text": [str, list, tuple, None],
        "drop": [str, list, tuple, None],
        "nominal": [StrOptions({"onehot", "codes"})],
        "missing": [StrOptions({"mean", "median", "most_frequent", "zero", "error"})],
        "max_words": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        text: str | Sequence[str] | None = None,
        *,
        drop: str | Sequence[str] | None = None,
        nominal: Nominal = "onehot",
        missing: Missing = "mean",
        max_words: int = 2000,
    ) -> None:
        self.text = text
        self.drop = drop
        self.nominal = nominal
        self.missing = missing
        self.max_words = max_words

    def fit(self, X: Any, y: Any = None) -> TableVectorizer:
        """Learn what the columns hold.

        Parameters
        ----------
        X : data frame, dict of columns, or list of str
            The rows. A list of texts is a table with one column.
        y : ignored
            For pipelines.

        Returns
        -------
        self : TableVectorizer
        """
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Matrix:
        """Learn what the columns hold, and return the features.

        Parameters and result are those of ``fit`` and ``transform``.
        """
        self._validate_params()
        frame = Frame.of(X)
        text, drop = _listed(self.text), _listed(self.drop)
        for name in (*text, *drop):
            frame.position(name)  # refuses unknown names
        if not text and not hasattr(X, "columns") and not isinstance(X, dict):
            text = frame.names
        names = [name for name in frame.names if name not in drop]
        found = find_features(frame, names, text)
        return self.fit_parts(found, parts_of(frame, found), frame.names)

    def transform(self, X: Any) -> Matrix:
        """Return the features of rows.

        Parameters
        ----------
        X : data frame, dict of columns, or list of str
            Rows with the columns of ``fit``, in any order. Others are ignored.

        Returns
        -------
        features : ndarray or CSR array of shape (n_samples, n_features)
            Sparse if there are texts.
        """
        check_is_fitted(self)
        return self.transform_parts(parts_of(Frame.of(X), self.features_))

    def fit_parts(
        self, found: Features, parts: TableParts, names: Sequence[str]
    ) -> Matrix:
        """Learn from columns whose kinds are known, and return their features."""
        self.features_, self.notes_ = found, found.notes
        self.feature_names_in_ = np.array(names, dtype=object)
        self.n_features_in_ = len(names)
        self.columns_ = self.words_ = self.scaling_ = None
        if parts.table is not None:
            self.columns_ = Columns.fit(parts.table, self.nominal, self.missing)
        if parts.texts is not None:
            words = TfidfVectorizer(sublinear_tf=True, max_features=self.max_words)
            self.words_ = words.fit(parts.texts)
        blocks = list(self._blocks(parts))
        if len(blocks) > 1:
            self.scaling_ = self._learn_scaling(blocks)
        return self._joined(blocks)

    def transform_parts(self, parts: TableParts) -> Matrix:
        """Return the features of columns whose kinds are known."""
        return self._joined(list(self._blocks(parts)))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the features.

        Parameters
        ----------
        input_features : ignored
            For scikit-learn.

        Returns
        -------
        names : ndarray of str
            Such as ``price``, ``color=red``, ``date.month``, ``vector[3]``, and words;
            beside other columns, ``text:word`` with the name of the text column.
        """
        check_is_fitted(self)
        names = [] if self.columns_ is None else self.columns_.feature_names
        for name, length in self.features_.vectors.items():
            names += [f"{name}[{i}]" for i in range(length)]
        if self.words_ is not None:
            text = self.features_.text
            prefix = f"{text[0] if len(text) == 1 else 'text'}:" if names else ""
            names += [f"{prefix}{w}" for w in self.words_.get_feature_names_out()]
        return np.array(names, dtype=object)

    def _blocks(self, parts: TableParts) -> Iterator[Matrix]:
        """Yield the features of numbers and words, of vectors, and of texts."""
        if self.columns_ is not None and parts.table is not None:
            yield self.columns_.transform(parts.table)
        if parts.vectors is not None:
            yield parts.vectors
        if self.words_ is not None:
            yield self.words_.transform(parts.texts)

    def _learn_scaling(self, blocks: list[Matrix]) -> list[tuple[Array, Array]]:
        """Return what is subtracted from, and divides, each feature that is dense."""
        dense = [block for block in blocks if not sparse.issparse(block)]
        scaling = []
        for j, block in enumerate(dense):
            center, scale = np.zeros(block.shape[1]), np.ones(block.shape[1])
            if j == 0 and self.columns_ is not None:
                numbers = _is_number(self.columns_)
                center[numbers] = block[:, numbers].mean(axis=0)
                spread = block[:, numbers].std(axis=0)
                scale[numbers] = np.where(spread > 0, spread, 1.0)
            squares = (((block - center) / scale) ** 2).sum(axis=1).mean()
            scaling.append((center, scale * np.sqrt(squares or 1.0)))
        return scaling

    def _joined(self, blocks: list[Matrix]) -> Matrix:
        if self.scaling_ is not None:
            for j, (center, scale) in enumerate(self.scaling_):
                blocks[j] = (blocks[j] - center) / scale
        if len(blocks) == 1:
            return blocks[0]
        if self.words_ is None:
            return np.hstack(blocks)
        return sparse.csr_array(sparse.hstack(blocks, "csr"))


def _is_number(columns: Columns) -> NDArray[np.bool_]:
    """Return which features are numbers, not words."""
    return np.array(
        [
            column.words is None
            for column in columns.columns
            for _ in column.feature_names(columns.nominal)
        ],
        dtype=bool,
    )


def _listed(names: str | Sequence[str] | None) -> list[str]:
    if names is None:
        return []
    return [names] if isinstance(names, str) else list(names)
