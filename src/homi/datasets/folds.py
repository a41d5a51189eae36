"""Folds for multi-label data: stratified, written to a file, and replayed.

The paper's folds are scikit-learn's own ``KFold(5, shuffle=True, random_state=seed)``,
which looks at no label and can leave a fold without one that is rare.
:class:`IterativeStratifiedKFold` spreads every label over the folds.
"""

from __future__ import annotations

import json
import os
import secrets
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import BaseCrossValidator
from sklearn.preprocessing import label_binarize
from sklearn.utils import indexable
from sklearn.utils.multiclass import type_of_target

Indices = NDArray[np.intp]
Split = tuple[Indices, Indices]

_FORMAT, _VERSION = "homi folds", 1


class _Splitter(BaseCrossValidator):  # type: ignore[misc]
    """What the splitters share: from test sets to pairs of train and test sets."""

    def _test_sets(self, X: Any, y: Any) -> list[Indices]:
        raise NotImplementedError

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
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
            Indices of the rows, in order.
        """
        if groups is not None:
            warnings.warn(
                f"{type(self).__name__} ignores groups; to keep them together use "
                "sklearn.model_selection.GroupKFold.",
                UserWarning,
                stacklevel=2,
            )
        return self._pairs(*indexable(X, y))

    def _pairs(self, X: Any, y: Any) -> Iterator[Split]:
        n_samples = _n_rows(X)
        for test in self._test_sets(X, y):
            is_train = np.ones(n_samples, dtype=bool)
            is_train[test] = False
            yield np.flatnonzero(is_train), np.flatnonzero(~is_train)


class IterativeStratifiedKFold(_Splitter):
    """K folds with about the same share of every label.

    Iterative stratification deals out the rows of the rarest label first, each to the
    fold that lacks it most. A label with fewer rows than folds is missing from some
    folds, and one that never occurs does no harm. Folds can differ in size by a few
    rows. Needs the package ``iterative-stratification``.

    Parameters
    ----------
    n_splits : int in [2, inf), default=5
        Number of folds.
    shuffle : bool, default=True
        Whether rows are dealt out in random order.
    random_state : int, RandomState instance or None, default=None
        Seed of the order and of the choice between folds that need a row equally. With
        ``shuffle=False`` and None the choice is the same in every call.

    References
    ----------
    K. Sechidis, G. Tsoumakas, I. Vlahavas. On the Stratification of Multi-Label Data.
    ECML PKDD 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from homi.datasets.folds import IterativeStratifiedKFold
    >>> Y = np.array([[1, 0], [1, 1], [0, 1], [0, 0]] * 5)
    >>> folds = IterativeStratifiedKFold(5, random_state=0)
    >>> [Y[test].sum(axis=0).tolist() for _, test in folds.split(Y, Y)]
    [[2, 2], [2, 2], [2, 2], [2, 2], [2, 2]]
    """

    def __init__(
        self, n_splits: int = 5, *, shuffle: bool = True, random_state: Any = None
    ) -> None:
        _check_constructor(n_splits, shuffle)
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of folds.

        Parameters
        ----------
        X, y, groups : object
            Ignored.

        Returns
        -------
        int
            ``n_splits``.
        """
        return int(self.n_splits)

    def _test_sets(self, X: Any, y: Any) -> list[Indices]:
        if y is None:
            raise ValueError(
                "y is None: stratification needs the labels; pass split(X, y), or use "
                "sklearn.model_selection.KFold, which needs none."
            )
        Y = _indicator(y)
        if self.n_splits > len(Y):
            raise ValueError(
                f"n_splits={self.n_splits} folds cannot be made of {len(Y)} samples; "
                "each fold needs one at least: lower n_splits."
            )
        inner = _stratifiers().MultilabelStratifiedKFold(
            int(self.n_splits), shuffle=bool(self.shuffle)
        )
        # Its constructor refuses a seed without shuffling, though ties are broken at
        # random even then; without one it would draw from numpy's global state.
        is_fixed = self.random_state is None and not self.shuffle
        inner.random_state = 0 if is_fixed else self.random_state
        return [test for _, test in inner.split(Y, Y)]


class FixedFolds(_Splitter):
    """Folds that are given: from a file of :func:`save_folds`, or a list of test sets.

    Parameters
    ----------
    folds : path or list
        The file, or the test sets, or the pairs ``(train, test)`` of a splitter. Every
        row must be in exactly one test set; the training set is all other rows.

    Examples
    --------
    >>> from homi.datasets.folds import FixedFolds
    >>> folds = FixedFolds([[0, 3], [1, 2]])
    >>> [test.tolist() for _, test in folds.split([[1.0], [2.0], [3.0], [4.0]])]
    [[0, 3], [1, 2]]
    """

    def __init__(self, folds: Any) -> None:
        # An iterator could be read once only, and both methods below read it.
        self.folds = list(folds) if isinstance(folds, Iterator) else folds

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of folds.

        Parameters
        ----------
        X, y, groups : object
            Ignored.

        Returns
        -------
        int
            How many test sets there are.
        """
        return len(self._given(None))

    def _test_sets(self, X: Any, y: Any) -> list[Indices]:
        return self._given(_n_rows(X))

    def _given(self, n_samples: int | None) -> list[Indices]:
        if isinstance(self.folds, str | os.PathLike):
            return _read(Path(self.folds), n_samples)
        return _partition(self.folds, n_samples, "folds")


def save_folds(folds: Iterable[Any], path: str | os.PathLike[str]) -> None:
    """Write folds to a small JSON file, whole or not at all.

    Parameters
    ----------
    folds : iterable
        The test sets, or the pairs ``(train, test)`` of a splitter. Every row must be
        in exactly one test set.
    path : path
        The file; one that is there is replaced.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.model_selection import KFold
    >>> from homi.datasets.folds import load_folds, save_folds
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = Path(directory) / "folds.json"
    ...     save_folds(KFold(2).split(range(5)), path)
    ...     [test.tolist() for test in load_folds(path, n_samples=5)]
    [[0, 1, 2], [3, 4]]
    """
    path = Path(path)
    tests = _partition(folds, None, "folds")
    content = {
        "format": _FORMAT,
        "version": _VERSION,
        "n_samples": sum(map(len, tests)),
        "folds": [test.tolist() for test in tests],
    }
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"there is no directory {path.parent} to write {path.name} into; make it "
            "first."
        )
    # A name of its own: two processes that write the same folds do not meet.
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with unfinished.open("x", encoding="utf-8") as file:
            json.dump(content, file, separators=(",", ":"))
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        with suppress(FileNotFoundError):
            unfinished.unlink()


def load_folds(path: str | os.PathLike[str], n_samples: int) -> list[Indices]:
    """Read the test sets that :func:`save_folds` wrote.

    Parameters
    ----------
    path : path
        The file.
    n_samples : int
        Number of rows of the data that the folds are for.

    Returns
    -------
    list of ndarray
        The indices of each test set.
    """
    return _read(Path(path), n_samples)


def _read(path: Path, n_samples: int | None) -> list[Indices]:
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no file of folds: not JSON ({error}).") from error
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise ValueError(
            f'{path} is no file of folds: it does not say "format": "{_FORMAT}"; '
            "write one with save_folds."
        )
    if content.get("version") != _VERSION:
        raise ValueError(
            f"{path} is of version {content.get('version')!r}, and only {_VERSION} can "
            "be read; write it again with save_folds."
        )
    declared, folds = content.get("n_samples"), content.get("folds")
    if type(declared) is not int or declared < 1:
        raise ValueError(f"{path}: n_samples must be a count, got {declared!r}.")
    if n_samples is not None and n_samples != declared:
        raise ValueError(
            f"{path} is for {declared} samples, but there are {n_samples}; were rows "
            "added or dropped since, or is it the file of another data set?"
        )
    # bool is a kind of int in Python, and JSON's true is no row.
    if not isinstance(folds, list) or not all(
        isinstance(fold, list) and all(type(index) is int for index in fold)
        for fold in folds
    ):
        raise ValueError(f"{path}: folds must be a list of lists of row numbers.")
    return _partition(folds, declared, str(path))


def _partition(folds: Any, n_samples: int | None, source: str) -> list[Indices]:
    """The test sets, checked: every row below n_samples is in exactly one."""
    given = list(folds)
    tests = [_test_indices(fold, f"{source}, fold {i}") for i, fold in enumerate(given)]
    if len(tests) < 2:
        raise ValueError(
            f"{source}: there must be at least 2 folds, got {len(tests)}; the training "
            "set of one is all other folds."
        )
    if empty := [i for i, test in enumerate(tests) if not len(test)]:
        raise ValueError(f"{source}: fold {empty[0]} is empty; each needs a row.")
    rows = np.concatenate(tests)
    n_samples = len(rows) if n_samples is None else n_samples
    outside = rows[(rows < 0) | (rows >= n_samples)]
    if len(outside) or len(rows) != n_samples:
        which = f", such as {outside[0]}" if len(outside) else ""
        raise ValueError(
            f"{source}: {len(rows)} indices in all, {len(outside)} of them outside 0 "
            f"to {n_samples - 1}{which}; each of the {n_samples} rows must be in "
            "exactly one fold."
        )
    counts = np.bincount(rows, minlength=n_samples)
    if (counts != 1).any():
        twice, never = counts.argmax(), counts.argmin()
        raise ValueError(
            f"{source}: row {twice} occurs {counts[twice]} times and row {never} "
            "never; each row must be in exactly one fold."
        )
    for i, (fold, test) in enumerate(zip(given, tests, strict=True)):
        if _is_pair(fold):
            _check_complement(fold[0], test, n_samples, f"{source}, fold {i}")
    return tests


def _is_pair(fold: Any) -> bool:
    """Whether this is ``(train, test)`` and not a test set of two rows."""
    return isinstance(fold, tuple) and len(fold) == 2 and np.ndim(fold[0]) == 1


def _test_indices(fold: Any, source: str) -> Indices:
    test = fold[1] if _is_pair(fold) else fold
    try:
        test = np.asarray(test)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{source}: not a list of row numbers ({error}).") from error
    if test.ndim != 1 or (len(test) and test.dtype.kind not in "iu"):
        raise ValueError(
            f"{source} must be a 1-D list of row numbers, got shape {test.shape} of "
            f"{test.dtype}; for a boolean mask pass numpy.flatnonzero(mask)."
        )
    if len(test) and test.dtype.kind == "u" and test.max() > np.iinfo(np.intp).max:
        raise ValueError(f"{source}: {test.max()} is no row number.")
    return test.astype(np.intp)


def _check_complement(train: Any, test: Indices, n_samples: int, source: str) -> None:
    rest = np.setdiff1d(np.arange(n_samples), test)
    if not np.array_equal(np.sort(train), rest):
        raise ValueError(
            f"{source}: the training set is not all rows outside the test set, and "
            "only the test set is kept; to train on all other rows pass only test sets."
        )


def _check_constructor(n_splits: Any, shuffle: Any) -> None:
    is_count = isinstance(n_splits, Integral) and not isinstance(n_splits, bool)
    if not is_count or n_splits < 2:
        raise ValueError(
            f"n_splits must be an integer of at least 2, got {n_splits!r}; the paper "
            "has 5 folds."
        )
    if not isinstance(shuffle, bool | np.bool_):
        raise ValueError(f"shuffle must be True or False, got {shuffle!r}.")


def _n_rows(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _indicator(y: Any) -> NDArray[np.bool_]:
    """One boolean column for each label, two at least, as the stratifier wants."""
    values = y.toarray() if sparse.issparse(y) else np.asarray(y)
    if values.ndim == 1:
        return _classes(values)
    if values.ndim != 2 or values.shape[1] == 0:
        raise ValueError(
            f"y must be (n_samples, n_labels) or (n_samples,), got shape "
            f"{values.shape}; pass one 0/1 column per label."
        )
    if values.dtype.kind == "O":
        # Data frames whose columns differ in type, as booleans beside integers.
        with suppress(TypeError, ValueError):
            values = values.astype(float)
    if values.dtype.kind not in "buif" or not ((values == 0) | (values == 1)).all():
        raise ValueError(
            f"y must hold only 0 and 1, one column for each label, got {_odd(values)};"
            " for -1/+1 labels pass y > 0, for classes a 1-D y."
        )
    Y = values.astype(bool)
    return np.column_stack([Y, ~Y]) if Y.shape[1] == 1 else Y


def _odd(values: NDArray[Any]) -> str:
    """A few of the values that are neither 0 nor 1."""
    odd = dict.fromkeys(values[(values != 0) & (values != 1)].tolist())
    return ", ".join([repr(value) for value in odd][:4])


def _classes(y: NDArray[Any]) -> NDArray[np.bool_]:
    kind = type_of_target(y, input_name="y")
    if kind not in {"binary", "multiclass"}:
        raise ValueError(
            f"a 1-D y must hold classes, got {kind} values; stratification needs "
            "labels: pass one 0/1 column per label."
        )
    classes = np.unique(y)
    if len(classes) < 3:
        return np.column_stack([y == classes[0], y == classes[-1]])
    return label_binarize(y, classes=classes).astype(bool)


def _stratifiers() -> Any:
    try:
        return import_module("iterstrat.ml_stratifiers")
    except ImportError as error:
        raise ImportError(
            "IterativeStratifiedKFold needs the package iterative-stratification; "
            "install it with: pip install iterative-stratification"
        ) from error
