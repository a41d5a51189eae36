"""Checks of one block of a Dask collection; errors name the block and its row."""

from __future__ import annotations

from dataclasses import dataclass

from homi.base.targets import check_target
from homi.base.validation import check_block
from homi.model.batch_checks import batch_target, naming
from homi.typing import Matrix, Values


@dataclass(frozen=True)
class Expected:
    """Columns, names and classes that all blocks must have."""

    n_features: int
    n_labels: int
    feature_names: tuple[str, ...] | None = None
    label_names: tuple[object, ...] | None = None
    classes: Values | None = None


def checked_rows(
    X: Matrix, number: int, start: int, stop: int, expected: Expected
) -> Matrix:
    """Return rows ``start`` to ``stop`` as floats, dense or sparse."""
    with naming(number, start, X, None, kind="block"):
        return _rows(X, stop - start, expected)


def checked_block(
    X: Matrix, y: Matrix, number: int, start: int, stop: int, expected: Expected
) -> tuple[Matrix, Matrix]:
    """Return rows as floats, and their labels as an indicator matrix."""
    with naming(number, start, X, y, kind="block"):
        X = _rows(X, stop - start, expected)
        Y = _indicator(y, expected)
        if Y.shape[0] != X.shape[0]:
            raise ValueError(
                f"X has {X.shape[0]} rows and Y has {Y.shape[0]}; the chunks that Dask "
                "knows are not those that were made."
            )
        return X, Y


def _rows(X: Matrix, n_rows: int, expected: Expected) -> Matrix:
    _check_names(X, expected.feature_names, "features")
    if X.shape[0] != n_rows:
        raise ValueError(
            f"X has {X.shape[0]} rows, but {n_rows} by the chunks that Dask knows; "
            "give the right shape where the collection is made."
        )
    X = check_block(X, expected.feature_names)
    if X.shape[1] != expected.n_features:
        raise ValueError(
            f"X has {X.shape[1]} features, but HOMI is expecting {expected.n_features} "
            "features as input."
        )
    return X


def _indicator(y: Matrix, expected: Expected) -> Matrix:
    if expected.classes is not None:
        return batch_target(y, expected.classes).indicator
    _check_names(y, expected.label_names, "labels")
    target = check_target(y, compact=False)
    if target.encoding.kind != "multilabel-indicator":
        raise ValueError(
            "Y must be an indicator matrix that holds only 0 and 1; for classes pass "
            "a 1-D y."
        )
    if len(target.names) != expected.n_labels:
        raise ValueError(
            f"Y has {len(target.names)} label(s), but {expected.n_labels} in the "
            "collection."
        )
    return target.indicator


def _check_names(block: Matrix, names: tuple[object, ...] | None, what: str) -> None:
    columns = getattr(block, "columns", None)
    if names is not None and columns is not None and tuple(columns) != names:
        wrong = [str(x) for x in columns if x not in names][:4]
        raise ValueError(
            f"its {what} are not those of the collection"
            + (f": {', '.join(wrong)}." if wrong else ", or in another order.")
        )
