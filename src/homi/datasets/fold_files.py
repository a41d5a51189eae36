"""Folds that are given: written to a file, read back, replayed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from homi.atomic_write import whole_file
from homi.datasets.folds import Indices, Splitter, n_rows

_FORMAT, _VERSION = "homi folds", 1


class FixedFolds(Splitter):
    """Folds that are given: from a file of :func:`save_folds`, or a list of test sets.

    Parameters
    ----------
    folds : path or list
        The file, or the test sets, or the pairs ``(train, test)`` of a splitter. Every
        row must be in exactly one test set; the training set is all other rows.

    Examples
    --------
    >>> from homi.datasets.fold_files import FixedFolds
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
        return self._given(n_rows(X))

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
    >>> from homi.datasets.fold_files import load_folds, save_folds
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
    text = json.dumps(content, separators=(",", ":"))
    with whole_file(path) as unfinished:
        unfinished.write_text(f"{text}\n", encoding="utf-8")


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
