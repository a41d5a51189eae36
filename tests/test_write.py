"""Writing files of every format, and reading them back."""

import os

import arff
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from homi.datasets import Dataset, read, write
from sample_files import (
    FORMATS,
    TABLES,
    assert_same,
    make,
    messy,
    messy_labels,
    parts,
)

ODD = [
    "it's",
    'say "hello"',
    "a, b;\tc",
    "größe 名 🎵",
    " both ends ",
    "{0,1} % #x: 1:2",
    r"C:\new\101 \u0041 \'",
    "\ufeffmark",
    "line\nfeed\r\nreturn\rtab\t",
    "\xa0no-break\x85\u2028\x1c",
    "",
    "x" * 10_000,
]


def there_and_back(data, path):
    write(data, path)
    by_count = any(end in path.suffixes for end in TABLES)
    return read(path, f"last {len(data.label_names)}" if by_count else None)


@st.composite
def datasets(draw):
    letters = st.characters(exclude_categories=["Cs"])
    text = st.text(letters | st.sampled_from("'\"\\,{}%\n\r\t #:=?"), max_size=8)
    count = st.integers(1, 4)
    n, m, q = draw(count), draw(count), draw(count)
    name = st.lists(text, min_size=m + q, max_size=m + q, unique=True)
    names = draw(name)
    number = st.floats(allow_nan=False, allow_infinity=False) | st.just(0.0)
    rows = st.lists(number, min_size=n * m, max_size=n * m)
    X = np.array(draw(rows)).reshape(n, m)
    bits = st.lists(st.integers(0, 1), min_size=n * q, max_size=n * q)
    Y = np.array(draw(bits), dtype=np.int8).reshape(n, q)
    return Dataset(X, Y, names[:m], names[m:])


@pytest.mark.parametrize(
    ("suffix", "is_sparse"),
    [
        *[(".arff", False), (".arff", True), (".npz", False), (".npz", True)],
        *[(".csv", False), (".tsv", True), (".parquet", True), (".libsvm", False)],
    ],
)
@settings(max_examples=25)
@given(data=datasets())
@example(data=make(ODD[:6], ODD[6:]))
@example(data=make(ODD[6:], ODD[:6]))
def test_what_is_written_is_read(tmp_path_factory, suffix, is_sparse, data):
    if is_sparse:
        data = data._replace(X=sparse.csr_array(data.X))
    names = [*data.feature_names, *data.label_names]
    if suffix == ".npz" and any(name.endswith("\0") for name in names):
        return
    found = there_and_back(data, tmp_path_factory.getbasetemp() / f"trip{suffix}")
    assert_same(found, data)
    stays_sparse = {".arff": is_sparse, ".npz": is_sparse, ".libsvm": True}
    assert sparse.issparse(found.X) == stays_sparse.get(suffix, False)


@pytest.mark.parametrize(
    ("suffix", "packing"),
    [
        *[(suffix, ".gz") for suffix in (*FORMATS, ".svm", ".svmlight", ".txt")],
        *[(".arff", ".xz"), (".csv", ".bz2"), (".npz", ".xz"), (".ARFF", ".GZ")],
    ],
)
def test_packed_files(tmp_path, suffix, packing):
    data = make(["a", "b"], ["x", "y", "z"])
    path = tmp_path / f"data.v1{suffix}{packing}"
    assert_same(there_and_back(data, path), data)
    assert not path.read_bytes().startswith((b"@", b'"', b"#", b"PAR", b"PK"))


def test_missing_values_survive_a_round_trip(tmp_path):
    data = make(["a", "b"], ["x"])
    data.X[1, 0] = np.nan
    for suffix in FORMATS:
        write(data, tmp_path / f"gap{suffix}")
        labels = "last 1" if suffix in TABLES else None
        with pytest.raises(
            ValueError, match=r"1 missing value\(s\) in 1 column\(s\): 'a' \(1\)"
        ):
            read(tmp_path / f"gap{suffix}", labels)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
@pytest.mark.parametrize("suffix", FORMATS)
def test_any_sparse_form_writes_the_same_bytes(tmp_path, suffix, kind):
    X, Y = messy().asformat(kind), messy_labels().asformat(kind)
    plain = Dataset(
        sparse.csr_array(X.toarray()),
        Y.toarray().astype(np.int8),
        ["a", "b", "c", "d"],
        ["x", "y"],
    )
    path, other = tmp_path / f"messy{suffix}", tmp_path / f"plain{suffix}"
    assert_same(there_and_back(plain._replace(X=X, Y=Y), path), plain)
    write(plain, other)
    assert path.read_bytes() == other.read_bytes()
    for now, fresh in ((X, messy()), (Y, messy_labels())):
        for part, expected in zip(parts(now), parts(fresh.asformat(kind)), strict=True):
            np.testing.assert_array_equal(part, expected)


def test_scikit_learn_reads_what_is_written(tmp_path):
    data = make(["a b", "c"], ["x", "y"])
    write(data, tmp_path / "d.libsvm")
    X, labels = load_svmlight_file(tmp_path / "d.libsvm", multilabel=True)
    np.testing.assert_array_equal(X.toarray(), data.X)
    assert labels == [tuple(map(float, np.flatnonzero(row))) for row in data.Y]


def test_liac_arff_reads_what_is_written(tmp_path):
    path = tmp_path / "d.arff"
    data = make(["a b", "größe", "c,d"], ["x\r\ny", "z"])
    write(data, path)
    assert b"\r" not in path.read_bytes()
    found = arff.loads(path.read_text(encoding="utf-8"))
    assert [name for name, _ in found["attributes"][:3]] == data.feature_names
    np.testing.assert_array_equal(
        np.array(found["data"], dtype=float), np.hstack([data.X, data.Y])
    )
    write(data._replace(X=sparse.csr_array(data.X)), path)
    again = arff.loads(path.read_text(encoding="utf-8"))
    assert again["data"] == found["data"]


def test_writing_is_all_or_nothing(tmp_path, monkeypatch):
    path = tmp_path / "d.arff"
    path.write_text("old")
    for bad, message in [
        (
            make(["a"], ["x"])._replace(feature_names=["a", "b"]),
            "numbers of names differ",
        ),
        (make(["a"], ["x"])._replace(Y=np.zeros((4, 1))), "5 rows and Y has 4"),
        (make(["a"], ["x"])._replace(Y=np.full((5, 1), 2)), "only 0 and 1"),
        (make(["\ud800"], ["x"]), "surrogates not allowed"),
    ]:
        with pytest.raises(ValueError, match=rf"d\.arff: .*{message}"):
            write(bad, path)
    with pytest.raises(ValueError, match="ends in a NUL"):
        write(make(["a\0"], ["x"]), tmp_path / "d.npz")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["d.arff"]
