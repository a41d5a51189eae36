"""The registry is data, and the data sets that come another way take part too."""

import dataclasses
import re
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest

from homi.benchmark.experiment_file import read_experiment
from homi.benchmark.results import read_results
from homi.benchmark.runner import run
from homi.datasets import load
from homi.datasets.load import at_hand
from homi.datasets.python_functions import _function, _prose, python_functions
from homi.datasets.registry import (
    Citation,
    Entry,
    UnknownDataset,
    lookup,
    registry,
    require,
)
from homi.paper.results import read_paper_results

ROOT = Path(__file__).parents[1]

PAPER = [
    *("mediamill", "CAL500", "emotions", "enron", "bibtex", "delicious", "langlog"),
    *("birds", "yeast", "scene", "corel5k", "corel16k001"),
]

#: Data sets that no design has seen.
JUDGED = [
    *("slashdot", "reuters-k500", "ohsumed", "20ng", "image", "PlantPseAAC"),
    *("GnegativeGO", "Water-quality", "yahoo-arts"),
]

SOUND = {
    "name": "tiny",
    "n_samples": 3,
    "n_features": 2,
    "n_labels": 2,
    "labels": "last 2",
    "sha256": "0" * 64,
    "n_bytes": 100,
    "domain": "text",
    "citation": Citation("A. Nobody", "Nothing", "Nowhere", 2000),
}


def test_the_twelve_of_the_paper_one_more_and_nine_for_judgment():
    assert list(registry()) == [*PAPER, "mediamill-2500", *JUDGED]
    assert all(name == entry.name for name, entry in registry().items())


@pytest.mark.parametrize("entry", registry().values(), ids=lambda e: e.name)
def test_an_entry_is_whole(entry):
    assert min(entry.n_samples, entry.n_features, entry.n_labels) > 1
    assert entry.labels in (f"last {entry.n_labels}", f"first {entry.n_labels}")
    # A label takes two bytes, a row at least a line end and braces.
    assert entry.n_bytes > 3 * entry.n_samples
    assert entry.domain
    assert 1990 < entry.citation.year < 2025
    text = str(entry.citation)
    assert entry.citation.author.split(",")[0] in text
    assert text.endswith(f", {entry.citation.year}.")
    assert ".." not in text
    assert all(note.endswith(".") for note in entry.notes)


@pytest.mark.parametrize("entry", registry().values(), ids=lambda e: e.name)
def test_sources_cannot_change(entry):
    for url in entry.sources:
        parts = urlsplit(url)
        assert parts.scheme == "https"
        at = {"raw.githubusercontent.com": 3, "media.githubusercontent.com": 4}
        assert re.fullmatch(
            r"[0-9a-f]{40}", parts.path.split("/")[at[parts.hostname]]
        ), "a branch moves; a commit does not"
        assert parts.path.endswith((".arff", ".arff.gz"))
    assert len(set(entry.sources)) == len(entry.sources)


def test_a_data_set_without_a_source_says_what_to_do():
    without = [entry for entry in registry().values() if not entry.sources]
    assert [entry.name for entry in without] == ["corel16k001", "image"]
    for entry in without:
        assert f"put your own {entry.name}.arff" in entry.notes[0]
        assert "HOMI_DATA" in entry.notes[0]


def test_counts_of_words_are_marked():
    marked = [entry.name for entry in registry().values() if entry.counts]
    assert marked == ["yahoo-arts"]


def test_checksums_and_spellings_are_distinct():
    entries = registry().values()
    assert len({entry.sha256 for entry in entries}) == len(entries)
    spellings = [s.casefold() for entry in entries for s in entry.spellings]
    assert len(set(spellings)) == len(spellings)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("emotions", "emotions"),
        ("EMOTIONS", "emotions"),
        ("cal500", "CAL500"),
        ("LanguageLog", "langlog"),
        ("corel16k1", "corel16k001"),
        ("Corel16k001", "corel16k001"),
    ],
)
def test_case_and_aliases(given, name):
    assert lookup(given) is registry()[name]
    assert require(given).name == name


def test_an_unknown_name_brings_the_nearest():
    assert lookup("emotion") is None
    with pytest.raises(
        ValueError, match=r"named 'emotion'; closest names: emotions\.$"
    ):
        require("emotion")
    with pytest.raises(UnknownDataset, match="closest names: corel16k001"):
        require("corel16k")
    with pytest.raises(FileNotFoundError, match=r"names: mediamill, .*yahoo-arts\.$"):
        require("neighbour_neighbour_")


def test_entries_are_frozen():
    entry = registry()["yeast"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        entry.sha256 = "0" * 64
    with pytest.raises(TypeError):
        registry()["yeast"] = entry
    assert isinstance(entry.sources, tuple)
    assert isinstance(entry.notes, tuple)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "../tiny"}, r"got '\.\./tiny'; rename it"),
        ({"name": ".."}, r"got '\.\.'"),
        ({"name": "a/b"}, "got 'a/b'"),
        ({"name": ""}, "got ''"),
        ({"sha256": "0" * 63}, "must be 64 lower-case hexadecimal"),
        ({"sha256": "G" * 64}, "must be 64 lower-case hexadecimal"),
        ({"n_bytes": 0}, "n_bytes must be positive, got 0"),
        ({"sources": ("file:///etc/passwd",)}, "must be an http or https URL"),
    ],
)
def test_a_faulty_entry_is_refused(change, message):
    assert Entry(**SOUND).spellings == ("tiny",)
    with pytest.raises(ValueError, match=message):
        Entry(**(SOUND | change))


# mediamill, which few have: a file of its form takes part in a benchmark.


EXPERIMENT = """
name = "small"
protocols = ["clean", "as-published"]
datasets = ["mediamill", "yeast"]
methods = ["HOMI"]
folds = 2
"""


@pytest.fixture
def mediamill(tmp_path, monkeypatch):
    """120 numbers and 101 labels a row, as in the file of the registry."""
    rng = np.random.default_rng(0)
    X, Y = rng.random((80, 120)), rng.random((80, 101)) < 0.3
    header = [f"@attribute Att{i} numeric" for i in range(120)]
    header += [f"@attribute Class{i} {{0,1}}" for i in range(101)]
    rows = [
        ",".join([*(f"{x:.4f}" for x in features), *map(str, labels.astype(int))])
        for features, labels in zip(X, Y, strict=True)
    ]
    lines = ["@relation mediamill", *header, "@data", *rows, ""]
    (tmp_path / "mediamill.arff").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setenv("HOMI_DATA", str(tmp_path))
    monkeypatch.setenv("HOMI_CACHE", str(tmp_path / "cache"))
    return Y


def test_the_benchmark_includes_it(mediamill, tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(EXPERIMENT, encoding="utf-8")
    experiment, journal = read_experiment(file), tmp_path / "small"
    assert read_paper_results(experiment, journal).absent == ("mediamill", "yeast")
    assert at_hand("mediamill").place == "directory"
    with pytest.warns(UserWarning, match="is not the mediamill of the registry"):
        np.testing.assert_array_equal(load("mediamill").Y, mediamill)
    assert run(experiment, experiment.tasks(["mediamill"]), journal) == []
    assert len(read_results(journal, experiment)) == 4
    paper = read_paper_results(experiment, journal)
    assert (paper.datasets, paper.absent) == (("mediamill",), ("yeast",))


# Texts of installed packages: real, named, and the same every time.


DOC = """norm(x, ord=None)

Matrix or vector :func:`norm`.

.. math::

    x^2

    y

Read more in the :ref:`User Guide <norms>`.

Parameters
----------
x : {array-like, sparse matrix}
    Input.
axis, out : int
    With random_state in its text.
**kwargs
    More.

Returns
-------
tol : float
"""


@pytest.fixture(scope="module")
def functions():
    return python_functions()


def test_text_and_tags_of_a_docstring():
    found = _function("numpy.linalg.norm", DOC)
    assert found.text == "Matrix or vector norm."
    assert found.tags == ["axis", "linalg", "numpy", "out", "sparse"]


def test_signatures_of_several_lines_are_left_out():
    text = "add(a, b=(1, 2),\n    c=None) -> int\nadd(a)\n\nAdd numbers."
    assert _prose(text) == "Add numbers."
    assert _prose("f(x) of numbers.") == "f(x) of numbers."


def test_thousands_of_texts_of_named_functions(functions):
    assert len(functions) > 2500
    by_name = {function.name: function for function in functions}
    assert {"axis", "numpy", "linalg"} <= {*by_name["numpy.linalg.norm"].tags}
    assert "sparse" in by_name["sklearn.linear_model.Ridge"].tags
    assert functions == sorted(functions)
    texts = [function.text for function in functions]
    assert len(set(texts)) == len(texts)
    assert min(len(text.split()) for text in texts) >= 6


def test_load_gives_texts_and_named_tags(functions):
    X, Y, feature_names, tags = load("Python-Functions")
    assert feature_names == ["text"]
    assert [f.text for f in functions] == X.tolist()
    assert {"sparse", "linalg", "random", "scipy"} <= {*tags}
    assert Y.shape == (len(X), len(tags))
    assert Y.sum(axis=0).min() >= 30
    assert Y.any(axis=1).all()
    row = next(i for i, f in enumerate(functions) if f.name == "numpy.linalg.norm")
    assert np.array(tags)[Y[row] > 0].tolist() == functions[row].tags
