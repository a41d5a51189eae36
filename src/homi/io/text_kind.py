"""scikit-learn's TfidfVectorizer: vocabulary, weights, parameters."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer

from homi.io.errors import ModelFileError
from homi.io.fitted import rebuilt
from homi.io.tensors import Out, Source


def dump_tfidf(model: TfidfVectorizer, out: Out) -> dict[str, Any]:
    """The fitted part of a header, with the tensors put out."""
    terms = sorted(model.vocabulary_, key=model.vocabulary_.get)
    out.put_texts("vocabulary", terms)
    if model.use_idf:
        out.put("idf", model.idf_)
    return {"fixed_vocabulary_": bool(model.fixed_vocabulary_)}


def load_tfidf(params: Any, fitted: Any, source: Source) -> TfidfVectorizer:
    model: TfidfVectorizer = rebuilt(TfidfVectorizer, params)
    if model.input != "content":
        # It would open whatever files the texts name.
        raise ModelFileError("its TfidfVectorizer reads files instead of texts.")
    _check_pattern(model.token_pattern)
    if fitted is None:
        return model
    terms = source.texts("vocabulary")
    model.vocabulary_ = {term: j for j, term in enumerate(terms)}
    if not terms or len(model.vocabulary_) < len(terms):
        raise ModelFileError("its vocabulary is empty, or holds a term twice.")
    model.fixed_vocabulary_ = bool(fitted["fixed_vocabulary_"])
    names = ("norm", "use_idf", "smooth_idf", "sublinear_tf")
    weights = TfidfTransformer(**{name: getattr(model, name) for name in names})
    # A fit to nothing gives it its number of features; its weights come after.
    model._tfidf = weights.fit(sparse.csr_array((1, len(terms)), dtype=model.dtype))
    if model.use_idf:
        weights.idf_ = source.floats("idf", (len(terms),))
    return model


def _check_pattern(pattern: Any) -> None:
    if pattern is None:
        return
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ModelFileError("its token_pattern is no regular expression.") from error


def check_savable(model: TfidfVectorizer) -> None:
    """Refuse what would make a loaded model open files, or another one than saved."""
    if model.input != "content":
        raise ModelFileError(
            f"TfidfVectorizer(input={model.input!r}) reads files; a model file holds "
            "one of input='content' only."
        )
    if not np.issubdtype(model.dtype, np.floating):
        raise ModelFileError(
            f"TfidfVectorizer(dtype={model.dtype!r}) cannot be saved; use np.float64."
        )
