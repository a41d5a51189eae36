"""A TableVectorizer in a model file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np

from homi.io.errors import ModelFileError
from homi.io.fitted import features_of, params_of, rebuilt, set_features
from homi.io.preprocessing_kind import dump_column_transformer, load_column_transformer
from homi.io.tensors import Out, Source
from homi.io.text_kind import dump_tfidf, load_tfidf
from homi.io.values import decode, encode
from homi.tables import TableVectorizer
from homi.tables.columns import Columns, texts
from homi.tables.features import Features
from homi.tables.kinds import ORDERS
from homi.tables.vectorizer import TEXT_FEATURES
from homi.typing import Array, Fields


def dump_table(
    model: TableVectorizer, out: Out, dump: Callable[..., Any], fitted: bool
) -> Fields:
    """Return the header of a TableVectorizer, and put its tensors into `out`."""
    node: Fields = {"params": params_of(model)}
    if fitted:
        node["fitted"] = _dump_fitted(model, out)
    return node


def _dump_fitted(model: TableVectorizer, out: Out) -> Fields:
    chosen = (model.text_features_, model.n_sentence_features_, model.text_scores_)
    found = {
        "texts": encode(list(chosen), "text_features_"),
        "encoder_sha256": getattr(model, "encoder_sha256_", None),
        **features_of(model),
        "features": encode(asdict(model.features_), "columns"),
    }
    if model.columns_ is not None:
        found["columns"] = encode(model.columns_.to_dict(), "columns")
        if model.columns_.transformer is not None:
            part = out.under("transformer")
            transformer = model.columns_.transformer
            found["transformer"] = dump_column_transformer(transformer, part)
    if model.words_ is not None:
        words = dump_tfidf(model.words_, out.under("words"))
        found["words"] = {"params": params_of(model.words_), "fitted": words}
    if model.letters_ is not None:
        letters = dump_tfidf(model.letters_, out.under("letters"))
        found["letters"] = {"params": params_of(model.letters_), "fitted": letters}
    for j, (center, scale) in enumerate(model.scaling_ or ()):
        out.put(f"center{j}", center)
        out.put(f"scale{j}", scale)
    return found


def load_table(node: Any, source: Source, load: Callable[..., Any]) -> TableVectorizer:
    """Return the TableVectorizer of a header."""
    model: TableVectorizer = rebuilt(TableVectorizer, node["params"])
    found = node.get("fitted")
    if found is None:
        return model
    set_features(model, found)
    model.features_ = _features(decode(found["features"]))
    model.notes_ = model.features_.notes
    _set_text_features(model, decode(found["texts"]), found["encoder_sha256"])
    model.columns_ = model.words_ = model.letters_ = model.scaling_ = None
    if "columns" in found:
        transformer = None
        if "transformer" in found:
            part = source.under("transformer")
            transformer = load_column_transformer(found["transformer"], part)
        model.columns_ = Columns.restore(decode(found["columns"]), transformer)
    if "words" in found:
        words = found["words"]
        part = source.under("words")
        model.words_ = load_tfidf(words["params"], words["fitted"], part)
    if "letters" in found:
        letters = found["letters"]
        part = source.under("letters")
        model.letters_ = load_tfidf(letters["params"], letters["fitted"], part)
    _check_kinds(model)
    model.scaling_ = _scaling(model, source)
    return model


def _set_text_features(model: TableVectorizer, texts: Any, sha256: Any) -> None:
    chosen, count, scores = texts
    has_encoder = isinstance(model.encoder, str) and isinstance(sha256, str)
    is_sound = type(count) is int and isinstance(scores, dict)
    if chosen not in TEXT_FEATURES or not is_sound or (count > 0) > has_encoder:
        raise ModelFileError("its features of texts make no sense.")
    model.text_features_, model.n_sentence_features_ = chosen, count
    model.text_scores_ = scores
    if sha256 is not None:
        model.encoder_sha256_ = sha256


def _features(found: Any) -> Features:
    features = Features(**found)
    for names in (features.names, features.text, features.left_out, features.notes):
        texts(names)
    texts([*features.dates, *features.frequent, *features.vectors])
    for words in features.frequent.values():
        texts(words)
    lengths = features.vectors.values()
    if not all(type(length) is int and length > 0 for length in lengths) or not {
        *features.dates.values()
    } <= {*ORDERS}:
        raise ModelFileError("its columns of dates or vectors make no sense.")
    return features


def _check_kinds(model: TableVectorizer) -> None:
    """Refuse columns that are not those of the transformers."""
    columns, features = model.columns_, model.features_
    names = [] if columns is None else columns.names
    wants_words = bool(features.text) and model.text_features_ != "embeddings"
    wants_letters = bool(features.text) and model.text_features_ == "characters"
    is_there = model.words_ is not None, model.letters_ is not None
    if names != features.names or is_there != (wants_words, wants_letters):
        raise ModelFileError("its columns are not those of its preprocessing.")


def _scaling(
    model: TableVectorizer, source: Source
) -> list[tuple[Array, Array]] | None:
    widths = [] if model.columns_ is None else [len(model.columns_.feature_names)]
    widths += [sum(model.features_.vectors.values())] if model.features_.vectors else []
    widths += [model.n_sentence_features_] if model.n_sentence_features_ else []
    n_texts = (model.words_ is not None) + (model.letters_ is not None)
    if len(widths) + n_texts < 2:
        return None
    found = [
        (source.floats(f"center{j}", (m,)), source.floats(f"scale{j}", (m,)))
        for j, m in enumerate(widths)
    ]
    if not all(np.all(scale > 0) for _, scale in found):
        raise ModelFileError("its features are divided by what is not positive.")
    return found
