"""Tags: a list of names for each row, instead of an indicator matrix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import MultiLabelBinarizer

from homi.typing import Indices, Mask, Matrix, MatrixLike, Names, Values
from homi.warn import warn

#: The tags of one row. Arrow and polars give an array for each.
Tags = Collection[str]
_CONTAINERS = (list, tuple, set, frozenset, np.ndarray)
#: What joins tags in one string.
_SEPARATORS = ("; ", ";", "|", ", ", ",")


def tag_rows(Y: MatrixLike) -> list[Tags] | None:
    """Return the tags of each row, or None if Y does not hold tags.

    Tags are a list, tuple, set or array of strings for each row, in a list, a Series,
    or the only column of a data frame. A row may have none.

    Examples
    --------
    >>> tag_rows([["red", "round"], [], ("red",)])
    [['red', 'round'], [], ('red',)]
    >>> tag_rows([[1, 0], [0, 1]]) is None
    True
    """
    rows = _items(Y)
    filled = (row for row in rows if isinstance(row, (*_CONTAINERS, str)) and len(row))
    first = next(filled, None)
    if not isinstance(first, _CONTAINERS):
        return None
    if not _holds_names(first):
        _check_lengths(rows)
        return None
    for i, row in enumerate(rows):
        _check_tags(row, i)
    if set(chain.from_iterable(rows)) <= {"0", "1"}:
        raise ValueError(
            "y holds lists of the strings '0' and '1' only, which would be two tags; "
            "for an indicator matrix pass numbers: np.asarray(y).astype(int)."
        )
    return list(rows)


def _items(Y: MatrixLike) -> Sequence[Any]:
    """Return what may be rows of tags: items of a list or of one column of objects."""
    if isinstance(Y, list | tuple):
        return Y
    shape = getattr(Y, "shape", ())
    if sparse.issparse(Y) or not (len(shape) == 1 or shape[1:] == (1,)):
        return ()
    values = np.asarray(Y)
    return values.ravel().tolist() if values.dtype == object else ()


def _holds_names(row: Collection[object]) -> bool:
    return isinstance(row, set | frozenset) or isinstance(next(iter(row)), str)


def _check_lengths(rows: Sequence[Any]) -> None:
    """Raise ValueError for tags that are not strings."""
    lengths = {len(row) for row in rows if isinstance(row, list | tuple)}
    if len(lengths) > 1:
        raise ValueError(
            f"rows of y have {min(lengths)} to {max(lengths)} values; pass one 0/1 "
            "value for each label or, for tags, strings: "
            "[[str(tag) for tag in row] for row in y]."
        )


def _check_tags(row: object, i: int) -> None:
    if not isinstance(row, _CONTAINERS):
        raise ValueError(
            f"row {i} of y is {row!r}, but other rows are lists of tags; pass a list "
            "of strings for each row, [] for a row without tags."
        )
    for tag in row:
        if not isinstance(tag, str) or not tag:
            raise ValueError(
                f"row {i} of y holds the tag {tag!r}; tags are strings that are not "
                "empty, and a row without tags is []."
            )


def binarize_tags(rows: list[Tags]) -> tuple[Matrix, Names]:
    """Return a sparse indicator matrix and the names of its columns, sorted."""
    binarizer = MultiLabelBinarizer(sparse_output=True)
    indicator = sparse.csr_array(binarizer.fit_transform(rows))
    return indicator, np.asarray(binarizer.classes_, dtype=object)


def indicator_of(rows: list[Tags], names: Iterable[object]) -> tuple[Indices, Mask]:
    """Return the indicator of known tags, and which rows have any other tag.

    Examples
    --------
    >>> known, others = indicator_of([["a"], ["b", "z"]], ["a", "b"])
    >>> known.tolist(), others.tolist()
    ([[1, 0], [0, 1]], [False, True])
    """
    columns = {name: j for j, name in enumerate(names)}
    known = np.zeros((len(rows), len(columns)), dtype=int)
    others = np.zeros(len(rows), dtype=bool)
    for i, row in enumerate(rows):
        found = [columns[tag] for tag in row if tag in columns]
        known[i, found] = 1
        others[i] = len(found) < len(row)
    return known, others


def warn_of_joined_tags(classes: Values) -> None:
    """Warn if classes are certainly tags in one string, such as "python;numpy".

    They are if every part of one of them is a part of another one, too, and a quarter
    of all different parts are: names with commas repeat few of theirs.
    """
    if not all(isinstance(name, str) for name in classes):
        return
    for separator in _SEPARATORS:
        parts = [set(name.split(separator)) for name in classes]
        counts = Counter(chain.from_iterable(parts))
        if 4 * sum(count > 1 for count in counts.values()) < len(counts):
            continue
        for name, own in zip(classes, parts, strict=True):
            if len(own) > 1 and all(counts[part] > 1 for part in own):
                warn(
                    f"y holds {str(name)!r} and similar strings, each of them taken as "
                    "one class; for tags pass a list for each row: "
                    f"[row.split({separator!r}) for row in y]."
                )
                return
