"""Predictions by name of any fitted model, also of pipelines around one."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from homi.base.named_predictions import (
    NamedPredictionsMixin,
    check_k,
    named_tags,
    named_top_k,
)
from homi.explorer.why import why
from homi.typing import MatrixLike

__all__ = ["predict_tags", "top_k", "why"]


def predict_tags(model: BaseEstimator, X: MatrixLike) -> list[list[Any]]:
    """Return the names of the predicted labels of each row.

    Parameters
    ----------
    model : classifier of homi, or a Pipeline or search of scikit-learn around one
        The fitted model.
    X : array-like
        Rows as the model takes them, such as texts.

    Returns
    -------
    tags : list of list
        As in :meth:`homi.HOMICV.predict_tags`.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from homi import HOMI
    >>> texts = ["red ball", "red box", "blue ball", "blue box"] * 3
    >>> tags = [text.split() for text in texts]
    >>> model = make_pipeline(TfidfVectorizer(), HOMI(gamma=0.0)).fit(texts, tags)
    >>> predict_tags(model, ["a blue ball"])
    [['ball', 'blue']]
    """
    return named_tags(_classifier(model), model.predict(X))


def top_k(
    model: BaseEstimator, X: MatrixLike, k: int = 5
) -> list[list[tuple[Any, float]]]:
    """Return the most probable labels of each row with their probabilities.

    Parameters
    ----------
    model : classifier of homi, or a Pipeline or search of scikit-learn around one
        The fitted model.
    X : array-like
        Rows as the model takes them, such as texts.
    k : int in [1, inf), default=5
        Number of labels for each row.

    Returns
    -------
    labels : list of list of (name, probability)
        As in :meth:`homi.HOMICV.top_k`.
    """
    check_k(k)
    return named_top_k(_classifier(model), model.predict_proba(X), k)


def _classifier(model: BaseEstimator) -> NamedPredictionsMixin:
    """Return the classifier that knows the names of the labels."""
    found = model
    while not hasattr(found, "label_names_"):
        inside = _inside(found)
        if inside is None:
            raise TypeError(
                f"{type(model).__name__} has no label_names_; pass a fitted classifier "
                "of homi, or a Pipeline or search around one."
            )
        found = inside
    return found


def _inside(model: BaseEstimator) -> BaseEstimator | None:
    if isinstance(model, Pipeline):
        return model[-1]
    return getattr(model, "best_estimator_", None)
