"""From a data frame of any columns to a fitted model, in one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if

from homi.base.named_predictions import like_frame
from homi.datasets.preprocessing import Missing, Nominal
from homi.estimators import HOMICV
from homi.tables.vectorizer import TableVectorizer, TextFeatures


def _last_has(method: str) -> Any:
    """Return a check that the last step has a method."""
    return available_if(lambda model: hasattr(model[-1], method))


class TableModel(Pipeline):  # type: ignore[misc]
    """A pipeline whose predictions for a data frame are a data frame of the labels."""

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
    ``homi.predict_tags``, ``homi.top_k`` and ``homi.why`` take the fitted pipeline, and
    ``homi.io.save`` writes it; ``homi predict`` reads that file.

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
    >>> homi.predict_tags(model, {"body": ["the cat sleeps"], "length": [14]})
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
