"""scikit-learn's TfidfVectorizer in a model file: parameters, vocabulary, weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer

from homi.io.errors import ModelFileError
from homi.io.fitted import rebuilt
from homi.io.tensors import Out, Source
from homi.io.token_patterns import check_token_pattern
from homi.typing import Fields

#: Longest n-gram, in words or letters.
_MAX_NGRAM = 64


def dump_tfidf(model: TfidfVectorizer, out: Out) -> Fields:
    """Return the fitted part of a header, and put the tensors into `out`."""
    terms = sorted(model.vocabulary_, key=model.vocabulary_.get)
    out.put_texts("vocabulary", terms)
    if model.use_idf:
        out.put("idf", model.idf_)
    return {"fixed_vocabulary_": bool(model.fixed_vocabulary_)}


def load_tfidf(params: Any, fitted: Any, source: Source) -> TfidfVectorizer:
    """Return the TfidfVectorizer of a header."""
    model: TfidfVectorizer = rebuilt(TfidfVectorizer, params)
    if model.input != "content":
        # It would open whatever files the texts name.
        raise ModelFileError("its TfidfVectorizer reads files instead of texts.")
    check_token_pattern(model.token_pattern)
    _check_ngrams(model)
    if fitted is None:
        return model
    terms = source.texts("vocabulary")
    model.vocabulary_ = {term: j for j, term in enumerate(terms)}
    if not terms or len(model.vocabulary_) < len(terms):
        raise ModelFileError("its vocabulary is empty, or holds a term twice.")
    model.fixed_vocabulary_ = bool(fitted["fixed_vocabulary_"])
    names = ("norm", "use_idf", "smooth_idf", "sublinear_tf")
    weights = TfidfTransformer(**{name: getattr(model, name) for name in names})
    # A fit to zeros sets the number of features; the weights are set after it.
    model._tfidf = weights.fit(sparse.csr_array((1, len(terms)), dtype=model.dtype))
    if model.use_idf:
        weights.idf_ = source.floats("idf", (len(terms),))
    return model


def _check_ngrams(model: TfidfVectorizer) -> None:
    """Refuse long n-grams: those of one text would exhaust the memory."""
    if not 1 <= model.ngram_range[0] <= model.ngram_range[1] <= _MAX_NGRAM:
        raise ModelFileError(
            f"TfidfVectorizer(ngram_range={model.ngram_range}): n-grams in a model "
            f"file have 1 to {_MAX_NGRAM} items, and the smaller number comes first."
        )


def check_savable(model: TfidfVectorizer) -> None:
    """Refuse parameters with which a loaded model would read files or differ."""
    if model.input != "content":
        raise ModelFileError(
            f"TfidfVectorizer(input={model.input!r}) reads files; a model file holds "
            "one of input='content' only."
        )
    if not np.issubdtype(model.dtype, np.floating):
        raise ModelFileError(
            f"TfidfVectorizer(dtype={model.dtype!r}) cannot be saved; use np.float64."
        )
    check_token_pattern(model.token_pattern)
    _check_ngrams(model)
