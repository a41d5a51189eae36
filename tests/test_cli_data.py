"""`homi data ...`: what it prints, where, and with which exit code."""

import gzip
import json
import re

import pytest
from typer.testing import CliRunner

from homi.cli.app import app
from homi.datasets.fetch import cached_path
from homi.datasets.load import at_hand, load
from homi.datasets.registry import registry
from test_fetch import (  # noqa: F401
    TEXT,
    make_entry,
    no_internet,
    own_cache,
    serving,
    status,
    tree,
    whole,
)

COMMANDS = ["list", "info", "fetch", "add", "verify", "path", "table"]


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["data", *map(str, arguments)])
    assert result.exit_code == code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.output
    return result


def one_sentence(result):
    (line,) = result.stderr.splitlines()
    assert line.startswith("Error: ")
    assert line.endswith(".")
    return line


@pytest.fixture
def tiny(server, monkeypatch):
    """A registry of one data set on the loopback server."""
    entry = make_entry(server.url("/tiny.arff"), server.url("/tiny.gz"))
    known = {"tiny": entry}
    monkeypatch.setattr("homi.datasets.registry.registry", lambda: known)
    monkeypatch.setattr(
        "homi.datasets.registry.require", lambda name: known[name.casefold()]
    )
    return entry


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_teaches_with_an_example(command):
    text = run(command, "--help").output
    assert re.search(rf"Example: homi data {command}\b", text)


def test_without_a_command_help_is_shown():
    text = run(code=2).output
    assert "Example: homi data list" in text
    assert all(command in text for command in COMMANDS)


def test_list_says_what_is_here_and_where(tmp_path, monkeypatch):
    (tmp_path / "emotions.arff").write_bytes(b"")
    monkeypatch.setenv("HOMI_DATA", str(tmp_path))
    header, *lines = run("list").output.splitlines()
    assert header.split() == ["name", "n", "m", "l", "here", "where"]
    rows = {line.split()[0]: line.split()[1:] for line in lines}
    assert list(rows) == [*registry(), "python-functions"]
    assert rows["delicious"] == ["16105", "500", "983", "-", "-"]
    emotions = tmp_path / "emotions.arff"
    assert rows["emotions"] == ["593", "72", "6", "directory", str(emotions)]
    assert rows["yeast"][3] == "package"
    assert run("list", "--directory", tmp_path).output.count("directory") == 1


def test_list_for_programs(tmp_path):
    (tmp_path / "CAL500.arff.xz").write_bytes(b"")
    rows = json.loads(run("list", "--json", "--directory", tmp_path).stdout)
    assert [row["name"] for row in rows] == [*registry(), "python-functions"]
    by_name = {row["name"]: row for row in rows}
    assert by_name["CAL500"] == {
        "name": "CAL500",
        "n": 502,
        "m": 68,
        "l": 174,
        "here": "directory",
        "where": str(tmp_path / "CAL500.arff.xz"),
    }
    assert by_name["scene"]["here"] is None
    assert by_name["scene"]["where"] is None


def test_info_without_the_data():
    text = run("info", "LanguageLog").output
    entry = registry()["langlog"]
    for part in (
        "samples 1460, features 1004, labels 75",
        entry.sha256,
        *entry.sources,
        *entry.notes,
        str(entry.citation),
        "run homi data fetch langlog first",
    ):
        assert part in text
    assert "homi data fetch" not in run("info", "corel16k1").output


def test_info_with_the_data(tmp_path):
    text = run("info", "yeast").output
    assert "river" in text
    assert "4.237" in text  # the mean number of labels, which describe() measures
    # Another file than the registry's is described all the same, and said to be so.
    header = [f"@attribute a{j} {{0,1}}" for j in range(16)]
    rows = ["1,0," + ",".join("01" * 7), "0,1," + ",".join("10" * 7)]
    text = "\n".join(["@relation other", *header, "@data", *rows])
    (tmp_path / "yeast.arff").write_text(text)
    result = run("info", "yeast", "--directory", tmp_path)
    (line,) = result.stderr.splitlines()
    assert line.startswith("Warning: ")
    assert "is not the yeast of the registry" in line
    (tmp_path / "yeast.arff").write_text(text.replace("0,1,0", "0,1,7"))
    result = run("info", "yeast", "--directory", tmp_path, code=1)
    assert "yeast.arff" in one_sentence(result)


def test_fetch_off_a_terminal_prints_lines(tiny, server, cache):
    server.routes["/tiny.arff"] = whole(TEXT)
    result = run("fetch", "TINY")
    target = cached_path(tiny)
    assert result.output.splitlines() == [
        f"tiny: fetching {len(TEXT)} bytes",
        f"tiny: fetched and checked, {target}",
    ]
    assert target.read_bytes() == TEXT
    assert run("fetch", "tiny").output.splitlines() == [f"tiny: is here, {target}"]
    assert len(server.requests) == 1
    assert run("path", "tiny").output.strip() == str(target)


def test_fetch_on_a_terminal_shows_a_bar(tiny, server, monkeypatch, cache):
    server.routes["/tiny.arff"] = whole(TEXT)
    monkeypatch.setenv("FORCE_COLOR", "1")
    result = run("fetch", "tiny")
    assert "fetched and checked" in result.output
    assert "fetching" not in result.output
    assert cached_path(tiny).read_bytes() == TEXT


def test_fetch_all_goes_on_after_a_failure(server, monkeypatch, cache):
    server.routes["/tiny.gz"] = whole(gzip.compress(TEXT))
    server.routes["/bad.arff"] = status(500)
    known = {
        "bad": make_entry(server.url("/bad.arff"), name="bad"),
        "none": make_entry(name="none"),
        "tiny": make_entry(server.url("/tiny.gz")),
    }
    monkeypatch.setattr("homi.datasets.registry.registry", lambda: known)
    monkeypatch.setattr("homi.datasets.registry.require", known.__getitem__)
    result = run("fetch", "--all", code=1)
    assert "bad could not be fetched" in one_sentence(result)
    assert "none: has no source, see homi data info none" in result.stdout
    assert cached_path(known["tiny"]).read_bytes() == TEXT
    # Asked for by its name, what has no source is a failure.
    assert "no public source" in one_sentence(run("fetch", "none", code=1))


def test_fetch_is_told_what_to_fetch():
    assert "name data sets, or pass --all" in run("fetch", code=2).stderr
    assert "and not both" in run("fetch", "yeast", "--all", code=2).stderr


def test_errors_are_one_sentence_on_stderr():
    for arguments in (["info", "emotion"], ["fetch", "emotion"], ["path", "emotion"]):
        assert "closest names: emotions" in one_sentence(run(*arguments, code=1))
    assert "cannot be reached" in one_sentence(run("fetch", "scene", code=1))
    result = run("path", "scene", code=1)
    assert "run homi data fetch scene" in one_sentence(result)
    assert not result.stdout
    result = run("list", "--directory", "/nowhere/at/all", code=1)
    assert "is not a directory" in one_sentence(result)


def test_verify(tiny, tmp_path, cache):
    assert "Nothing to check" in run("verify").output
    assert "tiny: no copy in the" in run("verify", "tiny", code=1).output
    (tmp_path / "tiny.arff.gz").write_bytes(gzip.compress(TEXT))
    good = f"tiny: ok ({tmp_path / 'tiny.arff.gz'})"
    assert run("verify", "--directory", tmp_path).output.splitlines() == [good]
    cached_path(tiny).parent.mkdir(parents=True)
    cached_path(tiny).write_bytes(TEXT + b"\n")
    before = tree(tmp_path)
    lines = run("verify", "tiny", "--directory", tmp_path, code=1).output.splitlines()
    assert lines[0] == good
    assert f"expected {tiny.sha256} ({cached_path(tiny)})" in lines[1]
    assert tree(tmp_path) == before


def test_path(cache, tmp_path):
    assert run("path").output.strip() == str(cache)
    (tmp_path / "Emotions.arff").write_bytes(b"")
    result = run("path", "EMOTIONS", "--directory", tmp_path)
    assert result.output.strip() == str(tmp_path / "Emotions.arff")


def test_table_shows_the_paper_beside_what_is_measured():
    text = run("table").output
    assert text.count("| yeast") >= 2
    assert "4.237" in text


@pytest.mark.parametrize("packed", [bytes, gzip.compress])
def test_a_file_that_the_user_has(packed, tiny, tmp_path):
    file = tmp_path / "download"
    file.write_bytes(packed(TEXT))
    shown = run("add", "tiny", file).output
    assert "tiny: 8000 samples, 1 features, 2 labels" in shown
    assert cached_path(tiny).read_bytes() == TEXT
    assert at_hand(tiny).place == "cache"
    assert load(tiny).Y.shape == (8000, 2)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (TEXT[:-1], r"is not the tiny of the registry: it has \d+ bytes of text with"),
        (TEXT + b"%", "more than"),
        (gzip.compress(TEXT)[:-9], "is damaged"),
    ],
    # Bytes of gzip hold the second in which they were made.
    ids=["too short", "too long", "damaged"],
)
def test_another_file_is_refused(content, reason, tiny, tmp_path):
    file = tmp_path / "download"
    file.write_bytes(content)
    assert re.search(reason, one_sentence(run("add", "tiny", file, code=1)))
    assert not cached_path(tiny).exists()
