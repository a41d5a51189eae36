"""Fits and predictions of dask collections; Dask is imported only for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from homi.base.classifier import MultiLabelClassifier
from homi.base.targets import Target, check_target
from homi.model.batch_checks import batch_target
from homi.model.block_checks import Expected
from homi.model.dask_rows import DaskRows


def is_collection(data: Any) -> bool:
    """Whether it is an array, a data frame or a series of Dask."""
    return hasattr(data, "__dask_graph__")


class OnDask(MultiLabelClassifier):
    """A classifier that takes dask collections as well."""

    def _check_fit_input(
        self, X: Any, Y: Any, *, unknown: bool = False
    ) -> tuple[Any, Target]:
        if not is_collection(X) and not is_collection(Y):
            return super()._check_fit_input(X, Y, unknown=unknown)
        _check_both(X, Y)
        _check_possible(self)
        from homi.distributed import row_blocks

        rows = row_blocks(X, Y)
        validate_data(self, rows.X_like, skip_check_array=True)
        target = _described(rows)
        self.classes_, self.label_names_ = target.classes, target.names
        self._target = target.encoding
        return DaskRows(rows, _expected(rows, target)), target

    def decision_function(self, X):
        return self._or_lazily("decision_function", X)

    def ranking_scores(self, X):
        return self._or_lazily("ranking_scores", X)

    def predict(self, X):
        return self._or_lazily("predict", X)

    def predict_proba(self, X):
        return self._or_lazily("predict_proba", X)

    for _method in (decision_function, ranking_scores, predict, predict_proba):
        _method.__doc__ = getattr(MultiLabelClassifier, _method.__name__).__doc__
    del _method

    def _or_lazily(self, method: str, X: Any) -> Any:
        """As without Dask; for a collection, a dask array that is computed later."""
        if not is_collection(X):
            return getattr(super(), method)(X)
        from homi.distributed import columns_like, lazily

        check_is_fitted(self)
        validate_data(self, columns_like(X), reset=False, skip_check_array=True)
        return lazily(self, method, X)


def _check_both(X: Any, Y: Any) -> None:
    for name, given, other in (("X", X, "y"), ("y", Y, "X")):
        if not is_collection(given):
            raise TypeError(
                f"{other} is a dask collection and {name} is a "
                f"{type(given).__name__}; pass both as dask arrays or data frames, or "
                f"compute {other} first."
            )


def _check_possible(model: Any) -> None:
    for name, possible in (
        ("graph", ("auto", "exact", "anchors")),
        ("kernel", (None,)),
        ("correlation", ("labels", "identity")),
        ("missing_labels", ("error",)),
        ("solver", ("auto", "direct")),
    ):
        value = getattr(model, name)
        if value not in possible and not (name == "graph" and model.gamma == 0):
            raise ValueError(
                f"dask collections cannot be learnt with {name}={value!r}, which needs "
                f"all rows in one place; use {name}={' or '.join(map(repr, possible))},"
                " or compute the collections first."
            )


def _described(rows: Any) -> Target:
    """Names and classes of the labels, without the labels themselves."""
    like = rows.y_like
    if like.ndim == 1:
        classes = rows.classes()
        return batch_target(classes, classes)
    dtype = np.asarray(like).dtype
    empty = np.zeros((1, like.shape[1]), dtype=dtype if dtype.kind in "iu" else int)
    target = check_target(empty, compact=False)
    if not hasattr(like, "columns"):
        return target
    return replace(target, names=np.array(list(like.columns), dtype=object))


def _expected(rows: Any, target: Target) -> Expected:
    return Expected(
        rows.shape[1],
        len(target.names),
        _names(rows.X_like),
        _names(rows.y_like),
        target.classes if target.encoding.kind != "multilabel-indicator" else None,
    )


def _names(like: Any) -> tuple[Any, ...] | None:
    return tuple(like.columns) if hasattr(like, "columns") else None
