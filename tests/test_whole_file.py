"""Files are whole or not there."""

import os
import subprocess
import sys

import pytest

from homi.atomic_write import leftovers, remove_leftovers_below, whole_file


def test_the_target_changes_at_the_end(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with whole_file(path) as unfinished:
        unfinished.write_text("new")
        assert path.read_text() == "old"
        assert leftovers(path) == [unfinished]
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_after_an_error_nothing_has_changed(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(LookupError), whole_file(path) as unfinished:
        unfinished.write_text("half", encoding="no such encoding")
    with pytest.raises(FileNotFoundError), whole_file(path):
        pass
    assert path.read_text() == "old"
    assert leftovers(path) == []


def test_after_a_kill_the_target_is_as_it_was(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    code = (
        "import os, pathlib, sys; from homi.atomic_write import whole_file\n"
        "with whole_file(pathlib.Path(sys.argv[1])) as unfinished:\n"
        "    unfinished.write_text('half'); os.kill(os.getpid(), 9)\n"
    )
    assert subprocess.run([sys.executable, "-c", code, path]).returncode == -9
    assert path.read_text() == "old"
    assert [left.read_text() for left in leftovers(path)] == ["half"]


def test_names_of_the_greatest_length(tmp_path):
    path = tmp_path / ("x" * 255)
    with whole_file(path) as unfinished:
        unfinished.write_text("new")
    assert path.read_text() == "new"


def test_a_directory_that_is_not_there_is_named(tmp_path):
    nowhere = whole_file(tmp_path / "nowhere" / "a.txt")
    with pytest.raises(FileNotFoundError, match="there is no directory"):
        nowhere.__enter__()


def test_leftovers_are_removed_once_nobody_writes_them(tmp_path):
    (tmp_path / "a").mkdir()
    kept = tmp_path / "a" / "mine.tmp"
    for target in (tmp_path / "one.json", tmp_path / "a" / "two.json"):
        with whole_file(target) as unfinished:
            left = [
                unfinished.with_name(f"{unfinished.name[:-8]}{k}.tmp") for k in "12"
            ]
            for path in (unfinished, kept, *left):
                path.write_text("half")
        os.utime(left[0], (0, 0))
        os.utime(kept, (0, 0))
    remove_leftovers_below(tmp_path)
    assert kept.exists()
    assert len(leftovers(tmp_path / "one.json")) == 1
    assert len(leftovers(tmp_path / "a" / "two.json")) == 1
    remove_leftovers_below(tmp_path / "none")
