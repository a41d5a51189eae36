"""Rows of input files: features, labels and texts."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from homi.arrays import dense
from homi.budget import Budget
from homi.cli.opened_file import File, listed, open_file, with_file_name
from homi.cli.options import ColumnChoice
from homi.cli.tags import TagColumn, are_tags, known_tags
from homi.datasets.dataset import Table
from homi.datasets.files import short, split_name
from homi.datasets.labels import chosen_columns, indicators
from homi.datasets.plain_csv import UnequalRows
from homi.datasets.sniff import sniff
from homi.tables.features import Features, TableParts, find_features, parts_of

#: Columns that an error explains, and minimum rows of a useful model.
_LISTED, _FEW = 8, 20


@dataclass(frozen=True)
class LabeledRows:
    """Rows of a training file: columns of features by their kind, and labels.

    Names of labels are those of their columns without the prefix of --labels 'tag_*'.
    """

    path: Path
    parts: TableParts
    Y: NDArray[np.signedinteger]
    label_names: list[str]
    dropped: list[str]
    tags: TagColumn | None = None
    found: Features = field(default_factory=Features)
    read_as: str = ""
    label_prefix: str = ""

    @property
    def label_columns(self) -> list[str]:
        """Names of the label columns in the file."""
        return [self.label_prefix + name for name in self.label_names]

    @property
    def features(self) -> Table | None:
        """Columns of numbers and words."""
        return self.parts.table

    @property
    def texts(self) -> list[str] | None:
        """One text per row."""
        return self.parts.texts

    @property
    def is_mixed(self) -> bool:
        """True if there are vectors, or texts beside other columns."""
        table, texts, vectors, _ = self.parts
        return vectors is not None or (table is not None and texts is not None)

    def about_labels(self) -> Iterator[str]:
        """Yield notes on labels that may surprise a user."""
        counts, n_rows = self.Y.sum(axis=0), len(self.Y)
        if self.tags is not None:
            between = self.tags.about_separator
            several = "one tag" if len(counts) == 1 else f"{len(counts)} different ones"
            empty = int((self.Y.sum(axis=1) == 0).sum())
            none = f", none in {empty} of {n_rows} rows" if empty else ""
            yield (
                f"Tags in {short(self.tags.name)}, {between}: {several}, "
                f"{counts.sum() / n_rows:.2g} per row{none}."
            )
            if self.Y.sum(axis=1).max() < 2 and are_tags(self.label_names, " "):
                yield (
                    "No row has two tags; if spaces separate them, pass --tag-sep ' '."
                )
        if alike := _alike(self.label_names):
            yield f"Different labels, although only their case differs: {alike}."
        for count, who in ((0, "No row"), (n_rows, "Every row")):
            if same := [self.label_names[j] for j in np.flatnonzero(counts == count)]:
                yield f"{who} has {listed(same)}, of which nothing can be learned."
        if n_rows < _FEW:
            yield f"Fewer than {_FEW} rows tell little; add rows."


def _alike(names: list[str]) -> str:
    """Return names that are equal but for their case."""
    by_case: dict[str, list[str]] = {}
    for name in names:
        by_case.setdefault(name.casefold(), []).append(name)
    return listed([name for same in by_case.values() if same[1:] for name in same])


def input_files(file: Path, choice: ColumnChoice) -> list[Path]:
    """Return a training file, and the files that may name its labels."""
    beside = file.parent / f"{split_name(file)[0]}.xml"  # what ARFF files may have
    return [file, beside, *map(Path, choice.labels or [])]


def read_rows(file: Path, choice: ColumnChoice) -> LabeledRows:
    """Read the rows of a training file."""
    try:
        opened = open_file(file)
    except ValueError as error:
        if not isinstance(error.__cause__, UnequalRows):
            raise
        raise ValueError(_lines_and_columns(file, choice, error.__cause__)) from error
    opened = opened.with_embeddings(choice.embeddings)
    return replace(read_labeled(opened, choice), read_as=opened.dialect.about)


def read_labeled(file: File, choice: ColumnChoice) -> LabeledRows:
    """Return features and labels of a training file.

    Columns that are neither labels nor dropped are features. An error names all columns
    that cannot be read, and the command that ignores them.
    """
    try:
        return _read_labeled(file, choice)
    except ValueError as error:
        bad: dict[str, str] = {}
        with suppress(ValueError):  # the error names them
            bad = unreadable_columns(file, choice)
        command = shlex.join(["homi", *sys.argv[1:], *_drops(bad)])
        if len(bad) < 2:
            is_feature = any(reason.startswith("column") for reason in bad.values())
            if not is_feature or " --" in str(error):  # else it says what to do
                raise
            raise ValueError(
                f"{error} Ignore this column by `{command}`, or correct it."
            ) from error
        raise ValueError(
            f"{file.path}: {_about(bad)} Ignore them by `{command}`, or correct them."
        ) from error


def _about(bad: dict[str, str]) -> str:
    """Return why columns cannot be read."""
    reasons = "; ".join(reason.rstrip(".") for reason in [*bad.values()][:_LISTED])
    more = f"; and {len(bad) - _LISTED} more" if len(bad) > _LISTED else ""
    count = f"{len(bad)} columns" if len(bad) > 1 else "1 column"
    return f"{count} cannot be read: {reasons}{more}."


def _drops(bad: dict[str, str]) -> list[str]:
    return [word for name in bad for word in ("--drop", name)]


def _lines_and_columns(path: Path, choice: ColumnChoice, found: UnequalRows) -> str:
    """Return an error about lines, and about columns that the other lines show."""
    dialect, bad = sniff(path, Budget.of(path)), {}
    with suppress(ValueError):  # another error, which comes when these are corrected
        names, columns = found.others
        rest = File(path, names, columns, budget=Budget.of(path), dialect=dialect)
        bad = unreadable_columns(rest, choice)
    about = f"{path}: {found}{'' if str(found).endswith('.') else '.'}"
    if bad:
        about += f" Also, {_about(bad)}"
    stem, _, packing = split_name(path)
    whole = found.count == len(found.lines) and found.is_one_each
    if packing or not whole or dialect.encoding.startswith("utf-16"):
        return f"{about} Correct them, or leave them out."
    copy = path.with_name(f"{stem}-equal{path.suffix}")
    lines = shlex.join(["sed", "".join(f"{line}d;" for line in found.lines), str(path)])
    words = [str(copy) if word == str(path) else word for word in sys.argv[1:]]
    again = shlex.join(["homi", *words, *_drops(bad)])
    copied = shlex.quote(str(copy))
    return (
        f"{about} Leave them out by `{lines} > {copied} && {again}`, or correct them."
    )


def unreadable_columns(file: File, choice: ColumnChoice) -> dict[str, str]:
    """Return why each label column, or column of numbers and words, is refused."""
    if file.raw is None:
        return {}
    dropped, given = file.matching(choice.drop or []), choice.labels or []
    labels = {j for one in given for j in chosen_columns(file.names, one)}
    tags = {file.position(choice.tags)} if choice.tags else set()
    others = {*range(len(file.names))} - dropped - labels - tags
    rest, bad = [], {}
    for name in (file.names[j] for j in sorted(others)):
        try:
            file.vectors(name)
        except ValueError as error:
            bad[name] = str(error)
        else:
            rest.append(name)
    found = find_features(file, rest, choice.text or [])
    plain = {*found.names} & {*rest} - {*found.frequent}
    for j, name in enumerate(file.names):
        try:
            if j in labels - dropped:
                indicators(file.take([j]))
            elif name in plain:
                file.take([j])
        except ValueError as error:
            bad[name] = str(error)
    return bad


def _read_labeled(file: File, choice: ColumnChoice) -> LabeledRows:
    with with_file_name(file.path):
        dropped = file.matching(choice.drop or [])
        chosen, Y, label_names, tags = _labels(file, choice, dropped)
        _check_texts(file, chosen, choice.text or [])
        rest = sorted({*range(len(file.names))} - chosen - dropped)
        if not rest and not choice.text:
            raise ValueError(
                f"no feature column is left: {len(chosen)} of {len(file.names)} "
                f"columns are labels and --drop ignores {len(dropped)}; drop fewer."
            )
        if not len(Y):
            raise ValueError("has no rows; give a file with one or more.")
        found = Features([file.names[j] for j in rest])
        if file.raw is not None:
            found = find_features(file, found.names, choice.text or [])
        names = [*(file.names[j] for j in sorted(dropped)), *found.left_out]
        parts = parts_of(file, found)
        prefix = common_prefix(choice.labels or [], label_names)
        shown = [name.removeprefix(prefix) for name in label_names]
        rows = LabeledRows(file.path, parts, Y, shown, names, tags)
        return replace(rows, found=found, label_prefix=prefix)


def common_prefix(patterns: list[str], names: list[str]) -> str:
    """Return what one pattern such as 'tag_*' puts before each name; may be empty.

    Examples
    --------
    >>> common_prefix(["tag_*"], ["tag_red", "tag_blue"])
    'tag_'
    >>> common_prefix(["tag_*"], ["tag_"]), common_prefix(["tag*"], ["tag_red"])
    ('', '')
    """
    # A separator ends a prefix: the s of the pattern s* is part of the names.
    if len(patterns) != 1 or not re.fullmatch(r".*[\W_]\*", patterns[0]):
        return ""
    prefix = patterns[0][:-1]
    is_one = all(name.startswith(prefix) and name != prefix for name in names)
    return prefix if is_one else ""


def _check_texts(file: File, labels: set[int], text: list[str]) -> None:
    """Refuse a label as a text: the model would read what it has to predict."""
    stated = [] if file.stated is None else file.stated.names
    for name in text:
        if name in stated or file.position(name) in labels:
            raise ValueError(
                f"column {short(name)} is a label, so it cannot be a text; name "
                "another column by --text, or fewer by --labels."
            )


#: Label columns, indicator matrix, names of labels, and the column of tags.
_Labels = tuple[set[int], NDArray[np.signedinteger], list[str], TagColumn | None]


def _labels(file: File, choice: ColumnChoice, dropped: set[int]) -> _Labels:
    if choice.tags:
        return _tags(file, choice.tags, choice.tag_sep)
    chosen, table = _label_columns(file, choice.labels or [], dropped)
    return chosen, indicators(table), table.names, None


def _tags(file: File, name: str, separator: str | None) -> _Labels:
    if file.stated is not None:
        raise ValueError("this format states its labels itself; omit --tags.")
    position, cells = file.position(name), file.texts([name])
    if not cells:
        raise ValueError("has no rows; give a file with one or more.")
    column = TagColumn.of(name, cells, separator)
    rows = column.rows(cells, file.budget)
    names = sorted(set(chain.from_iterable(rows)))
    if not names:
        raise ValueError(f"column {short(name)} holds no tag; name another by --tags.")
    return {position}, known_tags(rows, names, file.budget)[0], names, column


def _label_columns(
    file: File, labels: list[str], dropped: set[int]
) -> tuple[set[int], Table]:
    if file.stated is not None:
        if labels:
            raise ValueError("this format states its labels itself; omit --labels.")
        return set(), file.stated
    if not labels and file.said is None:
        raise ValueError(
            "nothing says which columns are labels; pass --labels 'tag_*', 'last 6', "
            "a name, or a Mulan .xml file, once or more often"
            f"{_or_tags(file, range(len(file.names)))}."
        )
    wanted: list[Any] = [*labels] or [file.said]
    chosen = {j for one in wanted for j in chosen_columns(file.names, one)} - dropped
    if found := _or_tags(file, sorted(chosen)):
        raise ValueError(f"a label column must hold 0 and 1{found}.")
    return chosen, file.take(sorted(chosen))


def _or_tags(file: File, columns: Iterable[int]) -> str:
    """Return advice to pass --tags if one of the columns holds tags."""
    for j in columns:
        name = file.names[j]
        cells = file.first_strings(name)
        if are_tags(cells):
            return (
                f"; column {short(name)} holds tags, such as "
                f"{short(max(cells, key=len))}: pass --tags {shlex.quote(name)}"
            )
    return ""


def read_features(
    file: File, names: list[str], known: list[str]
) -> tuple[Table, list[str]]:
    """Return the named columns in this order, and names of columns not `known`."""
    place = {name: j for j, name in enumerate(file.names)}
    missing = [name for name in names if name not in place]
    ours = {*names, *known}
    unknown = [name for name in file.names if name not in ours]
    with with_file_name(file.path):
        if missing and file.leaves_out_zeros and file.table is not None:
            return _with_zeros(file.table, names, place), unknown
        if missing:
            raise ValueError(
                f"lacks {len(missing)} of the {len(names)} columns that the model was "
                f"fitted on: {listed(missing)}; add them, by these names."
            )
        return file.take([place[name] for name in names]), unknown


def _with_zeros(table: Table, names: list[str], place: dict[str, int]) -> Table:
    """Return a table with zeros for the columns that a LIBSVM file lacks."""
    empty = table.values.shape[1]
    padding = sparse.csr_array((table.values.shape[0], 1))
    wide = sparse.hstack([table.values, padding], "csr")
    columns = [place.get(name, empty) for name in names]
    return Table(names, wide[:, columns], {}, table.budget)


def read_labels(file: File, names: list[str]) -> NDArray[np.signedinteger]:
    """Return the labels of a model in a file, in the order of the model."""
    with with_file_name(file.path):
        if file.stated is not None:
            return _stated(file, names)
        place = {name: j for j, name in enumerate(file.names)}
        if missing := [name for name in names if name not in place]:
            raise ValueError(
                f"lacks {len(missing)} of the {len(names)} labels of the model: "
                f"{listed(missing)}; give a file that has them."
            )
        return indicators(file.take([place[name] for name in names]))


def read_known(
    file: File, patterns: list[str], names: list[str]
) -> NDArray[np.float64]:
    """Return known labels in the order of the model; NaN for cells that are empty."""
    with with_file_name(file.path):
        columns = sorted(file.matching(patterns))
        strange = [file.names[j] for j in columns if file.names[j] not in names]
        if strange:
            raise ValueError(
                f"--known fits {listed(strange)}, which the model has no label of; "
                f"its labels are {listed(names)}."
            )
        table = file.take(columns)
        values = np.array(dense(table.values), dtype=np.float64)
        empty = np.isnan(values)
        # Any value of the column stands for its empty cells, to be checked like it.
        first = np.take_along_axis(values, empty.argmin(axis=0)[None], axis=0)
        filled = np.where(empty, np.where(np.isnan(first), 0.0, first), values)
        labels = indicators(table._replace(values=filled)).astype(np.float64)
    known = np.full((len(values), len(names)), np.nan)
    known[:, [names.index(file.names[j]) for j in columns]] = np.where(
        empty, np.nan, labels
    )
    return known


def _stated(file: File, names: list[str]) -> NDArray[np.signedinteger]:
    assert file.stated is not None
    table = indicators(file.stated)
    place = {name: j for j, name in enumerate(file.stated.names)}
    Y = np.zeros((len(table), len(names)), dtype=np.int8)
    absent = [name for name in names if name not in place]
    if absent and not file.leaves_out_zeros:
        raise ValueError(f"lacks {len(absent)} labels of the model: {listed(absent)}.")
    for j, name in enumerate(names):
        if name in place:
            Y[:, j] = table[:, place[name]]
    return Y


def take_rows(table: Table, rows: Any) -> Table:
    """Return some rows of a table."""
    return table._replace(values=table.values[rows])
