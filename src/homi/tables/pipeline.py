"""From a data frame of any columns to a fitted model, in one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from sklearn.pipeline import Pipeline

from homi.datasets.preprocessing import Missing, Nominal
from homi.estimators import HOMICV
from homi.tables.vectorizer import TableVectorizer, TextFeatures


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
) -> Pipeline:
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
        texts; labels as everywhere: 0/1 columns, or a list of tags for each row.

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
    return Pipeline([("table", vectorizer), ("model", last)])
