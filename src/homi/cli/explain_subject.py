"""What `homi explain` explains: a model, data to show beside it, and one row.

The model comes from a model file, or is fitted to a data set.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline

from homi.budget import Budget
from homi.cli.loaded_model import LoadedModel, load_for_rows
from homi.cli.opened_file import File, open_file, with_file_name
from homi.cli.options import TagChoice
from homi.cli.recipe import name_labels
from homi.cli.source import common_prefix
from homi.datasets.dataset import Dataset
from homi.datasets.files import split_name
from homi.datasets.load import load
from homi.datasets.read import TABLES, parser, read
from homi.estimators import HOMI, HOMICV
from homi.explorer import Facts, OtherModel, facts
from homi.tables import TableVectorizer
from homi.thresholds import TunedThresholds
from homi.typing import Fields, Matrix

#: Numbers of an audit.
_KINDS = {"row": int, "given": int, "probability": float, "score": float}

#: Columns that name a row, and columns to show beside its text.
_NAMES = ("name", "title", "id")
_SHOWN = ("url", "link", "path", "file", "image", "text")


class Wanted(NamedTuple):
    """A row to explain, and its labels if they are known."""

    features: Any
    labels: Any
    name: str


class Subject(NamedTuple):
    """A model and the data shown beside it; X and Y are None without data."""

    model: Any
    label_names: list[str]
    feature_names: list[str]
    X: Matrix = None
    Y: Matrix = None
    test: Dataset | None = None
    wanted: Wanted | None = None
    names: list[str] | None = None
    texts: list[str] | None = None
    audit: Fields | None = None
    other: OtherModel | None = None
    label_prefix: str = ""
    vectorizer: TableVectorizer | None = None

    def facts(self) -> Facts:
        """Compute what the page shows."""
        test, wanted = self.test, self.wanted
        found = facts(
            self.model,
            self.X,
            self.Y,
            X_test=None if test is None else test.X,
            y_test=None if test is None else test.Y,
            rows=None if wanted is None else wanted.features,
            row_labels=None if wanted is None else wanted.labels,
            row_names=self.names if wanted is None else [wanted.name],
            row_texts=self.texts if wanted is None else None,
            audit=self.audit,
            other=self.other,
            label_names=self.label_names,
            feature_names=self.feature_names or None,
        )
        if self.vectorizer is None:
            return found
        # As the columns of the file have them; the model takes scaled ones.
        unscaled = self.vectorizer.unscaled
        rows = [replace(row, values=unscaled(row.values)) for row in found.rows]
        return replace(found, rows=rows)


def is_model_file(path: Path) -> bool:
    """Return True if a file begins like a model file: header length, then JSON."""
    try:
        with path.open("rb") as file:
            return path.suffix == ".homi" or file.read(9)[8:] == b"{"
    except OSError:
        return path.suffix == ".homi"


def of_model_file(
    path: Path,
    data: Path | None,
    rows: Path | None,
    row: int | None,
    choice: TagChoice,
    *,
    quiet: bool,
) -> Subject:
    """Return a model of a file, with labeled data beside it if there are any."""
    loaded = load_for_rows(path)
    subject = Subject(loaded.model, loaded.label_names, _feature_names(loaded))
    subject = subject._replace(
        label_prefix=loaded.label_prefix, vectorizer=loaded.vectorizer
    )
    if data is not None:
        opened = open_file(data)
        X = loaded.rows(opened, quiet=quiet)
        Y = loaded.labels(opened, choice, quiet=quiet)
        names, texts = _row_names(opened, loaded), _texts(opened, loaded)
        subject = subject._replace(X=X, Y=Y, names=names, texts=texts)
    if row is not None:
        place = rows or data
        if place is None:
            raise ValueError(
                f"--row {row} of what? Give the file of the row after the model."
            )
        opened = open_file(place)
        X = loaded.rows(opened, quiet=quiet)
        n = len(X) if isinstance(X, list) else X.shape[0]
        _check_row(row, n, place.name)
        known = _labels_if_there(opened, loaded, choice, row)
        one = [X[row]] if isinstance(X, list) else X[[row]]
        wanted = Wanted(one, known, f"row {row} of {place.name}")
        subject = subject._replace(wanted=wanted)
    return subject


def with_other(subject: Subject, paths: list[Path], data: Path) -> Subject:
    """Add a second model file, with the rows of the data as it takes them."""
    loaded = load_for_rows(paths[1])
    names = (paths[0].name, paths[1].name)
    if names[0] == names[1]:
        names = (str(paths[0]), str(paths[1]))
    X = loaded.rows(open_file(data), quiet=True)
    prefix = subject.label_prefix  # a model fitted in Python may have it
    name_labels(loaded.model, [n.removeprefix(prefix) for n in loaded.label_names])
    return subject._replace(other=OtherModel(loaded.model, names, X))


def read_audit(path: Path) -> Fields:
    """Read the columns of a table that `homi audit` wrote."""
    file = open_file(path)
    with with_file_name(path):
        columns: Fields = {
            name: file.texts([name])
            for name in ("row", "label", "given", "probability", "score", "reason")
        }
        for name, kind in _KINDS.items():
            columns[name] = [kind(cell) for cell in columns[name]]
    return columns


def _row_names(file: File, loaded: LoadedModel) -> list[str] | None:
    """Return the column that names the rows, if there is one: "id 17" for a number."""
    unused = {n.lower(): n for n in _unused(file, loaded)}
    for column in (unused[name] for name in _NAMES if name in unused):
        names = file.texts([column])
        if all(names):
            return [f"{column} {n}" if n.isdigit() else n for n in names]
    return None


def _texts(file: File, loaded: LoadedModel) -> list[str] | None:
    """Return links, paths and texts of the rows, as far as there are any."""
    unused = {n.lower(): n for n in _unused(file, loaded)}
    shown = [unused[name] for name in _SHOWN if name in unused]
    columns = [file.texts([name]) for name in (*shown, *loaded.text)]
    rows = zip(*columns, strict=True)
    return [" · ".join(filter(None, row)) for row in rows] if columns else None


def _unused(file: File, loaded: LoadedModel) -> list[str]:
    """Return the columns that are neither labels nor features."""
    features = [] if loaded.columns is None else loaded.columns.names
    known = {*loaded.label_columns, *features, *loaded.text}
    return [] if file.raw is None else [n for n in file.names if n not in known]


def _feature_names(loaded: LoadedModel) -> list[str]:
    model = loaded.model
    if loaded.vectorizer is not None:
        return [str(name) for name in loaded.vectorizer.get_feature_names_out()]
    model = model.estimator_ if isinstance(model, TunedThresholds) else model
    if isinstance(model, Pipeline):
        return [str(name) for name in model[:-1].get_feature_names_out()]
    return [] if loaded.columns is None else list(loaded.columns.feature_names)


def _labels_if_there(
    file: File, loaded: LoadedModel, choice: TagChoice, row: int
) -> Any:
    if not loaded.has_labels(file, choice):
        return None
    return loaded.labels(file, choice, quiet=True)[[row]]


def of_data(
    data: str,
    *,
    labels: str | None,
    model: HOMI | HOMICV,
    rows: Path | None,
    row: int | None,
    hold_out: float,
    seed: int,
) -> Subject:
    """Return an unfitted model and a data set to fit it to, with a test split."""
    whole = read(data, labels) if Path(data).is_file() else load(data)
    kept, test = _split(whole, hold_out, seed)
    wanted = None if row is None else _wanted(whole, rows, row)
    prefix = common_prefix([labels or ""], kept.label_names)
    names = [name.removeprefix(prefix) for name in kept.label_names]
    return Subject(model, names, kept.feature_names, kept.X, kept.Y, test, wanted)


def _split(data: Dataset, share: float, seed: int) -> tuple[Dataset, Dataset | None]:
    if not share:
        return data, None
    kept, held = train_test_split(
        np.arange(len(data.Y)), test_size=share, random_state=seed
    )
    kept.sort()
    rest = data._replace(X=data.X[kept], Y=data.Y[kept])
    return rest, data._replace(X=data.X[held], Y=data.Y[held])


def _wanted(data: Dataset, file: Path | None, row: int) -> Wanted:
    found, place = (
        (data, "the data") if file is None else (_like(data, file), file.name)
    )
    _check_row(row, len(found.Y), place)
    known = found.Y.shape[1] == len(data.label_names)
    name = f"row {row}" if file is None else f"row {row} of {file.name}"
    return Wanted(found.X[[row]], found.Y[[row]] if known else None, name)


def _like(data: Dataset, file: Path) -> Dataset:
    """Read a file with the same features in any order, with or without labels."""
    found = _rows_of(file, data.label_names)
    at = {name: f for f, name in enumerate(found.feature_names)}
    if lost := [name for name in data.feature_names if name not in at]:
        raise ValueError(
            f"{file} lacks {len(lost)} of the features that the model was fitted to, "
            f"such as {lost[0]!r}; it needs all of them, by the same names."
        )
    order = [at[name] for name in data.feature_names]
    return found._replace(X=found.X[:, order], feature_names=data.feature_names)


def _rows_of(file: Path, label_names: list[str]) -> Dataset:
    """Read rows: tables may lack the labels, other formats state them."""
    if split_name(file)[1] not in TABLES:
        return read(file)
    if not file.is_file():
        raise FileNotFoundError(f"there is no file {file}.")
    table = parser(file)(file, Budget.of(file)).table
    if set(label_names) <= set(table.names):
        return read(file, label_names)
    numbers = [j for j in range(len(table.names)) if j not in table.nominal]
    table = table.take(numbers)
    nothing = np.zeros((len(table.values), 0), dtype=np.int8)
    return Dataset(table.values, nothing, table.names, [])


def _check_row(row: int, n: int, place: str) -> None:
    if row >= n:
        raise ValueError(
            f"there is no row {row} in {place}: it has {n}, counted from 0; pass "
            f"--row {n - 1} or less."
        )
