"""Memory budgets: a file under 1 MB makes the peak grow by at most 300 MB."""

import bz2
import gzip
import io
import itertools
import lzma
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from homi.budget import Budget
from homi.cli.opened_file import open_file
from homi.datasets import load_folds, read
from homi.streams.sources import Files
from homi.tables.columns import Columns

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="peaks are read from /proc"
)


def npz(**arrays):
    """What np.savez_compressed writes, but packed in a third of its time."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array))
    return buffer.getvalue()


def parquet(columns, **options):
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer, **options)
    return buffer.getvalue()


def repeated(text, count):
    """A column that a dictionary holds in a few bytes."""
    words = pa.array([text], pa.large_string())
    return words.take(pa.array(np.zeros(count, np.int32)))


def zeros(*shape):
    return np.zeros(shape, np.uint8)


def one_list(count):
    return pa.ListArray.from_arrays(pa.array([0, count], pa.int32()), zeros(count))


def declared(kind, count):
    return b"".join(b"@attribute %d %s\n" % (j, kind) for j in range(count))


ARFF = declared(b"real", 1) + b"@attribute y {0,1}\n@data\n"
ROWS = 8 * 10**6
FOLDS = b'{"format":"homi folds","version":1,"n_samples":1,"folds":['

#: name -> (suffix, bytes, whether it is refused)
FILES = {
    "commas": (".csv.gz", lambda: gzip.compress(b"," * 300_000), True),
    "commas, twice": (".csv", lambda: (b"," * 450_000 + b"\n") * 2, True),
    "header in quotes": (
        ".csv.gz",
        lambda: gzip.compress((b'",' + b"," * 10**6 + b'"\n') * 60),
        True,
    ),
    "cells": (".csv.gz", lambda: gzip.compress(b"a,y\n" + b"0,0\n" * ROWS), True),
    "one cell": (
        ".csv.xz",
        lambda: lzma.compress(b'a,y\n"' + b"0" * ROWS, preset=0),
        True,
    ),
    "columns": (".arff", lambda: declared(b"real", 40_000) + b"@data\n{}\n", False),
    "columns, packed": (
        ".arff.bz2",
        # Many streams: one long one that repeats itself takes bz2 20 seconds.
        lambda: bz2.compress(b"@attribute a real\n" * 1000) * 1000,
        True,
    ),
    "values": (
        ".arff",
        lambda: b"@attribute a {" + b",".join(b"%d" % j for j in range(10**5)) + b"}\n",
        True,
    ),
    "zeros that are ones": (
        ".arff",
        lambda: declared(b"{1,0}", 5000) + b"@data\n" + b"{}\n" * 10**5,
        True,
    ),
    "one row": (".arff.gz", lambda: gzip.compress(ARFF + b"0," * ROWS), True),
    "index": (".libsvm", lambda: b"1 9999999:1\n", True),
    "one line": (
        ".libsvm.xz",
        lambda: lzma.compress(b"1 " + b"1:1 " * 2 * 10**6, preset=0),
        True,
    ),
    "labels": (
        ".libsvm",
        lambda: b"".join(b"%d 1:1\n" % j for j in range(45_000)),
        True,
    ),
    "names": (
        ".libsvm.gz",
        lambda: gzip.compress(b"# names [[" + b'"",' * 10**7),
        True,
    ),
    "text": (
        ".parquet",
        lambda: parquet({"a": repeated("x" * 10**4, 10_000), "y": zeros(10_000)}),
        True,
    ),
    "one text": (
        ".parquet",
        lambda: parquet(
            {"a": ["x" * 10**8], "y": [0]},
            compression="zstd",
            use_dictionary=False,
            write_statistics=False,
        ),
        True,
    ),
    "rows": (".parquet", lambda: parquet({"a": zeros(ROWS), "y": zeros(ROWS)}), True),
    "list": (
        ".parquet",
        lambda: parquet({"a": one_list(3 * 10**7), "y": zeros(1)}),
        True,
    ),
    "no rows of parquet": (
        ".parquet",
        lambda: parquet({f"{j}": pa.array([], pa.int8()) for j in range(5000)}),
        True,
    ),
    "no rows": (".npz", lambda: npz(X=np.zeros((0, 10**7)), Y=zeros(0, 1)), True),
    "wide": (".npz", lambda: npz(X=zeros(1, 10**7), Y=zeros(1, 1)), True),
    "bytes": (".npz", lambda: npz(X=zeros(10**5, 900), Y=zeros(10**5, 1)), True),
    "csr": (
        ".npz",
        lambda: npz(
            data=zeros(0), indices=zeros(0), indptr=zeros(2), shape=[1, 10**7], Y=[[1]]
        ),
        True,
    ),
    "long name": (
        ".npz",
        lambda: npz(
            X=np.eye(2), Y=np.eye(2), label_names=np.array([b"a" * 10**8, b""])
        ),
        True,
    ),
    "folds": (".json", lambda: FOLDS + b"[]," * 300_000 + b"[0]]}", True),
}


@pytest.fixture(scope="module")
def small_files(tmp_path_factory):
    directory = tmp_path_factory.mktemp("small")
    for name, (suffix, build, _) in FILES.items():
        path = directory / f"{name.replace(' ', '_')}{suffix}"
        path.write_bytes(build())
        assert path.stat().st_size < 10**6, name
    return directory


#: Ways to read a file.
WAYS = ("read", "command", "stream")


def attempt(way, path):
    """Read a file in one of the ways that there are."""
    if path.suffix == ".json":
        if way != "read":
            raise ValueError("folds are read in one way")
        return load_folds(path, 1)
    labels = None if {".npz", ".libsvm"} & {*path.suffixes} else "last 1"
    if way == "read":
        return read(path, labels, missing="zero")
    if way == "command":
        file = open_file(path)
        return file.stated or file.take(list(range(len(file.names))))
    if {".npz", ".arff"} & {*path.suffixes}:
        raise ValueError("streams are of other formats")
    return [batch[0].shape for batch in Files([path], labels, 10_000).batches()]


def peaks(directory):
    """Print the growth of the peak by each way and file, and whether it was refused."""
    base = memory("VmRSS")
    for way, path in itertools.product(WAYS, sorted(directory.iterdir())):
        Path("/proc/self/clear_refs").write_text("5")  # a new peak begins here
        try:
            attempt(way, path)
            refused = False
        except ValueError:
            refused = True
        print(way, path.name, memory("VmHWM") - base, refused, flush=True)


def memory(which):
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(x for x in lines if x.startswith(which)).split()[1])


def test_small_files_take_little_memory(small_files):
    command = [sys.executable, __file__, small_files]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    grown = {}
    for line in found.stdout.splitlines():
        way, name, n_bytes, refused = line.split()
        grown[way, name] = int(n_bytes)
        expected = FILES[name.split(".")[0].replace("_", " ")][2]
        assert way != "read" or (refused == "True") is expected, line
    assert len(grown) == len(WAYS) * len(FILES)
    assert {key: size for key, size in grown.items() if size > 300e6} == {}


def test_columns_count_while_they_are_declared(tmp_path):
    path = tmp_path / "columns.arff"
    path.write_bytes(declared(b"real", 30_000))  # no @data: only the header is read
    with pytest.raises(ValueError, match=r"its columns.*more than the 1 MB"):
        read(path, "last 1", max_memory=1e6)


@pytest.mark.parametrize(
    ("suffix", "data"),
    [
        (".arff", ARFF + b"0,0\n" * 40_000),
        (".arff", ARFF + b"{}\n" * 30_000),
        (".libsvm", b"1 1:1 2:2\n" * 7500),
        (".csv", b"a,y\n" + b"0,0\n" * 40_000),
        (".npz", npz(X=zeros(50_000, 10), Y=zeros(50_000, 1))),
        (".parquet", parquet({"a": zeros(50_000), "y": zeros(50_000)})),
    ],
    ids=["arff", "sparse arff", "libsvm", "csv", "npz", "parquet"],
)
def test_a_budget_is_a_parameter(tmp_path, suffix, data, monkeypatch):
    path = tmp_path / f"rows{suffix}"
    path.write_bytes(data)
    labels = None if suffix in (".libsvm", ".npz") else "last 1"
    assert len(read(path, labels).Y) > 0
    with pytest.raises(ValueError, match=r"rows.*more than the 1 MB .*max_memory to"):
        read(path, labels, max_memory=1e6)
    monkeypatch.setenv("HOMI_MAX_MEMORY", "1e6")
    with pytest.raises(ValueError, match=r"more than the 1 MB .*set the environment"):
        read(path, labels)
    with pytest.raises(ValueError, match="more than the 1 MB"):
        attempt("command", path)
    assert len(read(path, labels, max_memory=2e8).Y) > 0


def test_names_of_one_hot_features_count(tmp_path):
    """A name of 40,000 letters, 10,000 times: 400 MB."""
    values = ",".join(f"v{j}" for j in range(10_000))
    path = tmp_path / "names.arff"
    text = (
        f"@attribute {'a' * 40_000} {{{values}}}\n@attribute y {{0,1}}\n@data\nv0,1\n"
    )
    path.write_text(text)
    assert read(path, "last 1").X.shape == (1, 1)
    with pytest.raises(ValueError, match="its nominal features, as numbers, need more"):
        read(path, "last 1", nominal="onehot")
    table = open_file(path).take([0])
    with pytest.raises(ValueError, match="its columns as features of the model need"):
        Columns.fit(table, "onehot", "error").transform(table)


def test_texts_of_dictionaries_count(tmp_path):
    """A word of 100,000 letters, 20,000 times: 2 GB as Python's texts."""
    words = pa.DictionaryArray.from_arrays(zeros(20_000), ["x" * 10**5])
    path = tmp_path / "words.parquet"
    path.write_bytes(parquet({"a": words, "b": pa.array([[1]] * 20_000)}))
    file = open_file(path)
    assert file.take([0]).values.shape == (20_000, 1)
    with pytest.raises(
        ValueError, match="strings of column 'a' need more than the 210 MB"
    ):
        file.texts(["a"])
    with pytest.raises(ValueError, match=r"words\.parquet: column 'b' is of type list"):
        file.texts(["b"])


def test_a_budget_is_a_positive_number(monkeypatch):
    assert Budget(5).left == 200 * 2**20
    assert Budget(2**21).left == 200 * 2**20 + 500 * 2**20
    for wrong in (0, -1, float("nan")):
        with pytest.raises(ValueError, match="must be a positive number of bytes"):
            Budget(5, wrong)
    monkeypatch.setenv("HOMI_MAX_MEMORY", "lots")
    with pytest.raises(ValueError, match="HOMI_MAX_MEMORY='lots' is not a number"):
        Budget(5)


if __name__ == "__main__":
    peaks(Path(sys.argv[1]))
