"""A model file and a file of rows -> what the model says of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from homi.cli.build import last_step
from homi.cli.columns import Column, Columns, texts
from homi.cli.guard import say
from homi.cli.source import File, listed, read_features
from homi.io import ModelFileError, load_file
from homi.thresholds import TunedThresholds
from homi.thresholds.scores import label_scores
from homi.verdict import predicted_labels


@dataclass(frozen=True)
class Loaded:
    """A model with the names of its labels, and how rows are made for it."""

    path: Path
    model: Any
    label_names: list[str]
    columns: Columns | None
    text: list[str]
    dropped: list[str]

    def rows(self, file: File, *, quiet: bool) -> Any:
        """Rows of a file, at least one; columns are found by name in any order."""
        rows = self._rows(file, quiet=quiet)
        if not (len(rows) if isinstance(rows, list) else rows.shape[0]):
            raise ValueError(f"{file.path} has no rows; give a file with one or more.")
        return rows

    def _rows(self, file: File, *, quiet: bool) -> Any:
        if self.text:
            return file.texts(self.text)
        if self.columns is None:
            return self._by_position(file)
        names = self.columns.names
        known = [*self.label_names, *self.dropped]
        table, unknown = read_features(file, names, known)
        if unknown:
            say(
                f"Note: {len(unknown)} column(s) of {file.path} are unknown to the "
                f"model and left out: {listed(unknown)}.",
                quiet=quiet,
            )
        try:
            return self.columns.rows(table)
        except ValueError as error:
            raise ValueError(f"{file.path}: {error}") from error

    def _by_position(self, file: File) -> Any:
        """Of a model that was saved without names: all columns but the labels."""
        labels = {*self.label_names}
        rest = [j for j, name in enumerate(file.names) if name not in labels]
        wanted = int(self.model.n_features_in_)
        if len(rest) != wanted:
            raise ValueError(
                f"{file.path} has {len(rest)} columns besides the labels, and the "
                f"model, which knows no names, takes {wanted}; give these."
            )
        table = file.take(rest)
        return Columns.learnt(table, "codes", "error").rows(table)

    def scores(self, X: Any) -> Any:
        """Scores as rankings take them."""
        return label_scores(self.model, X, len(self.label_names))

    def decisions(self, X: Any) -> Any:
        """Scores as thresholds take them: above 0 where a label is predicted."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = self.model.decision_function(X)
        decisions = np.reshape(found, (-1, len(self.label_names)))
        bad = np.flatnonzero(~np.isfinite(decisions).all(axis=1))
        if len(bad):
            raise ValueError(
                f"scores of {len(bad)} row(s) are NaN or infinite, first of row "
                f"{bad[0]}, counted from 0: its values are too large for the model; "
                "correct or leave out such rows."
            )
        return decisions

    def predictions(self, X: Any) -> Any:
        return predicted_labels(self.model, X, len(self.label_names)).astype("int8")


def load_for_rows(path: Path, text: list[str] | None = None) -> Loaded:
    """Load a model file; what it says of columns is checked here."""
    found = load_file(path)
    known = found.preprocessing
    if not hasattr(last_step(found.model), "label_names_"):
        raise ModelFileError(f"{path} holds no classifier; give what homi fit wrote.")
    names = [str(name) for name in last_step(found.model).label_names_]
    try:
        given = text or texts(known.get("text", []))
        dropped = texts(known.get("dropped", []))
        columns = Columns.from_json(known) if "columns" in known else None
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFileError(
            f"{path} is refused: what it says of its columns makes no sense."
        ) from error
    if columns is None and not given:
        columns = _named(found.model)
    inner = found.model
    inner = inner.estimator_ if isinstance(inner, TunedThresholds) else inner
    if isinstance(inner, Pipeline) and not given:
        raise ValueError(f"{path} is a model of texts; pass --text with their column.")
    if given and not isinstance(inner, Pipeline):
        raise ValueError(f"{path} is no model of texts; omit --text.")
    if columns and len(columns.feature_names) != inner.n_features_in_:
        raise ModelFileError(
            f"{path} is refused: its columns are not those of its model."
        )
    return Loaded(path, found.model, names, columns, given, dropped)


def _named(model: Any) -> Columns | None:
    """Columns of a model that was fitted in Python on a data frame."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return None
    return Columns([Column(str(name)) for name in names], "codes", "error")
