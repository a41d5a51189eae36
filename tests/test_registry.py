"""The registry is data: whole, pinned, frozen, and inside the wheel."""

import dataclasses
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from homi.datasets.registry import (
    Citation,
    Entry,
    UnknownDataset,
    lookup,
    registry,
    require,
)

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


def test_the_registry_is_inside_the_wheel(tmp_path):
    pytest.importorskip("hatchling")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d"]
    subprocess.run([*command, str(tmp_path)], cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        shipped = archive.read("homi/datasets/registry.toml")
    assert shipped == (ROOT / "src/homi/datasets/registry.toml").read_bytes()
