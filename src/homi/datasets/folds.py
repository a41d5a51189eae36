"""Stratified folds for multi-label data, as scikit-learn's splitters.

The paper uses scikit-learn's ``KFold(5, shuffle=True, random_state=seed)``, which
ignores labels and can leave a fold without a rare label.
:class:`IterativeStratifiedKFold` spreads every label over the folds.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.preprocessing import label_binarize
from sklearn.utils import indexable
from sklearn.utils.multiclass import type_of_target

from homi.arrays import dense
from homi.extras import optional
from homi.typing import Indices, Matrix, MatrixLike, RandomState

Split: TypeAlias = tuple[Indices, Indices]


class Splitter(BaseCrossValidator):  # type: ignore[misc]
    """Base of the splitters: makes pairs (train, test) of test sets."""

    @abstractmethod
    def _test_sets(self, X: Matrix, y: Matrix) -> list[Indices]:
        """Return the rows of each test set."""

    @abstractmethod
    def _n_folds(self) -> int:
        """Return the number of test sets."""

    def get_n_splits(
        self, X: object = None, y: object = None, groups: object = None
    ) -> int:
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups : object
            Ignored.

        Returns
        -------
        int
            Number of test sets.
        """
        return self._n_folds()

    def split(
        self, X: MatrixLike, y: MatrixLike | None = None, groups: object = None
    ) -> Iterator[Split]:
        """Split rows into training and test sets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; only their number matters.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            Labels: 0/1 or boolean, one column each, or 1-D classes.
        groups : object
            Ignored, with a warning.

        Yields
        ------
        train, test : ndarray
            Row indices, in ascending order.
        """
        if groups is not None:
            warnings.warn(
                f"{type(self).__name__} ignores groups; to keep them together use "
                "sklearn.model_selection.GroupKFold.",
                UserWarning,
                stacklevel=2,
            )
        return self._pairs(*indexable(X, y))

    def _pairs(self, X: Matrix, y: Matrix) -> Iterator[Split]:
        n_samples = n_rows(X)
        for test in self._test_sets(X, y):
            is_train = np.ones(n_samples, dtype=bool)
            is_train[test] = False
            yield np.flatnonzero(is_train), np.flatnonzero(~is_train)


class IterativeStratifiedKFold(Splitter):
    """K folds with about the same share of every label.

    Iterative stratification distributes the rows of the rarest label first, each to
    the fold that lacks it most. A label with fewer rows than folds is missing from some
    folds; a label that never occurs has no effect. Fold sizes can differ by a few rows.
    Needs the package ``iterative-stratification``.

    Parameters
    ----------
    n_splits : int in [2, inf), default=5
        Number of folds.
    shuffle : bool, default=True
        Whether to distribute rows in random order.
    random_state : int, RandomState instance or None, default=None
        Seed of the order and of the choice between folds that lack a label equally.
        With ``shuffle=False`` and None the choice is the same in every call.

    References
    ----------
    K. Sechidis, G. Tsoumakas, I. Vlahavas. On the Stratification of Multi-Label Data.
    ECML PKDD 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from homi.datasets import IterativeStratifiedKFold
    >>> Y = np.array([[1, 0], [1, 1], [0, 1], [0, 0]] * 5)
    >>> folds = IterativeStratifiedKFold(5, random_state=0)
    >>> [Y[test].sum(axis=0).tolist() for _, test in folds.split(Y, Y)]
    [[2, 2], [2, 2], [2, 2], [2, 2], [2, 2]]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = True,
        random_state: RandomState = None,
    ) -> None:
        _check_constructor(n_splits, shuffle)
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def _n_folds(self) -> int:
        return int(self.n_splits)

    def _test_sets(self, X: Matrix, y: Matrix) -> list[Indices]:
        if y is None:
            raise ValueError(
                "y is None: stratification needs the labels; pass split(X, y), or use "
                "sklearn.model_selection.KFold, which needs none."
            )
        Y = _indicator(y)
        if self.n_splits > len(Y):
            raise ValueError(
                f"n_splits={self.n_splits} is more than the {len(Y)} samples; each "
                "fold needs at least one: lower n_splits."
            )
        inner = _stratifiers().MultilabelStratifiedKFold(
            int(self.n_splits), shuffle=bool(self.shuffle)
        )
        # The constructor refuses a seed without shuffling, but breaks ties at random
        # even then; without a seed it would draw from numpy's global state.
        is_fixed = self.random_state is None and not self.shuffle
        inner.random_state = 0 if is_fixed else self.random_state
        return [test for _, test in inner.split(Y, Y)]


def _check_constructor(n_splits: object, shuffle: object) -> None:
    is_bool = isinstance(n_splits, bool)
    if is_bool or not isinstance(n_splits, Integral) or n_splits < 2:
        raise ValueError(
            f"n_splits must be an integer of at least 2, got {n_splits!r}; the paper "
            "uses 5 folds."
        )
    if not isinstance(shuffle, bool | np.bool_):
        raise ValueError(f"shuffle must be True or False, got {shuffle!r}.")


def n_rows(X: Matrix) -> int:
    """Return the number of rows of an array or a list."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _indicator(y: Matrix) -> NDArray[np.bool_]:
    """Return one boolean column per label, at least the two that are needed."""
    values = np.asarray(dense(y))
    if values.ndim == 1:
        return _classes(values)
    if values.ndim != 2 or values.shape[1] == 0:
        raise ValueError(
            f"y must be (n_samples, n_labels) or (n_samples,), got shape "
            f"{values.shape}; pass one 0/1 column per label."
        )
    if values.dtype.kind == "O":
        # Data frames whose columns differ in type, such as booleans and integers.
        with suppress(TypeError, ValueError):
            values = values.astype(float)
    if values.dtype.kind not in "buif" or not ((values == 0) | (values == 1)).all():
        raise ValueError(
            f"y must hold only 0 and 1, one column per label, got {_odd(values)}; for "
            "-1/+1 labels pass y > 0, for classes a 1-D y."
        )
    Y = values.astype(bool)
    return np.column_stack([Y, ~Y]) if Y.shape[1] == 1 else Y


def _odd(values: NDArray[Any]) -> str:
    """List a few of the values that are neither 0 nor 1."""
    odd = dict.fromkeys(values[(values != 0) & (values != 1)].tolist())
    return ", ".join([repr(value) for value in odd][:4])


def _classes(y: NDArray[Any]) -> NDArray[np.bool_]:
    kind = type_of_target(y, input_name="y")
    if kind not in {"binary", "multiclass"}:
        raise ValueError(
            f"a 1-D y must hold classes, got {kind} values; pass classes, or one 0/1 "
            "column per label."
        )
    classes = np.unique(y)
    if len(classes) < 3:
        return np.column_stack([y == classes[0], y == classes[-1]])
    return label_binarize(y, classes=classes).astype(bool)


def _stratifiers() -> Any:
    with optional("IterativeStratifiedKFold"):
        from iterstrat import ml_stratifiers
    return ml_stratifiers
