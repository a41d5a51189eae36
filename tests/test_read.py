"""Reading files of every format."""

import lzma
import os
import re
from datetime import date
from pathlib import Path
from xml.etree import ElementTree

import arff
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import LabelBinarizer

from homi.arrays import dense
from homi.datasets import Dataset, read, write
from sample_files import TABLES, assert_same, large_ones_slow, make

# Which columns are labels


CSV = "tag_a,b,tag_c,d e\n0,1.5,1,0\n1,2,0,1\n1,-3,1,1\n"


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("first 1", ["tag_a"]),
        ("last 2", ["tag_c", "d e"]),
        (" LAST  1 ", ["d e"]),
        (["d e", "tag_a"], ["tag_a", "d e"]),
        (("tag_c",), ["tag_c"]),
        ("tag_*", ["tag_a", "tag_c"]),
        ("*[ae]", ["tag_a", "d e"]),
        ("d e", ["d e"]),
    ],
)
def test_ways_to_choose_labels(tmp_path, labels, expected):
    path = tmp_path / "d.csv"
    path.write_text(CSV)
    found = read(path, labels)
    names = CSV.split("\n")[0].split(",")
    assert found.label_names == expected
    assert found.feature_names == [name for name in names if name not in expected]
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    chosen = np.isin(names, expected)
    np.testing.assert_array_equal(found.Y, table[:, chosen])
    np.testing.assert_array_equal(found.X, table[:, ~chosen])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (None, "no label columns are chosen; pass labels='first 6'"),
        ("first 0", "'first 0' is not possible with 4 columns"),
        ("last 4", "'last 4' is not possible with 4 columns"),
        ("first 99999999999999999999", "matches none of the 4 columns"),
        ("x_*", r"labels='x_\*' matches none of the 4 columns, such as 'tag_a'"),
        (["tag_a", "no"], "1 of the chosen labels are not in the file, such as 'no'"),
        (["tag_a", "tag_a"], "two chosen labels are named 'tag_a'"),
        ([], r"labels=\[\] is not a choice of columns"),
        (6, "labels=6 is not a choice of columns"),
        ([0, 1], r"labels=\[0, 1\] is not a choice of columns"),
        ("b", "label 'b' is 1.5 in row 1; every label must be 0 or 1"),
        ("*", "3 rows, 0 features and 4 labels"),
    ],
)
def test_labels_that_cannot_be(tmp_path, labels, message):
    path = tmp_path / "d.csv"
    path.write_text(CSV if labels != "*" else re.sub("1.5|2|-3", "1", CSV))
    with pytest.raises(ValueError, match=rf"d\.csv: .*{message}"):
        read(path, labels)


HEADER = """@relation {relation}
@attribute a {{0,1}}
@attribute b {{0,1}}
@attribute c {{0,1}}
@data
0,1,1
1,0,0
"""


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        ("'set: -C 2'", ["a", "b"]),
        ('"set: -C -2 -split 3"', ["b", "c"]),
        ("set:-C\t1", ["a"]),
        ("'x -C 2-weka.filters.unsupervised.attribute.Normalize'", ["a", "b"]),
    ],
)
def test_the_header_of_meka_says_it(tmp_path, relation, expected):
    path = tmp_path / "d.arff"
    path.write_text(HEADER.format(relation=relation))
    assert read(path).label_names == expected
    assert read(path, "last 1").label_names == ["c"]


@pytest.mark.parametrize(
    ("relation", "message"),
    [
        ("plain", "no label columns .* XML file of the same name beside it"),
        ("'-C 0'", "no label columns"),
        ("'-C 3'", "'first 3' is not possible with 3 columns"),
        ("'-C -1000000000'", "'last 1000000000' is not possible with 3 columns"),
        (
            "'-C 2-weka.filters.unsupervised.attribute.Reorder-R3,1'",
            "is not used, because the columns were reordered",
        ),
    ],
)
def test_a_header_of_meka_that_says_nothing_useful(tmp_path, relation, message):
    path = tmp_path / "d.arff"
    path.write_text(HEADER.format(relation=relation))
    with pytest.raises(ValueError, match=message):
        read(path)


def test_an_xml_file_names_the_labels(tmp_path):
    path, beside = tmp_path / "d.arff", tmp_path / "d.xml"
    path.write_text(HEADER.format(relation="'-C 1'"))
    beside.write_text(
        '<labels xmlns="http://mulan.sourceforge.net/labels"><label name="c">'
        '<label name="b"></label></label></labels>'
    )
    assert read(path).label_names == ["b", "c"]  # goes before the count in the header
    beside = beside.rename(tmp_path / "other.xml")
    assert read(path).label_names == ["a"]
    for labels in (beside, str(beside)):
        assert read(path, labels).label_names == ["b", "c"]
    with pytest.raises(FileNotFoundError, match=r"nope\.xml"):
        read(path, tmp_path / "nope.xml")


@pytest.mark.parametrize("suffix", [".libsvm", ".npz"])
def test_formats_with_labels_of_their_own(tmp_path, suffix):
    path = tmp_path / f"d{suffix}"
    write(make(["a", "b"], ["x"]), path)
    with pytest.raises(ValueError, match="states its own labels"):
        read(path, "first 1")


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        ("{0,1}", "0 1 1", [0, 1, 1]),
        ("{1,0}", "0 1 1", [0, 1, 1]),
        ("{false, true}", "false true false", [0, 1, 0]),
        ("{TRUE,FALSE}", "TRUE TRUE FALSE", [1, 1, 0]),
        ("{no,Yes}", "no Yes Yes", [0, 1, 1]),
        ("{'0','1','2'}", "0 1 '1'", [0, 1, 1]),
        ("numeric", "0 1 1.0", [0, 1, 1]),
    ],
)
def test_spellings_of_a_label(tmp_path, kind, values, expected):
    path = tmp_path / "d.arff"
    rows = "\n".join(f"{i},{value}" for i, value in enumerate(values.split()))
    path.write_text(
        f"@relation r\n@attribute a real\n@attribute y {kind}\n@data\n{rows}\n"
    )
    np.testing.assert_array_equal(read(path, ["y"]).Y[:, 0], expected)


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        ("{none,some}", "some", "label 'y' is 'some' in row 2"),
        ("{0,1,2}", "2", "label 'y' is '2' in row 2"),
        ("numeric", "-1", "label 'y' is -1 in row 2"),
        ("numeric", "0.5", "label 'y' is 0.5 in row 2"),
        ("{0,1}", "?", "label 'y' is missing in row 2"),
    ],
)
@pytest.mark.parametrize("in_braces", [False, True])
def test_what_is_no_label(tmp_path, kind, value, message, in_braces):
    path = tmp_path / "d.arff"
    good = "1" if "1" in kind else "none" if "none" in kind else "0"
    rows = [f"{{1 {v}}}" if in_braces else f"0,{v}" for v in (good, value)]
    path.write_text(
        f"@relation r\n@attribute a real\n@attribute y {kind}\n@data\n"
        + "\n".join(rows)
    )
    if kind == "{none,some}":
        message = "label 'y' is 'none' in row 1"
    with pytest.raises(ValueError, match=message):
        read(path, ["y"], missing="mean")


# Nominal features


NOMINAL = """@relation r
@attribute sky {blue,'light grey',black}
@attribute station {17,3.5}
@attribute flag {0,1}
@attribute back {1,0}
@attribute y {0,1}
@data
"""

DENSE_ROWS = "blue,17,0,1,0\n'light grey',3.5,1,0,1\nblack,17,0,0,0\nblue,17,0,1,0\n"
SPARSE_ROWS = "{}\n{0 'light grey',1 3.5,2 1,3 0,4 1}\n{0 black,3 0}\n{0 blue,3 1}\n"


@pytest.mark.parametrize("rows", [DENSE_ROWS, SPARSE_ROWS], ids=["dense", "sparse"])
def test_nominal_features(tmp_path, rows):
    path = tmp_path / "d.arff"
    path.write_text(NOMINAL + rows)
    codes = read(path, "last 1")
    expected = [[0, 17, 0, 1], [1, 3.5, 1, 0], [2, 17, 0, 0], [0, 17, 0, 1]]
    np.testing.assert_array_equal(dense(codes.X), expected)
    assert codes.feature_names == ["sky", "station", "flag", "back"]
    onehot = read(path, "last 1", nominal="onehot")
    assert onehot.feature_names == [
        *("sky=blue", "sky=light grey", "sky=black"),
        *("station=17", "station=3.5", "flag=0", "flag=1", "back=1", "back=0"),
    ]
    np.testing.assert_array_equal(
        dense(onehot.X),
        [
            [1, 0, 0, 1, 0, 1, 0, 1, 0],
            [0, 1, 0, 0, 1, 0, 1, 0, 1],
            [0, 0, 1, 1, 0, 1, 0, 0, 1],
            [1, 0, 0, 1, 0, 1, 0, 1, 0],
        ],
    )
    assert sparse.issparse(onehot.X) == sparse.issparse(codes.X) == ("{" in rows)
    if sparse.issparse(onehot.X):
        assert onehot.X.format == codes.X.format == "csr"
        assert onehot.X.indices.dtype == codes.X.indices.dtype == np.int32
        assert onehot.X.data.all()
        assert codes.X.data.all()


def test_in_sparse_arff_an_absent_label_is_the_first_declared(tmp_path):
    path = tmp_path / "d.arff"
    path.write_text(
        "@relation r\n@attribute a numeric\n@attribute y {1,0}\n@attribute z {0,1}\n"
        "@data\n{0 2}\n{1 0}\n{1 1,2 1}\n"
    )
    np.testing.assert_array_equal(read(path, "last 2").Y, [[1, 0], [0, 0], [1, 1]])


def test_nominal_text_of_a_csv_is_sorted(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("sky,ok,y\ngrey,True,0\n blue,False,1\ngrey ,True,1\n")
    found = read(path, "last 1")
    np.testing.assert_array_equal(found.X, [[1, 1], [0, 0], [1, 1]])
    onehot = read(path, "last 1", nominal="onehot")
    assert onehot.feature_names == ["sky=blue", "sky=grey", "ok=False", "ok=True"]


def test_names_that_meet_after_one_hot_coding(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("a,a=u,y\nu,1,0\nv,2,1\n")
    with pytest.raises(ValueError, match="two features are named 'a=u'"):
        read(path, "last 1", nominal="onehot")


# Missing values


GAPS = """@relation r
@attribute a numeric
@attribute sky {blue,grey,5}
@attribute b numeric
@attribute y {0,1}
@data
"""

DENSE_GAPS = "1,grey,4,0\n?,?,?,1\n3,grey,0,0\n8,blue,0,1\n"
SPARSE_GAPS = "{0 1,1 grey,2 4}\n{0 ?,1 ?,2 ?,3 1}\n{0 3,1 grey}\n{0 8,3 1}\n"


@pytest.mark.parametrize("rows", [DENSE_GAPS, SPARSE_GAPS], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    ("missing", "expected"),
    [
        ("mean", [4, 1, 4 / 3]),
        ("median", [3, 1, 0]),
        ("most_frequent", [1, 1, 0]),
        ("zero", [0, 0, 0]),
    ],
)
def test_missing_values_can_be_filled(tmp_path, rows, missing, expected):
    path = tmp_path / "d.arff"
    path.write_text(GAPS + rows)
    found = read(path, "last 1", missing=missing)
    np.testing.assert_allclose(dense(found.X)[1], expected)
    np.testing.assert_array_equal(
        dense(found.X)[[0, 2, 3]], [[1, 1, 4], [3, 1, 0], [8, 0, 0]]
    )
    if sparse.issparse(found.X):
        assert found.X.data.all()
    onehot = read(path, "last 1", missing=missing, nominal="onehot")
    hot = [0, 0, 0] if missing == "zero" else [0, 1, 0]
    np.testing.assert_array_equal(dense(onehot.X)[1, 1:4], hot)


def test_values_without_a_finite_mean_are_refused(tmp_path):
    """scikit-learn's imputer takes 0 where a mean overflows."""
    path = tmp_path / "d.csv"
    path.write_text("a,y\n1e308,0\n1e308,1\n,0\n")
    for how in ("mean", "median"):
        with pytest.raises(ValueError, match="column 'a' has values beyond 1e"):
            read(path, "last 1", missing=how)
    found = read(path, "last 1", missing="most_frequent")
    np.testing.assert_array_equal(found.X, np.full((3, 1), 1e308))


def test_missing_values_are_counted(tmp_path):
    path = tmp_path / "d.arff"
    path.write_text(GAPS + DENSE_GAPS + "?,blue,1,0\n")
    message = (
        r"4 missing value\(s\) in 3 column\(s\): 'a' \(2\), 'sky' \(1\), 'b' \(1\)"
    )
    with pytest.raises(ValueError, match=rf"d\.arff: {message}; pass missing='mean'"):
        read(path, "last 1")


@pytest.mark.parametrize("text", ["", "?", "NA", "nan", "NaN", " null ", '""'])
def test_ways_to_write_a_missing_value_in_csv(tmp_path, text):
    path = tmp_path / "d.csv"
    path.write_text(f"a,sky,y\n1,u,0\n{text},{text},1\n3,u,1\n")
    with pytest.raises(ValueError, match=r"2 missing value\(s\)"):
        read(path, "last 1")
    found = read(path, "last 1", missing="mean")
    np.testing.assert_array_equal(found.X, [[1, 0], [2, 0], [3, 0]])


def test_a_column_without_any_value_has_no_mean(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("a,b,y\n,1,0\n,2,1\n")
    with pytest.raises(ValueError, match="column 'a' has no value at all"):
        read(path, "last 1", missing="mean")
    np.testing.assert_array_equal(
        read(path, "last 1", missing="zero").X, [[0, 1], [0, 2]]
    )


# ARFF


def test_quotes_decide_what_a_backslash_is(tmp_path):
    path = tmp_path / "d.arff"
    path.write_text(
        "@RELATION r\n"
        "@attribute 'Swainson\\'s Thrush' numeric\n"
        "@ATTRIBUTE TAG_dise\\~no {0,1}\n"
        "@Attribute TAG_m\\'usica {0,1}\n"
        '@attribute\t"a \\"b\\" \\\\ c"\tREAL\n'
        "@attribute don't{0,1}\n"
        "@attribute 'uni\\u00e9\\101' { '\\'', \"it's\" } % remark\n"
        "@data\n1,0,1,2.5,0,'\\''\n\n% remark\n 0 , 1, 0,\t-1,1, \"it's\" \n"
    )
    found = read(path, ["TAG_dise\\~no", "TAG_m\\'usica", "don't"])
    assert found.feature_names == ["Swainson's Thrush", 'a "b" \\ c', "unié\x41"]
    np.testing.assert_array_equal(found.X, [[1, 2.5, 0], [0, -1, 1]])
    np.testing.assert_array_equal(found.Y, [[0, 1, 0], [1, 0, 1]])


def test_a_comma_in_a_sparse_value_is_no_separator(tmp_path):
    path = tmp_path / "d.arff"
    path.write_text(
        "@attribute a {u,'x, y'}\n@attribute b real\n@attribute y {0,1}\n@data\n"
        "{0 'x, y',1 2}\n{2 1}\n"
    )
    np.testing.assert_array_equal(dense(read(path, "last 1").X), [[1, 2], [0, 0]])


@pytest.mark.parametrize("suffix", [".arff", ".csv", ".tsv", ".libsvm"])
def test_a_byte_order_mark_and_carriage_returns(tmp_path, suffix):
    data, path = make(["a", "b"], ["x", "y"]), tmp_path / f"d{suffix}"
    write(data, path)
    text = path.read_bytes().replace(b"\n", b"\r\n")
    path.write_bytes(b"\xef\xbb\xbf" + text)
    assert_same(read(path, "last 2" if suffix in TABLES else None), data)


def test_an_integer_attribute_keeps_its_fraction(tmp_path):
    path = tmp_path / "d.arff"
    path.write_text("@attribute a integer\n@attribute y {0,1}\n@data\n1.5,0\n2,1")
    np.testing.assert_array_equal(read(path, "last 1").X[:, 0], [1.5, 2])


def test_a_nominal_list_may_be_long(tmp_path):
    path = tmp_path / "d.arff"
    words = [f"'w {i}'" for i in range(50_000)]
    path.write_text(
        f"@attribute a {{{','.join(words)}}}\n@attribute y {{0,1}}\n@data\n"
        f"{words[-1]},0\n{words[7]},1\n"
    )
    np.testing.assert_array_equal(read(path, "last 1").X[:, 0], [49_999, 7])


def test_what_liac_arff_is_relied_on_for():
    """Splits a row into texts, None where a value is missing; dicts for braces."""

    def rows(line, form):
        header = ["@relation r", *(f"@attribute a{j} string" for j in range(3))]
        return list(arff.load(iter([*header, "@data", line]), return_type=form)["data"])

    line = r"""'a, \'b\' \\ \t',?, "c" """
    assert rows(line, arff.DENSE_GEN) == [["a, 'b' \\ \t", None, "c"]]
    assert rows("1.50,,x", arff.DENSE_GEN) == [["1.50", None, "x"]]
    assert rows("{2 'x, y',0 ?}", arff.LOD_GEN) == [{2: "x, y", 0: None}]
    assert rows("{ }", arff.LOD_GEN) == [{}]
    for line, form in [("1,2", arff.DENSE_GEN), ("{3 1}", arff.LOD_GEN)]:
        with pytest.raises(arff.BadDataFormat):
            rows(line, form)
    for line, form in [("'1,2,3", arff.DENSE_GEN), ("{1 1,}", arff.LOD_GEN)]:
        with pytest.raises(arff.BadLayout):
            rows(line, form)


def test_why_liac_arff_is_not_given_the_header():
    """The day one of these fails, liac-arff has changed: look at homi's use of it."""
    text = "@relation r\n@attribute {}\n@attribute b numeric\n@data\n{}\n"

    def names(attribute, row):
        return arff.loads(text.format(attribute, row))

    assert names(r"'it\'s' numeric", "1,2")["attributes"][0][0] == r"it\'s"
    assert names("a integer", "1.5,2")["data"] == [[1, 2]]
    assert names("a integer", "nan,2")["data"] == [["nan", "2"]]
    assert names("a numeric", "1_0,2")["data"] == [[10, 2]]
    doubled = arff.loads(text.format("a numeric", "{0 1,0 2}"), return_type=arff.LOD)
    assert doubled["data"] == [{0: 2}]
    with pytest.raises(arff.BadAttributeType):
        names("'a' {x, 'y' }", "x,2")
    with pytest.raises(IndexError):
        names("a {}", "1,2")
    with pytest.raises(arff.BadDataFormat) as caught:
        names("a numeric", "100%,1,1")
    with pytest.raises((TypeError, ValueError)):
        str(caught.value)


# CSV, TSV and Parquet


def test_the_type_of_a_column_is_decided_by_all_of_it(tmp_path):
    path = tmp_path / "d.csv"
    rows = [f"{i},{i % 2},{'+' if i % 2 else ''}1" for i in range(200_000)]
    rows += ["0.25,1,-1"]
    path.write_text("a,y,b\n" + "\n".join(rows))
    found = read(path, ["y"])
    assert found.X.shape == (200_001, 2)
    np.testing.assert_array_equal(found.X[-1], [0.25, -1])
    np.testing.assert_array_equal(found.X[:2, 1], [1, 1])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["2020-01-31", "2021-12-01", "2020-02-02"], "column 'd' holds dates"),
        (["31/1/2020", "1/12/2021", ""], "column 'd' holds dates"),
        (["1", "x", "2"], "column 'd' mixes numbers, such as '1', with text"),
        ([f"text {i}" for i in range(300)] * 2, "free text, with 300 distinct values"),
        ([f"text {i}" for i in range(25)], "free text, with 25 distinct values"),
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_text_that_is_not_nominal(tmp_path, values, message, suffix):
    path = tmp_path / f"d{suffix}"
    y = [i % 2 for i in range(len(values))]
    if suffix == ".csv":
        lines = [f"{value},{bit}" for value, bit in zip(values, y, strict=True)]
        path.write_text("\n".join(["d,y", *lines]))
    else:
        pq.write_table(pa.table({"d": values, "y": y}), path)
    with pytest.raises(ValueError, match=message):
        read(path, "last 1")


def test_types_of_parquet(tmp_path):
    path = tmp_path / "d.parquet"
    sky = pa.DictionaryArray.from_arrays(pa.array([1, None, 0]), ["grey", "blue"])
    columns = {
        "small": pa.array([1, 2, 3], pa.uint8()),
        "half": pa.array([1.5, None, 2], pa.float32()),
        "sky": sky,
        "text": pa.array(["b", "a", "b"], pa.large_string()),
        "numbers": pa.array(["1", "+2", "3e0"]),
        "on": pa.array([True, False, True]),
        "y": pa.array([False, True, True]),
    }
    pq.write_table(pa.table(columns), path)
    found = read(path, ["y"], missing="most_frequent")
    expected = [[1, 1.5, 1, 1, 1, 1], [2, 1.5, 0, 0, 2, 0], [3, 2, 0, 1, 3, 1]]
    np.testing.assert_array_equal(found.X, expected)
    np.testing.assert_array_equal(found.Y[:, 0], [0, 1, 1])


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array([date(2020, 1, 1)] * 2), "column 'a' has type date32"),
        (pa.array([[1], [2]]), "column 'a' has type list"),
        (pa.array([2**53 + 1, 0]), "column 'a' .*9007199254740993"),
    ],
)
def test_types_that_are_no_numbers(tmp_path, column, message):
    path = tmp_path / "d.parquet"
    pq.write_table(pa.table({"a": column, "y": [0, 1]}), path)
    with pytest.raises(ValueError, match=message):
        read(path, "last 1")


def test_the_index_of_pandas_is_no_feature(tmp_path):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "d.parquet"
    frame = pandas.DataFrame({"a": [1.0, 2], "y": [0, 1]}, index=["u", "v"])
    frame.to_parquet(path)
    assert read(path, "last 1").feature_names == ["a"]


# LIBSVM and npz


def test_libsvm_is_what_scikit_learn_reads(tmp_path):
    path = tmp_path / "d.svm"
    path.write_text("3,1 1:0.5 4:-2e3 # why\n\n 2:1\n7 1:0 3:1\n1,7 4:1\n# end\n")
    found = read(path)
    X, labels = load_svmlight_file(path, multilabel=True, n_features=4)
    np.testing.assert_array_equal(dense(found.X), X.toarray())
    assert found.label_names == ["1", "3", "7"]
    assert found.feature_names == ["1", "2", "3", "4"]
    chosen = [{found.label_names[j] for j in np.flatnonzero(row)} for row in found.Y]
    assert chosen == [{str(int(label)) for label in row} for row in labels]


def test_libsvm_counts_from_zero_if_zero_occurs(tmp_path):
    path = tmp_path / "d.txt"
    path.write_text("1 0:5 2:6\n0 1:7\n")
    found = read(path)
    np.testing.assert_array_equal(dense(found.X), [[5, 0, 6], [0, 7, 0]])
    assert found.feature_names == ["0", "1", "2"]


def test_npz_without_names_and_of_scipy(tmp_path):
    X = sparse.csr_array(np.array([[0, 2.0], [3, 0], [0, 0]]))
    Y = np.array([[True, False], [False, True], [True, True]])
    np.savez(tmp_path / "dense.npz", X=X.toarray().astype(np.float32), Y=Y)
    sparse.save_npz(tmp_path / "X.npz", X)
    pieces = dict(np.load(tmp_path / "X.npz"))
    np.savez(tmp_path / "sparse.npz", Y=Y.astype(float), **pieces)
    for name in ("dense", "sparse"):
        found = read(tmp_path / f"{name}.npz")
        assert sparse.issparse(found.X) == (name == "sparse")
        expected = Dataset(X, Y, ["x0", "x1"], ["y0", "y1"])
        assert_same(found, expected)


@pytest.mark.parametrize("labels", [128, 129])
def test_scikit_learn_numbers_many_labels_in_the_type_of_Y(tmp_path, labels):
    # scikit-learn 1.9 permutes columns of int8 where there are more than 128.
    bits = np.random.default_rng(0).random((40, labels)) < 0.3
    names = [f"y{j}" for j in range(labels)]
    write(Dataset(np.ones((40, 1)), bits, ["a"], names), tmp_path / "many.csv")
    Y = read(tmp_path / "many.csv", labels="y*").Y
    assert Y.dtype == (np.int8 if labels == 128 else np.int16)
    found = LabelBinarizer(sparse_output=True).fit_transform(Y)
    np.testing.assert_array_equal(found.toarray(), bits)


def test_npz_takes_names_as_bytes(tmp_path):
    names = np.array(["größe".encode(), b"b"])
    np.savez(tmp_path / "d.npz", X=np.eye(2), Y=np.eye(2), feature_names=names)
    assert read(tmp_path / "d.npz").feature_names == ["größe", "b"]


# Files and options


def test_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*nope\.arff"):
        read(tmp_path / "nope.arff")


@pytest.mark.parametrize("name", ["d.xlsx", "d", "d.gz", "arff", "d.arff.rar"])
def test_an_unknown_format(tmp_path, name):
    (tmp_path / name).write_text("x")
    with pytest.raises(ValueError, match=rf"{name}: not a file of a known format; exp"):
        read(tmp_path / name)
    with pytest.raises(ValueError, match="is not known; expected one of"):
        write(make(["a"], ["x"]), tmp_path / name)


def test_a_directory_is_no_file(tmp_path):
    (tmp_path / "d.csv").mkdir()
    with pytest.raises(ValueError, match="not a file"):
        read(tmp_path / "d.csv")


@pytest.mark.parametrize("option", [{"nominal": "hash"}, {"missing": "drop"}])
def test_unknown_options(tmp_path, option):
    with pytest.raises(ValueError, match="expected one of"):
        read(tmp_path / "d.csv", **option)


def test_rows_of_X_are_contiguous(tmp_path):
    write(make(["a", "b", "c"], ["x"]), tmp_path / "d.arff")
    assert read(tmp_path / "d.arff").X.flags.c_contiguous


# The data of the paper, against a parse of ten lines


PAPER = "CAL500 emotions birds langlog enron scene yeast corel5k bibtex corel16k001"
PAPER += " delicious mediamill-2500"


def plainly(text):
    """Names by their quotes, rows by their commas: right for these files alone."""
    header, body = re.split(r"(?im)^@data.*\n", text, maxsplit=1)
    names = [
        re.sub(r"\\(.)", r"\1", quoted) if quoted else bare
        for quoted, bare in re.findall(
            r"(?im)^@attribute\s+(?:'((?:[^'\\]|\\.)*)'|(\S+))", header
        )
    ]
    lines = [line for line in body.splitlines() if line.strip()]
    if not lines[0].startswith("{"):
        return names, np.loadtxt(lines, delimiter=",")
    values = np.zeros((len(lines), len(names)), dtype=np.int8)
    for row, line in zip(values, lines, strict=True):
        pairs = line.strip()[1:-1].replace(" 1", "").split(",")
        row[[int(j) for j in pairs if j]] = 1
    return names, values


@pytest.mark.parametrize("name", large_ones_slow(PAPER.split()))
def test_the_papers_data(name):
    path = Path(os.environ.get("HOMI_DATA") or "nowhere", f"{name}.arff.xz")
    if not path.is_file():
        pytest.skip(f"{name} is not at hand: HOMI_DATA names no directory with it")
    found = read(path)
    xml = ElementTree.parse(path.with_name(f"{name}.xml")).getroot()
    wanted = {element.get("name") for element in xml}
    names, values = plainly(lzma.decompress(path.read_bytes()).decode())
    is_label = np.array([name in wanted for name in names])
    assert is_label.sum() == len(wanted)
    assert found.feature_names == [name for name in names if name not in wanted]
    assert found.label_names == [name for name in names if name in wanted]
    assert (values[:, is_label] == found.Y).all()
    assert (dense(found.X) == values[:, ~is_label]).all()


def test_the_stations_of_birds():
    path = Path(os.environ.get("HOMI_DATA") or "nowhere", "birds.arff.xz")
    if not path.is_file():
        pytest.skip("birds is not at hand: HOMI_DATA names no directory with it")
    codes, onehot = read(path), read(path, nominal="onehot")
    station = codes.X[:, codes.feature_names.index("location")]
    hot = [n for n in onehot.feature_names if n.startswith("location=")]
    columns = [onehot.feature_names.index(name) for name in hot]
    assert (onehot.X[:, columns].sum(axis=1) == 1).all()
    values = np.array([float(name.removeprefix("location=")) for name in hot])
    np.testing.assert_array_equal(onehot.X[:, columns] @ values, station)
    assert onehot.X.shape[1] == 258 + 2 + len(hot)
