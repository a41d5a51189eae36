"""The estimator that the options of a command ask for, and its names."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import Pipeline

from homi import HOMI, HOMICV
from homi.cli.columns import Columns
from homi.cli.source import Labelled, take_rows
from homi.datasets.read import Missing, Nominal
from homi.thresholds import TunedThresholds


class Objective(StrEnum):
    """What thresholds are chosen for."""

    hamming = "hamming"
    micro_f1 = "micro_f1"
    macro_f1 = "macro_f1"
    example_f1 = "example_f1"
    subset_accuracy = "subset_accuracy"


class Strategy(StrEnum):
    """How thresholds are chosen."""

    global_ = "global"
    per_label = "per_label"
    cardinality = "cardinality"
    top_k = "top_k"
    auto = "auto"


@dataclass(frozen=True)
class Recipe:
    """How to make a model of a file."""

    paper: bool = False
    neighbors: int | None = None
    tune: Objective | None = None
    strategy: Strategy = Strategy.auto
    nominal: Nominal = "onehot"
    missing: Missing = "error"
    max_words: int = 2000
    time_budget: float | None = None
    seed: int = 0
    linear: bool = False

    def estimator(self, *, is_text: bool) -> Any:
        """Unfitted. With texts, a pipeline that takes them apart first."""
        model = self._paper(is_text) if self.paper else self._chosen()
        if not is_text:
            return self._tuned(model)
        words = TfidfVectorizer(sublinear_tf=True, max_features=self.max_words)
        if self.paper:  # held-out folds have words and weights of their own
            return self._tuned(Pipeline([("words", words), ("model", model)]))
        return Pipeline([("words", words), ("model", self._tuned(model))])

    def _paper(self, is_text: bool) -> HOMI:
        # TF-IDF has scales of its own: a rare word made as loud as a common one
        # would drown it.
        return HOMI(n_neighbors=self.neighbors or 10, standardize=not is_text)

    def _chosen(self) -> HOMICV:
        given: dict[str, Any] = {"widths": []} if self.linear else {}
        if self.neighbors is not None:
            given["n_neighbors"] = self.neighbors
        return HOMICV(time_budget=self.time_budget, random_state=self.seed, **given)

    def _tuned(self, model: Any) -> Any:
        if self.tune is None:
            return model
        return TunedThresholds(
            model,
            objective=self.tune.value,
            strategy=self.strategy.value,
            # HOMICV has held-out scores of its own: it is fitted once, not six times.
            cv="own" if isinstance(model, HOMICV) else 5,
            random_state=self.seed,
        )


@dataclass(frozen=True)
class Made:
    """A fitted model, what it was fitted to, and how columns become its rows."""

    model: Any
    rows: Any
    preprocessing: dict[str, Any]


def make(recipe: Recipe, given: Labelled, text: list[str]) -> Made:
    """Fit a model to a file."""
    if given.texts is not None:
        model = recipe.estimator(is_text=True).fit(given.texts, given.Y)
        name_labels(model, given.label_names)
        return Made(model, given.texts, {"text": text})
    columns, X = learnt_rows(recipe, given)
    model = recipe.estimator(is_text=False).fit(X, given.Y)
    name_labels(model, given.label_names)
    if isinstance(X, np.ndarray):
        # So that a data frame of these columns is checked by name in Python.
        inner = model.estimator_ if isinstance(model, TunedThresholds) else model
        inner.feature_names_in_ = np.array(columns.feature_names, dtype=object)
    return Made(model, X, columns.to_json() | {"dropped": given.dropped})


def learnt_rows(recipe: Recipe, given: Labelled) -> tuple[Columns, Any]:
    assert given.features is not None
    columns = Columns.learnt(given.features, recipe.nominal, recipe.missing)
    return columns, columns.rows(given.features)


def fit_and_score(
    recipe: Recipe, given: Labelled, train: Any, test: Any
) -> tuple[Any, Any]:
    """Fit to some rows; the model, and the other rows for it."""
    if given.texts is not None:
        texts = np.array(given.texts, dtype=object)
        model = clone(recipe.estimator(is_text=True))
        return model.fit(texts[train], given.Y[train]), texts[test]
    assert given.features is not None
    table = take_rows(given.features, train)
    columns = Columns.learnt(table, recipe.nominal, recipe.missing)
    model = clone(recipe.estimator(is_text=False))
    model.fit(columns.rows(table), given.Y[train])
    return model, columns.rows(take_rows(given.features, test))


def name_labels(model: Any, names: list[str]) -> None:
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
    """The classifier of a pipeline, or the model itself."""
    return model[-1] if isinstance(model, Pipeline) else model
