"""Small data sets and a comparison, for the tests of what reads and writes files."""

import numpy as np
import pytest
from scipy import sparse

from homi.arrays import dense
from homi.datasets import Dataset

#: Formats that do not say which columns are labels.
TABLES = (".csv", ".tsv", ".parquet")
FORMATS = (".arff", *TABLES, ".libsvm", ".npz")

#: Data sets that take seconds each, and are like smaller ones.
LARGE = {
    *("langlog", "bibtex", "corel16k001", "delicious", "mediamill-2500", "slashdot"),
    *("ohsumed", "20ng", "image", "yahoo-arts", "PlantPseAAC"),
}


def large_ones_slow(names):
    """Names of data sets as parameters; the large ones are marked as slow."""
    slow = pytest.mark.slow
    return [pytest.param(n, marks=slow) if n in LARGE else n for n in names]


def assert_same(found, expected):
    np.testing.assert_array_equal(dense(found.X), dense(expected.X))
    np.testing.assert_array_equal(found.Y, expected.Y)
    assert found.feature_names == list(expected.feature_names)
    assert found.label_names == list(expected.label_names)
    assert found.X.dtype == np.float64
    assert found.Y.dtype == np.int8


def make(features, labels, n=5, is_sparse=False, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(features))) * (rng.random((n, len(features))) < 0.5)
    Y = (rng.random((n, len(labels))) < 0.4).astype(np.int8)
    return Dataset(sparse.csr_array(X) if is_sparse else X, Y, features, labels)


def messy():
    """A CSR array with duplicates, unsorted indices and stored zeros."""
    data = np.array([1.0, 5, 2, 0, 0, 7])
    columns, ends = np.array([2, 0, 2, 1, 3, 1]), np.array([0, 4, 5, 6])
    return sparse.csr_array((data, columns, ends), shape=(3, 4))


def messy_labels():
    """The same of 0 and 1; two halves make a 1."""
    data = np.array([1, 0, 0.5, 0.5, 1, 1])
    columns, ends = np.array([1, 0, 0, 0, 1, 0]), np.array([0, 2, 4, 6])
    return sparse.csr_array((data, columns, ends), shape=(3, 2))


def parts(A):
    """Copies of the arrays that a sparse matrix is stored in."""
    names = {"coo": ("data", "row", "col")}.get(A.format, ("data", "indices", "indptr"))
    return [getattr(A, name).copy() for name in names]
