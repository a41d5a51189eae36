"""Loading by name, from a directory or from an installed package."""

import gzip
import lzma
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from homi.datasets import load

XML = """<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="it's"></label><label name="warm day"></label></labels>"""

DENSE = """@relation weather
% a comment
@attribute 'warm day' {0,1}
@attribute wind numeric
@attribute sky {grey,blue}
@attribute station {3,1}
@attribute 'it\\'s' {0,1}
@data
1, 0.5, blue, 3, 0
0, -2, grey, 1, 1
"""

SPARSE = """@relation words
@attribute a numeric
@attribute b numeric
@attribute 'it\\'s' {0,1}
@attribute 'warm day' {0,1}
@data
{0 2.5,3 1}
{}
{1 1,2 1}
"""


def write(directory, name, text, open_=open, end=""):
    with open_(directory / f"{name}.arff{end}", "wt") as file:
        file.write(text)
    (directory / f"{name}.xml").write_text(XML)


@pytest.mark.parametrize(
    ("open_", "end"), [(open, ""), (lzma.open, ".xz"), (gzip.open, ".gz")]
)
def test_dense_arff(tmp_path, open_, end):
    write(tmp_path, "weather", DENSE, open_, end)
    X, Y, features, labels = load("weather", tmp_path)
    assert features == ["wind", "sky", "station"]
    assert labels == ["warm day", "it's"]
    np.testing.assert_array_equal(X, [[0.5, 1, 3], [-2, 0, 1]])
    np.testing.assert_array_equal(Y, [[1, 0], [0, 1]])


def test_sparse_arff_stays_sparse(tmp_path, monkeypatch):
    write(tmp_path, "words", SPARSE)
    monkeypatch.setenv("HOMI_DATA", str(tmp_path))
    X, Y, _, labels = load("words")
    assert sparse.issparse(X)
    np.testing.assert_array_equal(X.toarray(), [[2.5, 0], [0, 0], [0, 1]])
    np.testing.assert_array_equal(Y, [[0, 1], [0, 0], [1, 0]])
    assert labels == ["it's", "warm day"]


def test_yeast_is_always_at_hand(monkeypatch):
    monkeypatch.delenv("HOMI_DATA", raising=False)
    X, Y, features, labels = load("yeast")
    assert X.shape == (2417, 103)
    assert Y.shape == (2417, 14)
    assert Y.sum() / len(Y) == pytest.approx(4.237, abs=5e-4)
    assert (features[0], labels[-1]) == ("Att1", "Class14")


def test_yeast_of_the_package_is_that_of_the_file(data, monkeypatch):
    if not data("emotions"):
        return
    from_file = load("yeast")
    monkeypatch.delenv("HOMI_DATA")
    from_package = load("yeast")
    np.testing.assert_array_equal(from_file.X, from_package.X)
    np.testing.assert_array_equal(from_file.Y, from_package.Y)


@pytest.mark.parametrize(
    ("name", "shape", "n_labels", "cardinality"),
    [
        ("CAL500", (502, 68), 174, 26.044),
        ("emotions", (593, 72), 6, 1.868),
        ("birds", (645, 260), 19, 1.014),
        ("enron", (1702, 1001), 53, 3.378),
        ("corel5k", (5000, 499), 374, 3.522),
        ("delicious", (16105, 500), 983, 19.020),
    ],
)
def test_shapes_of_the_papers_data(data, name, shape, n_labels, cardinality):
    X, Y, features, labels = data(name)
    assert X.shape == shape
    assert Y.shape == (shape[0], n_labels)
    assert (len(features), len(labels)) == (shape[1], n_labels)
    assert Y.sum() / len(Y) == pytest.approx(cardinality, abs=5e-4)


def test_a_missing_data_set_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.delenv("HOMI_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match="HOMI_DATA is not set; put nope"):
        load("nope")
    with pytest.raises(FileNotFoundError, match="has none; put nope"):
        load("nope", tmp_path)


def test_labels_of_another_data_set_are_an_error(tmp_path):
    write(tmp_path, "words", SPARSE.replace("warm day", "cold day"))
    with pytest.raises(ValueError, match=r"1 label\(s\) that .* such as 'warm day'"):
        load("words", tmp_path)


def test_without_its_packages_the_import_says_what_to_install():
    code = "import sys; sys.modules['arff'] = None; import homi.datasets"
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "pip install 'homi[data]'" in result.stderr
