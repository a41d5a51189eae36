"""Files that have their name only once they are whole."""

from __future__ import annotations

import contextlib
import os
import uuid
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Write beside the target, flush to the disk, then rename: all or nothing."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no directory {path.parent}; make it first.")
    temporary = path.with_name(f".homi-{uuid.uuid4().hex}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
