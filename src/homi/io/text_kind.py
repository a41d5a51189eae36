"""scikit-learn's vectorizers of texts in a model file: parameters and vocabulary."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import (
    CountVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)

from homi.io.errors import ModelFileError
from homi.io.fitted import rebuilt
from homi.io.tensors import Out, Source
from homi.io.token_patterns import check_token_pattern
from homi.typing import Fields

#: Longest n-gram, in words or letters.
_MAX_NGRAM = 64


def dump_counts(model: CountVectorizer, out: Out) -> Fields:
    """Return the fitted part of a header, and put the vocabulary into `out`."""
    terms = sorted(model.vocabulary_, key=model.vocabulary_.get)
    out.put_texts("vocabulary", terms)
    return {"fixed_vocabulary_": bool(model.fixed_vocabulary_)}


def dump_tfidf(model: TfidfVectorizer, out: Out) -> Fields:
    """Return the fitted part of a header, and put the tensors into `out`."""
    if model.use_idf:
        out.put("idf", model.idf_)
    return dump_counts(model, out)


def load_counts(
    params: object, fitted: Fields | None, source: Source
) -> CountVectorizer:
    """Return the CountVectorizer of a header."""
    model: CountVectorizer = rebuilt(CountVectorizer, params)
    _check_harmless(model)
    if fitted is not None:
        _set_vocabulary(model, fitted, source)
    return model


def _check_harmless(model: CountVectorizer) -> None:
    if model.input != "content":
        # It would open whatever files the texts name.
        raise ModelFileError(f"its {type(model).__name__} reads files, not texts.")
    check_token_pattern(model.token_pattern)
    _check_ngrams(model)


def _set_vocabulary(
    model: CountVectorizer, fitted: Fields, source: Source
) -> list[str]:
    terms = source.texts("vocabulary")
    model.vocabulary_ = {term: j for j, term in enumerate(terms)}
    if not terms or len(model.vocabulary_) < len(terms):
        raise ModelFileError("its vocabulary is empty, or holds a term twice.")
    model.fixed_vocabulary_ = bool(fitted["fixed_vocabulary_"])
    return terms


def load_tfidf(
    params: object, fitted: Fields | None, source: Source
) -> TfidfVectorizer:
    """Return the TfidfVectorizer of a header."""
    model: TfidfVectorizer = rebuilt(TfidfVectorizer, params)
    _check_harmless(model)
    if fitted is None:
        return model
    terms = _set_vocabulary(model, fitted, source)
    names = ("norm", "use_idf", "smooth_idf", "sublinear_tf")
    weights = TfidfTransformer(**{name: getattr(model, name) for name in names})
    # scikit-learn has no other place for them. A fit to zeros sets the number of
    # features; the weights are set after it.
    model._tfidf = weights.fit(sparse.csr_array((1, len(terms)), dtype=model.dtype))
    if model.use_idf:
        weights.idf_ = source.floats("idf", (len(terms),))
    return model


def _check_ngrams(model: CountVectorizer) -> None:
    """Refuse long n-grams: those of one text would exhaust the memory."""
    if not 1 <= model.ngram_range[0] <= model.ngram_range[1] <= _MAX_NGRAM:
        raise ModelFileError(
            f"{type(model).__name__}(ngram_range={model.ngram_range}): n-grams in a "
            f"model file have 1 to {_MAX_NGRAM} items, the smaller number first."
        )


def check_savable(model: CountVectorizer) -> None:
    """Refuse parameters with which a loaded model would read files or differ."""
    if model.input != "content":
        raise ModelFileError(
            f"{type(model).__name__}(input={model.input!r}) reads files; a model file "
            "holds one of input='content' only."
        )
    is_tfidf = isinstance(model, TfidfVectorizer)
    if is_tfidf and not np.issubdtype(model.dtype, np.floating):
        raise ModelFileError(
            f"TfidfVectorizer(dtype={model.dtype!r}) cannot be saved; use np.float64."
        )
    check_token_pattern(model.token_pattern)
    _check_ngrams(model)
