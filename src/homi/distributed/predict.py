"""Apply a method of a fitted model to a Dask collection, lazily and in blocks."""

from __future__ import annotations

import warnings
from copy import copy

import dask.array as da
import numpy as np
from dask.delayed import delayed
from sklearn.base import BaseEstimator

from homi.distributed.blocks import Collection, check_rows, is_frame
from homi.typing import Fields, Matrix


def lazily(model: BaseEstimator, method: str, X: Collection) -> Collection:
    """Apply ``model.method`` to the rows of X; return a lazy Dask array.

    The model is sent to the workers once; rows are scored where they are.
    """
    check_rows(X, "X")
    bare = _bare(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        like = getattr(bare, method)(np.zeros((1, bare.n_features_in_)))[:0]
    shared = delayed(bare)
    if is_frame(X):
        parts = X.to_delayed()
        blocks = [
            da.from_delayed(
                delayed(_apply)(part, model=shared, method=method),
                shape=(np.nan, *like.shape[1:]),
                meta=like,
            )
            for part in parts
        ]
        return da.concatenate(blocks, allow_unknown_chunksizes=True)
    X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    out: Fields = {"chunks": (X.chunks[0], *((q,) for q in like.shape[1:]))}
    if like.ndim == 1:
        out["drop_axis"] = 1
    return X.map_blocks(_apply, model=shared, method=method, meta=like, **out)


def _bare(model: BaseEstimator) -> BaseEstimator:
    """Copy the model without training state and without feature names.

    Names are compared once for all blocks; a block is an array without names.
    """
    bare = copy(model)
    for name in ("_sums", "feature_names_in_", "history_"):
        vars(bare).pop(name, None)
    return bare


def _apply(block: Matrix, *, model: BaseEstimator, method: str) -> Matrix:
    rows = block.to_numpy() if hasattr(block, "to_numpy") else block
    if rows.shape[0] == 0:
        empty = getattr(model, method)(np.zeros((1, model.n_features_in_)))
        return empty[:0]
    return getattr(model, method)(rows)
