"""How `homi fit` and `homi cv` make a model: options -> estimator -> fitted model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import Pipeline

from homi import HOMI, HOMICV
from homi.cli.opened_file import with_file_name
from homi.cli.options import (
    Budget,
    Encoder,
    HowMissing,
    HowNominal,
    HowTuned,
    Linear,
    MaxWords,
    MissingName,
    Neighbors,
    NominalName,
    Paper,
    Seed,
    Strategy,
    TextFeaturesChoice,
    TextFeaturesName,
    Tune,
)
from homi.cli.source import LabeledRows, take_rows
from homi.tables import TableVectorizer
from homi.tables.columns import Columns
from homi.thresholds import TunedThresholds
from homi.typing import Fields


@dataclass(frozen=True)
class Recipe:
    """Options that say how to make a model; an option group of `command`."""

    paper: Paper = False
    linear: Linear = False
    neighbors: Neighbors = None
    tune: Tune = None
    strategy: HowTuned = Strategy.auto
    nominal: HowNominal = NominalName.onehot
    missing: HowMissing = MissingName.mean
    max_words: MaxWords = 2000
    encoder: Encoder = None
    text_features: TextFeaturesChoice = TextFeaturesName.auto
    time_budget: Budget = None
    seed: Seed = 0

    def __post_init__(self) -> None:
        """Refuse options that do not go together."""
        if self.time_budget is None:
            return
        if not self.time_budget > 0:
            raise typer.BadParameter("--time-budget must be positive.")
        if self.paper:
            raise typer.BadParameter("--paper chooses nothing; omit --time-budget.")

    def estimator(self, *, is_text: bool, is_scaled: bool = False) -> Any:
        """Return an unfitted estimator; for texts, a pipeline with TF-IDF first."""
        is_scaled = is_scaled or is_text
        model = self._paper(is_scaled) if self.paper else self._chosen()
        if not is_text:
            return self._tuned(model)
        words = TfidfVectorizer(sublinear_tf=True, max_features=self.max_words)
        if self.paper:  # each fold of the cross-validation has its own vocabulary
            return self._tuned(Pipeline([("words", words), ("model", model)]))
        return Pipeline([("words", words), ("model", self._tuned(model))])

    def _paper(self, is_scaled: bool) -> HOMI:
        # TF-IDF is scaled already: standardized, rare words would outweigh common ones.
        return HOMI(n_neighbors=self.neighbors or 10, standardize=not is_scaled)

    def _chosen(self) -> HOMICV:
        given: Fields = {"widths": [], "trees": False} if self.linear else {}
        if self.neighbors is not None:
            given |= {"n_neighbors": self.neighbors, "gammas": None}
        return HOMICV(time_budget=self.time_budget, random_state=self.seed, **given)

    def _tuned(self, model: Any) -> Any:
        if self.tune is None:
            return model
        return TunedThresholds(
            model,
            objective=self.tune.value,
            strategy=self.strategy.value,
            # HOMICV has cross-validated scores of its own: one fit instead of six.
            cv="own" if isinstance(model, HOMICV) else 5,
            random_state=self.seed,
        )

    def vectorizer(self) -> TableVectorizer:
        """Return an unfitted transformer of texts beside other columns."""
        return TableVectorizer(
            nominal=self.nominal.value,
            missing=self.missing.value,
            max_words=self.max_words,
            encoder=self.encoder,
            text_features=self.text_features.value,
        )

    def is_mixed(self, given: LabeledRows) -> bool:
        """Return True if a TableVectorizer makes the features."""
        is_encoded = self.encoder is not None and given.texts is not None
        return is_encoded or given.is_mixed

    def columns(self, given: LabeledRows, rows: Any) -> tuple[Columns, Any]:
        """Fit the preprocessing of feature columns; return it, and the features."""
        assert given.features is not None
        table = take_rows(given.features, rows)
        with with_file_name(given.path):
            columns = Columns.fit(table, self.nominal.value, self.missing.value)
            return columns, columns.transform(table)


@dataclass(frozen=True)
class Made:
    """A fitted model and its preprocessing.

    `columns` is None for texts, and for a pipeline that begins with a TableVectorizer.

    `imputed` has the number of missing values of columns that miss any.
    """

    model: Any
    columns: Columns | None
    imputed: dict[str, int] = field(default_factory=dict)
    vectorizer: TableVectorizer | None = None


def make(recipe: Recipe, given: LabeledRows) -> Made:
    """Fit a model to all rows of a file."""
    if recipe.is_mixed(given):
        return _make_mixed(recipe, given)
    if given.texts is not None:
        model = recipe.estimator(is_text=True).fit(given.texts, given.Y)
        name_labels(model, given.label_names)
        return Made(model, None)
    columns, X = recipe.columns(given, slice(None))
    model = recipe.estimator(is_text=False).fit(X, given.Y)
    name_labels(model, given.label_names)
    if isinstance(X, np.ndarray):
        # In Python, a data frame of these columns is then checked by name.
        inner = model.estimator_ if isinstance(model, TunedThresholds) else model
        inner.feature_names_in_ = np.array(columns.feature_names, dtype=object)
    assert given.features is not None
    return Made(model, columns, columns.imputed(given.features))


def _make_mixed(recipe: Recipe, given: LabeledRows) -> Made:
    vectorizer = recipe.vectorizer()
    with with_file_name(given.path):
        X = vectorizer.fit_parts(given.found, given.parts, given.found.sources, given.Y)
    model = recipe.estimator(is_text=False, is_scaled=True).fit(X, given.Y)
    name_labels(model, given.label_names)
    pipeline = Pipeline([("table", vectorizer), ("model", model)])
    table, columns = given.features, vectorizer.columns_
    imputed = columns.imputed(table) if table and columns else {}
    return Made(pipeline, None, imputed, vectorizer)


def fit_fold(
    recipe: Recipe, given: LabeledRows, train: NDArray[np.intp], test: NDArray[np.intp]
) -> tuple[Any, Any]:
    """Fit to the training rows of a fold; return the model, and its test rows."""
    if recipe.is_mixed(given):
        vectorizer, found = recipe.vectorizer(), given.found
        with with_file_name(given.path):
            parts, labels = given.parts.rows(train), given.Y[train]
            X = vectorizer.fit_parts(found, parts, found.sources, labels)
            rows = vectorizer.transform_parts(given.parts.rows(test))
        model = recipe.estimator(is_text=False, is_scaled=True)
        return model.fit(X, given.Y[train]), rows
    if given.texts is not None:
        texts = np.array(given.texts, dtype=object)
        model = clone(recipe.estimator(is_text=True))
        return model.fit(texts[train], given.Y[train]), texts[test]
    columns, X = recipe.columns(given, train)
    model = clone(recipe.estimator(is_text=False)).fit(X, given.Y[train])
    assert given.features is not None
    with with_file_name(given.path):
        return model, columns.transform(take_rows(given.features, test))


def name_labels(model: Any, names: Sequence[str]) -> None:
    """Give a model, and the models inside it, the names of its labels."""
    if isinstance(model, Pipeline):
        name_labels(model[-1], names)
        return
    model.label_names_ = np.array(names, dtype=object)
    if isinstance(model, TunedThresholds):
        name_labels(model.estimator_, names)
    elif isinstance(model, HOMICV):
        name_labels(model.best_estimator_, names)


def last_step(model: Any) -> Any:
    """Return the classifier of a pipeline, or the model itself."""
    return model[-1] if isinstance(model, Pipeline) else model
