"""Damaged files: each is read as a sound data set or refused by a ValueError."""

import bz2
import gzip
import io
import itertools
import lzma
import random
import time
import tracemalloc
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from homi.datasets import read
from homi.datasets.dataset import label_dtype

DENSE = b"""% Ten songs, and what they sound like.
@relation 'songs: -C -3'

@attribute tempo numeric
@attribute 'it\\'s loud' real
@attribute key {C,'C sharp',D}
@attribute year integer
@attribute happy {0,1}
@attribute 'sad, slow' {1,0}
@attribute angry {false,true}
@data
120.5,-3.25,C,1999,1,0,false
80,-11e-1,'C sharp',2001,0,1,false
% a remark
95.125,0,D,1987,0,1,true
133,-2.5,C,2011,1,0,true
"""

SPARSE = b"""@relation words
@attribute a numeric
@attribute b numeric
@attribute color {blue,grey}
@attribute c numeric
@attribute TAG_dise\\~no {0,1}
@attribute 'TAG, two' {0,1}
@data
{0 1.5,3 2,4 1}
{}
{1 -1e3,2 grey,5 1}
{0 1,1 2,3 4,4 1,5 1}
"""

XML = b"""<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="TAG_dise\\~no"></label>
<label name="TAG, two"></label>
</labels>
"""

CSV = """length,"a, b",sky,größe,tag_x,tag_y
1,2.5,grey,3,0,1
2,-1e-3,blue,4,1,0
3,0,grey,5,1,1
4,7,blue,6,0,0
""".encode()

LIBSVM = b"""# names [["a", "b", "c"], ["x", "y"]]
0,1 1:0.5 3:2
1 2:-1e3 # a remark
 1:1 2:2 3:3
0 3:4
"""

PLAIN_LIBSVM = LIBSVM.split(b"\n", 1)[1].replace(b"0,1", b"7,3")


def npz_bytes(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def make_npz(is_sparse):
    X = np.arange(12.0).reshape(4, 3)
    Y = np.array([[0, 1], [1, 0], [1, 1], [0, 0]], dtype=np.int8)
    names = {"feature_names": list("abc"), "label_names": ["x", "y"]}
    if not is_sparse:
        return npz_bytes(X=X, Y=Y, **names)
    C = sparse.csr_array(X)
    parts = {"data": C.data, "indices": C.indices, "indptr": C.indptr}
    return npz_bytes(Y=Y, shape=C.shape, **parts, **names)


def make_parquet():
    columns = {
        "length": pa.array([1.0, 2.5, -3, 4]),
        "sky": pa.array(["grey", "blue", "grey", "grey"]),
        "sea": pa.array(["calm", "rough", "calm", "calm"]).dictionary_encode(),
        "x": pa.array([0, 1, 1, 0]),
        "y": pa.array([True, False, True, True]),
    }
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


#: name -> (suffix, bytes, labels)
FILES = {
    "dense": (".arff", DENSE, None),
    "sparse": (".arff", SPARSE, "TAG*"),
    "mulan": (".arff", SPARSE, "xml"),
    "csv": (".csv", CSV, "last 2"),
    "tsv": (".tsv", CSV.replace(b", ", b";").replace(b",", b"\t"), "tag_*"),
    "parquet": (".parquet", make_parquet(), "last 2"),
    "libsvm": (".libsvm", LIBSVM, None),
    "plain libsvm": (".txt", PLAIN_LIBSVM, None),
    "npz": (".npz", make_npz(False), None),
    "sparse npz": (".npz", make_npz(True), None),
    "gz": (".arff.gz", gzip.compress(DENSE, mtime=0), None),
    "xz": (".arff.xz", lzma.compress(SPARSE), "TAG*"),
    "bz2": (".csv.bz2", bz2.compress(CSV), "last 2"),
}


def truncate(data, rng):
    return data[: rng.randrange(len(data))]


def delete(data, rng):
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.choice([1, 1, 2, 5, 20]) :]


def duplicate(data, rng):
    at = rng.randrange(len(data))
    return data[:at] + data[at : at + rng.choice([1, 2, 5, 40])] + data[at:]


EXTRAS = [b"0", b",", b"'", b'"', b"{", b"}", b"\n", b"%", b"?", b" ", b"\\", b"#"]
EXTRAS += [b":", b"\0", b"-", b"e9", b"nan", b"inf"]


def insert(data, rng):
    at = rng.randrange(len(data))
    return data[:at] + rng.choice(EXTRAS) + data[at:]


def flip_bits(data, rng):
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 3, 10])):
        changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def swap_lines(data, rng):
    lines = data.split(b"\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[i], lines[j] = lines[j], lines[i]
    return b"\n".join(lines)


def repeat_line(data, rng):
    lines = data.split(b"\n")
    line = rng.choice(lines)
    lines.insert(rng.randrange(len(lines)), line)
    return b"\n".join(lines)


def flip_quotes(data, rng):
    table = rng.choice([(b"'\"", b"\"'"), (b"'", b"`"), (b'"', b"'"), (b",", b";")])
    return data.translate(bytes.maketrans(*table))


def change_digits(data, rng):
    digits = [i for i, byte in enumerate(data) if chr(byte).isdigit()] or [0]
    at = rng.choice(digits)
    new = rng.choice([b"9", b"99999999999", b"-1", b"1e400", b"0", b"1_0", b"x"])
    return data[:at] + new + data[at + 1 :]


def not_utf8(data, rng):
    at = rng.randrange(len(data))
    return data[:at] + rng.choice([b"\xff", b"\xc3\x28", b"\xed\xa0\x80"]) + data[at:]


def crlf(data, rng):
    return data.replace(b"\n", rng.choice([b"\r\n", b"\r", b"\n\n"]))


def bom(data, rng):
    mark = b"\xef\xbb\xbf"
    return rng.choice([mark, b"\xff\xfe", mark + mark]) + data


def empty(data, rng):
    return rng.choice([b"", b"\n", b" ", b"\0" * 100, b"\n\n\n"])


def first_lines(data, rng):
    lines = data.split(b"\n")
    return b"\n".join(lines[: rng.randrange(len(lines))])


MUTATIONS = [
    truncate,
    delete,
    duplicate,
    insert,
    flip_bits,
    swap_lines,
    repeat_line,
    flip_quotes,
    change_digits,
    not_utf8,
    crlf,
    bom,
    empty,
    first_lines,
]


def attempt(path, labels):
    try:
        return read(path, labels, missing="zero")
    except ValueError as error:
        return error


def outcome(directory, suffix, data, labels, xml=XML):
    """Read the bytes as a file: the data set, or the ValueError that names it."""
    path = directory / f"odd{suffix}"
    path.write_bytes(data)
    if labels == "xml":
        labels = directory / "labels.xml"
        labels.write_bytes(xml)
    found = attempt(path, labels)
    if isinstance(found, ValueError):
        assert path.name in str(found)
        assert len(str(found)) < 1500
        return found
    X, Y, features, names = found
    assert X.dtype == np.float64
    assert Y.dtype == label_dtype(Y.shape[1])
    assert X.shape == (len(Y), len(features))
    assert Y.shape == (len(Y), len(names))
    assert np.isfinite(X.data if sparse.issparse(X) else X).all()
    assert set(np.unique(Y)) <= {0, 1}
    assert len(set(features)) == len(features)
    assert len(set(names)) == len(names)
    assert min(*X.shape, *Y.shape) > 0
    return found


@pytest.mark.parametrize("name", FILES)
def test_the_files_are_sound_before_they_are_damaged(tmp_path, name):
    assert not isinstance(outcome(tmp_path, *FILES[name]), ValueError)


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_read_or_refused(tmp_path, name):
    suffix, data, labels = FILES[name]
    for mutate, seed in itertools.product(MUTATIONS, range(6)):
        rng = random.Random(f"{name} {mutate.__name__} {seed}")
        outcome(tmp_path, suffix, mutate(data, rng), labels)


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda m: m.__name__)
def test_a_damaged_label_list_is_read_or_refused(tmp_path, mutate):
    suffix, data, labels = FILES["mulan"]
    for seed in range(6):
        xml = mutate(XML, random.Random(f"xml {mutate.__name__} {seed}"))
        outcome(tmp_path, suffix, data, labels, xml)


HEAD = b"@attribute a numeric\n@attribute b {u,v}\n@attribute y {0,1}\n"

DATA = HEAD + b"@data\n"
NAMES = b"# names "
SPLIT = "cannot be split into values"
LONG = b"9" * 9000

CASES = [
    (".arff", b"", "has no @data"),
    (".arff", HEAD, "has no @data"),
    (".arff", DATA + b"% nothing\n", "has no rows after @data"),
    (".arff", b"@data\n1,2\n", "line 1: @data without any @attribute"),
    (".arff", b"hello\n", "line 1: 'hello' in the header; expected @relation"),
    (".arff", b"\xff\xfeh\0e\0", "line 1: byte 1 is not UTF-8"),
    (".arff", DATA + b"1,u,\xe9\n", "line 5: byte 5 is not UTF-8"),
    (".arff", DATA + b"1,u\n", "line 5: '1,u'; expected as many values as the 3"),
    (".arff", DATA + b"1,u,0\n1%,u,0,0\n", "line 6: '1%,u,0,0'; expected as many"),
    (".arff", DATA + b"1x,u,0\n", "line 5: column 'a': '1x' is not a number"),
    (".arff", DATA + b"1_0,u,0\n", "line 5: column 'a': '1_0' is not a number"),
    (".arff", DATA + b"1,w,0\n", "line 5: column 'b': 'w' is not a declared value"),
    (".arff", DATA + b"1,'u,0\n", f"line 5: .* {SPLIT}"),
    (".arff", DATA + b"1,'\\q',0\n", f"line 5: .* {SPLIT}"),
    (".arff", DATA + b"{0 1}\n1,u,0\n", "line 6: mixes rows with and without braces"),
    (".arff", DATA + b"{0 1,0 2}\n", "line 5: has a column twice"),
    (".arff", DATA + b"{1 'u',1 u}\n", "line 5: has a column twice"),
    (".arff", DATA + b"{3 1}\n", "line 5: '{3 1}'; expected column numbers below"),
    (".arff", DATA + b"{-1 1}\n", f"line 5: .* {SPLIT}"),
    (".arff", DATA + b"{" + LONG + b" 1}\n", f"line 5: .* {SPLIT}"),
    (".arff", DATA + b"1e999,u,0\n", "feature 'a' has an infinite value"),
    (".arff", HEAD * 2 + b"@data\n0,u,0,0,u,0", "two columns are named 'a'"),
    (".arff", b"@attribute a string\n", "line 1: column 'a' has type 'string'; only"),
    (".arff", b"@attribute a date 'yyyy-MM'\n", "line 1: column 'a' has type .date"),
    (".arff", b"@attribute 'a numeric\n", "line 1: .* expected a name, then a type"),
    (".arff", b"@attribute a\n", "line 1: .* expected a name, then a type"),
    (".arff", b"@attribute a {}\n", "line 1: the values of 'a' cannot be parsed"),
    (".arff", b"@attribute a {x,y\n", "line 1: the values of 'a' cannot be parsed"),
    (".arff", b"@attribute a {x,y z}\n", "line 1: the values of 'a' cannot be parsed"),
    (".arff", b"@attribute a {x,x}\n", "line 1: 'a' has a value twice"),
    (
        ".arff",
        b"@attribute '\\ud800' real\n",
        "line 1: .* has half of a surrogate pair",
    ),
    (".csv", b"", "is empty; its first line must name the columns"),
    (".csv", b"a,y\n", "has 0 rows"),
    (".csv", b"a,y\n1,0\n2\n", "line 3: Expected 2 columns, got 1"),
    (".csv", b"a,y\n1,0\n2,\xff\n", "'0', with text, such as 'ÿ'"),
    (".csv", b"a,y\n1,\0\xff\n", "holds binary data"),
    (".csv", b"\xff\xfea\0,\0y\0\n", "cannot be decoded"),
    (".jsonl", b"", "is empty"),
    (".jsonl", b'{"a": 1}\n[2]\n', "line 2: is not a JSON object"),
    (".jsonl", b'{"a": 1}\n{"a": \n', "line 2: is not JSON"),
    (".jsonl", b'{"a": ' + b"[" * 100_000, "line 1: is not JSON"),
    (".jsonl", b'{"a": 1' + b"0" * 5000 + b"}", "line 1: is not JSON"),
    (".csv", b"a,a\n1,0\n", "two columns are named 'a'"),
    (".csv", b"a,y\n1,maybe\n", "label 'y' is 'maybe' in row 1"),
    (".csv", b'"' + LONG * 20, "line 1: the header cannot be parsed: field larger"),
    (".parquet", b"PAR1", "cannot be read as Parquet"),
    (".libsvm", b"# nothing\n", "has no rows"),
    (".libsvm", b"1 1:1\n1 2\n", "line 2: '2'; expected a feature such as 12:0.5"),
    (".libsvm", b"1 1:1\nx 2:1\n", "line 2: labels 'x'; expected integers"),
    (".libsvm", b"1,1 1:1\n", "line 1: '1,1' has a label twice"),
    (".libsvm", b"1 3:1 3:1\n", "line 1: has a feature index twice"),
    (".libsvm", b"1 -3:1\n", "line 1: '-3:1'; expected a feature"),
    (
        ".libsvm",
        b"1 1000000000:1\n",
        "its 1,000,000,001 columns need more than the 210 MB",
    ),
    (".libsvm", b"1 " + LONG + b":1\n", r"line 1: '9+\.\.\.'; expected a feature"),
    (".libsvm", b" 1:1\n", "1 rows, 1 features and 0 labels"),
    (".libsvm", NAMES + b'[["a"],["x"]]\n0 2:1\n', "names 1 features, .*2 to 2 occur"),
    (".libsvm", NAMES + b'[["a"],["x"]]\n1 1:1\n', "names 1 labels, .*1 to 1 occur"),
    (".libsvm", NAMES + b'[["a","a"],[]]\n0 1:1\n', "line 1: .*two features are named"),
    (".libsvm", NAMES + b"[[1],[2]]\n0 1:1\n", "line 1: its names must be two lists"),
    (".libsvm", NAMES + b"[" * 10**5 + b"\n0 1:1\n", "line 1: its names cannot"),
    (".npz", b"PK\3\4", "cannot be read as .npz"),
    (".npz", b"\x93NUMPY", "is not an .npz archive"),
    (".npz", npz_bytes(Y=np.eye(2)), r"has no X, nor all parts .*it holds Y\."),
    (".npz", npz_bytes(X=np.eye(2)), r"has no Y; it holds X\."),
    (".npz", npz_bytes(X=np.eye(2), Y=np.ones(2)), "Y has shape"),
    (".npz", npz_bytes(X=np.ones(2), Y=np.eye(2)), "X has shape"),
    (".npz", npz_bytes(X=np.eye(2), Y=np.eye(3)), "Y has shape"),
    (".npz", npz_bytes(X=np.eye(2) * 1j, Y=np.eye(2)), "X holds complex128"),
    (".npz", npz_bytes(X=np.eye(1), Y=np.eye(1), label_names=[]), "expected 1 strings"),
    (".npz", npz_bytes(X=np.eye(1), Y=np.array([[{}]])), "Object arrays cannot be"),
]


@pytest.mark.parametrize(
    ("suffix", "data", "message"), CASES, ids=[case[2][:40] for case in CASES]
)
def test_the_reason_is_given(tmp_path, suffix, data, message):
    path = tmp_path / f"bad{suffix}"
    path.write_bytes(data)
    labels = None if suffix in (".libsvm", ".npz") else "last 1"
    with pytest.raises(ValueError, match=rf"bad\{suffix}: .*{message}"):
        read(path, labels)


@pytest.mark.parametrize(
    ("pieces", "message"),
    [
        ({"indices": [0, 2]}, "indices must be < 2"),
        ({"indices": [0, 2**32]}, "indices must be < 2"),
        ({"indices": [0, -1]}, "indices must be >= 0"),
        ({"indices": [0.5, 1]}, "'indices' must be a 1-D array of integers"),
        ({"indptr": [0, 2, 1]}, "indptr"),
        ({"indptr": [0, 1]}, r"its shape is \(2, 2\), but its indptr has 1 rows"),
        ({"indptr": [1, 1, 2]}, "index pointer should start with 0"),
        ({"shape": [2]}, r"its shape is \(2,\)"),
        ({"shape": [2, 10**9]}, "its 1,000,000,002 columns need more"),
        ({"data": [1.0]}, "length|size"),
        ({"format": b"csc"}, "not CSR"),
    ],
)
def test_pieces_that_make_no_matrix(tmp_path, pieces, message):
    good = {"data": [1.0, 2.0], "indices": [0, 1], "indptr": [0, 1, 2], "shape": [2, 2]}
    path = tmp_path / "bad.npz"
    path.write_bytes(npz_bytes(Y=np.eye(2), **{**good, **pieces}))
    with pytest.raises(ValueError, match=rf"bad\.npz: .*(?:{message})"):
        read(path)


# No hang and no memory out of nothing


LAUGHS = b"""<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha">
<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>
<labels><label name="&c;"/></labels>"""

OUTSIDE = b"""<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a SYSTEM "file:///etc/hosts">]>
<labels><label name="&a;"/></labels>"""

# 60,000 elements that each have an attribute of 400,000 letters.
DEFAULTS = b'<!DOCTYPE l [<!ATTLIST label name CDATA "' + b"x" * 400_000 + b'">]>'
DEFAULTS += b"<labels>" + b"<label/>" * 60_000 + b"</labels>"


@pytest.mark.parametrize("xml", [LAUGHS, OUTSIDE, DEFAULTS], ids=["in", "out", "attr"])
def test_nothing_in_xml_is_expanded(tmp_path, xml):
    error = outcome(tmp_path, ".arff", SPARSE, "xml", xml)
    assert "has a DTD" in str(error)


def lying_npz(shape):
    """An archive whose array states a shape that it does not hold."""
    header = io.BytesIO()
    about = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, about)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", header.getvalue() + b"\0" * 800)
        archive.writestr("Y.npy", header.getvalue() + b"\0" * 800)
    return buffer.getvalue()


def lying_directory():
    """An archive whose directory states a size that no packing reaches."""
    data = bytearray(lying_npz((2**26, 1)))
    for at in (i for i in range(len(data)) if data[i : i + 4] == b"PK\1\2"):
        data[at + 24 : at + 28] = (2**29 + 2**20).to_bytes(4, "little")
    return bytes(data)


def bomb(pack, line, count=75):
    """Many streams in one file: each is small, and all unpack to 75 MiB."""
    return pack(line) * count


LINE = b"%" + b"0" * 2**20 + b"\n"

BOMBS = {
    "a count in the header": (".arff", DENSE.replace(b"-3'", b"-1000000000'")),
    "a column number": (".arff", SPARSE.replace(b"{}", b"{1000000000 1}")),
    "a feature index": (".libsvm", PLAIN_LIBSVM + b"1 1000000000:1\n"),
    "a shape": (".npz", lying_npz((10**6, 10**6))),
    "a negative shape": (".npz", lying_npz((-1, 10))),
    "an overflowing shape": (".npz", lying_npz((2**40, 2**40))),
    "a directory": (".npz", lying_directory()),
    "gz of lines": (".arff.gz", bomb(gzip.compress, LINE)),
    "gz of one line": (".libsvm.gz", bomb(gzip.compress, LINE[:-1])),
    "xz": (".csv.xz", bomb(lzma.compress, LINE)),
    "bz2": (".parquet.bz2", bomb(bz2.compress, LINE)),
    "npz in gz": (".npz.gz", bomb(gzip.compress, LINE)),
    "values without end": (".arff", b"@attribute a {" + b"a," * 10**5),
    "a quote without end": (".arff", b"@attribute '" + b"\\" * 10**5 + b" real\n"),
    "quotes": (".arff", b"@attribute a {" + b"'a' ,  \"" * 10**4 + b"\n"),
    "backslashes": (".arff", DATA + b"1,'" + b"\\" * 10**5 + b",0\n"),
    "spaces": (".arff", DATA + b"1," + b" " * 10**5 + b"'u,0\n"),
    "braces": (".arff", DATA + b"{" + b"{" * 10**5 + b"\n"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_takes_little_time_and_memory(tmp_path, name, monkeypatch):
    """A quarter of the budget that it would have; test_budget.py is about that."""
    monkeypatch.setenv("HOMI_MAX_MEMORY", str(50 * 2**20))
    suffix, data = BOMBS[name]
    labels = "last 2" if "csv" in suffix or "parquet" in suffix else None
    tracemalloc.start()
    started = time.process_time()
    try:
        error = outcome(tmp_path, suffix, data, labels)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(error, ValueError)
    assert peak < 65e6
    assert time.process_time() - started < 10


def test_a_line_has_a_length(tmp_path, monkeypatch):
    monkeypatch.setenv("HOMI_MAX_MEMORY", "64e6")
    error = outcome(tmp_path, ".libsvm", b"1 1:1\n" + b"0" * 2**21, None)
    assert "line 2: lines of 1,000,000 bytes need more than the 64 MB" in str(error)


def test_what_few_bytes_stand_for_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setenv("HOMI_MAX_MEMORY", "1e6")
    sparse_labels = b"".join(b"@attribute y%d {0,1}\n" % i for i in range(200))
    rows = b"@attribute a real\n" + sparse_labels + b"@data\n" + b"{}\n" * 2000
    error = outcome(tmp_path, ".arff", rows, "last 200")
    assert "its 2,000 rows of 200 labels need more than the 1 MB" in str(error)
    nominal = sparse_labels.replace(b"{0,1}", b"{1,0}") + b"@data\n" + b"{}\n" * 2000
    error = outcome(tmp_path, ".arff", nominal, "last 1")
    assert "its nominal features, as numbers, need more" in str(error)
    libsvm = b"".join(b"%d 1:1\n" % i for i in range(1000))
    error = outcome(tmp_path, ".libsvm", libsvm, None)
    assert "its 1,000 rows of 1,000 labels need more" in str(error)
    buffer = io.BytesIO()
    zeros = np.zeros(10**6, dtype=np.int8)
    pq.write_table(pa.table({"a": zeros, "y": zeros}), buffer)
    error = outcome(tmp_path, ".parquet", buffer.getvalue(), "last 1")
    assert "its 1,000,000 rows of 2 columns need more" in str(error)


# Longer, by chance


TOKENS = ["@relation", "@attribute", "@data", "numeric", "{0,1}", "{", "}", "'", '"']
TOKENS += ["\\", ",", " ", "\t", "\n", "\r\n", "%", "?", "-C", "-1", "0", "1", "2.5"]
TOKENS += ["1e9", "nan", "a", "y", "#", "# names ", ":", "[", "]", "é", "\0", "0:1"]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".arff", ".csv", ".tsv", ".libsvm", ".xml"])
@settings(max_examples=3000)
@given(tokens=st.lists(st.sampled_from(TOKENS), max_size=60), start=st.booleans())
def test_fuzz_of_tokens(tmp_path_factory, suffix, tokens, start):
    text = "".join(tokens).encode()
    directory = tmp_path_factory.getbasetemp()
    if suffix == ".xml":
        outcome(directory, ".arff", SPARSE, "xml", b"<labels>" * start + text)
    else:
        text = DATA + text if start and suffix == ".arff" else text
        labels = None if suffix == ".libsvm" else "last 1"
        outcome(directory, suffix, text, labels)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
@settings(max_examples=1500)
@given(seed=st.integers(0, 2**32), count=st.integers(1, 4))
def test_fuzz_of_mutations(tmp_path_factory, name, seed, count):
    suffix, data, labels = FILES[name]
    rng = random.Random(seed)
    for _ in range(count):
        data = rng.choice(MUTATIONS)(data, rng) or b"\n"
    outcome(tmp_path_factory.getbasetemp(), suffix, data, labels)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a,b,c\n1,0,1\n4,5\n", 3),
        ('a,b,c\n"1\n2",0,1\n4,5\n', 4),
        ("a,b,c\n\n1,0,1\n\n4,5\n", 5),
        ("a,b,c\n1,0,1\n1,0,1\n1,0,1,7\n1,0,1\n", 4),
    ],
)
def test_a_short_or_long_row_is_named_by_its_line(tmp_path, text, line):
    path = tmp_path / "rows.csv"
    path.write_text(text)
    with pytest.raises(
        ValueError, match=rf"rows\.csv: line {line}: Expected 3 columns"
    ):
        read(path, "last 1")


@pytest.mark.parametrize("order", ["<", ">"])
def test_names_beyond_unicode_are_refused(order, tmp_path):
    names = np.array([0x110000, 65], dtype=f"{order}u4").view(f"{order}U1")
    path = tmp_path / "odd.npz"
    np.savez(path, X=np.eye(2), Y=np.eye(2), feature_names=names)
    with pytest.raises(ValueError, match=r"odd\.npz: .*text that is not Unicode"):
        read(path)
    np.savez(path, X=np.eye(2), Y=np.eye(2), feature_names=np.array(["ä", "𝛽"]))
    assert read(path).feature_names == ["ä", "𝛽"]
