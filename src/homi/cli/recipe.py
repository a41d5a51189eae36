"""How `homi fit` and `homi cv` make a model: options -> estimator -> fitted model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import Pipeline

from homi import HOMI, HOMICV
from homi.cli.opened_file import with_file_name
from homi.cli.options import Recipe, TextFeaturesName
from homi.cli.source import LabeledRows, take_rows
from homi.datasets.cache import file_sha256
from homi.io import save
from homi.model.cost import Size, measure_rates, plan
from homi.tables import TableModel, TableVectorizer
from homi.tables.columns import Columns
from homi.tables.vectorizer import MOST_NGRAMS, tries_characters
from homi.thresholds import TunedThresholds
from homi.typing import Fields


def estimator(recipe: Recipe, *, is_text: bool, is_scaled: bool = False) -> Any:
    """Return an unfitted estimator; for texts, a pipeline with TF-IDF first."""
    is_scaled = is_scaled or is_text
    model = _paper(recipe, is_scaled) if recipe.paper else _chosen(recipe)
    if not is_text:
        return _tuned(recipe, model)
    words = TfidfVectorizer(sublinear_tf=True, max_features=recipe.max_words)
    if recipe.paper:  # each fold of the cross-validation has its own vocabulary
        return _tuned(recipe, Pipeline([("words", words), ("model", model)]))
    return Pipeline([("words", words), ("model", _tuned(recipe, model))])


def _paper(recipe: Recipe, is_scaled: bool) -> HOMI:
    # TF-IDF is scaled already: standardized, rare words would outweigh common ones.
    return HOMI(n_neighbors=recipe.neighbors or 10, standardize=not is_scaled)


def _chosen(recipe: Recipe) -> HOMICV:
    given: Fields = {"widths": [], "trees": False} if recipe.linear else {}
    if recipe.neighbors is not None:
        given |= {"n_neighbors": recipe.neighbors, "gammas": None}
    return HOMICV(time_budget=recipe.time_budget, random_state=recipe.seed, **given)


def _tuned(recipe: Recipe, model: Any) -> Any:
    if recipe.tune is None:
        return model
    return TunedThresholds(
        model,
        objective=recipe.tune.value,
        strategy=recipe.strategy.value,
        # HOMICV has cross-validated scores of its own: one fit instead of six.
        cv="own" if isinstance(model, HOMICV) else 5,
        random_state=recipe.seed,
    )


def table_vectorizer(recipe: Recipe) -> TableVectorizer:
    """Return an unfitted transformer of texts beside other columns."""
    return TableVectorizer(
        nominal=recipe.nominal.value,
        missing=recipe.missing.value,
        max_words=recipe.max_words,
        encoder=recipe.encoder,
        text_features=recipe.text_features.value,
    )


def is_mixed(recipe: Recipe, given: LabeledRows) -> bool:
    """Return True if a TableVectorizer makes the features."""
    is_chosen = recipe.encoder is not None or not recipe.paper
    return given.is_mixed or (given.texts is not None and is_chosen)


def fit_columns(recipe: Recipe, given: LabeledRows, rows: Any) -> tuple[Columns, Any]:
    """Fit the preprocessing of feature columns; return it, and the features."""
    assert given.features is not None
    table = take_rows(given.features, rows)
    with with_file_name(given.path):
        columns = Columns.fit(table, recipe.nominal.value, recipe.missing.value)
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
    if is_mixed(recipe, given):
        return _make_mixed(recipe, given)
    if given.texts is not None:
        model = estimator(recipe, is_text=True).fit(given.texts, given.Y)
        name_labels(model, given.label_names)
        return Made(model, None)
    columns, X = fit_columns(recipe, given, slice(None))
    model = estimator(recipe, is_text=False).fit(X, given.Y)
    name_labels(model, given.label_names)
    if isinstance(X, np.ndarray):
        # In Python, a data frame of these columns is then checked by name.
        inner = model.estimator_ if isinstance(model, TunedThresholds) else model
        inner.feature_names_in_ = np.array(columns.feature_names, dtype=object)
    assert given.features is not None
    return Made(model, columns, columns.imputed(given.features))


def _make_mixed(recipe: Recipe, given: LabeledRows) -> Made:
    vectorizer = table_vectorizer(recipe)
    with with_file_name(given.path):
        X = vectorizer.fit_parts(given.found, given.parts, given.found.sources, given.Y)
    model = estimator(recipe, is_text=False, is_scaled=True).fit(X, given.Y)
    name_labels(model, given.label_names)
    pipeline = TableModel([("table", vectorizer), ("model", model)])
    table, columns = given.features, vectorizer.columns_
    imputed = columns.imputed(table) if table and columns else {}
    return Made(pipeline, None, imputed, vectorizer)


#: What the choice of features of texts costs, in fits: measured on python-functions.
_COMPARISON = 0.35


def expected_seconds(recipe: Recipe, given: LabeledRows) -> float | None:
    """Estimate the processor seconds of a fit of HOMICV."""
    if recipe.paper:
        return None
    found = plan(size_of(recipe, given), measure_rates())
    seconds = found.seconds if recipe.linear else found.seconds_with_trees
    compares = recipe.text_features is TextFeaturesName.auto
    more = compares and given.texts is not None and tries_characters(given.texts)
    features = _COMPARISON * seconds if more else 0.0  # has no budget
    return features + min(seconds, recipe.time_budget or float("inf"))


def size_of(recipe: Recipe, given: LabeledRows) -> Size:
    """Return the size of the features that a file becomes, estimated for texts."""
    table, texts, vectors, _ = given.parts
    n, (n_words, stored) = len(given.Y), _text_size(recipe, texts or [])
    n_columns = n_dense = 0
    if table is not None:
        n_columns = sum(len(table.nominal.get(j, " ")) for j in range(len(table.names)))
        n_dense = int(getattr(table.values, "nnz", n * len(table.names)))
    if vectors is not None:
        n_columns, n_dense = n_columns + vectors.shape[1], n_dense + vectors.size
    n_labels = len(given.label_names)
    positives = int((given.Y > 0).sum())
    return Size(n, n_columns + n_words, n_labels, n_dense + stored, positives)


def _text_size(recipe: Recipe, texts: Sequence[str]) -> tuple[int, int]:
    """Return the number of features of texts, and estimate that of values not 0."""
    if not texts:
        return 0, 0
    n_words = recipe.max_words, sum(len(set(text.split())) for text in texts)
    options = (TextFeaturesName.auto, TextFeaturesName.characters)
    if recipe.text_features not in options or not tries_characters(texts):
        return n_words
    # Longer texts repeat more of their n-grams: measured on python-functions.
    n_ngrams = sum(7 * len(text) ** 0.7 for text in texts)
    return n_words[0] + MOST_NGRAMS, n_words[1] + int(n_ngrams)


def write_model(made: Made, given: LabeledRows, output: Path) -> None:
    """Write the model file."""
    digest = file_sha256(given.path)
    data = {"file": given.path.name, "sha256": digest, "rows": len(given.Y)}
    if made.vectorizer is not None:
        preprocessing: Fields = {"dropped": given.dropped, "imputed": made.imputed}
        transformer = None
    elif made.columns is None:
        preprocessing = {"text": given.found.text}
        transformer = None
    else:
        preprocessing = made.columns.to_dict()
        preprocessing |= {"dropped": given.dropped, "imputed": made.imputed}
        transformer = made.columns.transformer
    if given.found.dates and made.vectorizer is None:
        preprocessing["dates"] = given.found.dates
    if given.found.frequent and made.vectorizer is None:
        preprocessing["frequent"] = given.found.frequent
    if given.label_prefix:
        preprocessing["label_prefix"] = given.label_prefix
    if given.tags is not None:
        preprocessing["tags"] = [given.tags.name, given.tags.separator]
    save(
        made.model,
        output,
        preprocessing=preprocessing,
        transformer=transformer,
        provenance={"data": data},
    )


def facts_of(made: Made, given: LabeledRows, output: Path, seconds: float) -> Fields:
    """Return what `homi fit` prints."""
    tuned = last_step(made.model)
    core = last_step(tuned.estimator_ if isinstance(tuned, TunedThresholds) else tuned)
    facts = {
        "output": str(output),
        "bytes": output.stat().st_size,
        "model": type(core).__name__,
        "rows": len(given.Y),
        "features": int(core.n_features_in_),
        "labels": given.label_names,
        "seconds": round(seconds, 3),
    }
    if given.read_as:
        facts["read_as"] = given.read_as
    notes = given.found.notes if made.vectorizer is None else made.vectorizer.notes_
    columns = made.columns if made.vectorizer is None else made.vectorizer.columns_
    if columns is not None:
        kinds, plain = columns.kinds(), {*given.found.plain}  # not parts of dates
        facts["columns"] = {
            kind: [name for name in names if name in plain]
            for kind, names in kinds.items()
        }
    if notes := [*notes, *given.about_labels()]:
        facts["notes"] = notes
    if made.imputed:
        facts["imputed"] = made.imputed
    if isinstance(core, HOMICV):
        facts["chosen"] = core.best_params_
        facts["scoring"], facts["score"] = core._scoring(), core.best_score_
    if isinstance(tuned, TunedThresholds):
        facts["objective"], facts["strategy"] = tuned.objective, tuned.strategy_
        facts["held_out_score"] = tuned.held_out_score_
    return facts


def fit_fold(
    recipe: Recipe, given: LabeledRows, train: NDArray[np.intp], test: NDArray[np.intp]
) -> tuple[Any, Any]:
    """Fit to the training rows of a fold; return the model, and its test rows."""
    if is_mixed(recipe, given):
        vectorizer, found = table_vectorizer(recipe), given.found
        with with_file_name(given.path):
            parts, labels = given.parts.rows(train), given.Y[train]
            X = vectorizer.fit_parts(found, parts, found.sources, labels)
            rows = vectorizer.transform_parts(given.parts.rows(test))
        model = estimator(recipe, is_text=False, is_scaled=True)
        return model.fit(X, given.Y[train]), rows
    if given.texts is not None:
        texts = np.array(given.texts, dtype=object)
        model = clone(estimator(recipe, is_text=True))
        return model.fit(texts[train], given.Y[train]), texts[test]
    columns, X = fit_columns(recipe, given, train)
    model = clone(estimator(recipe, is_text=False)).fit(X, given.Y[train])
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
        model.held_out_labels_["label"] = list(names)


def last_step(model: Any) -> Any:
    """Return the classifier of a pipeline, or the model itself."""
    return model[-1] if isinstance(model, Pipeline) else model
