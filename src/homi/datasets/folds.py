"""Stratified folds for multi-label data, as scikit-learn's splitters.

The paper uses scikit-learn's ``KFold(5, shuffle=True, random_state=seed)``, which
ignores labels and can leave a fold without a rare label.
:class:`IterativeStratifiedKFold` spreads every label over the folds.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.preprocessing import label_binarize
from sklearn.utils import check_random_state, indexable
from sklearn.utils.multiclass import type_of_target

from homi.arrays import dense
from homi.datasets.stratify import Order, assign_folds
from homi.typing import Array, Indices, Mask, Matrix, MatrixLike, RandomState, Values
from homi.warn import warn

Split: TypeAlias = tuple[Indices, Indices]

#: What to do with lists of tags.
_TAGS = (
    "; for lists of tags pass MultiLabelBinarizer().fit_transform(tags), and to "
    "train_test_split the tags as one more array."
)


class Splitter(BaseCrossValidator):  # type: ignore[misc]
    """Base of the splitters: makes pairs (train, test) of test sets."""

    #: Whether rows of one group stay together.
    _keeps_groups = False

    @abstractmethod
    def _test_sets(
        self, X: Matrix, y: Matrix, groups: MatrixLike | None
    ) -> list[Indices]:
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
        groups : array-like of shape (n_samples,) or None, default=None
            Group of each row. Splitters that cannot keep groups together ignore it,
            with a warning.

        Yields
        ------
        train, test : ndarray
            Row indices, in ascending order.
        """
        if groups is not None and not self._keeps_groups:
            warn(
                f"{type(self).__name__} ignores groups; to keep them together use "
                "IterativeStratifiedKFold.",
            )
            groups = None
        return self._pairs(*indexable(X, y, groups))

    def _pairs(
        self, X: Matrix, y: Matrix, groups: MatrixLike | None
    ) -> Iterator[Split]:
        n_samples = n_rows(X)
        for test in self._test_sets(X, y, groups):
            is_train = np.ones(n_samples, dtype=bool)
            is_train[test] = False
            yield np.flatnonzero(is_train), np.flatnonzero(~is_train)


class IterativeStratifiedKFold(Splitter):
    r"""K folds with about the same share of every label, and of every pair of labels.

    Iterative stratification distributes the rows of the rarest label first, each to
    the fold that lacks it most. A label with fewer rows than folds is missing from some
    folds; a label that never occurs has no effect.

    Parameters
    ----------
    n_splits : int in [2, inf), default=5
        Number of folds.
    order : {1, 2}, default=1
        1 balances labels; fold sizes differ by some percent. 2 balances labels and
        pairs of labels; fold sizes differ by at most one row. Prefer 2. The default is
        1 because stored folds depend on it.
    shuffle : bool, default=True
        Whether to distribute rows in random order.
    random_state : int, RandomState instance or None, default=None
        Seed of the order and of the choice between folds that lack a label equally.
        With ``shuffle=False`` and None the choice is the same in every call.

    Notes
    -----
    With ``groups`` in :meth:`split`, rows of a group stay in one fold; fold sizes then
    differ more.

    With ``order=2`` a row goes to the fold with room that lacks most of all its labels
    and pairs, not only of the rarest one as in the papers:

    .. math:: \arg\max_f \sum_{e} (n_e / k - n_{fe}) / n_e

    where :math:`n_e` rows have label or pair e, :math:`n_{fe}` of them in fold f so
    far, and the number of rows counts as one more label. With ``order=1`` the positives
    of a label are even, but fold sizes, and so its negatives, are not: on yeast the
    label deviation of Sechidis et al. is 0.033, with ``order=2`` it is 0.004, and with
    random folds 0.048 (``benchmarks/folds.py``).

    References
    ----------
    K. Sechidis, G. Tsoumakas, I. Vlahavas. On the Stratification of Multi-Label Data.
    ECML PKDD 2011.

    P. Szymański, T. Kajdanowicz. A Network Perspective on Stratification of Multi-Label
    Data. LIDTA 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from homi.datasets import IterativeStratifiedKFold
    >>> Y = np.array([[1, 0], [1, 1], [0, 1], [0, 0]] * 5)
    >>> folds = IterativeStratifiedKFold(5, order=2, random_state=0)
    >>> [Y[test].sum(axis=0).tolist() for _, test in folds.split(Y, Y)]
    [[2, 2], [2, 2], [2, 2], [2, 2], [2, 2]]
    """

    _keeps_groups = True
    __metadata_request__split = {"groups": True}

    def __init__(
        self,
        n_splits: int = 5,
        *,
        order: Order = 1,
        shuffle: bool = True,
        random_state: RandomState = None,
    ) -> None:
        _check_constructor(n_splits, shuffle)
        check_order(order)
        self.n_splits = n_splits
        self.order = order
        self.shuffle = shuffle
        self.random_state = random_state

    def _n_folds(self) -> int:
        return int(self.n_splits)

    def _test_sets(
        self, X: Matrix, y: Matrix, groups: MatrixLike | None
    ) -> list[Indices]:
        Y, groups = check_labels(y), check_groups(groups)
        n_units = len(Y) if groups is None else len(np.unique(groups))
        if self.n_splits > n_units:
            what = "samples" if groups is None else "groups"
            raise ValueError(
                f"n_splits={self.n_splits} is more than the {n_units} {what}; each "
                "fold needs at least one: lower n_splits."
            )
        fold = assign_folds(
            Y,
            self._capacity(len(Y), whole=self.order == 2 and groups is None),
            order=self.order,
            rng=self._rng(),
            shuffle=bool(self.shuffle),
            groups=groups,
        )
        return [np.flatnonzero(fold == i) for i in range(self._n_folds())]

    def _capacity(self, n: int, *, whole: bool) -> Array:
        """Return the desired fold sizes: those of KFold, or all equal."""
        k = self._n_folds()
        larger = np.arange(k) < n % k
        return n // k + larger.astype(float) if whole else np.full(k, n / k)

    def _rng(self) -> np.random.RandomState:
        # Ties are broken at random even without shuffling.
        is_fixed = self.random_state is None and not self.shuffle
        return check_random_state(0 if is_fixed else self.random_state)


def check_labels(y: Matrix) -> Mask:
    """Return the labels of a stratified split as a boolean matrix."""
    if y is None:
        raise ValueError(
            "y is None: stratification needs the labels; pass split(X, y), or use "
            "sklearn.model_selection.KFold, which needs none."
        )
    return _indicator(y)


def check_groups(groups: MatrixLike | None) -> NDArray[Any] | None:
    """Return groups as a 1-D array, or None."""
    if groups is None:
        return None
    values = np.asarray(groups)
    if values.ndim != 1:
        raise ValueError(
            f"groups must be 1-D, one value per row, got shape {values.shape}."
        )
    return values


def check_order(order: object) -> None:
    """Check the order of a stratification."""
    if isinstance(order, bool) or order not in (1, 2):
        raise ValueError(
            f"order must be 1 (labels) or 2 (labels and pairs), got {order!r}."
        )


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


def _indicator(y: Matrix) -> Mask:
    """Return one boolean column per label, at least the two that are needed."""
    try:
        values = np.asarray(dense(y))
    except ValueError as error:
        raise ValueError(f"rows of y differ in length{_TAGS}") from error
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
            f"-1/+1 labels pass y > 0, for classes a 1-D y{_TAGS}"
        )
    Y = values.astype(bool)
    return np.column_stack([Y, ~Y]) if Y.shape[1] == 1 else Y


def _odd(values: Values) -> str:
    """List a few of the values that are neither 0 nor 1."""
    odd = dict.fromkeys(values[(values != 0) & (values != 1)].tolist())
    return ", ".join([repr(value) for value in odd][:4])


def _classes(y: Values) -> Mask:
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
