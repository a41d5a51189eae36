"""Small data sets, and model files taken apart, to read and to write."""

import hashlib
import json
import struct

import numpy as np
import pytest
import safetensors.numpy
from scipy import sparse

from homi.arrays import dense
from homi.datasets import Dataset
from homi.datasets.dataset import label_dtype


def opened(path):
    """The header and the tensors of a model file."""
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["homi"])
    return header, safetensors.numpy.load(data)


def sealed(header, tensors):
    """The checksum as docs/model_file.md states it."""
    digest = hashlib.sha256()

    def add(part):
        digest.update(len(part).to_bytes(8, "little") + part)

    add(header.encode())
    for name in sorted(tensors):
        value = tensors[name]
        add(json.dumps([name, str(value.dtype), list(value.shape)]).encode())
        add(value.tobytes())
    return digest.hexdigest()


def put_together(path, header, tensors):
    """A file whose checksum is right, whatever it holds."""
    text = header if isinstance(header, str) else json.dumps(header)
    about = {"homi": text, "sha256": sealed(text, tensors)}
    path.write_bytes(safetensors.numpy.save(tensors, metadata=about))


def raw(about, data=b""):
    """A safetensors file by hand, with any header."""
    text = about if isinstance(about, bytes) else json.dumps(about).encode()
    return struct.pack("<Q", len(text)) + text + data


def responses(model, X):
    """All that a model says of rows."""
    found = [model.predict(X), model.decision_function(X)]
    if hasattr(model, "predict_proba"):
        found.append(model.predict_proba(X))
    return [np.asarray(answer) for answer in found]


def assert_same_responses(model, other, X):
    for one, two in zip(responses(model, X), responses(other, X), strict=True):
        assert one.dtype == two.dtype
        assert np.array_equal(one, two)


# Small data sets and a comparison, for the tests of what reads and writes files.


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
    assert found.Y.dtype == label_dtype(found.Y.shape[1])


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
