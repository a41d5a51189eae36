"""Memory budget of one file that is read, counted in decoded bytes."""

from __future__ import annotations

import os
from pathlib import Path

#: Default budget in bytes, and bytes added per byte of the file beyond 1 MiB.
FLOOR, RATIO = 200 * 2**20, 500

#: Environment variable that sets the budget of every file, in bytes.
VARIABLE = "HOMI_MAX_MEMORY"

#: Bytes of a column name in lists, sets and dicts.
NAME = 250


class Refused(ValueError):
    """An error that is complete except for the name of the file."""


class Budget:
    """Memory in bytes that one file may still use.

    Parameters
    ----------
    n_bytes : int
        Size of the file on disk.
    limit : float, optional
        Budget in bytes. Default: the environment variable ``HOMI_MAX_MEMORY``, else
        200 MiB plus 500 bytes for each byte of the file beyond its first MiB.
    """

    def __init__(self, n_bytes: int, limit: float | None = None) -> None:
        given = _from_environment() if limit is None else limit
        if given is not None and not given > 0:
            raise ValueError(
                f"max_memory must be a positive number of bytes, got {given!r}."
            )
        default = FLOOR + RATIO * max(0, n_bytes - 2**20)
        self.limit = self.left = default if given is None else given

    @classmethod
    def of(cls, path: Path, limit: float | None = None) -> Budget:
        """Return the budget of a file on disk."""
        return cls(path.stat().st_size, limit)

    @property
    def line(self) -> int:
        """Longest line of text in bytes: splitting it needs 64 times as much memory."""
        return int(min(self.limit / 64, 2**30))

    def take(self, n_bytes: float, what: str) -> None:
        """Charge memory before it is allocated; raise Refused if too little is left.

        `what` is the plural subject of the message: "its 5 columns".
        """
        self.check(n_bytes, what)
        self.left -= n_bytes

    def check(self, n_bytes: float, what: str) -> None:
        """Raise Refused if too little is left; charge nothing, for temporary memory."""
        if not 0 <= n_bytes <= self.left:
            raise Refused(
                f"{what} need more than the {self.limit / 1e6:.0f} MB of memory that a "
                "file of this size may use; if the file is valid, set the environment "
                f"variable {VARIABLE} to more bytes, or pass max_memory to "
                "homi.datasets.read."
            )

    def take_columns(self, n_columns: int, each: int = 0) -> None:
        """Charge the names of columns, and `each` more bytes per column."""
        self.take(n_columns * (NAME + each), f"its {n_columns:,} columns")


def _from_environment() -> float | None:
    text = os.environ.get(VARIABLE, "")
    try:
        return float(text) if text else None
    except ValueError:
        raise ValueError(
            f"{VARIABLE}={text!r} is not a number of bytes; set it to, for example, "
            "4e9."
        ) from None
