"""Files that have their name only once they are whole."""

from __future__ import annotations

import contextlib
import os
import stat
import time
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path

#: Seconds without a write after which a temporary file counts as left behind. A live
#: process that is slower than this fails to rename, and says so; the target is whole.
_ABANDONED = 600.0

#: Names that :func:`whole_file` gives to unfinished files, of any target.
_PATTERN = f".*-{'[0-9a-f]' * 32}.tmp"


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a new path beside the target; at the end it takes the target's name.

    It is flushed to the disk before. After an error it is gone, and the target is as
    it was. After a kill it is left behind until a later call for a target in the same
    directory removes it. Two processes that write the same target do not meet.
    A symbolic link stays, and the file that it names is the target.
    """
    target = target_of(path)
    _remove_abandoned(target.parent.glob(_PATTERN))
    # Names have a longest length, which the target's may have reached.
    unfinished = target.with_name(f".{target.name[:100]}-{uuid.uuid4().hex}.tmp")
    try:
        yield unfinished
        with open(unfinished, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(unfinished, target)
    except BaseException:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise


def target_of(path: Path) -> Path:
    """Return the file to replace: the path itself, or where its links lead.

    Raise OSError for what may not be replaced, before anything is written.
    """
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"there is no directory {target.parent}; make it first."
        )
    try:
        mode = os.lstat(target).st_mode
    except FileNotFoundError:
        return target
    if not stat.S_ISREG(mode):
        error = IsADirectoryError if stat.S_ISDIR(mode) else OSError
        raise error(
            f"{path} is {_kind(mode)}, which is never replaced; name a regular file "
            "or one that is not there yet."
        )
    return target


def remove_leftovers_below(directory: Path) -> None:
    """Remove what killed processes left of any target; what is being written stays."""
    _remove_abandoned(directory.rglob(_PATTERN))


def _remove_abandoned(paths: Iterable[Path]) -> None:
    now = time.time()
    for path in paths:
        # Others may remove it first, or it may not be ours to remove.
        with contextlib.suppress(OSError):
            if now - path.lstat().st_mtime > _ABANDONED:
                path.unlink()


def _kind(mode: int) -> str:
    kinds = {
        stat.S_IFDIR: "a directory",
        stat.S_IFIFO: "a named pipe",
        stat.S_IFSOCK: "a socket",
        # A link that realpath could not follow to an end.
        stat.S_IFLNK: "a symbolic link in a loop",
    }
    return kinds.get(stat.S_IFMT(mode), "a device")
