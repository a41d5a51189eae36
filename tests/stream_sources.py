"""Sources of every kind with the same rows, and fits from them that stop."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse

from conftest import random_rows
from homi import HOMI
from homi.datasets import Dataset, write

NAMES = ("feature_weights_", "feature_bias_", "label_correlation_", "label_bias_")
MODEL = HOMI(graph="anchors", random_state=0)
FEATURES, LABELS = ["a", "b", "c", "d", "e", "f"], ["joy", "calm", "fear"]


def some_rows():
    X, Y = random_rows(0, n=1000, m=6, q=3)
    # Text keeps these digits.
    return np.where(np.abs(X) > 0.4, np.round(X, 3), 0.0), Y.astype(np.int8)


def assert_same_model(one, other, atol=1e-10):
    for name in NAMES:
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=atol)


def table(X, Y):
    columns = [*X.T, *Y.T]
    return pa.table(dict(zip([*FEATURES, *LABELS], columns, strict=True)))


def cut(X, Y, size=150):
    return [(X[i : i + size], Y[i : i + size]) for i in range(0, len(X), size)]


def generated(X, Y, directory):
    return lambda: iter(cut(X, Y)), {}


def listed(X, Y, directory):
    return cut(X, Y), {}


def sparse_pair(X, Y, directory):
    return (sparse.csc_array(X), sparse.csr_matrix(Y)), {}


def frames(kind):
    def make(X, Y, directory):
        X = kind(dict(zip(FEATURES, X.T, strict=True)))
        return (X, kind(dict(zip(LABELS, Y.T, strict=True)))), {}

    return make


def memory_maps(X, Y, directory):
    np.save(directory / "X.npy", X)
    np.save(directory / "Y.npy", Y)
    return (directory / "X.npy", str(directory / "Y.npy")), {}


def parquet(X, Y, directory):
    path = directory / "rows.parquet"
    pq.write_table(table(X, Y), path, row_group_size=220)
    return path, {"labels": "last 3"}


def parquet_files(X, Y, directory):
    paths = [directory / f"{i}.parquet" for i in range(3)]
    for path, start in zip(paths, (0, 310, 620), strict=True):
        stop = start + (310 if start < 620 else 1000)
        pq.write_table(table(X[start:stop], Y[start:stop]), path)
    return paths, {"labels": LABELS}


def text(suffix):
    def make(X, Y, directory):
        path = directory / f"rows{suffix}"
        write(Dataset(X, Y, FEATURES, LABELS), path)
        return path, {"labels": LABELS} if "svm" not in suffix else {}

    return make


def libsvm_without_names(X, Y, directory):
    path = directory / "rows.svm"
    lines = []
    for x, y in zip(X, Y, strict=True):
        labels = ",".join(str(10 * j) for j in np.flatnonzero(y))
        lines.append(
            " ".join([labels, *(f"{j + 1}:{x[j]!r}" for j in np.flatnonzero(x))])
        )
    path.write_text("\n".join(lines).replace("np.float64(", "").replace(")", ""))
    return path, {}


SOURCES = {
    "function": generated,
    "list": listed,
    "sparse": sparse_pair,
    "pandas": frames(pd.DataFrame),
    "polars": frames(pl.DataFrame),
    "memory maps": memory_maps,
    "Parquet": parquet,
    "Parquet files": parquet_files,
    "CSV": text(".csv"),
    "packed CSV": text(".csv.gz"),
    "TSV": text(".tsv"),
    "LIBSVM": text(".libsvm"),
    "LIBSVM without names": libsvm_without_names,
}


class Stop(Exception):
    pass


def stopping(batches, at):
    """Batches that end with an error after so many, over all passes."""
    count = iter(range(10**6))

    def make():
        for batch in batches:
            if next(count) == at:
                raise Stop
            yield batch

    return make
