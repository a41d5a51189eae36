"""A model file, and how rows of a file become features of its model."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from homi.cli.opened_file import EMBEDDINGS, File, listed, with_file_name
from homi.cli.options import TagChoice
from homi.cli.recipe import last_step
from homi.cli.source import read_features, read_labels
from homi.cli.tags import TagColumn, known_tags
from homi.cli.terminal import print_note
from homi.datasets.cache import file_sha256
from homi.datasets.dataset import Table
from homi.io import ModelFile, ModelFileError, load_file
from homi.tables import TableVectorizer
from homi.tables.columns import Column, Columns, text_of_counts, texts
from homi.tables.features import converted, parts_of
from homi.tables.kinds import ORDERS
from homi.thresholds import TunedThresholds
from homi.thresholds.scores import label_scores
from homi.typing import Matrix
from homi.verdict import predicted_labels


@dataclass(frozen=True)
class LoadedModel:
    """A model with the names of its labels, and the preprocessing of its rows.

    Label columns of files are named by the prefix of --labels 'tag_*' and the label.
    """

    path: Path
    model: Any
    label_names: list[str]
    columns: Columns | None
    text: list[str]
    dropped: list[str]
    tags: TagColumn | None = None
    dates: dict[str, str] = field(default_factory=dict)
    frequent: dict[str, list[str]] = field(default_factory=dict)
    vectorizer: TableVectorizer | None = None
    label_prefix: str = ""
    fitted_to: str = ""

    def was_fitted_to(self, path: Path) -> bool:
        """Return True for the file that homi fit was given."""
        return path.is_file() and file_sha256(path) == self.fitted_to

    @property
    def label_columns(self) -> list[str]:
        """Names of the label columns of a file."""
        return [self.label_prefix + name for name in self.label_names]

    def rows(self, file: File, *, quiet: bool) -> Any:
        """Return the rows of a file; columns are matched by name, in any order."""
        if about := file.dialect.about:
            print_note(f"Note: {file.path} is read as: {about}.", quiet=quiet)
        rows = self._rows(file, quiet=quiet)
        _check_rows(len(rows) if isinstance(rows, list) else rows.shape[0], file)
        return rows

    def _rows(self, file: File, *, quiet: bool) -> Matrix:
        if self.vectorizer is not None:
            return self._vectorized(self.vectorizer, file, quiet=quiet)
        if self.text:
            return file.texts(self.text)
        if self.columns is None:
            return self._by_position(file)
        special = [*self.dates, *self.frequent]
        if lost := [name for name in special if name not in file.names]:
            raise ValueError(
                f"{file.path} lacks the column(s) {listed(lost)}; add them."
            )
        with with_file_name(file.path):
            file = converted(file, self.dates, self.frequent)
        known = [*self._columns_of_labels, *self.dropped]
        table, unknown = read_features(file, self.columns.names, known)
        _tell_unknown(unknown, file, quiet=quiet)
        _check_rows(table.values.shape[0], file)
        with with_file_name(file.path):
            _tell_imputed(self.columns, table, quiet=quiet)
            return self.columns.transform(table)

    def _vectorized(
        self, vectorizer: TableVectorizer, file: File, *, quiet: bool
    ) -> Matrix:
        """Return the features of texts beside other columns."""
        found, known = vectorizer.features_, [*self._columns_of_labels, *self.dropped]
        found = replace(found, text=self.text)
        ours = {*found.sources, *known, *found.left_out}
        unknown = [name for name in file.names if name not in ours]
        _tell_unknown(unknown, file, quiet=quiet)
        with with_file_name(file.path):
            if EMBEDDINGS in found.vectors and EMBEDDINGS not in file.names:
                raise ValueError(
                    f"{self.path} was fitted with --embeddings; pass those of the rows."
                )
            parts = parts_of(file, found)
            _check_rows(parts.n_rows, file)
            if vectorizer.columns_ is not None and parts.table is not None:
                _tell_imputed(vectorizer.columns_, parts.table, quiet=quiet)
            X = vectorizer.transform_parts(parts)
        _tell_no_words(vectorizer.n_words(X), quiet=quiet)
        return X

    def _by_position(self, file: File) -> Any:
        """Return all columns but the labels, for a model without feature names."""
        labels = {*self._columns_of_labels}
        rest = [j for j, name in enumerate(file.names) if name not in labels]
        wanted = int(self.model.n_features_in_)
        if len(rest) != wanted:
            raise ValueError(
                f"{file.path} has {len(rest)} columns besides the labels, and the "
                f"model, which has no feature names, takes {wanted}; give these."
            )
        table = file.take(rest)
        with with_file_name(file.path):
            return Columns.fit(table, "codes", "error").transform(table)

    @property
    def _columns_of_labels(self) -> list[str]:
        return [*self.label_columns, *([self.tags.name] if self.tags else [])]

    def has_labels(self, file: File, choice: TagChoice) -> bool:
        """Return True if a file has the column of tags, or all label columns."""
        column = self._tag_column(file, choice)
        stated = [] if file.stated is None else file.stated.names
        wanted = self.label_columns if column is None else [column]
        return {*wanted} <= {*file.names, *stated}

    def _tag_column(self, file: File, choice: TagChoice) -> str | None:
        """Return the name of the column of tags; None for columns of 0 and 1."""
        if choice.tags or self.tags is None:
            return choice.tags
        has_columns = {*self.label_columns} <= {*file.names}
        is_there = self.tags.name in file.names
        return None if has_columns and not is_there else self.tags.name

    def labels(
        self, file: File, choice: TagChoice, *, quiet: bool
    ) -> NDArray[np.signedinteger]:
        """Return the labels of rows: known tags, or columns of 0 and 1."""
        name = self._tag_column(file, choice)
        if name is None or file.stated is not None:
            return read_labels(file, self.label_columns)
        with with_file_name(file.path):
            cells = file.texts([name])
            column = TagColumn.of(name, cells, choice.tag_sep)
            if choice.tag_sep is None and self.tags and not choice.tags:
                column = self.tags.written_in(cells, self.label_names)
            rows = column.rows(cells, file.budget)
            Y, unknown = known_tags(rows, self.label_names, file.budget)
        if unknown:
            print_note(
                f"Note: {len(unknown)} tag(s) of {file.path} are unknown to the model "
                f"and not measured: {listed(unknown)}.",
                quiet=quiet,
            )
        return Y

    def scores(self, X: Matrix) -> NDArray[np.float64]:
        """Return scores that rank labels."""
        return label_scores(self.model, X, len(self.label_names))

    def with_known(self, X: Any) -> tuple[Any, Any]:
        """Return the classifier that takes known labels, and its rows."""
        model = self.model
        if isinstance(model, Pipeline):
            X, model = model[:-1].transform(X), model[-1]
        inner = model
        if isinstance(model, TunedThresholds):
            inner = last_step(model.estimator_)
        if getattr(inner, "joint_model_", None) is None:
            raise ValueError(
                f"{self.path} has no joint model of its labels, so known ones tell it "
                "nothing; fit it again by homi fit without --paper."
            )
        return model, X

    def decisions(self, X: Matrix) -> NDArray[np.float64]:
        """Return scores that are above 0 where a label is predicted."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = self.model.decision_function(X)
        decisions = np.reshape(found, (-1, len(self.label_names)))
        bad = np.flatnonzero(~np.isfinite(decisions).all(axis=1))
        if len(bad):
            raise ValueError(
                f"scores of {len(bad)} row(s) are NaN or infinite, first of row "
                f"{bad[0]}, counted from 0: its values are too large for the model; "
                "correct or remove such rows."
            )
        return decisions

    def predictions(self, X: Matrix) -> NDArray[np.signedinteger]:
        """Return 1 where a label is predicted, else 0."""
        return predicted_labels(self.model, X, len(self.label_names)).astype(np.int8)


def _tell_unknown(unknown: list[str], file: File, *, quiet: bool) -> None:
    if unknown:
        print_note(
            f"Note: {len(unknown)} column(s) of {file.path} are unknown to the model "
            f"and ignored: {listed(unknown)}.",
            quiet=quiet,
        )


def _tell_imputed(columns: Columns, table: Table, *, quiet: bool) -> None:
    if imputed := columns.imputed(table):
        print_note(
            "Note: missing values and unknown words were imputed: "
            f"{text_of_counts(imputed)}.",
            quiet=quiet,
        )


def _tell_no_words(n_words: NDArray[np.intp] | None, *, quiet: bool) -> None:
    if n_words is not None and (count := int((n_words == 0).sum())):
        print_note(
            f"Note: the texts of {count} row(s) have no word that the model knows; it "
            "predicts these rows without them.",
            quiet=quiet,
        )


def _check_rows(count: int, file: File) -> None:
    if not count:
        raise ValueError(f"{file.path} has no rows; give a file with one or more.")


def load_for_rows(path: Path, text: list[str] | None = None) -> LoadedModel:
    """Load a model file, and check what it says about its columns."""
    found = load_file(path)
    classifier = last_step(found.model)
    if not hasattr(classifier, "label_names_"):
        raise ModelFileError(f"{path} holds no classifier; give what homi fit wrote.")
    names = [str(name) for name in classifier.label_names_]
    inner, vectorizer = found.model, None
    if isinstance(inner, Pipeline) and isinstance(inner[0], TableVectorizer):
        vectorizer, inner = inner[0], _rest(inner)
        found = replace(found, model=inner)
    inner = inner.estimator_ if isinstance(inner, TunedThresholds) else inner
    try:
        given = text or texts(found.preprocessing.get("text", []))
        dropped = texts(found.preprocessing.get("dropped", []))
        columns = _columns(found, inner)
        tags = TagColumn.restore(found.preprocessing.get("tags"))
        dates = _dates(found.preprocessing.get("dates", {}))
        frequent = found.preprocessing.get("frequent", {})
        frequent = {name: texts(words) for name, words in frequent.items()}
        (prefix,) = texts([found.preprocessing.get("label_prefix", "")])
        (sha256,) = texts([found.provenance.get("data", {}).get("sha256", "")])
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise ModelFileError(
            f"{path} is refused: what it says of its columns makes no sense."
        ) from error
    if vectorizer is not None:
        columns, fitted_to = None, vectorizer.features_.text
        if text and not fitted_to:
            raise ValueError(f"{path} is not a model of texts; omit --text.")
        given = text or fitted_to
    elif isinstance(inner, Pipeline) and not given:
        raise ValueError(f"{path} is a model of texts; pass --text with their column.")
    elif given and not isinstance(inner, Pipeline):
        raise ValueError(f"{path} is not a model of texts; omit --text.")
    if columns and len(columns.feature_names) != inner.n_features_in_:
        raise ModelFileError(
            f"{path} is refused: its columns are not those of its model."
        )
    about = (given, dropped, tags, dates, frequent, vectorizer, prefix, sha256)
    return LoadedModel(path, found.model, names, columns, *about)


def _rest(pipeline: Pipeline) -> Any:
    """Return a pipeline without its first step."""
    return pipeline[-1] if len(pipeline) == 2 else pipeline[1:]


def _dates(found: dict[str, str]) -> dict[str, str]:
    """Return the orders of dates of a model file; nonsense is a ValueError."""
    if any(order not in ORDERS for order in found.values()):
        raise ValueError("unknown order of dates")
    return {**found}


def _columns(found: ModelFile, model: Any) -> Columns | None:
    """Return the preprocessing that a model file holds, or that a model implies."""
    known = found.preprocessing
    if "columns" not in known:
        # Fitted in Python: a data frame gave it the names of its features.
        names = getattr(model, "feature_names_in_", None)
        if names is None or isinstance(model, Pipeline):
            return None
        return Columns([Column(str(name)) for name in names], "codes", "error")
    if any(len(column) == 3 for column in known["columns"]):
        is_sparse = not hasattr(model, "feature_names_in_")  # as homi fit left them
        return Columns.restore_format_1(known, is_sparse=is_sparse)
    return Columns.restore(known, found.transformer)
