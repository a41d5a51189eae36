"""Read a data set from a file of any supported format."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import chain, pairwise
from pathlib import Path
from types import ModuleType
from typing import TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from homi.budget import Budget
from homi.datasets import libsvm, npz
from homi.datasets.dataset import Content, Dataset, Labels, Table
from homi.datasets.files import number, short, split_name
from homi.datasets.labels import check_unique, indicators, split
from homi.datasets.preprocessing import Missing, Nominal, imputer, one_hot
from homi.extras import optional
from homi.typing import Matrix

Vector: TypeAlias = NDArray[np.float64]

#: Formats whose columns have names and may hold texts, and all formats.
JSON_LINES = (".jsonl", ".ndjson")
TABLES = (".csv", ".tsv", ".parquet", *JSON_LINES)
FORMATS = (".arff", ".npz", ".libsvm", ".svm", ".svmlight", ".txt", *TABLES)

_NOMINAL = "its nominal features, as numbers,"
#: Up to here the mean of 100 million values is finite.
_LARGEST_AVERAGED = 1e300


def read(
    path: str | os.PathLike[str],
    labels: Labels | None = None,
    *,
    nominal: Nominal = "codes",
    missing: Missing = "error",
    max_memory: float | None = None,
) -> Dataset:
    """Read a multi-label data set from a file.

    Parameters
    ----------
    path : path
        The suffix gives the format: ``.arff`` (dense or sparse, as MEKA and Mulan write
        it), ``.csv``, ``.tsv``, ``.parquet``, ``.jsonl`` or ``.ndjson`` (a JSON object
        per line), ``.libsvm``, ``.svm``, ``.svmlight`` or ``.txt`` (multi-label
        LIBSVM), or ``.npz`` (arrays ``X``, or ``data``, ``indices``, ``indptr`` and
        ``shape`` of a CSR array; ``Y``; optional ``feature_names`` and
        ``label_names``). Each may be followed by ``.gz``, ``.xz``, ``.bz2`` or ``.zip``
        (an archive of one file). The delimiter (comma, semicolon, tab or bar) and the
        encoding (UTF-8, UTF-16, Windows-1252 or Latin-1) of CSV and TSV files are
        recognized; numbers may have decimal commas if the delimiter is a semicolon.
        Other text must be UTF-8.
    labels : str, list of str or path, optional
        Label columns: ``"first 6"``, ``"last 14"``, a list of names, a pattern such
        as ``"tag_*"``, or the path of a Mulan ``.xml`` file. Default: the labels that
        the file states. LIBSVM and ``.npz`` always state them; ARFF does by an XML
        file of the same name beside it or by ``-C`` in its header.
    nominal : {"codes", "onehot"}, default="codes"
        Encoding of nominal features. ``"codes"`` uses the values if all of them are
        numbers, else their positions in the declared list of values, or in the sorted
        list if none is declared. ``"onehot"`` makes a 0/1 column for each value,
        named ``feature=value``.
    missing : {"error", "mean", "median", "most_frequent", "zero"}, default="error"
        How to impute missing values of features. Nominal features have no mean and
        no median, so their most frequent value is used. A missing label is always an
        error.
    max_memory : float, optional
        Memory budget in bytes while the file is read. Default: the environment
        variable ``HOMI_MAX_MEMORY``, else 200 MiB plus 500 bytes for each byte of the
        file beyond its first MiB.

    Returns
    -------
    Dataset
        X as float64, dense or, if the file is sparse, CSR; Y as int8, or as int16
        above 128 labels; the names of features and labels, in the order of the file.

    Raises
    ------
    ValueError
        If the file cannot be read; names the file, the line if known, and the reason.
    FileNotFoundError
        If the file does not exist.

    Notes
    -----
    A small file cannot cause a large allocation. Rows, columns, names and decompressed
    text are charged to ``max_memory`` by their decoded size, where possible before they
    are decoded. A line of text may use 1/64 of the budget. A file that needs more is
    refused.

    Examples
    --------
    >>> from homi.datasets import read
    >>> read("songs.csv", labels="last 6")  # doctest: +SKIP
    >>> read("birds.arff.xz", "birds.xml", nominal="onehot")  # doctest: +SKIP
    """
    _check_option("nominal", nominal, get_args(Nominal))
    _check_option("missing", missing, get_args(Missing))
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}.")
    try:
        budget = Budget.of(path, max_memory)
        features, chosen = split(parser(path)(path, budget), labels)
        X, names = _encoded(_imputed(features, missing), nominal)
        _settle(X, missing)
        return _dataset(X, indicators(chosen), names, chosen.names)
    except (ValueError, OverflowError) as error:
        # Libraries quote the input that they could not parse, which may be long.
        raise ValueError(f"{path}: {str(error)[:1000]}") from error
    except MemoryError as error:
        raise ValueError(f"{path}: does not fit into memory.") from error


def _check_option(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{name}={value!r}; expected one of {', '.join(known)}.")


def parser(path: Path) -> Callable[[Path, Budget], Content]:
    """Return the parser for the format of a file."""
    form = split_name(path)[1]
    if path.is_dir() or form not in FORMATS:
        raise ValueError(
            f"not a file of a known format; expected {', '.join(FORMATS)}, optionally "
            "followed by .gz, .xz, .bz2 or .zip."
        )
    if form == ".arff":
        from homi.datasets import arff

        return arff.parse
    if form in TABLES:
        name = "parse_parquet" if form == ".parquet" else "parse_text"
        return getattr(table_parsers(path), name)
    return npz.parse if form == ".npz" else libsvm.parse


def table_parsers(path: Path) -> ModuleType:
    """Return the module that parses a table: Parquet needs pyarrow, text does not."""
    form = split_name(path)[1]
    if form in JSON_LINES:
        from homi.datasets import json_lines

        return json_lines
    is_text = form != ".parquet"
    if is_text and find_spec("pyarrow") is None:
        from homi.datasets import plain_csv

        return plain_csv
    with optional("reading Parquet"):
        from homi.datasets import tables  # pyarrow is slow to import
    return tables


def _dataset(
    X: Matrix, Y: NDArray[np.signedinteger], features: list[str], labels: list[str]
) -> Dataset:
    check_unique(features, "feature")
    check_unique(labels, "label")
    if 0 in X.shape or 0 in Y.shape:
        raise ValueError(
            f"has {X.shape[0]} rows, {X.shape[1]} features and {Y.shape[1]} labels; "
            "at least one of each is needed."
        )
    _check_finite(X, features)
    return Dataset(X, Y, features, labels)


def _check_finite(X: Matrix, names: list[str], *, may_miss: bool = False) -> None:
    entries = X.data if sparse.issparse(X) else X
    bad = np.isinf(entries) if may_miss else ~np.isfinite(entries)
    if bad.any():
        at = np.argwhere(bad)[0]
        j = X.indices[at[0]] if sparse.issparse(X) else at[1]
        raise ValueError(
            f"feature {short(names[j])} has an infinite value; all values must be "
            "finite."
        )


def _imputed(table: Table, missing: Missing) -> Table:
    """Impute missing values, except with zeros: `_settle` does that at the end."""
    entries = table.values.data if sparse.issparse(table.values) else table.values
    if missing == "zero" or not np.isnan(entries).any():
        return table
    table.charge(16 * len(table.names), "its missing values")
    counts = ((j, int(np.isnan(column).sum())) for j, column in _columns(table.values))
    gaps = {j: count for j, count in counts if count}
    if missing == "error":
        worst = sorted(gaps, key=lambda j: -gaps[j])
        shown = ", ".join(f"{short(table.names[j])} ({gaps[j]})" for j in worst[:10])
        raise ValueError(
            f"{sum(gaps.values())} missing value(s) in {len(gaps)} column(s): {shown}"
            f"{', ...' if len(gaps) > 10 else ''}; pass missing='mean', 'median', "
            "'most_frequent' or 'zero', or remove them."
        )
    return table._replace(values=_filled(table, sorted(gaps), missing))


def _filled(table: Table, gaps: list[int], missing: Missing) -> Matrix:
    is_sparse = sparse.issparse(table.values)
    values = sparse.csc_array(table.values) if is_sparse else table.values.copy()
    fills = _fills(table, values, gaps, missing)
    for j, column in _columns(values):
        if j in fills:
            column[np.isnan(column)] = fills[j]
    return values.tocsr() if is_sparse else values


def _fills(
    table: Table, values: Matrix, gaps: list[int], missing: Missing
) -> dict[int, float]:
    """Return what is imputed in each column that misses values."""
    words = [j for j in gaps if j in table.nominal]
    numbers = [j for j in gaps if j not in table.nominal]
    groups: list[tuple[Missing, list[int]]]
    groups = [(missing, numbers), ("most_frequent", words)]
    fills: dict[int, float] = {}
    for how, group in groups:
        if group:
            _check_imputable(values[:, group], [table.names[j] for j in group], how)
            found = imputer(how).fit(values[:, group]).statistics_
            fills |= dict(zip(group, found.tolist(), strict=True))
    return fills


def _check_imputable(values: Matrix, names: list[str], how: Missing) -> None:
    """Refuse columns without a value, and those whose sums may overflow."""
    _check_finite(values, names, may_miss=True)
    for j, column in _columns(values):
        if len(column) == values.shape[0] and np.isnan(column).all():
            raise ValueError(
                f"column {short(names[j])} has no value at all; remove it, "
                "or pass missing='zero'."
            )
        if how != "most_frequent" and (np.abs(column) > _LARGEST_AVERAGED).any():
            raise ValueError(
                f"column {short(names[j])} has values beyond {_LARGEST_AVERAGED:g}, "
                "which have no finite mean; remove them, or pass missing='zero'."
            )


def _settle(X: Matrix, missing: Missing) -> None:
    """Replace missing values by 0 if asked to; drop stored zeros of a sparse X."""
    if missing == "zero":
        entries = X.data if sparse.issparse(X) else X
        entries[np.isnan(entries)] = 0.0
    if sparse.issparse(X):
        X.eliminate_zeros()
        X.sort_indices()


def _columns(values: Matrix) -> Iterator[tuple[int, Vector]]:
    """Yield each column's index and a view of its entries, those stored if sparse."""
    if not sparse.issparse(values):
        yield from ((j, values[:, j]) for j in range(values.shape[1]))
        return
    values = values.tocsc()  # itself, if it is one
    for j, (start, stop) in enumerate(pairwise(values.indptr)):
        yield j, values.data[start:stop]


def _encoded(table: Table, nominal: Nominal) -> tuple[Matrix, list[str]]:
    """Encode nominal features as codes or one-hot columns."""
    values, names = table.values, table.names
    changed = sorted(table.nominal)
    if nominal == "codes":  # most nominal columns are {0,1}: their own positions
        changed = [j for j in changed if not _is_range(codes(table.nominal[j]))]
    _check_size(table, changed, nominal)
    is_sparse = sparse.issparse(values)
    if is_sparse and changed:  # columns are taken one by one
        values = values.tocsc()
        table = table._replace(values=values)
    pieces, start = [], 0
    for j in changed:
        pieces.append((values[:, start:j], names[start:j]))
        pieces.append(_block(table, j, nominal))
        start = j + 1
    pieces.append((values[:, start:], names[start:]))
    blocks, parts = zip(*pieces, strict=True)
    if changed:
        values = sparse.hstack(blocks, "csr") if is_sparse else np.hstack(blocks)
    return values, list(chain.from_iterable(parts))


def _block(table: Table, j: int, nominal: Nominal) -> tuple[Matrix, list[str]]:
    is_sparse, words = sparse.issparse(table.values), table.nominal[j]
    column = table.values[:, [j]].toarray() if is_sparse else table.values[:, [j]]
    if nominal == "onehot":
        block = one_hot([len(words)], is_sparse=is_sparse).fit_transform(column)
        return block, [f"{table.names[j]}={word}" for word in words]
    known = ~np.isnan(column)
    coded = np.full_like(column, np.nan)
    coded[known] = codes(words)[column[known].astype(np.intp)]
    return sparse.csr_array(coded) if is_sparse else coded, [table.names[j]]


def codes(words: list[str]) -> Vector:
    """Return the values if all are numbers, else their positions."""
    positions = np.arange(float(len(words)))
    try:
        values = np.array([number(word) for word in words])
    except ValueError:
        return positions
    return values if np.isfinite(values).all() else positions


def _is_range(codes: Vector) -> bool:
    return np.array_equal(codes, np.arange(len(codes)))


def _check_size(table: Table, changed: list[int], nominal: Nominal) -> None:
    """Charge encoded columns: one entry per row if sparse, else all columns."""
    widths = [len(table.nominal[j]) if nominal == "onehot" else 1 for j in changed]
    is_sparse = sparse.issparse(table.values)
    table.charge(48 * len(changed) if is_sparse else 16 * sum(widths), _NOMINAL)
    if table.budget is not None:
        table.budget.take_columns(sum(widths))
        # Each new name begins with that of its feature, which may be long.
        letters = sum(
            w * len(table.names[j]) for j, w in zip(changed, widths, strict=True)
        )
        table.budget.take(4 * letters, _NOMINAL)
