"""Predictions by name: tags of rows, and their most probable labels."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from homi.base.targets import Encoding
from homi.typing import MatrixLike, Names


class NamedPredictionsMixin:
    """Prediction methods that return names instead of columns."""

    label_names_: Names
    classes_: NDArray[Any]
    target_encoding_: Encoding

    def predict_tags(self, X: MatrixLike, **params: Any) -> list[list[Any]]:
        """Return the names of the predicted labels of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to label.
        **params
            Further arguments of ``predict``.

        Returns
        -------
        tags : list of list
            Names in the order of ``label_names_``, none for a row without labels. After
            a fit to a 1-D y, the class of each row.
        """
        return named_tags(self, self.predict(X, **params))  # type: ignore[attr-defined]

    def top_k(
        self, X: MatrixLike, k: int = 5, **params: Any
    ) -> list[list[tuple[Any, float]]]:
        """Return the most probable labels of each row with their probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to label.
        k : int in [1, inf), default=5
            Number of labels for each row; all of them if there are fewer.
        **params
            Further arguments of ``predict_proba``.

        Returns
        -------
        labels : list of list of (name, probability)
            Most probable first; equally probable ones in the order of
            ``label_names_``. After a fit to a 1-D y, the most probable classes.
        """
        check_k(k)
        P = self.predict_proba(X, **params)  # type: ignore[attr-defined]
        return named_top_k(self, P, k)


def check_k(k: object) -> None:
    """Raise ValueError unless k is a positive integer."""
    if type(k) is bool or not isinstance(k, int | np.integer) or k < 1:
        raise ValueError(f"k must be a positive integer, got {k!r}; pass k=5.")


def named_tags(
    classifier: NamedPredictionsMixin, predicted: ArrayLike
) -> list[list[Any]]:
    """Return the names of predicted labels, an indicator matrix or 1-D classes."""
    predicted = np.asarray(predicted)
    if predicted.ndim == 1:
        return [[name] for name in predicted.tolist()]
    names = classifier.label_names_
    return [names[row].tolist() for row in predicted > 0]


def named_top_k(
    classifier: NamedPredictionsMixin, P: ArrayLike, k: int
) -> list[list[tuple[Any, float]]]:
    """Return the k largest probabilities of each row with the names of the columns."""
    P = np.asarray(P)
    is_indicator = classifier.target_encoding_.kind == "multilabel-indicator"
    names = (classifier.label_names_ if is_indicator else classifier.classes_).tolist()
    best = np.argsort(-P, axis=1, kind="stable")[:, :k]
    return [
        [(names[j], float(row[j])) for j in columns]
        for row, columns in zip(P, best, strict=True)
    ]


def like_frame(X: Any, values: NDArray[Any], names: Names) -> Any:
    """Return values as a data frame of the library of X, or as they are for others.

    A data frame of pandas keeps its index. Neither library is imported.
    """
    if _is_frame(X, "pandas"):
        frame = sys.modules["pandas"].DataFrame
        return frame(values, index=X.index, columns=names.tolist())
    if _is_frame(X, "polars"):
        return sys.modules["polars"].DataFrame(values, schema=[str(n) for n in names])
    return values


def _is_frame(X: object, library: str) -> bool:
    loaded = sys.modules.get(library)
    return loaded is not None and isinstance(X, loaded.DataFrame)
