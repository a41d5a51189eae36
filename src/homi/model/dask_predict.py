"""Predictions for Dask collections: lazy, block by block."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from homi.base.classifier import MultiLabelClassifier
from homi.model.dask_rows import is_collection
from homi.typing import Array, Matrix, MatrixLike


class DaskPredictMixin(MultiLabelClassifier):
    """Prediction methods that take Dask collections as well."""

    def decision_function(self, X: MatrixLike) -> Array:
        return self._or_lazily("decision_function", X)

    def ranking_scores(self, X: MatrixLike) -> Array:
        return self._or_lazily("ranking_scores", X)

    def predict(self, X: MatrixLike) -> NDArray[Any]:
        return self._or_lazily("predict", X)

    def predict_proba(self, X: MatrixLike) -> Array:
        return self._or_lazily("predict_proba", X)

    for _method in (decision_function, ranking_scores, predict, predict_proba):
        _method.__doc__ = getattr(MultiLabelClassifier, _method.__name__).__doc__
    del _method

    def _or_lazily(self, method: str, X: Matrix) -> Any:
        """Call a method; for a collection, return a Dask array to compute later."""
        if not is_collection(X):
            return getattr(super(), method)(X)
        from homi.distributed import columns_like, lazily

        check_is_fitted(self)
        validate_data(self, columns_like(X), reset=False, skip_check_array=True)
        return lazily(self, method, X)
