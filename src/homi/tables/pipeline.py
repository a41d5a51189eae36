"""From a data frame of any columns to a fitted model, in one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from homi.base.named_predictions import like_frame
from homi.datasets.preprocessing import Missing, Nominal
from homi.estimators import HOMICV
from homi.model.summary import SummaryReprMixin
from homi.tables.vectorizer import TableVectorizer, TextFeatures


def _last_has(method: str) -> Any:
    """Return a check that the last step has a method."""
    return available_if(lambda model: hasattr(model[-1], method))


class TableModel(SummaryReprMixin, Pipeline):  # type: ignore[misc]
    """A pipeline that answers by name.

    Predictions for a data frame are a data frame of the labels.
    """

    def _summarized(self) -> Any:
        return self[-1]

    @_last_has("summary")  # type: ignore[untyped-decorator]
    def summary(self) -> str:
        """Return what the last step chose, and how good it is on held-out rows."""
        text: str = self[-1].summary()
        return text

    def predict(self, X: Any, **params: Any) -> Any:
        """Return 0/1 for each label, as the last step does."""
        return self._named(X, super().predict(X, **params))

    @_last_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, **params: Any) -> Any:
        """Return the probability of each label, as the last step does."""
        return self._named(X, super().predict_proba(X, **params))

    @_last_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any, **params: Any) -> Any:
        """Return a score for each label, as the last step does."""
        return self._named(X, super().decision_function(X, **params))

    @_last_has("predict_tags")  # type: ignore[untyped-decorator]
    def predict_tags(self, X: Any, **params: Any) -> list[list[Any]]:
        """Return the names of the predicted labels of each row."""
        tags: list[list[Any]] = self[-1].predict_tags(self._features(X), **params)
        return tags

    @_last_has("top_k")  # type: ignore[untyped-decorator]
    def top_k(self, X: Any, k: int = 5, **params: Any) -> list[list[tuple[Any, float]]]:
        """Return the most probable labels of each row with their probabilities."""
        best: list[list[tuple[Any, float]]]
        best = self[-1].top_k(self._features(X), k, **params)
        return best

    def why(self, x: Any, labels: Any = None, **params: Any) -> Any:
        """Explain the decision scores of one row, as :func:`homi.why` does."""
        from homi.explorer.why import why

        return why(self, x, labels, **params)

    def _features(self, X: Any) -> Any:
        check_is_fitted(self)
        return self[:-1].transform(X)

    def _named(self, X: Any, values: Any) -> Any:
        names: Any = getattr(self[-1], "label_names_", ())
        is_matrix = isinstance(values, np.ndarray) and values.ndim == 2
        if not is_matrix or values.shape[1] != len(names):
            return values
        return like_frame(X, values, names)


def table_model(
    text: str | Sequence[str] | None = None,
    *,
    drop: str | Sequence[str] | None = None,
    nominal: Nominal = "onehot",
    missing: Missing = "mean",
    max_words: int = 2000,
    encoder: str | None = None,
    text_features: TextFeatures | Literal["auto"] = "auto",
    classifier: Any = None,
) -> TableModel:
    """Return an unfitted pipeline that takes data frames with columns of any kind.

    Its steps are a :class:`homi.tables.TableVectorizer`, which turns numbers, words,
    dates, booleans, texts, vectors and missing values into features, and ``HOMICV``.
    ``predict_tags``, ``top_k`` and ``why`` are methods of it, ``homi.io.save`` writes
    it, and ``homi predict`` reads that file.

    Parameters
    ----------
    text, drop, nominal, missing, max_words, encoder, text_features
        As in ``TableVectorizer``.
    classifier : classifier, default=None
        Last step. None for ``HOMICV()``.

    Returns
    -------
    model : Pipeline
        ``fit`` takes a data frame of pandas or polars, a dict of columns, or a list of
        texts; labels as everywhere: 0/1 columns, or a list of tags for each row. Given
        a data frame, ``predict`` and ``predict_proba`` return one.

    Examples
    --------
    >>> import homi
    >>> posts = {
    ...     "body": ["a purring cat", "a barking dog", "cat and dog", "a bird"] * 15,
    ...     "length": [13, 13, 11, None] * 15,
    ... }
    >>> tags = [["cat"], ["dog"], ["cat", "dog"], []] * 15
    >>> model = homi.table_model(text="body").fit(posts, tags)
    >>> model.predict_tags({"body": ["the cat sleeps"], "length": [14]})
    [['cat']]
    """
    vectorizer = TableVectorizer(
        text,
        drop=drop,
        nominal=nominal,
        missing=missing,
        max_words=max_words,
        encoder=encoder,
        text_features=text_features,
    )
    last = HOMICV() if classifier is None else classifier
    return TableModel([("table", vectorizer), ("model", last)])
