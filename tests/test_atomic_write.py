"""Files are whole or not there, and nothing but a regular file is replaced."""

import os
import socket
import stat
import time

import pytest

import stream_worker
from homi.atomic_write import remove_leftovers_below, whole_file


def unfinished_in(directory):
    return sorted(directory.glob(".*.tmp"))


def age(paths):
    """Let files be as if nobody had written to them for very long."""
    for path in paths:
        os.utime(path, (0, 0))


def write(path, text="new"):
    with whole_file(path) as unfinished:
        unfinished.write_text(text)


def test_the_target_changes_at_the_end(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with whole_file(path) as unfinished:
        unfinished.write_text("new")
        assert path.read_text() == "old"
        assert unfinished_in(tmp_path) == [unfinished]
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["a.txt"]


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o400, 0o666])
def test_a_rewritten_file_keeps_its_permissions(mode, tmp_path):
    path, link = tmp_path / "model.homi", tmp_path / "latest"
    path.write_text("old")
    path.chmod(mode)
    link.symlink_to(path)
    for name in (path, link):
        write(name)
        assert path.read_text() == "new"
        assert mode_of(path) == mode


def test_a_new_file_has_the_permissions_of_the_umask(tmp_path):
    path, plain = tmp_path / "model.homi", tmp_path / "plain"
    write(path)
    plain.write_text("")
    assert mode_of(path) == mode_of(plain)


def test_others_cannot_read_a_private_file_while_it_is_rewritten(tmp_path):
    path = tmp_path / "model.homi"
    path.write_text("old")
    path.chmod(0o600)
    with whole_file(path) as unfinished:
        unfinished.write_text("new")
        assert mode_of(unfinished) == 0o600


def test_a_file_may_become_empty(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    write(path, "")
    assert path.read_text() == ""


def test_after_an_error_nothing_has_changed(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(LookupError), whole_file(path) as unfinished:
        unfinished.write_text("half", encoding="no such encoding")
    with pytest.raises(FileNotFoundError), whole_file(path):
        pass
    assert path.read_text() == "old"
    assert unfinished_in(tmp_path) == []


def write_half(path, told):
    with whole_file(path) as unfinished:
        unfinished.write_text("half")
        told.send("half")
        time.sleep(60)


def kill_while_writing(path):
    process, told = stream_worker.start(write_half, path)
    told.recv()
    process.kill()
    process.join()


def test_what_kills_left_is_removed_by_a_later_write(tmp_path):
    path, other = tmp_path / "a[1].txt", tmp_path / "b.txt"
    path.write_text("old")
    kill_while_writing(path)
    kill_while_writing(other)
    assert path.read_text() == "old"
    assert not other.exists()
    left = unfinished_in(tmp_path)
    assert [file.read_text() for file in left] == ["half", "half"]
    # Somebody may still be writing them.
    write(path)
    assert unfinished_in(tmp_path) == left
    age(left)
    write(path)
    assert os.listdir(tmp_path) == ["a[1].txt"]


def test_files_of_others_are_not_removed(tmp_path):
    theirs = [
        tmp_path / name for name in (".a.txt-mine.tmp", ".a.txt-1.tmp", "b-2.tmp")
    ]
    for path in theirs:
        path.write_text("theirs")
    age(theirs)
    write(tmp_path / "a.txt")
    remove_leftovers_below(tmp_path)
    assert all(path.exists() for path in theirs)


def test_leftovers_below_are_removed_once_nobody_writes_them(tmp_path):
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    with whole_file(below / "one") as old, whole_file(below / "two") as young:
        old.write_text("half")
        young.write_text("half")
        age([old])
        remove_leftovers_below(tmp_path)
        assert unfinished_in(below) == [young]
        old.write_text("whole after all")
    remove_leftovers_below(tmp_path / "none")


def test_names_of_the_greatest_length(tmp_path):
    path = tmp_path / ("x" * 255)
    write(path)
    assert path.read_text() == "new"


def test_a_directory_that_is_not_there_is_named(tmp_path):
    nowhere = whole_file(tmp_path / "nowhere" / "a.txt")
    with pytest.raises(FileNotFoundError, match="there is no directory"):
        nowhere.__enter__()


def test_a_link_stays_and_its_file_is_replaced(tmp_path):
    (tmp_path / "store").mkdir()
    target, link = tmp_path / "store" / "v1.txt", tmp_path / "latest.txt"
    target.write_text("old")
    link.symlink_to("store/hop.txt")
    (tmp_path / "store" / "hop.txt").symlink_to("v1.txt")
    with whole_file(link) as unfinished:
        # On the file system of the target: a rename works there alone.
        assert unfinished.parent == target.parent
        unfinished.write_text("new")
        assert target.read_text() == "old"
    assert os.readlink(link) == "store/hop.txt"
    assert target.read_text() == "new"
    assert not target.is_symlink()


def test_a_link_to_nothing_makes_its_file(tmp_path):
    link = tmp_path / "latest.txt"
    link.symlink_to(tmp_path / "v2.txt")
    write(link)
    assert link.is_symlink()
    assert (tmp_path / "v2.txt").read_text() == "new"
    link.unlink()
    link.symlink_to(tmp_path / "nowhere" / "v2.txt")
    with pytest.raises(FileNotFoundError, match=r"there is no directory .*nowhere"):
        write(link)


def directory(path):
    path.mkdir()


def loop(path):
    path.symlink_to(path.name)


def bound(path):
    # The name that a socket is bound to has a shortest longest length of 92.
    here = os.getcwd()
    os.chdir(path.parent)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)
    os.chdir(here)


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (os.mkfifo, "a named pipe"),
        (directory, "a directory"),
        (bound, "a socket"),
        (loop, "a symbolic link in a loop"),
    ],
)
def test_what_is_no_regular_file_is_never_replaced(make, kind, tmp_path):
    path, link = tmp_path / "target", tmp_path / "link"
    make(path)
    link.symlink_to(path)
    before = os.lstat(path)
    for name in (path, link):
        with pytest.raises(OSError, match=f"{name.name} is {kind}, which is never"):
            write(name)
    after = os.lstat(path)
    # A link that is read may get another time of access.
    for part in ("st_ino", "st_mode", "st_size", "st_mtime_ns"):
        assert getattr(after, part) == getattr(before, part)
    assert sorted(os.listdir(tmp_path)) == ["link", "target"]
