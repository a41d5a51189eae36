"""Predefined folds: a splitter, and files to share them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from homi.atomic_write import whole_file
from homi.datasets.folds import Splitter, n_rows
from homi.typing import Indices, Matrix

#: Test set, or pair (train, test).
Fold: TypeAlias = "ArrayLike | tuple[ArrayLike, ArrayLike]"

_FORMAT, _VERSION = "homi folds", 1


class FixedFolds(Splitter):
    """Predefined folds, from a file of :func:`save_folds` or a list of test sets.

    Parameters
    ----------
    folds : path or list
        File, list of test sets, or list of pairs ``(train, test)``. Every row must be
        in exactly one test set; the training set is all other rows.

    Examples
    --------
    >>> from homi.datasets import FixedFolds
    >>> folds = FixedFolds([[0, 3], [1, 2]])
    >>> [test.tolist() for _, test in folds.split([[1.0], [2.0], [3.0], [4.0]])]
    [[0, 3], [1, 2]]
    """

    def __init__(self, folds: str | os.PathLike[str] | Iterable[Fold]) -> None:
        # An iterator can be read only once, and each method reads the folds.
        self.folds = list(folds) if isinstance(folds, Iterator) else folds

    def _n_folds(self) -> int:
        return len(self._given(None))

    def _test_sets(self, X: Matrix, y: Matrix, groups: object) -> list[Indices]:
        return self._given(n_rows(X))

    def _given(self, n_samples: int | None) -> list[Indices]:
        if isinstance(self.folds, str | os.PathLike):
            return _read(Path(self.folds), n_samples)
        return _partition(self.folds, n_samples, "folds")


def save_folds(folds: Iterable[Fold], path: str | os.PathLike[str]) -> None:
    """Write folds to a small JSON file, atomically.

    Parameters
    ----------
    folds : iterable
        Test sets, or pairs ``(train, test)`` of a splitter. Every row must be in
        exactly one test set.
    path : path
        File; an existing one is replaced.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.model_selection import KFold
    >>> from homi.datasets import load_folds, save_folds
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
            f"directory {path.parent} of {path.name} does not exist; make it first."
        )
    text = json.dumps(content, separators=(",", ":"))
    with whole_file(path) as unfinished:
        unfinished.write_text(f"{text}\n", encoding="utf-8")


def load_folds(path: str | os.PathLike[str], n_samples: int) -> list[Indices]:
    """Read the test sets that :func:`save_folds` wrote.

    Parameters
    ----------
    path : path
        File.
    n_samples : int
        Number of rows of the data.

    Returns
    -------
    list of ndarray
        Row indices of each test set.
    """
    return _read(Path(path), n_samples)


def _read(path: Path, n_samples: int | None) -> list[Indices]:
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{path} is not a file of folds: not JSON ({error})."
        ) from error
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise ValueError(
            f'{path} is not a file of folds: it lacks "format": "{_FORMAT}"; '
            "write one with save_folds."
        )
    if content.get("version") != _VERSION:
        raise ValueError(
            f"{path} has version {content.get('version')!r}, expected {_VERSION}; "
            "write it again with save_folds."
        )
    declared, folds = content.get("n_samples"), content.get("folds")
    if type(declared) is not int or declared < 1:
        raise ValueError(
            f"{path}: n_samples must be a positive integer, got {declared!r}."
        )
    if n_samples is not None and n_samples != declared:
        raise ValueError(
            f"{path} is for {declared} samples, but the data have {n_samples}; use the "
            "rows that the folds were made for."
        )
    # bool is a subclass of int, but true is not a row number.
    if not isinstance(folds, list) or not all(
        isinstance(fold, list) and all(type(index) is int for index in fold)
        for fold in folds
    ):
        raise ValueError(f"{path}: folds must be a list of lists of row numbers.")
    return _partition(folds, declared, str(path))


def _partition(
    folds: Iterable[Fold], n_samples: int | None, source: str
) -> list[Indices]:
    """Return the test sets; check that every row is in exactly one."""
    given = list(folds)
    tests = [_test_indices(fold, f"{source}, fold {i}") for i, fold in enumerate(given)]
    if len(tests) < 2:
        raise ValueError(
            f"{source}: expected at least 2 folds, got {len(tests)}; each fold trains "
            "on all others."
        )
    if empty := [i for i, test in enumerate(tests) if not len(test)]:
        raise ValueError(f"{source}: fold {empty[0]} is empty; each fold needs a row.")
    rows = np.concatenate(tests)
    n_samples = len(rows) if n_samples is None else n_samples
    outside = rows[(rows < 0) | (rows >= n_samples)]
    if len(outside) or len(rows) != n_samples:
        which = f", such as {outside[0]}" if len(outside) else ""
        raise ValueError(
            f"{source}: got {len(rows)} indices, {len(outside)} of them outside 0 to "
            f"{n_samples - 1}{which}; each of the {n_samples} rows must be in exactly "
            "one fold."
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


def _is_pair(fold: Fold) -> TypeGuard[tuple[ArrayLike, ArrayLike]]:
    """Return True for ``(train, test)``, not for a test set of two rows."""
    return isinstance(fold, tuple) and len(fold) == 2 and np.ndim(fold[0]) == 1


def _test_indices(fold: Fold, source: str) -> Indices:
    try:
        test = np.asarray(fold[1] if _is_pair(fold) else fold)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{source}: not a list of row numbers ({error}).") from error
    if test.ndim != 1 or (len(test) and test.dtype.kind not in "iu"):
        raise ValueError(
            f"{source} must be a 1-D list of row numbers, got shape {test.shape} of "
            f"{test.dtype}; for a boolean mask pass numpy.flatnonzero(mask)."
        )
    if len(test) and test.dtype.kind == "u" and test.max() > np.iinfo(np.intp).max:
        raise ValueError(f"{source}: {test.max()} is not a row number.")
    return test.astype(np.intp)


def _check_complement(
    train: ArrayLike, test: Indices, n_samples: int, source: str
) -> None:
    rest = np.setdiff1d(np.arange(n_samples), test)
    if not np.array_equal(np.sort(train), rest):
        raise ValueError(
            f"{source}: the training set is not all rows outside the test set, and "
            "only test sets are kept; to train on all other rows pass test sets alone."
        )
