"""Write files atomically: a file gets its name only once it is complete."""

from __future__ import annotations

import contextlib
import os
import stat
import time
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path

#: Seconds without a write after which a temporary file counts as abandoned. A live
#: process that is slower than this fails to rename and raises; the target is intact.
_ABANDONED = 600.0

#: Seconds by which a prepared temporary file is dated back, to tell whether it was
#: written.
_BACKDATED = 10.0

#: Names that :func:`whole_file` gives to temporary files, of any target.
_PATTERN = f".*-{'[0-9a-f]' * 32}.tmp"


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside the target and rename it to the target at the end.

    The file is flushed to disk before the rename, and keeps the permissions of the
    file that it replaces. After an error the temporary file is removed and the target
    is unchanged. After a kill it stays until a later call for a target in the same
    directory removes it. Two processes can write the same target. A symbolic link
    stays a link: the file that it points to is replaced.
    """
    target = target_of(path)
    _remove_abandoned(target.parent.glob(_PATTERN))
    # The target's name may already have the greatest length.
    unfinished = target.with_name(f".{target.name[:100]}-{uuid.uuid4().hex}.tmp")
    try:
        before = _prepare(unfinished) if target.exists() else None
        yield unfinished
        with open(unfinished, "rb+") as file:
            os.fsync(file.fileno())
        if before is not None:
            _copy_mode(target, unfinished, before)
        os.replace(unfinished, target)
    except BaseException:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise


def _prepare(unfinished: Path) -> int:
    """Create a file that only the owner can read, and return its modification time.

    What is written to it must not be readable by more users than the target.
    """
    os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    past = time.time() - _BACKDATED
    os.utime(unfinished, (past, past))
    return unfinished.stat().st_mtime_ns


def _copy_mode(target: Path, unfinished: Path, before: int) -> None:
    """Give the written file the target's permissions; raise if nothing was written."""
    if unfinished.stat().st_mtime_ns == before:
        raise FileNotFoundError(f"nothing was written to {unfinished}; {target} stays.")
    with contextlib.suppress(FileNotFoundError):
        unfinished.chmod(stat.S_IMODE(target.stat().st_mode))


def target_of(path: Path) -> Path:
    """Return the file to replace: the path, or the file that its links point to.

    Raise OSError, before anything is written, if it may not be replaced.
    """
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"there is no directory {target.parent}; create it first."
        )
    try:
        mode = os.lstat(target).st_mode
    except FileNotFoundError:
        return target
    if not stat.S_ISREG(mode):
        error = IsADirectoryError if stat.S_ISDIR(mode) else OSError
        raise error(
            f"{path} is {_kind(mode)}, which is never replaced; name a regular file "
            "or a path that does not exist yet."
        )
    return target


def remove_leftovers_below(directory: Path) -> None:
    """Remove temporary files of killed processes; those being written stay."""
    _remove_abandoned(directory.rglob(_PATTERN))


def _remove_abandoned(paths: Iterable[Path]) -> None:
    now = time.time()
    for path in paths:
        # Another process may remove it first, or it may belong to another user.
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
