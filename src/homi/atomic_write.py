"""Files that have their name only once they are whole."""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

#: Seconds without a word written after which nobody writes any more.
_ABANDONED = 60.0


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A new path beside the target to write to; at the end it takes the target's name.

    It is flushed to the disk before. After an error it is gone, and the target is as
    it was; after a kill it may be left behind (:func:`leftovers`). Two processes that
    write the same target do not meet.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no directory {path.parent}; make it first.")
    unfinished = path.with_name(f"{_start(path)}{uuid.uuid4().hex}.tmp")
    try:
        yield unfinished
        with open(unfinished, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    except BaseException:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise


def leftovers(path: Path) -> list[Path]:
    """What killed processes left of a target."""
    return list(path.parent.glob(f"{_start(path)}*.tmp"))


def remove_leftovers_below(directory: Path) -> None:
    """What killed processes left of any target; what is being written stays."""
    now = time.time()
    for path in directory.rglob(".*-*.tmp"):
        with contextlib.suppress(FileNotFoundError):
            if now - path.stat().st_mtime > _ABANDONED:
                path.unlink()


def _start(path: Path) -> str:
    # Names have a longest length, which the target's may have reached.
    return f".{path.name[:100]}-"
